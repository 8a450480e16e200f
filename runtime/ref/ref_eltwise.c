/* Element-wise ops with broadcasting: the rows of eltwise.def over runs of
 * elements. */
#include "runtime/ref/ref_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define SQRT_HALF      0.70710678118654752440
#define SQRT_2_OVER_PI 0.79788456080286535588

enum { MAX_OPERANDS = 3 };

/* Both leave a NaN alone. */
static inline double at_most(double a, double limit) { return a > limit ? limit : a; }
static inline double at_least(double a, double limit) { return a < limit ? limit : a; }

static inline int64_t wrap(uint64_t bits)
{
	int64_t v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

static inline bool less(int64_t a, int64_t b, bool u)
{
	return u ? (uint64_t)a < (uint64_t)b : a < b;
}

static int64_t divided(int64_t a, int64_t b, bool u)
{
	if (u)
		return wrap((uint64_t)a / (uint64_t)b);
	return b == -1 ? wrap(-(uint64_t)a) : a / b;
}

/* Modulo 2^64; 1/a^|b|, towards zero, for negative b. */
static int64_t power(int64_t a, int64_t b, bool u)
{
	uint64_t base = (uint64_t)a, result = 1;
	if (!u && b < 0)
		return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
	for (uint64_t e = (uint64_t)b; e; e >>= 1) {
		if (e & 1)
			result *= base;
		base *= base;
	}
	return wrap(result);
}

/* Up to RUN elements of every operand and of the result, in one of the two
 * domains each. */
typedef struct Run {
	int64_t n;
	const float *param;
	bool u;
	double f[MAX_OPERANDS][RUN], f_out[RUN];
	int64_t i[MAX_OPERANDS][RUN], i_out[RUN];
} Run;

typedef void RunBody(Run *r);

#define BODY(name, T, in, result, out) \
	static void name(Run *r) \
	{ \
		const float *p = r->param; \
		bool u = r->u; \
		for (int64_t k = 0; k < r->n; k++) { \
			T a = r->in[0][k], b = r->in[1][k], c = r->in[2][k]; \
			(void)a, (void)b, (void)c, (void)p, (void)u; \
			r->out[k] = (result); \
		} \
	}
#define FLOAT(op, result)   BODY(float_##op, double, f, result, f_out)
#define COMPARE(op, result) BODY(compare_##op, double, f, result, i_out)
#define INTEGER(op, result) BODY(integer_##op, int64_t, i, result, i_out)
#include "runtime/ref/eltwise.def"

static RunBody *const float_bodies[OP_COUNT] = {
#define FLOAT(op, result) [OP_##op] = float_##op,
#define COMPARE(op, result)
#define INTEGER(op, result)
#include "runtime/ref/eltwise.def"
};

static RunBody *const compare_bodies[OP_COUNT] = {
#define FLOAT(op, result)
#define COMPARE(op, result) [OP_##op] = compare_##op,
#define INTEGER(op, result)
#include "runtime/ref/eltwise.def"
};

static RunBody *const integer_bodies[OP_COUNT] = {
#define FLOAT(op, result)
#define COMPARE(op, result)
#define INTEGER(op, result) [OP_##op] = integer_##op,
#include "runtime/ref/eltwise.def"
};

/* One element-wise op: `dims` is the result's shape with dims joined where
 * all operands allow it, so that runs are long. */
typedef struct Eltwise {
	int nin;
	const Tensor *const *in;
	const Tensor *out;
	Shape dims;
	int64_t strides[MAX_OPERANDS][MAX_RANK];
	int64_t row, runs; /* length of the last dim; runs to cover it */
	bool integer_in, integer_out, u;
	const float *param;
	RunBody *body;
} Eltwise;

static bool joins(const Eltwise *e, int d, int64_t dim)
{
	for (int i = 0; i < e->nin; i++)
		if (e->strides[i][d] != e->strides[i][d + 1] * dim)
			return false;
	return true;
}

/* Joins dim d with d + 1 wherever every operand steps evenly over both. */
static void join_dims(Eltwise *e)
{
	for (int d = e->dims.rank - 2; d >= 0; d--) {
		if (!joins(e, d, e->dims.dim[d + 1]))
			continue;
		e->dims.dim[d] *= e->dims.dim[d + 1];
		e->dims.rank--;
		for (int i = 0; i < e->nin; i++)
			e->strides[i][d] = e->strides[i][d + 1];
		for (int k = d + 1; k < e->dims.rank; k++) {
			e->dims.dim[k] = e->dims.dim[k + 1];
			for (int i = 0; i < e->nin; i++)
				e->strides[i][k] = e->strides[i][k + 1];
		}
	}
}

static void run_at(const Eltwise *e, Run *r, int64_t row, int64_t first)
{
	int last = e->dims.rank - 1;
	int64_t at[MAX_OPERANDS], rest = row;
	for (int i = 0; i < e->nin; i++)
		at[i] = first * e->strides[i][last];
	for (int d = last - 1; d >= 0; d--) {
		int64_t index = rest % e->dims.dim[d];
		rest /= e->dims.dim[d];
		for (int i = 0; i < e->nin; i++)
			at[i] += index * e->strides[i][d];
	}
	for (int i = 0; i < e->nin; i++)
		if (e->integer_in)
			ref_load_i64(e->in[i], at[i], e->strides[i][last], r->n, r->i[i]);
		else
			ref_load_f64(e->in[i], at[i], e->strides[i][last], r->n, r->f[i]);
	e->body(r);
	if (e->integer_out)
		ref_store_i64(e->out, row * e->row + first, 1, r->n, r->i_out);
	else
		ref_store_f64(e->out, row * e->row + first, 1, r->n, r->f_out);
}

static void some_runs(void *context, int64_t from, int64_t to)
{
	const Eltwise *e = context;
	Run r;
	memset(&r, 0, sizeof r);
	r.param = e->param;
	r.u = e->u;
	for (int64_t k = from; k < to; k++) {
		int64_t first = k % e->runs * RUN, left = e->row - first;
		r.n = left < RUN ? left : RUN;
		run_at(e, &r, k / e->runs, first);
	}
}

static bool any_zero(const Tensor *t)
{
	int64_t v[RUN], count = tensor_count(t);
	for (int64_t at = 0; at < count; at += RUN) {
		int64_t n = count - at < RUN ? count - at : RUN;
		ref_load_i64(t, at, 1, n, v);
		for (int64_t i = 0; i < n; i++)
			if (v[i] == 0)
				return true;
	}
	return false;
}

bool ref_eltwise(OpKind kind, const float *param, const Tensor *const in[], int nin,
		 const Tensor *out, int threads)
{
	Eltwise e = { .nin = nin, .in = in, .out = out, .param = param, .dims = out->shape };
	int64_t count = tensor_count(out);
	bool floats = false;

	assert(nin <= MAX_OPERANDS);
	if (count == 0)
		return true;
	if (e.dims.rank == 0)
		e.dims = SHAPE(1);
	for (int i = 0; i < nin; i++) {
		floats |= type_is_float(in[i]->dtype);
		e.u |= in[i]->dtype == TYPE_U64;
		ref_broadcast_strides(in[i], e.dims, e.strides[i]);
	}
	/* as an integer, a large u64 would come out as a negative float */
	floats |= e.u && type_is_float(out->dtype);
	e.integer_in = !floats && integer_bodies[kind];
	e.integer_out = e.integer_in || compare_bodies[kind];
	e.body = e.integer_in ? integer_bodies[kind]
	       : e.integer_out ? compare_bodies[kind] : float_bodies[kind];
	assert(e.body);
	if (kind == OP_DIV && e.integer_in && any_zero(in[1]))
		return false;
	join_dims(&e);
	e.row = e.dims.dim[e.dims.rank - 1];
	e.runs = (e.row + RUN - 1) / RUN;
	ref_parallel(threads, count / e.row * e.runs, 20 + 3 * (double)(e.row < RUN ? e.row : RUN),
		     some_runs, &e);
	return true;
}

bool ref_run_eltwise(const Call *c)
{
	const OpInfo *info = &op_info[c->op->kind];
	float param[2] = { 0, 0 };
	int n = 0;
	for (int i = 0; i < info->nfields; i++)
		if (info->fields[i].kind == ATTR_FLOAT)
			param[n++] = *ATTR_AT_CONST(&c->op->attr, &info->fields[i], float);
	if (ref_eltwise(c->op->kind, param, c->in, c->op->nin, c->out, c->threads))
		return true;
	diag_error(c->g->diag, c->op->loc, "%s: \"%s\" divides an integer by zero", info->name,
		   c->op->name);
	return false;
}

bool ref_act(const Call *c)
{
	const Tensor *in[] = { c->out };
	return ref_eltwise(c->op->act.kind, c->op->act.param, in, 1, c->out, c->threads);
}
