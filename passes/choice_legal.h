/*
 * Which values the fields of a Choice (ir/choice.h) may have, for a search to try
 * and for choice_check to hold others against.
 *
 * The plan is bare, and its grid is set (plan_grid). Where a function takes a
 * Choice it looks at the fields that stand before its own in choices.def, which
 * are legal already. A list of values is in growing order, has at most `most` of
 * them and returns how many there are; values that make the same plan as a smaller
 * one but take more room are left out of it, though legal.
 */
#ifndef PASSES_CHOICE_LEGAL_H
#define PASSES_CHOICE_LEGAL_H

#include "passes/plan.h"

enum {
	MOST_FETCHERS = 4,
	MOST_PAGES = 65535, /* of weights in a step, again and again: 16 bits */
	MOST_GROUPS = 255,  /* of weights: what a routine counts */
};

/* A legal choice that decides nothing: one shard in L1, in the format of the bare
 * plan, all weights at once. */
Choice choice_plain(const Step *s);

/* The most bands and the most splits a step's result may have, cores or no cores;
 * both at once are bound by choice_cut_ok. */
Cut choice_most_cut(const Step *s, int cout_block);
bool choice_cut_ok(const Plan *bare, const Step *s, Cut cut, int cout_block);

/* Rows of the tensor on the core that has most. */
int choice_most_rows(const PlanTensor *t, int bands);

/* Output tiles side by side: 1, 2 or 4 where they divide those of a group of
 * channels. */
bool choice_cout_block_ok(const Step *s, int cout_block);
int choice_cout_blocks(const Step *s, int *values, int most);

/* Are planes cut at the same places, whichever of the two is held side by side? Then steps
 * that make one tensor may differ in that. */
bool choice_blocks_alike(const PlanTensor *t, int splits, int one, int other);

/* Formats the tensor may have: that of the bare plan, the other one where the op allows
 * both and all who make and read it take either, as do all that have its format
 * (PlanTensor.wide); f32 where PlanTensor.f32 says so. */
DevTypes choice_types(const Plan *bare, const PlanTensor *t);

/* The next of all tensors that the host reads as another image of what `t` has, behind
 * `after` (NULL: the first); NULL: no more. The host has one tensor for all images, so
 * either all are f32 or none is. */
const PlanTensor *choice_other_image(const Plan *bare, const PlanTensor *t,
				     const PlanTensor *after);

/* Those of them that a search looks at: what a pin says, of the tensor or of one that has
 * its format; else f32 and nothing else where the bare plan has it so. Pins that contradict
 * each other leave none. `pins` of all steps, or NULL. */
DevTypes choice_tried(const Plan *bare, const PlanTensor *t, const Pins *pins);

/* Are the inputs of a product of one type, as they have to be? */
bool choice_parts_alike(const Plan *bare, const Choice *choices, int step);

/* May the tensor lie in DRAM? */
bool choice_dram_ok(const Plan *bare, const PlanTensor *t);

/* Does the step work on a tensor in DRAM, by what was chosen for who makes it? */
bool choice_is_sliced(const Plan *bare, const Choice *choices, int step);

/* Whose rows slices are of: the result's, or (a row for each band) those it is made of. */
const PlanTensor *choice_sliced(const PlanTensor *result);

/* Rows of a slice: whole units, no more than a core has. `result` is, of a host edge
 * out, what it sends. Of many units the list has one for each number of slices. */
bool choice_slice_ok(const PlanTensor *result, int bands, int slice);
int choice_slices(const PlanTensor *result, int bands, int *values, int most);

/* The step's weights as they come for cout_block and k_block of `c`: held, groups,
 * pages and their size are set. */
Step choice_product(const Step *s, const Choice *c);

/* What its weights may be in. */
DevTypes choice_weights(const Step *s);

/* What a search does not vary: format of weights and fidelity, by the pins or else as the
 * step has them; other weights want other phases. */
void choice_set_product(const Step *s, const Pins *p, Choice *c);

/* Input tiles in a page: 0 or whole blocks. */
bool choice_k_block_ok(const Step *s, const Choice *c, int k_block);
int choice_k_blocks(const Step *s, const Choice *c, int *values, int most);

/* Pages in a ring: 0 only if a group is one page. */
bool choice_ring_ok(const Step *s, const Choice *c, int ring);

/* Units of 32 * hold positions on the fullest core, and how many positions that is. */
typedef struct Units {
	int count, hold;
} Units;
Units choice_units(const Step *s, const Choice *c);

/* Positions of a block: 0, or such that blocks divide the units, if a group has
 * several pages. The page limit is looked at apart from that. */
bool choice_act_block_ok(const Step *s, const Choice *c, int act_block);
int choice_act_blocks(const Step *s, const Choice *c, int *values, int most);

/* Pages that come by in all, with act_block of `c`; MOST_PAGES is the limit. */
int64_t choice_pages(const Step *s, const Choice *c);

/* How many cores may fetch: one where none share weights. */
int choice_most_fetchers(const Plan *bare, const Choice *c);

/* May a part be read from a copy in the result's cut; wait in DRAM since its last
 * use; move while others run? By the place chosen for it. A tensor that a step
 * reads twice moves as the first of its parts. What came back from DRAM is not copied
 * but parked again, and what a host edge sends later does not leave L1. */
bool choice_reshard_ok(const Plan *bare, const Choice *choices, int step, int part);
bool choice_park_ok(const Plan *bare, const Choice *choices, int step, int part);
bool choice_beside_ok(const Plan *bare, const Choice *choices, int step, int part);

#endif
