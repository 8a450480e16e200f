/*
 * test_plan_laws FIRST COUNT: what holds of the search on any net, by random nets that
 * are too large to try everything.
 *
 *  - What it says its plan takes is what the plan takes; the plan can be made, and with
 *    addresses it is sound, or the planner says that there is none.
 *  - The same input gives the same choices.
 *  - Dropping values before the walk changes nothing.
 *  - More L1 is never slower.
 *  - A pin is followed and never makes it faster; pins to what was chosen change nothing.
 *
 * Where a result is not proved best, its bound takes the place of its time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/choice_text.h"
#include "passes/check_plan.h"
#include "passes/choice_check.h"
#include "passes/planner.h"
#include "tests/every_plan.h"
#include "tests/small_net.h"

enum {
	LEAST_STEPS = 6,
	MOST_STEPS = 14,
	PINNED = 6,          /* single pins tried on a net */
	UNFILTERED_STEPS = 10, /* the walk over all values is long */
};

static struct {
	int nets, refused, searches, none, unproved, unfiltered, pinned, wrong, planned, unplanned;
} seen;

typedef struct Trial {
	uint64_t seed;
	Rng rng;
	Arena *arena;
	Diag diag;
	const char *net;
	Target target;
	int cores;
	Graph *g;
	Plan *bare;
	Pins *pins;
	int64_t room;
} Trial;

static void wrong(Trial *t, const char *law, int64_t is, int64_t against)
{
	printf("seed %llu: %s: room %lld, %d cores in %d columns: %lld, %lld\n",
	       (unsigned long long)t->seed, law, (long long)t->room, t->bare->cores, t->bare->cols,
	       (long long)is, (long long)against);
	if (seen.wrong++ == 0)
		printf("%s", t->net);
}

static Found look(Trial *t, const Pins *pins, int64_t room, bool unfiltered)
{
	const SearchOptions o = { .pins = pins, .room = room, .unfiltered = unfiltered,
				  .dram = t->seed % 5 == 0 };
	const Found f = search(t->bare, &o);
	seen.searches++;
	seen.none += !f.choices;
	seen.unproved += f.choices && f.bound < f.time;
	return f;
}

/* ---- one plan ---- */

static bool follows(const Trial *t, const Choice *choices, const Pins *pins)
{
	for (int i = 0; i < t->bare->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (pins[i].fixed >> f & 1
			    && choice_get(&choices[i], f) != choice_get(&pins[i].value, f))
				return false;
	return true;
}

static void check_found(Trial *t, const Found *f, const Pins *pins, int64_t room)
{
	int64_t need;
	Range blame;
	if (!f->choices)
		return;
	if (f->bound > f->time)
		wrong(t, "the bound is above the time", f->bound, f->time);
	if (!choice_check(t->bare, f->choices, NULL, &t->diag)) {
		wrong(t, "choices are not legal", f->time, 0);
		return;
	}
	if (!follows(t, f->choices, pins))
		wrong(t, "a pin is not followed", f->time, 0);
	Plan *p = plan_apply(t->bare, f->choices);
	if (plan_time(p).all.total != f->time)
		wrong(t, "the plan takes another time", f->time, plan_time(p).all.total);
	const bool placed = place_buffers(p, &need, &blame);
	if (p->peak > room)
		wrong(t, "the plan needs more room than there is", p->peak, room);
	if (placed && !check_plan(p, &t->diag))
		wrong(t, "the plan is not sound", f->time, 0);
}

/* Of plan b there is no less to choose from than of plan a. */
static void check_no_slower(Trial *t, const Found *b, const Found *a, const char *law)
{
	if (a->choices && !b->choices)
		wrong(t, law, -1, a->time);
	else if (a->choices && b->bound > a->time)
		wrong(t, law, b->bound, a->time);
}

static void check_same(Trial *t, const Found *b, const Found *a, const char *law)
{
	check_no_slower(t, a, b, law);
	check_no_slower(t, b, a, law);
}

/* ---- laws ---- */

static void same_again(Trial *t, const Found *f)
{
	Trial u = *t;
	u.arena = arena_create();
	u.diag = (Diag){ .to = stdout };
	u.g = small_graph(u.arena, &u.diag, t->net);
	u.bare = plan_steps(u.g, &u.target, false);
	plan_grid(u.bare, t->cores);
	const Found again = look(&u, NULL, t->room, false);
	if (!f->choices != !again.choices || f->time != again.time || f->bound != again.bound
	    || (f->choices && memcmp(f->choices, again.choices,
				     (size_t)u.bare->nsteps * sizeof(Choice)) != 0))
		wrong(t, "the second time is another", again.time, f->time);
	diag_finish(&u.diag);
	arena_destroy(u.arena);
}

static void more_room(Trial *t, const Found *f)
{
	Found less = *f;
	int64_t room = t->room;
	for (int i = 0; i < 3; i++) {
		room += room * any_of(&t->rng, 1, 60) / 100;
		const Found more = look(t, t->pins, room, false);
		check_found(t, &more, t->pins, room);
		check_no_slower(t, &more, &less, "more room is slower");
		less = more;
	}
}

static void pin(Trial *t, int step, ChoiceField f, const Choice *to)
{
	t->pins[step].fixed |= 1u << f;
	choice_set(&t->pins[step].value, f, choice_get(&to[step], f));
}

static void clear_pins(Trial *t)
{
	memset(t->pins, 0, (size_t)t->bare->nsteps * sizeof *t->pins);
}

/* A field that the first of those who make a tensor has. */
static bool has(const Trial *t, int step, ChoiceField f)
{
	const Step *s = &t->bare->steps[step];
	const bool shared = choice_info[f].who == CHOICE_RESULT || f == CHOICE_cout_block;
	return choice_has(s, f) && (!shared || s->out->born == step);
}

/* To any legal value, and to the one that was chosen. */
static void one_pin(Trial *t, const Found *f, EveryPlan *e)
{
	Choice legal[EVERY_STEPS];
	const int step = any_of(&t->rng, 0, t->bare->nsteps - 1);
	const ChoiceField field = (ChoiceField)any_of(&t->rng, 0, CHOICE_COUNT - 1);
	if (!has(t, step, field) || field == CHOICE_phases)
		return;
	clear_pins(t);
	if (!every_plan_some(e, &t->rng, legal))
		return;
	pin(t, step, field, legal);
	const Found other = look(t, t->pins, t->room, false);
	check_found(t, &other, t->pins, t->room);
	check_no_slower(t, f, &other, "a pin makes it faster");
	seen.pinned++;
	if (!f->choices)
		return;
	pin(t, step, field, f->choices);
	const Found same = look(t, t->pins, t->room, false);
	check_found(t, &same, t->pins, t->room);
	check_same(t, &same, f, "a pin to what was chosen changes it");
}

/* Of every field with this chance in percent. */
static void pin_chosen(Trial *t, const Found *f, int percent)
{
	clear_pins(t);
	for (int i = 0; i < t->bare->nsteps && f->choices; i++)
		for (int k = 0; k < CHOICE_COUNT; k++)
			if (has(t, i, (ChoiceField)k) && any_of(&t->rng, 1, 100) <= percent)
				pin(t, i, (ChoiceField)k, f->choices);
	const Found same = look(t, t->pins, t->room, false);
	check_found(t, &same, t->pins, t->room);
	check_same(t, &same, f, "pins to what was chosen change it");
	clear_pins(t);
}

/* All the way: addresses, or no plan. */
static void plan_all(Trial *t, const Found *f)
{
	Planned p;
	const PlanRequest r = { .room = t->room, .cores = t->cores };
	const PlanOutcome how = planner_run(t->g, &t->target, &r, &p);
	seen.planned += how == PLANNED;
	seen.unplanned += how == PLAN_NONE;
	if (how == PLAN_WRONG)
		wrong(t, "the planner calls the model wrong", 0, 0);
	if (how != PLANNED)
		return;
	if (p.time.all.total != p.found.time)
		wrong(t, "the planned time is another", p.time.all.total, p.found.time);
	if (p.plan->peak > t->room)
		wrong(t, "the planned peak is above the room", p.plan->peak, t->room);
	if (p.found.bound > p.found.time)
		wrong(t, "the planned bound is above its time", p.found.bound, p.found.time);
	if (!p.resolved && f->choices && t->seed % 5 && f->time != p.found.time)
		wrong(t, "the planner and the search differ", p.found.time, f->time);
}

static void hold_to_laws(Trial *t)
{
	EveryPlan e;
	t->pins = arena_array(t->arena, Pins, t->bare->nsteps + 1);
	every_plan_init(&e, t->bare, t->g, t->pins, t->seed % 5 == 0);
	const Found f = look(t, t->pins, t->room, false);
	check_found(t, &f, t->pins, t->room);
	same_again(t, &f);
	if (t->bare->nsteps <= UNFILTERED_STEPS) {
		const Found all = look(t, t->pins, t->room, true);
		check_found(t, &all, t->pins, t->room);
		check_same(t, &all, &f, "unfiltered is another");
		seen.unfiltered++;
	}
	more_room(t, &f);
	for (int i = 0; i < PINNED; i++)
		one_pin(t, &f, &e);
	pin_chosen(t, &f, 100);
	pin_chosen(t, &f, 30);
	plan_all(t, &f);
	every_plan_finish(&e);
	seen.nets++;
}

/* Four cores or more, in rows that may not be full; room that some nets do not have. */
static void one(uint64_t seed, const Target *target)
{
	Trial t = { .seed = seed, .rng = { seed }, .arena = arena_create(), .target = *target,
		    .diag = { .to = stdout } };
	const SmallNet o = { .least = 3, .most = 9, .rows = 16, .cols = 40, .tiles = 4,
			     .types = seed % 4 == 0, .skip = seed % 6 == 0 };
	t.net = small_net(t.arena, seed + 1000000, &o);
	t.cores = any_of(&t.rng, 4, 16);
	t.target.grid_cols = any_of(&t.rng, 2, 8);
	t.target.grid_rows = (t.cores + t.target.grid_cols - 1) / t.target.grid_cols;
	t.room = 32 * (int64_t)any_of(&t.rng, 1000, seed % 2 ? 3000 : 8000);
	t.g = small_graph(t.arena, &t.diag, t.net);
	t.bare = t.g ? plan_steps(t.g, &t.target, false) : NULL;
	if (t.bare && t.bare->nsteps >= LEAST_STEPS && t.bare->nsteps <= MOST_STEPS) {
		plan_grid(t.bare, t.cores);
		hold_to_laws(&t);
	} else {
		seen.refused++;
	}
	diag_finish(&t.diag);
	arena_destroy(t.arena);
}

int main(int argc, char **argv)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	const Target *target = target_load(a, &d, "wormhole_n150");
	const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 40;
	for (uint64_t seed = first; seed < first + count; seed++)
		one(seed, target);
	printf("%d nets of %d to %d steps, %d others; %d searches, %d without a plan, %d not proved\n",
	       seen.nets, (int)LEAST_STEPS, (int)MOST_STEPS, seen.refused, seen.searches, seen.none,
	       seen.unproved);
	printf("%d unfiltered, %d pins, %d planned, %d without a plan; %d wrong\n", seen.unfiltered,
	       seen.pinned, seen.planned, seen.unplanned, seen.wrong);
	diag_finish(&d);
	arena_destroy(a);
	return seen.wrong || seen.nets == 0;
}
