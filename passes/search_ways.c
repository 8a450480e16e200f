/*
 * What is known before each step of the walk: which tensors live, where their
 * numbers stand in a state, what is still to come.
 */
#include "passes/search_walk.h"

#include <stdlib.h>

#include "passes/plan_dram.h"

const Live *walk_live(const Level *l, int tensor)
{
	for (int i = 0; i < l->n; i++)
		if (l->live[i].tensor == tensor)
			return &l->live[i];
	return NULL;
}

int walk_reads(const Space *s, const Live *t, const int *state, int step)
{
	const TensorSpace *x = &s->tensors[t->tensor];
	for (int r = t->done; r < x->nreaders; r++)
		if (x->readers[r] == step)
			return state[t->at + LIVE_READS + r - t->done];
	return READ_COPIED;
}

int walk_promised(const Space *s, const Level *l, const int *state, int tensor)
{
	const Live *made = walk_live(l, tensor);
	if (made)
		return state[made->at + LIVE_VALUE];
	for (int i = 0; i < l->n; i++) {
		const Live *t = &l->live[i];
		const TensorSpace *x = &s->tensors[t->tensor];
		for (int r = t->done; r < x->nreaders; r++) {
			const Step *reader = &s->bare->steps[x->readers[r]];
			const int to = state[t->at + LIVE_READS + r - t->done];
			if (reader->out && reader->out->id == tensor && to >= 0)
				return to;
		}
	}
	return -1;
}

bool walk_pin_allows(const Space *s, int step, const PlanTensor *t, ChoiceField f, bool want)
{
	const Pins *p = s->pins ? &s->pins[step] : NULL;
	const Step *r = &s->bare->steps[step];
	if (!p || !(p->fixed >> f & 1))
		return true;
	for (int k = 0; k < r->nin; k++)
		if (r->in[k].tensor == t)
			return (choice_get(&p->value, f) >> k & 1) == want;
	return true;
}

static bool is_live(const TensorSpace *x, int step)
{
	const int last = x->nreaders ? x->readers[x->nreaders - 1] : x->last;
	return x->first < step && (last >= step || x->last >= step);
}

static void add_live(Space *s, Level *l, int t, int step)
{
	const TensorSpace *x = &s->tensors[t];
	Live one = { .tensor = t, .at = l->words };
	while (one.done < x->nreaders && x->readers[one.done] < step)
		one.done++;
	l->live = arena_grow(s->arena, l->live, l->n, sizeof one);
	l->live[l->n++] = one;
	l->words += LIVE_READS + x->nreaders - one.done;
}

bool walk_is_below(const Space *s, int tensor, int above)
{
	while (tensor >= 0 && tensor != above)
		tensor = s->tensors[tensor].parent;
	return tensor >= 0;
}

/* Where the state has how the tensor's reader `step` reads it. */
static int how_at(const Space *s, const Live *t, int step)
{
	const TensorSpace *x = &s->tensors[t->tensor];
	int r = t->done;
	while (x->readers[r] != step)
		r++;
	return t->at + LIVE_READS + r - t->done;
}

static int by_step(const void *a, const void *b)
{
	const Slot *x = a, *y = b;
	return x->tensor != y->tensor ? x->tensor - y->tensor : x->at - y->at;
}

/* Promises to what hangs below the tensor: those made first come first. */
static void add_slots(Space *s, const Level *l, Pending *p, int step)
{
	for (int i = 0; i < l->n; i++) {
		const TensorSpace *x = &s->tensors[l->live[i].tensor];
		for (int r = l->live[i].done; r < x->nreaders; r++) {
			const Step *reader = &s->bare->steps[x->readers[r]];
			if (!reader->out || s->tensors[reader->out->id].first < step
			    || !walk_is_below(s, reader->out->id, p->tensor))
				continue;
			p->slots = arena_grow(s->arena, p->slots, p->n, sizeof *p->slots);
			p->slots[p->n++] = (Slot){ reader->out->id,
						   how_at(s, &l->live[i], x->readers[r]) };
		}
	}
	for (int i = 0; i < p->n; i++)
		p->slots[i].tensor = s->tensors[p->slots[i].tensor].first;
	qsort(p->slots, (size_t)p->n, sizeof *p->slots, by_step);
	for (int i = 0; i < p->n; i++)
		p->slots[i].tensor = s->bare->steps[p->slots[i].tensor].out->id;
	p->below = arena_array(s->arena, bool, (int64_t)p->n * p->n + 1);
	for (int i = 0; i < p->n; i++)
		for (int k = 0; k < p->n; k++)
			p->below[i * p->n + k] = walk_is_below(s, p->slots[k].tensor,
							       p->slots[i].tensor);
}

static void add_pending(Space *s, Level *l, int t, int step)
{
	const TensorSpace *x = &s->tensors[t];
	const Live *parent = walk_live(l, x->parent);
	Pending one = { .tensor = t, .value = parent->at + LIVE_VALUE,
			.how = how_at(s, parent, x->first) };
	add_slots(s, l, &one, step);
	l->pending = arena_grow(s->arena, l->pending, l->npending, sizeof one);
	l->pending[l->npending++] = one;
}

static void add_sides(Space *s, Level *l, const Live *t)
{
	const TensorSpace *x = &s->tensors[t->tensor];
	for (int r = t->done; r < x->nreaders; r++) {
		const int step = x->readers[r];
		const Step *reader = &s->bare->steps[step];
		int part = 0;
		while (reader->in[part].tensor->id != t->tensor)
			part++;
		const int main = s->steps[step].main;
		if (reader->out && reader->in[main].tensor->id == t->tensor
		    && s->tensors[reader->out->id].first == step)
			continue;
		l->sides = arena_grow(s->arena, l->sides, l->nsides, sizeof *l->sides);
		l->sides[l->nsides++] = (Side){ step, part, t->at + LIVE_VALUE,
						how_at(s, t, step) };
	}
}

Level *walk_levels(Space *s)
{
	const int n = s->bare->nsteps;
	Level *all = arena_array(s->arena, Level, n + 1);
	for (int step = 0; step <= n; step++) {
		Level *l = &all[step];
		l->words = 1;
		for (int t = 0; t < s->bare->ntensors; t++)
			if (is_live(&s->tensors[t], step))
				add_live(s, l, t, step);
		for (int i = 0; i < l->n; i++)
			add_sides(s, l, &l->live[i]);
		for (int t = 0; t < s->bare->ntensors; t++) {
			const TensorSpace *x = &s->tensors[t];
			if (x->first < step)
				continue;
			if (x->parent < 0)
				l->rest += bound_least(x);
			else if (s->tensors[x->parent].first < step)
				add_pending(s, l, t, step);
		}
	}
	return all;
}
