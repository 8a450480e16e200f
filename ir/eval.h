/*
 * What an op yields on constants: the arithmetic behind constant folding.
 *
 * Covers the ops exporters put into shape sub-graphs and between a weight and
 * its reader: element-wise ops, casts, reductions, and everything that MOVES.
 * Products with weights, windows and normalisations are not folded.
 */
#ifndef IR_EVAL_H
#define IR_EVAL_H

#include "ir/graph.h"

/* True if op_eval knows the kind. */
bool op_can_eval(OpKind kind);

/* A result of more elements than EVAL_COUNT is computed only if it has at most
 * EVAL_GROWTH times those of the inputs, where a splat counts as one: no short
 * text makes a large constant. */
enum { EVAL_COUNT = 1 << 24, EVAL_GROWTH = 4 };

/* The op's result given its inputs' values, none of them elided, or NULL if
 * it has none (integer division by zero, an index out of range) or is too
 * large. The op must be typed, have a kind op_can_eval knows, and no fused
 * activation. What is made of single values is a splat. */
Tensor *op_eval(Arena *a, const Op *op, Tensor *const in[]);

/* Along a padded dim of n elements, the one in 0..n-1 that stands for element i,
 * which may lie outside. */
int64_t pad_inside(PadMode mode, int64_t i, int64_t n);

#endif
