#include "passes/search.h"

#include <string.h>

#include "passes/greedy.h"
#include "passes/search_side.h"

enum {
	USUAL_EFFORT = 10,
	EFFORT = 100000,     /* states a walk looks at */
	LEAST_KEPT = 256,    /* states a walk keeps behind a step, at first */
	MOST_KEPT = 65536,   /* and in the end */
	FIRST_VALUES = 16,   /* of a tensor that the first walk looks at */
	FIRST_WIDTH = 60,
	FIRST_THRIFT = 25,   /* if nothing was found, then twice as much, and again */
	MOST_THRIFT = 800,
	FIRST_ROUNDS = 20,   /* of rents for it */
	NEAR_WALKS = 9,
	NEAR_WIDTH = 200,
	MOST_LEFT = 4000,    /* values of all tensors that are walked over, once filtered */
	MOST_DRAM = 1000,    /* the same with tensors in DRAM */
	MOST_READERS = 3,    /* of a tensor, with which walks may be wide */
	LONG_NET = 150,      /* steps from which on walks near a plan are no wider than the first */
	RENT_ROUNDS = 40,
	MOST_SHARP = 2000,   /* values of all tensors that bounds look at closely */
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
	int thrift;      /* as walks have it */
	bool narrow;     /* the last walk was as wide as effort allows */
} Searching;

static int alive(const TensorSpace *x)
{
	int n = 0;
	for (int v = 0; v < x->values->n; v++)
		n += !x->dead[v];
	return n;
}

static int64_t effort(const Searching *x)
{
	return (int64_t)(x->o->effort ? x->o->effort : USUAL_EFFORT) * EFFORT;
}

/* A walk; what it finds is kept if it is better. What it left out takes at least what
 * is returned. */
static int64_t go(Searching *x, int width, int64_t states)
{
	const WalkLimit limit = { width, states, x->thrift };
	const Walk w = walk(&x->s, x->time, limit, x->price, x->room);
	x->narrow = w.narrow;
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

/* Is the tensor, or one that is made from it or it from, cut so in the best plan? */
static bool is_near(const Searching *x, const PlanTensor *t, Cut cut)
{
	const Plan *bare = x->s.bare;
	for (int i = t->born; i <= t->dies; i++) {
		const Step *r = &bare->steps[i];
		bool touches = r->out == t;
		for (int k = 0; k < r->nin; k++)
			touches |= r->in[k].tensor == t;
		for (int k = -1; k < r->nin && touches; k++) {
			const PlanTensor *o = k < 0 ? r->out : r->in[k].tensor;
			const Choice *c = o ? &x->choices[o->born] : NULL;
			if (c && c->bands == cut.bands && c->splits == cut.splits)
				return true;
		}
	}
	return false;
}

/* Is it the fastest of its number of splits and format? The first of those that are. */
static bool is_fastest(const TensorSpace *t, int value)
{
	const Value *is = &t->values->v[value];
	for (int v = 0; v < t->values->n; v++) {
		const Value *o = &t->values->v[v];
		if (t->dead[v] || o->cut.splits != is->cut.splits || o->type != is->type
		    || o->place != is->place)
			continue;
		if (t->floor[v] < t->floor[value] || (t->floor[v] == t->floor[value] && v < value))
			return false;
	}
	return true;
}

/* Marks so many values of a place: those of least own time, half of them with different
 * numbers of splits. */
static void mark_fast(const TensorSpace *t, Place place, int most, bool *keep)
{
	for (int n = 0; n < most; n++) {
		int best = -1;
		for (int v = 0; v < t->values->n; v++)
			if (!t->dead[v] && !keep[v] && t->values->v[v].place == place
			    && (n >= most / 2 || is_fastest(t, v))
			    && (best < 0 || t->floor[v] < t->floor[best]))
				best = v;
		if (best >= 0)
			keep[best] = true;
	}
}

/* All but the fastest values and those near the best plan, if there is one. */
static void set_aside(const Searching *x, int tensor, int most)
{
	TensorSpace *t = &x->s.tensors[tensor];
	bool *keep = arena_array(x->s.arena, bool, t->values->n + 1);
	mark_fast(t, PLACE_L1, most, keep);
	if (x->s.dram)
		mark_fast(t, PLACE_DRAM, most / 4, keep);
	for (int v = 0; v < t->values->n; v++) {
		const Value *is = &t->values->v[v];
		const bool near = x->time < NO_WAY && (is->place == PLACE_L1 || x->s.dram)
			&& is_near(x, x->s.bare->tensors[tensor], is->cut);
		if (!t->dead[v] && !keep[v] && !near)
			t->dead[v] = true;
	}
}

/* A plan of the values that look best, to measure the others by. What is dead then is so
 * for this walk alone. */
static void first_walk(Searching *x, int most, int width)
{
	Space *s = &x->s;
	bool **dead = arena_array(s->arena, bool *, s->bare->ntensors + 1);
	for (int t = 0; t < s->bare->ntensors; t++) {
		const size_t n = (size_t)s->tensors[t].values->n + 1;
		dead[t] = memcpy(arena_array(s->arena, bool, n), s->tensors[t].dead, n);
		set_aside(x, t, most);
	}
	bound_nodes(s);
	const int64_t bound = bound_tree(s) - s->rent_of_all;
	const int64_t was = x->time;
	const int64_t high = rent_search(s, bound, was < NO_WAY ? was : 2 * bound, FIRST_ROUNDS);
	go(x, width, effort(x));
	if (x->time < was && x->time < high)
		die("a plan of %lld cycles was found, and a bound of %lld", (long long)x->time,
		    (long long)high);
	for (int t = 0; t < s->bare->ntensors; t++)
		memcpy(s->tensors[t].dead, dead[t], (size_t)s->tensors[t].values->n + 1);
}

/* May it be had? */
static bool is_allowed(const Searching *x, const Choice *choices)
{
	const Plan *bare = x->s.bare;
	for (int i = 0; i < bare->nsteps; i++) {
		const Choice *c = &choices[i];
		if (bare->steps[i].out && c->place == PLACE_DRAM && x->o->dram == DRAM_NEVER)
			return false;
		if (space_bars(&x->s, i, (Cut){ c->bands, c->splits }, c->type, c->place))
			return false;
	}
	return true;
}

/* The plan of local rules, if it is better than what is known. */
static void take_greedy(Searching *x)
{
	Choice *const greedy = x->room;
	int64_t time = NO_WAY;
	if (x->price)
		return;
	space_swap(&x->s);
	if (greedy_choices(x->s.bare, x->s.pins, x->s.room, greedy) && is_allowed(x, greedy))
		time = plan_time(plan_apply(x->s.bare, greedy)).all.total;
	space_swap(&x->s);
	if (time >= x->time)
		return;
	x->time = time;
	x->room = x->choices;
	x->choices = greedy;
}

/* Where L1 is short: from a little thrift to a lot, and what found the best. */
static void thrifty_walks(Searching *x)
{
	int best = 0;
	for (int thrift = FIRST_THRIFT; thrift <= MOST_THRIFT; thrift *= 2) {
		const int64_t was = x->time;
		x->thrift = thrift;
		first_walk(x, 2 * FIRST_VALUES, 2 * FIRST_WIDTH);
		if (x->time < was)
			best = thrift;
	}
	x->thrift = best;
}

/* Near what is found, as long as that helps; more and less thrifty in turn. */
static void near_walks(Searching *x)
{
	const int steps = x->s.bare->nsteps, width = steps < LONG_NET ? NEAR_WIDTH : FIRST_WIDTH;
	const int thrift = x->thrift;
	for (int i = 0, failed = 0; i < NEAR_WALKS && failed < (thrift ? 3 : 1); i++) {
		const int64_t was = x->time;
		x->thrift = i % 3 == 0 ? thrift : i % 3 == 1 ? thrift / 2 : 2 * thrift;
		first_walk(x, FIRST_VALUES, width);
		failed = x->time < was ? 0 : failed + 1;
	}
	x->thrift = thrift;
}

/* All in L1 first, then with tensors in DRAM. */
static void first_walks(Searching *x)
{
	const bool dram = x->s.dram;
	for (int with = 0; with <= dram && x->time == NO_WAY; with++) {
		x->s.dram = with;
		x->thrift = 0;
		first_walk(x, FIRST_VALUES, FIRST_WIDTH);
		if (x->time == NO_WAY)
			thrifty_walks(x);
	}
	if (dram || (x->time == NO_WAY && x->o->dram == DRAM_NEVER))
		take_greedy(x);
	if (x->time < NO_WAY)
		near_walks(x);
	x->s.dram = dram;
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

static int most_readers(const Space *s)
{
	int most = 0;
	for (int t = 0; t < s->bare->ntensors; t++)
		most = s->tensors[t].nreaders > most ? s->tensors[t].nreaders : most;
	return most;
}

/* Values of all tensors that are not dead. */
static int left(const Searching *x)
{
	int n = 0;
	for (int t = 0; t < x->s.bare->ntensors; t++)
		n += alive(&x->s.tensors[t]);
	return n;
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
	if (known && !s->dram && left(x) <= MOST_SHARP) {
		side_sharpen(s, x->time - bound);
		bound_nodes(s);
		bound = bound_filter(s, x->time + s->rent_of_all) - s->rent_of_all;
	}
	const int64_t was = s->rent_of_all;
	bound = rent_search(s, bound, known ? x->time : 2 * bound, rounds);
	if (known && s->rent_of_all != was)
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
	bound_filter(&x->s, x->time + x->s.rent_of_all);
	x->s.coarse = false;
	bool dram = false;
	for (int t = 0; t < x->s.bare->ntensors; t++)
		for (int v = 0; v < x->s.tensors[t].values->n; v++)
			dram |= !x->s.tensors[t].dead[v]
				&& x->s.tensors[t].values->v[v].place == PLACE_DRAM;
	x->s.dram = dram;
}

static void all_walks(Searching *x, Found *f)
{
	int64_t dropped = NO_WAY, filtered = NO_WAY;
	if (x->o->unfiltered) {
		bound_nodes(&x->s);
		bound_tree(&x->s);
		dropped = go(x, MOST_KEPT, effort(x));
	} else {
		drop_slow(&x->s, x->time);
		look_coarsely(x);
		const bool hard = x->thrift || most_readers(&x->s) > MOST_READERS;
		for (int w = LEAST_KEPT; w <= MOST_KEPT; w *= 16) {
			const int64_t was = x->time;
			if (w == LEAST_KEPT || was != filtered)
				filter(x, RENT_ROUNDS);
			filtered = was;
			dropped = x->bound;
			const bool large = left(x) > (x->s.dram ? MOST_DRAM : MOST_LEFT);
			if (large || (hard && w > LEAST_KEPT))
				break; /* too much to look at */
			dropped = go(x, w, effort(x));
			if (dropped >= x->time || x->narrow)
				break;
		}
	}
	count(&x->s, f, false);
	if (dropped > x->bound)
		x->bound = dropped;
	if (x->bound > x->time)
		x->bound = x->time;
}

/* All values and what they take at least; a first plan. */
static void begin(Searching *x, Found *f, Plan *bare, bool dram)
{
	*f = (Found){ .stuck = -1 };
	space_init(&x->s, bare, x->o, dram);
	bound_floor(&x->s);
	count(&x->s, f, true);
	if (!x->o->unfiltered)
		first_walks(x);
}

Found search(Plan *bare, const SearchOptions *o)
{
	Arena *a = bare->graph->arena;
	Searching x = { .o = o, .time = NO_WAY, .stuck = -1,
			.price = o->objective == OBJECTIVE_RESHARDS ? RESHARD_PRICE : 0,
			.choices = arena_array(a, Choice, bare->nsteps + 1),
			.room = arena_array(a, Choice, bare->nsteps + 1) };
	Found f = { .stuck = -1 };
	begin(&x, &f, bare, o->dram == DRAM_ALLOWED);
	if (x.time == NO_WAY && o->dram == DRAM_IF_NEEDED) {
		space_finish(&x.s);
		begin(&x, &f, bare, true);
	}
	all_walks(&x, &f);
	space_finish(&x.s);
	f.states = x.states;
	f.in_l1 = !x.s.dram;
	if (x.time == NO_WAY) {
		f.stuck = x.stuck;
		f.open = x.bound < NO_WAY;
		return f;
	}
	f.choices = x.choices;
	f.time = x.price ? x.time % x.price : x.time;
	f.bound = x.price ? x.bound % x.price : x.bound;
	return f;
}
