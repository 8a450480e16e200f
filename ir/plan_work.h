/*
 * What follows from a plan for one core: what it works on in a step, which rows and
 * weights come to it and from where. The lowering carries it out, the cost model
 * counts it.
 */
#ifndef IR_PLAN_WORK_H
#define IR_PLAN_WORK_H

#include "ir/plan.h"

/* What a core makes of a step's result. A core that has nothing to do makes no
 * rows of as many planes as it has room for. */
Region step_work(const Step *s, int core);

/* Of the rows that part 0 is read in for this work: those inside of the image. */
Range step_image_rows(const Step *s, Region work);

/* Channels in the last plane of this work, for an act: STEP_LANES has one in all 16. */
int step_lanes(const Step *s, Region work);

/* ---- weights ---- */

/* Groups that a core with these planes gets: all, if all cores get the same. */
Range step_core_groups(const Step *s, Range planes);

/* Who reads them: each core for itself, or some for all or for their column. */
typedef enum FetchWays { FETCH_EACH, FETCH_ALL, FETCH_COLUMNS } FetchWays;

FetchWays step_fetch_ways(const Plan *p, const Step *s);

/* Of `cores` that share weights: how many read, and which is reader f. They stand as
 * far apart as can be. */
int step_fetchers(const Step *s, int cores);
static inline int step_fetcher(int f, int fetchers, int cores) { return f * cores / fetchers; }

/* Do images and slices that are ops of their own find the weights of the first one? */
bool step_weights_stay(const Step *s);

/* ---- rows of others ---- */

/* Rows inside of the image. */
static inline Region region_in_image(const PlanTensor *t, Region r)
{
	return (Region){ range_both(r.rows, (Range){ 0, t->height }), r.planes };
}

/* What a core keeps of it. */
static inline Region tensor_kept(const PlanTensor *t, int core)
{
	return region_in_image(t, t->shard[core].keep);
}

/* Is it pushed from core to core? From the host and from DRAM every core fetches all
 * it keeps. */
bool tensor_pushed(const Plan *p, const PlanTensor *t);

/* ---- tensors in DRAM ---- */

/* What a step reads, on a core, of a part that lies in DRAM. */
Region step_reads_dram(const Step *s, int part, int core);

/* Does a core read any of a region of a tensor in DRAM, in any step? */
bool plan_reads_dram(const Plan *p, const PlanTensor *t, int reader, Region written);

/* For each row that a reduction makes: which rows slice i of it has. */
void step_slice_map(const Step *s, int i, Range *map);

/* Slice i of a part, or (k == nin) of the result: as it stands in L1. And the step on
 * these. */
PlanTensor *step_slice_tensor(Arena *a, const Plan *p, const Step *s, int k, int i);
Step step_slice_step(Arena *a, const Plan *p, const Step *s, int i);

#endif
