/*
 * Transposes sink below every op that can do its work in another order of
 * dims (the element-wise ones are in canon_sink.c):
 *
 *     concat of transposes alike, slice, pad, resize, softmax, log_softmax,
 *     reductions, argmax, argmin, matmul by a constant (a 1x1 convolution)
 *
 * and those at the start of a graph become part of the input:
 *
 *     %x = input : f32[1,4,4,3]                 %x = input {perm = [0,3,1,2]}
 *     %d = mul %x, %c                     ->             : f32[1,3,4,4]
 *     %t = transpose %d {perm = [0,3,1,2]}      %d = mul %x, %c'
 *
 * Not done for a concat whose inputs are not all transposed alike (constants
 * excepted), or for an input that something reads untransposed. Transposes
 * from the input that do not put channels first sink as well, unless all
 * that reads them looks at windows.
 */
#include "passes/canon.h"

#include <string.h>

#include "passes/rewrite.h"

static Ints permuted(Graph *g, Ints list, Ints perm)
{
	int64_t v[MAX_RANK] = { 0 };
	for (int i = 0; i < perm.n; i++)
		v[perm.v[i]] = list.v[i];
	return ints_copy(g->arena, v, perm.n);
}

/* A list of begins and then ends. */
static Ints permuted_pairs(Graph *g, Ints list, Ints perm)
{
	int64_t v[2 * MAX_RANK] = { 0 };
	for (int i = 0; i < perm.n; i++) {
		v[perm.v[i]] = list.v[i];
		v[perm.n + perm.v[i]] = list.v[perm.n + i];
	}
	return ints_copy(g->arena, v, 2 * perm.n);
}

static Floats permuted_floats(Graph *g, Floats list, Ints perm)
{
	float v[2 * MAX_RANK] = { 0 };
	for (int i = 0; i < list.n; i++)
		v[i / perm.n * perm.n + perm.v[i % perm.n]] = list.v[i];
	return floats_copy(g->arena, v, list.n);
}

/* The axes that a reduction over `t`'s result has in `t`'s input, sorted. */
static Ints permuted_axes(Graph *g, Ints axes, Ints perm)
{
	int64_t v[MAX_RANK] = { 0 };
	int n = 0;
	for (int d = 0; d < perm.n; d++)
		for (int i = 0; i < axes.n; i++)
			if (perm.v[axes.v[i]] == d)
				v[n++] = d;
	return ints_copy(g->arena, v, n);
}

/* `perm` for what is left when these dims of the result are dropped. */
static Ints without(Graph *g, Ints perm, Ints dropped)
{
	int64_t v[MAX_RANK] = { 0 };
	bool gone[MAX_RANK] = { false };
	int n = 0;
	for (int i = 0; i < dropped.n; i++)
		gone[perm.v[dropped.v[i]]] = true;
	for (int i = 0; i < perm.n; i++) {
		if (gone[perm.v[i]])
			continue;
		int64_t to = perm.v[i];
		for (int d = 0; d < perm.v[i]; d++)
			to -= gone[d];
		v[n++] = to;
	}
	return ints_copy(g->arena, v, n);
}

/* Below an op with one input, whose attributes have been permuted. */
static bool sink(Graph *g, Op *op, Op *t)
{
	op_set_input(op, 0, op_in(t, 0));
	canon_put_below(g, t, op);
	return true;
}

/* Below an op that drops dims: a new transpose of what is left. */
static bool sink_reduced(Graph *g, Op *op, Op *t, Ints perm)
{
	op_set_input(op, 0, op_in(t, 0));
	rewrite_infer(g, op);
	rewrite_after(g, op, OP_TRANSPOSE, arena_printf(g->arena, "%s.transpose", op->name),
		      (Attrs){ .perm.perm = perm });
	return true;
}

static bool sink_reduce(Graph *g, Op *op, Op *t)
{
	const Ints axes = op->attr.reduce.axes, perm = t->attr.perm.perm;
	if (!axes.n)
		return false;
	op->attr.reduce.axes = permuted_axes(g, axes, perm);
	if (op->attr.reduce.keepdims)
		return sink(g, op, t);
	return sink_reduced(g, op, t, without(g, perm, axes));
}

static bool sink_arg(Graph *g, Op *op, Op *t)
{
	const Ints perm = t->attr.perm.perm, axis = INTS(g->arena, op->attr.arg.axis);
	op->attr.arg.axis = perm.v[op->attr.arg.axis];
	if (op->attr.arg.keepdims)
		return sink(g, op, t);
	return sink_reduced(g, op, t, without(g, perm, axis));
}

static bool sink_concat(Graph *g, Op *op)
{
	Op *t = NULL;
	for (int i = 0; i < op->nin && !t; i++)
		if (op_in(op, i)->kind == OP_TRANSPOSE)
			t = op_in(op, i);
	if (!t)
		return false;
	const Ints perm = t->attr.perm.perm;
	for (int i = 0; i < op->nin; i++) {
		const Op *in = op_in(op, i);
		if (in->kind == OP_TRANSPOSE ? !ints_equal(in->attr.perm.perm, perm)
					     : in->kind != OP_CONSTANT || !rewrite_value(g, in))
			return false;
	}
	for (int i = 0; i < op->nin; i++) {
		Op *in = op_in(op, i);
		int64_t inverse[MAX_RANK];
		for (int d = 0; d < perm.n; d++)
			inverse[perm.v[d]] = d;
		op_set_input(op, i, in->kind == OP_TRANSPOSE ? op_in(in, 0)
			: graph_constant(g, op, arena_printf(g->arena, "%s.transposed", in->name),
				rewrite_transposed(g, op_value(in), inverse)));
		if (!in->uses && in != t)
			op_remove(g, in);
	}
	op->attr.axis.axis = perm.v[op->attr.axis.axis];
	canon_put_below(g, t, op);
	return true;
}

/* matmul over the channels of what was NCHW is a 1x1 convolution. */
static bool sink_matmul(Graph *g, Op *op, Op *t)
{
	const Ints perm = t->attr.perm.perm;
	const Shape x = op_in(t, 0)->shape, w = op_in(op, 1)->shape;
	if (perm.n < 3 || perm.n > 5 || w.rank != 2 || op_in(op, 1)->kind != OP_CONSTANT
	    || perm.v[perm.n - 1] != 1 || !type_is_float(op->dtype))
		return false;
	Tensor *weights = rewrite_value(g, op_in(op, 1));
	if (!weights || shape_count(w) < 1 || shape_count(x) < 1)
		return false;
	const int64_t swap[] = { 1, 0 };
	Shape kernel = { .rank = perm.n, .dim = { w.dim[1], w.dim[0], 1, 1, 1 } };
	weights = rewrite_reshaped(g, rewrite_transposed(g, weights, swap), kernel);
	rewrite_constant(g, op, 1, arena_printf(g->arena, "%s.weights", op->name), weights);
	op->kind = OP_CONV;
	op->attr = attrs_default(OP_CONV);
	op->attr.conv.strides = op->attr.conv.dilations = ints_fill(g->arena, 1, perm.n - 2);
	op->attr.conv.pads = ints_fill(g->arena, 0, 2 * (perm.n - 2));
	return sink(g, op, t);
}

static bool sink_below(Graph *g, Op *op)
{
	Op *t = op_in(op, 0);
	if (t->kind != OP_TRANSPOSE)
		return false;
	const Ints perm = t->attr.perm.perm;
	switch (op->kind) {
	case OP_SLICE:
		op->attr.slice.counts = permuted(g, op->attr.slice.counts, perm);
		op->attr.slice.starts = permuted(g, op->attr.slice.starts, perm);
		op->attr.slice.steps = permuted(g, op->attr.slice.steps, perm);
		return sink(g, op, t);
	case OP_PAD:
		op->attr.pad.pads = permuted_pairs(g, op->attr.pad.pads, perm);
		return sink(g, op, t);
	case OP_RESIZE:
		op->attr.resize.sizes = permuted(g, op->attr.resize.sizes, perm);
		op->attr.resize.scales = permuted_floats(g, op->attr.resize.scales, perm);
		op->attr.resize.roi = permuted_floats(g, op->attr.resize.roi, perm);
		return sink(g, op, t);
	case OP_SOFTMAX:
	case OP_LOG_SOFTMAX:
		op->attr.axis.axis = perm.v[op->attr.axis.axis];
		return sink(g, op, t);
	case OP_REDUCE_MEAN:
	case OP_REDUCE_SUM:
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN:
	case OP_REDUCE_PROD:
		return sink_reduce(g, op, t);
	case OP_ARGMAX:
	case OP_ARGMIN:
		return sink_arg(g, op, t);
	case OP_MATMUL:
		return sink_matmul(g, op, t);
	default:
		return false;
	}
}

/* True if the last dim goes further front and the others keep their order:
 * NHWC to NCHW. */
static bool is_channels_first(Ints perm)
{
	int64_t last = -1;
	if (perm.n < 3 || perm.v[perm.n - 1] == perm.n - 1)
		return false;
	for (int i = 0; i < perm.n; i++) {
		if (perm.v[i] == perm.n - 1)
			continue;
		if (perm.v[i] < last)
			return false;
		last = perm.v[i];
	}
	return true;
}

/* True if `t` cannot sink: all its readers look at windows. */
static bool is_stuck(const Op *t)
{
	for_each_use(u, t) {
		switch (u->user->kind) {
		case OP_CONV:
		case OP_CONV_TRANSPOSE:
		case OP_MAX_POOL:
		case OP_AVG_POOL:
		case OP_GLOBAL_AVG_POOL:
		case OP_GLOBAL_MAX_POOL:
		case OP_BATCH_NORM:
		case OP_INSTANCE_NORM:
			continue;
		default:
			return false;
		}
	}
	return true;
}

static bool fold_into_input(Graph *g, Op *t)
{
	Op *x = op_in(t, 0);
	const Ints perm = t->attr.perm.perm, own = x->attr.input.perm;
	int64_t both[MAX_RANK];
	bool moved = false;
	for_each_use(u, x)
		if (u->user->kind != OP_TRANSPOSE || !ints_equal(u->user->attr.perm.perm, perm))
			return false;
	for (int i = 0; i < perm.n; i++) {
		both[i] = own.n ? own.v[perm.v[i]] : perm.v[i];
		moved |= both[i] != i;
	}
	x->shape = t->shape;
	x->attr.input.perm = ints_copy(g->arena, both, moved ? perm.n : 0);
	for_each_use(u, x) { /* those after `t` are still to be visited */
		u->user->kind = OP_IDENTITY;
		u->user->attr = attrs_default(OP_IDENTITY);
	}
	rewrite_merge(g, x, t);
	return true;
}

/* The ops from `op` up to an input, if each is element-wise, has one reader
 * and reads constants otherwise: their number with the input, or 0. */
static int chain_to_input(Graph *g, Op *op, Op *chain[], int room)
{
	for (int n = 0; n < room; n++) {
		Op *next = NULL;
		chain[n] = op;
		if (!op_has_one_use(op) || (op->kind != OP_INPUT && !op_is(op, ELTWISE)))
			return 0;
		if (op->kind == OP_INPUT)
			return n + 1;
		for (int i = 0; i < op->nin; i++) {
			Op *in = op_in(op, i);
			if (in->kind == OP_CONSTANT && rewrite_value(g, in))
				continue;
			if (next || !shape_equal(in->shape, op->shape))
				return 0;
			next = in;
		}
		if (!next)
			return 0;
		op = next;
	}
	return 0;
}

/* input, element-wise ops, transpose -> input, transpose, the ops */
static bool rise_to_input(Graph *g, Op *t)
{
	enum { FURTHEST = 16 };
	Op *chain[FURTHEST];
	const Ints perm = t->attr.perm.perm;
	int64_t inverse[MAX_RANK];
	const int n = chain_to_input(g, op_in(t, 0), chain, FURTHEST);
	if (n < 2)
		return false;
	for (int i = 0; i < perm.n; i++)
		inverse[perm.v[i]] = i;
	Op *input = chain[n - 1], *first = chain[n - 2];
	op_replace_uses(t, chain[0]);
	op_set_input(t, 0, input);
	op_move_before(g, t, input->next);
	rewrite_infer(g, t);
	for (int k = n - 2; k >= 0; k--) {
		Op *op = chain[k];
		for (int i = 0; i < op->nin; i++) {
			Op *in = op_in(op, i);
			if (in->kind == OP_CONSTANT)
				op_set_input(op, i, canon_untranspose(g, op, in, inverse, perm.n));
			else if (op == first)
				op_set_input(op, i, t);
		}
		rewrite_infer(g, op);
	}
	return fold_into_input(g, t);
}

bool canon_transpose(Graph *g, Op *op)
{
	if (op->kind == OP_TRANSPOSE) {
		const bool at_input = op_in(op, 0)->kind == OP_INPUT;
		if (!is_channels_first(op->attr.perm.perm) && !is_stuck(op))
			return false;
		return at_input ? fold_into_input(g, op) : rise_to_input(g, op);
	}
	if (op->kind == OP_CONCAT)
		return sink_concat(g, op);
	return op->nin && sink_below(g, op);
}
