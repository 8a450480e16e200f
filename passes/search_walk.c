#include "passes/search_side.h"

#include <stdlib.h>
#include <string.h>

#include "passes/plan_dram.h"

enum {
	PROMISED = 60,    /* ways to read a tensor that a step may look at, for each state kept */
	ENOUGH_WIDTH = 128, /* states kept from which on they tell how many come of each */
	BURST = 4,        /* times its share that a step may look at: others take less */
	LEAST_WIDTH = 16, /* states kept, whatever the limit on those looked at */
};

/* Ways a reader may read the tensor just made, or come back; `from`: those that are
 * left to decide. */
typedef struct Promising {
	Walker *w;
	Making *m;
	int tensor;
	int value;
	int first;     /* reader it came back for, or -1: it was made */
	bool beside;   /* it comes back while the step runs */
	int *readers;
	const Live *at; /* in the state behind the step, or NULL: it dies */
	void (*then)(Walker *w, Making *m, int index);
	int index;
} Promising;

/* The last step with the buffer in L1: what is copied for a step is gone by then, what
 * is parked for it was spilled behind its last use. */
static int lives_until(const Promising *p, int readers)
{
	const Space *s = p->w->s;
	const TensorSpace *x = &s->tensors[p->tensor];
	int last = p->first < 0 ? x->last : x->readers[p->first];
	for (int r = p->first < 0 ? 0 : p->first + 1; r < readers; r++) {
		if (p->readers[r] == READ_BESIDE && p->first < 0)
			last++;
		if (p->readers[r] == READ_PARKED || p->readers[r] == READ_BESIDE)
			break;
		const bool here = p->readers[r] >= 0 || !s->bare->steps[x->readers[r]].out;
		last = x->readers[r] - !here > last ? x->readers[r] - !here : last;
	}
	return last;
}

static void promised(Promising *p)
{
	Making *m = p->m;
	const int64_t bytes = m->bytes, time = m->time, rent = m->rent, moves = m->moves;
	const TensorSpace *x = &p->w->s->tensors[p->tensor];
	const Value *v = &x->values->v[p->value];
	Room room = { 0 };
	if (v->place == PLACE_L1 && p->first < 0)
		room = space_buffer(p->w->s, p->tensor, p->value, p->readers);
	else if (v->place == PLACE_L1)
		room = space_back(p->w->s, p->tensor, p->value, p->first, p->readers);
	if (room.bytes >= NO_ROOM)
		return;
	m->bytes += room.bytes;
	if (p->first >= 0 && !p->beside)
		m->add[p->index - 1] = room.bytes;
	const int from = p->first < 0 ? x->first : p->w->step;
	m->rent += bound_rent(p->w->s, from, lives_until(p, x->nreaders), room.bytes);
	if (p->beside)
		m->moves += room.halo;
	else
		m->time += room.halo + (p->first < 0 ? 0 : p->w->s->cost.launch);
	if (p->at)
		m->state[p->at->at + LIVE_BYTES] = (int)(room.bytes / ALIGN_DRAM);
	if (m->bytes <= p->w->s->room && m->time < p->w->most)
		p->then(p->w, m, p->index);
	m->bytes = bytes;
	m->time = time;
	m->rent = rent;
	m->moves = moves;
}

/* What `promised` and side readers from r on will add at least. */
static int64_t to_pay(const Promising *p, int r)
{
	const TensorSpace *x = &p->w->s->tensors[p->tensor];
	if (p->first >= 0)
		return 0;
	int64_t sum = bound_rent(p->w->s, x->first, lives_until(p, r),
				 side_base(&x->values->v[p->value]));
	for (int j = r; j < x->nreaders; j++)
		sum += x->sides[(int64_t)j * x->values->n + p->value];
	return sum;
}

static void promise(Promising *p, int r);

static void promise_one(Promising *p, int r, int how)
{
	const int done = p->at ? p->at->done : 0;
	const int n = p->w->s->tensors[p->tensor].nreaders;
	p->readers[r] = how;
	p->m->state[p->at->at + LIVE_READS + r - done] = how;
	if (how != READ_PARKED && how != READ_BESIDE) {
		promise(p, r + 1);
		return;
	}
	for (int i = r + 1; i < n; i++) /* what is read when it is back is decided then */
		p->readers[i] = p->m->state[p->at->at + LIVE_READS + i - done] = READ_OPEN;
	promised(p);
}

/* Does a host edge send it behind reader r? Then it stays. */
static bool is_sent(const TensorSpace *x, const Space *s, int r)
{
	bool any = false;
	for (int i = r + 1; i < x->nreaders; i++)
		any |= !s->bare->steps[x->readers[i]].out;
	return any;
}

/* Reader r and those behind it; what reads for the same result has its value. */
static void promise(Promising *p, int r)
{
	Space *s = p->w->s;
	if (p->w->left-- <= 0) {
		walk_drop(p->w, p->w->from->bound);
		return;
	}
	const int64_t sure = p->m->time + p->m->rent + p->m->work + to_pay(p, r)
		+ walk_to_come(p->w, p->w->step + 1, p->m->state) - s->rent_of_all;
	if (sure >= p->w->most)
		return;
	const TensorSpace *x = &s->tensors[p->tensor];
	const Value *v = &x->values->v[p->value];
	const PlanTensor *bare = s->bare->tensors[p->tensor];
	if (r == x->nreaders) {
		promised(p);
		return;
	}
	const int step = x->readers[r];
	const Step *reader = &s->bare->steps[step];
	if (!reader->out || v->place == PLACE_DRAM) {
		if (walk_pin_allows(s, step, bare, CHOICE_reshard, false)
		    && walk_pin_allows(s, step, bare, CHOICE_park, false))
			promise_one(p, r, READ_COPIED); /* as it is */
		return;
	}
	const TensorSpace *out = &s->tensors[reader->out->id];
	const int fixed = walk_promised(s, &p->w->levels[p->w->step + 1], p->m->state,
					reader->out->id);
	/* What bands made of their rows is as high as their cut has it: no other holds it. */
	const bool copy = !bare->partial && walk_pin_allows(s, step, bare, CHOICE_reshard, true);
	const bool park = walk_pin_allows(s, step, bare, CHOICE_park, true);
	if (walk_pin_allows(s, step, bare, CHOICE_reshard, false)
	    && walk_pin_allows(s, step, bare, CHOICE_park, false))
		for (int y = 0; y < out->values->n; y++)
			if (!out->dead[y] && (fixed < 0 || fixed == y))
				promise_one(p, r, y);
	/* A copy is of what was made: what came back is read there or parked again. */
	if (copy && p->first < 0 && walk_pin_allows(s, step, bare, CHOICE_park, false))
		promise_one(p, r, READ_COPIED);
	const int before = r > 0 ? x->readers[r - 1] : x->last;
	const bool parks = park && x->parks && !is_sent(x, s, r)
		&& walk_pin_allows(s, step, bare, CHOICE_reshard, false);
	if (parks && step - before >= 2 && walk_pin_allows(s, step, bare, CHOICE_beside, false))
		promise_one(p, r, READ_PARKED);
	if (parks && step - before >= BESIDE_GAP
	    && walk_pin_allows(s, step, bare, CHOICE_beside, true))
		promise_one(p, r, READ_BESIDE);
	p->m->state[p->at->at + LIVE_READS + r - p->at->done] = READ_OPEN;
}

/* Where readers look at a tensor's buffer, not at its value, that is left out of the
 * state: any value of its type stands for it. */
static void forget_value(Space *s, const Live *t, int step, int *at)
{
	const TensorSpace *x = &s->tensors[t->tensor];
	const Value *v = x->values->v;
	bool needed = x->last > step || v[at[LIVE_VALUE]].tensor.partial;
	for (int r = t->done; r < x->nreaders; r++)
		needed |= at[LIVE_READS + r - t->done] < 0;
	for (int i = 0; i < at[LIVE_VALUE] && !needed; i++)
		if (v[i].type == v[at[LIVE_VALUE]].type && v[i].place == v[at[LIVE_VALUE]].place)
			at[LIVE_VALUE] = i;
}

/* Behind the step: what is spilled now, and what later steps need to know. */
static void leave(Walker *w, Making *m, int index)
{
	Space *s = w->s;
	const Level *l = &w->levels[w->step + 1];
	const int64_t time = m->time, moves = m->moves;
	bool spills = index < 0;
	memcpy(w->saved, m->state, (size_t)l->words * sizeof(int));
	for (int i = 0; i < l->n; i++) {
		const Live *t = &l->live[i];
		const TensorSpace *x = &s->tensors[t->tensor];
		int *at = &m->state[t->at];
		const int used = t->done > 0 ? x->readers[t->done - 1] : x->last;
		const int how = t->done < x->nreaders ? at[LIVE_READS] : READ_OPEN;
		const bool spilled = at[LIVE_SPILLED] & SPILLED;
		if (used == w->step && (how == READ_PARKED || (how == READ_BESIDE && spilled))) {
			if (!spilled)
				m->time += s->cost.launch
					+ space_spill(s, t->tensor, at[LIVE_VALUE]);
			spills |= !spilled;
			at[LIVE_SPILLED] |= SPILLED;
			at[LIVE_BYTES] = 0;
		} else if (used == w->step - 1 && how == READ_BESIDE && !spilled) {
			m->moves += space_spill(s, t->tensor, at[LIVE_VALUE]);
			at[LIVE_SPILLED] |= SPILLED;
			at[LIVE_BYTES] = 0;
		}
		forget_value(s, t, w->step, at);
	}
	walk_finish(w, m, spills);
	m->time = time;
	m->moves = moves;
	memcpy(m->state, w->saved, (size_t)l->words * sizeof(int));
}

/* Tensors that come back while the step runs, for the next one: from number `index` of
 * those that live on. */
static void come_back(Walker *w, Making *m, int index)
{
	Space *s = w->s;
	const Level *l = &w->levels[w->step + 1];
	for (int i = index; i < l->n; i++) {
		const Live *t = &l->live[i];
		const TensorSpace *x = &s->tensors[t->tensor];
		int *at = &m->state[t->at];
		if (t->done == x->nreaders || x->readers[t->done] != w->step + 1
		    || at[LIVE_READS] != READ_BESIDE)
			continue;
		const int next = s->bare->steps[w->step + 1].out->id;
		const TensorSpace *out = &s->tensors[next];
		const int fixed = walk_promised(s, l, m->state, next);
		Promising p = { .w = w, .m = m, .tensor = t->tensor, .value = at[LIVE_VALUE],
				.first = t->done, .beside = true, .at = t, .then = come_back,
				.readers = w->readers + (MAX_STEP_PARTS + 1 + i) * s->bare->nsteps,
				.index = i + 1 };
		for (int k = 0; k < x->nreaders; k++)
			p.readers[k] = READ_PARKED;
		at[LIVE_SPILLED] |= BACK_BESIDE;
		for (int y = 0; y < out->values->n; y++) {
			if (out->dead[y] || (fixed >= 0 && fixed != y))
				continue;
			p.readers[t->done] = at[LIVE_READS] = y;
			promise(&p, t->done + 1);
		}
		at[LIVE_READS] = READ_BESIDE;
		at[LIVE_BYTES] = 0;
		at[LIVE_SPILLED] &= ~BACK_BESIDE;
		return;
	}
	leave(w, m, 0);
}

/* Parts that come back from DRAM, then the result: each with all its readers. */
static void decide(Walker *w, Making *m, int index)
{
	Space *s = w->s;
	const Step *r = &s->bare->steps[w->step];
	const Level *l = &w->levels[w->step], *behind = &w->levels[w->step + 1];
	for (int k = index; k < r->nin && r->out; k++) {
		const int t = r->in[k].tensor->id;
		const Live *at = walk_live(l, t);
		int same = 0;
		while (r->in[same].tensor != r->in[k].tensor)
			same++;
		if (same < k || walk_reads(s, at, w->from->state, w->step) != READ_PARKED)
			continue;
		Promising p = { .w = w, .m = m, .tensor = t, .value = m->parts[k],
				.first = at->done, .readers = w->readers + k * s->bare->nsteps,
				.at = walk_live(behind, t), .then = decide, .index = k + 1 };
		for (int i = 0; i < s->tensors[t].nreaders; i++)
			p.readers[i] = READ_PARKED;
		p.readers[at->done] = m->value;
		promise(&p, at->done + 1);
		return;
	}
	if (!r->out || s->tensors[r->out->id].first != w->step) {
		come_back(w, m, 0);
		return;
	}
	const Live *at = walk_live(behind, r->out->id);
	Promising p = { .w = w, .m = m, .tensor = r->out->id, .value = m->value, .first = -1,
			.readers = w->readers + r->nin * s->bare->nsteps, .at = at,
			.then = come_back };
	promise(&p, 0);
}

/* Numbers of tensors that live on, without the reader at hand. */
static void carry(const Walker *w, Making *m)
{
	const Level *l = &w->levels[w->step], *behind = &w->levels[w->step + 1];
	memset(m->state, 0, (size_t)behind->words * sizeof(int));
	m->state[0] = -2; /* not decided */
	for (int i = 0; i < behind->n; i++) {
		const Live *t = &behind->live[i], *was = walk_live(l, t->tensor);
		const int left = w->s->tensors[t->tensor].nreaders - t->done;
		for (int k = 0; k < left; k++)
			m->state[t->at + LIVE_READS + k] = READ_OPEN;
		if (!was)
			continue;
		const int *at = &w->from->state[was->at];
		memcpy(&m->state[t->at], at, LIVE_READS * sizeof(int));
		m->state[t->at + LIVE_SPILLED] &= ~BACK_BESIDE;
		memcpy(&m->state[t->at + LIVE_READS], at + LIVE_READS + t->done - was->done,
		       (size_t)left * sizeof(int));
	}
}

/* Copies that are made for the step; what is read no more is gone behind that. */
static void make_copies(Walker *w, Making *m, int value)
{
	Space *s = w->s;
	const Step *r = &s->bare->steps[w->step];
	const Level *l = &w->levels[w->step];
	for (int k = 0; k < r->nin; k++) {
		const Live *t = walk_live(l, r->in[k].tensor->id);
		const TensorSpace *x = &s->tensors[t->tensor];
		int same = 0;
		while (r->in[same].tensor != r->in[k].tensor)
			same++;
		m->add[k] = m->gone[k] = 0;
		m->parts[k] = w->from->state[t->at + LIVE_VALUE];
		if (same < k || !r->out || x->values->v[m->parts[k]].place == PLACE_DRAM
		    || walk_reads(s, t, w->from->state, w->step) != READ_COPIED)
			continue;
		const Pair *p = space_pair(s, w->step, k, m->parts[k], value, PAIR_COPY);
		m->time += p->copy_time + w->reshard_price;
		m->add[k] = p->copy_bytes;
		if (x->readers[x->nreaders - 1] == w->step)
			m->gone[k] = (int64_t)w->from->state[t->at + LIVE_BYTES] * ALIGN_DRAM;
		m->bytes += m->add[k] - m->gone[k];
		if (p->copy_bytes < NO_ROOM)
			m->rent += bound_rent(s, w->step, w->step, p->copy_bytes);
	}
}

/* Inputs of a product are of one type: one bit. */
static bool parts_agree(const Space *s, const Step *r, const int *parts)
{
	unsigned all = 0;
	for (int k = 0; k < r->nin; k++)
		all |= s->tensors[r->in[k].tensor->id].values->v[parts[k]].type;
	return !choice_has(r, CHOICE_k_block) || !(all & (all - 1));
}

/* One value of the result: copies are made, the rest is decided. */
static void try_value(Walker *w, Making *m, int value)
{
	Space *s = w->s;
	const Step *r = &s->bare->steps[w->step];
	const Level *l = &w->levels[w->step];
	const int ahead = w->from->state[0];
	m->value = value;
	m->time = w->from->time;
	m->rent = w->from->rent;
	m->moves = 0;
	m->bytes = 0;
	for (int i = 0; i < l->n; i++)
		m->bytes += (int64_t)w->from->state[l->live[i].at + LIVE_BYTES] * ALIGN_DRAM;
	m->before = m->bytes;
	make_copies(w, m, value);
	if (m->bytes > s->room || m->time >= w->most || !parts_agree(s, r, m->parts))
		return;
	m->configs = space_configs(s, w->step, value, m->parts);
	m->ahead = ahead >= 0 ? &m->configs->v[ahead] : NULL;
	m->work = m->ahead ? m->ahead->early : NO_WAY;
	for (int i = 0; i < m->configs->n && !m->ahead; i++)
		m->work = m->configs->v[i].time < m->work ? m->configs->v[i].time : m->work;
	carry(w, m);
	const Live *made = r->out ? walk_live(&w->levels[w->step + 1], r->out->id) : NULL;
	if (made)
		m->state[made->at + LIVE_VALUE] = value;
	decide(w, m, 0);
}

static void expand(Walker *w)
{
	Space *s = w->s;
	const Step *r = &s->bare->steps[w->step];
	if (!r->out) {
		try_value(w, w->making, -1);
		return;
	}
	const TensorSpace *x = &s->tensors[r->out->id];
	const int fixed = walk_promised(s, &w->levels[w->step], w->from->state, r->out->id);
	for (int v = 0; v < x->values->n; v++)
		if (!x->dead[v] && (fixed < 0 || fixed == v))
			try_value(w, w->making, v);
}

/* The choices of the steps up to a node, from the last to the first. */
static void trace(Walker *w, const Nodes *levels, int last, Choice *choices)
{
	const Node *n = &levels[w->s->bare->nsteps].v[last];
	for (int i = w->s->bare->nsteps - 1; i >= 0; i--) {
		const Step *r = &w->s->bare->steps[i];
		const Node *before = &levels[i].v[n->parent];
		Choice *c = &choices[i];
		*c = n->config->how;
		c->prefetch = before->state[0] >= 0;
		if (r->out) {
			const Value *v = &w->s->tensors[r->out->id].values->v[n->value];
			c->bands = v->cut.bands;
			c->splits = v->cut.splits;
			c->type = (int)v->type;
			c->place = (int)v->place;
		}
		for (int k = r->nin - 1; k >= 0 && r->out; k--) {
			const Live *t = walk_live(&w->levels[i], r->in[k].tensor->id);
			const int how = walk_reads(w->s, t, before->state, i);
			const int v = before->state[t->at + LIVE_VALUE];
			const TensorSpace *x = &w->s->tensors[t->tensor];
			if (x->values->v[v].place == PLACE_DRAM)
				continue;
			for (int j = 0; j < k; j++) /* it moves as the first of its parts */
				if (r->in[j].tensor == r->in[k].tensor)
					k = j;
			c->reshard |= (how == READ_COPIED) << k;
			const bool beside = before->state[t->at + LIVE_SPILLED] & BACK_BESIDE;
			c->park |= (how == READ_PARKED || beside) << k;
			c->beside |= beside << k;
		}
		n = before;
	}
}

/* So many states that those to be looked at are shared equally by the steps left. */
static int next_width(const Walker *w, const WalkLimit *limit, int kept, int64_t looked_at)
{
	const int left = w->s->bare->nsteps - w->step - 1;
	const int64_t share = left > 0 ? (limit->states - w->result->states) / left : limit->states;
	const int64_t each = kept >= ENOUGH_WIDTH ? looked_at / kept + 1 : 1;
	const int64_t most = BURST * share / each, fit = most > LEAST_WIDTH ? most : LEAST_WIDTH;
	return fit < limit->width ? (int)fit : limit->width;
}

Walk walk(Space *s, int64_t most, WalkLimit limit, int64_t reshard_price, Choice *choices)
{
	const int n = s->bare->nsteps;
	Walk result = { .time = most, .dropped = INT64_MAX, .stuck = -1 };
	Walker w = { .s = s, .levels = walk_levels(s), .most = most, .result = &result,
		     .reshard_price = reshard_price, .width = limit.width, .widest = limit.width,
		     .thrift = limit.thrift };
	Nodes *levels = arena_array(s->arena, Nodes, n + 1);
	int words = 1;
	for (int i = 0; i <= n; i++)
		words = w.levels[i].words > words ? w.levels[i].words : words;
	w.making = arena_new(s->arena, Making);
	w.making->state = arena_array(s->arena, int, words);
	w.saved = arena_array(s->arena, int, words);
	int live = 0, readers = 1; /* beside the first: each has ways of its own */
	for (int t = 0; t < s->bare->ntensors; t++)
		if (s->tensors[t].nreaders - 1 > readers)
			readers = s->tensors[t].nreaders - 1;
	for (int i = 0; i <= n; i++)
		live = w.levels[i].n > live ? w.levels[i].n : live;
	w.readers = arena_array(s->arena, int, (int64_t)(MAX_STEP_PARTS + 1 + live) * n);
	levels[0].v = arena_new(s->arena, Node);
	levels[0].n = 1;
	levels[0].v->state = arena_array(s->arena, int, 1);
	levels[0].v->state[0] = -1;
	for (w.step = 0; w.step < n; w.step++) {
		w.next = (Nodes){ 0 };
		w.scratch = arena_create();
		w.limit = INT64_MAX;
		w.left = (int64_t)PROMISED * readers * limit.width;
		if (w.left > BURST * limit.states)
			w.left = BURST * limit.states;
		const int64_t looked_at = result.states;
		intmap_init(&w.seen, w.scratch);
		for (int i = 0; i < levels[w.step].n; i++) {
			w.from = &levels[w.step].v[i];
			w.from_index = i;
			expand(&w);
		}
		levels[w.step + 1] = walk_keep(&w);
		w.width = next_width(&w, &limit, levels[w.step].n, result.states - looked_at);
		arena_destroy(w.scratch);
		if (!w.next.n) {
			result.stuck = w.step;
			return result;
		}
	}
	int best = 0;
	for (int i = 1; i < levels[n].n; i++)
		if (levels[n].v[i].time < levels[n].v[best].time)
			best = i;
	result.found = true;
	result.time = levels[n].v[best].time;
	trace(&w, levels, best, choices);
	return result;
}
