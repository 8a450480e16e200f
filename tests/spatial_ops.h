/*
 * Random ops that map rows and columns: resize, avg_pool, pad and slice in every
 * mode, of any sizes.
 */
#ifndef TESTS_SPATIAL_OPS_H
#define TESTS_SPATIAL_OPS_H

#include "ir/graph.h"
#include "ir/rng.h"

static inline int64_t spatial_pick(Rng *r, int64_t least, int64_t most)
{
	return least + rng_below(r, most - least + 1);
}

/* Sizes up to `most`, or whole factors; the scales as models give them. */
static inline void spatial_resize(Arena *a, Rng *r, Op *op, Shape s, int64_t most)
{
	resizeAttr *z = &op->attr.resize;
	int64_t sizes[4] = { s.dim[0], s.dim[1] };
	float scales[4] = { 1, 1 }, roi[8] = { 0, 0, 0, 0, 1, 1, 1, 1 };
	for (int d = 2; d < 4; d++) {
		const int64_t factor = spatial_pick(r, 1, 4);
		sizes[d] = rng_below(r, 2) ? spatial_pick(r, 1, most) : s.dim[d] * factor;
		scales[d] = (float)sizes[d] / (float)s.dim[d];
		if (rng_below(r, 4) == 0) { /* a scale that is not out/in */
			scales[d] *= 0.5f + rng_float(r);
			sizes[d] = (int64_t)(scales[d] * (float)s.dim[d]);
		}
		roi[d] = rng_float(r) / 2 - 0.2f;
		roi[4 + d] = rng_float(r) / 2 + 0.6f;
	}
	z->sizes = ints_copy(a, sizes, 4);
	z->scales = floats_copy(a, scales, 4);
	z->coord = (Coord)rng_below(r, Coord_COUNT);
	if (z->coord == COORD_TF_CROP)
		z->roi = floats_copy(a, roi, 8);
	z->mode = (ResizeMode)rng_below(r, ResizeMode_COUNT);
	z->nearest = (Rounding)rng_below(r, Rounding_COUNT);
	z->antialias = z->mode != RESIZE_NEAREST && rng_below(r, 4) == 0;
	z->exclude_outside = rng_below(r, 4) == 0;
}

static inline void spatial_pool(Arena *a, Rng *r, Op *op)
{
	poolAttr *p = &op->attr.pool;
	int64_t kernel[2], strides[2], dilations[2], pads[4];
	for (int d = 0; d < 2; d++) {
		kernel[d] = spatial_pick(r, 1, 7);
		strides[d] = spatial_pick(r, 1, 4);
		dilations[d] = spatial_pick(r, 1, 2);
		pads[d] = spatial_pick(r, 0, kernel[d] - 1);
		pads[d + 2] = spatial_pick(r, 0, kernel[d] - 1);
	}
	p->kernel = ints_copy(a, kernel, 2);
	p->strides = ints_copy(a, strides, 2);
	p->dilations = ints_copy(a, dilations, 2);
	p->pads = ints_copy(a, pads, 4);
	p->ceil = rng_below(r, 2);
	p->count_pad = rng_below(r, 2);
}

static inline void spatial_pad(Arena *a, Rng *r, Op *op, Shape s)
{
	int64_t pads[8] = { 0 };
	op->attr.pad.mode = (PadMode)rng_below(r, PadMode_COUNT);
	for (int d = 2; d < 4; d++) {
		pads[d] = spatial_pick(r, -s.dim[d] / 3, s.dim[d] < 40 ? s.dim[d] - 1 : 40);
		pads[d + 4] = spatial_pick(r, -s.dim[d] / 3, s.dim[d] < 9 ? s.dim[d] - 1 : 9);
	}
	op->attr.pad.pads = ints_copy(a, pads, 8);
}

static inline void spatial_slice(Arena *a, Rng *r, Op *op, Shape s)
{
	int64_t starts[4] = { 0 }, steps[4] = { 1, 1 }, counts[4] = { s.dim[0], s.dim[1] };
	for (int d = 2; d < 4; d++) {
		starts[d] = spatial_pick(r, 0, s.dim[d] / 2);
		steps[d] = spatial_pick(r, 1, 3);
		counts[d] = 1 + (s.dim[d] - 1 - starts[d]) / steps[d];
		counts[d] -= counts[d] > 1 && rng_below(r, 2);
	}
	op->attr.slice.starts = ints_copy(a, starts, 4);
	op->attr.slice.steps = ints_copy(a, steps, 4);
	op->attr.slice.counts = ints_copy(a, counts, 4);
}

/* One on x, of the kind; NULL if chance made one that is wrong, whose message is
 * then in the graph's diagnostics. */
static inline Op *spatial_op(Arena *a, Graph *g, Rng *r, OpKind kind, Op *x, int64_t most)
{
	Op *op = graph_insert(g, NULL, kind, "y", 1, &x);
	if (kind == OP_RESIZE)
		spatial_resize(a, r, op, x->shape, most);
	else if (kind == OP_AVG_POOL)
		spatial_pool(a, r, op);
	else if (kind == OP_PAD)
		spatial_pad(a, r, op, x->shape);
	else
		spatial_slice(a, r, op, x->shape);
	return op_infer(g, op) ? op : NULL;
}

#endif
