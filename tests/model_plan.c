#include "tests/model_plan.h"

#include <stdio.h>

#include "passes/choice_legal.h"
#include "passes/planner.h"

/* All tensors that may be either are blocks; how many of them there are. */
static int pin_blocks(const Plan *bare, Pins *pins)
{
	int count = 0;
	for (int i = 0; i < bare->nsteps; i++) {
		const PlanTensor *t = bare->steps[i].out;
		if (!t || !(choice_types(bare, t) & DEV_BFP8_B))
			continue;
		choice_set(&pins[i].value, CHOICE_type, DEV_BFP8_B);
		pins[i].fixed |= 1u << CHOICE_type;
		count++;
	}
	return count;
}

Plan *model_plan(const Graph *g, Objective objective, bool blocks)
{
	const Target *target = target_load(g->arena, g->diag, TARGET_DEFAULT);
	const PlanRequest r = { .objective = objective };
	Planned none, p;
	if (planner_pins(g, target, &r, &none) != PLANNED)
		return NULL;
	const int count = blocks ? pin_blocks(none.bare, none.pins) : 0;
	if (planner_again(none.bare, none.pins, &r, &p) != PLANNED)
		return NULL;
	if (blocks)
		printf("%s: %d of %d tensors are bfp8_b\n", g->name, count, none.bare->ntensors);
	return !blocks || count ? p.plan : NULL;
}
