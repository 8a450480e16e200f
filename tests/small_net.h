/*
 * Random nets of a few steps for tests of the planner, as text, so that one that
 * fails can be looked at.
 *
 *     const char *net = small_net(arena, seed, &(SmallNet){ .least = 1, .most = 4 });
 *
 * Chains, branches, skips, joins and sums; convolutions of both strides, transposed
 * ones, pools, upsampling, global pools with what they are multiplied with; one or two
 * inputs, one to three outputs. The same seed gives the same text.
 */
#ifndef TESTS_SMALL_NET_H
#define TESTS_SMALL_NET_H

#include "ir/graph.h"
#include "ir/rng.h"

typedef struct SmallNet {
	int least, most;  /* ops */
	int rows, cols;   /* of the first tensor, at most */
	int tiles;        /* of 32 channels, at most */
	bool types;       /* results may be of either format */
	bool skip;        /* a chain of ops that keep the shape, and the first added to the last */
} SmallNet;

const char *small_net(Arena *a, uint64_t seed, const SmallNet *o);

/* The graph of a text. */
Graph *small_graph(Arena *a, Diag *d, const char *net);

/* From least to most. */
static inline int any_of(Rng *r, int least, int most)
{
	return least + (int)rng_below(r, most - least + 1);
}

#endif
