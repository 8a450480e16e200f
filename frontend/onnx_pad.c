/*
 * Padding and resizing: ops whose operands say how the positions change.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The value to pad with, if it is one the graph can hold. */
static bool read_pad_value(Node *n, float *value)
{
	*value = attr_float(n, "value", 0);
	if (!node_has(n, 2))
		return true;
	Tensor *t = node_value(n, 2, "constant_value");
	if (!t)
		return false;
	if (tensor_count(t) != 1) {
		node_error(n, "constant_value has %" PRId64 " elements", tensor_count(t));
		return false;
	}
	*value = (float)tensor_f64(t, 0);
	if (type_is_float(t->dtype) || (double)*value == tensor_f64(t, 0))
		return true;
	node_error(n, "constant_value %" PRId64 " is too large", tensor_i64(t, 0));
	return false;
}

/* The dims that operands of pad and resize are about, in the order of their
 * entries: those of a list, or all. */
typedef struct Dims {
	int n;
	int64_t at[MAX_RANK];
} Dims;

static bool read_dims(Node *n, bool given, Ints axes, Dims *dims)
{
	const int rank = n->in[0]->shape.rank;
	Ints sorted = axes;

	*dims = (Dims){ .n = rank };
	for (int i = 0; i < rank; i++)
		dims->at[i] = i;
	if (!given)
		return true;
	if (!node_axes(n, &sorted, rank))
		return false;
	dims->n = axes.n;
	for (int i = 0; i < axes.n; i++)
		dims->at[i] = axes.v[i] < 0 ? axes.v[i] + rank : axes.v[i];
	return true;
}

static bool has_entries(Node *n, const char *what, int entries, int needed)
{
	if (entries != needed)
		node_error(n, "%s has %d entries, needs %d", what, entries, needed);
	return entries == needed;
}

void onnx_build_pad(Node *n)
{
	const int rank = n->in[0]->shape.rank, mode = attr_enum(n, "mode", OP_PAD, "mode");
	int64_t pads[2 * MAX_RANK] = { 0 };
	Ints given = { 0 }, axes = { 0 };
	Attrs a = attrs_default(OP_PAD);
	Dims dims;

	if (node_has(n, 1)) {
		if (!node_ints(n, 1, "pads", &given) || (node_has(n, 3) && !node_ints(n, 3, "axes", &axes)))
			return;
	} else if (!attr_ints(n, "pads", &given)) {
		node_error(n, "has no pads");
		return;
	}
	if (mode < 0 || !read_pad_value(n, &a.pad.value) ||
	    !read_dims(n, node_has(n, 3), axes, &dims) ||
	    !has_entries(n, "pads", given.n, 2 * dims.n))
		return;
	for (int i = 0; i < dims.n; i++) {
		pads[dims.at[i]] = given.v[i];
		pads[dims.at[i] + rank] = given.v[i + dims.n];
	}
	a.pad.mode = (PadMode)mode;
	a.pad.pads = ints_copy(n->r->arena, pads, 2 * rank);
	n->out[0] = node_op(n, OP_PAD, node_out(n, 0), &a, 1, n->in);
}

/* --- resizing */

/* Per dim of the input: the factor as the model gives it, and the result. */
typedef struct Scaling {
	double factor[MAX_RANK];
	int64_t size[MAX_RANK];
} Scaling;

static bool scale_dim(Node *n, Scaling *s, int64_t dim, double factor, double size)
{
	if (!isfinite(factor) || factor <= 0 || size < 0 || size > (double)MAX_ELEMENTS) {
		node_error(n, "cannot scale dim %" PRId64 " of %" PRId64 " by %g", dim,
			   n->in[0]->shape.dim[dim], factor);
		return false;
	}
	s->factor[dim] = factor;
	s->size[dim] = (int64_t)size;
	return true;
}

/* The result of scales is rounded down, in single precision, as ONNX's own
 * shape inference does. */
static bool by_scales(Node *n, const Dims *dims, Floats scales, Scaling *s)
{
	if (!has_entries(n, "scales", scales.n, dims->n))
		return false;
	for (int i = 0; i < scales.n; i++) {
		const float in = (float)n->in[0]->shape.dim[dims->at[i]];
		if (!scale_dim(n, s, dims->at[i], scales.v[i], floorf(in * scales.v[i])))
			return false;
	}
	return true;
}

enum { STRETCH, NOT_LARGER, NOT_SMALLER };

static bool by_sizes(Node *n, const Dims *dims, Ints sizes, int policy, Scaling *s)
{
	double all = policy == NOT_LARGER ? INFINITY : 0;

	if (!has_entries(n, "sizes", sizes.n, dims->n))
		return false;
	for (int i = 0; i < sizes.n; i++) {
		const int64_t in = n->in[0]->shape.dim[dims->at[i]];
		double factor = in ? (double)sizes.v[i] / (double)in : 1;
		all = policy == NOT_LARGER ? fmin(all, factor) : fmax(all, factor);
		if (!scale_dim(n, s, dims->at[i], factor, (double)sizes.v[i]))
			return false;
	}
	for (int i = 0; policy != STRETCH && i < sizes.n; i++) {
		const double in = (double)n->in[0]->shape.dim[dims->at[i]];
		if (!scale_dim(n, s, dims->at[i], all, floor(all * in + 0.5)))
			return false;
	}
	return true;
}

static Op *make_resize(Node *n, Attrs *a, const Scaling *s)
{
	const int rank = n->in[0]->shape.rank;
	float scales[MAX_RANK];

	for (int i = 0; i < rank; i++)
		scales[i] = (float)s->factor[i];
	a->resize.scales = floats_copy(n->r->arena, scales, rank);
	a->resize.sizes = ints_copy(n->r->arena, s->size, rank);
	return node_op(n, OP_RESIZE, node_out(n, 0), a, 1, n->in);
}

static Scaling unscaled(const Node *n)
{
	Scaling s;
	for (int i = 0; i < MAX_RANK; i++) {
		s.factor[i] = 1;
		s.size[i] = i < n->in[0]->shape.rank ? n->in[0]->shape.dim[i] : 0;
	}
	return s;
}

/* Upsample, and Resize of opset 10: positions are asymmetric; nearest rounds
 * down where it enlarges and up where it shrinks. */
static void build_old_resize(Node *n, Floats scales)
{
	const int mode = attr_enum(n, "mode", OP_RESIZE, "mode");
	Attrs a = attrs_default(OP_RESIZE);
	Scaling s = unscaled(n);
	Dims dims;
	bool up = false, down = false;

	if (mode < 0 || !read_dims(n, false, (Ints){ 0 }, &dims) ||
	    !by_scales(n, &dims, scales, &s))
		return;
	for (int i = 0; i < scales.n; i++) {
		up |= scales.v[i] > 1;
		down |= scales.v[i] < 1;
	}
	if (up && down && mode == RESIZE_NEAREST) {
		node_error(n, "enlarges some dims and shrinks others, which opset %" PRId64
			   " leaves open how to round", n->opset);
		return;
	}
	a.resize.mode = (ResizeMode)mode;
	a.resize.coord = COORD_ASYMMETRIC;
	a.resize.nearest = down ? ROUND_CEIL : ROUND_FLOOR;
	n->out[0] = make_resize(n, &a, &s);
}

void onnx_build_upsample(Node *n)
{
	Floats scales;
	if (node_has(n, 1)) {
		if (!node_floats(n, 1, "scales", &scales))
			return;
	} else if (!attr_floats(n, "scales", &scales)) {
		node_error(n, "has no scales");
		return;
	}
	build_old_resize(n, scales);
}

/* How positions and values are found. */
static bool read_resize_mode(Node *n, Attrs *a)
{
	const int mode = attr_enum(n, "mode", OP_RESIZE, "mode");
	const int rounding = attr_enum(n, "nearest_mode", OP_RESIZE, "nearest");
	const char *name = attr_string(n, "coordinate_transformation_mode", "");
	/* half_pixel, but half a pixel further on */
	const bool shift = strcmp(name, "tf_half_pixel_for_nn") == 0;
	const int coord = shift ? COORD_HALF_PIXEL
		: attr_enum(n, "coordinate_transformation_mode", OP_RESIZE, "coord");

	if (mode < 0 || rounding < 0 || coord < 0)
		return false;
	const bool down = rounding == ROUND_FLOOR || rounding == ROUND_PREFER_FLOOR;
	if (shift && (mode != RESIZE_NEAREST || !down)) {
		node_error(n, "%s is supported only with mode nearest, rounded down", name);
		return false;
	}
	*a = attrs_default(OP_RESIZE);
	a->resize.mode = (ResizeMode)mode;
	a->resize.nearest = !shift ? (Rounding)rounding
		: rounding == ROUND_FLOOR ? ROUND_PREFER_CEIL : ROUND_CEIL;
	a->resize.coord = (Coord)coord;
	a->resize.cubic_a = attr_float(n, "cubic_coeff_a", -0.75f);
	a->resize.exclude_outside = attr_int(n, "exclude_outside", 0) != 0;
	a->resize.extrapolation = attr_float(n, "extrapolation_value", 0);
	a->resize.antialias = attr_int(n, "antialias", 0) != 0;
	return true;
}

/* The part of the input to look at, as fractions: all starts, all ends. */
static bool read_roi(Node *n, const Dims *dims, Attrs *a)
{
	const int rank = n->in[0]->shape.rank;
	float roi[2 * MAX_RANK];
	Floats given = { 0 };

	if (a->resize.coord != COORD_TF_CROP)
		return true;
	if (node_has(n, 1) && !node_floats(n, 1, "roi", &given))
		return false;
	if (!has_entries(n, "roi", given.n, 2 * dims->n))
		return false;
	for (int i = 0; i < rank; i++) {
		roi[i] = 0;
		roi[i + rank] = 1;
	}
	for (int i = 0; i < dims->n; i++) {
		roi[dims->at[i]] = given.v[i];
		roi[dims->at[i] + rank] = given.v[i + dims->n];
	}
	a->resize.roi = floats_copy(n->r->arena, roi, 2 * rank);
	return true;
}

void onnx_build_resize(Node *n)
{
	static const char *const policies[] = { "stretch", "not_larger", "not_smaller" };
	Floats scales = { 0 };
	Ints sizes = { 0 }, axes = { 0 };
	Scaling s = unscaled(n);
	Attrs a;
	Dims dims;

	if (n->opset < 11) {
		if (node_has(n, 1) && node_floats(n, 1, "scales", &scales))
			build_old_resize(n, scales);
		return;
	}
	const bool some = attr_ints(n, "axes", &axes);
	const int policy = attr_choice(n, "keep_aspect_ratio_policy", policies, 3, STRETCH);
	if (policy < 0 || !read_resize_mode(n, &a) || !read_dims(n, some, axes, &dims) ||
	    !read_roi(n, &dims, &a))
		return;
	/* An empty list is one that is not there. */
	if (node_has(n, 2) && shape_count(n->in[2]->shape) && !node_floats(n, 2, "scales", &scales))
		return;
	if (node_has(n, 3) && shape_count(n->in[3]->shape) && !node_ints(n, 3, "sizes", &sizes))
		return;
	if ((scales.n != 0) == (sizes.n != 0)) {
		node_error(n, "needs scales or sizes, has %s", scales.n ? "both" : "neither");
		return;
	}
	if (scales.n ? by_scales(n, &dims, scales, &s) : by_sizes(n, &dims, sizes, policy, &s))
		n->out[0] = make_resize(n, &a, &s);
}
