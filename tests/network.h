/*
 * Small networks on devices: from IR text to a package, and to results.
 *
 *     Network *n = network_compile(a, &d, text, cores);
 *     network_run(n, "emu", input, output);
 *     free by the arena and network_free
 */
#ifndef TESTS_NETWORK_H
#define TESTS_NETWORK_H

#include "backend/emit.h"
#include "ir/graph.h"
#include "passes/plan.h"
#include "runtime/host/tessera_rt.h"

typedef struct Network {
	Graph *g;
	const Target *target;
	Plan *plan;
	Program *program;
	Emission emission;
	TesseraPackage *opened;
} Network;

/* With all passes run; `cores` 0 leaves their number to the plan. NULL if that
 * fails, which `d` was told. */
Network *network_compile(Arena *a, Diag *d, const char *text, int cores);
Network *network_of(Graph *g, int cores);
Network *network_planned(Graph *g, const PlanOptions *options);
Network *network_on(Graph *g, const Target *target, const PlanOptions *options);

/* Of a plan that has addresses, of the graph after its passes. */
Network *network_of_plan(Graph *g, Plan *plan);

void network_free(Network *n);

/* f32 inputs and outputs, at most 16 each, all inputs one behind the other, all
 * outputs likewise, the caller's. False: `e` says why. */
bool network_run(const Network *n, const char *device, const float *in, float *out,
		 TesseraError *e);

bool network_run_loaded(const Network *n, TesseraProgram *p, const float *in, float *out,
			TesseraError *e);

/* Elements of all inputs, of all outputs. */
int64_t network_input_count(const Network *n);
int64_t network_output_count(const Network *n);

/* What the plain executor makes of the same graph. */
void network_ref(const Network *n, const float *in, float *out);

#endif
