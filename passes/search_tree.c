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

int64_t bound_least(const TensorSpace *x)
{
	int64_t least = NO_WAY;
	for (int i = 0; i < x->shade_at[x->values->n]; i++)
		if (!x->dead[x->shades[i].value] && x->up[i] < least)
			least = x->up[i];
	return least;
}

static int by_sum(const void *a, const void *b)
{
	const Ranked *x = a, *y = b;
	return x->sum < y->sum ? -1 : x->sum > y->sum ? 1 : x->shade - y->shade;
}

/* Shades of values that are not dead by `of`, less `without` if it is not NULL: least
 * first. */
static int rank(Space *s, const TensorSpace *x, const int64_t *of, const int64_t *without)
{
	int n = 0;
	const int all = x->shade_at[x->values->n];
	if (all > s->ranked_room) {
		s->ranked_room = 2 * all;
		s->ranked = arena_array(s->arena, Ranked, s->ranked_room);
	}
	for (int i = 0; i < all; i++)
		if (!x->dead[x->shades[i].value])
			s->ranked[n++] = (Ranked){ of[i] - (without ? without[i] : 0), i };
	if (n)
		qsort(s->ranked, (size_t)n, sizeof *s->ranked, by_sum);
	return n;
}

/* Of the shades of a value of the parent: what the child below it takes at least. Of the
 * child's, so many are ranked. */
static void rank_value(Space *s, int t, int from, int ranked)
{
	TensorSpace *x = &s->tensors[t];
	const TensorSpace *p = &s->tensors[x->parent];
	const int first = p->shade_at[from], end = p->shade_at[from + 1];
	int64_t worst = NO_WAY;
	for (int k = first; k < end; k++)
		x->best[k] = NO_WAY;
	for (int i = 0; i < ranked && s->ranked[i].sum < worst; i++) {
		const Ranked *r = &s->ranked[i];
		if (!bound_takes(s, t, from, r->shade))
			continue;
		const Link *l = bound_link(s, t, from, x->shades[r->shade].value);
		worst = 0;
		for (int k = first; k < end; k++) {
			const int64_t one = r->sum
				+ bound_edge(s, t, l, p->shades[k].hides, r->shade);
			if (one < x->best[k]) {
				x->best[k] = one;
				x->choice[k] = r->shade;
			}
			worst = x->best[k] > worst ? x->best[k] : worst;
		}
	}
	for (int k = first; k < end; k++)
		p->up[k] += x->best[k];
}

static void rank_below(Space *s, int t)
{
	TensorSpace *x = &s->tensors[t];
	const TensorSpace *p = &s->tensors[x->parent];
	const int n = rank(s, x, x->up, NULL), all = p->shade_at[p->values->n];
	if (all > x->parent_room) {
		x->parent_room = p->room;
		x->best = arena_array(s->arena, int64_t, p->room);
		x->choice = arena_array(s->arena, int, p->room);
	}
	for (int v = 0; v < p->values->n; v++)
		if (!p->dead[v])
			rank_value(s, t, v, n);
}

/* From below: children come behind their parents. */
static void go_up(Space *s)
{
	for (int t = 0; t < s->bare->ntensors; t++) {
		const TensorSpace *x = &s->tensors[t];
		for (int i = 0; i < x->shade_at[x->values->n]; i++)
			x->up[i] = x->least[x->shades[i].value] + x->shades[i].cost;
	}
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
			sum += bound_least(&s->tensors[t]);
	return sum;
}

/* `through` of a tensor's shades: what lies above and beside each, and below. */
static void pass_through(Space *s, int t, int64_t all)
{
	TensorSpace *x = &s->tensors[t];
	const TensorSpace *p = x->parent < 0 ? NULL : &s->tensors[x->parent];
	const int64_t top = p ? 0 : bound_least(x);
	const int n = p ? rank(s, p, p->through, x->best) : 0;
	for (int y = 0; y < x->shade_at[x->values->n]; y++) {
		if (x->dead[x->shades[y].value])
			continue;
		int64_t least = p ? NO_WAY : all - top;
		for (int i = 0; i < n && s->ranked[i].sum < least; i++) {
			const Ranked *r = &s->ranked[i];
			const Shade *from = &p->shades[r->shade];
			if (!bound_takes(s, t, from->value, y))
				continue;
			const Link *l = bound_link(s, t, from->value, x->shades[y].value);
			const int64_t one = r->sum + bound_edge(s, t, l, from->hides, y);
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

/* Values of which no shade is part of anything that takes less than `most`. */
static bool drop(TensorSpace *x, int64_t most)
{
	bool any = false;
	for (int v = 0; v < x->values->n; v++) {
		bool good = false;
		for (int i = x->shade_at[v]; i < x->shade_at[v + 1] && !x->dead[v]; i++)
			good |= x->through[i] < most;
		any |= !x->dead[v] && !good;
		x->dead[v] |= !good;
	}
	return any;
}

int64_t bound_filter(Space *s, int64_t most)
{
	int64_t all = 0;
	bool again = true;
	for (int i = 0; i < MOST_FILTERS && again; i++) {
		again = false;
		all = bound_tree(s);
		go_down(s, all);
		for (int t = 0; t < s->bare->ntensors; t++)
			again |= drop(&s->tensors[t], most);
	}
	return all;
}

void bound_solution(const Space *s, int *shades)
{
	for (int k = 0; k < s->bare->nsteps; k++) {
		const Step *r = &s->bare->steps[k];
		if (!r->out || s->tensors[r->out->id].first != k)
			continue;
		const TensorSpace *x = &s->tensors[r->out->id];
		int best = x->parent >= 0 ? x->choice[shades[x->parent]] : -1;
		for (int i = 0; i < x->shade_at[x->values->n] && x->parent < 0; i++)
			if (!x->dead[x->shades[i].value] && (best < 0 || x->up[i] < x->up[best]))
				best = i;
		shades[r->out->id] = best;
	}
}
