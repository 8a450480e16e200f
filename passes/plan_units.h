/*
 * A timeline of a plan: when each step runs and how long each unit of a core is busy in
 * it, on the core where it is busiest. Cycles; all of it predicted.
 *
 * Units work side by side. Steps that go beside another begin with it. The rows say
 * what is priced of each: the two movers by the transfers they start, as the model does
 * not count their instructions.
 */
#ifndef PASSES_PLAN_UNITS_H
#define PASSES_PLAN_UNITS_H

#include "passes/cost_step.h"

typedef enum UnitId {
#define UNIT(name, label, what) UNIT_##name,
#include "passes/units.def"
	UNIT_COUNT
} UnitId;

typedef struct UnitInfo {
	const char *name, *label, *what;
} UnitInfo;

extern const UnitInfo unit_info[UNIT_COUNT];

typedef struct StepSpan {
	int64_t start, cycles;     /* of the step, by cost_step.h */
	int64_t busy[UNIT_COUNT];  /* none is told as more than the step takes */
} StepSpan;

/* One for each step of the plan, in the arena of the graph. */
StepSpan *plan_spans(const Plan *p, const PlanTime *t);

/* The same units of one op or several, from what every core counted in it: its RISC-Vs
 * executed instructions. `movers` of each core, as of plan_spans: what the weights are
 * the reason for; NULL if instructions are counted. */
void units_busy(const Target *t, const Counters *cores, const Counters *movers, int n,
		int64_t busy[UNIT_COUNT]);

#endif
