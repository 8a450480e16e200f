/*
 * All plans there are of a small net, to hold a search against: every combination of
 * legal choices is made into a plan and priced, and none is left out because it looks
 * bad. Nothing of it is the search's.
 *
 *     EveryPlan e;
 *     every_plan_init(&e, bare, graph, pins, dram);
 *     every_plan_all(&e);
 *     const EveryBest *b = every_plan_within(&e, room);
 *
 * Two kinds of fields. Those of the frame (cuts, formats, places, slices, blocks of
 * output tiles, what is prefetched, copied, parked and moved beside others) are
 * enumerated one by one; each combination that choice_check takes goes through
 * plan_apply. Those of the weights (k_block, ring, act_block, fetchers) change, as
 * cost_step.h says, nothing but the work of their own step, how long its pages take to
 * come, and the bytes of its pages and sums: for them every legal value is priced, and
 * of two the one that is no better in any of these is left out (every_price.c has the
 * proof). Sums made so are compared with plan_time and place_buffers for some of
 * the combinations, chosen at random, and for each best.
 *
 * Fidelity is not chosen: it is that of the bare plan, or a pin.
 */
#ifndef TESTS_EVERY_PLAN_H
#define TESTS_EVERY_PLAN_H

#include "ir/intmap.h"
#include "ir/rng.h"
#include "passes/cost_step.h"
#include "passes/plan.h"

enum { EVERY_STEPS = 24 };

/* A plan that no other beats in both. */
typedef struct EveryBest {
	int64_t peak;   /* bytes of L1 alive at once */
	int64_t time;
	Choice choices[EVERY_STEPS];
} EveryBest;

typedef struct EveryPlan {
	Plan *bare;
	Graph *g;
	const Pins *pins;  /* of each step */
	bool dram;         /* tensors may lie in DRAM for good */
	Choice choices[EVERY_STEPS];
	CostContext cost;
	Arena *arena;      /* of tables */
	IntMap locals;     /* ways of weights, by all of the frame that matters */
	Rng rng;
	Diag quiet;
	bool pricing;      /* not only counting */
	EveryBest *best;   /* least time first */
	int nbest, room;
	int64_t frames, most_frames, plans, checked;
} EveryPlan;

void every_plan_init(EveryPlan *e, Plan *bare, Graph *g, const Pins *pins, bool dram);
void every_plan_finish(EveryPlan *e);

/* Combinations of the frame, no further than most + 1. */
int64_t every_plan_count(EveryPlan *e, int64_t most);

/* A legal choice of every field at random, weights too; false if that took too long. */
bool every_plan_some(EveryPlan *e, Rng *r, Choice *choices);

/* Makes and prices them all. */
void every_plan_all(EveryPlan *e);

/* Then: the fastest within so many bytes, or NULL. */
const EveryBest *every_plan_within(const EveryPlan *e, int64_t room);

/* ---- its parts ---- */

enum { WEIGHT_FIELDS = 4 };
extern const ChoiceField every_weight_fields[WEIGHT_FIELDS];

/* Is the value not ruled out by a pin? */
bool every_allows(const EveryPlan *e, int step, ChoiceField f, int value);

/* Legal values of a field, by what is chosen for those before it; at most EVERY_VALUES. */
enum { EVERY_VALUES = 512 };
int every_values(const EveryPlan *e, int step, ChoiceField f, int *values);

/* Prices the frame in e->choices with all ways of weights. */
void every_price(EveryPlan *e);

#endif
