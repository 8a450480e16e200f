/* Windows, their padding, and convolutions. */
#include "frontend/nnef_lower.h"

#include <inttypes.h>
#include <string.h>

void window_same(Window *w, int64_t in)
{
	int64_t span = (w->size - 1) * w->dilation + 1;
	int64_t out = (in + w->stride - 1) / w->stride;
	int64_t total = (out - 1) * w->stride + span - in;
	w->begin = total > 0 ? total / 2 : 0;
	w->end = total > 0 ? total - w->begin : 0;
}

static bool one_list(Call *c, const char *param, int n, Ints *list)
{
	*list = arg_ints(c, param);
	if (list->n && list->n != n) {
		call_error(c, "'%s' has %d items, %d dims need one each", param, list->n, n);
		return false;
	}
	for (int i = 0; i < list->n; i++)
		if (list->v[i] < 1 || list->v[i] > MAX_WINDOW) {
			call_error(c, "%s[%d] is %" PRId64 ", not 1 to %d", param, i, list->v[i],
				   MAX_WINDOW);
			return false;
		}
	return true;
}

bool window_read(Call *c, int n, Window *w, const int64_t *in)
{
	Value pads = arg_value(c, "padding");
	Ints stride, dilation;
	if (!one_list(c, "stride", n, &stride) || !one_list(c, "dilation", n, &dilation))
		return false;
	if (pads.n && pads.n != n) {
		call_error(c, "'padding' has %d items, %d dims need one each", pads.n, n);
		return false;
	}
	for (int i = 0; i < n; i++) {
		w[i].stride = stride.n ? stride.v[i] : 1;
		w[i].dilation = dilation.n ? dilation.v[i] : 1;
		if (!pads.n) {
			window_same(&w[i], in[i]);
			continue;
		}
		w[i].begin = pads.item[i].item[0].integer;
		w[i].end = pads.item[i].item[1].integer;
		if (w[i].begin < -MAX_WINDOW || w[i].begin > MAX_WINDOW || w[i].end < -MAX_WINDOW ||
		    w[i].end > MAX_WINDOW) {
			call_error(c, "padding of %" PRId64 " and %" PRId64 " is out of range", w[i].begin,
				   w[i].end);
			return false;
		}
	}
	return true;
}

Op *window_fill(Call *c, const char *suffix, Op *x, int first, int n, Window *w, PadMode mode,
		float value)
{
	Attrs attr = attrs_default(OP_PAD);
	int64_t pads[2 * MAX_RANK] = { 0 };
	int rank = x->shape.rank;
	for (int i = 0; i < n; i++) {
		pads[first + i] = w[i].begin;
		pads[rank + first + i] = w[i].end;
		w[i].begin = w[i].end = 0;
	}
	attr.pad.mode = mode;
	attr.pad.value = value;
	attr.pad.pads = ints_copy(c->n->arena, pads, 2 * rank);
	return emit(c, suffix, OP_PAD, &attr, 1, &x);
}

/* `count` elements of one dim, read backwards from `from`. */
static Op *mirrored(Call *c, Op *x, int axis, int64_t from, int64_t count)
{
	int64_t start[MAX_RANK] = { 0 }, step[MAX_RANK], counts[MAX_RANK];
	for (int i = 0; i < x->shape.rank; i++) {
		step[i] = 1;
		counts[i] = x->shape.dim[i];
	}
	start[axis] = from;
	step[axis] = -1;
	counts[axis] = count;
	return emit_slice(c, "mirror", x, start, step, counts);
}

/* Reflection that repeats the edge: the IR has none, so it is put together. */
static Op *reflect_even(Call *c, const char *suffix, Op *x, int first, int n, Window *w)
{
	Attrs attr = attrs_default(OP_CONCAT);
	int last = -1;
	for (int i = 0; i < n; i++)
		if (w[i].begin || w[i].end)
			last = i;
	for (int i = 0; x && i <= last; i++) {
		int64_t dim = x->shape.dim[first + i], begin = w[i].begin, end = w[i].end;
		Op *in[3];
		int parts = 0;
		if (begin < 0 || end < 0 || begin > dim || end > dim) {
			call_error(c, "padding of %" PRId64 " and %" PRId64
				   " cannot be reflected in a dim of %" PRId64, begin, end, dim);
			return NULL;
		}
		if (begin)
			in[parts++] = mirrored(c, x, first + i, begin - 1, begin);
		in[parts++] = x;
		if (end)
			in[parts++] = mirrored(c, x, first + i, dim - 1, end);
		attr.axis.axis = first + i;
		if (parts > 1)
			x = emit(c, i == last ? suffix : "reflected", OP_CONCAT, &attr, parts, in);
		w[i].begin = w[i].end = 0;
	}
	return x;
}

Op *window_pad(Call *c, const char *suffix, Op *x, int first, int n, Window *w, const char *border)
{
	bool none = true, small = true;
	for (int i = 0; i < n; i++) {
		none = none && !w[i].begin && !w[i].end;
		small = small && w[i].begin <= 1 && w[i].end <= 1;
	}
	bool even = strcmp(border, "reflect-even") == 0;
	if (none)
		return x;
	if (strcmp(border, "constant") == 0 || strcmp(border, "ignore") == 0)
		return window_fill(c, suffix, x, first, n, w, PAD_CONSTANT, 0);
	if (strcmp(border, "replicate") == 0 || (even && small))
		return window_fill(c, suffix, x, first, n, w, PAD_EDGE, 0);
	if (strcmp(border, "reflect") == 0)
		return window_fill(c, suffix, x, first, n, w, PAD_REFLECT, 0);
	if (even)
		return reflect_even(c, suffix, x, first, n, w);
	call_error(c, "no border '%s': it is 'constant', 'ignore', 'replicate', 'reflect' or 'reflect-even'",
		   border);
	return NULL;
}

/* The border of a sum of products: padding with zeros is the op's own. */
static Op *conv_border(Call *c, Op *x, int n, Window *w)
{
	const char *border = arg_string(c, "border");
	bool zeros = strcmp(border, "constant") == 0 || strcmp(border, "ignore") == 0;
	for (int i = 0; i < n; i++)
		zeros = zeros && w[i].begin >= 0 && w[i].end >= 0;
	return zeros ? x : window_pad(c, "pad", x, 2, n, w, border);
}

static void set_conv(Call *c, Attrs *attr, int n, const Window *w, int64_t groups)
{
	int64_t stride[MAX_RANK], dilation[MAX_RANK], pads[2 * MAX_RANK];
	for (int i = 0; i < n; i++) {
		stride[i] = w[i].stride;
		dilation[i] = w[i].dilation;
		pads[i] = w[i].begin;
		pads[n + i] = w[i].end;
	}
	attr->conv.strides = ints_copy(c->n->arena, stride, n);
	attr->conv.dilations = ints_copy(c->n->arena, dilation, n);
	attr->conv.pads = ints_copy(c->n->arena, pads, 2 * n);
	attr->conv.groups = groups;
}

/* Input and filter of a convolution; false if they do not go together. */
static bool conv_operands(Call *c, int64_t *groups, Op *in[])
{
	Op *x = in[0] = arg_op(c, "input");
	Shape want = { 0 };
	if (!x)
		return false;
	if (x->shape.rank < 3 || x->shape.rank > 5) {
		call_error(c, "input wants 3 to 5 dims, has %d", x->shape.rank);
		return false;
	}
	bool conv = c->kind == OP_CONV;
	want.rank = x->shape.rank;
	for (int i = 0; i < want.rank; i++)
		want.dim[i] = -1;
	/* groups = 0 means one for each channel */
	if (*groups == 0)
		*groups = conv || !arg_value(c, "output_shape").n ? x->shape.dim[1]
			: arg_value(c, "output_shape").n > 1 ? arg_value(c, "output_shape").item[1].integer : 0;
	if (*groups < 1 || x->shape.dim[1] % *groups) {
		call_error(c, "input has %" PRId64 " channels, which do not divide into %" PRId64 " groups",
			   x->shape.dim[1], *groups);
		return false;
	}
	want.dim[conv ? 1 : 0] = conv ? x->shape.dim[1] / *groups : x->shape.dim[1];
	in[1] = arg_weight(c, "filter", WEIGHT_KERNEL, want);
	if (!in[1])
		return false;
	if (in[1]->shape.rank != x->shape.rank) {
		call_error(c, "filter wants %d dims, has %d", x->shape.rank, in[1]->shape.rank);
		return false;
	}
	for (int i = 0; i < in[1]->shape.rank; i++)
		if (in[1]->shape.dim[i] < 1 || in[1]->shape.dim[i] > MAX_WINDOW) {
			call_error(c, "filter has a dim of %" PRId64, in[1]->shape.dim[i]);
			return false;
		}
	return true;
}

Value nnef_lower_conv(Call *c)
{
	Attrs attr = attrs_default(OP_CONV);
	int64_t groups = arg_integer(c, "groups");
	Window w[MAX_RANK];
	bool no_bias;
	Op *in[3];
	if (!conv_operands(c, &groups, in))
		return NO_VALUE;
	int n = in[0]->shape.rank - 2;
	for (int i = 0; i < n; i++)
		w[i].size = in[1]->shape.dim[i + 2];
	in[2] = arg_channels(c, "bias", WEIGHT_BIAS, in[1]->shape.dim[0], &no_bias);
	if (!window_read(c, n, w, in[0]->shape.dim + 2))
		return NO_VALUE;
	in[0] = conv_border(c, in[0], n, w);
	set_conv(c, &attr, n, w, groups);
	return value_tensor(emit(c, NULL, OP_CONV, &attr, no_bias ? 2 : 3, in));
}

/* Fits the windows of a transposed convolution to its output: explicit padding
 * crops, empty padding is what the forward convolution from that output would
 * need, and output_shape may leave up to a stride more at the end. */
static bool deconv_windows(Call *c, Op *x, int n, Window *w, int64_t *extra)
{
	bool automatic = !arg_value(c, "padding").n;
	int64_t out[MAX_RANK];
	Ints shape = arg_ints(c, "output_shape");
	if (shape.n && shape.n != n + 2) {
		call_error(c, "'output_shape' has %d items, input has %d dims", shape.n, n + 2);
		return false;
	}
	Ints stride;
	if (!one_list(c, "stride", n, &stride))
		return false;
	for (int i = 0; i < n; i++) {
		int64_t by = stride.n ? stride.v[i] : 1, dim = x->shape.dim[i + 2];
		out[i] = shape.n ? shape.v[i + 2] : dim <= MAX_ELEMENTS / by ? dim * by : -1;
		if (out[i] < 1 || out[i] > MAX_ELEMENTS || dim > MAX_ELEMENTS / by) {
			call_error(c, "output dim %d of %" PRId64 " is out of range", i + 2, out[i]);
			return false;
		}
	}
	if (!window_read(c, n, w, out))
		return false;
	for (int i = 0; i < n; i++) {
		int64_t span = (w[i].size - 1) * w[i].dilation + 1;
		int64_t made = (x->shape.dim[i + 2] - 1) * w[i].stride + span;
		made -= w[i].begin + w[i].end;
		extra[i] = automatic || shape.n ? out[i] - made : 0;
		if (extra[i] < 0 || extra[i] >= w[i].stride) {
			call_error(c, "output_shape[%d] of %" PRId64 " does not come from an input of %" PRId64,
				   i + 2, out[i], x->shape.dim[i + 2]);
			return false;
		}
	}
	return true;
}

static bool zero_border(Call *c, const char *border)
{
	if (strcmp(border, "constant") == 0 || strcmp(border, "ignore") == 0)
		return true;
	call_error(c, "border '%s' is not supported, 'constant' is", border);
	return false;
}

/* The op of a deconv or debox, given input, filter and perhaps bias. */
static Value emit_deconv(Call *c, int nin, Op *in[], int n, Window *w, int64_t groups)
{
	Attrs attr = attrs_default(OP_CONV_TRANSPOSE);
	int64_t extra[MAX_RANK];
	bool crops = true, exact = true;
	if (!zero_border(c, arg_string(c, "border")) || !deconv_windows(c, in[0], n, w, extra))
		return NO_VALUE;
	for (int i = 0; i < n; i++) {
		crops = crops && w[i].begin >= 0 && w[i].end >= 0;
		exact = exact && !extra[i];
	}
	if (!crops)
		return call_error(c, "padding is negative");
	set_conv(c, &attr, n, w, groups);
	if (!exact)
		attr.conv.output_padding = ints_copy(c->n->arena, extra, n);
	return value_tensor(emit(c, NULL, OP_CONV_TRANSPOSE, &attr, nin, in));
}

Value nnef_lower_deconv(Call *c)
{
	int64_t groups = arg_integer(c, "groups");
	Window w[MAX_RANK];
	bool no_bias;
	Op *in[3];
	if (!conv_operands(c, &groups, in))
		return NO_VALUE;
	int n = in[0]->shape.rank - 2;
	for (int i = 0; i < n; i++)
		w[i].size = in[1]->shape.dim[i + 2];
	int64_t outputs;
	if (__builtin_mul_overflow(in[1]->shape.dim[1], groups, &outputs))
		return call_error(c, "filter is too large");
	in[2] = arg_channels(c, "bias", WEIGHT_BIAS, outputs, &no_bias);
	return emit_deconv(c, no_bias ? 2 : 3, in, n, w, groups);
}

/* True if a window list says nothing about batch and channels. */
static bool is_spatial(Value list)
{
	for (int d = 0; d < 2; d++) {
		Value v = list.item[d];
		bool tuple = v.kind == VALUE_TUPLE;
		if (tuple ? v.item[0].integer || v.item[1].integer : v.integer != 1)
			return false;
	}
	return true;
}

/* The call with only the spatial dims of its window lists; false if they do
 * not have that form. */
static bool spatial_call(Call *c, Call *out, int rank)
{
	static const char *const lists[] = { "size", "padding", "stride", "dilation" };
	Value *arg = arena_array(c->n->arena, Value, c->op->nparams);
	*out = *c;
	out->arg = arg;
	for (int i = 0; i < c->op->nparams; i++) {
		arg[i] = c->arg[i];
		for (int k = 0; k < 4; k++) {
			if (strcmp(c->op->param[i].name, lists[k]) != 0 || !arg[i].n)
				continue;
			if (arg[i].n != rank || !is_spatial(arg[i])) {
				call_error(c, "'%s' wants %d items that leave dims 0 and 1 alone", lists[k], rank);
				return false;
			}
			arg[i] = value_list(VALUE_ARRAY, rank - 2, arg[i].item + 2);
		}
	}
	return true;
}

/* A depthwise transposed convolution with a filter of ones. */
Value nnef_lower_debox(Call *c)
{
	Op *x = arg_op(c, "input"), *in[2] = { x };
	double volume = 1;
	Window w[MAX_RANK];
	Call part;
	Ints size;
	if (!x)
		return NO_VALUE;
	if (x->shape.rank < 3 || x->shape.rank > 5)
		return call_error(c, "input wants 3 to 5 dims, has %d", x->shape.rank);
	int n = x->shape.rank - 2;
	Shape filter = { n + 2, { x->shape.dim[1], 1 } };
	if (!spatial_call(c, &part, n + 2) || !one_list(&part, "size", n, &size))
		return NO_VALUE;
	if (size.n != n)
		return call_error(c, "'size' is empty");
	for (int i = 0; i < n; i++) {
		w[i].size = filter.dim[i + 2] = size.v[i];
		volume *= (double)size.v[i];
	}
	if (shape_count(filter) < 0)
		return call_error(c, "'size' is too large");
	in[1] = emit_constant(c, "filter",
			      tensor_splat(c->n->arena, TYPE_F32, filter,
					   arg_logical(c, "normalize") ? 1 / volume : 1, 0));
	return emit_deconv(&part, 2, in, n, w, x->shape.dim[1]);
}
