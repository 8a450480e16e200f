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
	bool park;    /* every tensor waits in DRAM between two uses */
	int slice;    /* every tensor that can lies in DRAM: slices of so many rows */
} PlanOptions;

/* The same cores throughout, in L1 what fits there, height bands where nothing else
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

/* Appends a step to a list of n, from which the plan's is made anew. */
void plan_append(Plan *p, Step **list, int *n, const Step *s);

/* Gives every buffer its address, with weights streamed where they do not fit;
 * false if L1 is too small all the same, which plan_place reports. */
bool plan_fits(Plan *p);
bool plan_place(Plan *p);

/* Cuts, and takes out of L1 what does not fit or is wanted in DRAM, until
 * everything has its place. False, reported, if that cannot be. */
bool plan_dram(Plan *p, int cores, const PlanOptions *o);

#endif
