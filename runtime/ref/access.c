/* Reading and writing elements of every type. */
#include "runtime/ref/ref_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Weight files do not align their data, hence memcpy. The run of step 1 is
 * spelt apart so that compilers make vectors of it. */
#define LOAD(T, value) \
	if (step == 1) \
		LOAD_BY(T, value, 1) \
	else \
		LOAD_BY(T, value, step)
#define LOAD_BY(T, value, by) \
	for (int64_t i = 0; i < n; i++) { \
		T v; \
		memcpy(&v, p + (size_t)(i * (by)) * sizeof v, sizeof v); \
		to[i] = (value); \
	}

static const char *element(const Tensor *t, int64_t at, int64_t *step)
{
	assert(t->data);
	if (t->splat)
		at = *step = 0;
	return (const char *)t->data + at * (int64_t)ref_size(t);
}

void ref_load_f64(const Tensor *t, int64_t at, int64_t step, int64_t n, double *to)
{
	const char *p = element(t, at, &step);
	switch (t->dtype) {
	case TYPE_F32:  LOAD(float, v) break;
	case TYPE_F16:  LOAD(uint16_t, half_to_float(v)) break;
	case TYPE_BF16: LOAD(uint16_t, bf16_to_float(v)) break;
	case TYPE_F64:  LOAD(double, v) break;
	case TYPE_I8:   LOAD(int8_t, v) break;
	case TYPE_I16:  LOAD(int16_t, v) break;
	case TYPE_I32:  LOAD(int32_t, v) break;
	case TYPE_I64:  LOAD(int64_t, (double)v) break;
	case TYPE_U8:   LOAD(uint8_t, v) break;
	case TYPE_U16:  LOAD(uint16_t, v) break;
	case TYPE_U32:  LOAD(uint32_t, v) break;
	case TYPE_U64:  LOAD(uint64_t, (double)v) break;
	case TYPE_BOOL: LOAD(uint8_t, v != 0) break;
	case TYPE_NONE:
	case TYPE_COUNT:
		assert(false);
	}
}

/* Towards zero; what an int64_t cannot hold becomes its nearest value. */
static int64_t truncated(double v)
{
	if (isnan(v))
		return 0;
	return v >= 0x1p63 ? INT64_MAX : v <= -0x1p63 ? INT64_MIN : (int64_t)v;
}

void ref_load_i64(const Tensor *t, int64_t at, int64_t step, int64_t n, int64_t *to)
{
	const char *p = element(t, at, &step);
	switch (t->dtype) {
	case TYPE_F32:  LOAD(float, truncated(v)) break;
	case TYPE_F16:  LOAD(uint16_t, truncated(half_to_float(v))) break;
	case TYPE_BF16: LOAD(uint16_t, truncated(bf16_to_float(v))) break;
	case TYPE_F64:  LOAD(double, truncated(v)) break;
	case TYPE_I8:   LOAD(int8_t, v) break;
	case TYPE_I16:  LOAD(int16_t, v) break;
	case TYPE_I32:  LOAD(int32_t, v) break;
	case TYPE_I64:  LOAD(int64_t, v) break;
	case TYPE_U8:   LOAD(uint8_t, v) break;
	case TYPE_U16:  LOAD(uint16_t, v) break;
	case TYPE_U32:  LOAD(uint32_t, v) break;
	case TYPE_U64:  LOAD(uint64_t, (int64_t)v) break;
	case TYPE_BOOL: LOAD(uint8_t, v != 0) break;
	case TYPE_NONE:
	case TYPE_COUNT:
		assert(false);
	}
}

/* `x` rounded to a binary format of that many fraction bits and that least
 * exponent of a normal number; overflow is left to the conversion. */
static double rounded(double x, int fraction, int least)
{
	if (x == 0 || !isfinite(x))
		return x;
	int exponent = ilogb(x);
	int unit = (exponent > least ? exponent : least) - fraction;
	return ldexp(nearbyint(ldexp(x, -unit)), unit);
}

static uint16_t to_half(double v)
{
	return float_to_half((float)rounded(v, 10, -14));
}

static uint16_t to_bf16(double v)
{
	return float_to_bf16((float)rounded(v, 7, -126));
}

static uint64_t to_u64(double v)
{
	return v >= 0x1p63 ? v >= 0x1p64 ? UINT64_MAX : (uint64_t)v : (uint64_t)truncated(v);
}

#define STORE(T, value) \
	for (int64_t i = 0; i < n; i++) { \
		T v = (T)(value); \
		memcpy(p + (size_t)(i * step) * sizeof v, &v, sizeof v); \
	}

void ref_store_f64(const Tensor *t, int64_t at, int64_t step, int64_t n, const double *from)
{
	char *p = ref_bytes(t) + at * (int64_t)ref_size(t);
	assert(!t->splat);
	switch (t->dtype) {
	case TYPE_F32:
		if (step == 1)
			for (int64_t i = 0; i < n; i++) {
				float v = (float)from[i];
				memcpy(p + (size_t)i * sizeof v, &v, sizeof v);
			}
		else
			STORE(float, from[i])
		break;
	case TYPE_F16:  STORE(uint16_t, to_half(from[i])) break;
	case TYPE_BF16: STORE(uint16_t, to_bf16(from[i])) break;
	case TYPE_F64:  STORE(double, from[i]) break;
	case TYPE_I8:   STORE(uint8_t, truncated(from[i])) break;
	case TYPE_I16:  STORE(uint16_t, truncated(from[i])) break;
	case TYPE_I32:  STORE(uint32_t, truncated(from[i])) break;
	case TYPE_I64:  STORE(int64_t, truncated(from[i])) break;
	case TYPE_U8:   STORE(uint8_t, truncated(from[i])) break;
	case TYPE_U16:  STORE(uint16_t, truncated(from[i])) break;
	case TYPE_U32:  STORE(uint32_t, truncated(from[i])) break;
	case TYPE_U64:  STORE(uint64_t, to_u64(from[i])) break;
	case TYPE_BOOL: STORE(uint8_t, from[i] != 0) break;
	case TYPE_NONE:
	case TYPE_COUNT:
		assert(false);
	}
}

void ref_store_i64(const Tensor *t, int64_t at, int64_t step, int64_t n, const int64_t *from)
{
	char *p = ref_bytes(t) + at * (int64_t)ref_size(t);
	assert(!t->splat);
	switch (t->dtype) {
	case TYPE_F32:  STORE(float, from[i]) break;
	case TYPE_F16:  STORE(uint16_t, to_half((double)from[i])) break;
	case TYPE_BF16: STORE(uint16_t, to_bf16((double)from[i])) break;
	case TYPE_F64:  STORE(double, from[i]) break;
	case TYPE_I8:   STORE(uint8_t, from[i]) break;
	case TYPE_I16:  STORE(uint16_t, from[i]) break;
	case TYPE_I32:  STORE(uint32_t, from[i]) break;
	case TYPE_I64:  STORE(int64_t, from[i]) break;
	case TYPE_U8:   STORE(uint8_t, from[i]) break;
	case TYPE_U16:  STORE(uint16_t, from[i]) break;
	case TYPE_U32:  STORE(uint32_t, from[i]) break;
	case TYPE_U64:  STORE(uint64_t, from[i]) break;
	case TYPE_BOOL: STORE(uint8_t, from[i] != 0) break;
	case TYPE_NONE:
	case TYPE_COUNT:
		assert(false);
	}
}

double *ref_widen(const Tensor *t)
{
	int64_t n = tensor_count(t);
	double *v = xmalloc((size_t)n * sizeof *v);
	ref_load_f64(t, 0, 1, n, v);
	return v;
}

void ref_broadcast_strides(const Tensor *t, Shape to, int64_t strides[MAX_RANK])
{
	int64_t own[MAX_RANK];
	int lead = to.rank - t->shape.rank;
	shape_strides(t->shape, own);
	for (int i = 0; i < to.rank; i++) {
		bool repeated = i < lead || t->shape.dim[i - lead] == 1;
		strides[i] = repeated || t->splat ? 0 : own[i - lead];
	}
}
