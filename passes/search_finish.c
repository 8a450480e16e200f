/*
 * The end of a step of the walk: its result and what moves are decided, now the fastest
 * way to do it in the room that is left, with and without the next step's weights.
 */
#include "passes/search_walk.h"

/* Does what the next step reads lie in L1 with nothing to move before it? Its value
 * then, or -1. */
static int next_value(const Walker *w, const int *state, int *parts)
{
	const Space *s = w->s;
	const int step = w->step + 1;
	const Level *l = &w->levels[step];
	const Step *r = step < s->bare->nsteps ? &s->bare->steps[step] : NULL;
	if (!r || !r->out || !choice_has(r, CHOICE_prefetch) || !r->nin)
		return -1;
	const int to = walk_promised(s, l, state, r->out->id);
	if (to < 0 || s->tensors[r->out->id].values->v[to].place == PLACE_DRAM)
		return -1;
	for (int k = 0; k < r->nin; k++) {
		const Live *t = walk_live(l, r->in[k].tensor->id);
		parts[k] = state[t->at + LIVE_VALUE];
		if (walk_reads(s, t, state, step) < 0
		    || s->tensors[t->tensor].values->v[parts[k]].place == PLACE_DRAM)
			return -1;
	}
	return to;
}

/* Is there room for what moves before the step? */
static bool can_move(const Walker *w, const Making *m)
{
	const Step *r = &w->s->bare->steps[w->step];
	int64_t bytes = m->before;
	for (int k = 0; k < r->nin; k++) {
		bytes += m->add[k];
		if (m->add[k] && bytes > w->s->room)
			return false;
		bytes -= m->gone[k];
	}
	return true;
}

void walk_finish(Walker *w, Making *m, bool spills)
{
	Space *s = w->s;
	const int64_t room = s->room - m->bytes;
	int parts[MAX_STEP_PARTS];
	const int to = spills ? -1 : next_value(w, m->state, parts);
	const Configs *next = to >= 0 ? space_configs(s, w->step + 1, to, parts) : NULL;
	const Pins *pins = s->pins && w->step + 1 < s->bare->nsteps ? &s->pins[w->step + 1] : NULL;
	const bool pin = pins && pins->fixed >> CHOICE_prefetch & 1;
	const bool only = pin && pins->value.prefetch, never = pin && !only;
	if (!can_move(w, m))
		return;
	for (int q = only ? 0 : -1; q < (next && !never ? next->n : 0); q++) {
		const int64_t ahead = q < 0 ? 0 : next->v[q].ahead;
		const int64_t fetch = q < 0 ? 0 : next->v[q].fetch;
		const Config *best = NULL;
		int64_t least = INT64_MAX;
		const Config *early = q < 0 ? NULL : &next->v[q];
		if (early && !pin && (early->early >= early->time || early->dull))
			continue;
		for (int i = 0; i < (m->ahead ? 1 : m->configs->n); i++) {
			const Config *c = m->ahead ? m->ahead : &m->configs->v[i];
			const int64_t work = m->ahead ? c->early : c->time;
			const int64_t all = work + (fetch > work ? fetch - work : 0)
				+ (m->moves > work ? m->moves - work : 0);
			if (c->bytes + ahead <= room && all < least) {
				least = all;
				best = c;
			}
		}
		m->state[0] = q;
		if (best)
			walk_push(w, m, m->time + least, m->rent
				  + bound_rent(s, w->step, w->step, best->bytes + ahead), best);
	}
}
