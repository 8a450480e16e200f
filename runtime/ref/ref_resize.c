/*
 * Resizing: where each output position lies in the input, and what it takes
 * from there.
 *
 * nearest copies one element per output. linear and cubic are sums over a
 * few neighbours with weights, one dim after the other; dims in front that
 * keep their size are independent images.
 */
#include "runtime/ref/ref_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One dim. Output i takes weight[i*n + k] of input first[i] + k, clamped to
 * the edge; where `outside` it takes the extrapolation value. */
typedef struct Taps {
	int64_t in, out, n;
	bool same; /* copies */
	int64_t *first;
	double *weight;
	bool *outside;
} Taps;

/* Output pixels per input pixel. A factor that is out/in but for its
 * rounding to float is taken as out/in. */
static double scale_of(const resizeAttr *a, int d, int64_t in, int64_t out)
{
	double ratio = (double)out / (double)in;
	if (d >= a->scales.n || fabs(a->scales.v[d] - ratio) <= ratio * 0x1p-22)
		return ratio;
	return a->scales.v[d];
}

/* Where output x lies in the input of dim d. */
static double coordinate(const resizeAttr *a, int d, int64_t in, int64_t out, int64_t x)
{
	double scale = scale_of(a, d, in, out), width = (double)in, at = (double)x;
	bool exact = scale == (double)out / width;
	int rank = a->roi.n / 2;
	double start = d < rank ? a->roi.v[d] : 0, end = d < rank ? a->roi.v[rank + d] : 1;

	switch (a->coord) {
	case COORD_HALF_PIXEL:
		break;
	case COORD_HALF_PIXEL_SYMMETRIC:
		return width / 2 * (1 - (double)out / (scale * width)) + (at + 0.5) / scale - 0.5;
	case COORD_PYTORCH_HALF_PIXEL:
		if (out == 1)
			return 0;
		break;
	case COORD_ALIGN_CORNERS:
		return out == 1 ? 0 : at * (width - 1) / (double)(out - 1);
	case COORD_ASYMMETRIC:
		return exact ? at * width / (double)out : at / scale;
	case COORD_TF_CROP:
		if (out == 1)
			return 0.5 * (start + end) * (width - 1);
		return start * (width - 1) + at * (end - start) * (width - 1) / (double)(out - 1);
	case Coord_COUNT:
		die("resize: no such coordinate mode");
	}
	return (exact ? (at + 0.5) * width / (double)out : (at + 0.5) / scale) - 0.5;
}

static bool falls_outside(const resizeAttr *a, double x, int64_t in)
{
	return a->coord == COORD_TF_CROP && !(x >= 0 && x <= (double)(in - 1));
}

static double clamp(double x, double low, double high)
{
	return !(x > low) ? low : x > high ? high : x;
}

static double nearest(Rounding rounding, double x)
{
	switch (rounding) {
	case ROUND_PREFER_FLOOR:
		return ceil(x - 0.5);
	case ROUND_PREFER_CEIL:
		return floor(x + 0.5);
	case ROUND_FLOOR:
		return floor(x);
	case ROUND_CEIL:
		return ceil(x);
	case Rounding_COUNT:
		break;
	}
	die("resize: no such rounding");
}

static void resize_nearest(const Call *c)
{
	const resizeAttr *a = &c->op->attr.resize;
	Shape from = c->in[0]->shape, to = c->out->shape;
	int64_t *map[MAX_RANK] = { NULL };
	uint64_t bits = 0;
	double value = a->extrapolation;
	Tensor fill = { .dtype = c->out->dtype, .data = &bits };

	ref_store_f64(&fill, 0, 1, 1, &value);
	for (int d = 0; d < to.rank; d++) {
		double edge = (double)(from.dim[d] - 1);
		map[d] = xmalloc((size_t)to.dim[d] * sizeof *map[d]);
		for (int64_t i = 0; i < to.dim[d]; i++) {
			double x = coordinate(a, d, from.dim[d], to.dim[d], i);
			map[d][i] = falls_outside(a, x, from.dim[d]) ? -1
				  : (int64_t)clamp(nearest(a->nearest, x), 0, edge);
		}
	}
	ref_copy_mapped(c->out, to, c->in[0], from, map, &bits, c->threads);
	for (int d = 0; d < to.rank; d++)
		free(map[d]);
}

/* The interpolating kernels, at distance x. */
static double triangle(double x)
{
	x = fabs(x);
	return x < 1 ? 1 - x : 0;
}

static double cubic(double x, double a)
{
	x = fabs(x);
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Weights of the n inputs round x, the kernel stretched by 1/stretch. */
static void set_weights(const resizeAttr *a, Taps *t, int64_t i, double x, double stretch)
{
	double *w = t->weight + i * t->n, sum = 0;
	t->first[i] = (int64_t)ceil(x) - t->n / 2;
	for (int64_t k = 0; k < t->n; k++) {
		int64_t at = t->first[i] + k;
		double distance = stretch * ((double)at - x);
		w[k] = a->mode == RESIZE_CUBIC ? cubic(distance, a->cubic_a) : triangle(distance);
		if (a->exclude_outside && (at < 0 || at >= t->in))
			w[k] = 0;
		sum += w[k];
	}
	if ((a->antialias || a->exclude_outside) && sum != 0)
		for (int64_t k = 0; k < t->n; k++)
			w[k] /= sum;
}

static Taps taps_of(const resizeAttr *a, int d, int64_t in, int64_t out)
{
	Taps t = { .in = in, .out = out, .same = in == out };
	double radius = a->mode == RESIZE_CUBIC ? 2 : 1;
	double stretch = a->antialias ? clamp(scale_of(a, d, in, out), 0.5 / (double)in, 1) : 1;
	t.n = 2 * (int64_t)ceil(radius / stretch);
	t.first = xmalloc((size_t)out * sizeof *t.first);
	t.weight = xmalloc((size_t)(out * t.n) * sizeof *t.weight);
	t.outside = xmalloc((size_t)out * sizeof *t.outside);
	for (int64_t i = 0; i < out; i++) {
		double x = coordinate(a, d, in, out, i);
		t.outside[i] = falls_outside(a, x, in);
		t.same &= x == (double)i && !t.outside[i];
		set_weights(a, &t, i, clamp(x, (double)-t.n, (double)(in + t.n)), stretch);
	}
	return t;
}

/* x[before][in][after] to y[before][out][after]. */
static void resize_dim(const Taps *t, const double *x, double *y, int64_t before, int64_t after,
		       double extrapolation)
{
	for (int64_t b = 0; b < before; b++)
		for (int64_t i = 0; i < t->out; i++) {
			double *to = y + (b * t->out + i) * after;
			for (int64_t k = 0; k < after; k++)
				to[k] = t->outside[i] ? extrapolation : 0;
			for (int64_t n = 0; n < t->n && !t->outside[i]; n++) {
				int64_t at = t->first[i] + n;
				at = at < 0 ? 0 : at < t->in ? at : t->in - 1;
				const double w = t->weight[i * t->n + n];
				const double *from = x + (b * t->in + at) * after;
				for (int64_t k = 0; w != 0 && k < after; k++)
					to[k] += w * from[k];
			}
		}
}

typedef struct Resize {
	const Call *c;
	int lead; /* dims in front that are only copied */
	int64_t in, out; /* elements of an image */
	Taps taps[MAX_RANK];
} Resize;

/* Integers take the nearest value they can hold. */
static void store(const Tensor *t, int64_t at, int64_t n, double *y)
{
	int bits = 8 * (int)ref_size(t);
	bool is_signed = type_info[t->dtype].class == SIGNED;
	double low = is_signed ? -ldexp(1, bits - 1) : 0;
	double high = ldexp(1, is_signed ? bits - 1 : bits) - 1;
	if (!type_is_float(t->dtype))
		for (int64_t i = 0; i < n; i++)
			y[i] = clamp(nearbyint(y[i]), low, high);
	ref_store_f64(t, at, 1, n, y);
}

static void some_images(void *context, int64_t from, int64_t to)
{
	const Resize *r = context;
	Shape s = r->c->in[0]->shape;
	for (int64_t image = from; image < to; image++) {
		int64_t before = 1, after = r->in;
		double *x = xmalloc((size_t)r->in * sizeof *x);
		ref_load_f64(r->c->in[0], image * r->in, 1, r->in, x);
		for (int d = r->lead; d < s.rank; d++) {
			const Taps *t = &r->taps[d];
			after /= t->in;
			if (!t->same) {
				double *y = xmalloc((size_t)(before * t->out * after) * sizeof *y);
				resize_dim(t, x, y, before, after,
					   r->c->op->attr.resize.extrapolation);
				free(x);
				x = y;
			}
			before *= t->out;
		}
		store(r->c->out, image * r->out, r->out, x);
		free(x);
	}
}

static void resize_smooth(const Call *c)
{
	const resizeAttr *a = &c->op->attr.resize;
	Shape from = c->in[0]->shape, to = c->out->shape;
	Resize r = { .c = c, .in = 1, .out = 1 };
	int64_t images = 1;
	double work = 1;

	for (int d = 0; d < to.rank; d++)
		r.taps[d] = taps_of(a, d, from.dim[d], to.dim[d]);
	while (r.lead < to.rank && r.taps[r.lead].same)
		images *= to.dim[r.lead++];
	for (int d = r.lead; d < to.rank; d++) {
		r.in *= from.dim[d];
		r.out *= to.dim[d];
		work += (double)r.taps[d].n;
	}
	ref_parallel(c->threads, images, (double)(r.in + r.out) * work, some_images, &r);
	for (int d = 0; d < to.rank; d++) {
		free(r.taps[d].first);
		free(r.taps[d].weight);
		free(r.taps[d].outside);
	}
}

void ref_resize(const Call *c)
{
	if (tensor_count(c->out) == 0 || tensor_count(c->in[0]) == 0)
		return;
	if (c->op->attr.resize.mode == RESIZE_NEAREST)
		resize_nearest(c);
	else
		resize_smooth(c);
}
