/*
 * Bounds on the tree of main inputs with the values of some tensors fixed: those that
 * a state has promised to steps that are still to come.
 */
#include "passes/search_walk.h"

static const int64_t *vector(Space *s, int x, int below, int y)
{
	const TensorSpace *t = &s->tensors[x];
	const int all = t->shade_at[t->values->n];
	int64_t *v = arena_array(s->arena, int64_t, all + 1);
	int child = below;
	while (child != x && s->tensors[child].parent != x)
		child = s->tensors[child].parent;
	const TensorSpace *c = &s->tensors[child];
	const int64_t *under = child == x ? NULL : bound_given(s, child, below, y);
	for (int i = 0; i < all; i++) {
		const Shade *from = &t->shades[i];
		v[i] = NO_WAY;
		if (t->dead[from->value])
			continue;
		if (child == x) {
			v[i] = from->value == y ? t->up[i] : NO_WAY;
			continue;
		}
		int64_t least = NO_WAY;
		for (int k = 0; k < c->shade_at[c->values->n]; k++) {
			if (c->dead[c->shades[k].value] || under[k] >= least
			    || !bound_takes(s, child, from->value, k))
				continue;
			const Link *l = bound_link(s, child, from->value, c->shades[k].value);
			const int64_t one = under[k] + bound_edge(s, child, l, from->hides, k);
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

int64_t bound_more(Space *s, int x, int v, int below, int y)
{
	const TensorSpace *t = &s->tensors[x];
	const int key[] = { x, v, below, y };
	int64_t *known = intmap_get(&s->given, key, 4);
	if (known)
		return *known;
	const int64_t *given = bound_given(s, x, below, y);
	known = arena_new(s->arena, int64_t);
	*known = NO_WAY;
	for (int i = t->shade_at[v]; i < t->shade_at[v + 1]; i++)
		if (given[i] - t->up[i] < *known)
			*known = given[i] - t->up[i];
	intmap_put(&s->given, key, 4, known);
	return *known;
}

static int64_t least_below(Space *s, int x, int from, int how, int below, int y)
{
	const TensorSpace *t = &s->tensors[x];
	const int64_t *up = below < 0 ? t->up : bound_given(s, x, below, y);
	int64_t least = NO_WAY;
	for (int i = 0; i < t->shade_at[t->values->n]; i++) {
		if (t->dead[t->shades[i].value] || up[i] >= least || !bound_takes(s, x, from, i))
			continue;
		const Link l = bound_read(s, x, from, t->shades[i].value, how);
		const int64_t one = up[i] + bound_edge(s, x, &l, NO_WAY, i);
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

int64_t bound_of(const Space *s, int x, int value)
{
	const TensorSpace *t = &s->tensors[x];
	int64_t least = NO_WAY;
	for (int i = t->shade_at[value]; i < t->shade_at[value + 1]; i++)
		least = t->up[i] < least ? t->up[i] : least;
	return least;
}

/* What is below depends on how long the step hides weights: with more it takes less, but
 * by no more than that. So each shade of the value tells something of it. */
int64_t bound_at_hand(Space *s, int x, int value, DevTypes type, const Config *early)
{
	const TensorSpace *t = &s->tensors[x];
	int64_t sum = early ? 0 : NO_WAY;
	if (!bound_is_shaded(s, t, value))
		return bound_of(s, x, value);
	for (int i = t->shade_at[value]; i < t->shade_at[value + 1]; i++) {
		const Shade *z = &t->shades[i];
		if (!early && !z->early && z->type == type && t->up[i] < sum)
			sum = t->up[i];
		const int64_t more = early && early->early > z->hides ? early->early - z->hides : 0;
		if (early && t->up[i] - z->cost - more > sum)
			sum = t->up[i] - z->cost - more;
	}
	return early ? sum + early->early + bound_rent(s, t->first, t->first, early->bytes) : sum;
}
