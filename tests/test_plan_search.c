/*
 * test_plan_search FIRST COUNT: the search finds what trying everything finds.
 *
 * For each seed a small random net, a target of one to four cores, pins at random
 * until there are few enough plans, and several amounts of L1 from ample to none:
 * the least time is that of every_plan.h, or both say that there is no plan. A
 * search that does not claim its result as the best may be slower; nothing may be
 * faster, and no bound may be above what there is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/choice_text.h"
#include "passes/check_plan.h"
#include "passes/choice_check.h"
#include "passes/choice_legal.h"
#include "passes/search.h"
#include "tests/every_plan.h"
#include "tests/small_net.h"

enum {
	MOST_FRAMES = 5000,  /* of a net that is compared */
	MOST_TRIES = 400,    /* to pin another field */
	ROOMS = 4,           /* of those plans that need least for their time */
	MOST_PRINTED = 3,
	AMPLE = 1 << 20,
};

static struct {
	int nets, refused, large, compared, none, unproved, wrong, pinned, dram;
	int64_t frames, plans, checked;
	int used[CHOICE_COUNT], kind[STEP_COUNT]; /* in the best plans: fields that are not plain */
} seen;

typedef struct Trial {
	uint64_t seed;
	Rng rng;
	Arena *arena;
	Diag diag;
	const char *net;
	Target target;
	Plan *bare;
	Pins *pins;
	int npins;
	bool dram, types;
} Trial;

/* Few cores: in a row, in a square, and three of four. */
static void set_grid(Trial *t)
{
	const int cores = any_of(&t->rng, 1, 4);
	t->target.grid_cols = cores > 2 && any_of(&t->rng, 0, 1) ? 2 : cores;
	t->target.grid_rows = (cores + t->target.grid_cols - 1) / t->target.grid_cols;
	plan_grid(t->bare, cores);
}

/* Pins fields of choices that are legal together until few frames are left, and
 * sometimes one more of the weights. */
static bool narrow(Trial *t, EveryPlan *e)
{
	Choice legal[EVERY_STEPS];
	const int more = any_of(&t->rng, 0, 3) ? 0 : any_of(&t->rng, 1, 2);
	if (!every_plan_some(e, &t->rng, legal))
		return false;
	for (int i = 0; i < more; i++) {
		const int step = any_of(&t->rng, 0, t->bare->nsteps - 1);
		const ChoiceField f = every_weight_fields[any_of(&t->rng, 0, WEIGHT_FIELDS - 1)];
		if (!choice_has(&t->bare->steps[step], f))
			continue;
		t->pins[step].fixed |= 1u << f;
		choice_set(&t->pins[step].value, f, choice_get(&legal[step], f));
		t->npins++;
	}
	for (int i = 0; i < MOST_TRIES && every_plan_count(e, MOST_FRAMES) > MOST_FRAMES; i++) {
		const int step = any_of(&t->rng, 0, t->bare->nsteps - 1);
		const ChoiceField f = (ChoiceField)any_of(&t->rng, 0, CHOICE_COUNT - 1);
		const PlanTensor *out = t->bare->steps[step].out;
		const bool first = !out || out->born == step;
		if (!choice_has(&t->bare->steps[step], f) || !first || f == CHOICE_phases
		    || t->pins[step].fixed >> f & 1)
			continue;
		t->pins[step].fixed |= 1u << f;
		choice_set(&t->pins[step].value, f, choice_get(&legal[step], f));
		t->npins++;
	}
	return every_plan_count(e, MOST_FRAMES) <= MOST_FRAMES;
}

static void report(Trial *t, int64_t room, const EveryBest *b, const Found *f, const char *what)
{
	printf("seed %llu: %s: room %lld, %d cores in %d columns%s%s, %d pins: searched %lld, bound %lld, "
	       "there is %lld\n", (unsigned long long)t->seed, what, (long long)room,
	       t->bare->cores, t->bare->cols, t->dram ? ", dram" : "",
	       t->types ? ", types" : "", t->npins,
	       f->choices ? (long long)f->time : -1, (long long)f->bound,
	       b ? (long long)b->time : -1);
	if (seen.wrong++ >= MOST_PRINTED)
		return;
	printf("%s", t->net);
	if (f->choices)
		choice_print(stdout, t->bare, f->choices, t->pins, NULL, NULL);
	if (b)
		choice_print(stdout, t->bare, b->choices, t->pins, NULL, NULL);
}

static void note(const Plan *bare, const Choice *choices)
{
	for (int i = 0; i < bare->nsteps; i++) {
		const Choice plain = choice_plain(&bare->steps[i]);
		seen.kind[bare->steps[i].kind]++;
		for (int f = 0; f < CHOICE_COUNT; f++)
			seen.used[f] += choice_get(&choices[i], (ChoiceField)f)
				!= choice_get(&plain, (ChoiceField)f);
	}
}

/* A plan that fits is one that can be carried out; it need not have a packing. */
static bool is_sound(Trial *t, const Choice *choices)
{
	int64_t need;
	Range blame;
	Plan *p = plan_apply(t->bare, choices);
	return !place_buffers(p, &need, &blame) || check_plan(p, &t->diag);
}

static void compare(Trial *t, const EveryPlan *e, int64_t room)
{
	const SearchOptions o = { .pins = t->pins, .dram = t->dram, .room = room };
	const EveryBest *b = every_plan_within(e, room);
	const Found f = search(t->bare, &o);
	seen.compared++;
	seen.none += !b;
	if (b)
		note(t->bare, b->choices);
	if (b && !is_sound(t, b->choices))
		report(t, room, b, &f, "would have a plan that is not sound");
	if (!f.choices && b)
		report(t, room, b, &f, "finds none");
	if (!f.choices)
		return;
	seen.unproved += f.bound < f.time;
	if (!choice_check(t->bare, f.choices, NULL, &t->diag))
		report(t, room, b, &f, "is not legal");
	else if (plan_time(plan_apply(t->bare, f.choices)).all.total != f.time)
		report(t, room, b, &f, "has not the time that its plan has");
	else if (!is_sound(t, f.choices))
		report(t, room, b, &f, "has a plan that is not sound");
	else if (!b)
		report(t, room, b, &f, "finds one where none is");
	else if (f.time < b->time)
		report(t, room, b, &f, "is faster than all");
	else if (f.bound > b->time)
		report(t, room, b, &f, "has a bound that is too high");
}

/* Ample room, what some of the best plans need and what the least of them needs, to the
 * byte, and one byte less of each. */
static void compare_all(Trial *t, const EveryPlan *e)
{
	compare(t, e, AMPLE);
	for (int i = 0; i < ROOMS; i++) {
		const int at = i ? any_of(&t->rng, 0, e->nbest - 1) : e->nbest - 1;
		const int64_t room = e->best[at].peak;
		compare(t, e, room);
		if (room > 1 && i < 2)
			compare(t, e, room - 1);
	}
}

static void try_net(Trial *t, Graph *g)
{
	EveryPlan e;
	t->pins = arena_array(t->arena, Pins, t->bare->nsteps + 1);
	every_plan_init(&e, t->bare, g, t->pins, t->dram);
	if (narrow(t, &e)) {
		every_plan_all(&e);
		compare_all(t, &e);
		seen.nets++;
		seen.pinned += t->npins > 0;
		seen.dram += t->dram;
		seen.frames += e.frames;
		seen.plans += e.plans;
		seen.checked += e.checked;
	} else {
		seen.large++;
	}
	every_plan_finish(&e);
}

static void one(uint64_t seed, const Target *target)
{
	Trial t = { .seed = seed, .rng = { seed }, .arena = arena_create(), .target = *target,
		    .diag = { .to = stdout } };
	const bool skip = seed % 7 == 0;
	const SmallNet o = { .least = skip ? 3 : 1, .most = 2 + (int)(seed % 3) + skip, .rows = 8,
			     .cols = 40, .tiles = 3, .types = seed % 5 == 0, .skip = skip };
	t.net = small_net(t.arena, seed, &o);
	t.dram = seed % 4 == 0;
	t.types = o.types;
	Graph *g = small_graph(t.arena, &t.diag, t.net);
	t.bare = g ? plan_steps(g, &t.target, false) : NULL;
	if (t.bare && t.bare->nsteps <= EVERY_STEPS) {
		set_grid(&t);
		try_net(&t, g);
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
	const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
	for (uint64_t seed = first; seed < first + count; seed++)
		one(seed, target);
	printf("%d nets (%d pinned, %d with DRAM), %d refused, %d too large; %lld frames, %lld plans, "
	       "%lld of them made\n", seen.nets, seen.pinned, seen.dram, seen.refused, seen.large,
	       (long long)seen.frames, (long long)seen.plans, (long long)seen.checked);
	printf("%d searches compared, %d without a plan, %d not proved, %d wrong\n", seen.compared,
	       seen.none, seen.unproved, seen.wrong);
	printf("best plans have");
	for (int f = 0; f < CHOICE_COUNT; f++)
		printf(" %s %d", choice_info[f].key, seen.used[f]);
	printf(" in");
	for (int k = 0; k < STEP_COUNT; k++)
		if (seen.kind[k])
			printf(" %s %d", step_names[k], seen.kind[k]);
	printf("\n");
	diag_finish(&d);
	arena_destroy(a);
	return seen.wrong || seen.nets == 0 || (uint64_t)seen.nets < count * 9 / 10;
}
