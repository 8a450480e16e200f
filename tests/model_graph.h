/* A model of models/ or a net in text, ready to be planned for a wormhole_n150. */
#ifndef TESTS_MODEL_GRAPH_H
#define TESTS_MODEL_GRAPH_H

#include <string.h>

#include "frontend/model.h"
#include "passes/pass.h"
#include "passes/planner.h"
#include "tests/check.h"
#include "tests/fixture.h"

static inline const Target *test_target(Fixture *t)
{
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	assert_non_null(target);
	return target;
}

static inline Graph *model_graph(Fixture *t, const char *path)
{
	const ModelOptions random = { .random_weights = true, .seed = 1 };
	const PassOptions none = { 0 };
	Graph *g = model_read(t->arena, &t->diag, path, &random);
	if (!g || !passes_run(g, pass_pipeline, pass_pipeline_length, &none))
		fail_msg("%s", fixture_said(t));
	return g;
}

static inline Graph *text_graph(Fixture *t, const char *net)
{
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", net, strlen(net), &(ModelOptions){ 0 });
	if (!g)
		fail_msg("%s", fixture_said(t));
	return g;
}

static inline PlanSource source_of(const char *text)
{
	return (PlanSource){ "test.plan", text, strlen(text) };
}

#endif
