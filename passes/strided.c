#include "passes/strided.h"

#include <string.h>

Strided strided_identity(Shape shape)
{
	Strided s = { .shape = shape, .n = shape.rank };
	memcpy(s.dim, shape.dim, sizeof shape.dim);
	shape_strides(shape, s.stride);
	strided_merge(&s);
	return s;
}

void strided_merge(Strided *s)
{
	int n = 0;
	for (int i = 0; i < s->n; i++) {
		if (s->dim[i] == 1)
			continue;
		if (n && s->stride[n - 1] == s->stride[i] * s->dim[i]) {
			s->dim[n - 1] *= s->dim[i];
			s->stride[n - 1] = s->stride[i];
		} else {
			s->dim[n] = s->dim[i];
			s->stride[n++] = s->stride[i];
		}
	}
	s->n = n;
}

bool strided_align(Strided *s, int from[MAX_RANK + 1])
{
	Strided out = { .shape = s->shape, .offset = s->offset };
	int64_t dim = s->n ? s->dim[0] : 1;
	int next = 0;
	for (int i = 0; i < s->shape.rank; i++) {
		int64_t rest = s->shape.dim[i];
		from[i] = out.n;
		while (rest > 1) {
			const int64_t part = rest % dim == 0 ? dim : rest;
			if (out.n == MAX_DIGITS || dim % part != 0 || part == 1)
				return false;
			out.dim[out.n] = part;
			out.stride[out.n++] = s->stride[next] * (dim / part);
			rest /= part;
			dim /= part;
			if (dim == 1)
				dim = ++next < s->n ? s->dim[next] : 1;
		}
	}
	from[s->shape.rank] = out.n;
	*s = out;
	return true;
}

bool strided_transpose(Strided *s, const int64_t *perm)
{
	int from[MAX_RANK + 1];
	if (!strided_align(s, from))
		return false;
	Strided out = { .shape = s->shape, .offset = s->offset };
	for (int i = 0; i < s->shape.rank; i++) {
		const int p = (int)perm[i];
		out.shape.dim[i] = s->shape.dim[p];
		for (int k = from[p]; k < from[p + 1]; k++) {
			out.dim[out.n] = s->dim[k];
			out.stride[out.n++] = s->stride[k];
		}
	}
	*s = out;
	strided_merge(s);
	return true;
}

/* Takes `count` values from `start` on, `step` apart, of the number written
 * by the `n` digits at `at`. */
static bool cut_digits(Strided *s, int at, int n, int64_t start, int64_t count, int64_t step)
{
	int64_t inner = 1;
	if (n == 0)
		return start == 0;
	for (int i = 1; i < n; i++)
		inner *= s->dim[at + i];
	const int64_t last = start + (count - 1) * step;
	if (start / inner == last / inner) { /* the first digit stays what it is */
		s->offset += start / inner * s->stride[at];
		s->dim[at] = 1;
		return cut_digits(s, at + 1, n - 1, start % inner, count, step);
	}
	if (n > 1 && step == 1 && start % inner == 0 && count % inner == 0) {
		s->offset += start / inner * s->stride[at];
		s->dim[at] = count / inner;
		return true;
	}
	if (step % inner != 0)
		return false;
	s->offset += start / inner * s->stride[at];
	s->dim[at] = count;
	s->stride[at] *= step / inner;
	return n == 1 || cut_digits(s, at + 1, n - 1, start % inner, 1, 1);
}

static bool cut(Strided *s, int dim, int64_t start, int64_t count, int64_t step)
{
	int from[MAX_RANK + 1];
	if (count < 1 || !strided_align(s, from))
		return false;
	if (!cut_digits(s, from[dim], from[dim + 1] - from[dim], start, count, step))
		return false;
	s->shape.dim[dim] = count;
	strided_merge(s);
	return true;
}

static bool apply_slice(Strided *s, const sliceAttr *a)
{
	for (int i = 0; i < s->shape.rank; i++)
		if (!cut(s, i, a->starts.v[i], a->counts.v[i], a->steps.v[i]))
			return false;
	return true;
}

int64_t strided_index(const Tensor *t, int64_t i, int64_t n)
{
	const int64_t v = tensor_i64(t, i);
	return v < 0 ? v + n : v;
}

static bool apply_gather(Strided *s, const Op *op)
{
	const int axis = (int)op->attr.axis.axis;
	const Tensor *t = op_value(op_in(op, 1));
	const int64_t n = s->shape.dim[axis], count = t ? tensor_count(t) : 0;
	if (count < 1)
		return false;
	const int64_t start = strided_index(t, 0, n);
	const int64_t step = count > 1 ? strided_index(t, 1, n) - start : 1;
	for (int64_t i = 1; i < count; i++)
		if (strided_index(t, i, n) != start + i * step)
			return false;
	if (step == 0 || !cut(s, axis, start, count, step))
		return false;
	s->shape = op->shape;
	return true;
}

static bool apply_channels(Strided *s, Ints list)
{
	const int64_t step = list.n > 1 ? list.v[1] - list.v[0] : 1;
	for (int i = 1; i < list.n; i++)
		if (list.v[i] - list.v[i - 1] != step)
			return false;
	return list.n && step != 0 && cut(s, 1, list.v[0], list.n, step);
}

static bool apply_depth_to_space(Strided *s, const Op *op)
{
	const Shape x = s->shape;
	const int64_t b = op->attr.block.block, c = op->shape.dim[1];
	const int64_t dcr[] = { 0, 3, 4, 1, 5, 2 }, crd[] = { 0, 1, 4, 2, 5, 3 };
	const bool is_crd = op->attr.block.order == ORDER_CRD;
	s->shape = is_crd ? SHAPE(x.dim[0], c, b, b, x.dim[2], x.dim[3])
			  : SHAPE(x.dim[0], b, b, c, x.dim[2], x.dim[3]);
	if (!strided_transpose(s, is_crd ? crd : dcr))
		return false;
	s->shape = op->shape;
	return true;
}

static bool apply_space_to_depth(Strided *s, const Op *op)
{
	const Shape y = op->shape;
	const int64_t b = op->attr.block.block;
	const int64_t dcr[] = { 0, 3, 5, 1, 2, 4 }, crd[] = { 0, 1, 3, 5, 2, 4 };
	s->shape = SHAPE(y.dim[0], s->shape.dim[1], y.dim[2], b, y.dim[3], b);
	if (!strided_transpose(s, op->attr.block.order == ORDER_CRD ? crd : dcr))
		return false;
	s->shape = y;
	return true;
}

bool strided_apply(Strided *s, const Op *op)
{
	if (shape_count(op->shape) < 1)
		return false;
	switch (op->kind) {
	case OP_IDENTITY:
	case OP_DROPOUT:
		return true;
	case OP_RESHAPE:
		s->shape = op->shape;
		return true;
	case OP_TRANSPOSE:
		return strided_transpose(s, op->attr.perm.perm.v);
	case OP_SLICE:
		return apply_slice(s, &op->attr.slice);
	case OP_GATHER:
		return apply_gather(s, op);
	case OP_SELECT_CHANNELS:
		return apply_channels(s, op->attr.channels.channels);
	case OP_DEPTH_TO_SPACE:
		return apply_depth_to_space(s, op);
	case OP_SPACE_TO_DEPTH:
		return apply_space_to_depth(s, op);
	default:
		return false;
	}
}

bool strided_same_moves(const Strided *a, const Strided *b)
{
	return a->n == b->n && a->offset == b->offset
		&& memcmp(a->dim, b->dim, (size_t)a->n * sizeof *a->dim) == 0
		&& memcmp(a->stride, b->stride, (size_t)a->n * sizeof *a->stride) == 0;
}

bool strided_is_reshape(const Strided *s, Shape source)
{
	const Strided still = strided_identity(source);
	return strided_same_moves(s, &still);
}

/* The dims of `source`, outermost first, that one digit runs over: their
 * number, or -1 if it runs over none exactly. */
static int dims_of_digit(int64_t dim, int64_t stride, Shape source, int64_t dims[MAX_RANK])
{
	int64_t strides[MAX_RANK];
	shape_strides(source, strides);
	for (int last = 0; last < source.rank; last++) {
		if (source.dim[last] == 1 || strides[last] != stride)
			continue;
		int first = last;
		while (dim > source.dim[first] && dim % source.dim[first] == 0 && first > 0)
			dim /= source.dim[first--];
		if (dim != source.dim[first])
			return -1;
		int n = 0;
		for (int i = first; i <= last; i++)
			if (source.dim[i] != 1)
				dims[n++] = i;
		return n;
	}
	return -1;
}

/* All dims of `source` but those of 1 in the order the result has them:
 * their number, or -1. */
static int moved_dims(const Strided *s, Shape source, int64_t order[MAX_RANK])
{
	int n = 0, wanted = 0;
	unsigned seen = 0;
	for (int i = 0; i < source.rank; i++)
		wanted += source.dim[i] != 1;
	for (int i = 0; i < s->n; i++) {
		int64_t dims[MAX_RANK];
		const int found = dims_of_digit(s->dim[i], s->stride[i], source, dims);
		if (found < 0 || n + found > wanted)
			return -1;
		for (int k = 0; k < found; k++) {
			if (seen >> dims[k] & 1)
				return -1;
			seen |= 1u << dims[k];
			order[n++] = dims[k];
		}
	}
	return s->offset == 0 && n == wanted ? n : -1;
}

bool strided_is_transpose_reshape(const Strided *s, Shape source, int64_t perm[MAX_RANK])
{
	int64_t order[MAX_RANK];
	const int n = moved_dims(s, source, order);
	int at = 0;
	if (n < 0)
		return false;
	for (int i = 0; i < source.rank; i++)
		if (source.dim[i] == 1)
			perm[at++] = i;
	memcpy(perm + at, order, (size_t)n * sizeof *order);
	return true;
}

bool strided_is_transpose(const Strided *s, Shape source, int64_t perm[MAX_RANK])
{
	int64_t order[MAX_RANK];
	const int n = moved_dims(s, source, order);
	int next = 0, one = 0;
	if (n < 0 || s->shape.rank != source.rank)
		return false;
	for (int i = 0; i < source.rank; i++) {
		if (s->shape.dim[i] == 1) {
			while (one < source.rank && source.dim[one] != 1)
				one++;
			perm[i] = one++;
		} else {
			if (next == n || source.dim[order[next]] != s->shape.dim[i])
				return false;
			perm[i] = order[next++];
		}
	}
	return true;
}

bool strided_is_slice(const Strided *s, Shape source, int64_t starts[MAX_RANK],
		      int64_t steps[MAX_RANK])
{
	Strided t = *s;
	int from[MAX_RANK + 1];
	int64_t strides[MAX_RANK], rest = s->offset;
	if (s->shape.rank != source.rank || !strided_align(&t, from))
		return false;
	shape_strides(source, strides);
	for (int i = 0; i < source.rank; i++) {
		starts[i] = rest / strides[i];
		rest %= strides[i];
		steps[i] = 1;
		const int digits = from[i + 1] - from[i];
		if (digits > 1 || starts[i] >= source.dim[i])
			return false;
		if (digits == 0)
			continue;
		steps[i] = t.stride[from[i]] / strides[i];
		const int64_t last = starts[i] + (t.dim[from[i]] - 1) * steps[i];
		if (t.stride[from[i]] % strides[i] || last < 0 || last >= source.dim[i])
			return false;
	}
	return rest == 0;
}

/* The walk without the digits of dim 1, which must leave all else unmoved. */
static bool others_are_still(const Strided *t, const int from[MAX_RANK + 1], Shape source,
			     int64_t plane)
{
	Strided others = { .n = 0 };
	Strided still = { .n = 2, .dim = { source.dim[0], plane },
			  .stride = { source.dim[1] * plane, 1 } };
	for (int k = 0; k < t->n; k++) {
		if (k >= from[1] && k < from[2])
			continue;
		others.dim[others.n] = t->dim[k];
		others.stride[others.n++] = t->stride[k];
	}
	strided_merge(&others);
	strided_merge(&still);
	return strided_same_moves(&others, &still);
}

bool strided_is_channels(const Strided *s, Shape source, Arena *a, Ints *channels)
{
	const int64_t n = s->shape.rank > 1 ? s->shape.dim[1] : 0;
	Strided t = *s;
	int from[MAX_RANK + 1];
	int64_t plane = 1;
	if (source.rank < 2 || s->shape.rank != source.rank || n > MAX_CHANNELS
	    || !strided_align(&t, from))
		return false;
	for (int i = 2; i < source.rank; i++)
		plane *= source.dim[i];
	for (int i = 0; i < source.rank; i++)
		if (i != 1 && s->shape.dim[i] != source.dim[i])
			return false;
	if (!others_are_still(&t, from, source, plane))
		return false;
	int64_t *list = arena_array(a, int64_t, n);
	for (int64_t c = 0; c < n; c++) {
		int64_t rest = c, at = t.offset;
		for (int k = from[2] - 1; k >= from[1]; k--) {
			at += rest % t.dim[k] * t.stride[k];
			rest /= t.dim[k];
		}
		if (at % plane != 0 || at < 0 || at / plane >= source.dim[1])
			return false;
		list[c] = at / plane;
	}
	*channels = (Ints){ (int)n, list };
	return true;
}

bool strided_is_layout_move(const Op *op)
{
	switch (op->kind) {
	case OP_RESHAPE:
	case OP_TRANSPOSE:
	case OP_SLICE:
	case OP_GATHER:
	case OP_DEPTH_TO_SPACE:
	case OP_SPACE_TO_DEPTH:
		return true;
	default:
		return false;
	}
}
