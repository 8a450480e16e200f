/*
 * Lower bounds without the L1 limit, on the tree of main inputs: every tensor
 * hangs below the one its step reads that was made last.
 *
 * A tensor's halo is that of all its readers together, which is no less than that
 * of any one of them: each of k children in the tree counts the k-th part of its
 * own. Inputs that are not main cost nothing here.
 */
#include "passes/search_walk.h"

#include <stdlib.h>

/* What a product takes beyond `least` if the step before it hides its weights for so
 * long; -1: they cannot come early. */
static int64_t exposed(Space *s, const TensorSpace *x, int value, int64_t before)
{
	const Step *r = &s->bare->steps[x->first];
	if (x->first != x->last || !choice_has(r, CHOICE_prefetch) || s->dram)
		return 0;
	const int parts[MAX_STEP_PARTS] = { 0 }; /* all of their values are of one type */
	const Configs *c = space_configs(s, x->first, value, parts);
	int64_t least = NO_WAY;
	for (int i = 0; i < c->n; i++) {
		const Config *one = &c->v[i];
		const int64_t wait = one->fetch > before ? one->fetch - before : 0;
		const int64_t early = before < 0 ? one->time : one->early + wait;
		const int64_t time = early < one->time ? early : one->time;
		least = time < least ? time : least;
	}
	return least > x->least[value] ? least - x->least[value] : 0;
}

int64_t bound_late(Space *s, int t, int value)
{
	TensorSpace *x = &s->tensors[t];
	if (!x->late[value])
		x->late[value] = x->least[value] + exposed(s, x, value, -1);
	return x->late[value];
}

/* The step before takes no longer than `late`, or is paid for it: what its work takes
 * beyond its own least hides no less of what comes during it. */
static int64_t direct(Space *s, int t, int from, int to)
{
	const TensorSpace *x = &s->tensors[t], *parent = &s->tensors[x->parent];
	const bool next = parent->first == parent->last && x->first == parent->last + 1;
	const int64_t before = next ? bound_late(s, x->parent, from) : NO_WAY;
	const Pair *p = space_pair(s, x->first, s->steps[x->first].main, from, to);
	return p->halo / parent->children + exposed(s, x, to, before);
}

int64_t bound_read(Space *s, int t, int from, int to, int how)
{
	const TensorSpace *child = &s->tensors[t];
	const Value *v = &s->tensors[child->parent].values->v[from];
	if (how == READ_OPEN || v->place == PLACE_DRAM)
		return bound_edge(s, t, from, to);
	const Pair *p = space_pair(s, child->first, s->steps[child->first].main, from, to);
	const int64_t moved = how == READ_COPIED ? p->copy_time : p->back_time;
	return moved + exposed(s, child, to, -1);
}

static int64_t edge(Space *s, int t, int from, int to)
{
	const TensorSpace *child = &s->tensors[t];
	const Value *v = &s->tensors[child->parent].values->v[from];
	if (v->place == PLACE_DRAM) { /* it is read at some time */
		const int64_t moved = cost_move(&s->cost, s->bare, &v->tensor, false);
		return moved > child->least[to] ? moved - child->least[to] : 0;
	}
	const int64_t here = direct(s, t, from, to);
	const int64_t copied = bound_read(s, t, from, to, READ_COPIED);
	const int64_t back = bound_read(s, t, from, to, READ_PARKED);
	const int64_t moved = copied < back ? copied : back;
	return here < moved ? here : moved;
}

int64_t bound_edge(Space *s, int t, int from, int to)
{
	TensorSpace *x = &s->tensors[t];
	const int n = x->values->n;
	if (!x->edge)
		x->edge = arena_array(s->arena, int64_t,
				      (int64_t)n * s->tensors[x->parent].values->n + 1);
	int64_t *known = &x->edge[(int64_t)from * n + to];
	if (!*known)
		*known = edge(s, t, from, to) + 1;
	return *known - 1;
}

/* Of steps without result: from any value of what they send. */
static void leaves(Space *s)
{
	for (int i = 0; i < s->bare->nsteps; i++) {
		const Step *r = &s->bare->steps[i];
		if (r->out)
			continue;
		const TensorSpace *x = &s->tensors[r->in[0].tensor->id];
		int64_t least = INT64_MAX / 8;
		for (int v = 0; v < x->values->n; v++) {
			if (x->dead[v] || x->values->v[v].place == PLACE_DRAM)
				continue;
			const Configs *c = space_configs(s, i, -1, &v);
			for (int k = 0; k < c->n; k++)
				least = c->v[k].time < least ? c->v[k].time : least;
		}
		s->steps[i].leaf = least;
	}
}

void bound_least(Space *s)
{
	for (int t = 0; t < s->bare->ntensors; t++) {
		TensorSpace *x = &s->tensors[t];
		for (int v = 0; v < x->values->n; v++) {
			x->least[v] = 0;
			for (int i = x->first; i <= x->last && !x->dead[v]; i++)
				if (s->bare->steps[i].out == s->bare->tensors[t])
					x->least[v] += space_least(s, i, v);
			if (x->least[v] >= INT64_MAX / 8)
				x->dead[v] = true;
		}
	}
	leaves(s);
}

int64_t bound_min(const TensorSpace *x, const int64_t *of)
{
	int64_t least = INT64_MAX / 8;
	for (int v = 0; v < x->values->n; v++)
		if (!x->dead[v] && of[v] < least)
			least = of[v];
	return least;
}

static int by_sum(const void *a, const void *b)
{
	const Ranked *x = a, *y = b;
	return x->sum < y->sum ? -1 : x->sum > y->sum ? 1 : x->value - y->value;
}

/* Values that are not dead by `of`, less `without` if it is not NULL: least first. */
static int rank(const TensorSpace *x, const int64_t *of, const int64_t *without, Ranked *r)
{
	int n = 0;
	for (int v = 0; v < x->values->n; v++)
		if (!x->dead[v])
			r[n++] = (Ranked){ of[v] - (without ? without[v] : 0), v };
	qsort(r, (size_t)n, sizeof *r, by_sum);
	return n;
}

/* Of each value of the parent: what the child below it takes at least. */
static void rank_below(Space *s, int t)
{
	TensorSpace *x = &s->tensors[t];
	TensorSpace *p = &s->tensors[x->parent];
	const int n = rank(x, x->up, NULL, s->ranked);
	if (!x->best)
		x->best = arena_array(s->arena, int64_t, p->values->n + 1);
	for (int v = 0; v < p->values->n; v++) {
		x->best[v] = INT64_MAX / 8;
		if (p->dead[v])
			continue;
		for (int i = 0; i < n && s->ranked[i].sum < x->best[v]; i++) {
			const Ranked *r = &s->ranked[i];
			const int64_t one = r->sum + bound_edge(s, t, v, r->value);
			x->best[v] = one < x->best[v] ? one : x->best[v];
		}
		p->up[v] += x->best[v];
	}
}

/* From below: children come behind their parents. */
static void go_up(Space *s)
{
	for (int t = 0; t < s->bare->ntensors; t++)
		for (int v = 0; v < s->tensors[t].values->n; v++)
			s->tensors[t].up[v] = s->tensors[t].least[v];
	for (int k = s->bare->nsteps - 1; k >= 0; k--) {
		const Step *r = &s->bare->steps[k];
		if (r->out && s->tensors[r->out->id].first == k
		    && s->tensors[r->out->id].parent >= 0)
			rank_below(s, r->out->id);
	}
}

int64_t bound_tree(Space *s)
{
	int64_t sum = 0;
	go_up(s);
	intmap_init(&s->given, s->arena);
	for (int t = 0; t < s->bare->ntensors; t++)
		if (s->tensors[t].parent < 0)
			sum += bound_min(&s->tensors[t], s->tensors[t].up);
	for (int k = 0; k < s->bare->nsteps; k++)
		sum += s->steps[k].leaf;
	return sum;
}

/* `through` of a tensor's values: what lies above and beside each, and below. */
static void pass_through(Space *s, int t, int64_t all)
{
	TensorSpace *x = &s->tensors[t];
	const TensorSpace *p = x->parent < 0 ? NULL : &s->tensors[x->parent];
	const int64_t top = p ? 0 : bound_min(x, x->up);
	const int n = p ? rank(p, p->through, x->best, s->ranked) : 0;
	for (int y = 0; y < x->values->n; y++) {
		if (x->dead[y])
			continue;
		int64_t least = p ? INT64_MAX / 8 : all - top;
		for (int i = 0; i < n && s->ranked[i].sum < least; i++) {
			const Ranked *r = &s->ranked[i];
			const int64_t one = r->sum + bound_edge(s, t, r->value, y);
			least = one < least ? one : least;
		}
		x->through[y] = least + x->up[y];
	}
}

static void go_down(Space *s, int64_t all)
{
	for (int k = 0; k < s->bare->nsteps; k++) {
		const Step *r = &s->bare->steps[k];
		if (r->out && s->tensors[r->out->id].first == k)
			pass_through(s, r->out->id, all);
	}
}

int64_t bound_filter(Space *s, int64_t most)
{
	int64_t all = 0;
	for (bool again = true; again;) {
		again = false;
		all = bound_tree(s);
		go_down(s, all);
		for (int t = 0; t < s->bare->ntensors; t++) {
			TensorSpace *x = &s->tensors[t];
			for (int v = 0; v < x->values->n; v++) {
				if (x->dead[v] || x->through[v] < most)
					continue;
				x->dead[v] = true;
				again = true;
			}
		}
	}
	return all;
}
