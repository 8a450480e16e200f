/*
 * States behind a step: each once, the best of them kept.
 */
#include "passes/search_walk.h"

#include <stdlib.h>
#include <string.h>

enum { OVERFLOW = 8 }; /* times the states that are kept may stand behind a step */

void walk_drop(Walker *w, int64_t bound)
{
	if (bound < w->result->dropped)
		w->result->dropped = bound;
}

/* A tensor that the step at hand makes with this value: its weights came early or did
 * not, if that is decided. */
static int64_t at_hand(const Walker *w, int t, int value, const int *state)
{
	Space *s = w->s;
	const TensorSpace *x = &s->tensors[t];
	const Step *r = &s->bare->steps[x->first];
	const int ahead = state[0];
	if (ahead < -1 || !bound_is_shaded(s, x, value))
		return bound_of(s, t, value);
	int parts[MAX_STEP_PARTS];
	for (int k = 0; k < r->nin; k++) {
		const Live *in = walk_live(&w->levels[x->first], r->in[k].tensor->id);
		parts[k] = state[in->at + LIVE_VALUE];
	}
	const DevTypes type =
		s->tensors[x->parent].values->v[parts[s->steps[x->first].main]].type;
	return bound_at_hand(s, t, value, type,
			     ahead < 0 ? NULL
				       : &space_configs(s, x->first, value, parts)->v[ahead]);
}

static int64_t below(const Walker *w, const Pending *p, const int *state, int step)
{
	Space *s = w->s;
	int known = -1, value = -1, row = 0;
	int64_t sum = 0;
	for (int i = 0; i < p->n; i++) {
		const int t = p->slots[i].tensor, y = state[p->slots[i].at];
		if (y < 0 || t == known)
			continue;
		if (known < 0 && t == p->tensor) {
			sum = s->tensors[t].first == step ? at_hand(w, t, y, state)
							  : bound_of(s, t, y);
		} else if (known < 0) {
			sum = bound_below(s, p->tensor, state[p->value], state[p->how], t, y);
		} else if (p->below[row * p->n + i]) {
			sum += bound_more(s, known, value, t, y);
		} else {
			continue;
		}
		known = t;
		value = y;
		row = i;
	}
	return known >= 0 ? sum
			  : bound_below(s, p->tensor, state[p->value], state[p->how], -1, -1);
}

int64_t walk_to_come(const Walker *w, int step, const int *state)
{
	const Level *l = &w->levels[step];
	int64_t sum = l->rest;
	for (int i = 0; i < l->npending; i++)
		sum += below(w, &l->pending[i], state, step);
	for (int i = 0; i < l->nsides; i++) {
		const Side *side = &l->sides[i];
		const int how = state[side->how];
		const bool there = state[side->value - LIVE_VALUE + LIVE_SPILLED] & SPILLED;
		if (how == READ_COPIED || how == READ_PARKED || how == READ_BESIDE
		    || !w->s->bare->steps[side->step].out)
			sum += bound_side(w->s, side->step, side->part, state[side->value], how,
					  how == READ_BESIDE && there);
	}
	return sum;
}

static int better_first(const void *a, const void *b)
{
	const Node *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->order - y->order;
}

static void cut_off(Walker *w)
{
	const int width = w->width;
	if (!w->next.n)
		return;
	qsort(w->next.v, (size_t)w->next.n, sizeof(Node), better_first);
	if (w->next.n <= width)
		return;
	for (int i = width; i < w->next.n; i++)
		walk_drop(w, w->next.v[i].bound);
	w->next.n = width;
	w->limit = w->next.v[width - 1].rank + 1;
	w->result->narrow |= width < w->widest;
}

/* Only the best are kept, and found again. */
static void thin_out(Walker *w)
{
	const Level *l = &w->levels[w->step + 1];
	cut_off(w);
	intmap_init(&w->seen, w->scratch);
	for (int i = 0; i < w->next.n; i++) {
		w->next.v[i].order = i;
		intmap_put(&w->seen, w->next.v[i].state, l->words, (void *)(intptr_t)(i + 1));
	}
}

/* Moves beside steps cost nothing as far as is known before, but seldom in the end. Where
 * nothing was found otherwise, bytes in L1 cost something whatever the rents. */
static int64_t likely(const Walker *w, const int *state)
{
	const Level *l = &w->levels[w->step + 1];
	int64_t sum = 0;
	for (int i = 0; i < l->n; i++) {
		const Live *t = &l->live[i];
		const TensorSpace *x = &w->s->tensors[t->tensor];
		const int *at = &state[t->at];
		sum += (int64_t)at[LIVE_BYTES] * ALIGN_DRAM * w->thrift / 1024;
		if (!w->thrift && t->done < x->nreaders && at[LIVE_READS] == READ_BESIDE)
			sum += space_spill(w->s, t->tensor, at[LIVE_VALUE])
				* (at[LIVE_SPILLED] & SPILLED ? 1 : 2);
	}
	return sum;
}

void walk_push(Walker *w, const Making *m, int64_t time, int64_t rent, const Config *config)
{
	const Level *l = &w->levels[w->step + 1];
	const int64_t bound = time + rent + walk_to_come(w, w->step + 1, m->state)
		- w->s->rent_of_all;
	if (bound >= w->most || time >= w->most)
		return;
	w->result->states++;
	const int64_t rank = bound + likely(w, m->state);
	if (rank >= w->limit) {
		walk_drop(w, bound);
		return;
	}
	intptr_t at = (intptr_t)intmap_get(&w->seen, m->state, l->words);
	if (at && w->next.v[at - 1].time <= time)
		return;
	if (!at) {
		at = w->next.n + 1;
		w->next.v = arena_grow(w->scratch, w->next.v, w->next.n, sizeof(Node));
		int *state = arena_array(w->scratch, int, l->words);
		memcpy(state, m->state, (size_t)l->words * sizeof *state);
		w->next.v[w->next.n++].state = state;
		intmap_put(&w->seen, m->state, l->words, (void *)at);
	}
	Node *n = &w->next.v[at - 1];
	n->time = time;
	n->rent = rent;
	n->bound = bound;
	n->rank = rank;
	n->parent = w->from_index;
	n->order = (int)at - 1;
	n->value = m->value;
	n->config = config;
	if (w->next.n >= OVERFLOW * w->width)
		thin_out(w);
}

Nodes walk_keep(Walker *w)
{
	cut_off(w);
	const size_t words = (size_t)w->levels[w->step + 1].words;
	Nodes n = { arena_array(w->s->arena, Node, w->next.n + 1), w->next.n };
	for (int i = 0; i < n.n; i++) {
		n.v[i] = w->next.v[i];
		n.v[i].state = memcpy(arena_array(w->s->arena, int, words), w->next.v[i].state,
				      words * sizeof(int));
	}
	return n;
}

