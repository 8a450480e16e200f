#include "passes/search.h"

#include "passes/search_walk.h"

enum {
	USUAL_EFFORT = 4,   /* thousand states behind a step */
	FIRST_VALUES = 10,  /* of a tensor that the first walk looks at */
	FIRST_WIDTH = 60,
	PAIRS_AT_ONCE = 60, /* values of a tensor with which all pairs are priced */
};

/* More than any plan takes, to count reshards first. */
static const int64_t RESHARD_PRICE = (int64_t)1 << 44;

static int alive(const TensorSpace *x)
{
	int n = 0;
	for (int v = 0; v < x->values->n; v++)
		n += !x->dead[v];
	return n;
}

/* All but the `most` values of least own time are set aside. */
static void set_aside(Space *s, TensorSpace *x, int most, bool *aside)
{
	while (alive(x) > most) {
		int worst = -1;
		for (int v = 0; v < x->values->n; v++)
			if (!x->dead[v] && (worst < 0 || x->least[v] >= x->least[worst]))
				worst = v;
		x->dead[worst] = aside[worst] = true;
	}
	(void)s;
}

/* A plan of the values that look best, to measure the others by. */
static Walk first_walk(Space *s, int64_t price, Choice *choices, int most, int width)
{
	bool **aside = arena_array(s->arena, bool *, s->bare->ntensors + 1);
	for (int t = 0; t < s->bare->ntensors; t++) {
		TensorSpace *x = &s->tensors[t];
		aside[t] = arena_array(s->arena, bool, x->values->n + 1);
		set_aside(s, x, most, aside[t]);
	}
	bound_tree(s);
	const Walk w = walk(s, INT64_MAX / 16, width, price, choices);
	for (int t = 0; t < s->bare->ntensors; t++)
		for (int v = 0; v < s->tensors[t].values->n; v++)
			s->tensors[t].dead[v] &= !aside[t][v];
	return w;
}

/* Values whose own work alone is too much, whatever the others are. */
static void drop_slow(Space *s, int64_t most)
{
	int64_t all = 0;
	for (int t = 0; t < s->bare->ntensors; t++)
		all += bound_min(&s->tensors[t], s->tensors[t].least);
	for (int t = 0; t < s->bare->ntensors; t++) {
		TensorSpace *x = &s->tensors[t];
		const int64_t rest = all - bound_min(x, x->least);
		for (int v = 0; v < x->values->n; v++)
			x->dead[v] |= rest + x->least[v] >= most;
	}
}

static void count(const Space *s, Found *f, bool before)
{
	f->left = 0;
	for (int t = 0; t < s->bare->ntensors; t++) {
		const int n = alive(&s->tensors[t]);
		f->left += n;
		if (!before)
			continue;
		f->layouts += s->tensors[t].values->n;
		f->fewest = t == 0 || n < f->fewest ? n : f->fewest;
		f->most = n > f->most ? n : f->most;
	}
}

Found search(Plan *bare, const SearchOptions *o)
{
	Space s;
	Found f = { .stuck = -1 };
	const int64_t price = o->objective == OBJECTIVE_RESHARDS ? RESHARD_PRICE : 0;
	const int width = 1000 * (o->effort ? o->effort : USUAL_EFFORT);
	Choice *choices = arena_array(bare->graph->arena, Choice, bare->nsteps + 1);
	Choice *better = arena_array(bare->graph->arena, Choice, bare->nsteps + 1);
	space_init(&s, bare, o);
	bound_least(&s);
	count(&s, &f, true);
	Walk best = { .stuck = -1 };
	for (int n = FIRST_VALUES; !best.found && n <= 8 * FIRST_VALUES && !o->unfiltered; n *= 2)
		best = first_walk(&s, price, choices, n, FIRST_WIDTH * n / FIRST_VALUES);
	f.states = best.states;
	if (best.found)
		drop_slow(&s, best.time);
	f.bound = o->unfiltered ? bound_tree(&s)
				: bound_filter(&s, best.found ? best.time : INT64_MAX / 16);
	count(&s, &f, false);
	const Walk w = walk(&s, best.found ? best.time : INT64_MAX / 16, width, price, better);
	f.states += w.states;
	if (w.found || best.found) {
		f.choices = w.found ? better : choices;
		f.time = w.found ? w.time : best.time;
		f.bound = w.dropped < f.time ? w.dropped : f.time;
	} else {
		f.stuck = w.stuck;
	}
	if (price) {
		f.time %= price;
		f.bound = f.bound % price;
	}
	return f;
}
