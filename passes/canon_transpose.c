/*
 * Transposes sink below every op that can do its work in another order of
 * dims (the element-wise ones are in canon_sink.c):
 *
 *     concat of transposes alike, slice, pad, resize, softmax, log_softmax,
 *     reductions, argmax, argmin, matmul by a constant (a 1x1 convolution)
 *
 *     %t = transpose %x {perm = [0,2,3,1]}     %s = softmax %x {axis = 1}
 *     %s = softmax %t {axis = 3}            -> %t = transpose %s {...}
 *
 * A reshape that only moves dims of 1 is a transpose here. Not done for a
 * concat whose inputs are not all transposed alike, constants excepted.
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

/* A move of whole dims that an op reads. */
typedef struct Moved {
	Op *by; /* a transpose, or a reshape that does the same */
	Ints perm;
} Moved;

static bool moved_input(Graph *g, const Op *op, int i, Moved *m)
{
	int64_t perm[MAX_RANK];
	m->by = op_in(op, i);
	if (!canon_perm_of(m->by, perm))
		return false;
	m->perm = ints_copy(g->arena, perm, m->by->shape.rank);
	return true;
}

/* Below an op with one input, whose attributes have been permuted. */
static bool sink(Graph *g, Op *op, const Moved *m)
{
	op_set_input(op, 0, op_in(m->by, 0));
	canon_put_transpose_below(g, m->by, m->perm, op);
	return true;
}

/* Below an op that drops dims: a new transpose of what is left. */
static bool sink_reduced(Graph *g, Op *op, const Moved *m, Ints dropped)
{
	op_set_input(op, 0, op_in(m->by, 0));
	rewrite_infer(g, op);
	rewrite_after(g, op, OP_TRANSPOSE, arena_printf(g->arena, "%s.transpose", op->name),
		      (Attrs){ .perm.perm = without(g, m->perm, dropped) });
	return true;
}

static bool sink_reduce(Graph *g, Op *op, const Moved *m)
{
	const Ints axes = op->attr.reduce.axes;
	if (!axes.n)
		return false;
	op->attr.reduce.axes = permuted_axes(g, axes, m->perm);
	return op->attr.reduce.keepdims ? sink(g, op, m) : sink_reduced(g, op, m, axes);
}

static bool sink_arg(Graph *g, Op *op, const Moved *m)
{
	const Ints axis = INTS(g->arena, op->attr.arg.axis);
	op->attr.arg.axis = m->perm.v[op->attr.arg.axis];
	return op->attr.arg.keepdims ? sink(g, op, m) : sink_reduced(g, op, m, axis);
}

/* The move that all inputs of a concat must have come through. */
static bool moved_alike(Graph *g, const Op *op, Moved *m)
{
	bool found = false;
	for (int i = 0; i < op->nin && (!found || m->by->kind != OP_TRANSPOSE); i++) {
		Moved other;
		if (!moved_input(g, op, i, &other))
			continue;
		*m = other;
		found = true;
	}
	for (int i = 0; i < op->nin && found; i++) {
		const Op *in = op_in(op, i);
		found = in->kind == OP_CONSTANT ? rewrite_value(g, in) != NULL
						: canon_moves_by(in, m->perm);
	}
	return found;
}

static bool sink_concat(Graph *g, Op *op)
{
	Moved m = { 0 };
	int64_t inverse[MAX_RANK];
	if (!moved_alike(g, op, &m))
		return false;
	for (int d = 0; d < m.perm.n; d++)
		inverse[m.perm.v[d]] = d;
	for (int i = 0; i < op->nin; i++) {
		Op *in = op_in(op, i);
		op_set_input(op, i, in->kind != OP_CONSTANT ? op_in(in, 0)
			: graph_constant(g, op, arena_printf(g->arena, "%s.transposed", in->name),
				rewrite_transposed(g, op_value(in), inverse)));
		if (!in->uses && in != m.by)
			op_remove(g, in);
	}
	op->attr.axis.axis = m.perm.v[op->attr.axis.axis];
	canon_put_transpose_below(g, m.by, m.perm, op);
	return true;
}

/* matmul over the channels of what was NCHW is a 1x1 convolution. */
static bool sink_matmul(Graph *g, Op *op, const Moved *m)
{
	const Ints perm = m->perm;
	const Shape x = op_in(m->by, 0)->shape, w = op_in(op, 1)->shape;
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
	rewrite_become(op, OP_CONV, attrs_default(OP_CONV));
	op->attr.conv.strides = op->attr.conv.dilations = ints_fill(g->arena, 1, perm.n - 2);
	op->attr.conv.pads = ints_fill(g->arena, 0, 2 * (perm.n - 2));
	return sink(g, op, m);
}

bool canon_permute_attrs(Graph *g, Op *op, Ints perm)
{
	switch (op->kind) {
	case OP_SLICE:
		op->attr.slice.counts = permuted(g, op->attr.slice.counts, perm);
		op->attr.slice.starts = permuted(g, op->attr.slice.starts, perm);
		op->attr.slice.steps = permuted(g, op->attr.slice.steps, perm);
		return true;
	case OP_PAD:
		op->attr.pad.pads = permuted_pairs(g, op->attr.pad.pads, perm);
		return true;
	case OP_RESIZE:
		op->attr.resize.sizes = permuted(g, op->attr.resize.sizes, perm);
		op->attr.resize.scales = permuted_floats(g, op->attr.resize.scales, perm);
		op->attr.resize.roi = permuted_floats(g, op->attr.resize.roi, perm);
		return true;
	default:
		return false;
	}
}

static bool sink_below(Graph *g, Op *op)
{
	Moved m;
	if (!moved_input(g, op, 0, &m))
		return false;
	if (canon_permute_attrs(g, op, m.perm))
		return sink(g, op, &m);
	switch (op->kind) {
	case OP_SOFTMAX:
	case OP_LOG_SOFTMAX:
		op->attr.axis.axis = m.perm.v[op->attr.axis.axis];
		return sink(g, op, &m);
	case OP_REDUCE_MEAN:
	case OP_REDUCE_SUM:
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN:
	case OP_REDUCE_PROD:
		return sink_reduce(g, op, &m);
	case OP_ARGMAX:
	case OP_ARGMIN:
		return sink_arg(g, op, &m);
	case OP_MATMUL:
		return sink_matmul(g, op, &m);
	default:
		return false;
	}
}

bool canon_transpose(Graph *g, Op *op)
{
	if (op->kind == OP_CONCAT)
		return sink_concat(g, op);
	return op->nin && sink_below(g, op);
}
