/*
 * The bounds of search_bound.c summed over the tree of main inputs, and values that
 * no plan good enough can have.
 */
#include "passes/search_walk.h"

#include <stdlib.h>

enum { MOST_FILTERS = 3 }; /* times that what was dropped is used to drop more */

int64_t bound_min(const TensorSpace *x, const int64_t *of)
{
	int64_t least = NO_WAY;
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
	if (n)
		qsort(r, (size_t)n, sizeof *r, by_sum);
	return n;
}

/* Of each value of the parent: what the child below it takes at least. */
static void rank_below(Space *s, int t)
{
	TensorSpace *x = &s->tensors[t];
	TensorSpace *p = &s->tensors[x->parent];
	const int n = rank(x, x->up, NULL, s->ranked);
	if (!x->best) {
		x->best = arena_array(s->arena, int64_t, p->values->n + 1);
		x->choice = arena_array(s->arena, int, p->values->n + 1);
	}
	for (int v = 0; v < p->values->n; v++) {
		x->best[v] = NO_WAY;
		if (p->dead[v])
			continue;
		for (int i = 0; i < n && s->ranked[i].sum < x->best[v]; i++) {
			const Ranked *r = &s->ranked[i];
			const int64_t one = r->sum + bound_edge(s, t, v, r->value);
			if (one < x->best[v]) {
				x->best[v] = one;
				x->choice[v] = r->value;
			}
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
		int64_t least = p ? NO_WAY : all - top;
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
	bool again = true;
	for (int i = 0; i < MOST_FILTERS && again; i++) {
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

void bound_solution(const Space *s, int *values)
{
	for (int k = 0; k < s->bare->nsteps; k++) {
		const Step *r = &s->bare->steps[k];
		if (!r->out || s->tensors[r->out->id].first != k)
			continue;
		const TensorSpace *x = &s->tensors[r->out->id];
		int best = x->parent >= 0 ? x->choice[values[x->parent]] : -1;
		for (int v = 0; v < x->values->n && x->parent < 0; v++)
			if (!x->dead[v] && (best < 0 || x->up[v] < x->up[best]))
				best = v;
		values[r->out->id] = best;
	}
}
