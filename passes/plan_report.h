/*
 * What there is to tell about a finished plan: time op by op with the moves that
 * belong to it, and the figures of the whole. Cycles and bytes; all of it predicted.
 */
#ifndef PASSES_PLAN_REPORT_H
#define PASSES_PLAN_REPORT_H

#include "passes/cost_step.h"

/* A step of the bare plan. Moves that stand between it and the one before are its own. */
typedef struct PlanRow {
	int step;        /* its place in the plan */
	StepTime work;   /* without moves */
	StepTime moves;
	int nmoves;
} PlanRow;

/* One for each step of the bare plan; they add up to the time of the plan. */
PlanRow *plan_rows(const Plan *bare, const Plan *p, const PlanTime *t);

enum { REPORT_BF16, REPORT_BFP8_B, REPORT_F32, REPORT_TYPES };
enum { REPORT_PHASES = 5 };

typedef struct PlanFacts {
	int ops;                  /* of the graph that have steps */
	int reshards, spills, refills;
	int64_t reshard_bytes;    /* that cores keep of the copies */
	int64_t reshard_cycles;   /* of those steps */
	int64_t weights_read;     /* bytes from DRAM, by all cores */
	int64_t tensors_read, tensors_written; /* those of hosts too */
	int tensors[REPORT_TYPES];        /* by format, REPORT_BF16 and on */
	int in_dram;                      /* of those, how many lie there for good */
	int products[REPORT_PHASES];      /* steps, by phases of fidelity */
	int64_t weight_bytes[REPORT_TYPES]; /* in DRAM, once each */
} PlanFacts;

PlanFacts plan_facts(const Plan *bare, const Plan *p, const PlanTime *t);

#endif
