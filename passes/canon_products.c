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
 * and the reshape sinks on towards the next linear or the output. Not done
 * when the weights are elided or no constants.
 */
#include "passes/canon.h"

#include "passes/rewrite.h"

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

static bool flattens(const Op *op)
{
	const Shape *x = op->kind == OP_RESHAPE ? &op_in(op, 0)->shape : NULL;
	return x && x->rank == 4 && op->shape.rank == 2 && op->shape.dim[0] == x->dim[0]
		&& shape_count(*x) > 0;
}

static bool linear(Graph *g, Op *op)
{
	Op *flat = op_in(op, 0), *w = op_in(op, 1);
	if (!flattens(flat) || !type_is_float(op->dtype))
		return false;
	Tensor *t = w->kind == OP_CONSTANT ? rewrite_value(g, w) : NULL;
	if (!t || shape_count(w->shape) < 1)
		return false;
	const Shape x = op_in(flat, 0)->shape, y = op->shape;
	rewrite_constant(g, op, 1, arena_printf(g->arena, "%s.weights", op->name),
		rewrite_reshaped(g, t, SHAPE(w->shape.dim[0], x.dim[1], x.dim[2], x.dim[3])));
	op_set_input(op, 0, op_in(flat, 0));
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
