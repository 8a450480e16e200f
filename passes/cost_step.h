/*
 * What the steps of a plan cost, from the plan alone: exact counters, and time by
 * cause (ir/causes.def) in cycles.
 *
 *     CostContext x = cost_context(plan->target);
 *     StepTime t = cost_work(&x, plan, &plan->steps[i]);
 *     t.total, t.cycles[CAUSE_unpack]
 *
 * The time of a plan is a sum, so that a search may look at its terms one by one:
 *
 *     total =  cost_work(s)             of each step that moves nothing
 *            + launch + cost_halo(a, b) of each reshard from a to b
 *            + launch + cost_move(t)    of each spill of t, refill to t by itself
 *            + cost_halo(t, t)          of each tensor in L1 that a step makes
 *            + max(0, moves - work)     of each step that has moves beside it: all
 *                                       cost_move of them, its cost_work
 *            + max(0, fetch - work)     of each step whose weights are early: its
 *                                       cost_fetch, the step before it by itself
 *
 * "The step before" is the last one that is not beside; by itself means the first
 * three lines. cost_work looks at the
 * result of a step as it is owned, never at what is kept or at the cut of its
 * inputs; what more is kept is cost_halo's. Neither needs addresses. A tensor that
 * several steps make has its halo behind the last of them.
 */
#ifndef PASSES_COST_STEP_H
#define PASSES_COST_STEP_H

#include "ir/cost.h"
#include "ir/plan.h"
#include "ir/work.h"

typedef struct StepTime {
	int64_t cycles[CAUSE_COUNT];
	int64_t total; /* sum of them */
} StepTime;

/* The time of a core's work, by all that it depends on. */
typedef struct KnownWork {
	Work work;
	StepKind kind;
	OpKind act;
	int phases;   /* of columns of the result */
	bool partial; /* the result is */
	bool known;
	StepTime time;
} KnownWork;

/* What is worked out once. The caller owns it; not for two threads at once. */
enum { COST_TYPES = 3, COST_TURNS = COST_TYPES * COST_TYPES * 3 * 4 * 4, COST_KNOWN = 8 };
typedef struct CostContext {
	const Target *target;
	int64_t launch;     /* cycles from op to op */
	int64_t round_trip; /* of the NoC */
	int64_t turn[COST_TURNS]; /* work_turn_stall + 1 by types, n, hold, phases; 0: not known */
	KnownWork known[COST_KNOWN]; /* the last ones */
} CostContext;

CostContext cost_context(const Target *t);

/* A step that computes or is a host edge, launches included. It is cut, its weights
 * are sized (plan_size_weights) and its slices have a height. */
StepTime cost_work(CostContext *x, const Plan *p, const Step *s);

/* Rows from those who own them in `from` to those who keep them in `to`, which may be
 * the same tensor; 0 if there are none. What a host edge or a constant reads beyond
 * its own counts too; a refill reads all of it (cost_move), so that is 0. */
int64_t cost_halo(CostContext *x, const Plan *p, const PlanTensor *from, const PlanTensor *to);

/* cost_halo(t, t) is no less; this is quick to work out. */
int64_t cost_halo_least(CostContext *x, const Plan *p, const PlanTensor *t);

/* A tensor in L1 to DRAM (what is owned of it) or back (what is kept). */
int64_t cost_move(CostContext *x, const Plan *p, const PlanTensor *t, bool out);

/* Pages of weights that a step has room for, from the first asked for to the last in
 * place everywhere: all of them if they stay, else the ring. 0 without weights. */
int64_t cost_fetch(CostContext *x, const Plan *p, const Step *s);

/* What one core counts in all ops of a step: every exact counter as backend/predict.h
 * has it of the program, but for the block of the next op, whose length only the
 * lowering knows. A step that goes beside counts nothing itself: its moves are
 * carried out in the first op of the step it is beside, and counted there. */
void cost_counters(const Plan *p, int step, int core, Counters *c);

/* Of those, what the weights of the step are the reason for, as NCRISC fetches them. */
void cost_counters_weights(const Plan *p, int step, int core, Counters *c);

/* Ops of the program that a step becomes; 0 if it goes beside another. */
int cost_ops(const Plan *p, const Step *s);

/* ---- of a finished plan ---- */

typedef struct PlanTime {
	StepTime *steps; /* of each */
	StepTime all;    /* their sum */
} PlanTime;

/* In the arena of the plan's graph. */
PlanTime plan_time(const Plan *p);

#endif
