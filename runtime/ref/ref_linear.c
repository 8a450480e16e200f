/* Products of matrices. */
#include "runtime/ref/ref_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct Linear {
	const Call *c;
	int64_t rows, in, out;
	const double *x; /* [rows][in] */
	const int64_t *xi; /* the same, of integers */
} Linear;

static void linear_channels(void *context, int64_t from, int64_t to)
{
	const Linear *l = context;
	double *w = xmalloc((size_t)l->in * sizeof *w);
	for (int64_t o = from; o < to; o++) {
		double bias = 0;
		if (l->c->op->nin > 2)
			ref_load_f64(l->c->in[2], o, 1, 1, &bias);
		ref_load_f64(l->c->in[1], o * l->in, 1, l->in, w);
		for (int64_t r = 0; r < l->rows; r++) {
			double y = bias;
			for (int64_t i = 0; i < l->in; i++)
				y += l->x[r * l->in + i] * w[i];
			ref_store_f64(l->c->out, r * l->out + o, 1, 1, &y);
		}
	}
	free(w);
}

static void linear_integers(void *context, int64_t from, int64_t to)
{
	const Linear *l = context;
	int64_t *w = xmalloc((size_t)l->in * sizeof *w);
	for (int64_t o = from; o < to; o++) {
		int64_t bias = 0;
		if (l->c->op->nin > 2)
			ref_load_i64(l->c->in[2], o, 1, 1, &bias);
		ref_load_i64(l->c->in[1], o * l->in, 1, l->in, w);
		for (int64_t r = 0; r < l->rows; r++) {
			uint64_t sum = (uint64_t)bias;
			for (int64_t i = 0; i < l->in; i++)
				sum += (uint64_t)l->xi[r * l->in + i] * (uint64_t)w[i];
			int64_t y = (int64_t)sum;
			ref_store_i64(l->c->out, r * l->out + o, 1, 1, &y);
		}
	}
	free(w);
}

void ref_linear(const Call *c)
{
	const Tensor *x = c->in[0];
	Shape s = x->shape, w = c->in[1]->shape;
	Linear l = { .c = c, .rows = s.dim[0], .out = w.dim[0], .in = w.dim[1] };
	bool floats = type_is_float(x->dtype);
	double *f = floats ? ref_widen(x) : NULL;
	int64_t *i = floats ? NULL : xmalloc((size_t)tensor_count(x) * sizeof *i);
	if (i)
		ref_load_i64(x, 0, 1, tensor_count(x), i);
	l.x = f;
	l.xi = i;
	ref_parallel(c->threads, l.out, (double)l.in * (double)(l.rows + 1),
		     floats ? linear_channels : linear_integers, &l);
	free(f);
	free(i);
}

/* a[..., m, k] times b[..., k, n]; a vector counts as a row on the left and
 * as a column on the right, and the leading dims broadcast. */
typedef struct Matmul {
	const Tensor *a, *b, *out;
	int64_t m, k, n;
	Shape batch;
	int64_t a_strides[MAX_RANK], b_strides[MAX_RANK]; /* along batch */
} Matmul;

static void row_f64(const Matmul *t, int64_t a_at, int64_t b_at, int64_t out_at)
{
	double *sum = xmalloc((size_t)(2 * t->n + t->k) * sizeof *sum);
	double *b = sum + t->n, *a = b + t->n;
	ref_load_f64(t->a, a_at, 1, t->k, a);
	for (int64_t j = 0; j < t->n; j++)
		sum[j] = 0;
	for (int64_t k = 0; k < t->k; k++) {
		ref_load_f64(t->b, b_at + k * t->n, 1, t->n, b);
		for (int64_t j = 0; j < t->n; j++)
			sum[j] += a[k] * b[j];
	}
	ref_store_f64(t->out, out_at, 1, t->n, sum);
	free(sum);
}

static void row_i64(const Matmul *t, int64_t a_at, int64_t b_at, int64_t out_at)
{
	int64_t *sum = xmalloc((size_t)(2 * t->n + t->k) * sizeof *sum);
	int64_t *b = sum + t->n, *a = b + t->n;
	ref_load_i64(t->a, a_at, 1, t->k, a);
	memset(sum, 0, (size_t)t->n * sizeof *sum);
	for (int64_t k = 0; k < t->k; k++) {
		ref_load_i64(t->b, b_at + k * t->n, 1, t->n, b);
		for (int64_t j = 0; j < t->n; j++)
			sum[j] = (int64_t)((uint64_t)sum[j] + (uint64_t)a[k] * (uint64_t)b[j]);
	}
	ref_store_i64(t->out, out_at, 1, t->n, sum);
	free(sum);
}

static void matmul_rows(void *context, int64_t from, int64_t to)
{
	const Matmul *t = context;
	for (int64_t row = from; row < to; row++) {
		int64_t rest = row / t->m, a_at = row % t->m * t->k, b_at = 0;
		for (int d = t->batch.rank - 1; d >= 0; d--) {
			a_at += rest % t->batch.dim[d] * t->a_strides[d];
			b_at += rest % t->batch.dim[d] * t->b_strides[d];
			rest /= t->batch.dim[d];
		}
		if (type_is_float(t->out->dtype))
			row_f64(t, a_at, b_at, row * t->n);
		else
			row_i64(t, a_at, b_at, row * t->n);
	}
}

/* The leading dims of an operand and how it steps along them when they are
 * broadcast to `batch`; a matrix has `size` elements. */
static Shape leading(Shape s)
{
	return (Shape){ .rank = s.rank > 2 ? s.rank - 2 : 0,
			.dim = { s.dim[0], s.dim[1], s.dim[2], s.dim[3], s.dim[4], s.dim[5] } };
}

static void batch_strides(const Tensor *t, Shape batch, int64_t size, int64_t strides[MAX_RANK])
{
	Tensor matrices = { .dtype = t->dtype, .shape = leading(t->shape) };
	ref_broadcast_strides(&matrices, batch, strides);
	for (int d = 0; d < batch.rank; d++)
		strides[d] *= size;
}

void ref_matmul(const Call *c)
{
	Shape a = c->in[0]->shape, b = c->in[1]->shape;
	Matmul t = { .a = c->in[0], .b = c->in[1], .out = c->out };
	t.k = a.dim[a.rank - 1];
	t.m = a.rank > 1 ? a.dim[a.rank - 2] : 1;
	t.n = b.rank > 1 ? b.dim[b.rank - 1] : 1;
	if (tensor_count(c->out) == 0)
		return;
	shape_broadcast(leading(a), leading(b), &t.batch);
	batch_strides(t.a, t.batch, t.m * t.k, t.a_strides);
	batch_strides(t.b, t.batch, t.k * t.n, t.b_strides);
	ref_parallel(c->threads, tensor_count(c->out) / t.n, (double)t.k * (double)t.n * 2,
		     matmul_rows, &t);
}
