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
#include "ir/plan.h"
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
void network_free(Network *n);

/* One f32 input, one output, both the caller's. False: `e` says why. */
bool network_run(const Network *n, const char *device, const float *in, float *out,
		 TesseraError *e);

int64_t network_input_count(const Network *n);
int64_t network_output_count(const Network *n);

/* What the plain executor makes of the same graph. */
void network_ref(const Network *n, const float *in, float *out);

#endif
