/* Arithmetic: element by element, products, norms, reductions. */
#include "ir/infer.h"

#include <inttypes.h>

static const Result wrong = { TYPE_NONE, { 0 } };

/* Both operands of one type and broadcast; the result has type `dtype`. */
static Result pairwise(const Graph *g, const Op *op, DType dtype)
{
	Result r = { dtype };
	if (!infer_same_types(g, op, 0) ||
	    !infer_broadcast(g, op, op_in(op, 0)->shape, op_in(op, 1)->shape, &r.shape))
		return wrong;
	return r;
}

Result infer_arith(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	Result r = infer_number(g, op, 0) ? pairwise(g, op, x->dtype) : wrong;
	if (r.dtype != TYPE_NONE && op->kind == OP_PRELU && !shape_equal(r.shape, x->shape))
		return infer_fail(g, op, "slope %s does not broadcast to input %s",
				  shape_text(g->arena, op_in(op, 1)->shape),
				  shape_text(g->arena, x->shape));
	return r;
}

Result infer_compare(const Graph *g, const Op *op)
{
	if (op->kind != OP_EQUAL && !infer_number(g, op, 0))
		return wrong;
	return pairwise(g, op, TYPE_BOOL);
}

static bool is_logical(const Graph *g, const Op *op, int i)
{
	DType t = op_in(op, i)->dtype;
	if (t == TYPE_BOOL)
		return true;
	infer_fail(g, op, "input %d wants bool, has %s", i, type_info[t].name);
	return false;
}

Result infer_logic(const Graph *g, const Op *op)
{
	if (!is_logical(g, op, 0) || !is_logical(g, op, 1))
		return wrong;
	return pairwise(g, op, TYPE_BOOL);
}

Result infer_not(const Graph *g, const Op *op)
{
	return is_logical(g, op, 0) ? (Result){ TYPE_BOOL, op_in(op, 0)->shape } : wrong;
}

Result infer_where(const Graph *g, const Op *op)
{
	const Op *then = op_in(op, 1);
	Result r = { then->dtype };
	Shape values;
	if (!is_logical(g, op, 0) || !infer_same_types(g, op, 1) ||
	    !infer_broadcast(g, op, then->shape, op_in(op, 2)->shape, &values) ||
	    !infer_broadcast(g, op, op_in(op, 0)->shape, values, &r.shape))
		return wrong;
	return r;
}

Result infer_linear(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0), *w = op_in(op, 1);
	if (!infer_rank(g, op, 2, 2) || !infer_number(g, op, 0) || !infer_same_types(g, op, 0))
		return wrong;
	if (w->shape.rank != 2)
		return infer_fail(g, op, "weights want 2 dims, have %d", w->shape.rank);
	if (w->shape.dim[1] != x->shape.dim[1])
		return infer_fail(g, op,
				  "weights want %" PRId64 " input channels, input has %" PRId64,
				  w->shape.dim[1], x->shape.dim[1]);
	if (op->nin > 2 && !infer_vector(g, op, 2, w->shape.dim[0], "bias"))
		return wrong;
	return (Result){ x->dtype, { 2, { x->shape.dim[0], w->shape.dim[0] } } };
}

/* The dims of a matrix product before the last two. */
static Shape batch_of(Shape s)
{
	s.rank = s.rank > 2 ? s.rank - 2 : 0;
	return s;
}

Result infer_matmul(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0), *y = op_in(op, 1);
	Shape a = x->shape, b = y->shape, out;
	if (!infer_number(g, op, 0) || !infer_same_types(g, op, 0))
		return wrong;
	if (!a.rank || !b.rank)
		return infer_fail(g, op, "input %d wants at least 1 dim, has 0", a.rank ? 1 : 0);
	int64_t columns = a.dim[a.rank - 1], rows = b.dim[b.rank == 1 ? 0 : b.rank - 2];
	if (columns != rows)
		return infer_fail(g, op,
				  "left has %" PRId64 " columns, right has %" PRId64 " rows",
				  columns, rows);
	if (!infer_broadcast(g, op, batch_of(a), batch_of(b), &out))
		return wrong;
	if (a.rank > 1)
		out.dim[out.rank++] = a.dim[a.rank - 2];
	if (b.rank > 1)
		out.dim[out.rank++] = b.dim[b.rank - 1];
	return (Result){ x->dtype, out };
}

/* Input of N,C,... and floating vectors of C values behind it. */
static bool norm_is_sound(const Graph *g, const Op *op, const char *const what[])
{
	Shape x = op_in(op, 0)->shape;
	if (!infer_rank(g, op, 2, MAX_RANK) || !infer_float(g, op, 0) ||
	    !infer_same_types(g, op, 0))
		return false;
	for (int i = 1; i < op->nin; i++)
		if (!infer_vector(g, op, i, x.dim[1], what[i - 1]))
			return false;
	return true;
}

Result infer_batch_norm(const Graph *g, const Op *op)
{
	static const char *const what[] = { "scale", "bias", "mean", "variance" };
	const Op *x = op_in(op, 0);
	return norm_is_sound(g, op, what) ? (Result){ x->dtype, x->shape } : wrong;
}

Result infer_channel_norm(const Graph *g, const Op *op)
{
	static const char *const what[] = { "scale", "bias" };
	const Op *x = op_in(op, 0);
	int64_t groups = op->attr.norm.groups;
	if (!norm_is_sound(g, op, what))
		return wrong;
	if (op->kind == OP_GROUP_NORM && (groups < 1 || x->shape.dim[1] % groups))
		return infer_fail(g, op,
				  "%" PRId64 " channels do not divide into %" PRId64 " groups",
				  x->shape.dim[1], groups);
	return (Result){ x->dtype, x->shape };
}

Result infer_layer_norm(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	int64_t axis = op->attr.norm.axis;
	if (!infer_float(g, op, 0) || !infer_same_types(g, op, 0) ||
	    !infer_axis(g, op, axis, x->shape.rank))
		return wrong;
	Shape inner = { .rank = x->shape.rank - (int)axis };
	for (int i = 0; i < inner.rank; i++)
		inner.dim[i] = x->shape.dim[axis + i];
	for (int i = 1; i < op->nin; i++) {
		Shape s = op_in(op, i)->shape, got;
		if (!shape_broadcast(s, inner, &got) || !shape_equal(got, inner))
			return infer_fail(g, op, "%s %s does not broadcast to %s",
					  i == 1 ? "scale" : "bias", shape_text(g->arena, s),
					  shape_text(g->arena, inner));
	}
	return (Result){ x->dtype, x->shape };
}

Result infer_lrn(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	if (!infer_rank(g, op, 2, MAX_RANK) || !infer_float(g, op, 0))
		return wrong;
	if (op->attr.lrn.size < 1)
		return infer_fail(g, op, "size wants at least 1, has %" PRId64, op->attr.lrn.size);
	return (Result){ x->dtype, x->shape };
}

Result infer_softmax(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	if (!infer_float(g, op, 0) || !infer_axis(g, op, op->attr.axis.axis, x->shape.rank))
		return wrong;
	return (Result){ x->dtype, x->shape };
}

/* Without the dims in the set `axes`, or with them as 1. */
static Shape reduced(Shape s, unsigned axes, bool keepdims)
{
	Shape out = { 0 };
	for (int i = 0; i < s.rank; i++) {
		if (!(axes & 1u << i))
			out.dim[out.rank++] = s.dim[i];
		else if (keepdims)
			out.dim[out.rank++] = 1;
	}
	return out;
}

Result infer_reduce(const Graph *g, const Op *op)
{
	const reduceAttr *r = &op->attr.reduce;
	const Op *x = op_in(op, 0);
	unsigned set = r->axes.n ? 0 : (1u << MAX_RANK) - 1;
	if (op->kind != OP_REDUCE_MAX && op->kind != OP_REDUCE_MIN && !infer_number(g, op, 0))
		return wrong;
	for (int i = 0; i < r->axes.n; i++) {
		int64_t axis = r->axes.v[i];
		if (!infer_axis(g, op, axis, x->shape.rank))
			return wrong;
		if (i && axis <= r->axes.v[i - 1])
			return infer_fail(g, op,
					  "axes want to be ascending, %" PRId64 " follows %" PRId64,
					  axis, r->axes.v[i - 1]);
		set |= 1u << axis;
	}
	return (Result){ x->dtype, reduced(x->shape, set, r->keepdims) };
}

Result infer_arg(const Graph *g, const Op *op)
{
	const argAttr *arg = &op->attr.arg;
	const Op *x = op_in(op, 0);
	if (!infer_number(g, op, 0) || !infer_axis(g, op, arg->axis, x->shape.rank))
		return wrong;
	if (x->shape.dim[arg->axis] < 1)
		return infer_fail(g, op, "axis %" PRId64 " has no elements", arg->axis);
	return (Result){ TYPE_I64, reduced(x->shape, 1u << arg->axis, arg->keepdims) };
}
