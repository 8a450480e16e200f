/*
 * Pools: windows of any size, stride, dilation and padding, ceil mode, and global
 * ones.
 */
#include "tests/ops.h"

static Op *max_pool(OpNet *n, Op *x)
{
	Arena *a = n->g->arena;
	Op *op = ops_insert(n, OP_MAX_POOL, x);
	poolAttr *p = &op->attr.pool;
	int64_t k[2], s[2], d[2], pad[4];
	for (int i = 0; i < 2; i++) {
		const int64_t size = x->shape.dim[2 + i];
		k[i] = ops_pick(n, 1, 5);
		s[i] = ops_pick(n, 1, 3);
		d[i] = ops_pick(n, 0, 3) ? 1 : 2;
		const int64_t span = (k[i] - 1) * d[i];
		pad[i] = ops_pick(n, 0, span / 2);
		pad[2 + i] = ops_pick(n, 0, span / 2);
		if (size + pad[i] + pad[2 + i] <= span) { /* at least one window */
			k[i] = 1;
			pad[i] = pad[2 + i] = 0;
		}
		if (d[i] > size)
			d[i] = 1;
	}
	p->kernel = INTS(a, k[0], k[1]);
	p->strides = INTS(a, s[0], s[1]);
	p->dilations = INTS(a, d[0], d[1]);
	p->pads = INTS(a, pad[0], pad[1], pad[2], pad[3]);
	p->ceil = ops_pick(n, 0, 1);
	if (k[0] * k[1] * s[0] * s[1] == 1) /* no pool at all: what the host writes is bf16 */
		n->choice.stored = DEV_BF16;
	return ops_done(n, op);
}

Op *ops_pool(OpNet *n)
{
	const int64_t tall = ops_pick(n, 0, 4) ? 24 : 2, wide = ops_pick(n, 0, 4) ? 70 : 2;
	Op *x = ops_input(n, ops_pick(n, 1, ops_pick(n, 0, 3) ? 40 : 200), ops_pick(n, 1, tall),
			  ops_pick(n, 1, wide));
	if (x->shape.dim[2] * x->shape.dim[3] == 1)
		n->choice.stored = DEV_BF16;
	switch (ops_pick(n, 0, 5)) {
	case 0:
		return ops_done(n, ops_insert(n, OP_GLOBAL_MAX_POOL, x));
	case 1: /* of whole numbers it is none */
		n->choice.integers = false;
		return ops_done(n, ops_insert(n, OP_GLOBAL_AVG_POOL, x));
	default:
		return max_pool(n, ops_pick(n, 0, 1) ? max_pool(n, x) : x);
	}
}
