/*
 * Why a model has no plan, and what would help: the fewest reasons that rule out every
 * plan, and fixes with the time a plan then takes.
 *
 *     if (planner_run(g, t, &r, &p) == PLAN_NONE)
 *             explain_none(&p, &e);
 *
 * A reason is a step that does not fit even by itself, or pins of a step: without
 * those of any one of them there would be a plan. If it is neither, the net as a whole
 * is too large. At most MOST_SEARCHES searches are made; whether that was enough is
 * told.
 */
#ifndef PASSES_EXPLAIN_NONE_H
#define PASSES_EXPLAIN_NONE_H

#include "passes/trial.h"

enum { MOST_SEARCHES = 10, MOST_REASONS = 16, MOST_FIXES = 8 };

typedef enum NoneKind {
	NONE_STEP, /* does not fit alone: `least` bytes, whatever is chosen */
	NONE_PINS, /* of a step; `least` as they have it, if that alone is too much, or 0 */
	NONE_NET,  /* what lives at the same time does not fit: the step that is hardest */
} NoneKind;

typedef struct NoneReason {
	NoneKind kind;
	int step;      /* of the bare plan */
	int64_t least;
} NoneReason;

/* A change after which there is a plan. */
typedef struct NoneFix {
	int step;      /* drop the pins of this step; -1: not that */
	int64_t room;  /* bytes of L1 that are enough; 0: not that */
	int cores;     /* so many take part; 0: not that */
	Trial trial;
} NoneFix;

typedef struct ExplainedNone {
	const Planned *p;
	int64_t room;
	NoneReason reasons[MOST_REASONS];
	int nreasons;
	bool fewest;   /* none of the reasons can be left out */
	NoneFix fixes[MOST_FIXES]; /* fastest first */
	int nfixes;
	int searches;
} ExplainedNone;

void explain_none(const Planned *p, ExplainedNone *e);

/* Bytes of L1 that a step takes at least, all by itself: its result, what it reads and
 * what it works with, in the best of all cuts that pins (NULL: none) allow. */
int64_t explain_least_bytes(const Plan *bare, int step, const Pins *pins);

#endif
