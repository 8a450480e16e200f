/* Ops that move elements without computing with them. */
#include "runtime/ref/ref_internal.h"

#include <stdlib.h>
#include <string.h>

void ref_copy(const Call *c)
{
	int64_t one[MAX_RANK] = { 1 };
	ref_copy_strided(c->out, c->in[0], SHAPE(tensor_count(c->out)), 0, one, c->threads);
}

void ref_transpose(const Call *c, Ints perm)
{
	int64_t own[MAX_RANK], strides[MAX_RANK] = { 0 };
	shape_strides(c->in[0]->shape, own);
	for (int i = 0; i < perm.n; i++)
		strides[i] = own[perm.v[i]];
	ref_copy_strided(c->out, c->in[0], c->out->shape, 0, strides, c->threads);
}

void ref_expand(const Call *c)
{
	int64_t strides[MAX_RANK] = { 0 };
	ref_broadcast_strides(c->in[0], c->out->shape, strides);
	ref_copy_strided(c->out, c->in[0], c->out->shape, 0, strides, c->threads);
}

/* Seen as [outer, its part of axis, inner], each input is a band of columns
 * of the result. */
void ref_concat(const Call *c)
{
	Shape s = c->out->shape;
	size_t size = ref_size(c->out), row = size, outer = 1;
	int64_t axis = c->op->attr.axis.axis;
	char *column = ref_bytes(c->out);

	if (c->op->nin == 1 || s.rank == 0) {
		ref_copy(c);
		return;
	}
	for (int i = 0; i < s.rank; i++)
		if (i < axis)
			outer *= (size_t)s.dim[i];
		else
			row *= (size_t)s.dim[i];
	for (int i = 0; i < c->op->nin; i++) {
		const Tensor *t = c->in[i];
		size_t width = 1;
		for (int d = (int)axis; d < s.rank; d++)
			width *= (size_t)t->shape.dim[d];
		width *= size;
		for (size_t o = 0; o < outer; o++)
			if (t->splat)
				for (size_t k = 0; k < width; k += size)
					memcpy(column + o * row + k, t->data, size);
			else if (width)
				memcpy(column + o * row, ref_bytes(t) + o * width, width);
		column += width;
	}
}

void ref_slice(const Call *c)
{
	const sliceAttr *a = &c->op->attr.slice;
	int64_t own[MAX_RANK], strides[MAX_RANK] = { 0 }, offset = 0;
	if (tensor_count(c->out) == 0)
		return; /* starts may be anything then */
	shape_strides(c->in[0]->shape, own);
	for (int i = 0; i < a->starts.n; i++) {
		offset += a->starts.v[i] * own[i];
		strides[i] = a->counts.v[i] > 1 ? a->steps.v[i] * own[i] : 0;
	}
	ref_copy_strided(c->out, c->in[0], c->out->shape, offset, strides, c->threads);
}

/* Where position i of a padded dim comes from, for i counted from the first
 * element that is kept, of n that are; -1 for the constant. */
static int64_t padded_from(PadMode mode, int64_t i, int64_t n)
{
	int64_t period = 2 * (n - 1), r;
	if (i >= 0 && i < n)
		return i;
	if (n <= 0)
		return -1;
	switch (mode) {
	case PAD_CONSTANT:
		return -1;
	case PAD_EDGE:
		return i < 0 ? 0 : n - 1;
	case PAD_REFLECT:
		if (n == 1)
			return 0;
		r = (i % period + period) % period;
		return r < n ? r : period - r;
	case PAD_WRAP:
		return (i % n + n) % n;
	case PadMode_COUNT:
		break;
	}
	die("pad: no such mode: %d", (int)mode);
}

/* Negative pads crop first; what is left is then padded. */
void ref_pad(const Call *c)
{
	const padAttr *a = &c->op->attr.pad;
	Shape from = c->in[0]->shape, to = c->out->shape;
	int64_t *map[MAX_RANK] = { NULL };
	uint64_t bits = 0;
	double value = a->value;
	Tensor fill = { .dtype = c->out->dtype, .data = &bits };

	ref_store_f64(&fill, 0, 1, 1, &value);
	for (int d = 0; d < from.rank; d++) {
		int64_t begin = a->pads.v[d], end = a->pads.v[from.rank + d];
		int64_t skip = begin < 0 ? -begin : 0, lead = begin < 0 ? 0 : begin;
		int64_t kept = from.dim[d] - skip - (end < 0 ? -end : 0);
		map[d] = xmalloc((size_t)to.dim[d] * sizeof(int64_t));
		for (int64_t i = 0; i < to.dim[d]; i++) {
			int64_t at = padded_from(a->mode, i - lead, kept);
			map[d][i] = at < 0 ? -1 : at + skip;
		}
	}
	ref_copy_mapped(c->out, to, c->in[0], from, map, &bits, c->threads);
	for (int d = 0; d < from.rank; d++)
		free(map[d]);
}

/* Both see the data as [dims before, axis, dims after] and replace the middle
 * by what `map` names, n of them. */
static void take(const Call *c, int64_t axis, int64_t *map, int64_t n)
{
	Shape s = c->in[0]->shape;
	int64_t before = 1, after = 1;
	for (int d = 0; d < s.rank; d++)
		if (d < axis)
			before *= s.dim[d];
		else if (d > axis)
			after *= s.dim[d];
	int64_t *maps[MAX_RANK] = { ref_map_same(before), map, ref_map_same(after) };
	ref_copy_mapped(c->out, SHAPE(before, n, after), c->in[0],
			SHAPE(before, s.dim[axis], after), maps, NULL, c->threads);
	free(maps[0]);
	free(maps[2]);
}

bool ref_gather(const Call *c)
{
	const Tensor *index = c->in[1];
	int64_t axis = c->op->attr.axis.axis, dim = c->in[0]->shape.dim[axis];
	int64_t n = tensor_count(index), *map = xmalloc((size_t)n * sizeof *map);
	bool ok = true;

	ref_load_i64(index, 0, 1, n, map);
	for (int64_t i = 0; i < n && ok; i++) {
		ok = map[i] >= (index->dtype == TYPE_U64 ? 0 : -dim) && map[i] < dim;
		if (!ok)
			diag_error(c->g->diag, c->op->loc,
				   "gather: \"%s\" has index %lld, axis %lld has %lld elements",
				   c->op->name, (long long)map[i], (long long)axis, (long long)dim);
		else if (map[i] < 0)
			map[i] += dim;
	}
	if (ok)
		take(c, axis, map, n);
	free(map);
	return ok;
}

void ref_select_channels(const Call *c)
{
	Ints channels = c->op->attr.channels.channels;
	int64_t *map = xmalloc((size_t)channels.n * sizeof *map);
	for (int i = 0; i < channels.n; i++)
		map[i] = channels.v[i];
	take(c, 1, map, channels.n);
	free(map);
}

/* The result as [N, C, H, bh, W, bw]; strides are the input's. */
void ref_depth_to_space(const Call *c)
{
	const blockAttr *a = &c->op->attr.block;
	Shape s = c->in[0]->shape;
	int64_t b = a->block, depth = s.dim[1] / (b * b);
	int64_t plane = s.dim[2] * s.dim[3];
	bool dcr = a->order == ORDER_DCR;
	Shape dims = SHAPE(s.dim[0], depth, s.dim[2], b, s.dim[3], b);
	int64_t strides[MAX_RANK] = {
		s.dim[1] * plane,
		plane * (dcr ? 1 : b * b),
		s.dim[3],
		plane * (dcr ? b * depth : b),
		1,
		plane * (dcr ? depth : 1),
	};
	ref_copy_strided(c->out, c->in[0], dims, 0, strides, c->threads);
}

/* The result as [N, bh, bw, C, H, W] (dcr) or [N, C, bh, bw, H, W] (crd). */
void ref_space_to_depth(const Call *c)
{
	const blockAttr *a = &c->op->attr.block;
	Shape s = c->in[0]->shape;
	int64_t b = a->block, plane = s.dim[2] * s.dim[3];
	int64_t h = s.dim[2] / b, w = s.dim[3] / b;
	bool dcr = a->order == ORDER_DCR;
	Shape dims = dcr ? SHAPE(s.dim[0], b, b, s.dim[1], h, w)
			 : SHAPE(s.dim[0], s.dim[1], b, b, h, w);
	int64_t strides[MAX_RANK] = {
		s.dim[1] * plane,
		dcr ? s.dim[3] : plane,
		dcr ? 1 : s.dim[3],
		dcr ? plane : 1,
		s.dim[3] * b,
		b,
	};
	ref_copy_strided(c->out, c->in[0], dims, 0, strides, c->threads);
}

void ref_view(const Call *c)
{
	const viewAttr *a = &c->op->attr.view;
	Shape dims = { .rank = a->dims.n };
	int64_t strides[MAX_RANK] = { 0 };
	for (int i = 0; i < a->dims.n; i++) {
		dims.dim[i] = a->dims.v[i];
		strides[i] = a->strides.v[i];
	}
	ref_copy_strided(c->out, c->in[0], dims, a->offset, strides, c->threads);
}
