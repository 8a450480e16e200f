#include "tests/ops.h"

#include <assert.h>
#include <math.h>

int64_t ops_pick(OpNet *n, int64_t least, int64_t most)
{
	const int64_t count = most - least + 1;
	return least + rng_below(&n->rng, count);
}

Op *ops_input(OpNet *n, int64_t channels, int64_t height, int64_t width)
{
	Op *x = graph_insert(n->g, NULL, OP_INPUT, "x", 0, NULL);
	x->dtype = TYPE_F32;
	x->shape = SHAPE(n->choice.batch, channels, height, width);
	const bool ok = op_infer(n->g, x);
	assert(ok);
	(void)ok;
	return x;
}

Op *ops_constant(OpNet *n, Shape shape, int64_t fan)
{
	Tensor *t = tensor_create(n->g->arena, TYPE_F32, shape);
	float *v = tensor_f32_data(t);
	for (int64_t i = 0; i < tensor_count(t); i++) {
		if (n->choice.integers)
			v[i] = ops_pick(n, 0, fan / 2) ? 0 : (float)ops_pick(n, -1, 1);
		else
			v[i] = (float)ops_pick(n, -127, 127) / 64;
	}
	return graph_constant(n->g, NULL, "w", t);
}

static void hint(OpNet *n, Op *op, const char *key, const char *value)
{
	if (!op->hints)
		op->hints = arena_array(n->g->arena, Hint, 4);
	op->hints[op->nhints++] = (Hint){ key, value };
}

Op *ops_done(OpNet *n, Op *op)
{
	const bool ok = op_infer(n->g, op);
	assert(ok);
	(void)ok;
	hint(n, op, "stored", dev_type_name(n->choice.stored));
	if (op_is(op, WEIGHTS))
		hint(n, op, "weights", dev_type_name(n->choice.weights));
	if (op_is(op, WEIGHTS) && n->choice.fidelity)
		hint(n, op, "fidelity", n->choice.fidelity);
	return op;
}

static Op *window(OpNet *n, Op *op, int64_t stride, int64_t pad)
{
	Arena *a = n->g->arena;
	if (op->kind == OP_MAX_POOL) {
		op->attr.pool.kernel = INTS(a, 2, 2);
		op->attr.pool.strides = INTS(a, stride, stride);
		op->attr.pool.dilations = INTS(a, 1, 1);
		op->attr.pool.pads = INTS(a, 0, 0, 0, 0);
	} else {
		op->attr.conv.strides = INTS(a, stride, stride);
		op->attr.conv.dilations = INTS(a, 1, 1);
		op->attr.conv.pads = INTS(a, pad, pad, pad, pad);
	}
	return ops_done(n, op);
}

/* What the first device library had. */
Op *ops_plain(OpNet *n)
{
	const int64_t cin = ops_pick(n, 1, 70), cout = ops_pick(n, 1, 140);
	const int64_t k = 2 * ops_pick(n, 0, 2) + 1;
	const int64_t stride = n->choice.stored == DEV_BF16 ? 2 : 1; /* of a pool */
	Op *x = ops_input(n, cin, ops_pick(n, 2, 12), ops_pick(n, 2, 70));
	switch (ops_pick(n, 0, 4)) {
	case 0:
		return window(n, ops_insert(n, OP_MAX_POOL, x), stride, 0);
	case 1:
		n->scale = 8 * sqrt((double)cin);
		return window(n, ops_insert(n, OP_CONV_TRANSPOSE, x,
					    ops_constant(n, SHAPE(cin, cout, 2, 2), cin)), 2, 0);
	case 2:
		return ops_done(n, ops_insert(n, n->choice.integers ? OP_RELU : OP_SIGMOID, x));
	default:
		n->scale = 8 * sqrt((double)(cin * k * k));
		return window(n, ops_insert(n, OP_CONV, x,
					    ops_constant(n, SHAPE(cout, cin, k, k), cin * k * k),
					    ops_constant(n, SHAPE(cout), 4)), 1, k / 2);
	}
}
