/*
 * Visits the elements of several tensors side by side, each by its own
 * strides.
 *
 *     Walk w;
 *     walk_init(&w, out->shape);
 *     walk_add_broadcast(&w, x->shape);
 *     walk_add_broadcast(&w, y->shape);
 *     walk_start(&w, 1);
 *     do
 *             run(w.dim[w.rank - 1], w.at[0], w.step[0][w.rank - 1], ...);
 *     while (walk_next(&w));
 *
 * The walk merges dims that lie behind each other in all tensors, so that
 * runs are as long as can be.
 */
#ifndef IR_WALK_H
#define IR_WALK_H

#include "ir/tensor.h"

enum { WALK_TENSORS = 4 };

typedef struct Walk {
	int n; /* tensors */
	int rank;
	int64_t dim[MAX_RANK];
	int64_t step[WALK_TENSORS][MAX_RANK]; /* in elements, to the next along a dim */
	int64_t at[WALK_TENSORS];             /* element where the run starts */
	int64_t index[MAX_RANK];
	int inner;                            /* trailing dims that make a run */
} Walk;

/* A walk over that shape, of no tensors yet. It must have elements. */
void walk_init(Walk *w, Shape shape);

/* One more tensor, from element `at` on, with a step per dim. */
void walk_add(Walk *w, int64_t at, const int64_t step[]);

/* One more tensor, broadcast to the walk's shape; for a splat say a scalar. */
void walk_add_broadcast(Walk *w, Shape shape);

/* Merges dims; from here on there are at least `inner` dims, and runs go
 * over the last `inner` of them. */
void walk_start(Walk *w, int inner);

/* To the next run; false if there is none. */
bool walk_next(Walk *w);

#endif
