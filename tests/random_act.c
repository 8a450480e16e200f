/*
 * Random activations: after a conv, after a max pool, global or not, or alone, of one tensor or of
 * a concat of two. Whole numbers go through those that give multiples of 1/64. The sums of
 * a conv reach its act unrounded, so only the result counts.
 */
#include "tests/ops.h"

#include <math.h>

/* Attributes that `kind` has, at random; of whole numbers such that results are exact
 * in bf16. */
static Attrs attributes(OpNet *n, OpKind kind)
{
	const bool exact = n->choice.integers;
	Attrs a = attrs_default(kind);
	switch (kind) {
	case OP_LEAKY_RELU:
	case OP_ELU:
		a.alpha.alpha = exact ? 0.5f : (float)ops_pick(n, -64, 64) / 64;
		break;
	case OP_CLIP:
		a.clip.min = ops_pick(n, 0, 3) ? (float)ops_pick(n, -3, 0) : -INFINITY;
		a.clip.max = ops_pick(n, 0, 3) ? (float)ops_pick(n, 1, 6) : INFINITY;
		break;
	case OP_HARD_SIGMOID:
		a.alpha_beta.alpha = exact ? 0.125f : (float)ops_pick(n, 1, 64) / 64;
		a.alpha_beta.beta = exact ? 0.5f : (float)ops_pick(n, -64, 64) / 64;
		break;
	default:
		break;
	}
	return a;
}

static OpKind any_act(OpNet *n)
{
	static const OpKind exact[] = { OP_RELU, OP_LEAKY_RELU, OP_CLIP, OP_HARD_SIGMOID };
	OpKind all[OP_COUNT];
	int count = 0;
	for (OpKind kind = 0; kind < OP_COUNT; kind++)
		if ((op_info[kind].traits & (ACT | DEVICE)) == (ACT | DEVICE))
			all[count++] = kind;
	return n->choice.integers ? exact[ops_pick(n, 0, 3)] : all[ops_pick(n, 0, count - 1)];
}

static Op *conv(OpNet *n, Op *x)
{
	const int64_t cin = x->shape.dim[1], cout = ops_pick(n, 1, 140);
	const int64_t k = 2 * ops_pick(n, 0, 1) + 1;
	/* The matrix unit aligns products below 4 to 12 bits, two times: six standard
	 * deviations of that, in steps of 2^-8. */
	n->scale = sqrt(2 * (double)(cin * k * k));
	Op *y = ops_insert(n, OP_CONV, x, ops_constant(n, SHAPE(cout, cin, k, k), cin * k * k),
			   ops_constant(n, SHAPE(cout), 4));
	y->attr.conv.strides = INTS(n->g->arena, 1, 1);
	y->attr.conv.dilations = INTS(n->g->arena, 1, 1);
	y->attr.conv.pads = INTS(n->g->arena, k / 2, k / 2, k / 2, k / 2);
	return ops_done(n, y);
}

static Op *pool(OpNet *n, Op *x)
{
	Op *y = ops_insert(n, OP_MAX_POOL, x);
	y->attr.pool.kernel = INTS(n->g->arena, 2, 2);
	y->attr.pool.strides = INTS(n->g->arena, 1, 1);
	y->attr.pool.dilations = INTS(n->g->arena, 1, 1);
	y->attr.pool.pads = INTS(n->g->arena, 0, 0, 0, 0);
	return ops_done(n, y);
}

Op *ops_act(OpNet *n)
{
	const int64_t height = ops_pick(n, 2, 12), width = ops_pick(n, 2, 70);
	Op *x = ops_input(n, ops_pick(n, 1, 70), height, width);
	switch (ops_pick(n, 0, 4)) {
	case 0:
		x = pool(n, x);
		break;
	case 1:
		x = ops_insert(n, OP_CONCAT, x, ops_input(n, ops_pick(n, 1, 40), height, width));
		x->attr.axis.axis = 1;
		x = ops_done(n, x);
		break;
	case 2:
		x = conv(n, x);
		break;
	case 3:
		x = ops_done(n, ops_insert(n, OP_GLOBAL_MAX_POOL, x));
		break;
	default:
		break;
	}
	const OpKind kind = any_act(n);
	Op *y = ops_insert(n, kind, x);
	y->attr = attributes(n, kind);
	return ops_done(n, y);
}
