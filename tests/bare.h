/* A bare plan of a net in text, for the 64 cores of a wormhole_n150. */
#ifndef TESTS_BARE_H
#define TESTS_BARE_H

#include <string.h>

#include "frontend/model.h"
#include "passes/plan.h"
#include "tests/check.h"
#include "tests/fixture.h"

static inline Plan *bare_plan(Fixture *t, const char *net)
{
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", net, strlen(net), &(ModelOptions){ 0 });
	Plan *p = g ? plan_steps(g, target_load(t->arena, &t->diag, "wormhole_n150"), false) : NULL;
	if (!p)
		fail_msg("%s", fixture_said(t));
	plan_grid(p, 64);
	return p;
}

/* The step that makes a tensor, the last one if there are several; or NULL. */
static inline const Step *bare_step(const Plan *p, const char *name)
{
	const Step *found = NULL;
	for (int i = 0; i < p->nsteps; i++)
		if (p->steps[i].out && strcmp(p->steps[i].out->name, name) == 0)
			found = &p->steps[i];
	assert_non_null(found);
	return found;
}

#endif
