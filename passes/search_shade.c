/*
 * Shades of a value: what its steps take, in the ways that matter to the steps before
 * and behind them.
 *
 * Weights that come early shorten their own step, and the step before has to hide them.
 * So a product has shades: one for weights that do not come early, and some for the ways
 * in which they do. How long the step itself hides those of the next one is part of a
 * shade. A way that takes longer hides more, but by no more than it takes longer: what
 * a shade hides is what it costs, and ways are left out that another one beats by that
 * measure. What is merged has the best of each.
 */
#include "passes/cost_parts.h"
#include "passes/search_walk.h"

enum { MOST_EARLY = 24, MOST_LISTED = 64 };

/* The least and the most that the step before may hide. */
typedef struct Before {
	int64_t least, most;
} Before;

/* The ways of a step from inputs of some types; there may be none. */
static const Configs *ways_of(Space *s, int step, int value, unsigned types)
{
	static const Configs none = { NULL, 0 };
	TensorSpace *x = &s->tensors[s->bare->steps[step].out->id];
	int parts[MAX_STEP_PARTS] = { 0 };
	if (x->first != x->last || types > 1)
		return space_parts(s, step, types, parts) ? space_configs(s, step, value, parts)
							  : &none;
	const Configs **known = &x->ways[2 * value + (int)types];
	if (!*known)
		*known = space_parts(s, step, types, parts) ? space_configs(s, step, value, parts)
							    : &none;
	return *known;
}

/* The cheapest if weights do not come early. */
static const Config *cheapest(Space *s, int step, const Configs *c, int64_t *least)
{
	const Config *best = NULL;
	*least = NO_WAY;
	for (int i = 0; i < c->n; i++) {
		const int64_t one = c->v[i].time + bound_rent(s, step, step, c->v[i].bytes);
		if (one >= *least)
			continue;
		*least = one;
		best = &c->v[i];
	}
	return best;
}

const Config *bound_way(Space *s, int step, int value, const int *parts, int64_t *least)
{
	return cheapest(s, step, space_configs(s, step, value, parts), least);
}

/* The cheapest of a step from inputs of any types, weights early or not. */
static int64_t step_least(Space *s, int step, int value)
{
	int64_t least = NO_WAY;
	for (unsigned types = 0; types < space_types(s, step); types++) {
		const Configs *c = ways_of(s, step, value, types);
		for (int i = 0; i < c->n; i++)
			least = cost_least(least, cost_least(c->v[i].time, c->v[i].early)
				     + bound_rent(s, step, step, c->v[i].bytes));
	}
	return least;
}

bool bound_is_plain(const Space *s, const TensorSpace *x, int value)
{
	return !s->dram && !s->coarse && x->values->v[value].place == PLACE_L1;
}

bool bound_is_shaded(const Space *s, const TensorSpace *x, int value)
{
	return bound_is_plain(s, x, value) && x->first == x->last
		&& choice_has(&s->bare->steps[x->first], CHOICE_prefetch);
}

/* Work of the steps that make a tensor. */
static int64_t work_of(Space *s, int t, int value)
{
	const TensorSpace *x = &s->tensors[t];
	int64_t sum = 0;
	if (!bound_is_plain(s, x, value))
		return x->floor[value];
	for (int i = x->first; i <= x->last; i++)
		if (s->bare->steps[i].out == s->bare->tensors[t])
			sum += step_least(s, i, value);
	return sum;
}

static Before before(const Space *s, int t)
{
	const TensorSpace *x = &s->tensors[t];
	const TensorSpace *p = x->parent < 0 ? NULL : &s->tensors[x->parent];
	if (!p || x->first != p->last + 1)
		return (Before){ NO_WAY, NO_WAY };
	Before all = { NO_WAY, 0 };
	for (int i = 0; i < p->shade_at[p->values->n]; i++) {
		all.least = cost_least(all.least, p->shades[i].hides);
		all.most = cost_most(all.most, p->shades[i].hides);
	}
	return all;
}

/* Is the first as good as the second, whatever comes before and behind? */
static bool beats(const Shade *a, const Shade *b, Before w)
{
	const int64_t cost = b->cost + (a->early ? 0 : cost_most(0, b->fetch - w.most));
	return a->cost <= cost && a->hides >= b->hides - (cost - a->cost)
		&& (!a->early || cost_most(a->fetch, w.least) <= cost_most(b->fetch, w.least));
}

/* Adds one that no other beats; those that it beats go. */
static int add(Shade *list, int n, const Shade *one, Before w)
{
	for (int i = 0; i < n; i++)
		if (beats(&list[i], one, w))
			return n;
	int kept = 0;
	for (int i = 0; i < n; i++)
		if (!one->early || !list[i].early || !beats(one, &list[i], w))
			list[kept++] = list[i];
	list[kept] = *one;
	return kept + 1;
}

/* Two that come early as one: the pair that loses least by it. */
static int merge(Shade *list, int n)
{
	int a = 1, b = 2;
	int64_t least = INT64_MAX;
	for (int i = 1; i < n; i++)
		for (int k = i + 1; k < n; k++) {
			const int64_t cost = list[i].cost - list[k].cost;
			const int64_t fetch = list[i].fetch - list[k].fetch;
			const int64_t loss = cost_most(cost, -cost) + cost_most(fetch, -fetch);
			if (loss < least) {
				least = loss;
				a = i;
				b = k;
			}
		}
	if (list[b].cost < list[a].cost)
		list[a].way = list[b].way;
	list[a].cost = cost_least(list[a].cost, list[b].cost);
	list[a].fetch = cost_least(list[a].fetch, list[b].fetch);
	list[a].hides = cost_most(list[a].hides, list[b].hides);
	list[b] = list[n - 1];
	return n - 1;
}

/* Of a product from inputs of one type: the first does not come early. */
static int shades_of_type(Space *s, int t, int value, DevTypes type, Shade *list)
{
	const int step = s->tensors[t].first;
	const Configs *c = ways_of(s, step, value, type == DEV_BFP8_B);
	const Before w = before(s, t);
	Shade late = { .value = value, .type = type };
	late.way = cheapest(s, step, c, &late.cost);
	late.hides = late.cost;
	if (!late.way)
		return 0;
	int64_t least = late.cost;
	list[0] = late;
	int n = 1;
	for (int i = 0; i < c->n && step > 0; i++) {
		const Config *one = &c->v[i];
		const Shade early = {
			.value = value, .type = type, .early = true, .fetch = one->fetch,
			.hides = one->early, .way = one,
			.cost = one->early + bound_rent(s, step, step, one->bytes)
				+ bound_rent(s, step - 1, step - 1, one->ahead),
		};
		least = cost_least(least, early.cost);
		n = add(list, n, &early, w);
		while (n > MOST_LISTED)
			n = merge(list, n);
	}
	while (n > 1 + MOST_EARLY)
		n = merge(list, n);
	list[0].saves = late.cost - least;
	return n;
}

/* Of inputs that are not bfp8_b: f32 if they are that, else bf16. */
static DevTypes plain_type(const Space *s, int step)
{
	const Class *c = s->tensors[s->bare->steps[step].in[0].tensor->id].values;
	for (int v = 0; v < c->n; v++)
		if (c->v[v].type == DEV_F32)
			return DEV_F32;
	return DEV_BF16;
}

static void append(Space *s, TensorSpace *x, const Shade *one)
{
	const int n = x->shade_at[x->values->n];
	if (n == x->room) {
		const int room = 2 * x->room + 16;
		Shade *all = arena_array(s->arena, Shade, room);
		for (int i = 0; i < n; i++)
			all[i] = x->shades[i];
		x->shades = all;
		x->up = arena_array(s->arena, int64_t, room);
		x->through = arena_array(s->arena, int64_t, room);
		x->room = room;
	}
	x->shades[n] = *one;
	x->shade_at[x->values->n] = n + 1;
}

void bound_shades(Space *s, int t, int value)
{
	TensorSpace *x = &s->tensors[t];
	x->shade_at[value] = x->shade_at[x->values->n];
	if (x->dead[value])
		return;
	if (bound_is_shaded(s, x, value)) {
		Shade list[MOST_LISTED + 2];
		for (int block = 0; block <= 1; block++) {
			const DevTypes type = block ? DEV_BFP8_B : plain_type(s, x->first);
			const int n = shades_of_type(s, t, value, type, list);
			for (int i = 0; i < n; i++)
				append(s, x, &list[i]);
		}
	} else {
		const bool one = bound_is_plain(s, x, value) && x->first == x->last;
		Shade all = { .value = value, .cost = work_of(s, t, value) };
		all.hides = one ? all.cost : NO_WAY;
		if (all.cost < NO_WAY)
			append(s, x, &all);
	}
	x->dead[value] = x->shade_at[value] == x->shade_at[x->values->n];
}
