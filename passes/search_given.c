/*
 * Bounds on the tree of main inputs with the values of some tensors fixed: those that
 * a state has promised to steps that are still to come.
 */
#include "passes/search_walk.h"

static const int64_t *vector(Space *s, int x, int below, int y)
{
	const TensorSpace *t = &s->tensors[x];
	int64_t *v = arena_array(s->arena, int64_t, t->values->n + 1);
	int child = below;
	while (child != x && s->tensors[child].parent != x)
		child = s->tensors[child].parent;
	const TensorSpace *c = &s->tensors[child];
	const int64_t *under = child == x ? NULL : bound_given(s, child, below, y);
	for (int i = 0; i < t->values->n; i++) {
		v[i] = NO_WAY;
		if (t->dead[i])
			continue;
		if (child == x) {
			v[i] = i == y ? t->up[y] : NO_WAY;
			continue;
		}
		int64_t least = NO_WAY;
		for (int k = 0; k < c->values->n; k++) {
			if (c->dead[k] || under[k] >= least)
				continue;
			const int64_t one = under[k] + bound_edge(s, child, i, k);
			least = one < least ? one : least;
		}
		v[i] = t->up[i] - c->best[i] + least;
	}
	return v;
}

const int64_t *bound_given(Space *s, int x, int below, int y)
{
	const int key[] = { x, below, y };
	const int64_t *known = intmap_get(&s->given, key, 3);
	if (!known) {
		known = vector(s, x, below, y);
		intmap_put(&s->given, key, 3, (void *)(intptr_t)known);
	}
	return known;
}

static int64_t least_below(Space *s, int x, int from, int how, int below, int y)
{
	const TensorSpace *t = &s->tensors[x];
	const int64_t *up = below < 0 ? t->up : bound_given(s, x, below, y);
	int64_t least = NO_WAY;
	for (int i = 0; i < t->values->n; i++) {
		if (t->dead[i] || up[i] >= least)
			continue;
		const int64_t one = up[i] + bound_read(s, x, from, i, how);
		least = one < least ? one : least;
	}
	return least;
}

int64_t bound_below(Space *s, int x, int from, int how, int below, int y)
{
	const int key[] = { x, from, how, below, y };
	int64_t *known = intmap_get(&s->given, key, 5);
	if (!known) {
		known = arena_new(s->arena, int64_t);
		*known = least_below(s, x, from, how, below, y);
		intmap_put(&s->given, key, 5, known);
	}
	return *known;
}
