#include "passes/explain_none.h"

#include <stdlib.h>

enum {
	MOST_TIMES = 8,  /* the L1 there is that are looked at */
	FINE_STEPS = 10, /* of a bisection */
	PIN_SEARCHES = 5, /* of all searches, those that ask which pins are to blame */
};

static bool has_pins(const Pins *p) { return p->fixed || p->shard != SHARD_ANY; }

static void add_reason(ExplainedNone *e, NoneKind kind, int step, int64_t least)
{
	if (e->nreasons < MOST_REASONS)
		e->reasons[e->nreasons++] = (NoneReason){ kind, step, least };
}

/* Steps that do not fit by themselves, as pinned or at all. */
static void look_at_steps(ExplainedNone *e)
{
	const Plan *bare = e->p->bare;
	for (int i = 0; i < bare->nsteps; i++) {
		const int64_t free = explain_least_bytes(bare, i, NULL);
		const int64_t pinned = has_pins(&e->p->pins[i])
			? explain_least_bytes(bare, i, &e->p->pins[i]) : free;
		if (free > e->room)
			add_reason(e, NONE_STEP, i, free);
		else if (pinned > e->room)
			add_reason(e, NONE_PINS, i, pinned);
	}
}

/* Is there a plan with these pins? A search is asked only if local rules find none. */
static bool is_possible(Trials *t, const Pins *pins, int64_t room)
{
	return trial_fits(t, pins, room, 0) || trial_pins(t, pins, "").how == PLANNED;
}

static Pins *without(const Planned *p, const Pins *from, int step)
{
	Pins *pins = plan_pins_merge(p->bare, from, NULL);
	pins[step] = (Pins){ 0 };
	return pins;
}

/* Pins of which none can be left out: whatever still leaves no plan without it goes. */
static bool look_at_pins(Trials *t, ExplainedNone *e)
{
	const Planned *p = e->p;
	const Plan *bare = p->bare;
	const Pins *none = arena_array(bare->graph->arena, Pins, bare->nsteps + 1);
	bool any = false;
	for (int i = 0; i < bare->nsteps; i++)
		any |= has_pins(&p->pins[i]);
	if (!any || !is_possible(t, none, e->room))
		return false;
	const Pins *keep = p->pins;
	for (int i = 0; i < bare->nsteps; i++) {
		if (!has_pins(&p->pins[i]))
			continue;
		const Pins *rest = without(p, keep, i);
		if (trial_fits(t, rest, e->room, 0))
			continue;
		if (t->count >= PIN_SEARCHES)
			e->fewest = false;
		else if (trial_pins(t, rest, "").how != PLANNED)
			keep = rest;
	}
	for (int i = 0; i < bare->nsteps; i++)
		if (has_pins(&keep[i]))
			add_reason(e, NONE_PINS, i, 0);
	return true;
}

/* The step that takes most by itself is the hardest to keep anything else beside. */
static void blame_net(ExplainedNone *e)
{
	const Plan *bare = e->p->bare;
	int hardest = e->p->found.stuck;
	int64_t most = hardest >= 0 ? explain_least_bytes(bare, hardest, NULL) : -1;
	for (int i = 0; i < bare->nsteps && e->p->found.stuck < 0; i++) {
		const int64_t least = explain_least_bytes(bare, i, NULL);
		if (least > most) {
			most = least;
			hardest = i;
		}
	}
	add_reason(e, NONE_NET, hardest, most);
}

static void add_fix(ExplainedNone *e, NoneFix f)
{
	if (f.trial.how == PLANNED && e->nfixes < MOST_FIXES)
		e->fixes[e->nfixes++] = f;
}

/* Least room, to a hundredth or so, in which local rules find a plan; 0: there is none.
 * A search finds one there, too. */
static int64_t enough(const Trials *t, const ExplainedNone *e)
{
	const int64_t limit = 15 << 20;
	int64_t low = e->room, high = e->room;
	do
		high = high + high / 2;
	while (high < MOST_TIMES * e->room && high < limit && !trial_fits(t, e->p->pins, high, 0));
	if (!trial_fits(t, e->p->pins, high, 0))
		return 0;
	for (int i = 0; i < FINE_STEPS && high - low > e->room / 100; i++) {
		const int64_t middle = (low + high) / 2 / ALIGN_DRAM * ALIGN_DRAM;
		if (trial_fits(t, e->p->pins, middle, 0))
			high = middle;
		else
			low = middle;
	}
	return (high + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
}

static int by_time(const void *a, const void *b)
{
	const NoneFix *x = a, *y = b;
	return x->trial.time < y->trial.time ? -1 : x->trial.time > y->trial.time;
}

static void look_for_fixes(Trials *t, ExplainedNone *e)
{
	const Plan *bare = e->p->bare;
	Arena *a = bare->graph->arena;
	const int all = (int)(bare->target->grid_cols * bare->target->grid_rows);
	for (int i = 0; i < e->nreasons && t->count < MOST_SEARCHES - 2; i++) {
		const int step = e->reasons[i].step;
		if (e->reasons[i].kind == NONE_PINS)
			add_fix(e, (NoneFix){ .step = step, .trial =
				trial_pins(t, without(e->p, e->p->pins, step),
					   arena_printf(a, "without the pins of %s",
							choice_step_spelling(bare, step))) });
	}
	const int64_t room = enough(t, e);
	if (room)
		add_fix(e, (NoneFix){ .step = -1, .room = room, .trial = trial_room(t, room, 0) });
	if (bare->cores < all)
		add_fix(e, (NoneFix){ .step = -1, .cores = all, .trial = trial_room(t, 0, all) });
	if (e->nfixes)
		qsort(e->fixes, (size_t)e->nfixes, sizeof *e->fixes, by_time);
}

void explain_none(const Planned *p, ExplainedNone *e)
{
	Trials t = { .p = p };
	*e = (ExplainedNone){ .p = p, .room = planner_room(p->bare->target, p->request),
			      .fewest = true };
	look_at_steps(e);
	if (!e->nreasons && !look_at_pins(&t, e))
		blame_net(e);
	look_for_fixes(&t, e);
	e->searches = t.count;
}
