/* Ops that move elements: bytes are copied, types do not matter. */
#include "ir/eval_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Rows by columns of elements; steps are in elements. */
typedef struct Plane {
	int64_t rows, columns;
	int64_t from_row, from_column, to_row, to_column;
} Plane;

/* A tile at a time, so that both sides stay in the cache. */
#define COPY_PLANE(T) \
	for (int64_t r0 = 0; r0 < p->rows; r0 += TILE) \
		for (int64_t c0 = 0; c0 < p->columns; c0 += TILE) \
			for (int64_t r = r0; r < r0 + TILE && r < p->rows; r++) \
				for (int64_t c = c0; c < c0 + TILE && c < p->columns; c++) \
					memcpy(to + (r * p->to_row + c * p->to_column) * \
							    (int64_t)sizeof(T), \
					       from + (r * p->from_row + c * p->from_column) * \
							      (int64_t)sizeof(T), \
					       sizeof(T)); \
	break

static void copy_plane(const Plane *p, size_t bytes, char *to, const char *from)
{
	enum { TILE = 32 };
	switch (bytes) {
	case 1:
		COPY_PLANE(uint8_t);
	case 2:
		COPY_PLANE(uint16_t);
	case 4:
		COPY_PLANE(uint32_t);
	case 8:
		COPY_PLANE(uint64_t);
	default:
		assert(!"an element has 1, 2, 4 or 8 bytes");
	}
}

/* Puts next to last the dim along which the source moves least, so that
 * planes are read along short steps as well as written so. */
static void pair_dims(Walk *w)
{
	const int slot = w->rank - 2;
	int best = slot;
	for (int d = 0; d < slot; d++)
		if (llabs(w->step[0][d]) < llabs(w->step[0][best]))
			best = d;
	for (int k = -1; k < w->n; k++) {
		int64_t *v = k < 0 ? w->dim : w->step[k], moved = v[best];
		v[best] = v[slot];
		v[slot] = moved;
	}
}

void eval_copy(Walk *w, size_t bytes, char *to, const char *from)
{
	const int64_t size = (int64_t)bytes;
	walk_start(w, 1);
	if (w->step[0][w->rank - 1] == 1 && w->step[1][w->rank - 1] == 1) {
		const size_t run = (size_t)w->dim[w->rank - 1] * bytes;
		do
			memcpy(to + w->at[1] * size, from + w->at[0] * size, run);
		while (walk_next(w));
		return;
	}
	walk_start(w, 2);
	pair_dims(w);
	const int r = w->rank - 2, c = w->rank - 1;
	const Plane p = { w->dim[r], w->dim[c], w->step[0][r], w->step[0][c],
			  w->step[1][r], w->step[1][c] };
	do
		copy_plane(&p, bytes, to + w->at[1] * size, from + w->at[0] * size);
	while (walk_next(w));
}

/* The result read from the input by strides: `dims` in row-major order. */
static Tensor *strided(Arena *a, const Op *op, Tensor *const in[], Shape dims, int64_t offset,
		       const int64_t step[])
{
	if (eval_is_single(in[0]))
		return eval_splat(a, op, in[0]);
	Tensor *out = eval_room(a, op, in);
	if (!out)
		return NULL;
	int64_t strides[MAX_RANK];
	Walk w;
	walk_init(&w, dims);
	walk_add(&w, offset, step);
	shape_strides(dims, strides);
	walk_add(&w, 0, strides);
	eval_copy(&w, type_info[op->dtype].bytes, eval_bytes(out), in[0]->data);
	return out;
}

static Tensor *transpose(Arena *a, const Op *op, Tensor *const in[])
{
	int64_t strides[MAX_RANK], step[MAX_RANK];
	shape_strides(in[0]->shape, strides);
	for (int i = 0; i < op->shape.rank; i++)
		step[i] = strides[op->attr.perm.perm.v[i]];
	return strided(a, op, in, op->shape, 0, step);
}

static Tensor *expand(Arena *a, const Op *op, Tensor *const in[])
{
	Walk w;
	walk_init(&w, op->shape);
	walk_add_broadcast(&w, in[0]->shape);
	return strided(a, op, in, op->shape, 0, w.step[0]);
}

static Tensor *slice(Arena *a, const Op *op, Tensor *const in[])
{
	const sliceAttr *s = &op->attr.slice;
	int64_t strides[MAX_RANK], step[MAX_RANK], offset = 0;
	shape_strides(in[0]->shape, strides);
	for (int i = 0; i < op->shape.rank; i++) {
		/* Starts and steps that no element needs may be any number. */
		offset += s->counts.v[i] > 0 ? s->starts.v[i] * strides[i] : 0;
		step[i] = s->counts.v[i] > 1 ? s->steps.v[i] * strides[i] : 0;
	}
	return strided(a, op, in, op->shape, offset, step);
}

static Tensor *view(Arena *a, const Op *op, Tensor *const in[])
{
	const viewAttr *v = &op->attr.view;
	Shape dims = { .rank = v->dims.n };
	for (int i = 0; i < dims.rank; i++)
		dims.dim[i] = v->dims.v[i];
	return strided(a, op, in, dims, v->offset, v->strides.v);
}

/* C is the channels of the side that has more pixels, H and W the pixels of
 * the side that has more channels. */
static Tensor *depth_to_space(Arena *a, const Op *op, Tensor *const in[])
{
	const int64_t b = op->attr.block.block, C = op->shape.dim[1];
	const int64_t H = in[0]->shape.dim[2], W = in[0]->shape.dim[3], p = H * W;
	const bool dcr = op->attr.block.order == ORDER_DCR;
	const Shape dims = SHAPE(in[0]->shape.dim[0], C, H, b, W, b);
	const int64_t block = dcr ? C * p : p; /* from one block column to the next */
	const int64_t step[] = { b * b * C * p, dcr ? p : b * b * p, W, b * block, 1, block };
	return strided(a, op, in, dims, 0, step);
}

static Tensor *space_to_depth(Arena *a, const Op *op, Tensor *const in[])
{
	const int64_t b = op->attr.block.block, C = in[0]->shape.dim[1];
	const int64_t H = op->shape.dim[2], W = op->shape.dim[3], p = H * W * b * b;
	if (op->attr.block.order == ORDER_DCR)
		return strided(a, op, in, SHAPE(op->shape.dim[0], b, b, C, H, W), 0,
			       (int64_t[]){ C * p, W * b, 1, p, W * b * b, b });
	return strided(a, op, in, SHAPE(op->shape.dim[0], C, b, b, H, W), 0,
		       (int64_t[]){ C * p, p, W * b, 1, W * b * b, b });
}

static bool all_one_value(const Op *op, Tensor *const in[])
{
	for (int i = 0; i < op->nin; i++)
		if (!in[i]->splat ||
		    memcmp(in[i]->data, in[0]->data, type_info[op->dtype].bytes) != 0)
			return false;
	return true;
}

static Tensor *concat(Arena *a, const Op *op, Tensor *const in[])
{
	if (all_one_value(op, in))
		return eval_splat(a, op, in[0]);
	Tensor *out = eval_room(a, op, in);
	if (!out)
		return NULL;
	int64_t strides[MAX_RANK], done = 0;
	shape_strides(op->shape, strides);
	for (int i = 0; i < op->nin; i++) {
		if (!tensor_count(in[i]))
			continue;
		Walk w;
		walk_init(&w, in[i]->shape);
		walk_add_broadcast(&w, eval_is_single(in[i]) ? (Shape){ 0 } : in[i]->shape);
		walk_add(&w, done * strides[op->attr.axis.axis], strides);
		eval_copy(&w, type_info[op->dtype].bytes, eval_bytes(out), in[i]->data);
		done += in[i]->shape.dim[op->attr.axis.axis];
	}
	return out;
}

/* Entry j of `which` as an index into n slices; -1 is the last. False if there
 * is no such slice. */
static bool slice_at(const Tensor *which, int64_t j, int64_t n, int64_t *index)
{
	*index = tensor_i64(which, j);
	if (*index < 0 && which->dtype != TYPE_U64)
		*index += n;
	return *index >= 0 && *index < n;
}

/* The slices along `axis` that `which` names. */
static Tensor *pick(Arena *a, const Op *op, Tensor *const in[], int axis, const Tensor *which)
{
	const int64_t n = in[0]->shape.dim[axis], m = tensor_count(which);
	int64_t index, strides[MAX_RANK];
	for (int64_t j = 0; j < (which->splat ? 1 : m); j++)
		if (!slice_at(which, j, n, &index))
			return NULL;
	if (eval_is_single(in[0]))
		return eval_splat(a, op, in[0]);
	Tensor *out = eval_room(a, op, in);
	if (!out)
		return NULL;
	shape_strides(in[0]->shape, strides);
	const size_t size = (size_t)strides[axis] * type_info[op->dtype].bytes;
	const int64_t outer = tensor_count(in[0]) / (n * strides[axis]);
	char *to = eval_bytes(out);
	const char *from = in[0]->data;
	for (int64_t o = 0; o < outer; o++, from += (size_t)n * size)
		for (int64_t j = 0; j < m; j++, to += size)
			if (slice_at(which, j, n, &index))
				memcpy(to, from + (size_t)index * size, size);
	return out;
}

static Tensor *select_channels(Arena *a, const Op *op, Tensor *const in[])
{
	Ints channels = op->attr.channels.channels;
	return pick(a, op, in, 1, tensor_of_ints(a, channels.v, channels.n));
}

Tensor *eval_move(Arena *a, const Op *op, Tensor *const in[])
{
	if (!shape_count(op->shape))
		return tensor_create(a, op->dtype, op->shape);
	switch ((int)op->kind) {
	case OP_IDENTITY:
	case OP_DROPOUT:
	case OP_RESHAPE:
		return tensor_reshaped(a, in[0], op->shape);
	case OP_TRANSPOSE:
		return transpose(a, op, in);
	case OP_EXPAND:
		return expand(a, op, in);
	case OP_CONCAT:
		return concat(a, op, in);
	case OP_SLICE:
		return slice(a, op, in);
	case OP_PAD:
		return eval_pad(a, op, in);
	case OP_GATHER:
		return pick(a, op, in, (int)op->attr.axis.axis, in[1]);
	case OP_SELECT_CHANNELS:
		return select_channels(a, op, in);
	case OP_DEPTH_TO_SPACE:
		return depth_to_space(a, op, in);
	case OP_SPACE_TO_DEPTH:
		return space_to_depth(a, op, in);
	case OP_VIEW:
		return view(a, op, in);
	}
	die("%s is not a move", op_info[op->kind].name);
}
