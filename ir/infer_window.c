/* Windows over spatial dims: convolution, pooling, resizing. */
#include "ir/infer.h"

#include <inttypes.h>
#include <math.h>

enum { MAX_SPATIAL = 3 };

/* Sizes along one spatial dim. */
typedef struct Window {
	int64_t in, kernel, stride, dilation, begin, end;
} Window;

/* Input elements the window spans: (kernel - 1) * dilation + 1. */
static bool window_span(const Window *w, int64_t *span)
{
	return !__builtin_mul_overflow(w->kernel - 1, w->dilation, span) &&
	       !__builtin_add_overflow(*span, 1, span);
}

static bool overflows(const Graph *g, const Op *op, int dim)
{
	infer_fail(g, op, "kernel, dilation and pads of spatial dim %d are too large", dim);
	return false;
}

/* How many windows fit into the padded input. `ceil` counts a last one that
 * is cut off, unless it would start in the end padding. */
static bool count_windows(const Graph *g, const Op *op, int dim, const Window *w,
			  bool ceil, int64_t *out)
{
	int64_t span, padded;
	if (!window_span(w, &span) || __builtin_add_overflow(w->in, w->begin, &padded) ||
	    __builtin_add_overflow(padded, w->end, &padded))
		return overflows(g, op, dim);
	int64_t room = padded - span; /* below 0: even the first is cut off */
	if (w->in < 1 || room < (ceil ? 1 - w->stride : 0)) {
		infer_fail(g, op,
			   "window of %" PRId64 " does not fit padded input of %" PRId64
			   " in spatial dim %d",
			   span, padded, dim);
		return false;
	}
	*out = room / w->stride + 1;
	if (ceil && room > 0 && room % w->stride && *out <= (w->in + w->begin - 1) / w->stride)
		++*out;
	return true;
}

/* The window of spatial dim i, of n. */
static Window window_at(const Op *op, int i, int n, int64_t kernel, Ints strides,
			Ints dilations, Ints pads)
{
	return (Window){ op_in(op, 0)->shape.dim[i + 2], kernel, strides.v[i],
			 dilations.v[i], pads.v[i], pads.v[i + n] };
}

/* What conv and conv_transpose share. Weights are O,I/groups,spatial or, for
 * conv_transpose, I,O/groups,spatial. */
static bool conv_is_sound(const Graph *g, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	Shape w = op_in(op, 1)->shape;
	int n = op_in(op, 0)->shape.rank - 2;
	if (!infer_rank(g, op, 3, 2 + MAX_SPATIAL) || !infer_float(g, op, 0) ||
	    !infer_same_types(g, op, 0))
		return false;
	if (w.rank != n + 2) {
		infer_fail(g, op, "weights want %d dims, have %d", n + 2, w.rank);
		return false;
	}
	if (shape_count(w) <= 0) {
		infer_fail(g, op, "weights are empty: %s", shape_text(g->arena, w));
		return false;
	}
	if (c->groups < 1) {
		infer_fail(g, op, "groups wants at least 1, has %" PRId64, c->groups);
		return false;
	}
	return infer_list(g, op, "strides", c->strides, n, 1) &&
	       infer_list(g, op, "dilations", c->dilations, n, 1) &&
	       infer_list(g, op, "pads", c->pads, 2 * n, 0);
}

Result infer_conv(const Graph *g, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	Shape x = op_in(op, 0)->shape, w = op_in(op, 1)->shape;
	if (!conv_is_sound(g, op) ||
	    !infer_list(g, op, "output_padding", c->output_padding, 0, 0))
		return (Result){ TYPE_NONE };
	if (x.dim[1] % c->groups || x.dim[1] / c->groups != w.dim[1])
		return infer_fail(g, op,
				  "weights want %" PRId64 " input channels in %" PRId64
				  " groups, input has %" PRId64,
				  w.dim[1], c->groups, x.dim[1]);
	if (w.dim[0] % c->groups)
		return infer_fail(g, op,
				  "%" PRId64 " output channels do not divide into %" PRId64
				  " groups",
				  w.dim[0], c->groups);
	if (op->nin > 2 && !infer_vector(g, op, 2, w.dim[0], "bias"))
		return (Result){ TYPE_NONE };
	Shape out = { x.rank, { x.dim[0], w.dim[0] } };
	for (int i = 0; i < x.rank - 2; i++) {
		Window win = window_at(op, i, x.rank - 2, w.dim[i + 2], c->strides,
				       c->dilations, c->pads);
		if (!count_windows(g, op, i, &win, false, &out.dim[i + 2]))
			return (Result){ TYPE_NONE };
	}
	return (Result){ op_in(op, 0)->dtype, out };
}

/* stride * (in - 1) + output padding + span - pads */
static bool spread_windows(const Graph *g, const Op *op, int dim, const Window *w,
			   int64_t extra, int64_t *out)
{
	int64_t span;
	if (!window_span(w, &span) || __builtin_mul_overflow(w->in - 1, w->stride, out) ||
	    __builtin_add_overflow(*out, extra, out) ||
	    __builtin_add_overflow(*out, span, out) ||
	    __builtin_sub_overflow(*out, w->begin, out) ||
	    __builtin_sub_overflow(*out, w->end, out))
		return overflows(g, op, dim);
	if (w->in >= 1 && *out >= 1)
		return true;
	infer_fail(g, op, "result wants at least 1 element in spatial dim %d, has %" PRId64, dim,
		   w->in < 1 ? 0 : *out);
	return false;
}

Result infer_conv_transpose(const Graph *g, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	Shape x = op_in(op, 0)->shape, w = op_in(op, 1)->shape;
	int n = x.rank - 2;
	if (!conv_is_sound(g, op))
		return (Result){ TYPE_NONE };
	if (c->output_padding.n &&
	    !infer_list(g, op, "output_padding", c->output_padding, n, 0))
		return (Result){ TYPE_NONE };
	if (x.dim[1] != w.dim[0])
		return infer_fail(g, op,
				  "weights want %" PRId64 " input channels, input has %" PRId64,
				  w.dim[0], x.dim[1]);
	if (x.dim[1] % c->groups)
		return infer_fail(g, op,
				  "%" PRId64 " input channels do not divide into %" PRId64 " groups",
				  x.dim[1], c->groups);
	/* groups is at most w.dim[0], so this product is at most the weights' count. */
	Shape out = { x.rank, { x.dim[0], w.dim[1] * c->groups } };
	if (op->nin > 2 && !infer_vector(g, op, 2, out.dim[1], "bias"))
		return (Result){ TYPE_NONE };
	for (int i = 0; i < n; i++) {
		Window win = window_at(op, i, n, w.dim[i + 2], c->strides, c->dilations,
				       c->pads);
		int64_t extra = c->output_padding.n ? c->output_padding.v[i] : 0;
		if (!spread_windows(g, op, i, &win, extra, &out.dim[i + 2]))
			return (Result){ TYPE_NONE };
	}
	return (Result){ op_in(op, 0)->dtype, out };
}

Result infer_pool(const Graph *g, const Op *op)
{
	const poolAttr *p = &op->attr.pool;
	Shape x = op_in(op, 0)->shape;
	int n = x.rank - 2;
	if (!infer_rank(g, op, 3, 2 + MAX_SPATIAL) ||
	    !(op->kind == OP_AVG_POOL ? infer_float : infer_number)(g, op, 0) ||
	    !infer_list(g, op, "kernel", p->kernel, n, 1) ||
	    !infer_list(g, op, "strides", p->strides, n, 1) ||
	    !infer_list(g, op, "dilations", p->dilations, n, 1) ||
	    !infer_list(g, op, "pads", p->pads, 2 * n, 0))
		return (Result){ TYPE_NONE };
	Shape out = { x.rank, { x.dim[0], x.dim[1] } };
	for (int i = 0; i < n; i++) {
		Window win = window_at(op, i, n, p->kernel.v[i], p->strides, p->dilations,
				       p->pads);
		if (!count_windows(g, op, i, &win, p->ceil, &out.dim[i + 2]))
			return (Result){ TYPE_NONE };
	}
	return (Result){ op_in(op, 0)->dtype, out };
}

Result infer_pool_index(const Graph *g, const Op *op)
{
	Result r = infer_pool(g, op);
	if (r.dtype != TYPE_NONE)
		r.dtype = TYPE_I64;
	return r;
}

Result infer_global_pool(const Graph *g, const Op *op)
{
	const Op *x = op_in(op, 0);
	if (!infer_rank(g, op, 3, MAX_RANK) ||
	    !(op->kind == OP_GLOBAL_AVG_POOL ? infer_float : infer_number)(g, op, 0))
		return (Result){ TYPE_NONE };
	Shape out = { x->shape.rank, { x->shape.dim[0], x->shape.dim[1] } };
	for (int i = 2; i < out.rank; i++) {
		if (x->shape.dim[i] < 1)
			return infer_fail(g, op, "input has no elements in spatial dim %d", i - 2);
		out.dim[i] = 1;
	}
	return (Result){ x->dtype, out };
}

static bool floats_are_sound(const Graph *g, const Op *op, const char *name, Floats list, int n,
			     bool positive)
{
	if (list.n != n) {
		infer_fail(g, op, "%s wants %d entries, has %d", name, n, list.n);
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (isfinite(list.v[i]) && (!positive || list.v[i] > 0))
			continue;
		infer_fail(g, op, "%s[%d] wants a finite%s number, has %g", name, i,
			   positive ? " positive" : "", (double)list.v[i]);
		return false;
	}
	return true;
}

Result infer_resize(const Graph *g, const Op *op)
{
	const resizeAttr *r = &op->attr.resize;
	const Op *x = op_in(op, 0);
	int rank = x->shape.rank;
	Shape out;
	if (r->mode != RESIZE_NEAREST && !infer_number(g, op, 0))
		return (Result){ TYPE_NONE };
	if (!infer_list(g, op, "sizes", r->sizes, rank, 0) ||
	    !infer_shape_list(g, op, "sizes", r->sizes, &out) ||
	    !floats_are_sound(g, op, "scales", r->scales, rank, true))
		return (Result){ TYPE_NONE };
	if ((r->roi.n || r->coord == COORD_TF_CROP) &&
	    !floats_are_sound(g, op, "roi", r->roi, 2 * rank, false))
		return (Result){ TYPE_NONE };
	for (int i = 0; i < rank; i++)
		if (!x->shape.dim[i] && out.dim[i])
			return infer_fail(g, op,
					  "sizes[%d] wants 0 because the input is empty, has %" PRId64,
					  i, out.dim[i]);
	return (Result){ x->dtype, out };
}
