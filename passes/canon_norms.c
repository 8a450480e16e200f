/*
 * Batch norms by what the image itself has, which are instance norms:
 *
 *     %m = global_avg_pool %x
 *     %c = sub %x, %m
 *     %v = global_avg_pool (mul %c, %c)
 *     batch_norm %x, scale, bias, %m, %v                  instance_norm %x, scale, bias
 *
 * as NNEF spells them, %m and %v through reshapes to one dim. Not done where a step of
 * it has an activation, nor for scale and bias that are not constants.
 */
#include "passes/canon.h"

#include "passes/rewrite.h"

static const Op *unshaped(const Op *op) { return op->kind == OP_RESHAPE ? op_in(op, 0) : op; }

static const Op *mean_of(const Op *op)
{
	return op->kind == OP_GLOBAL_AVG_POOL && !op_has_act(op) ? op_in(op, 0) : NULL;
}

/* Is it the mean of squares of x less m? */
static bool is_variance(const Op *op, const Op *x, const Op *m)
{
	const Op *square = mean_of(op);
	if (!square || square->kind != OP_MUL || op_has_act(square)
	    || op_in(square, 0) != op_in(square, 1))
		return false;
	const Op *centred = op_in(square, 0);
	return centred->kind == OP_SUB && !op_has_act(centred) && op_in(centred, 0) == x
		&& op_in(centred, 1) == m;
}

bool canon_norms(Graph *g, Op *op)
{
	if (op->kind != OP_BATCH_NORM || op->shape.rank != 4 || op->shape.dim[0] != 1
	    || op_in(op, 1)->kind != OP_CONSTANT || op_in(op, 2)->kind != OP_CONSTANT)
		return false;
	const Op *x = op_in(op, 0), *m = unshaped(op_in(op, 3)), *v = unshaped(op_in(op, 4));
	if (mean_of(m) != x || !is_variance(v, x, m))
		return false;
	Op *in[] = { op_in(op, 0), op_in(op, 1), op_in(op, 2) };
	Op *norm = graph_insert(g, op, OP_INSTANCE_NORM, op->name, 3, in);
	norm->attr.norm.epsilon = op->attr.norm.epsilon;
	norm->act = op->act;
	rewrite_infer(g, norm);
	op_replace_uses(op, norm);
	rewrite_succeed(g, norm, op);
	return true;
}
