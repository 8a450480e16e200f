/*
 * fuse_activation: fold an activation into the op before it.
 *
 *     %c = conv %x, %w {...}
 *     %r = relu %c
 * becomes
 *     %c = conv %x, %w {absorbed = ["r"], act = relu, ...}
 *
 * An activation that changes nothing after the one already there (a relu
 * after a sigmoid, say) goes the same way.
 *
 * Not done when the op before has another reader, which needs the value
 * without the activation, already carries another activation, cannot carry
 * one (see TAKES_ACT in ops.def), or does not compute in floating point.
 */
#include "passes/pass.h"

#include <math.h>

#include "passes/rewrite.h"

/* The interval the results of `act` lie in. */
static void range_of(Act act, float *least, float *most)
{
	*least = -INFINITY;
	*most = INFINITY;
	switch (act.kind) {
	case OP_RELU:
		*least = 0;
		break;
	case OP_SIGMOID:
	case OP_HARD_SIGMOID:
		*least = 0;
		*most = 1;
		break;
	case OP_TANH:
		*least = -1;
		*most = 1;
		break;
	case OP_CLIP:
		*most = act.param[0];
		*least = act.param[1];
		break;
	default:
		break;
	}
}

/* True if `next` maps every result of `first` to itself. */
static bool changes_nothing(Act next, Act first)
{
	float least, most, low, high;
	range_of(first, &least, &most);
	if (next.kind == OP_LEAKY_RELU || next.kind == OP_ELU)
		return least >= 0;
	if (next.kind != OP_RELU && next.kind != OP_CLIP)
		return false;
	range_of(next, &low, &high);
	return low <= least && most <= high;
}

bool pass_fuse_activation(Graph *g)
{
	bool changed = false;

	for_each_op(op, g) {
		if (!op_is(op, ACT) || !type_is_float(op->dtype))
			continue;
		Op *before = op_in(op, 0);
		if (!op_is(before, TAKES_ACT) || !op_has_one_use(before))
			continue;
		if (!op_has_act(before))
			before->act = act_of(op);
		else if (!changes_nothing(act_of(op), before->act))
			continue;
		rewrite_merge(g, before, op);
		changed = true;
	}
	return changed;
}
