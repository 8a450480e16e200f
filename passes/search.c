#include "passes/search.h"

#include "passes/search_walk.h"

enum {
	USUAL_EFFORT = 4,    /* thousand states behind a step */
	FIRST_VALUES = 10,   /* of a tensor that the first walk looks at */
	FIRST_WIDTH = 60,
	RENT_ROUNDS = 40,
	MOST_FILTERS = 4,
};

/* More than any plan takes, to count reshards first. */
static const int64_t RESHARD_PRICE = (int64_t)1 << 44;

typedef struct Searching {
	Space s;
	const SearchOptions *o;
	int64_t price;   /* of a reshard, beside its time */
	int64_t time;    /* of the best plan known, or NO_WAY */
	int64_t bound;
	int64_t states;
	Choice *choices; /* of the best plan */
	Choice *room;    /* for another one */
	int stuck;
} Searching;

static int alive(const TensorSpace *x)
{
	int n = 0;
	for (int v = 0; v < x->values->n; v++)
		n += !x->dead[v];
	return n;
}

/* A walk; what it finds is kept if it is better. What it left out takes at least what
 * is returned. */
static int64_t go(Searching *x, int width)
{
	const Walk w = walk(&x->s, x->time, width, x->price, x->room);
	x->states += w.states;
	x->stuck = w.stuck;
	if (w.found && w.time < x->time) {
		Choice *best = x->room;
		x->room = x->choices;
		x->choices = best;
		x->time = w.time;
	}
	return w.dropped;
}

/* All but the `most` values of least own time are set aside. */
static void set_aside(TensorSpace *x, int most, bool *aside)
{
	for (int n = alive(x); n > most; n--) {
		int worst = -1;
		for (int v = 0; v < x->values->n; v++)
			if (!x->dead[v] && (worst < 0 || x->floor[v] >= x->floor[worst]))
				worst = v;
		x->dead[worst] = aside[worst] = true;
	}
}

/* A plan of the values that look best, to measure the others by. */
static void first_walk(Searching *x, int most, int width)
{
	Space *s = &x->s;
	bool **aside = arena_array(s->arena, bool *, s->bare->ntensors + 1);
	for (int t = 0; t < s->bare->ntensors; t++) {
		TensorSpace *t1 = &s->tensors[t];
		aside[t] = arena_array(s->arena, bool, t1->values->n + 1);
		set_aside(t1, most, aside[t]);
	}
	bound_nodes(s);
	bound_tree(s);
	go(x, width);
	for (int t = 0; t < s->bare->ntensors; t++)
		for (int v = 0; v < s->tensors[t].values->n; v++)
			s->tensors[t].dead[v] &= !aside[t][v];
}

/* Values whose own work alone is too much, whatever the others are. */
static void drop_slow(Space *s, int64_t most)
{
	int64_t all = 0;
	for (int t = 0; t < s->bare->ntensors; t++)
		all += bound_min(&s->tensors[t], s->tensors[t].floor);
	for (int t = 0; t < s->bare->ntensors; t++) {
		TensorSpace *x = &s->tensors[t];
		const int64_t rest = all - bound_min(x, x->floor);
		for (int v = 0; v < x->values->n; v++)
			x->dead[v] |= rest + x->floor[v] >= most;
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

/* Drops what the best plan known rules out, with rents that rule out much. */
static void filter(Searching *x, int rounds)
{
	Space *s = &x->s;
	const bool known = x->time < NO_WAY;
	bound_nodes(s);
	int64_t bound = known ? bound_filter(s, x->time + s->rent_of_all) : bound_tree(s);
	bound -= s->rent_of_all;
	bound = rent_search(s, known ? x->time : 2 * bound, rounds);
	if (known)
		bound = bound_filter(s, x->time + s->rent_of_all) - s->rent_of_all;
	x->bound = bound > x->bound ? bound : x->bound;
}

/* The same before ways to do steps are priced, which takes longest. */
static void look_coarsely(Searching *x)
{
	if (x->time == NO_WAY)
		return;
	x->s.coarse = true;
	bound_nodes(&x->s);
	bound_filter(&x->s, x->time);
	x->s.coarse = false;
}

static void all_walks(Searching *x, Found *f)
{
	const int width = 1000 * (x->o->effort ? x->o->effort : USUAL_EFFORT);
	int64_t dropped = NO_WAY;
	if (x->o->unfiltered) {
		bound_nodes(&x->s);
		bound_tree(&x->s);
		dropped = go(x, width);
	} else {
		for (int n = FIRST_VALUES; x->time == NO_WAY && n <= 4 * FIRST_VALUES; n *= 2)
			first_walk(x, n, FIRST_WIDTH * n / FIRST_VALUES);
		drop_slow(&x->s, x->time);
		look_coarsely(x);
		for (int w = width / 16; w < 16 * width; w *= 16) {
			filter(x, RENT_ROUNDS);
			dropped = go(x, w);
			if (dropped >= x->time)
				break;
		}
	}
	count(&x->s, f, false);
	if (dropped > x->bound)
		x->bound = dropped;
	if (x->bound > x->time)
		x->bound = x->time;
}

Found search(Plan *bare, const SearchOptions *o)
{
	Arena *a = bare->graph->arena;
	Searching x = { .o = o, .time = NO_WAY, .stuck = -1,
			.price = o->objective == OBJECTIVE_RESHARDS ? RESHARD_PRICE : 0,
			.choices = arena_array(a, Choice, bare->nsteps + 1),
			.room = arena_array(a, Choice, bare->nsteps + 1) };
	Found f = { .stuck = -1 };
	space_init(&x.s, bare, o);
	bound_floor(&x.s);
	count(&x.s, &f, true);
	all_walks(&x, &f);
	f.states = x.states;
	if (x.time == NO_WAY) {
		f.stuck = x.stuck;
		return f;
	}
	f.choices = x.choices;
	f.time = x.price ? x.time % x.price : x.time;
	f.bound = x.price ? x.bound % x.price : x.bound;
	return f;
}
