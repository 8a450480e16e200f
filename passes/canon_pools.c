/*
 * Reductions and windows that are global pools:
 *
 *     reduce_mean over all spatial dims                    global_avg_pool
 *     reduce_max over all spatial dims                     global_max_pool
 *     avg_pool, max_pool of the whole unpadded input       global pools
 *
 * A reduction that drops the dims is followed by a reshape. Not done for
 * tensors without spatial dims or that are not floating point.
 */
#include "passes/canon.h"

#include "passes/rewrite.h"

static bool is_spatial(Ints axes, int rank)
{
	if (rank < 3 || axes.n != rank - 2)
		return false;
	for (int i = 0; i < axes.n; i++)
		if (axes.v[i] != i + 2)
			return false;
	return true;
}

static void become_global(Graph *g, Op *op, bool average)
{
	const OpKind kind = average ? OP_GLOBAL_AVG_POOL : OP_GLOBAL_MAX_POOL;
	rewrite_become(op, kind, attrs_default(kind));
	rewrite_infer(g, op);
}

static bool reduction(Graph *g, Op *op)
{
	Op *x = op_in(op, 0);
	const Shape shape = op->shape;
	if (!is_spatial(op->attr.reduce.axes, x->shape.rank) || shape_count(x->shape) < 1)
		return false;
	become_global(g, op, op->kind == OP_REDUCE_MEAN);
	if (!shape_equal(op->shape, shape))
		rewrite_after(g, op, OP_RESHAPE, arena_printf(g->arena, "%s.flat", op->name),
			      (Attrs){ .shape.shape = ints_of_shape(g->arena, shape) });
	return true;
}

static bool window(Graph *g, Op *op)
{
	const poolAttr *a = &op->attr.pool;
	const Shape x = op_in(op, 0)->shape;
	for (int i = 0; i < a->kernel.n; i++)
		if (a->kernel.v[i] != x.dim[i + 2] || op->shape.dim[i + 2] != 1)
			return false;
	if (!ints_all(a->pads, 0) || !ints_all(a->dilations, 1))
		return false;
	become_global(g, op, op->kind == OP_AVG_POOL);
	return true;
}

bool canon_pools(Graph *g, Op *op)
{
	if (!type_is_float(op->dtype))
		return false;
	switch (op->kind) {
	case OP_REDUCE_MEAN:
	case OP_REDUCE_MAX:
		return reduction(g, op);
	case OP_AVG_POOL:
	case OP_MAX_POOL:
		return window(g, op);
	default:
		return false;
	}
}
