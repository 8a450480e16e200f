/*
 * Windows: convolution, transposed convolution, pooling.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>

enum { MAX_SPATIAL = 3, MAX_STEP = INT32_MAX };

typedef enum AutoPad { PADS_GIVEN, PADS_SAME_UPPER, PADS_SAME_LOWER, PADS_NONE } AutoPad;

static const char *const auto_pads[] = { "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID" };

/* The attributes all windows have, one entry per spatial dim. */
typedef struct Window {
	int dims;
	AutoPad auto_pad;
	int64_t kernel[MAX_SPATIAL], stride[MAX_SPATIAL], dilation[MAX_SPATIAL];
	int64_t begin[MAX_SPATIAL], end[MAX_SPATIAL];
} Window;

/* A list of `count` entries from `least` to MAX_STEP; `def` for all if the
 * node does not have it. */
static bool read_list(Node *n, const char *name, int count, int64_t least, int64_t def, int64_t *v)
{
	Ints list;
	for (int i = 0; i < count; i++)
		v[i] = def;
	if (!attr_ints(n, name, &list))
		return true;
	if (list.n != count) {
		node_error(n, "attribute '%s' has %d entries, needs %d", name, list.n, count);
		return false;
	}
	for (int i = 0; i < count; i++) {
		v[i] = list.v[i];
		if (v[i] < least || v[i] > MAX_STEP) {
			node_error(n, "attribute '%s' has %" PRId64 ", allowed are %" PRId64 " to %d",
				   name, v[i], least, (int)MAX_STEP);
			return false;
		}
	}
	return true;
}

static int64_t span(const Window *w, int i)
{
	return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

/* Shares `total` padding out; the odd one goes to the end for SAME_UPPER. */
static void share_padding(Window *w, int i, int64_t total, bool upper)
{
	w->begin[i] = upper ? total / 2 : total - total / 2;
	w->end[i] = total - w->begin[i];
}

static bool read_pads(Node *n, Window *w)
{
	int64_t pads[2 * MAX_SPATIAL];
	int choice = attr_choice(n, "auto_pad", auto_pads, 4, PADS_GIVEN);

	if (choice < 0 || !read_list(n, "pads", 2 * w->dims, 0, 0, pads))
		return false;
	w->auto_pad = (AutoPad)choice;
	for (int i = 0; i < w->dims; i++) {
		w->begin[i] = pads[i];
		w->end[i] = pads[i + w->dims];
	}
	for (int i = 0; w->auto_pad != PADS_GIVEN && i < 2 * w->dims; i++)
		if (pads[i]) {
			node_error(n, "has pads as well as auto_pad %s", auto_pads[choice]);
			return false;
		}
	return true;
}

/* Reads everything but the kernel. */
static bool read_window(Node *n, Window *w)
{
	const int rank = n->in[0]->shape.rank;

	if (rank < 3 || rank > 2 + MAX_SPATIAL) {
		node_error(n, "input must have 3 to %d dims, but is %s", 2 + MAX_SPATIAL,
			   shape_text(n->r->arena, n->in[0]->shape));
		return false;
	}
	w->dims = rank - 2;
	return read_list(n, "strides", w->dims, 1, 1, w->stride) &&
	       read_list(n, "dilations", w->dims, 1, 1, w->dilation) && read_pads(n, w);
}

/* SAME_UPPER and SAME_LOWER of windows that shrink: out = ceil(in / stride). */
static void resolve_same(const Node *n, Window *w)
{
	for (int i = 0; i < w->dims; i++) {
		const int64_t in = n->in[0]->shape.dim[i + 2], step = w->stride[i];
		const int64_t out = in / step + (in % step != 0);
		const int64_t total = (out - 1) * step + span(w, i) - in;
		if (w->auto_pad == PADS_SAME_UPPER || w->auto_pad == PADS_SAME_LOWER)
			share_padding(w, i, total > 0 ? total : 0, w->auto_pad == PADS_SAME_UPPER);
	}
}

static Ints pads_of(const Node *n, const Window *w)
{
	int64_t pads[2 * MAX_SPATIAL];
	for (int i = 0; i < w->dims; i++) {
		pads[i] = w->begin[i];
		pads[i + w->dims] = w->end[i];
	}
	return ints_copy(n->r->arena, pads, 2 * w->dims);
}

static Ints list_of(const Node *n, const Window *w, const int64_t *v)
{
	return ints_copy(n->r->arena, v, w->dims);
}

/* The kernel of a convolution is that of its weights; the attribute may only
 * repeat it. */
static bool read_conv(Node *n, Window *w)
{
	const Shape weights = n->in[1]->shape;
	int64_t declared[MAX_SPATIAL];

	if (!read_window(n, w))
		return false;
	if (weights.rank != w->dims + 2) {
		node_error(n, "weights must have %d dims like the input, but are %s", w->dims + 2,
			   shape_text(n->r->arena, weights));
		return false;
	}
	for (int i = 0; i < w->dims; i++) {
		w->kernel[i] = weights.dim[i + 2];
		if (w->kernel[i] > MAX_STEP || n->in[0]->shape.dim[i + 2] > MAX_STEP) {
			node_error(n, "input or kernel is too large in spatial dim %d", i);
			return false;
		}
	}
	if (!attr_has(n, "kernel_shape"))
		return true;
	if (!read_list(n, "kernel_shape", w->dims, 1, 1, declared))
		return false;
	for (int i = 0; i < w->dims; i++)
		if (declared[i] != w->kernel[i]) {
			node_error(n, "kernel_shape has %" PRId64 " in spatial dim %d, weights have %" PRId64,
				   declared[i], i, w->kernel[i]);
			return false;
		}
	return true;
}

static Op *make_conv(Node *n, OpKind kind, const Window *w, Ints output_padding)
{
	Attrs a = attrs_default(kind);
	a.conv.groups = attr_int(n, "group", 1);
	a.conv.dilations = list_of(n, w, w->dilation);
	a.conv.strides = list_of(n, w, w->stride);
	a.conv.pads = pads_of(n, w);
	a.conv.output_padding = output_padding;
	return node_op(n, kind, node_out(n, 0), &a, node_has(n, 2) ? 3 : 2, n->in);
}

void onnx_build_conv(Node *n)
{
	Window w = { 0 };
	if (!read_conv(n, &w))
		return;
	resolve_same(n, &w);
	n->out[0] = make_conv(n, OP_CONV, &w, (Ints){ 0 });
}

/* The size wanted of a transposed convolution, or 0 per dim if none is. */
static bool read_output_shape(Node *n, const Window *w, int64_t *size)
{
	Ints given;
	const bool same = w->auto_pad == PADS_SAME_UPPER || w->auto_pad == PADS_SAME_LOWER;

	for (int i = 0; i < w->dims; i++)
		size[i] = same ? n->in[0]->shape.dim[i + 2] * w->stride[i] : 0;
	if (!attr_ints(n, "output_shape", &given))
		return true;
	/* Some exporters give the whole shape. */
	const int skip = given.n == w->dims + 2 ? 2 : 0;
	if (given.n != w->dims + skip) {
		node_error(n, "output_shape has %d entries, needs %d", given.n, w->dims);
		return false;
	}
	for (int i = 0; i < w->dims; i++) {
		size[i] = given.v[i + skip];
		if (size[i] < 1 || size[i] > MAX_ELEMENTS) {
			node_error(n, "output_shape has %" PRId64, size[i]);
			return false;
		}
	}
	return true;
}

void onnx_build_conv_transpose(Node *n)
{
	Window w = { 0 };
	int64_t size[MAX_SPATIAL], extra[MAX_SPATIAL];

	if (!read_conv(n, &w) || !read_list(n, "output_padding", w.dims, 0, 0, extra))
		return;
	if (!read_output_shape(n, &w, size))
		return;
	for (int i = 0; i < w.dims; i++) {
		const int64_t last = w.stride[i] * (n->in[0]->shape.dim[i + 2] - 1);
		const int64_t more = last + extra[i] + span(&w, i) - size[i];
		if (!size[i])
			continue;
		/* If it wants more than there is, the rest is empty, at the end. */
		if (more < 0)
			extra[i] -= more;
		share_padding(&w, i, more < 0 ? 0 : more, w.auto_pad == PADS_SAME_UPPER);
	}
	Ints padding = list_of(n, &w, extra);
	if (ints_all(padding, 0))
		padding.n = 0;
	n->out[0] = make_conv(n, OP_CONV_TRANSPOSE, &w, padding);
}

static bool read_pool(Node *n, Attrs *a)
{
	Window w = { 0 };

	if (!read_window(n, &w))
		return false;
	if (!attr_has(n, "kernel_shape")) {
		node_error(n, "needs the attribute 'kernel_shape'");
		return false;
	}
	if (!read_list(n, "kernel_shape", w.dims, 1, 1, w.kernel))
		return false;
	resolve_same(n, &w);
	*a = attrs_default(OP_MAX_POOL);
	a->pool.kernel = list_of(n, &w, w.kernel);
	a->pool.strides = list_of(n, &w, w.stride);
	a->pool.dilations = list_of(n, &w, w.dilation);
	a->pool.pads = pads_of(n, &w);
	a->pool.ceil = attr_int(n, "ceil_mode", 0) != 0;
	return true;
}

void onnx_build_pool(Node *n)
{
	Attrs a;
	if (!read_pool(n, &a))
		return;
	a.pool.count_pad = attr_int(n, "count_include_pad", 0) != 0;
	n->out[0] = node_op(n, OP_AVG_POOL, node_out(n, 0), &a, 1, n->in);
}

static Op *whole_number(Node *n, int64_t v)
{
	return node_constant(n, node_part(n, "n"), tensor_splat(n->r->arena, TYPE_I64, (Shape){ 0 }, 0, v));
}

/* Indices that count a plane's elements row by row, to ones that count them
 * column by column. The planes themselves stay in order. */
static Op *by_columns(Node *n, Op *index, const char *name)
{
	const Shape x = n->in[0]->shape;
	int64_t weight[MAX_RANK], plane = 1;
	Op *rest = index, *sum = NULL;

	for (int i = 2; i < x.rank; i++) {
		weight[i] = plane;
		plane *= x.dim[i];
	}
	for (int i = x.rank - 1; i >= 2; i--) {
		Op *dim = whole_number(n, x.dim[i]);
		Op *next = node_binary(n, OP_DIV, node_part(n, "div"), rest, dim);
		Op *whole = node_binary(n, OP_MUL, node_part(n, "mul"), next, dim);
		Op *digit = node_binary(n, OP_SUB, node_part(n, "sub"), rest, whole);
		Op *part = node_binary(n, OP_MUL, node_part(n, "mul"), digit, whole_number(n, weight[i]));
		sum = sum ? node_binary(n, OP_ADD, node_part(n, "add"), sum, part) : part;
		rest = next;
	}
	Op *base = node_binary(n, OP_MUL, node_part(n, "mul"), rest, whole_number(n, plane));
	return node_binary(n, OP_ADD, name, base, sum);
}

void onnx_build_max_pool(Node *n)
{
	Attrs a;
	if (!read_pool(n, &a))
		return;
	const bool columns = attr_int(n, "storage_order", 0) != 0;
	if (node_wants(n, 0))
		n->out[0] = node_op(n, OP_MAX_POOL, node_out(n, 0), &a, 1, n->in);
	if (!node_wants(n, 1))
		return;
	const char *name = columns ? node_part(n, "index") : node_out(n, 1);
	n->out[1] = node_op(n, OP_MAX_POOL_INDEX, name, &a, 1, n->in);
	if (columns && n->out[1])
		n->out[1] = by_columns(n, n->out[1], node_out(n, 1));
}
