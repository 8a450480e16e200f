/*
 * How a step is done in the room there is for it: the part of the local rules
 * (greedy.h) that looks at one step alone.
 */
#ifndef PASSES_GREEDY_FIT_H
#define PASSES_GREEDY_FIT_H

#include "passes/plan.h"

typedef struct Greedy {
	Plan *bare;
	const Pins *pins; /* or NULL */
	int64_t room;
	Choice *choices;
} Greedy;

bool greedy_fixed(const Greedy *g, int step, ChoiceField f);

/* Is the value the one that is fixed, or none is? */
bool greedy_may(const Greedy *g, int step, ChoiceField f, int value);

/* What the step takes in L1 beside tensors that outlive it, done as `c` says. `x` is
 * the step, cut. */
int64_t greedy_step_bytes(const Plan *p, Step *x, const Choice *c);

/* Weights and slices of bare step `step`, which is `x` in plan p, in at most so many
 * bytes: false if there is no such way. `passes` bounds how often weights come
 * by; 0: any number. */
bool greedy_fit(Greedy *g, const Plan *p, const Step *x, int step, int64_t bytes, int passes);

/* Likewise of a step in slices: what is predicted to take least time, of one way for each
 * height and one slice or two at a time. */
bool greedy_fit_slices(Greedy *g, const Plan *p, const Step *x, int step, int64_t bytes);

/* The same as greedy_fit with one slice at a time and any number of passes. */
bool greedy_fit_single(Greedy *g, const Plan *p, const Step *x, int step, int64_t bytes);

#endif
