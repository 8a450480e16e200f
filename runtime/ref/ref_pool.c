/* Windows over the spatial dims: max_pool, max_pool_index and avg_pool. */
#include "runtime/ref/ref_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One spatial dim; dims that the tensor does not have are extents of 1. */
typedef struct Window {
	int64_t in, out, kernel, stride, dilation, begin, end;
} Window;

typedef struct Pool {
	const Call *c;
	Window w[SPATIAL];
	int64_t in_plane, out_plane; /* elements of a channel */
} Pool;

/* The cells of a window that lie in the input, along one dim: taps from ..
 * to-1 of a window that starts at `start`. */
typedef struct Cells {
	int64_t start, from, to;
} Cells;

static Pool pool_of(const Call *c)
{
	const poolAttr *a = &c->op->attr.pool;
	Shape x = c->in[0]->shape, y = c->out->shape;
	int n = x.rank - 2;
	Pool p = { .c = c, .in_plane = 1, .out_plane = 1 };
	for (int d = 0; d < SPATIAL; d++) {
		int i = d - SPATIAL + n; /* below 0: a leading 1 */
		p.w[d] = (Window){
			.in = i < 0 ? 1 : x.dim[i + 2],
			.out = i < 0 ? 1 : y.dim[i + 2],
			.kernel = ref_item(a->kernel, i, 1),
			.stride = ref_item(a->strides, i, 1),
			.dilation = ref_item(a->dilations, i, 1),
			.begin = ref_item(a->pads, i, 0),
			.end = ref_item(a->pads, i < 0 ? i : i + n, 0),
		};
		p.in_plane *= p.w[d].in;
		p.out_plane *= p.w[d].out;
	}
	return p;
}

/* Taps t of the window at output position o with 0 <= start + t*dilation <
 * limit, for limits at or beyond the input's end. */
static Cells cells(const Window *w, int64_t o, int64_t limit)
{
	Cells c = { .start = o * w->stride - w->begin };
	if (c.start < 0)
		c.from = ref_ceil_div(-c.start, w->dilation);
	c.to = c.start >= limit ? 0 : ref_ceil_div(limit - c.start, w->dilation);
	c.to = c.to < w->kernel ? c.to : w->kernel;
	return c;
}

static void locate(const Pool *p, int64_t o, int64_t at[SPATIAL])
{
	for (int d = SPATIAL - 1; d >= 0; d--) {
		at[d] = o % p->w[d].out;
		o /= p->w[d].out;
	}
}

/* Calls for every input element (its index in the channel) of a window. */
#define for_each_cell(index, p, c) \
	for (int64_t cz = (c)[0].from; cz < (c)[0].to; cz++) \
	for (int64_t cy = (c)[1].from; cy < (c)[1].to; cy++) \
	for (int64_t cx = (c)[2].from, \
	     index = cell_index(p, c, cz, cy, cx); cx < (c)[2].to; \
	     cx++, index += (p)->w[2].dilation)

static int64_t cell_index(const Pool *p, const Cells c[SPATIAL], int64_t z, int64_t y, int64_t x)
{
	z = c[0].start + z * p->w[0].dilation;
	y = c[1].start + y * p->w[1].dilation;
	x = c[2].start + x * p->w[2].dilation;
	return (z * p->w[1].in + y) * p->w[2].in + x;
}

static void window_cells(const Pool *p, int64_t o, Cells c[SPATIAL])
{
	int64_t at[SPATIAL];
	locate(p, o, at);
	for (int d = 0; d < SPATIAL; d++)
		c[d] = cells(&p->w[d], at[d], p->w[d].in);
}

/* A channel's elements: doubles, or integers, of u64 in an order that
 * int64_t compares rightly. */
typedef union Plane {
	double *f;
	int64_t *i;
} Plane;

static void load_plane(const Tensor *t, int64_t at, int64_t n, Plane x)
{
	if (type_is_float(t->dtype)) {
		ref_load_f64(t, at, 1, n, x.f);
		return;
	}
	ref_load_i64(t, at, 1, n, x.i);
	for (int64_t k = 0; k < n && t->dtype == TYPE_U64; k++)
		x.i[k] ^= INT64_MIN;
}

/* Index of the first largest element, or of the first NaN; -1 if the window
 * sees only padding. */
static int64_t largest(const Pool *p, Plane x, int64_t o)
{
	Cells c[SPATIAL];
	int64_t best = -1;
	window_cells(p, o, c);
	if (type_is_float(p->c->in[0]->dtype)) {
		for_each_cell(k, p, c)
			if (best < 0 || x.f[k] > x.f[best] || (isnan(x.f[k]) && !isnan(x.f[best])))
				best = k;
	} else {
		for_each_cell(k, p, c)
			if (best < 0 || x.i[k] > x.i[best])
				best = k;
	}
	return best;
}

static void store_nothing(const Tensor *out, int64_t at)
{
	int64_t least = type_info[out->dtype].class == SIGNED ?
		INT64_MIN >> (64 - 8 * (int)ref_size(out)) : 0;
	double below = -INFINITY;
	if (type_is_float(out->dtype))
		ref_store_f64(out, at, 1, 1, &below);
	else
		ref_store_i64(out, at, 1, 1, &least);
}

static void max_planes(void *context, int64_t from, int64_t to)
{
	const Pool *p = context;
	const Tensor *in = p->c->in[0], *out = p->c->out;
	bool index = p->c->op->kind == OP_MAX_POOL_INDEX;
	size_t size = ref_size(in);
	Plane x = { xmalloc((size_t)p->in_plane * sizeof(double)) };
	for (int64_t plane = from; plane < to; plane++) {
		load_plane(in, plane * p->in_plane, p->in_plane, x);
		for (int64_t o = 0; o < p->out_plane; o++) {
			int64_t best = largest(p, x, o), at = plane * p->out_plane + o;
			int64_t flat = best < 0 ? -1 : plane * p->in_plane + best;
			if (index)
				ref_store_i64(out, at, 1, 1, &flat);
			else if (best < 0)
				store_nothing(out, at);
			else
				memcpy(ref_bytes(out) + (size_t)at * size,
				       ref_bytes(in) + (in->splat ? 0 : (size_t)flat) * size, size);
		}
	}
	free(x.f);
}

/* What a window divides by: its cells inside the input, or inside the padded
 * input; never those that only rounding the output size up has added. */
static double divisor(const Pool *p, int64_t o)
{
	int64_t at[SPATIAL];
	double n = 1;
	bool pads = p->c->op->attr.pool.count_pad;
	locate(p, o, at);
	for (int d = 0; d < SPATIAL; d++) {
		const Window *w = &p->w[d];
		Cells c = cells(w, at[d], pads ? w->in + w->end : w->in);
		n *= (double)(pads ? c.to : c.to > c.from ? c.to - c.from : 0);
	}
	return n;
}

static void avg_planes(void *context, int64_t from, int64_t to)
{
	const Pool *p = context;
	double *x = xmalloc((size_t)p->in_plane * sizeof *x);
	for (int64_t plane = from; plane < to; plane++) {
		ref_load_f64(p->c->in[0], plane * p->in_plane, 1, p->in_plane, x);
		for (int64_t o = 0; o < p->out_plane; o++) {
			Cells c[SPATIAL];
			double sum = 0;
			window_cells(p, o, c);
			for_each_cell(i, p, c)
				sum += x[i];
			sum /= divisor(p, o);
			ref_store_f64(p->c->out, plane * p->out_plane + o, 1, 1, &sum);
		}
	}
	free(x);
}

static void run(const Call *c, RefBody *planes)
{
	Pool p = pool_of(c);
	double cells_seen = 1;
	for (int d = 0; d < SPATIAL; d++)
		cells_seen *= (double)(p.w[d].kernel < p.w[d].in ? p.w[d].kernel : p.w[d].in);
	ref_parallel(c->threads, c->out->shape.dim[0] * c->out->shape.dim[1],
		     (double)p.in_plane + (double)p.out_plane * (cells_seen + 8), planes, &p);
}

void ref_max_pool(const Call *c)
{
	run(c, max_planes);
}

void ref_avg_pool(const Call *c)
{
	run(c, avg_planes);
}
