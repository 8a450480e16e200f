#include "ir/infer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

typedef Result (*Rule)(const Graph *g, const Op *op);

static const Rule rules[OP_COUNT] = {
#define OP(id, spelling, min, max, traits, group, rule, constraints) \
	[OP_##id] = infer_##rule,
#include "ir/ops.def"
};

Result infer_fail(const Graph *g, const Op *op, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_error(g->diag, op->loc, "%s: %s", op_info[op->kind].name, text);
	return (Result){ TYPE_NONE };
}

static bool right_input_count(const Graph *g, const Op *op)
{
	const OpInfo *info = &op_info[op->kind];
	if (op->nin >= info->min_in && op->nin <= info->max_in)
		return true;
	if (info->min_in == info->max_in)
		infer_fail(g, op, "wants %d inputs, has %d", info->min_in, op->nin);
	else if (info->max_in == MANY)
		infer_fail(g, op, "wants at least %d inputs, has %d", info->min_in, op->nin);
	else
		infer_fail(g, op, "wants %d to %d inputs, has %d", info->min_in, info->max_in,
			   op->nin);
	return false;
}

static Result result_of(const Graph *g, const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (op_in(op, i)->dtype == TYPE_NONE)
			return (Result){ TYPE_NONE };
	if (!right_input_count(g, op))
		return (Result){ TYPE_NONE };
	Result r = rules[op->kind](g, op);
	if (r.dtype != TYPE_NONE && shape_count(r.shape) < 0)
		return infer_fail(g, op, "result has too many elements: %s",
				  shape_text(g->arena, r.shape));
	return r;
}

bool op_infer(Graph *g, Op *op)
{
	Result r = result_of(g, op);
	op->dtype = r.dtype;
	op->shape = r.dtype == TYPE_NONE ? (Shape){ 0 } : r.shape;
	return r.dtype != TYPE_NONE;
}

bool infer_rank(const Graph *g, const Op *op, int least, int most)
{
	int rank = op_in(op, 0)->shape.rank;
	if (rank >= least && rank <= most)
		return true;
	if (least == most)
		infer_fail(g, op, "input wants %d dims, has %d", least, rank);
	else if (most == MAX_RANK)
		infer_fail(g, op, "input wants at least %d dims, has %d", least, rank);
	else
		infer_fail(g, op, "input wants %d to %d dims, has %d", least, most, rank);
	return false;
}

bool infer_axis(const Graph *g, const Op *op, int64_t axis, int rank)
{
	if (axis >= 0 && axis < rank)
		return true;
	infer_fail(g, op, "axis %" PRId64 " is out of range for %d dims", axis, rank);
	return false;
}

bool infer_number(const Graph *g, const Op *op, int i)
{
	if (op_in(op, i)->dtype != TYPE_BOOL)
		return true;
	infer_fail(g, op, "input %d wants numbers, has bool", i);
	return false;
}

bool infer_float(const Graph *g, const Op *op, int i)
{
	if (type_is_float(op_in(op, i)->dtype))
		return true;
	infer_fail(g, op, "input %d wants a floating type, has %s", i,
		   type_info[op_in(op, i)->dtype].name);
	return false;
}

bool infer_same_types(const Graph *g, const Op *op, int from)
{
	for (int i = from + 1; i < op->nin; i++) {
		if (op_in(op, i)->dtype == op_in(op, from)->dtype)
			continue;
		infer_fail(g, op, "input %d is %s, input %d is %s", from,
			   type_info[op_in(op, from)->dtype].name, i,
			   type_info[op_in(op, i)->dtype].name);
		return false;
	}
	return true;
}

bool infer_list(const Graph *g, const Op *op, const char *name, Ints list, int n,
		int64_t least)
{
	if (list.n != n) {
		infer_fail(g, op, "%s wants %d entries, has %d", name, n, list.n);
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (list.v[i] >= least)
			continue;
		infer_fail(g, op, "%s[%d] wants at least %" PRId64 ", has %" PRId64, name, i,
			   least, list.v[i]);
		return false;
	}
	return true;
}

bool infer_shape_list(const Graph *g, const Op *op, const char *name, Ints list,
		      Shape *out)
{
	if (list.n > MAX_RANK) {
		infer_fail(g, op, "%s wants at most %d entries, has %d", name, MAX_RANK, list.n);
		return false;
	}
	if (!infer_list(g, op, name, list, list.n, 0))
		return false;
	*out = (Shape){ .rank = list.n };
	for (int i = 0; i < list.n; i++)
		out->dim[i] = list.v[i];
	if (shape_count(*out) >= 0)
		return true;
	infer_fail(g, op, "%s has too many elements: %s", name, shape_text(g->arena, *out));
	return false;
}

bool infer_broadcast(const Graph *g, const Op *op, Shape a, Shape b, Shape *out)
{
	if (shape_broadcast(a, b, out))
		return true;
	for (int i = 1; i <= a.rank && i <= b.rank; i++) {
		int64_t x = a.dim[a.rank - i], y = b.dim[b.rank - i];
		if (x == y || x == 1 || y == 1)
			continue;
		infer_fail(g, op, "shapes %s and %s do not broadcast", shape_text(g->arena, a),
			   shape_text(g->arena, b));
		return false;
	}
	infer_fail(g, op, "result has too many elements: %s", shape_text(g->arena, *out));
	return false;
}

bool infer_vector(const Graph *g, const Op *op, int i, int64_t n, const char *what)
{
	Shape s = op_in(op, i)->shape;
	if (s.rank == 1 && s.dim[0] == n)
		return true;
	infer_fail(g, op, "%s wants shape %" PRId64 ", has %s", what, n, shape_text(g->arena, s));
	return false;
}

static bool is_permutation(Ints perm, int rank)
{
	unsigned seen = 0;
	if (perm.n != rank)
		return false;
	for (int i = 0; i < rank; i++) {
		if (perm.v[i] < 0 || perm.v[i] >= rank)
			return false;
		seen |= 1u << perm.v[i];
	}
	return seen == (1u << rank) - 1;
}

Result infer_none(const Graph *g, const Op *op)
{
	if (op->kind == OP_CONSTANT) {
		assert(op->value);
		return (Result){ op->value->dtype, op->value->shape };
	}
	Ints perm = op->attr.input.perm;
	if (op->dtype != TYPE_NONE && perm.n && !is_permutation(perm, op->shape.rank))
		return infer_fail(g, op, "perm is not a permutation of %d dims", op->shape.rank);
	return (Result){ op->dtype, op->shape };
}

Result infer_transpose(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	Ints perm = op->attr.perm.perm;
	Shape out = { .rank = x->shape.rank };
	if (!is_permutation(perm, out.rank))
		return infer_fail(g, op, "perm is not a permutation of %d dims", out.rank);
	for (int i = 0; i < out.rank; i++)
		out.dim[i] = x->shape.dim[perm.v[i]];
	return (Result){ x->dtype, out };
}

Result infer_same(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	if (!op_is(op, MOVES) && !infer_number(g, op, 0))
		return (Result){ TYPE_NONE };
	if (op->kind == OP_NEG && type_info[x->dtype].class == UNSIGNED)
		return infer_fail(g, op, "input wants a signed type, has %s",
				  type_info[x->dtype].name);
	return (Result){ x->dtype, x->shape };
}

Result infer_same_float(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	return (Result){ infer_float(g, op, 0) ? x->dtype : TYPE_NONE, x->shape };
}

Result infer_cast(const Graph *g, const Op *op)
{
	DType to = op->attr.cast.to;
	if (to == TYPE_NONE)
		return infer_fail(g, op, "wants a type to cast to");
	return (Result){ to, op_in(op, 0)->shape };
}
