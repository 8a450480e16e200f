/* Slices, pads, tiles, gathers, casts. */
#include "frontend/nnef_lower.h"

#include <inttypes.h>
#include <string.h>

/* Where a slice of one dim starts and how much it takes. An end of 0 means the
 * end of the dim, unless the slice runs backwards; then it runs down to the
 * end exclusive, and -1 is reached by clamping. */
static bool slice_dim(Call *c, int axis, int64_t dim, int64_t *begin, int64_t end, int64_t step,
		      int64_t *count)
{
	if (end == 0 && step == 1)
		end = dim;
	int64_t from = *begin < 0 ? *begin + dim : *begin, to = end < 0 ? end + dim : end;
	from = from < -1 ? -1 : from > dim ? dim : from;
	to = to < -1 ? -1 : to > dim ? dim : to;
	bool ok = step > 0 ? from >= 0 && from <= to : to <= from && from < dim;
	if (!ok) {
		call_error(c, "range %" PRId64 ":%" PRId64 ":%" PRId64 " is wrong for dim %d of %" PRId64,
			   *begin, end, step, axis, dim);
		return false;
	}
	int64_t room = step > 0 ? to - from : from - to, stride = step > 0 ? step : -step;
	*count = room / stride + (room % stride != 0);
	*begin = from;
	return true;
}

Value nnef_lower_slice(Call *c)
{
	int64_t start[MAX_RANK] = { 0 }, step[MAX_RANK], count[MAX_RANK];
	bool seen[MAX_RANK] = { false };
	Op *x = arg_op(c, "input");
	Ints axes = arg_ints(c, "axes"), begin = arg_ints(c, "begin");
	Ints end = arg_ints(c, "end"), stride = arg_ints(c, "stride");
	if (!x)
		return NO_VALUE;
	if (begin.n != axes.n || end.n != axes.n || (stride.n && stride.n != axes.n))
		return call_error(c, "%d axes, but 'begin' has %d items, 'end' %d, 'stride' %d", axes.n,
				  begin.n, end.n, stride.n);
	for (int i = 0; i < x->shape.rank; i++) {
		step[i] = 1;
		count[i] = x->shape.dim[i];
	}
	for (int i = 0; i < axes.n; i++) {
		int64_t axis = axes.v[i], by = stride.n ? stride.v[i] : 1;
		if (axis < 0 || axis >= x->shape.rank || seen[axis])
			return call_error(c, "axis %" PRId64 " is named twice or out of range for %d dims",
					  axis, x->shape.rank);
		if (!by || by > MAX_ELEMENTS || by < -MAX_ELEMENTS)
			return call_error(c, "stride[%d] is %" PRId64, i, by);
		if (begin.v[i] > MAX_ELEMENTS || begin.v[i] < -MAX_ELEMENTS ||
		    end.v[i] > INT64_MAX / 2 || end.v[i] < INT64_MIN / 2)
			return call_error(c, "begin %" PRId64 " or end %" PRId64 " is out of range",
					  begin.v[i], end.v[i]);
		seen[axis] = true;
		step[axis] = by;
		start[axis] = begin.v[i];
		if (!slice_dim(c, (int)axis, x->shape.dim[axis], &start[axis], end.v[i], by,
			       &count[axis]))
			return NO_VALUE;
	}
	return value_tensor(emit_slice(c, NULL, x, start, step, count));
}

Value nnef_lower_pad(Call *c)
{
	Op *x = arg_op(c, "input");
	Value pads = arg_value(c, "padding");
	const char *border = arg_string(c, "border");
	Window w[MAX_RANK];
	if (!x)
		return NO_VALUE;
	if (pads.n != x->shape.rank)
		return call_error(c, "'padding' has %d items, input has %d dims", pads.n, x->shape.rank);
	bool any = false;
	for (int i = 0; i < pads.n; i++) {
		int64_t p = pads.item[i].item[0].integer, q = pads.item[i].item[1].integer;
		if (p > MAX_ELEMENTS || p < -MAX_ELEMENTS || q > MAX_ELEMENTS || q < -MAX_ELEMENTS)
			return call_error(c, "padding of %" PRId64 " and %" PRId64 " is out of range", p, q);
		w[i] = (Window){ 1, 1, 1, p, q };
		any = any || p || q;
	}
	if (!any)
		return value_tensor(emit(c, NULL, OP_IDENTITY, NULL, 1, &x));
	if (strcmp(border, "constant") != 0)
		return value_tensor(window_pad(c, NULL, x, 0, pads.n, w, border));
	return value_tensor(window_fill(c, NULL, x, 0, pads.n, w, PAD_CONSTANT,
					(float)arg_scalar(c, "value")));
}

/* Repeats one dim: it is split in two, expanded and joined again. */
static Op *repeat_dim(Call *c, const char *suffix, Op *x, int axis, int64_t times)
{
	Attrs attr = attrs_default(OP_EXPAND);
	Shape split = x->shape, out = x->shape;
	if (split.rank == MAX_RANK || times > MAX_ELEMENTS / x->shape.dim[axis]) {
		call_error(c, "%s repeated %" PRId64 " times in dim %d is too large",
			   shape_text(c->n->arena, x->shape), times, axis);
		return NULL;
	}
	out.dim[axis] *= times;
	memmove(&split.dim[axis + 1], &split.dim[axis],
		(size_t)(split.rank - axis) * sizeof split.dim[0]);
	split.rank++;
	split.dim[axis] = 1;
	x = emit_reshape(c, "split", x, split);
	split.dim[axis] = times;
	attr.shape.shape = ints_of_shape(c->n->arena, split);
	x = emit(c, "expanded", OP_EXPAND, &attr, 1, &x);
	return emit_reshape(c, suffix, x, out);
}

/* Dims of 1 expand, all of them at once; others are repeated one by one. */
Value nnef_lower_tile(Call *c)
{
	Attrs attr = attrs_default(OP_EXPAND);
	Op *x = arg_op(c, "input");
	Ints repeats = arg_ints(c, "repeats");
	int last = -1;
	bool expands = false;
	if (!x)
		return NO_VALUE;
	if (repeats.n != x->shape.rank)
		return call_error(c, "'repeats' has %d items, input has %d dims", repeats.n, x->shape.rank);
	Shape in = x->shape, expanded = in;
	for (int i = 0; i < repeats.n; i++) {
		if (repeats.v[i] < 1 || repeats.v[i] > MAX_ELEMENTS)
			return call_error(c, "repeats[%d] is %" PRId64, i, repeats.v[i]);
		if (in.dim[i] == 1)
			expanded.dim[i] = repeats.v[i];
		else if (repeats.v[i] > 1)
			last = i;
		expands = expands || expanded.dim[i] != in.dim[i];
	}
	attr.shape.shape = ints_of_shape(c->n->arena, expanded);
	if (expands || last < 0)
		x = emit(c, last < 0 ? NULL : "part", expands ? OP_EXPAND : OP_IDENTITY,
			 expands ? &attr : NULL, 1, &x);
	for (int i = 0; x && i <= last; i++)
		if (in.dim[i] != 1 && repeats.v[i] > 1)
			x = repeat_dim(c, i == last ? NULL : "part", x, i, repeats.v[i]);
	return value_tensor(x);
}

Value nnef_lower_gather(Call *c)
{
	Attrs attr = attrs_default(OP_GATHER);
	Op *in[2] = { arg_op(c, "input"), arg_op(c, "indices") };
	int axis;
	if (!in[0] || !arg_axis(c, "axis", in[0]->shape.rank, &axis))
		return NO_VALUE;
	attr.axis.axis = axis;
	return value_tensor(emit(c, NULL, OP_GATHER, &attr, 2, in));
}

Value nnef_lower_cast(Call *c)
{
	Attrs attr = attrs_default(OP_CAST);
	Op *x = arg_op(c, "input");
	if (c->type == TYPE_NONE)
		return call_error(c, "the type to cast to is missing: cast<scalar>(...)");
	attr.cast.to = c->type;
	return value_tensor(emit(c, NULL, OP_CAST, &attr, 1, &x));
}
