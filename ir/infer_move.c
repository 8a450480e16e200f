/* Ops that move elements and compute nothing. */
#include "ir/infer.h"

#include <inttypes.h>

/* Adds to *sum; false if it does not fit. */
static bool add_to(int64_t *sum, int64_t v)
{
	return !__builtin_add_overflow(*sum, v, sum);
}

/* Inputs joined along `axis`. */
static Result join(const Graph *g, const Op *op, int64_t axis)
{
	const Op *x = op_in(op, 0);
	Shape out = x->shape;
	if (!infer_same_types(g, op, 0) || !infer_axis(g, op, axis, out.rank))
		return (Result){ TYPE_NONE };
	for (int i = 1; i < op->nin; i++) {
		Shape s = op_in(op, i)->shape, same = s;
		if (s.rank == out.rank)
			same.dim[axis] = x->shape.dim[axis];
		if (!shape_equal(same, x->shape))
			return infer_fail(g, op,
					  "input 0 is %s, input %d is %s: all dims but %" PRId64
					  " must agree",
					  shape_text(g->arena, x->shape), i,
					  shape_text(g->arena, s), axis);
		if (!add_to(&out.dim[axis], s.dim[axis]))
			return infer_fail(g, op, "result has too many elements");
	}
	return (Result){ x->dtype, out };
}

Result infer_output(const Graph *g, const Op *op)
{
	if (op->nin == 1)
		return (Result){ op_in(op, 0)->dtype, op_in(op, 0)->shape };
	return join(g, op, op->attr.axis.axis);
}

Result infer_concat(const Graph *g, const Op *op)
{
	return join(g, op, op->attr.axis.axis);
}

Result infer_reshape(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	Shape out;
	if (!infer_shape_list(g, op, "shape", op->attr.shape.shape, &out))
		return (Result){ TYPE_NONE };
	if (shape_count(out) != shape_count(x->shape))
		return infer_fail(g, op,
				  "input %s has %" PRId64 " elements, shape %s has %" PRId64,
				  shape_text(g->arena, x->shape), shape_count(x->shape),
				  shape_text(g->arena, out), shape_count(out));
	return (Result){ x->dtype, out };
}

Result infer_expand(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	Shape want, got;
	if (!infer_shape_list(g, op, "shape", op->attr.shape.shape, &want))
		return (Result){ TYPE_NONE };
	if (!shape_broadcast(x->shape, want, &got) || !shape_equal(want, got))
		return infer_fail(g, op, "input %s does not expand to %s",
				  shape_text(g->arena, x->shape), shape_text(g->arena, want));
	return (Result){ x->dtype, want };
}

Result infer_slice(const Graph *g, const Op *op)
{
	const sliceAttr *s = &op->attr.slice;
	const Op *x = op_in(op, 0);
	Shape out = { .rank = x->shape.rank };
	if (!infer_list(g, op, "counts", s->counts, out.rank, 0) ||
	    !infer_list(g, op, "starts", s->starts, out.rank, INT64_MIN) ||
	    !infer_list(g, op, "steps", s->steps, out.rank, INT64_MIN))
		return (Result){ TYPE_NONE };
	for (int i = 0; i < out.rank; i++) {
		int64_t start = s->starts.v[i], step = s->steps.v[i], dim = x->shape.dim[i], last;
		out.dim[i] = s->counts.v[i];
		if (!step)
			return infer_fail(g, op, "steps[%d] is 0", i);
		if (!out.dim[i])
			continue;
		if (__builtin_mul_overflow(out.dim[i] - 1, step, &last) || !add_to(&last, start))
			return infer_fail(g, op, "dim %d has no elements as far as counts[%d] asks",
					  i, i);
		if (start < 0 || start >= dim || last < 0 || last >= dim)
			return infer_fail(g, op,
					  "elements %" PRId64 " to %" PRId64
					  " are out of range for dim %d of %" PRId64,
					  start, last, i, dim);
	}
	return (Result){ x->dtype, out };
}

/* Whether the mode can make up `pad` elements next to `kept`. */
static bool pad_can_fill(const Graph *g, const Op *op, int i, int64_t pad, int64_t kept)
{
	PadMode mode = op->attr.pad.mode;
	int64_t most = mode == PAD_CONSTANT ? INT64_MAX
		: kept == 0 ? 0
		: mode == PAD_REFLECT ? kept - 1 : INT64_MAX;
	if (pad <= most)
		return true;
	infer_fail(g, op, "pads[%d] wants at most %" PRId64 " next to %" PRId64 ", has %" PRId64,
		   i, most, kept, pad);
	return false;
}

/* Negative pads crop first, and what is kept is then padded. */
Result infer_pad(const Graph *g, const Op *op)
{
	Ints pads = op->attr.pad.pads;
	const Op *x = op_in(op, 0);
	const int rank = x->shape.rank;
	Shape out = x->shape;
	if (!infer_list(g, op, "pads", pads, 2 * rank, INT64_MIN))
		return (Result){ TYPE_NONE };
	for (int i = 0; i < rank; i++) {
		int64_t n = out.dim[i], begin = pads.v[i], end = pads.v[i + rank], kept = n;
		if ((begin < 0 && !add_to(&kept, begin)) || (end < 0 && !add_to(&kept, end)) ||
		    kept < 0)
			return infer_fail(g, op,
					  "pads %" PRId64 " and %" PRId64 " leave less than nothing of"
					  " dim %d of %" PRId64,
					  begin, end, i, n);
		if (!pad_can_fill(g, op, i, begin, kept) ||
		    !pad_can_fill(g, op, i + rank, end, kept))
			return (Result){ TYPE_NONE };
		if (!add_to(&out.dim[i], begin) || !add_to(&out.dim[i], end))
			return infer_fail(g, op, "result has too many elements in dim %d", i);
	}
	return (Result){ x->dtype, out };
}

static bool indices_in_range(const Graph *g, const Op *op, const Tensor *t, int64_t n)
{
	const bool no_sign = t->dtype == TYPE_U64;
	int64_t count = tensor_count(t);
	for (int64_t i = 0; i < (t->splat && count ? 1 : count); i++) {
		int64_t index = tensor_i64(t, i);
		if (index < n && index >= (no_sign ? 0 : -n))
			continue;
		infer_fail(g, op, "index %s%" PRIu64 " is out of range for a dim of %" PRId64,
			   index < 0 && !no_sign ? "-" : "",
			   index < 0 && !no_sign ? -(uint64_t)index : (uint64_t)index, n);
		return false;
	}
	return true;
}

Result infer_gather(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0), *indices = op_in(op, 1);
	int64_t axis = op->attr.axis.axis;
	TypeClass class = type_info[indices->dtype].class;
	if (!infer_axis(g, op, axis, x->shape.rank))
		return (Result){ TYPE_NONE };
	if (class != SIGNED && class != UNSIGNED)
		return infer_fail(g, op, "indices want an integer type, have %s",
				  type_info[indices->dtype].name);
	Shape out = { .rank = x->shape.rank - 1 + indices->shape.rank };
	if (out.rank > MAX_RANK)
		return infer_fail(g, op, "result wants at most %d dims, has %d", MAX_RANK, out.rank);
	int n = 0;
	for (int i = 0; i < axis; i++)
		out.dim[n++] = x->shape.dim[i];
	for (int i = 0; i < indices->shape.rank; i++)
		out.dim[n++] = indices->shape.dim[i];
	for (int i = (int)axis + 1; i < x->shape.rank; i++)
		out.dim[n++] = x->shape.dim[i];
	const Tensor *known = op_value(indices);
	if (known && !indices_in_range(g, op, known, x->shape.dim[axis]))
		return (Result){ TYPE_NONE };
	return (Result){ x->dtype, out };
}

Result infer_select_channels(const Graph *g, const Op *op)
{
	Ints channels = op->attr.channels.channels;
	const Op *x = op_in(op, 0);
	Shape out = x->shape;
	if (!infer_rank(g, op, 2, MAX_RANK) ||
	    !infer_list(g, op, "channels", channels, channels.n, 0))
		return (Result){ TYPE_NONE };
	for (int i = 0; i < channels.n; i++)
		if (channels.v[i] >= x->shape.dim[1])
			return infer_fail(g, op,
					  "channels[%d] is %" PRId64 ", input has %" PRId64
					  " channels",
					  i, channels.v[i], x->shape.dim[1]);
	out.dim[1] = channels.n;
	return (Result){ x->dtype, out };
}

static bool block_divides(const Graph *g, const Op *op, const char *what, int64_t n, int64_t by)
{
	if (n % by == 0)
		return true;
	infer_fail(g, op, "%s of %" PRId64 " does not divide by %" PRId64, what, n, by);
	return false;
}

/* N,C,H,W, and a block whose square is an int64_t. */
static bool block_is_sound(const Graph *g, const Op *op)
{
	const int64_t block = op->attr.block.block, most = INT32_MAX;
	if (!infer_rank(g, op, 4, 4))
		return false;
	if (block >= 1 && block <= most)
		return true;
	infer_fail(g, op, "block wants 1 to %" PRId64 ", has %" PRId64, most, block);
	return false;
}

Result infer_depth_to_space(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	int64_t block = op->attr.block.block;
	Shape out = x->shape;
	if (!block_is_sound(g, op) ||
	    !block_divides(g, op, "channel count", out.dim[1], block * block))
		return (Result){ TYPE_NONE };
	out.dim[1] /= block * block;
	if (__builtin_mul_overflow(out.dim[2], block, &out.dim[2]) ||
	    __builtin_mul_overflow(out.dim[3], block, &out.dim[3]))
		return infer_fail(g, op, "result has too many elements");
	return (Result){ x->dtype, out };
}

Result infer_space_to_depth(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	int64_t block = op->attr.block.block;
	Shape out = x->shape;
	if (!block_is_sound(g, op) || !block_divides(g, op, "height", out.dim[2], block) ||
	    !block_divides(g, op, "width", out.dim[3], block))
		return (Result){ TYPE_NONE };
	if (__builtin_mul_overflow(out.dim[1], block * block, &out.dim[1]))
		return infer_fail(g, op, "result has too many elements");
	out.dim[2] /= block;
	out.dim[3] /= block;
	return (Result){ x->dtype, out };
}

/* The least and the greatest address of a view of at least one element. */
static bool view_range(const viewAttr *v, int64_t *low, int64_t *high)
{
	*low = *high = v->offset;
	for (int i = 0; i < v->dims.n; i++) {
		int64_t reach;
		if (__builtin_mul_overflow(v->dims.v[i] - 1, v->strides.v[i], &reach) ||
		    !add_to(reach < 0 ? low : high, reach))
			return false;
	}
	return true;
}

Result infer_view(const Graph *g, const Op *op)
{
	const viewAttr *v = &op->attr.view;
	const Op *x = op_in(op, 0);
	int64_t count = shape_count(x->shape), low, high;
	Shape out, dims;
	if (!infer_shape_list(g, op, "shape", v->shape, &out) ||
	    !infer_shape_list(g, op, "dims", v->dims, &dims) ||
	    !infer_list(g, op, "strides", v->strides, v->dims.n, INT64_MIN))
		return (Result){ TYPE_NONE };
	if (shape_count(dims) != shape_count(out))
		return infer_fail(g, op, "dims %s have %" PRId64 " elements, shape %s has %" PRId64,
				  shape_text(g->arena, dims), shape_count(dims),
				  shape_text(g->arena, out), shape_count(out));
	if (!shape_count(dims))
		return (Result){ x->dtype, out };
	if (!view_range(v, &low, &high))
		return infer_fail(g, op, "offset and strides are too large");
	if (low < 0 || high >= count)
		return infer_fail(g, op,
				  "addresses %" PRId64 " to %" PRId64 " are out of range for %" PRId64
				  " elements",
				  low, high, count);
	return (Result){ x->dtype, out };
}
