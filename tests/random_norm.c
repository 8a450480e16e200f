/* Instance norms, and softmax over channels. */
#include "tests/ops.h"

static Op *image(OpNet *n, int64_t channels)
{
	const int64_t tall = ops_pick(n, 0, 4) ? 20 : 2, wide = ops_pick(n, 0, 4) ? 60 : 2;
	n->choice.integers = false;
	return ops_input(n, channels, ops_pick(n, 1, tall), ops_pick(n, 1, wide));
}

/* Of a few numbers none is large: the mean is of the order of the rest. Scale and
 * bias are bf16 as are weights. */
Op *ops_norm(OpNet *n)
{
	Op *x = image(n, ops_pick(n, 1, ops_pick(n, 0, 3) ? 40 : 200));
	const int64_t channels = x->shape.dim[1];
	Op *op = ops_insert(n, OP_INSTANCE_NORM, x, ops_constant(n, SHAPE(channels), 1),
			    ops_constant(n, SHAPE(channels), 1));
	op->attr.norm.epsilon = 1e-3f;
	n->roundings = 3; /* of what is normed, times the scale, of the result */
	n->scale = 8;
	return ops_done(n, op);
}

/* Spread over -64 to 64, or -128 to 0: all of it exact in bf16. */
static Op *spread(OpNet *n, Op *x)
{
	Tensor *by = tensor_create(n->g->arena, TYPE_F32, SHAPE(1, 1, 1, 1));
	const DevTypes stored = n->choice.stored;
	tensor_f32_data(by)[0] = 32;
	n->choice.stored = DEV_BF16;
	x = ops_done(n, ops_insert(n, OP_MUL, x, graph_constant(n->g, NULL, "by", by)));
	n->choice.stored = stored;
	return x;
}

Op *ops_softmax(OpNet *n)
{
	Op *x = image(n, ops_pick(n, 1, 100));
	if (ops_pick(n, 0, 1))
		x = spread(n, x);
	Op *op = ops_insert(n, OP_SOFTMAX, x);
	op->attr.axis.axis = 1;
	n->roundings = 3; /* of exp, of their sum, of the quotient */
	return ops_done(n, op);
}
