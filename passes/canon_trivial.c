/*
 * Ops that do nothing: readers read their input instead.
 *
 *     identity x, dropout x                               -> x
 *     reshape, expand, cast, slice, pad, resize, transpose,
 *     select_channels, depth_to_space that change nothing -> x
 *     concat of one                                       -> x
 *     a pool with a window of one, a global pool of one   -> x
 *     a reduction over dims of one                        -> x, or a reshape
 *     x + 0, x - 0, x * 1, x / 1, x ^ 1                   -> x
 *     clip without bounds, leaky_relu with slope 1        -> x
 *     leaky_relu with slope 0, elu with slope 0           -> relu
 *
 * Not done for an op with a fused activation.
 */
#include "passes/canon.h"

#include <math.h>

#include "passes/rewrite.h"

static bool floats_all(Floats list, float value)
{
	for (int i = 0; i < list.n; i++)
		if (list.v[i] != value)
			return false;
	return true;
}

static bool counts_up(Ints list)
{
	for (int i = 0; i < list.n; i++)
		if (list.v[i] != i)
			return false;
	return true;
}

static bool is_neutral(Graph *g, const Op *op, double neutral)
{
	double v;
	return rewrite_scalar(g, op_in(op, 1), &v) && v == neutral;
}

/* For ops whose result has the type of input 0. */
static bool does_nothing(Graph *g, const Op *op)
{
	switch (op->kind) {
	case OP_IDENTITY:
	case OP_DROPOUT:
	case OP_RESHAPE:
	case OP_EXPAND:
	case OP_CAST:
	case OP_GLOBAL_AVG_POOL:
	case OP_GLOBAL_MAX_POOL:
	case OP_REDUCE_MEAN:
	case OP_REDUCE_SUM:
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN:
	case OP_REDUCE_PROD:
		return true;
	case OP_TRANSPOSE:
		return counts_up(op->attr.perm.perm);
	case OP_SELECT_CHANNELS:
		return counts_up(op->attr.channels.channels);
	case OP_SLICE:
		return ints_all(op->attr.slice.steps, 1);
	case OP_PAD:
		return ints_all(op->attr.pad.pads, 0);
	case OP_RESIZE:
		return op->attr.resize.coord != COORD_TF_CROP
			&& floats_all(op->attr.resize.scales, 1);
	case OP_CONCAT:
		return op->nin == 1;
	case OP_DEPTH_TO_SPACE:
	case OP_SPACE_TO_DEPTH:
		return op->attr.block.block == 1;
	case OP_MAX_POOL:
	case OP_AVG_POOL:
		return ints_all(op->attr.pool.kernel, 1) && ints_all(op->attr.pool.strides, 1)
			&& ints_all(op->attr.pool.pads, 0);
	case OP_ADD:
	case OP_SUB:
		return is_neutral(g, op, 0);
	case OP_MUL:
	case OP_DIV:
	case OP_POW:
		return is_neutral(g, op, 1);
	case OP_CLIP:
		return op->attr.clip.min == -INFINITY && op->attr.clip.max == INFINITY;
	case OP_LEAKY_RELU:
		return op->attr.alpha.alpha == 1;
	default:
		return false;
	}
}

/* True if every dim reduced is 1. */
static bool reduces_ones(const Op *op)
{
	switch (op->kind) {
	case OP_REDUCE_MEAN:
	case OP_REDUCE_SUM:
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN:
	case OP_REDUCE_PROD:
		return shape_count(op->shape) == shape_count(op_in(op, 0)->shape)
			&& shape_count(op->shape) > 0;
	default:
		return false;
	}
}

bool canon_trivial(Graph *g, Op *op)
{
	if (!op->nin || op_has_act(op) || op->kind == OP_OUTPUT)
		return false;
	Op *x = op_in(op, 0);
	if (op->dtype == x->dtype && shape_equal(op->shape, x->shape) && does_nothing(g, op)) {
		rewrite_merge(g, x, op);
		return true;
	}
	if (reduces_ones(op)) {
		rewrite_become(op, OP_RESHAPE,
			(Attrs){ .shape.shape = ints_of_shape(g->arena, op->shape) });
		return true;
	}
	if ((op->kind == OP_LEAKY_RELU || op->kind == OP_ELU) && op->attr.alpha.alpha == 0) {
		rewrite_become(op, OP_RELU, attrs_default(OP_RELU));
		return true;
	}
	return false;
}
