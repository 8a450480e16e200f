/*
 * Small random graphs made of what exporters write: convolutions and norms,
 * shuffles, NHWC islands, activations spelt out, heads with layout moves.
 *
 *     Graph *g = random_graph(arena, &diag, seed);
 *
 * The same seed gives the same graph. Its values stay near 1 in size, and no
 * op is discontinuous, so that graphs that mean the same compute the same up
 * to rounding.
 */
#ifndef TESTS_RANDOM_GRAPH_H
#define TESTS_RANDOM_GRAPH_H

#include "ir/graph.h"
#include "ir/rng.h"

Graph *random_graph(Arena *a, Diag *d, uint64_t seed);

/* Any ops on any operands, right but senseless. A smooth one has only f32 and
 * no op that makes much of small differences, so that its values can be
 * compared. */
Graph *wild_graph(Arena *a, Diag *d, uint64_t seed, bool smooth);

/* A graph under construction, for those that are not random. */
typedef struct Builder {
	Graph *g;
	Rng rng;
	int ninputs, noutputs;
} Builder;

Builder builder_create(Arena *a, Diag *d, uint64_t seed);
Op *build_random_input(Builder *b, Shape shape);
void build_output(Builder *b, Op *x);

/* Random elements in lo .. hi. */
Op *build_constant(Builder *b, Shape shape, double lo, double hi);

/* An op on these inputs, typed; its attributes are those of `attr`. */
Op *build(Builder *b, OpKind kind, Attrs attr, int nin, Op *const in[]);
Op *build_unary(Builder *b, OpKind kind, Op *x);
Op *build_binary(Builder *b, OpKind kind, Op *x, Op *y);

Op *build_conv(Builder *b, Op *x, int64_t outputs, int64_t kernel, int64_t stride,
	       int64_t groups, bool bias);
Op *build_conv_transpose(Builder *b, Op *x, int64_t outputs, int64_t groups);
Op *build_batch_norm(Builder *b, Op *x);
Op *build_pool(Builder *b, OpKind kind, Op *x, int64_t kernel, int64_t stride, int64_t pad);
Op *build_reshape(Builder *b, Op *x, Shape shape);

/* build_transpose(b, x, 0, 2, 3, 1): dims in the new order */
#define build_transpose(b, x, ...) \
	build((b), OP_TRANSPOSE, (Attrs){ .perm.perm = INTS((b)->g->arena, __VA_ARGS__) }, 1, \
	      (Op *[]){ x })

#endif
