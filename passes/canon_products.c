/*
 * Products with weights, in the form the device has:
 *
 *     matmul x, w        x of rank 2, w constant      linear x, transposed w
 *     linear of a flattened [N,C,H,W]                 conv with an H x W window
 *
 *     %f = reshape %x {shape = [1,288]} : f32[1,288]     // %x : f32[1,8,6,6]
 *     %y = linear %f, %w, %b : f32[1,10]
 * becomes
 *     %y = conv %x, %w', %b {...} : f32[1,10,1,1]
 *     %y.flat = reshape %y {shape = [1,10]} : f32[1,10]
 *
 * and the reshape sinks on towards the next linear or the output. If %x was
 * transposed first (Keras flattens NHWC), the columns of %w are reordered.
 * Not done when the weights are elided or no constants.
 */
#include "passes/canon.h"

#include <string.h>

#include "passes/rewrite.h"
#include "passes/strided.h"

enum { FURTHEST = 8 };

static bool matmul(Graph *g, Op *op)
{
	const int64_t swap[] = { 1, 0 };
	Op *w = op_in(op, 1);
	if (op_in(op, 0)->shape.rank != 2 || w->shape.rank != 2 || w->kind != OP_CONSTANT
	    || shape_count(w->shape) < 1)
		return false;
	Tensor *t = rewrite_value(g, w);
	if (!t)
		return false;
	rewrite_constant(g, op, 1, arena_printf(g->arena, "%s.weights", op->name),
			 rewrite_transposed(g, t, swap));
	rewrite_become(op, OP_LINEAR, attrs_default(OP_LINEAR));
	rewrite_infer(g, op);
	return true;
}

/* True if the walk, to a shape [N,K], keeps the elements of a sample in it. */
static bool keeps_samples(const Strided *walk, int64_t k)
{
	Strided s = *walk;
	int from[MAX_RANK + 1];
	if (!strided_align(&s, from))
		return false;
	return from[1] == 0 || (from[1] == 1 && s.stride[0] == k);
}

/* The tensor of rank 4 that `op`, of shape [N,K], flattens; the walk is in
 * *s. NULL if there is none. */
static Op *flattened(Op *op, Strided *s)
{
	Op *chain[FURTHEST], *found = NULL, *at = op;
	const Shape y = op->shape;
	if (shape_count(y) < 1)
		return NULL;
	for (int n = 0; n < FURTHEST; n++) {
		if (at->kind != OP_RESHAPE && at->kind != OP_TRANSPOSE)
			break;
		chain[n] = at;
		at = op_in(at, 0);
		Strided walk = strided_identity(at->shape);
		bool said = at->shape.rank == 4 && at->shape.dim[0] == y.dim[0];
		for (int i = n; i >= 0 && said; i--)
			said = strided_apply(&walk, chain[i]);
		if (said && keeps_samples(&walk, y.dim[1])) {
			found = at;
			*s = walk;
		}
	}
	return found;
}

/* Columns of [O,K] put where the walk takes their elements from. */
static Tensor *unflattened(Graph *g, Tensor *t, const Strided *walk, Shape weights)
{
	const size_t bytes = type_info[t->dtype].bytes;
	const int64_t k = t->shape.dim[1];
	Strided s = *walk;
	int from[MAX_RANK + 1];
	strided_align(&s, from);
	if (t->splat || (s.n - from[1] == 1 && s.stride[from[1]] == 1))
		return rewrite_reshaped(g, t, weights);
	Tensor *out = tensor_create(g->arena, t->dtype, weights);
	for (int64_t column = 0; column < k; column++) {
		int64_t rest = column, to = 0;
		for (int i = s.n - 1; i >= from[1]; i--) {
			to += rest % s.dim[i] * s.stride[i];
			rest /= s.dim[i];
		}
		for (int64_t o = 0; o < t->shape.dim[0]; o++)
			memcpy((char *)(uintptr_t)out->data + (size_t)(o * k + to) * bytes,
			       (const char *)t->data + (size_t)(o * k + column) * bytes, bytes);
	}
	return out;
}

static bool linear(Graph *g, Op *op)
{
	Op *flat = op_in(op, 0), *w = op_in(op, 1);
	Strided walk;
	Op *x = type_is_float(op->dtype) && w->kind == OP_CONSTANT ? flattened(flat, &walk) : NULL;
	Tensor *t = x && shape_count(w->shape) > 0 ? rewrite_value(g, w) : NULL;
	if (!t)
		return false;
	const Shape y = op->shape, s = x->shape;
	rewrite_constant(g, op, 1, arena_printf(g->arena, "%s.weights", op->name),
		unflattened(g, t, &walk, SHAPE(w->shape.dim[0], s.dim[1], s.dim[2], s.dim[3])));
	op_set_input(op, 0, x);
	rewrite_take_in(g, op, flat);
	rewrite_become(op, OP_CONV, attrs_default(OP_CONV));
	op->attr.conv.strides = op->attr.conv.dilations = ints_fill(g->arena, 1, 2);
	op->attr.conv.pads = ints_fill(g->arena, 0, 4);
	rewrite_infer(g, op);
	rewrite_after(g, op, OP_RESHAPE, arena_printf(g->arena, "%s.flat", op->name),
		      (Attrs){ .shape.shape = ints_of_shape(g->arena, y) });
	return true;
}

bool canon_products(Graph *g, Op *op)
{
	return op->kind == OP_MATMUL ? matmul(g, op) : op->kind == OP_LINEAR && linear(g, op);
}
