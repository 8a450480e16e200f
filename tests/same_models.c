/*
 * Whole models as `tessera compile` plans them: what the emulator and Tenstorrent's
 * simulator leave in memory, byte by byte.
 *
 *     same_models either verify MODEL --input IN.npy
 *     same_models bfp8_b verify MODEL --input 1x3x64x96 --random-weights=1 --random-input=1
 *
 * The plan is the planner's, with --objective=greedy by local rules. With bfp8_b every
 * tensor that may be is pinned to it. TESSERA_TTSIM names the simulator's library;
 * without it there is nothing to compare with, and the test is skipped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/inputs.h"
#include "passes/pass.h"
#include "passes/planner.h"
#include "tests/model_plan.h"
#include "tests/network.h"
#include "tests/same.h"

enum { SKIPPED = 77 };

static bool compare(Network *n, const char *library, Tensor *const in[])
{
	const int64_t count = network_input_count(n);
	float *all = xmalloc((size_t)count * sizeof(float)), *at = all;
	for (size_t i = 0; i < tessera_input_count(n->opened); i++)
		for (int64_t k = 0; k < tensor_count(in[i]); k++)
			*at++ = (float)tensor_f64(in[i], k);
	const bool ok = same_memory(n, arena_printf(n->g->arena, "ttsim:%s", library), all,
				    n->g->name);
	free(all);
	network_free(n);
	return ok;
}

static bool same(Arena *a, Diag *d, const Options *o, bool blocks, const char *library)
{
	Inputs inputs = { 0 };
	if (inputs_read(&inputs, a, d, o) != EXIT_OK)
		return false;
	Graph *g = model_read(a, d, o->model, &inputs.model);
	Tensor **in = g ? inputs_data(g, a, &inputs) : NULL;
	if (!in || !passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		return false;
	const Objective objective = option_given(o, OPT_OBJECTIVE) ? OBJECTIVE_GREEDY
								   : OBJECTIVE_TIME;
	Plan *plan = model_plan(g, objective, blocks);
	Network *n = plan ? network_of_plan(g, plan) : NULL;
	return n && compare(n, library, in);
}

int main(int argc, char **argv)
{
	const char *library = getenv("TESSERA_TTSIM");
	if (!library || !*library) {
		puts("TESSERA_TTSIM is not set, skipped");
		return SKIPPED;
	}
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	Options o;
	const bool ok = argc > 2 && options_parse(&o, a, &d, argc - 1, argv + 1) &&
		same(a, &d, &o, strcmp(argv[1], "bfp8_b") == 0, library);
	diag_finish(&d);
	arena_destroy(a);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
