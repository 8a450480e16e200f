/*
 * Concats that are something simpler:
 *
 *     concat(concat(a, b), c)                        concat(a, b, c)
 *     concat of the b*b slices of x that take every  space_to_depth, its
 *     b-th row and column (YOLO's "focus")           channels reordered
 *
 *     %a = slice %x {starts = [0,0,0,0], steps = [1,1,2,2], ...}
 *     %b = slice %x {starts = [0,0,1,0], steps = [1,1,2,2], ...}
 *     %c, %d likewise from [0,0,0,1] and [0,0,1,1]
 *     %f = concat %a, %b, %c, %d {axis = 1}
 * becomes
 *     %f.blocks = space_to_depth %x {block = 2}
 *     %f = select_channels %f.blocks {channels = ...}
 *
 * and fold_shuffle puts the reordering into the weights that follow. Not done
 * for an inner concat that something else reads.
 */
#include "passes/canon.h"

#include "passes/rewrite.h"
#include "passes/strided.h"

enum { MOST_INPUTS = 256, LARGEST_BLOCK = 4 };

static bool is_nested(const Op *in, const Op *op)
{
	return in->kind == OP_CONCAT && op_has_one_use(in) && !in->nhints
		&& in->attr.axis.axis == op->attr.axis.axis;
}

static bool flatten(Graph *g, Op *op)
{
	Op *all[MOST_INPUTS], *nested[MOST_INPUTS];
	int n = 0, nnested = 0;
	for (int i = 0; i < op->nin; i++) {
		Op *in = op_in(op, i);
		const bool opened = is_nested(in, op);
		if (n + (opened ? in->nin : 1) > MOST_INPUTS)
			return false;
		for (int k = 0; opened && k < in->nin; k++)
			all[n++] = op_in(in, k);
		if (opened)
			nested[nnested++] = in;
		else
			all[n++] = in;
	}
	if (!nnested)
		return false;
	op_drop_inputs(op, 0);
	for (int i = 0; i < n; i++)
		op_add_input(g, op, all[i]);
	for (int i = 0; i < nnested; i++)
		rewrite_take_in(g, op, nested[i]);
	return true;
}

/* Which of the b*b phases of its input the slice takes, or -1. */
static int phase_of(const Op *slice, int64_t b)
{
	const sliceAttr *a = &slice->attr.slice;
	const Shape x = slice->kind == OP_SLICE ? op_in(slice, 0)->shape : (Shape){ 0 };
	if (x.rank != 4 || x.dim[2] % b || x.dim[3] % b)
		return -1;
	for (int i = 0; i < 4; i++) {
		const bool spatial = i >= 2;
		if (a->steps.v[i] != (spatial ? b : 1) || a->starts.v[i] >= (spatial ? b : 1)
		    || a->counts.v[i] != (spatial ? x.dim[i] / b : x.dim[i]))
			return -1;
	}
	return (int)(a->starts.v[2] * b + a->starts.v[3]);
}

static bool focus(Graph *g, Op *op)
{
	int64_t b = 2;
	while (b * b < op->nin)
		b++;
	if (b * b != op->nin || b > LARGEST_BLOCK || op->attr.axis.axis != 1
	    || phase_of(op_in(op, 0), b) < 0 || op->shape.dim[1] > MAX_CHANNELS)
		return false;
	Op *x = op_in(op_in(op, 0), 0);
	int64_t *channels = arena_array(g->arena, int64_t, op->shape.dim[1]);
	unsigned seen = 0;
	bool ordered = true;
	for (int i = 0; i < op->nin; i++) {
		const int phase = phase_of(op_in(op, i), b);
		if (phase < 0 || op_in(op_in(op, i), 0) != x || seen >> phase & 1)
			return false;
		seen |= 1u << phase;
		ordered &= phase == i;
		for (int64_t c = 0; c < x->shape.dim[1]; c++)
			channels[i * x->shape.dim[1] + c] = phase * x->shape.dim[1] + c;
	}
	const Ints list = { (int)op->shape.dim[1], channels };
	Op *blocks = rewrite_insert(g, op, OP_SPACE_TO_DEPTH,
		arena_printf(g->arena, "%s.blocks", op->name), x,
		(Attrs){ .block = { .block = b, .order = ORDER_DCR } });
	for (int i = op->nin - 1; i >= 0; i--) {
		Op *in = op_in(op, i);
		op_drop_inputs(op, i);
		rewrite_take_in(g, blocks, in);
	}
	op_add_input(g, op, blocks);
	if (!ordered)
		rewrite_become(op, OP_SELECT_CHANNELS, (Attrs){ .channels.channels = list });
	return true;
}

bool canon_concat(Graph *g, Op *op)
{
	return op->kind == OP_CONCAT && op->nin > 1 && (flatten(g, op) || focus(g, op));
}
