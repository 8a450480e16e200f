/*
 * The planner for ttnn: of all ways to call its ops for a graph, the one of least
 * predicted time that fits in L1.
 *
 *     op enc1.c1 conv2d shard=height row_cores=64 act_block_h_override=480 ...
 *
 * The search goes op by op and keeps, for each way in which the tensors that are still
 * needed may lie, the cheapest way there: exact, unless there are more of those than
 * the effort allows, which is told. A plan file fixes fields (those with `!`, or all of
 * them for a score); the ops it does not name are free.
 */
#ifndef PASSES_TTNN_PLAN_H
#define PASSES_TTNN_PLAN_H

#include "ir/ttnn.h"

/* Fields of an op that are fixed. */
typedef struct TtnnPin {
	uint32_t fixed; /* bits of TtnnField */
	TtnnChoice value;
	Loc at;
} TtnnPin;

typedef struct TtnnRequest {
	const char *file, *text; /* a plan file, or NULL */
	size_t size;
	bool whole;              /* all its fields hold */
	const char *pins;        /* lines of one, whose fields all hold, or NULL */
	int effort;              /* thousands of states; 0: the usual */
	int64_t l1;              /* bytes of each core to use; 0: all there is */
} TtnnRequest;

/* The same plan for a target with other costs, but otherwise the same; in `a`. */
TtnnPlan ttnn_price(const TtnnPlan *p, const Target *t, Arena *a);

/* EXIT_OK, or what went wrong, reported. */
enum ExitCode ttnn_plan(const Graph *g, const Target *t, const TtnnRequest *r, TtnnPlan *p);

#endif
