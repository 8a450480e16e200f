/*
 * The families of rewrites that make up canonicalize, one file each.
 *
 * A family looks at `op` and the ops above it and rewrites what it knows.
 * It may remove `op` and ops above it, insert ops before and after it, and
 * says true if it did anything; the caller then looks at `op` no more in
 * this sweep. Each rewrite makes the graph smaller, or moves something in
 * the one direction it may move: layout moves sink towards the outputs,
 * element-wise ops rise, constants go right.
 */
#ifndef PASSES_CANON_H
#define PASSES_CANON_H

#include "ir/graph.h"

bool canon_trivial(Graph *g, Op *op);    /* ops that do nothing */
bool canon_moves(Graph *g, Op *op);      /* chains of reshape, transpose, slice, ... */
bool canon_sink(Graph *g, Op *op);       /* moves below element-wise ops */
bool canon_transpose(Graph *g, Op *op);  /* transposes below all else */
bool canon_input(Graph *g, Op *op);      /* transposes into inputs */
bool canon_concat(Graph *g, Op *op);     /* nested concats, and slices joined again */
bool canon_lift(Graph *g, Op *op);       /* softmax and activations above joined moves */
bool canon_arith(Graph *g, Op *op);      /* one spelling for arithmetic with constants */
bool canon_acts(Graph *g, Op *op);       /* activations spelt out in several ops */
bool canon_pads(Graph *g, Op *op);       /* pads with other numbers than zero */
bool canon_pools(Graph *g, Op *op);      /* reductions and windows that are global pools */
bool canon_norms(Graph *g, Op *op);      /* norms by moments of the image itself */
bool canon_products(Graph *g, Op *op);   /* matmul and flatten before linear */

/* Merges equal constants and equal ops, all over the graph. */
bool canon_merge(Graph *g);

/* Puts `move`, which `op` reads, below `op` instead, whose inputs the caller
 * has already set to what they are without it; `op` is typed anew. A move
 * with other readers is copied. */
void canon_put_below(Graph *g, Op *move, Op *op);

/* True if `op` moves whole dims: a transpose, or a reshape of the same rank
 * that only moves dims of 1. `perm` is how. */
bool canon_perm_of(const Op *op, int64_t perm[MAX_RANK]);

/* True if `op` does to its input what a transpose by perm does. */
bool canon_moves_by(const Op *op, Ints perm);

/* canon_put_below for an op that moves by perm: below is a transpose. */
void canon_put_transpose_below(Graph *g, Op *move, Ints perm, Op *op);

/* Makes a slice, pad or resize of what it is of a tensor transposed by perm
 * one of the tensor itself; false if `op` is none of these. */
bool canon_permute_attrs(Graph *g, Op *op, Ints perm);

/* `operand` of an element-wise op of rank n, as it must be for perm to give
 * the original: a constant transposed back, a reshape if only dims of 1
 * move, itself if it has one element; else NULL. Inserts before `at`. */
Op *canon_untranspose(Graph *g, Op *at, Op *operand, const int64_t *perm, int n);

#endif
