/* Convolutions, pools and resizing as strict NNEF. */
#include "frontend/nnef_write.h"

#include <inttypes.h>
#include <math.h>

/* stride, dilation, padding and groups of a convolution, as arguments. */
static const char *conv_arguments(Writer *w, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	int n = op->shape.rank - 2;
	return arena_printf(w->arena, ", stride = %s, dilation = %s, padding = %s, groups = %" PRId64,
			    writer_ints(w, c->strides.v, n), writer_ints(w, c->dilations.v, n),
			    writer_pairs(w, c->pads.v, c->pads.v + n, n), c->groups);
}

/* "x, filter" or "x, filter, bias" */
static const char *conv_operands(Writer *w, const Op *op)
{
	const char *x = writer_ref(w, op_in(op, 0)), *filter = writer_ref(w, op_in(op, 1));
	if (op->nin == 2)
		return arena_printf(w->arena, "%s, %s", x, filter);
	return arena_printf(w->arena, "%s, %s, %s", x, filter,
			    writer_ref_as(w, op_in(op, 2), SHAPE(1, op->shape.dim[1])));
}

void writer_conv(Writer *w, const Op *op, const char *id)
{
	writer_say(w, id, "conv(%s%s)", conv_operands(w, op), conv_arguments(w, op));
}

void writer_deconv(Writer *w, const Op *op, const char *id)
{
	const convAttr *c = &op->attr.conv;
	const char *shape = "";
	for (int i = 0; i < c->output_padding.n; i++) {
		if (c->output_padding.v[i])
			shape = arena_printf(w->arena, ", output_shape = %s",
					     writer_ints(w, op->shape.dim, op->shape.rank));
		if (c->output_padding.v[i] >= c->strides.v[i]) {
			writer_refuse(w, "output padding of %" PRId64 " is not below the stride of %" PRId64,
				      c->output_padding.v[i], c->strides.v[i]);
			return;
		}
	}
	writer_say(w, id, "deconv(%s%s%s)", conv_operands(w, op), conv_arguments(w, op), shape);
}

/* `v` behind two ones (or zeros), for batch and channels. */
static void behind(int64_t *out, int64_t fill, const int64_t *v, int n)
{
	out[0] = out[1] = fill;
	for (int i = 0; i < n; i++)
		out[i + 2] = v[i];
}

void writer_pool(Writer *w, const Op *op, const char *id)
{
	const poolAttr *p = &op->attr.pool;
	int64_t size[MAX_RANK], stride[MAX_RANK], dilation[MAX_RANK];
	int64_t begin[MAX_RANK], end[MAX_RANK];
	int n = op->shape.rank - 2, rank = n + 2;
	bool counts = op->kind == OP_AVG_POOL && p->count_pad;
	behind(size, 1, p->kernel.v, n);
	behind(stride, 1, p->strides.v, n);
	behind(dilation, 1, p->dilations.v, n);
	behind(begin, 0, p->pads.v, n);
	behind(end, 0, p->pads.v + n, n);
	/* NNEF counts windows downwards: what `ceil` adds is more padding. */
	for (int i = 2; i < rank && p->ceil; i++) {
		int64_t span = (size[i] - 1) * dilation[i] + 1;
		int64_t more = (op->shape.dim[i] - 1) * stride[i] + span - begin[i] -
			       op_in(op, 0)->shape.dim[i];
		if (more > end[i] && counts) {
			writer_refuse(w, "windows cut off at the end count only what is there");
			return;
		}
		end[i] = more > end[i] ? more : end[i];
	}
	const char *name = op->kind == OP_AVG_POOL ? "avg_pool"
		: op->kind == OP_MAX_POOL ? "max_pool" : "argmax_pool";
	writer_say(w, id, "%s(%s, size = %s, stride = %s, dilation = %s, padding = %s, border = '%s')",
		   name, writer_ref(w, op_in(op, 0)), writer_ints(w, size, rank),
		   writer_ints(w, stride, rank), writer_ints(w, dilation, rank),
		   writer_pairs(w, begin, end, rank), counts ? "constant" : "ignore");
}

/* Where output position `at` of dim d lies in the input. */
static double source(const Op *op, int d, int64_t at)
{
	const resizeAttr *a = &op->attr.resize;
	double in = (double)op_in(op, 0)->shape.dim[d], out = (double)op->shape.dim[d];
	double x = (double)at, ratio = out / in, scale = a->scales.v[d];
	bool exact = fabs(scale - ratio) <= ratio * 0x1p-22; /* but for its rounding */
	double step = exact ? in / out : 1 / scale;
	switch (a->coord) {
	case COORD_ALIGN_CORNERS:
		return out == 1 ? 0 : x * (in - 1) / (out - 1);
	case COORD_ASYMMETRIC:
		return x * step;
	case COORD_PYTORCH_HALF_PIXEL:
		return out == 1 ? 0 : (x + 0.5) * step - 0.5;
	case COORD_HALF_PIXEL_SYMMETRIC:
		return in / 2 * (1 - ratio * step) + (x + 0.5) * step - 0.5;
	case COORD_HALF_PIXEL:
	case COORD_TF_CROP:
	case Coord_COUNT:
		break;
	}
	return (x + 0.5) * step - 0.5;
}

static int64_t clamped(double x, int64_t n)
{
	return x <= 0 ? 0 : x >= (double)(n - 1) ? n - 1 : (int64_t)x;
}

static int64_t nearest(const Op *op, int d, int64_t at)
{
	double x = source(op, d, at);
	Rounding r = op->attr.resize.nearest;
	x = r == ROUND_PREFER_FLOOR ? ceil(x - 0.5) : r == ROUND_PREFER_CEIL ? floor(x + 0.5)
		: r == ROUND_FLOOR ? floor(x) : ceil(x);
	return clamped(x, op_in(op, 0)->shape.dim[d]);
}

/* The factors of an upsampling (or, if `down`, of a downsampling) by whole
 * numbers of the spatial dims alone; false if it is something else. */
static bool whole_factors(const Op *op, bool down, int64_t *factor)
{
	Shape in = op_in(op, 0)->shape, out = op->shape;
	if (in.rank < 3 || in.dim[0] != out.dim[0] || in.dim[1] != out.dim[1])
		return false;
	for (int d = 2; d < in.rank; d++) {
		int64_t small = down ? out.dim[d] : in.dim[d];
		int64_t large = down ? in.dim[d] : out.dim[d];
		double scale = (double)out.dim[d] / (double)in.dim[d];
		if (large % small || fabs(op->attr.resize.scales.v[d] - scale) > scale * 0x1p-22)
			return false;
		factor[d - 2] = large / small;
	}
	return true;
}

/* True if nearest neighbours are as NNEF's nearest_upsample (downsample) has
 * them. */
static bool is_plain_nearest(const Op *op, bool down, int64_t *factor)
{
	if (!whole_factors(op, down, factor))
		return false;
	for (int d = 2; d < op->shape.rank; d++)
		for (int64_t i = 0; i < op->shape.dim[d]; i++)
			if (nearest(op, d, i) != (down ? i * factor[d - 2] : i / factor[d - 2]))
				return false;
	return true;
}

/* Any other choice of neighbours is a gather along each dim. */
static void write_nearest(Writer *w, const Op *op, const char *id)
{
	const Op *x = op_in(op, 0);
	const char *from = writer_ref(w, x);
	int64_t factor[MAX_RANK];
	int n = op->shape.rank - 2, last = -1;
	for (int down = 0; down < 2; down++)
		if (is_plain_nearest(op, down, factor)) {
			writer_say(w, id, "nearest_%ssample(%s, factor = %s)", down ? "down" : "up", from,
				   writer_ints(w, factor, n));
			return;
		}
	for (int d = 0; d < op->shape.rank; d++)
		if (x->shape.dim[d] != op->shape.dim[d])
			last = d;
	for (int d = 0; d <= last; d++) {
		int64_t size = op->shape.dim[d];
		if (x->shape.dim[d] == size)
			continue;
		Tensor *t = tensor_create(w->arena, TYPE_I64, SHAPE(size));
		for (int64_t i = 0; i < size; i++)
			tensor_set_i64(t, i, nearest(op, d, i));
		const char *to = d == last ? id : writer_part(w, id, "part");
		writer_say(w, to, "gather(%s, %s, axis = %d)", from,
			   writer_variable(w, arena_printf(w->arena, "%s_rows", id), t), d);
		from = to;
	}
	if (last < 0)
		writer_say(w, id, "copy(%s)", from);
}

static double kernel(const resizeAttr *a, double x)
{
	double k = a->cubic_a;
	x = fabs(x);
	if (a->mode == RESIZE_LINEAR)
		return x < 1 ? 1 - x : 0;
	if (x <= 1)
		return ((k + 2) * x - (k + 3)) * x * x + 1;
	return x < 2 ? ((k * x - 5 * k) * x + 8 * k) * x - 4 * k : 0;
}

/* What each output position of dim d takes of each input position: a matrix
 * of rank `rank`, [.., out, in], or transposed. */
static Tensor *taps(Writer *w, const Op *op, int d, int rank, bool turned)
{
	const resizeAttr *a = &op->attr.resize;
	int64_t in = op_in(op, 0)->shape.dim[d], out = op->shape.dim[d];
	int reach = a->mode == RESIZE_LINEAR ? 1 : 2;
	Shape s = { .rank = rank };
	for (int i = 0; i < rank; i++)
		s.dim[i] = i < rank - 2 ? 1 : (i == rank - 2) == turned ? in : out;
	Tensor *t = tensor_create(w->arena, TYPE_F32, s);
	for (int64_t o = 0; o < out; o++) {
		double x = source(op, d, o), sum = 0;
		for (int64_t k = (int64_t)ceil(x) - reach; k < (int64_t)ceil(x) + reach; k++)
			if (!a->exclude_outside || (k >= 0 && k < in))
				sum += kernel(a, (double)k - x);
		for (int64_t k = (int64_t)ceil(x) - reach; k < (int64_t)ceil(x) + reach; k++) {
			int64_t at = clamped((double)k, in);
			int64_t cell = turned ? at * out + o : o * in + at;
			double v = kernel(a, (double)k - x) / (a->exclude_outside ? sum : 1);
			if (!a->exclude_outside || (k >= 0 && k < in))
				tensor_set_f64(t, cell, tensor_f64(t, cell) + v);
		}
	}
	return t;
}

/* The swap of dim d and the last one. */
static const char *swap(Writer *w, int rank, int d)
{
	int64_t perm[MAX_RANK];
	for (int i = 0; i < rank; i++)
		perm[i] = i == d ? rank - 1 : i == rank - 1 ? d : i;
	return writer_ints(w, perm, rank);
}

/* The same of a tensor with one dim, which becomes a row for the time. */
static void write_row_product(Writer *w, const Op *op, const char *id)
{
	const char *row = writer_ref_as(w, op_in(op, 0), SHAPE(1, op_in(op, 0)->shape.dim[0]));
	const char *product = writer_part(w, id, "product");
	const char *matrix = writer_variable(w, arena_printf(w->arena, "%s_taps", id),
					     taps(w, op, 0, 2, true));
	writer_say(w, product, "matmul(%s, %s)", row, matrix);
	writer_say(w, id, "reshape(%s, shape = [%" PRId64 "])", product, op->shape.dim[0]);
}

/* Interpolation along a dim is a product with a matrix of weights. */
static void write_products(Writer *w, const Op *op, const char *id)
{
	const Op *x = op_in(op, 0);
	const char *from = writer_ref(w, x);
	int rank = op->shape.rank, last = -1;
	for (int d = 0; d < rank; d++)
		if (x->shape.dim[d] != op->shape.dim[d] || op->attr.resize.scales.v[d] != 1)
			last = d;
	for (int d = 0; d <= last; d++) {
		if (x->shape.dim[d] == op->shape.dim[d] && op->attr.resize.scales.v[d] == 1)
			continue;
		bool turned = d != rank - 2, moved = d < rank - 2;
		const char *to = d == last ? id : writer_part(w, id, "part");
		const char *in = moved ? writer_part(w, id, "turned") : from;
		const char *out = moved ? writer_part(w, id, "product") : to;
		const char *matrix = writer_variable(w, arena_printf(w->arena, "%s_taps", id),
						     taps(w, op, d, rank, turned));
		if (moved)
			writer_say(w, in, "transpose(%s, axes = %s)", from, swap(w, rank, d));
		writer_say(w, out, "matmul(%s, %s)", turned ? in : matrix, turned ? matrix : in);
		if (moved)
			writer_say(w, to, "transpose(%s, axes = %s)", out, swap(w, rank, d));
		from = to;
	}
	if (last < 0)
		writer_say(w, id, "copy(%s)", from);
}

void writer_resize(Writer *w, const Op *op, const char *id)
{
	const resizeAttr *a = &op->attr.resize;
	const char *method = a->coord == COORD_ASYMMETRIC ? "asymmetric"
		: a->coord == COORD_ALIGN_CORNERS ? "aligned" : "symmetric";
	int64_t factor[MAX_RANK];
	bool shrinks = false, plain = a->mode == RESIZE_LINEAR && !a->exclude_outside;
	for (int d = 0; d < op->shape.rank; d++)
		shrinks = shrinks || a->scales.v[d] < 1;
	if (a->coord == COORD_TF_CROP || (a->antialias && shrinks))
		writer_refuse(w, "NNEF has no crop or antialias in resizing");
	else if (a->mode == RESIZE_NEAREST)
		write_nearest(w, op, id);
	else if (op->shape.rank == 1)
		write_row_product(w, op, id);
	else if (plain && whole_factors(op, false, factor))
		writer_say(w, id,
			   "multilinear_upsample(%s, factor = %s, method = '%s', border = 'replicate')",
			   writer_ref(w, op_in(op, 0)), writer_ints(w, factor, op->shape.rank - 2),
			   method);
	else
		write_products(w, op, id);
}
