/*
 * The ops of the program that a step becomes, in their order: what backend/lower.c
 * makes of it, for whoever counts them.
 */
#ifndef PASSES_COST_OPS_H
#define PASSES_COST_OPS_H

#include "passes/cost_parts.h"

typedef struct StepOp {
	const Plan *p;
	int step;
	int number, ops;   /* of the step's; how many there are */
	Step view;         /* the step, or the slice at hand */
	int slice, slices; /* which, of so many */
	bool reads;        /* that slice, and nothing else */
	bool ends;         /* it is the last op on the slice */
	int image, images; /* of its result: the first that the op makes, and how many */
	int phase;         /* of a mix */
} StepOp;

/* All ops of a step, in `a`; NULL and 0 if it goes beside another. */
StepOp *cost_list_ops(Arena *a, const Plan *p, int step, int *n);

/* What BRISC does around its routine on one core, but for the next op's block and
 * what it waits for by reason of the op before. */
void cost_lead(Arena *a, const StepOp *o, int core, Work *w);

#endif
