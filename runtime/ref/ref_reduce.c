/* Reductions over any dims, and the place of the largest or smallest. */
#include "runtime/ref/ref_internal.h"

#include <math.h>

typedef enum Fold { FOLD_SUM, FOLD_PROD, FOLD_MAX, FOLD_MIN } Fold;

/* The input seen as [kept dims][folded dims], each with its strides. */
typedef struct Reduce {
	const Tensor *in, *out;
	Fold fold;
	bool mean;
	Shape kept, folded;
	int64_t kept_strides[MAX_RANK], folded_strides[MAX_RANK];
	int64_t count, row; /* elements folded into one; of them along the last dim */
} Reduce;

static int64_t offset(Shape dims, int ndims, const int64_t *strides, int64_t index)
{
	int64_t at = 0;
	for (int d = ndims - 1; d >= 0; d--) {
		at += index % dims.dim[d] * strides[d];
		index /= dims.dim[d];
	}
	return at;
}

static double fold_f64(Fold fold, double sum, const double *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		switch (fold) {
		case FOLD_SUM:
			sum += x[i];
			break;
		case FOLD_PROD:
			sum *= x[i];
			break;
		case FOLD_MAX:
			sum = isnan(x[i]) || x[i] > sum ? x[i] : sum;
			break;
		case FOLD_MIN:
			sum = isnan(x[i]) || x[i] < sum ? x[i] : sum;
			break;
		}
	return sum;
}

static int64_t fold_i64(Fold fold, bool u, int64_t sum, const int64_t *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		bool less = u ? (uint64_t)x[i] < (uint64_t)sum : x[i] < sum;
		switch (fold) {
		case FOLD_SUM:
			sum = (int64_t)((uint64_t)sum + (uint64_t)x[i]);
			break;
		case FOLD_PROD:
			sum = (int64_t)((uint64_t)sum * (uint64_t)x[i]);
			break;
		case FOLD_MAX:
			sum = less ? sum : x[i];
			break;
		case FOLD_MIN:
			sum = less ? x[i] : sum;
			break;
		}
	}
	return sum;
}

static void one_f64(const Reduce *r, int64_t base, int64_t o)
{
	static const double starts[] = { 0, 1, -INFINITY, INFINITY };
	int last = r->folded.rank - 1;
	double x[RUN], sum = starts[r->fold];
	for (int64_t k = 0; r->row && k < r->count / r->row; k++) {
		int64_t at = base + offset(r->folded, last, r->folded_strides, k);
		for (int64_t i = 0; i < r->row; i += RUN) {
			int64_t n = r->row - i < RUN ? r->row - i : RUN;
			ref_load_f64(r->in, at + i * r->folded_strides[last],
				     r->folded_strides[last], n, x);
			sum = fold_f64(r->fold, sum, x, n);
		}
	}
	if (r->mean)
		sum /= (double)r->count;
	ref_store_f64(r->out, o, 1, 1, &sum);
}

static void one_i64(const Reduce *r, int64_t base, int64_t o)
{
	bool u = r->in->dtype == TYPE_U64;
	const int64_t starts[] = { 0, 1, u ? 0 : INT64_MIN, u ? -1 : INT64_MAX };
	int last = r->folded.rank - 1;
	int64_t x[RUN], sum = starts[r->fold];
	for (int64_t k = 0; r->row && k < r->count / r->row; k++) {
		int64_t at = base + offset(r->folded, last, r->folded_strides, k);
		for (int64_t i = 0; i < r->row; i += RUN) {
			int64_t n = r->row - i < RUN ? r->row - i : RUN;
			ref_load_i64(r->in, at + i * r->folded_strides[last],
				     r->folded_strides[last], n, x);
			sum = fold_i64(r->fold, u, sum, x, n);
		}
	}
	if (r->mean && r->count)
		sum = u ? (int64_t)((uint64_t)sum / (uint64_t)r->count) : sum / r->count;
	ref_store_i64(r->out, o, 1, 1, &sum);
}

static void some_results(void *context, int64_t from, int64_t to)
{
	const Reduce *r = context;
	for (int64_t o = from; o < to; o++) {
		int64_t base = offset(r->kept, r->kept.rank, r->kept_strides, o);
		if (type_is_float(r->in->dtype))
			one_f64(r, base, o);
		else
			one_i64(r, base, o);
	}
}

static bool is_folded(const Op *op, int dim)
{
	if (op->kind == OP_GLOBAL_AVG_POOL || op->kind == OP_GLOBAL_MAX_POOL)
		return dim >= 2;
	Ints axes = op->attr.reduce.axes;
	for (int i = 0; i < axes.n; i++)
		if (axes.v[i] == dim)
			return true;
	return axes.n == 0;
}

static void add_dim(Shape *s, int64_t strides[MAX_RANK], int64_t dim, int64_t stride)
{
	strides[s->rank] = stride;
	s->dim[s->rank++] = dim;
}

void ref_reduce(const Call *c)
{
	OpKind kind = c->op->kind;
	Shape s = c->in[0]->shape;
	int64_t own[MAX_RANK];
	Reduce r = { .in = c->in[0], .out = c->out };
	r.mean = kind == OP_REDUCE_MEAN || kind == OP_GLOBAL_AVG_POOL;
	r.fold = kind == OP_REDUCE_PROD ? FOLD_PROD
	       : kind == OP_REDUCE_MIN ? FOLD_MIN
	       : kind == OP_REDUCE_MAX || kind == OP_GLOBAL_MAX_POOL ? FOLD_MAX : FOLD_SUM;
	shape_strides(s, own);
	for (int d = 0; d < s.rank; d++)
		if (is_folded(c->op, d))
			add_dim(&r.folded, r.folded_strides, s.dim[d], own[d]);
		else
			add_dim(&r.kept, r.kept_strides, s.dim[d], own[d]);
	if (r.folded.rank == 0)
		add_dim(&r.folded, r.folded_strides, 1, 0);
	r.count = shape_count(r.folded);
	r.row = r.folded.dim[r.folded.rank - 1];
	ref_parallel(c->threads, tensor_count(c->out), (double)r.count * 2 + 20, some_results, &r);
}

/* Along the middle of [outer, n, inner]. */
typedef struct Arg {
	const Tensor *in, *out;
	int64_t n, inner;
	bool largest, last;
} Arg;

/* The first NaN, if there is one, counts as both largest and smallest. */
static int64_t best_f64(const Arg *a, int64_t base)
{
	int64_t best = 0;
	double held = 0, x[RUN];
	for (int64_t i = 0; i < a->n; i++) {
		if (i % RUN == 0)
			ref_load_f64(a->in, base + i * a->inner, a->inner,
				     a->n - i < RUN ? a->n - i : RUN, x);
		double v = x[i % RUN];
		bool better = a->largest ? v > held : v < held;
		if (i == 0 || better || (isnan(v) && !isnan(held)) || (a->last && v == held)) {
			best = i;
			held = v;
		}
	}
	return best;
}

static int64_t best_i64(const Arg *a, int64_t base)
{
	/* orders u64 as int64_t */
	uint64_t flip = a->in->dtype == TYPE_U64 ? (uint64_t)1 << 63 : 0;
	int64_t best = 0, held = 0, x[RUN];
	for (int64_t i = 0; i < a->n; i++) {
		if (i % RUN == 0)
			ref_load_i64(a->in, base + i * a->inner, a->inner,
				     a->n - i < RUN ? a->n - i : RUN, x);
		int64_t v = (int64_t)((uint64_t)x[i % RUN] ^ flip);
		bool better = a->largest ? v > held : v < held;
		if (i == 0 || better || (a->last && v == held)) {
			best = i;
			held = v;
		}
	}
	return best;
}

static void some_args(void *context, int64_t from, int64_t to)
{
	const Arg *a = context;
	for (int64_t o = from; o < to; o++) {
		int64_t base = o / a->inner * a->n * a->inner + o % a->inner;
		int64_t best = type_is_float(a->in->dtype) ? best_f64(a, base) : best_i64(a, base);
		ref_store_i64(a->out, o, 1, 1, &best);
	}
}

void ref_arg(const Call *c)
{
	const argAttr *attr = &c->op->attr.arg;
	Shape s = c->in[0]->shape;
	Arg a = { .in = c->in[0], .out = c->out, .n = s.rank ? s.dim[attr->axis] : 1, .inner = 1,
		  .largest = c->op->kind == OP_ARGMAX, .last = attr->last };
	for (int d = (int)attr->axis + 1; d < s.rank; d++)
		a.inner *= s.dim[d];
	ref_parallel(c->threads, tensor_count(c->out), (double)a.n * 4 + 20, some_args, &a);
}
