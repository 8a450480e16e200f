/*
 * fuse_pad: fold a zero pad into the convolution or pool after it.
 *
 *     %p = pad %x {pads = [0,0,1,1,0,0,2,2]}
 *     %c = conv %p, %w {pads = [0,0,0,0], ...}
 * becomes
 *     %c = conv %x, %w {absorbed = ["p"], pads = [1,1,2,2], ...}
 *
 * Into avg_pool likewise, which then counts padding; into max_pool if the
 * padding is -inf, or zero where the input has no negative elements.
 *
 * Not done when the pad is not constant, not zero (see max_pool), touches
 * batch or channels, or crops; for conv_transpose; for an avg_pool that has
 * padding it does not count or rounds its size up; and for a pool with a
 * window that would lie wholly in the padding.
 */
#include "passes/pass.h"

#include <float.h>

#include "passes/rewrite.h"

/* Constant and over spatial dims alone, never negative. */
static bool is_spatial(const Op *pad)
{
	const int rank = pad->shape.rank;
	const Ints pads = pad->attr.pad.pads;
	if (pad->attr.pad.mode != PAD_CONSTANT || rank < 3 || pads.n != 2 * rank)
		return false;
	for (int i = 0; i < pads.n; i++)
		if (pads.v[i] < 0 || (i % rank < 2 && pads.v[i] != 0))
			return false;
	return true;
}

/* `own` with the spatial part of a pad op's list added. */
static Ints add_pads(Graph *g, Ints own, const Op *pad)
{
	const int rank = pad->shape.rank, spatial = rank - 2;
	int64_t sum[2 * MAX_RANK];
	for (int i = 0; i < spatial; i++) {
		sum[i] = own.v[i] + pad->attr.pad.pads.v[2 + i];
		sum[spatial + i] = own.v[spatial + i] + pad->attr.pad.pads.v[rank + 2 + i];
	}
	return ints_copy(g->arena, sum, 2 * spatial);
}

static bool takes_pad(const Op *op, const Op *pad, Ints pads)
{
	const float value = pad->attr.pad.value;
	const Shape in = op_in(pad, 0)->shape;
	switch (op->kind) {
	case OP_CONV:
		return value == 0;
	case OP_AVG_POOL:
		return value == 0 && !op->attr.pool.ceil
			&& (op->attr.pool.count_pad || ints_all(op->attr.pool.pads, 0))
			&& pool_windows_reach(op, in, pads);
	case OP_MAX_POOL:
		return (value <= -FLT_MAX || (value == 0 && rewrite_not_negative(op_in(pad, 0))))
			&& pool_windows_reach(op, in, pads);
	default:
		return false;
	}
}

static bool fuse(Graph *g, Op *op, Op *pad)
{
	const bool pool = op->kind == OP_AVG_POOL || op->kind == OP_MAX_POOL;
	if ((!pool && op->kind != OP_CONV) || !is_spatial(pad) || !type_is_float(op->dtype))
		return false;
	const Ints pads = add_pads(g, pool ? op->attr.pool.pads : op->attr.conv.pads, pad);
	if (!takes_pad(op, pad, pads))
		return false;
	if (pool)
		op->attr.pool.pads = pads;
	else
		op->attr.conv.pads = pads;
	if (op->kind == OP_AVG_POOL)
		op->attr.pool.count_pad = true;
	op_set_input(op, 0, op_in(pad, 0));
	if (!pad->uses) {
		op_absorb(g, op, pad);
		op_remove(g, pad);
	}
	rewrite_infer(g, op);
	return true;
}

bool pass_fuse_pad(Graph *g)
{
	bool changed = false;

	for_each_op(op, g)
		while (op->nin && op_in(op, 0)->kind == OP_PAD && fuse(g, op, op_in(op, 0)))
			changed = true;
	return changed;
}
