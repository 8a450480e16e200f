/*
 * Making a plan (ir/plan.h) for a graph that the passes are through with.
 */
#ifndef PASSES_PLAN_H
#define PASSES_PLAN_H

#include "ir/plan.h"

/* What is asked of a plan; zeros leave it open. */
typedef struct PlanOptions {
	int cores;    /* how many take part */
	bool stacked; /* images of a batch side by side, else one after the other */
	Cut cut;      /* of every step that no hint pins */
} PlanOptions;

/* Everything in L1, the same cores throughout, height bands where nothing else
 * is asked for: no search but for the number of cores. NULL if the target
 * cannot run the graph; every reason is reported. */
Plan *plan_bands(const Graph *g, const Target *t, const PlanOptions *options);

/* ---- its parts ---- */

/* Steps and tensors, not yet cut or placed; NULL, reported. */
Plan *plan_steps(const Graph *g, const Target *t, bool stacked);

/* Sets birth and death of every tensor by the steps. */
void plan_lives(Plan *p);

/* Cuts every tensor for `cores` cores and sizes the buffers. `cut` is for steps
 * that no hint pins; zeros: height bands over all cores. */
void plan_cut(Plan *p, int cores, Cut cut);

/* Adds a step before those whose input is cut so differently that keeping
 * what they read beside what the core owns would waste room. After plan_cut,
 * which has to be done again if it says true. */
bool plan_reshard(Plan *p);

/* Sizes pages, their circular buffer and sums of a step that has weights, once it
 * is cut. */
void plan_size_weights(const Plan *p, Step *s);

/* Makes the weights of one of these steps, life.end not among them, take less
 * room; false if none can. */
bool plan_stream_more(Plan *p, Range life);

/* Gives every buffer its address, with weights streamed where they do not fit;
 * false, reported, if L1 is too small all the same. */
bool plan_place(Plan *p);

#endif
