/* Padding: what lies outside the input is made up, or read from inside. */
#include "ir/eval_parts.h"

#include <stdlib.h>
#include <string.h>

/* Everything the padding value, then the input over it. */
static Tensor *pad_constant(const Op *op, Tensor *x, Tensor *out, const Tensor *value)
{
	const int rank = op->shape.rank;
	const size_t bytes = type_info[op->dtype].bytes;
	const int64_t *pads = op->attr.pad.pads.v;
	int64_t from[MAX_RANK], to[MAX_RANK], x_at = 0, out_at = 0;
	Shape kept = { .rank = rank };
	static const char zero[8];

	if (memcmp(value->data, zero, bytes) != 0)
		for (int64_t i = 0, n = tensor_count(out); i < n; i++)
			memcpy(eval_bytes(out) + (size_t)i * bytes, value->data, bytes);
	shape_strides(x->shape, from);
	shape_strides(op->shape, to);
	for (int d = 0; d < rank; d++) {
		/* Of the input: first element kept, and the one after the last. */
		int64_t first = pads[d] < 0 ? -pads[d] : 0;
		int64_t end = x->shape.dim[d] + (pads[rank + d] < 0 ? pads[rank + d] : 0);
		kept.dim[d] = end > first ? end - first : 0;
		x_at += kept.dim[d] ? first * from[d] : 0;
		out_at += pads[d] > 0 ? pads[d] * to[d] : 0;
		if (x->splat)
			from[d] = 0;
	}
	if (!shape_count(kept))
		return out;
	Walk w;
	walk_init(&w, kept);
	walk_add(&w, x->splat ? 0 : x_at, from);
	walk_add(&w, out_at, to);
	eval_copy(&w, bytes, eval_bytes(out), x->data);
	return out;
}

int64_t pad_inside(PadMode mode, int64_t i, int64_t n)
{
	if (i >= 0 && i < n)
		return i;
	if (mode == PAD_REFLECT)
		return i < 0 ? -i : 2 * (n - 1) - i;
	if (mode == PAD_WRAP)
		return (i % n + n) % n;
	return i < 0 ? 0 : n - 1;
}

/* For each dim, the address of what each position along it reads. */
static void pad_sources(const Op *op, const Tensor *x, int64_t *source[MAX_RANK])
{
	const int64_t *pads = op->attr.pad.pads.v;
	int64_t strides[MAX_RANK];
	shape_strides(x->shape, strides);
	for (int d = 0; d < op->shape.rank; d++) {
		const int64_t begin = pads[d], end = pads[op->shape.rank + d];
		const int64_t first = begin < 0 ? -begin : 0, lead = begin < 0 ? 0 : begin;
		const int64_t kept = x->shape.dim[d] - first + (end < 0 ? end : 0);
		source[d] = xmalloc((size_t)op->shape.dim[d] * sizeof *source[d]);
		for (int64_t i = 0; i < op->shape.dim[d]; i++)
			source[d][i] = strides[d] *
				       (first + pad_inside(op->attr.pad.mode, i - lead, kept));
	}
}

static Tensor *pad_from_inside(const Op *op, const Tensor *x, Tensor *out)
{
	const int last = op->shape.rank - 1;
	const int64_t bytes = type_info[op->dtype].bytes;
	const char *from = x->data;
	char *to = eval_bytes(out);
	int64_t *source[MAX_RANK], index[MAX_RANK] = { 0 };
	int d;

	pad_sources(op, x, source);
	do {
		int64_t base = 0;
		for (d = 0; d < last; d++)
			base += source[d][index[d]];
		for (int64_t i = 0; i < op->shape.dim[last]; i++, to += bytes)
			memcpy(to, from + (base + source[last][i]) * bytes, (size_t)bytes);
		for (d = last - 1; d >= 0 && ++index[d] == op->shape.dim[d]; d--)
			index[d] = 0;
	} while (d >= 0);
	for (d = 0; d <= last; d++)
		free(source[d]);
	return out;
}

Tensor *eval_pad(Arena *a, const Op *op, Tensor *const in[])
{
	const padAttr *p = &op->attr.pad;
	Tensor *x = in[0];
	Tensor *value = tensor_create(a, op->dtype, (Shape){ 0 });
	tensor_set_f64(value, 0, (double)p->value);
	if (!op->shape.rank)
		return tensor_reshaped(a, x, op->shape);
	if (eval_is_single(x) && (p->mode != PAD_CONSTANT ||
			 memcmp(x->data, value->data, type_info[x->dtype].bytes) == 0))
		return eval_splat(a, op, x);
	Tensor *out = eval_room(a, op, in);
	if (!out)
		return NULL;
	return p->mode == PAD_CONSTANT ? pad_constant(op, x, out, value)
				       : pad_from_inside(op, x, out);
}
