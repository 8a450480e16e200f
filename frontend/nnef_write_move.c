/* Ops that move elements about, as strict NNEF. */
#include "frontend/nnef_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* `count` elements from `start` by `step` along each dim of `x`. */
static void say_slice(Writer *w, const char *id, const char *x, Shape in, const int64_t *start,
		      const int64_t *step, const int64_t *count)
{
	int64_t axes[MAX_RANK], begin[MAX_RANK], end[MAX_RANK], stride[MAX_RANK];
	int n = 0;
	for (int i = 0; i < in.rank; i++) {
		bool whole = start[i] == 0 && step[i] == 1 && count[i] == in.dim[i];
		if (whole && (i || in.rank > 1))
			continue;
		int64_t last = start[i] + (count[i] - 1) * step[i];
		axes[n] = i;
		begin[n] = start[i];
		/* Going down past the first element has no positive end. */
		end[n] = step[i] > 0 ? last + 1 : last > 0 ? last - 1 : -in.dim[i] - 1;
		stride[n++] = step[i];
	}
	if (!n)
		writer_say(w, id, "copy(%s)", x);
	else
		writer_say(w, id, "slice(%s, axes = %s, begin = %s, end = %s, stride = %s)", x,
			   writer_ints(w, axes, n), writer_ints(w, begin, n),
			   writer_ints(w, end, n), writer_ints(w, stride, n));
}

void writer_slice(Writer *w, const Op *op, const char *id)
{
	const sliceAttr *s = &op->attr.slice;
	say_slice(w, id, writer_ref(w, op_in(op, 0)), op_in(op, 0)->shape, s->starts.v, s->steps.v,
		  s->counts.v);
}

/* What negative pads crop; `*shape` is then what is left. */
static const char *crop(Writer *w, const Op *op, const char *id, Shape *shape)
{
	int64_t start[MAX_RANK], step[MAX_RANK], count[MAX_RANK];
	const int64_t *begin = op->attr.pad.pads.v, *end = begin + shape->rank;
	const char *x = writer_ref(w, op_in(op, 0));
	bool any = false;
	for (int i = 0; i < shape->rank; i++) {
		start[i] = begin[i] < 0 ? -begin[i] : 0;
		step[i] = 1;
		count[i] = shape->dim[i] - start[i] + (end[i] < 0 ? end[i] : 0);
		any = any || count[i] != shape->dim[i];
	}
	if (!any)
		return x;
	const char *cropped = writer_part(w, id, "cropped");
	say_slice(w, cropped, x, *shape, start, step, count);
	memcpy(shape->dim, count, (size_t)shape->rank * sizeof *count);
	return cropped;
}

/* What lies beyond one edge is what lies at the other. */
static void write_wrap(Writer *w, const char *id, const char *x, Shape s, const int64_t *pads)
{
	int64_t start[MAX_RANK] = { 0 }, step[MAX_RANK], count[MAX_RANK];
	int last = -1;
	for (int i = 0; i < s.rank; i++) {
		step[i] = 1;
		if (pads[i] > s.dim[i] || pads[s.rank + i] > s.dim[i]) {
			writer_refuse(w, "it wraps around more than once");
			return;
		}
		if (pads[i] > 0 || pads[s.rank + i] > 0)
			last = i;
	}
	for (int i = 0; i <= last; i++) {
		int64_t dim = s.dim[i], side[2] = { pads[i], pads[s.rank + i] };
		const char *part[2] = { "", "" };
		if (side[0] <= 0 && side[1] <= 0)
			continue;
		for (int k = 0; k < 2; k++) {
			if (side[k] <= 0)
				continue;
			part[k] = writer_part(w, id, k ? "first" : "last");
			memcpy(count, s.dim, sizeof count);
			count[i] = side[k];
			start[i] = k ? 0 : dim - side[k];
			say_slice(w, part[k], x, s, start, step, count);
			start[i] = 0;
		}
		const char *to = i == last ? id : writer_part(w, id, "wrapped");
		writer_say(w, to, "concat([%s%s%s%s%s], axis = %d)", part[0], *part[0] ? ", " : "", x,
			   *part[1] ? ", " : "", part[1], i);
		s.dim[i] += (side[0] > 0 ? side[0] : 0) + (side[1] > 0 ? side[1] : 0);
		x = to;
	}
	if (last < 0)
		writer_say(w, id, "copy(%s)", x);
}

void writer_pad(Writer *w, const Op *op, const char *id)
{
	static const char *const borders[PadMode_COUNT] = {
		[PAD_CONSTANT] = "constant", [PAD_EDGE] = "replicate", [PAD_REFLECT] = "reflect",
	};
	const padAttr *p = &op->attr.pad;
	Shape s = op_in(op, 0)->shape;
	int64_t begin[MAX_RANK], end[MAX_RANK];
	bool any = false;
	if (p->mode == PAD_CONSTANT && !isfinite(p->value)) {
		writer_refuse(w, "NNEF has no literal for %g", (double)p->value);
		return;
	}
	for (int i = 0; i < s.rank; i++) {
		begin[i] = p->pads.v[i] > 0 ? p->pads.v[i] : 0;
		end[i] = p->pads.v[s.rank + i] > 0 ? p->pads.v[s.rank + i] : 0;
		any = any || begin[i] || end[i];
	}
	const char *x = crop(w, op, id, &s);
	if (!any)
		writer_say(w, id, "copy(%s)", x);
	else if (p->mode == PAD_WRAP)
		write_wrap(w, id, x, s, p->pads.v);
	else if (p->mode == PAD_CONSTANT)
		writer_say(w, id, "pad(%s, padding = %s, border = 'constant', value = %s)", x,
			   writer_pairs(w, begin, end, s.rank), writer_scalar(w, p->value));
	else
		writer_say(w, id, "pad(%s, padding = %s, border = '%s')", x,
			   writer_pairs(w, begin, end, s.rank), borders[p->mode]);
}

void writer_expand(Writer *w, const Op *op, const char *id)
{
	const Op *x = op_in(op, 0);
	int rank = op->shape.rank, more = rank - x->shape.rank;
	int64_t repeats[MAX_RANK];
	for (int i = 0; i < rank; i++)
		repeats[i] = op->shape.dim[i] / (i < more ? 1 : x->shape.dim[i - more]);
	Shape wide = { .rank = rank };
	for (int i = 0; i < rank; i++)
		wide.dim[i] = i < more ? 1 : x->shape.dim[i - more];
	writer_say(w, id, "tile(%s, repeats = %s)", writer_ref_as(w, x, wide),
		   writer_ints(w, repeats, rank));
}

/* Indices from the end are counted from the start; all are integers. */
static const char *indices(Writer *w, const Op *op, int64_t dim)
{
	const Tensor *t = op_value(op);
	bool fits = !t || t->dtype == TYPE_I64;
	for (int64_t i = 0; t && i < tensor_count(t); i++)
		fits = fits && tensor_i64(t, i) >= 0;
	if (fits)
		return writer_ref(w, op);
	Tensor *fixed = tensor_create(w->arena, TYPE_I64, t->shape);
	for (int64_t i = 0; i < tensor_count(t); i++) {
		int64_t at = tensor_i64(t, i);
		tensor_set_i64(fixed, i, at < 0 ? at + dim : at);
	}
	if (!t->shape.rank)
		return arena_printf(w->arena, "%" PRId64, tensor_i64(fixed, 0));
	return writer_variable(w, op->name, fixed);
}

void writer_gather(Writer *w, const Op *op, const char *id)
{
	const Op *x = op_in(op, 0);
	int64_t axis = op->kind == OP_GATHER ? op->attr.axis.axis : 1;
	const char *which;
	if (op->kind == OP_GATHER) {
		which = indices(w, op_in(op, 1), x->shape.dim[axis]);
	} else {
		Ints list = op->attr.channels.channels;
		which = writer_variable(w, arena_printf(w->arena, "%s_channels", id),
					tensor_of_ints(w->arena, list.v, list.n));
	}
	writer_say(w, id, "gather(%s, %s, axis = %" PRId64 ")", writer_ref(w, x), which, axis);
}

/* Reshape, transpose, reshape. */
void writer_blocks(Writer *w, const Op *op, const char *id)
{
	static const int64_t perms[2][2][6] = {
		{ { 0, 3, 4, 1, 5, 2 }, { 0, 1, 4, 2, 5, 3 } }, /* depth to space: dcr, crd */
		{ { 0, 3, 5, 1, 2, 4 }, { 0, 1, 3, 5, 2, 4 } }, /* space to depth */
	};
	const Op *x = op_in(op, 0);
	const int64_t b = op->attr.block.block, *in = x->shape.dim, *out = op->shape.dim;
	bool dcr = op->attr.block.order == ORDER_DCR, to_space = op->kind == OP_DEPTH_TO_SPACE;
	const int64_t split[3][6] = {
		{ in[0], b, b, out[1], in[2], in[3] },
		{ in[0], out[1], b, b, in[2], in[3] },
		{ in[0], in[1], out[2], b, out[3], b },
	};
	const char *a = writer_part(w, id, "split"), *t = writer_part(w, id, "turned");
	writer_say(w, a, "reshape(%s, shape = %s)", writer_ref(w, x),
		   writer_ints(w, split[to_space ? !dcr : 2], 6));
	writer_say(w, t, "transpose(%s, axes = %s)", a, writer_ints(w, perms[!to_space][!dcr], 6));
	writer_say(w, id, "reshape(%s, shape = %s)", t, writer_ints(w, out, 4));
}

/* A strided view is a gather of the flattened input. */
void writer_view(Writer *w, const Op *op, const char *id)
{
	const viewAttr *v = &op->attr.view;
	const Op *x = op_in(op, 0);
	int64_t count = shape_count(op->shape), index[MAX_RANK] = { 0 };
	Tensor *t = tensor_create(w->arena, TYPE_I64, SHAPE(count));
	for (int64_t i = 0; i < count; i++) {
		int64_t at = v->offset;
		for (int d = 0; d < v->dims.n; d++)
			at += index[d] * v->strides.v[d];
		tensor_set_i64(t, i, at);
		for (int d = v->dims.n - 1; d >= 0 && ++index[d] == v->dims.v[d]; d--)
			index[d] = 0;
	}
	const char *flat = writer_ref_as(w, x, SHAPE(shape_count(x->shape)));
	const char *picked = writer_part(w, id, "picked");
	writer_say(w, picked, "gather(%s, %s, axis = 0)", flat,
		   writer_variable(w, arena_printf(w->arena, "%s_order", id), t));
	writer_say(w, id, "reshape(%s, shape = %s)", picked,
		   writer_ints(w, op->shape.dim, op->shape.rank));
}
