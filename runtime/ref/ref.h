/*
 * The reference executor: what the right answer is.
 *
 * Plain loops, one op after the other, fp32 storage and double accumulation
 * (integers and doubles keep their own types). Shares no code with the
 * passes or the backend, so that it can judge them.
 */
#ifndef RUNTIME_REF_REF_H
#define RUNTIME_REF_REF_H

#include "ir/graph.h"

typedef struct RefOptions {
	int threads;      /* 0: as many as there are cores */
	int64_t max_macs; /* refuse graphs that need more; 0: no limit */

	/* Called after each op but constants and outputs, in order; may be NULL. The
	 * tensor is valid during the call. */
	void (*seen)(void *context, const Op *op, const Tensor *t);
	void *context;
} RefOptions;

/* Multiply-accumulates of one op and of a whole graph. */
int64_t ref_macs_of(const Op *op);
int64_t ref_macs(const Graph *g);

/* Runs `g`: in[] in the order of its inputs, out[] in the order of its
 * outputs, allocated in `a`. False if an input has the wrong type or shape, a
 * constant is elided, an index is out of range or an integer is divided by
 * zero, which is reported to g->diag, or if max_macs is exceeded (nothing is
 * reported then). The result has the same bits for any number of threads.
 * opt may be NULL: no limit, no calls, all cores. */
bool ref_run(const Graph *g, Arena *a, Tensor *const in[], Tensor *out[],
	     const RefOptions *opt);

#endif
