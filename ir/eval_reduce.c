/* Reductions, and where the greatest and the least element is. */
#include "ir/eval_parts.h"

#include <math.h>
#include <stdlib.h>

/* The operation that takes one more element in. */
static OpKind step_of(OpKind kind)
{
	return kind == OP_REDUCE_MAX ? OP_MAX
		: kind == OP_REDUCE_MIN ? OP_MIN
		: kind == OP_REDUCE_PROD ? OP_MUL : OP_ADD;
}

/* What a reduction of no elements yields. */
static double first_float(OpKind kind)
{
	return kind == OP_REDUCE_MAX ? -INFINITY
		: kind == OP_REDUCE_MIN ? INFINITY
		: kind == OP_REDUCE_PROD ? 1 : 0;
}

static int64_t first_int(OpKind kind, DType type)
{
	const int bits = type_info[type].bytes * 8;
	const TypeClass class = type_info[type].class;
	const int64_t all = (int64_t)(UINT64_MAX >> (64 - bits));
	if (kind == OP_REDUCE_MAX)
		return class == SIGNED ? INT64_MIN >> (64 - bits) : 0;
	if (kind == OP_REDUCE_MIN)
		return class == SIGNED ? INT64_MAX >> (64 - bits) : class == LOGICAL ? 1 : all;
	return kind == OP_REDUCE_PROD ? 1 : 0;
}

/* Steps in the result per dim of the input: 0 where dims are reduced. Returns
 * how many elements of the input make one of the result. */
static int64_t reduced_steps(const Op *op, Shape in, int64_t step[MAX_RANK])
{
	Ints axes = op->attr.reduce.axes;
	int64_t each = 1, stride = 1;
	for (int d = in.rank - 1; d >= 0; d--) {
		bool reduced = !axes.n;
		for (int i = 0; i < axes.n; i++)
			reduced |= axes.v[i] == d;
		step[d] = reduced ? 0 : stride;
		if (reduced)
			each *= in.dim[d];
		else
			stride *= in.dim[d];
	}
	return each;
}

/* `each` times the same element, or no element at all. */
static Tensor *reduce_splat(Arena *a, const Op *op, const Tensor *x, int64_t each)
{
	const bool mean = op->kind == OP_REDUCE_MEAN;
	if (type_is_float(x->dtype)) {
		double v = each ? tensor_f64(x, 0) : mean ? NAN : first_float(op->kind);
		if (each && op->kind == OP_REDUCE_SUM)
			v *= (double)each;
		if (each && op->kind == OP_REDUCE_PROD)
			v = pow(v, (double)each);
		return tensor_splat(a, op->dtype, op->shape, v, 0);
	}
	if (!each && mean)
		return NULL;
	int64_t v = each ? tensor_i64(x, 0) : first_int(op->kind, x->dtype);
	if (each && op->kind == OP_REDUCE_SUM)
		v = eval_int_binary(OP_MUL, x->dtype)(v, each);
	if (each && op->kind == OP_REDUCE_PROD)
		v = eval_int_binary(OP_POW, x->dtype)(v, each);
	return tensor_splat(a, op->dtype, op->shape, 0, v);
}

enum { BLOCK = 256 };

/* Takes the input's elements in order into the sums they belong to. */
static void gather_floats(Walk *w, const Tensor *x, Binary take, double sum[])
{
	double v[BLOCK];
	do {
		const int64_t run = w->dim[w->rank - 1];
		const int64_t from = w->step[0][w->rank - 1], to = w->step[1][w->rank - 1];
		for (int64_t i = 0; i < run; i += BLOCK) {
			const int64_t n = run - i < BLOCK ? run - i : BLOCK;
			double *into = sum + w->at[1] + i * to;
			tensor_read_f64(x, w->at[0] + i * from, from, n, v);
			for (int64_t k = 0; k < n; k++)
				into[k * to] = take(into[k * to], v[k]);
		}
	} while (walk_next(w));
}

static void gather_ints(Walk *w, const Tensor *x, IntBinary take, int64_t sum[])
{
	do {
		const int64_t run = w->dim[w->rank - 1];
		const int64_t from = w->step[0][w->rank - 1], to = w->step[1][w->rank - 1];
		for (int64_t k = 0; k < run; k++) {
			int64_t *into = sum + w->at[1] + k * to;
			*into = take(*into, tensor_i64(x, w->at[0] + k * from));
		}
	} while (walk_next(w));
}

static void reduce_floats(Walk *w, const Op *op, const Tensor *x, int64_t each, Tensor *out)
{
	const int64_t n = tensor_count(out);
	double *sum = xmalloc((size_t)n * sizeof *sum);
	for (int64_t i = 0; i < n; i++)
		sum[i] = first_float(op->kind);
	gather_floats(w, x, eval_binary(step_of(op->kind)), sum);
	for (int64_t i = 0; op->kind == OP_REDUCE_MEAN && i < n; i++)
		sum[i] /= (double)each;
	tensor_write_f64(out, 0, n, sum);
	free(sum);
}

static void reduce_ints(Walk *w, const Op *op, const Tensor *x, int64_t each, Tensor *out)
{
	const int64_t n = tensor_count(out);
	int64_t *sum = xmalloc((size_t)n * sizeof *sum);
	for (int64_t i = 0; i < n; i++)
		sum[i] = first_int(op->kind, x->dtype);
	gather_ints(w, x, eval_int_binary(step_of(op->kind), x->dtype), sum);
	for (int64_t i = 0; op->kind == OP_REDUCE_MEAN && i < n; i++)
		sum[i] = eval_int_binary(OP_DIV, x->dtype)(sum[i], each);
	tensor_write_i64(out, 0, n, sum);
	free(sum);
}

Tensor *eval_reduce(Arena *a, const Op *op, Tensor *const in[])
{
	const Tensor *x = in[0];
	int64_t strides[MAX_RANK], step[MAX_RANK];
	const int64_t each = reduced_steps(op, x->shape, step);
	if (x->splat || !each)
		return reduce_splat(a, op, x, each);
	Tensor *out = eval_room(a, op, in);
	if (!out || !tensor_count(out))
		return out;
	Walk w;
	walk_init(&w, x->shape);
	shape_strides(x->shape, strides);
	walk_add(&w, 0, strides);
	walk_add(&w, 0, step);
	walk_start(&w, 1);
	(type_is_float(x->dtype) ? reduce_floats : reduce_ints)(&w, op, x, each, out);
	return out;
}

/* Whether element `next` takes the place of `best`, which comes before it.
 * Not a number wins, as in numpy. */
static bool beats(const Op *op, const Tensor *x, int64_t next, int64_t best)
{
	const bool last = op->attr.arg.last;
	const OpKind than = op->kind == OP_ARGMAX ? OP_GREATER : OP_LESS;
	if (type_is_float(x->dtype)) {
		double v = tensor_f64(x, next), old = tensor_f64(x, best);
		if (isnan(v) || isnan(old))
			return isnan(v) && (last || !isnan(old));
		return v == old ? last : eval_binary(than)(v, old) != 0;
	}
	int64_t v = tensor_i64(x, next), old = tensor_i64(x, best);
	return v == old ? last : eval_int_binary(than, x->dtype)(v, old) != 0;
}

Tensor *eval_arg(Arena *a, const Op *op, Tensor *const in[])
{
	const Tensor *x = in[0];
	const int64_t axis = op->attr.arg.axis, n = x->shape.dim[axis];
	if (x->splat)
		return tensor_splat(a, op->dtype, op->shape, 0, op->attr.arg.last ? n - 1 : 0);
	Tensor *out = eval_room(a, op, in);
	if (!out)
		return NULL;
	int64_t strides[MAX_RANK];
	shape_strides(x->shape, strides);
	const int64_t inner = strides[axis];
	for (int64_t i = 0, count = tensor_count(out); i < count; i++) {
		const int64_t start = i / inner * n * inner + i % inner;
		int64_t best = 0;
		for (int64_t k = 1; k < n; k++)
			if (beats(op, x, start + k * inner, start + best * inner))
				best = k;
		tensor_set_i64(out, i, best);
	}
	return out;
}
