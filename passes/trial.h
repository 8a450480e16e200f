/*
 * What if: the best plan with something else fixed, or with more room, priced beside
 * the one there is.
 *
 *     Trials t = { .p = &planned };
 *     Trial x = trial_field(&t, step, CHOICE_bands, 30);
 *     if (x.how == PLANNED)
 *             ... x.time - planned.time.all.total is what it costs
 *
 * Each is a search of its own, with the effort of the first. Nothing of the plan there
 * is changes, and nothing is reported.
 */
#ifndef PASSES_TRIAL_H
#define PASSES_TRIAL_H

#include "passes/planner.h"

typedef struct Trials {
	const Planned *p;
	int count;  /* searches so far */
} Trials;

typedef struct Trial {
	const char *what; /* "bands=30"; NULL: not tried */
	PlanOutcome how;  /* PLAN_NONE: nothing fits so, PLAN_WRONG: it is not legal */
	int64_t time;     /* cycles */
	int64_t bound;    /* no plan of that kind takes less */
} Trial;

/* Of one step a field fixed to a value, all else free but for
 * the pins of the plan. If that is a place in DRAM, other tensors stay where they
 * are: what moves once one does is a matter of more work than an answer may take. */
Trial trial_field(Trials *t, int step, ChoiceField f, int value);

/* The best plan in which the step's result is cut, stored or placed in another way; that
 * is what `what` says. */
Trial trial_other(Trials *t, int step);

/* Other pins instead of those of the plan. */
Trial trial_pins(Trials *t, const Pins *pins, const char *what);

/* So many bytes of L1, also more than there are, and so many cores of the grid; 0: as
 * the plan has it. */
Trial trial_room(Trials *t, int64_t room, int cores);

/* Not a search: the plan of these choices, one for each step of the bare plan; `placed`:
 * it must fit too. */
Trial trial_choices(Trials *t, const Choice *choices, bool placed);

/* Is there room by local rules (greedy.h) alone? No search; a no says nothing. */
bool trial_fits(const Trials *t, const Pins *pins, int64_t room, int cores);

/* A field of a step as a plan file has it, "bands=30". */
const char *trial_spelling(const Planned *p, ChoiceField f, int value);

#endif
