/*
 * The small steps passes are made of.
 *
 * All of them keep the graph typed and its use-lists whole, so that a pass
 * may stop after any step:
 *
 *     rewrite_merge(g, conv, relu);    // readers of relu read conv, which
 *                                      // lists "relu" as absorbed
 */
#ifndef PASSES_REWRITE_H
#define PASSES_REWRITE_H

#include "ir/graph.h"

/* Readers of `gone` read `keep` from now on; `keep` lists it as absorbed and
 * inherits its hints; `gone` and what only it read are removed. A pass that
 * walks the graph forwards may do this to the op it stands on. */
void rewrite_merge(Graph *g, Op *keep, Op *gone);

/* A typed op before `at` with one input and the attributes given. */
Op *rewrite_insert(Graph *g, Op *at, OpKind kind, const char *name, Op *in, Attrs attr);

/* A typed op that reads `op` and stands directly after it; all others that
 * read `op` read this one instead. */
Op *rewrite_after(Graph *g, Op *op, OpKind kind, const char *name, Attrs attr);

/* If nothing reads `old` any more: `op` lists it, and what only it read, as
 * absorbed, and they are removed. Constants are not listed. */
void rewrite_take_in(Graph *g, Op *op, Op *old);

/* `heir` takes the name, node and absorbed names of `old`, which nothing
 * reads any more and which is removed, and takes in what only it read. */
void rewrite_succeed(Graph *g, Op *heir, Op *old);

/* A reshape before `at`, or `in` itself if it has that shape. */
Op *rewrite_reshape(Graph *g, Op *at, const char *name, Op *in, Shape shape);

/* Makes `op` an op of another kind; formats chosen for what it was are
 * forgotten. Inputs and type are the caller's to set. */
void rewrite_become(Op *op, OpKind kind, Attrs attr);

/* Sweeps until one changes nothing; true if any did. There is a bound, far
 * above what models need, for those made to need more. */
bool rewrite_repeat(Graph *g, bool (*sweep)(Graph *g));

/* Types `op` anew after its inputs or attributes changed. Dies if it has no
 * type: the pass that changed it was wrong. */
void rewrite_infer(Graph *g, Op *op);

/* The value of `op` if it is a constant, else NULL. If it is elided, says
 * once per graph which data was missed and how to supply it. */
Tensor *rewrite_value(Graph *g, const Op *op);

/* Tensor `t` under another shape; from then on nobody may write to `t`. */
Tensor *rewrite_reshaped(Graph *g, Tensor *t, Shape shape);

/* Tensor `t` with dim i of the result being dim perm[i]. */
Tensor *rewrite_transposed(Graph *g, Tensor *t, const int64_t *perm);

/* Replaces constant input `i` of `op`: in place if `op` alone reads it, else
 * by a constant of its own called `name`. */
void rewrite_constant(Graph *g, Op *op, int i, const char *name, Tensor *value);

/* The value of constant input `i`, as a tensor that `op` alone uses and that
 * may be written to, or NULL as for rewrite_value. */
Tensor *rewrite_writable(Graph *g, Op *op, int i, const char *name);

/* True if `op` is a floating-point constant whose elements are all `*v`. */
bool rewrite_scalar(Graph *g, const Op *op, double *v);

/* The activation an op of trait ACT stands for. */
Act act_of(const Op *op);

/* True if along each dim every window of `pool`, padded by `pads`, has a tap
 * inside the unpadded input `in`. */
bool pool_windows_reach(const Op *pool, Shape in, Ints pads);

/* True if no element of the result can be below zero. */
bool rewrite_not_negative(const Op *op);

#endif
