/*
 * Making a plan (ir/plan.h) for a graph that the passes are through with.
 */
#ifndef PASSES_PLAN_H
#define PASSES_PLAN_H

#include "ir/choice.h"

/* What is asked of a plan; zeros leave it open. */
typedef struct PlanOptions {
	int cores;    /* how many take part */
	bool stacked; /* images of a batch side by side, else one after the other */
	Cut cut;      /* of every step that no hint pins */
	bool park;    /* every tensor waits in DRAM between two uses */
	int slice;    /* every tensor that can lies in DRAM: slices of so many rows */
	bool single;  /* slices come one at a time */
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

/* Adds a copy of a tensor, or (NULL) an empty one, to those of the plan. */
PlanTensor *plan_add_tensor(Plan *p, const PlanTensor *like);

/* The first so many cores of the target's grid take part. */
void plan_grid(Plan *p, int cores);

/* The shards of one tensor, by its cut: what each core owns; and the size of its
 * buffer, once it is known what they keep. The rows of a reduction, by its cut. */
void plan_own(const Plan *p, PlanTensor *t);
void plan_own_into(const Plan *p, PlanTensor *t, Shard *shards); /* of all cores */
void plan_size_buffer(const Plan *p, PlanTensor *t);

/* What comes from DRAM starts on 32 bytes there and in L1, so of bfp8_b, whose
 * exponents take a byte each, a row has a multiple of 32 pixels: wherever it lies, so
 * that its size does not depend on where it waits. */
void plan_align_rows(Layout *l);
void plan_cut_partial(const Plan *p, Step *s);

/* Sizes of what a step holds in L1 beside tensors. */
void plan_size_step(const Plan *p, Step *s);

/* Share `i` of `n` of so many rows or planes, in whole units. */
Range plan_share(int all, int unit, int i, int n);

/* Shards and buffers of every tensor, by its cut, type and place; sizes of what a
 * step holds beside them. */
void plan_shards(Plan *p);

/* Cuts every tensor for `cores` cores and sizes the buffers. `cut` is for steps
 * that no hint pins; zeros: height bands over all cores. */
void plan_cut(Plan *p, int cores, Cut cut);

/* Adds a step before those whose input is cut so differently that keeping
 * what they read beside what the core owns would waste room. After plan_cut,
 * which has to be done again if it says true. */
bool plan_reshard(Plan *p);

/* Does some core keep over a quarter more of a part than it owns and reads? */
bool plan_is_wasteful(const Plan *p, const Step *s, int part);

/* Input tiles of the deepest block of a product's weights: pages are whole blocks. */
int plan_deepest_block(const Step *s);

/* Pages of a group and their size, by the tiles in each. */
void plan_size_pages(Step *s);

/* Rows of positions a product makes from the same weights, of as many as there are. */
int plan_hold(int held, int rows);

/* Sizes pages, their circular buffer and sums of a step that has weights, once it
 * is cut. */
void plan_size_weights(const Plan *p, Step *s);

/* Makes the weights of one of these steps, life.end not among them, take less
 * room; false if none can. */
bool plan_stream_more(Plan *p, Range life);

/* Appends a step to a list of n, from which the plan's is made anew. */
void plan_append(Plan *p, Step **list, int *n, const Step *s);

/* The step from which on L1 holds the weights of one: its own, or if they are early the
 * last one before it that is not beside another. */
int plan_fetched_in(const Plan *p, int step);

/* Gives every buffer its address in L1 and finds the fullest step; false if no way
 * was found within a limit on the work. `need` is the least end of all buffers
 * that was reached, `blame` the life of what is in the way. */
bool place_buffers(Plan *p, int64_t *need, Range *blame);

/* Gives every buffer its address, with weights streamed where they do not fit;
 * false if L1 is too small all the same, which plan_place reports. */
bool plan_fits(Plan *p);
bool plan_place(Plan *p);

/* Cuts, and takes out of L1 what does not fit or is wanted in DRAM, until
 * everything has its place. False, reported, if that cannot be. */
bool plan_dram(Plan *p, int cores, const PlanOptions *o);

/* A step that takes tensor `from` to `to`. */
Step plan_move(Plan *p, StepKind kind, PlanTensor *from, PlanTensor *to, bool beside);

/* Steps from the last use of a part to this one, which may park it; whether it can
 * move beside others then. */
int plan_gap(const Plan *bare, int step, int part);
bool plan_can_beside(const Plan *bare, int step, int part);

/* Steps between the two uses of a tensor that moves beside others: one beside the spill,
 * one that is free of it, one beside the refill. */
enum { BESIDE_GAP = 4 };

/* Was it parked for a step before this one? Then it has stayed in DRAM. */
bool plan_came_back(const Plan *bare, const Choice *choices, int step, const PlanTensor *t);

/* Weights of step i can come while the one before runs: nothing moves between the
 * two, and it is not in slices. */
bool plan_can_prefetch(const Plan *bare, const Choice *choices, int i);

/* Blocks of a product and how its weights come, as chosen. */
void plan_set_product(Step *s, const Choice *c);

/* Cuts a copy of a tensor as the result of a step is: at any row and any two
 * planes, whoever made it. */
void plan_recut(PlanTensor *copy, Cut cut);

/* What follows from the decisions: a plan of its own with moves, shards and sizes,
 * but no addresses. There is a choice for each step of the bare one, and all of
 * them are legal (choice_check). */
Plan *plan_apply(const Plan *bare, const Choice *choices);

#endif
