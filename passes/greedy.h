/*
 * A plan by local rules, almost without prices: what compilers that take op by op make of a
 * net. To measure a search by, and as a first plan to improve on.
 *
 *     Choice *c = arena_array(arena, Choice, bare->nsteps + 1);
 *     if (greedy_choices(bare, pins, 0, c))
 *             Plan *p = plan_apply(bare, c);       legal, and it can be placed
 *
 * The rules, step by step in order:
 *
 *   cut       as many cores as shorten the largest shard, if weights can be shared then;
 *             of equal ones in bands of rows, and as the input is cut
 *   reshard   an input of which cores would keep much more than they own and read, or
 *             that would come from the host twice
 *   weights   if they are few all of them at once, else in small pages, two at a time;
 *             in larger or single ones, and sums of fewer positions, where that fits
 *   skips     if a step they wait through does not fit, they wait without what their
 *             reader wants of other cores, then in DRAM; what is used last first
 *   slices    the largest tensor of a step that still does not fit lies in DRAM; how high
 *             slices are, and one or two at a time, is what takes least predicted time
 *   splits    if all that is not enough, a product is cut into more splits
 *   prefetch  where the step before has room for the weights
 *
 * Nothing else is weighed against anything, so it is fast, and no more than a plan.
 */
#ifndef PASSES_GREEDY_H
#define PASSES_GREEDY_H

#include "passes/plan.h"

/* A choice for each step of the bare plan, whose grid is set; the same for the same
 * input. `pins` may be NULL; `room` is bytes of L1, 0: the target's. False if the
 * rules lead to none that is legal and fits. */
bool greedy_choices(Plan *bare, const Pins *pins, int64_t room, Choice *choices);

/* Choices from elsewhere, which are legal, with room made by the same rules where
 * buffers do not fit; all else stays. False if the rules find none. */
bool greedy_repair(Plan *bare, const Pins *pins, int64_t room, Choice *choices);

#endif
