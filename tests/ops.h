/*
 * Random graphs of one op, or the few it takes to get there, through passes,
 * plan, lowering and emission onto a device, against the plain executor.
 *
 * Values are whole numbers (then results must be equal) or multiples of 1/64
 * below 2, which bf16 and bfp8_b both hold exactly; so what differs is what the
 * device rounds: `roundings` times, each by at most half a step of the format of
 * the largest magnitude about.
 */
#ifndef TESTS_OPS_H
#define TESTS_OPS_H

#include "ir/graph.h"
#include "ir/rng.h"
#include "passes/plan.h"

typedef struct OpChoice {
	DevTypes stored, weights; /* of all tensors between the edges; of weights */
	const char *fidelity;     /* of weights, or NULL: what is the planner's to say */
	bool wide;                /* the result is f32 where it may be */
	bool integers;
	int batch;
	PlanOptions plan;
} OpChoice;

typedef struct OpNet {
	Graph *g;
	Rng rng;
	OpChoice choice;
	int roundings; /* on the way to the output, that of the output included;
	                * 0: it is exact */
	double scale;  /* greatest magnitude of a value that is rounded on the way, if it may
	                * exceed that of the output */
} OpNet;

typedef Op *OpFamily(OpNet *n);

#define FAMILY(name, what) OpFamily ops_##name;
#include "tests/ops_families.def"

int64_t ops_pick(OpNet *n, int64_t least, int64_t most);

/* One more input, [batch, channels, height, width]. */
Op *ops_input(OpNet *n, int64_t channels, int64_t height, int64_t width);

/* Constants: of integer nets -1, 0 or 1, about two of `fan` other than 0; else
 * multiples of 1/64 below 2. */
Op *ops_constant(OpNet *n, Shape shape, int64_t fan);

/* An op on these inputs with no attributes set yet; typed, with its hints, when
 * they are. */
#define ops_insert(n, kind, ...)                                                                   \
	graph_insert((n)->g, NULL, (kind), "y", sizeof((Op *[]){ __VA_ARGS__ }) / sizeof(Op *),    \
		     (Op *[]){ __VA_ARGS__ })
Op *ops_done(OpNet *n, Op *op);

#endif
