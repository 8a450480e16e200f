/*
 * What a plan may store or multiply better, in the order in which it is worth its time.
 *
 *     const RaiseOptions o = { .held = pins, .noise = wanted };
 *     Raise *path = raise_path(accuracy, &planned, &o, &n);
 *     for (int i = 0; i < n; i++)
 *             raise_pin(bare, &path[i], pins);      and a plan for these pins
 *
 * A raise is the next level of a field: of formats bfp8_b, bf16, f32, as far as the plan
 * may have them, of fidelity more phases. Tensors that a product reads together are raised
 * together; other weights keep the phases that are there. Each raise on the path is the
 * one that takes noise away (accuracy.h) for the least time behind those before it, so one
 * thing may be raised again and again.
 *
 * The time is that of the plan with all else as it is, if that fits; else of one in which
 * local rules (greedy.h) have made room. What they find no room for is on no path, unless
 * nothing else is left: then it is one raise long, for a search to try.
 */
#ifndef PASSES_RAISES_H
#define PASSES_RAISES_H

#include "passes/accuracy.h"

typedef struct Raise {
	ChoiceField field;
	int step;           /* of the bare plan, the first whose choice says so, */
	const bool *steps;  /* and all of them */
	int was, to;
	int phases;         /* of fidelity that weights keep; 0: it is about something else */
	bool fits;          /* by local rules */
	double noise;       /* of the plan behind it, as accuracy_noise has it */
	int64_t time;       /* likewise, in cycles; of no meaning if it does not fit */
} Raise;

typedef struct RaiseOptions {
	const Pins *held;       /* what is fixed is not raised; NULL: nothing is */
	const unsigned *closed; /* nor are these, bit CHOICE_x of Raise.step; NULL: none */
	double noise;           /* the path ends where there is no more */
	int most_phases;        /* of fidelity; 0: all there are */
} RaiseOptions;

/* In the arena of the graph; `n` of them. */
Raise *raise_path(Accuracy *a, const Planned *p, const RaiseOptions *o, int *n);

/* Adds it to pins, one for each step of the bare plan. */
void raise_pin(const Plan *bare, const Raise *r, Pins *pins);

#endif
