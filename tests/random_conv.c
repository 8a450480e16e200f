/* Convolutions of every kind, and what becomes one. */
#include <math.h>

#include "tests/ops.h"

/* Mostly small, now and then a count that needs several pages or parts. */
static int64_t channels(OpNet *n)
{
	switch (ops_pick(n, 0, 11)) {
	case 10:
		return ops_pick(n, 0, 3) ? 32 : ops_pick(n, 4000, 4096);
	case 0:
		return 16 * ops_pick(n, 1, 8);
	case 1:
		return 1;
	case 2:
		return ops_pick(n, 100, 300);
	default:
		return ops_pick(n, 1, 70);
	}
}

/* Groups, and channels that they divide. */
static int64_t groups(OpNet *n, int64_t *cin, int64_t *cout)
{
	static const int64_t of[] = { 2, 3, 4, 5, 8, 12 };
	if (ops_pick(n, 0, 2))
		return 1;
	const int64_t g = of[ops_pick(n, 0, 5)];
	const int64_t each = ops_pick(n, 0, 2) ? ops_pick(n, 1, 20) : 16 * ops_pick(n, 1, 2);
	*cin = g * each;
	*cout = g * (ops_pick(n, 0, 1) ? ops_pick(n, 1, 20) : 32);
	return g;
}

static void kernel_of(OpNet *n, int64_t kernel[2], int64_t dilation[2], int64_t stride[2])
{
	const bool same = ops_pick(n, 0, 1);
	for (int i = 0; i < 2; i++) {
		kernel[i] = ops_pick(n, 0, 2) ? ops_pick(n, 1, 3) : ops_pick(n, 1, 7);
		dilation[i] = ops_pick(n, 0, 2) ? 1 : ops_pick(n, 1, 5);
		stride[i] = ops_pick(n, 0, 1) ? 1 : ops_pick(n, 1, 4);
		if (i && same) {
			kernel[1] = kernel[0];
			dilation[1] = dilation[0];
			stride[1] = stride[0];
		}
	}
}

/* Sums of `fan` products of numbers below 2. */
static void sums(OpNet *n, int64_t fan)
{
	n->scale = 8 * sqrt((double)fan);
}

Op *ops_conv(OpNet *n)
{
	int64_t cin = channels(n), cout = channels(n), kernel[2], dilation[2], stride[2], pad[4],
		size[2];
	const int64_t g = groups(n, &cin, &cout);
	kernel_of(n, kernel, dilation, stride);
	for (int i = 0; i < 2; i++) {
		const int64_t reach = (kernel[i] - 1) * dilation[i] + 1;
		for (int side = 0; side < 2; side++)
			pad[i + 2 * side] =
				ops_pick(n, 0, 3) ? ops_pick(n, 0, reach / 2) : ops_pick(n, 0, 20);
		size[i] = ops_pick(n, 0, 4) ? ops_pick(n, 1, i ? 70 : 14) : 1;
		if (size[i] + pad[i] + pad[i + 2] < reach)
			size[i] = reach;
	}
	Op *x = ops_input(n, cin, size[0], size[1]);
	Op *w = ops_constant(n, SHAPE(cout, cin / g, kernel[0], kernel[1]),
			     cin / g * kernel[0] * kernel[1]);
	Op *op = ops_pick(n, 0, 1) ? ops_insert(n, OP_CONV, x, w, ops_constant(n, SHAPE(cout), 4))
				   : ops_insert(n, OP_CONV, x, w);
	convAttr *a = &op->attr.conv;
	a->strides = INTS(n->g->arena, stride[0], stride[1]);
	a->dilations = INTS(n->g->arena, dilation[0], dilation[1]);
	a->pads = INTS(n->g->arena, pad[0], pad[1], pad[2], pad[3]);
	a->groups = g;
	sums(n, cin / g * kernel[0] * kernel[1]);
	return ops_done(n, op);
}

Op *ops_deconv(OpNet *n)
{
	int64_t cin = channels(n), cout = channels(n), kernel[2], dilation[2], stride[2], pad[4],
		more[2];
	int64_t size[2];
	const int64_t g = groups(n, &cin, &cout);
	kernel_of(n, kernel, dilation, stride);
	for (int i = 0; i < 2; i++) {
		const int64_t reach = (kernel[i] - 1) * dilation[i] + 1;
		size[i] = ops_pick(n, 1, i ? 30 : 8);
		more[i] = ops_pick(n, 0, 1) ? 0 : ops_pick(n, 0, stride[i] - 1);
		const int64_t whole = (size[i] - 1) * stride[i] + reach + more[i];
		pad[i] = ops_pick(n, 0, reach / 2);
		pad[i + 2] = ops_pick(n, 0, reach / 2);
		if (pad[i] + pad[i + 2] >= whole)
			pad[i] = pad[i + 2] = 0;
	}
	Op *x = ops_input(n, cin, size[0], size[1]);
	Op *w = ops_constant(n, SHAPE(cin, cout / g, kernel[0], kernel[1]),
			     cin / g * kernel[0] * kernel[1]);
	Op *op = ops_pick(n, 0, 1)
			 ? ops_insert(n, OP_CONV_TRANSPOSE, x, w, ops_constant(n, SHAPE(cout), 4))
			 : ops_insert(n, OP_CONV_TRANSPOSE, x, w);
	convAttr *a = &op->attr.conv;
	a->strides = INTS(n->g->arena, stride[0], stride[1]);
	a->dilations = INTS(n->g->arena, dilation[0], dilation[1]);
	a->pads = INTS(n->g->arena, pad[0], pad[1], pad[2], pad[3]);
	a->output_padding = INTS(n->g->arena, more[0], more[1]);
	a->groups = g;
	sums(n, cin / g * kernel[0] * kernel[1]);
	if (stride[1] > 1)
		n->roundings = 2;
	return ops_done(n, op);
}

/* Behind the move, so that it is not left to the host. */
static Op *pool(OpNet *n, Op *x)
{
	Op *op = ops_insert(n, OP_MAX_POOL, x);
	op->attr.pool.kernel = INTS(n->g->arena, 1, x->shape.dim[3] > 1 ? 2 : 1);
	op->attr.pool.strides = INTS(n->g->arena, 1, 1);
	op->attr.pool.dilations = INTS(n->g->arena, 1, 1);
	op->attr.pool.pads = INTS(n->g->arena, 0, 0, 0, 0);
	return ops_done(n, op);
}

Op *ops_channels(OpNet *n)
{
	const int64_t block = ops_pick(n, 2, 4), count = ops_pick(n, 1, 40);
	Op *op;
	n->roundings = 3;
	switch (ops_pick(n, 0, 2)) {
	case 0:
		op = ops_insert(
			n, OP_DEPTH_TO_SPACE,
			ops_input(n, count * block * block, ops_pick(n, 1, 8), ops_pick(n, 1, 20)));
		op->attr.block.block = block;
		op->attr.block.order = ops_pick(n, 0, 1) ? ORDER_DCR : ORDER_CRD;
		break;
	case 1:
		op = ops_insert(
			n, OP_SPACE_TO_DEPTH,
			ops_input(n, count, block * ops_pick(n, 1, 4), block * ops_pick(n, 1, 20)));
		op->attr.block.block = block;
		break;
	default: {
		const int64_t from = ops_pick(n, 1, 90);
		int64_t *pick = arena_array(n->g->arena, int64_t, count);
		for (int64_t i = 0; i < count; i++)
			pick[i] = ops_pick(n, 0, from - 1);
		op = ops_insert(n, OP_SELECT_CHANNELS,
				ops_input(n, from, ops_pick(n, 1, 8), ops_pick(n, 1, 60)));
		op->attr.channels.channels = (Ints){ (int)count, pick };
	}
	}
	return pool(n, ops_done(n, op));
}
