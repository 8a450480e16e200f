/*
 * test_plan_proof MODEL...: with usual effort the plan of each is proved best.
 */
#include <stdio.h>

#include "frontend/model.h"
#include "passes/pass.h"
#include "passes/planner.h"

static bool is_proved(const char *path)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	const ModelOptions random = { .random_weights = true, .seed = 1 };
	const PassOptions none = { 0 };
	const PlanRequest r = { 0 };
	Planned p;
	Graph *g = model_read(a, &d, path, &random);
	const bool planned = g && passes_run(g, pass_pipeline, pass_pipeline_length, &none)
		&& planner_run(g, target_load(a, &d, TARGET_DEFAULT), &r, &p) == PLANNED;
	const bool proved = planned && p.found.bound == p.found.time;
	printf("%s: %s, %lld cycles and a bound of %lld\n", path, proved ? "proved" : "not proved",
	       planned ? (long long)p.found.time : -1, planned ? (long long)p.found.bound : -1);
	diag_finish(&d);
	arena_destroy(a);
	return proved;
}

int main(int argc, char **argv)
{
	bool ok = argc > 1;
	for (int i = 1; i < argc; i++)
		ok = is_proved(argv[i]) && ok;
	return ok ? 0 : 1;
}
