#include "passes/spatial_map.h"

#include <math.h>

#include "ir/eval.h"

/* One axis of a resize: sizes, and input pixels for each output pixel. */
typedef struct Scaling {
	const resizeAttr *r;
	double in, out, step;
	double start, end; /* of the crop, in parts of the input */
} Scaling;

/* A factor that is out/in but for its rounding to float is taken as that. */
static Scaling scaling_of(const Op *op, int dim)
{
	const resizeAttr *r = &op->attr.resize;
	Scaling s = { .r = r,
		      .in = (double)op_in(op, 0)->shape.dim[dim],
		      .out = (double)op->shape.dim[dim],
		      .end = 1 };
	const double exact = s.out / s.in;
	const bool given = dim < r->scales.n && fabs(r->scales.v[dim] - exact) > exact * 0x1p-22;
	s.step = given ? r->scales.v[dim] : 0;
	if (dim < r->roi.n / 2) {
		s.start = r->roi.v[dim];
		s.end = r->roi.v[r->roi.n / 2 + dim];
	}
	return s;
}

/* Output places times the input pixels each takes. */
static double scaled(const Scaling *s, double place)
{
	return s->step != 0 ? place / s->step : place * s->in / s->out;
}

/* Where output index i lies in the input. */
static double place_of(const Scaling *s, int i)
{
	const double last = s->in - 1;
	switch (s->r->coord) {
	case COORD_PYTORCH_HALF_PIXEL:
		return s->out == 1 ? 0 : scaled(s, i + 0.5) - 0.5;
	case COORD_HALF_PIXEL_SYMMETRIC: {
		const double scale = s->step != 0 ? s->step : s->out / s->in;
		return s->in / 2 * (1 - s->out / (scale * s->in)) + (i + 0.5) / scale - 0.5;
	}
	case COORD_ALIGN_CORNERS:
		return s->out == 1 ? 0 : i * last / (s->out - 1);
	case COORD_ASYMMETRIC:
		return scaled(s, i);
	case COORD_TF_CROP:
		return s->out == 1
			       ? 0.5 * (s->start + s->end) * last
			       : s->start * last + i * (s->end - s->start) * last / (s->out - 1);
	case COORD_HALF_PIXEL:
	case Coord_COUNT:
		break;
	}
	return scaled(s, i + 0.5) - 0.5;
}

static int index_within(double x, double size)
{
	return !(x > 0) ? 0 : x > size - 1 ? (int)size - 1 : (int)x;
}

static double rounded(Rounding how, double x)
{
	switch (how) {
	case ROUND_PREFER_FLOOR:
		return ceil(x - 0.5);
	case ROUND_PREFER_CEIL:
		return floor(x + 0.5);
	case ROUND_CEIL:
		return ceil(x);
	case ROUND_FLOOR:
	case Rounding_COUNT:
		break;
	}
	return floor(x);
}

/* The weight of a pixel at distance x: a triangle, or the cubic of two pieces. */
static double kernel_at(const resizeAttr *r, double x)
{
	const double d = fabs(x), a = r->cubic_a;
	if (r->mode != RESIZE_CUBIC)
		return d < 1 ? 1 - d : 0;
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Index o takes pixels near x by the kernel, stretched by 1/stretch against
 * aliasing; those beyond the edge are the edge, or left out. */
static void interpolate(Arena *a, AxisMap *m, const Scaling *s, int o, double x, double stretch)
{
	const resizeAttr *r = s->r;
	const int n = 2 * (int)ceil((r->mode == RESIZE_CUBIC ? 2 : 1) / stretch);
	const int first = (int)ceil(x) - n / 2;
	double sum = 0;
	for (int pass = 0; pass < 2; pass++)
		for (int i = first; i < first + n; i++) {
			const double w = kernel_at(r, stretch * (i - x));
			if (w == 0 || (r->exclude_outside && (i < 0 || i >= m->in)))
				continue;
			if (pass == 0)
				sum += w;
			else
				axis_term(a, m, o, index_within(i, s->in),
					  (r->antialias || r->exclude_outside) && sum != 0 ? w / sum
											   : w);
		}
}

static AxisMap resize_axis(Arena *a, const Op *op, int dim)
{
	const Scaling s = scaling_of(op, dim);
	const double scale = s.step != 0 ? s.step : s.out / s.in;
	const double stretch = !s.r->antialias || scale > 1 ? 1 : fmax(scale, 0.5 / s.in);
	AxisMap m = axis_map(a, (int)s.in, (int)s.out);
	for (int o = 0; o < m.out; o++) {
		const double x = place_of(&s, o);
		if (s.r->coord == COORD_TF_CROP && !(x >= 0 && x <= s.in - 1))
			continue;
		if (s.r->mode == RESIZE_NEAREST)
			axis_term(a, &m, o, index_within(rounded(s.r->nearest, x), s.in), 1);
		else
			interpolate(a, &m, &s, o, x, stretch);
	}
	return m;
}

/* A window divides by its taps in the image, or in the padded image. */
static AxisMap pool_axis(Arena *a, const Op *op, int dim)
{
	const poolAttr *p = &op->attr.pool;
	const int64_t in = op_in(op, 0)->shape.dim[dim], i = dim - 2;
	const int64_t end = in + (p->count_pad ? p->pads.v[p->pads.n / 2 + i] : 0);
	AxisMap m = axis_map(a, (int)in, (int)op->shape.dim[dim]);
	for (int o = 0; o < m.out; o++) {
		const int64_t first = o * p->strides.v[i] - p->pads.v[i];
		int count = 0;
		for (int pass = 0; pass < 2; pass++)
			for (int64_t k = 0; k < p->kernel.v[i]; k++) {
				const int64_t at = first + k * p->dilations.v[i];
				if (pass == 0)
					count += at < end && (p->count_pad || at >= 0);
				else if (at >= 0 && at < in)
					axis_term(a, &m, o, (int)at, 1.0 / count);
			}
	}
	return m;
}

static AxisMap pad_axis(Arena *a, const Op *op, int dim)
{
	const padAttr *p = &op->attr.pad;
	const int64_t in = op_in(op, 0)->shape.dim[dim], rank = op->shape.rank;
	const int64_t begin = p->pads.v[dim], end = p->pads.v[rank + dim];
	const int64_t first = begin < 0 ? -begin : 0, lead = begin < 0 ? 0 : begin;
	const int64_t kept = in - first + (end < 0 ? end : 0);
	AxisMap m = axis_map(a, (int)in, (int)op->shape.dim[dim]);
	for (int o = 0; o < m.out; o++) {
		const int64_t at = o - lead;
		if (kept > 0 && (p->mode != PAD_CONSTANT || (at >= 0 && at < kept)))
			axis_term(a, &m, o, (int)(first + pad_inside(p->mode, at, kept)), 1);
	}
	return m;
}

static AxisMap slice_axis(Arena *a, const Op *op, int dim)
{
	const sliceAttr *s = &op->attr.slice;
	AxisMap m = axis_map(a, (int)op_in(op, 0)->shape.dim[dim], (int)op->shape.dim[dim]);
	for (int o = 0; o < m.out; o++)
		axis_term(a, &m, o, (int)(s->starts.v[dim] + o * s->steps.v[dim]), 1);
	return m;
}

static bool has_terms(const AxisMap *m)
{
	for (int o = 0; o < m->out; o++)
		if (m->sums[o].nterms == 0)
			return false;
	return true;
}

typedef AxisMap AxisOf(Arena *a, const Op *op, int dim);

static AxisOf *axis_of(OpKind kind)
{
	return kind == OP_RESIZE     ? resize_axis
	       : kind == OP_AVG_POOL ? pool_axis
	       : kind == OP_PAD      ? pad_axis
	       : kind == OP_SLICE    ? slice_axis
				     : NULL;
}

bool spatial_maps(Arena *a, const Op *op, AxisMap map[2], const char **why)
{
	AxisOf *axis = axis_of(op->kind);
	const int64_t least = 1;
	*why = NULL;
	if (!axis || op->shape.rank != 4 || op_in(op, 0)->shape.rank != 4)
		*why = "only images of two dims are mapped on the device";
	else if (shape_count(op->shape) < least || shape_count(op_in(op, 0)->shape) < least)
		*why = "an image without pixels has no place on the device";
	const int fixed = op->kind == OP_AVG_POOL ? 0 : op->kind == OP_SLICE ? 1 : 2;
	for (int d = 0; !*why && d < fixed; d++) {
		const AxisMap m = axis(a, op, d);
		if (!axis_is_identity(&m))
			*why = "images and channels are not mapped, only rows and columns";
	}
	for (int d = 0; !*why && d < 2; d++)
		map[d] = axis(a, op, 2 + d);
	if (*why)
		return false;
	const bool full = has_terms(&map[0]) && has_terms(&map[1]);
	if (op->kind == OP_AVG_POOL && !full && !op->attr.pool.count_pad)
		*why = "a window that sees padding alone has no average";
	if (op->kind == OP_PAD && op->attr.pad.mode == PAD_CONSTANT && op->attr.pad.value != 0 &&
	    !full)
		*why = "padding on the device is zero, or taken from the image";
	if (op->kind == OP_RESIZE && op->attr.resize.extrapolation != 0 && !full)
		*why = "what lies outside of a crop is zero on the device";
	return !*why;
}
