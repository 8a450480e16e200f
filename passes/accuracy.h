/*
 * Where a plan loses accuracy.
 *
 *     Accuracy *a = accuracy_create(arena);
 *     ... accuracy_seen for every tensor of a run of the graph in full precision
 *     accuracy_noise(a, bare, choices)   noise over signal that is to be expected
 *
 * The model: every rounding adds noise of its own, independent of the others, and what
 * follows carries it on as it carries the signal, so shares of energy add up. A result
 * is rounded to its format; a product sees its weights in theirs, and as many bits of
 * both factors as its fidelity has phases for. What is measured in the end decides;
 * the model says where to begin. What is to be had for time says raises.h.
 */
#ifndef PASSES_ACCURACY_H
#define PASSES_ACCURACY_H

#include "passes/planner.h"

typedef struct Accuracy Accuracy;

Accuracy *accuracy_create(Arena *a);

/* What an op yields for the sample; `accuracy` is one (as RefOptions.seen has it). */
void accuracy_seen(void *accuracy, const Op *op, const Tensor *t);

/* Of choices for the steps of a bare plan, always of the same graph. */
double accuracy_noise(Accuracy *a, const Plan *bare, const Choice *choices);

#endif
