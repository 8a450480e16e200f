/*
 * Ops that move elements: shapes, transposition, slices, padding, joining.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>
#include <math.h>

/* --- shapes */

static bool too_many_dims(Node *n, int64_t rank)
{
	if (rank > MAX_RANK)
		node_error(n, "result has %" PRId64 " dims, at most %d are supported", rank, MAX_RANK);
	return rank > MAX_RANK;
}

/* The shape a Reshape asks for: 0 copies the input's dim unless `zeros` are
 * allowed, one -1 takes what is left. */
static bool resolve_reshape(Node *n, Ints wanted, bool zeros, Shape *out)
{
	const Shape x = n->in[0]->shape;
	const char *text = shape_text(n->r->arena, x);
	int open = -1;
	int64_t known = 1;

	if (too_many_dims(n, wanted.n))
		return false;
	*out = (Shape){ .rank = wanted.n };
	for (int i = 0; i < wanted.n; i++) {
		int64_t dim = wanted.v[i];
		if (dim == 0 && !zeros && i >= x.rank) {
			node_error(n, "shape copies dim %d, but the input is %s", i, text);
			return false;
		}
		if (dim < -1 || (dim == -1 && open >= 0)) {
			node_error(n, dim < -1 ? "shape has a dim of %" PRId64 : "shape has %" PRId64 " twice",
				   dim);
			return false;
		}
		if (dim == -1)
			open = i;
		out->dim[i] = dim == 0 && !zeros ? x.dim[i] : dim;
		if (dim != -1 && __builtin_mul_overflow(known, out->dim[i], &known)) {
			node_error(n, "shape has too many elements");
			return false;
		}
	}
	if (open < 0)
		return true;
	const int64_t count = shape_count(x);
	if (known <= 0 || count % known) {
		node_error(n, "%" PRId64 " elements of %s cannot fill dim %d: the others have %" PRId64,
			   count, text, open, known);
		return false;
	}
	out->dim[open] = count / known;
	return true;
}

void onnx_build_reshape(Node *n)
{
	const bool zeros = attr_int(n, "allowzero", 0) != 0;
	Ints wanted;
	Shape shape;

	if (!node_has(n, 1)) {
		if (!attr_ints(n, "shape", &wanted)) {
			node_error(n, "has no shape");
			return;
		}
	} else if (!node_ints(n, 1, "shape", &wanted)) {
		return;
	}
	if (resolve_reshape(n, wanted, zeros, &shape))
		n->out[0] = node_reshape(n, node_out(n, 0), n->in[0], shape);
}

void onnx_build_flatten(Node *n)
{
	const Shape x = n->in[0]->shape;
	int64_t axis = attr_int(n, "axis", 1);
	Shape shape = { 2, { 1, 1 } };

	/* The axis may be the one past the last. */
	if (axis != x.rank && !node_axis(n, &axis, x.rank))
		return;
	for (int i = 0; i < x.rank; i++)
		shape.dim[i >= axis] *= x.dim[i];
	n->out[0] = node_reshape(n, node_out(n, 0), n->in[0], shape);
}

/* Axes as an attribute, or, from some opset on, as an operand. */
static bool read_axes(Node *n, bool *given, Ints *axes)
{
	*given = attr_ints(n, "axes", axes);
	if (*given || !node_has(n, 1))
		return true;
	*given = true;
	return node_ints(n, 1, "axes", axes);
}

void onnx_build_squeeze(Node *n)
{
	const Shape x = n->in[0]->shape;
	Shape out = { 0 };
	Ints axes = { 0 };
	bool given;
	unsigned drop = 0;

	if (!read_axes(n, &given, &axes) || !node_axes(n, &axes, x.rank))
		return;
	for (int i = 0; i < axes.n; i++) {
		drop |= 1u << axes.v[i];
		if (x.dim[axes.v[i]] != 1) {
			node_error(n, "dim %" PRId64 " of %s is not 1", axes.v[i],
				   shape_text(n->r->arena, x));
			return;
		}
	}
	for (int i = 0; i < x.rank; i++)
		if (given ? !(drop & 1u << i) : x.dim[i] != 1)
			out.dim[out.rank++] = x.dim[i];
	n->out[0] = node_reshape(n, node_out(n, 0), n->in[0], out);
}

void onnx_build_unsqueeze(Node *n)
{
	const Shape x = n->in[0]->shape;
	Ints axes = { 0 };
	bool given, fresh[MAX_RANK] = { false };

	if (!read_axes(n, &given, &axes))
		return;
	if (!given) {
		node_error(n, "has no axes");
		return;
	}
	if (too_many_dims(n, (int64_t)x.rank + axes.n))
		return;
	Shape out = { .rank = x.rank + axes.n };
	if (!node_axes(n, &axes, out.rank))
		return;
	for (int i = 0; i < axes.n; i++)
		fresh[axes.v[i]] = true;
	for (int i = 0, from = 0; i < out.rank; i++)
		out.dim[i] = fresh[i] ? 1 : x.dim[from++];
	n->out[0] = node_reshape(n, node_out(n, 0), n->in[0], out);
}

/* The dims of a list that is a shape. */
static bool shape_of_list(Node *n, Ints list, Shape *out)
{
	if (too_many_dims(n, list.n))
		return false;
	*out = (Shape){ .rank = list.n };
	for (int i = 0; i < list.n; i++)
		out->dim[i] = list.v[i];
	if (shape_count(*out) >= 0)
		return true;
	node_error(n, "shape is negative or too large: %s", shape_text(n->r->arena, *out));
	return false;
}

void onnx_build_expand(Node *n)
{
	const Shape x = n->in[0]->shape;
	Ints list;
	Shape wanted, out;

	if (!node_ints(n, 1, "shape", &list) || !shape_of_list(n, list, &wanted))
		return;
	if (!shape_broadcast(x, wanted, &out)) {
		node_error(n, "%s does not broadcast to %s", shape_text(n->r->arena, x),
			   shape_text(n->r->arena, wanted));
		return;
	}
	n->out[0] = node_expand(n, node_out(n, 0), n->in[0], out);
}

/* Tiles by an expand over dims of 1 put before the repeated ones. */
void onnx_build_tile(Node *n)
{
	const Shape x = n->in[0]->shape;
	Ints repeats;
	Shape apart = { 0 }, wide = { 0 }, out = x;

	if (!node_ints(n, 1, "repeats", &repeats))
		return;
	if (repeats.n != x.rank) {
		node_error(n, "repeats has %d entries, the input has %d dims", repeats.n, x.rank);
		return;
	}
	for (int i = 0; i < x.rank; i++) {
		const int64_t times = repeats.v[i];
		if (times < 0 || __builtin_mul_overflow(x.dim[i], times, &out.dim[i])) {
			node_error(n, "repeats has %" PRId64, times);
			return;
		}
		if (wide.rank + 2 > MAX_RANK) {
			node_error(n, "repeats too many dims at once");
			return;
		}
		if (times != 1) {
			apart.dim[apart.rank++] = 1;
			wide.dim[wide.rank++] = times;
		}
		apart.dim[apart.rank++] = wide.dim[wide.rank++] = x.dim[i];
	}
	if (shape_count(out) < 0) {
		node_error(n, "result has too many elements: %s", shape_text(n->r->arena, out));
		return;
	}
	Op *rows = node_reshape(n, node_part(n, "apart"), n->in[0], apart);
	Op *tiled = node_expand(n, node_part(n, "tiled"), rows, wide);
	n->out[0] = node_reshape(n, node_out(n, 0), tiled, out);
}

void onnx_build_transpose(Node *n)
{
	const int rank = n->in[0]->shape.rank;
	int64_t reversed[MAX_RANK];
	Ints perm;

	if (!attr_ints(n, "perm", &perm)) {
		for (int i = 0; i < rank; i++)
			reversed[i] = rank - 1 - i;
		perm = ints_copy(n->r->arena, reversed, rank);
	}
	n->out[0] = node_transpose(n, node_out(n, 0), n->in[0], perm);
}

/* --- parts */

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Takes elements from `start` to before `end`, which may lie outside. */
static void slice_dim(int64_t dim, int64_t start, int64_t end, int64_t step, int64_t *first,
		      int64_t *count)
{
	const bool up = step > 0;
	const uint64_t stride = up ? (uint64_t)step : -(uint64_t)step;

	start = clamp(start < 0 ? start + dim : start, 0, up ? dim : dim - 1);
	end = clamp(end < 0 ? end + dim : end, up ? 0 : -1, up ? dim : dim - 1);
	const int64_t room = up ? end - start : start - end;
	*first = room > 0 && dim ? start : 0;
	*count = room > 0 && dim ? (int64_t)(((uint64_t)room - 1) / stride) + 1 : 0;
}

static Op *make_slice(Node *n, const char *name, const int64_t *starts, const int64_t *counts,
		      const int64_t *steps)
{
	const int rank = n->in[0]->shape.rank;
	Arena *arena = n->r->arena;
	Attrs a = { .slice = { ints_copy(arena, counts, rank), ints_copy(arena, starts, rank),
			       ints_copy(arena, steps, rank) } };
	return node_op(n, OP_SLICE, name, &a, 1, n->in);
}

typedef struct SliceLists {
	Ints starts, ends, axes, steps;
} SliceLists;

static bool read_slice(Node *n, SliceLists *s)
{
	bool ok;
	if (n->opset < 10) {
		ok = attr_ints(n, "starts", &s->starts) && attr_ints(n, "ends", &s->ends);
		attr_ints(n, "axes", &s->axes);
		if (!ok)
			node_error(n, "needs the attributes 'starts' and 'ends'");
	} else {
		ok = node_has(n, 1) && node_has(n, 2);
		if (!ok)
			node_error(n, "needs starts and ends");
		ok = ok && node_ints(n, 1, "starts", &s->starts) && node_ints(n, 2, "ends", &s->ends) &&
		     (!node_has(n, 3) || node_ints(n, 3, "axes", &s->axes)) &&
		     (!node_has(n, 4) || node_ints(n, 4, "steps", &s->steps));
	}
	const int count = s->starts.n;
	if (ok && (s->ends.n != count || (s->axes.n && s->axes.n != count) ||
		   (s->steps.n && s->steps.n != count))) {
		node_error(n, "starts, ends, axes and steps have %d, %d, %d and %d entries", count,
			   s->ends.n, s->axes.n, s->steps.n);
		return false;
	}
	return ok;
}

void onnx_build_slice(Node *n)
{
	const Shape x = n->in[0]->shape;
	SliceLists s = { 0 };
	int64_t starts[MAX_RANK] = { 0 }, counts[MAX_RANK], steps[MAX_RANK];
	bool seen[MAX_RANK] = { false };

	if (!read_slice(n, &s))
		return;
	for (int i = 0; i < x.rank; i++) {
		counts[i] = x.dim[i];
		steps[i] = 1;
	}
	for (int i = 0; i < s.starts.n; i++) {
		int64_t axis = s.axes.n ? s.axes.v[i] : i;
		if (!node_axis(n, &axis, x.rank))
			return;
		steps[axis] = s.steps.n ? s.steps.v[i] : 1;
		if (!steps[axis] || seen[axis]) {
			node_error(n, "%s axis %" PRId64, seen[axis] ? "slices twice" : "has a step of 0 for",
				   axis);
			return;
		}
		seen[axis] = true;
		slice_dim(x.dim[axis], s.starts.v[i], s.ends.v[i], steps[axis], &starts[axis],
			  &counts[axis]);
	}
	n->out[0] = make_slice(n, node_out(n, 0), starts, counts, steps);
}

/* The sizes of the parts: given, or as even as can be. */
static bool read_split(Node *n, int64_t dim, Ints *sizes)
{
	const int64_t parts = attr_int(n, "num_outputs", n->nout);
	int64_t sum = 0;

	if (!attr_ints(n, "split", sizes) && node_has(n, 1) && !node_ints(n, 1, "split", sizes))
		return false;
	if (!sizes->n) {
		if (parts != n->nout || (n->opset < 18 && dim % parts)) {
			node_error(n, "cannot split %" PRId64 " into %d equal parts", dim, n->nout);
			return false;
		}
		const int64_t each = dim / parts + (dim % parts != 0);
		int64_t *v = arena_array(n->r->arena, int64_t, n->nout);
		for (int i = 0; i < n->nout; i++)
			v[i] = clamp(dim - i * each, 0, each);
		*sizes = (Ints){ n->nout, v };
		return true;
	}
	if (sizes->n != n->nout) {
		node_error(n, "split has %d sizes for %d outputs", sizes->n, n->nout);
		return false;
	}
	for (int i = 0; i < sizes->n; i++)
		if (sizes->v[i] < 0 || __builtin_add_overflow(sum, sizes->v[i], &sum)) {
			node_error(n, "split has a size of %" PRId64, sizes->v[i]);
			return false;
		}
	if (sum != dim)
		node_error(n, "split sizes add up to %" PRId64 ", the dim is %" PRId64, sum, dim);
	return sum == dim;
}

void onnx_build_split(Node *n)
{
	const Shape x = n->in[0]->shape;
	int64_t axis = attr_int(n, "axis", 0), starts[MAX_RANK] = { 0 }, counts[MAX_RANK], steps[MAX_RANK];
	Ints sizes = { 0 };

	if (!n->nout || !node_axis(n, &axis, x.rank) || !read_split(n, x.dim[axis], &sizes))
		return;
	for (int i = 0; i < x.rank; i++) {
		counts[i] = x.dim[i];
		steps[i] = 1;
	}
	for (int i = 0; i < n->nout; i++) {
		counts[axis] = sizes.v[i];
		if (node_wants(n, i))
			n->out[i] = make_slice(n, node_out(n, i), starts, counts, steps);
		starts[axis] += sizes.v[i];
	}
}

/* --- padding, joining, picking */

void onnx_build_concat(Node *n)
{
	Attrs a = { .axis.axis = attr_int(n, "axis", 1) };

	for (int i = 0; i < n->nin; i++)
		if (!n->in[i]) {
			node_error(n, "input %d is missing", i);
			return;
		}
	if (n->opset >= 4 && !attr_has(n, "axis"))
		node_error(n, "needs the attribute 'axis'");
	else if (node_axis(n, &a.axis.axis, n->in[0]->shape.rank))
		n->out[0] = node_op(n, OP_CONCAT, node_out(n, 0), &a, n->nin, n->in);
}

void onnx_build_gather(Node *n)
{
	Attrs a = { .axis.axis = attr_int(n, "axis", 0) };
	if (node_axis(n, &a.axis.axis, n->in[0]->shape.rank))
		n->out[0] = node_op(n, OP_GATHER, node_out(n, 0), &a, 2, n->in);
}

void onnx_build_depth_to_space(Node *n)
{
	static const char *const orders[] = { "DCR", "CRD" };
	Attrs a = { .block.block = attr_int(n, "blocksize", 0) };
	int order = attr_choice(n, "mode", orders, 2, ORDER_DCR);
	if (order < 0)
		return;
	a.block.order = (BlockOrder)order;
	n->out[0] = node_op(n, OP_DEPTH_TO_SPACE, node_out(n, 0), &a, 1, n->in);
}

void onnx_build_space_to_depth(Node *n)
{
	Attrs a = attrs_default(OP_SPACE_TO_DEPTH);
	a.block.block = attr_int(n, "blocksize", 0);
	n->out[0] = node_op(n, OP_SPACE_TO_DEPTH, node_out(n, 0), &a, 1, n->in);
}
