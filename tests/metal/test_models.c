/*
 * Whole models as projects for TT-Metal, planned as `tessera compile` does: what they give
 * on the small TT-Metal is what the package gives on the emulator.
 *
 *     metal_models WAY verify MODEL --input IN.npy ...
 *
 * WAY is a row of ways[] below, by its name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/inputs.h"
#include "passes/pass.h"
#include "passes/planner.h"
#include "tests/metal/project.h"
#include "tests/model_plan.h"

static const struct Way {
	const char *name;
	ProjectTest test;
} ways[] = {
	{ "one", { .options = "slots=1" } },
	{ "whole", { .options = "slots=2", .runs = 2, .whole = true } },
	{ "queues", { .options = "queues=2 slots=2", .runs = 3 } },
	{ "trace", { .options = "queues=2 apart trace slots=3", .runs = 4 } },
	{ "mesh", { .options = "mesh=1x2 slots=2", .runs = 2, .devices = 2 } },
	{ "again", { .options = "slots=1 again", .runs = 1 } },
	{ "precompiled", { .options = "slots=1 precompiled=" METAL_PROJECTS "/compiled" } },
};

static bool same(Arena *a, Diag *d, const Options *o, const struct Way *way)
{
	Inputs inputs = { 0 };
	if (inputs_read(&inputs, a, d, o) != EXIT_OK)
		return false;
	Graph *g = model_read(a, d, o->model, &inputs.model);
	if (!g || !inputs_data(g, a, &inputs) ||
	    !passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		return false;
	const bool greedy = option_given(o, OPT_OBJECTIVE);
	Plan *plan = model_plan(g, greedy ? OBJECTIVE_GREEDY : OBJECTIVE_TIME, false);
	Network *n = plan ? network_of_plan(g, plan) : NULL;
	const bool ok =
		n && project_same(n, arena_printf(a, "%s_%s", g->name, way->name), 1, &way->test);
	const ProjectCounts c = project_counts();
	printf("%s, %s: %d kernels, %d programs, %d runs %s; %d against TT-Metal's headers\n",
	       g->name, way->name, c.kernels, c.programs, c.runs, ok ? "the same" : "WRONG",
	       c.parsed);
	network_free(n);
	return ok;
}

int main(int argc, char **argv)
{
	const struct Way *way = NULL;
	for (size_t i = 0; argc > 2 && i < sizeof ways / sizeof *ways; i++)
		if (strcmp(ways[i].name, argv[1]) == 0)
			way = &ways[i];
	if (!way) {
		fprintf(stderr, "usage: metal_models WAY verify MODEL --input IN.npy ...\n");
		return 2;
	}
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	Options o;
	const bool ok = options_parse(&o, a, &d, argc - 1, argv + 1) && same(a, &d, &o, way);
	diag_finish(&d);
	arena_destroy(a);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
