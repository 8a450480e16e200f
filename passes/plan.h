/*
 * Making a plan (ir/plan.h) for a graph that the passes are through with.
 */
#ifndef PASSES_PLAN_H
#define PASSES_PLAN_H

#include "ir/plan.h"

/* Height bands, everything in L1, the same cores throughout: no search but for
 * the number of cores. NULL if the target cannot run the graph; every reason
 * is reported. */
Plan *plan_bands(const Graph *g, const Target *t);

/* ---- its parts ---- */

/* Steps and tensors, not yet cut or placed; NULL, reported. */
Plan *plan_steps(const Graph *g, const Target *t);

/* Cuts every tensor into bands for `cores` cores and sizes the buffers. */
void plan_cut(Plan *p, int cores);

/* Gives every buffer its address; false, reported, if L1 is too small. */
bool plan_place(Plan *p);

#endif
