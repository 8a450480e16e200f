/* Many elements of a tensor at a time: the type is looked at once. */
#include "ir/tensor.h"

#include <assert.h>
#include <string.h>

/* Elements at, at + step, ... as `value` makes them of `T v`; weight files do
 * not align their data. */
#define EACH(T, value) \
	for (int64_t k = 0; k < n; k++) { \
		T v; \
		memcpy(&v, from + k * step * (int64_t)sizeof v, sizeof v); \
		out[k] = (value); \
	} \
	break

void tensor_read_f64(const Tensor *t, int64_t at, int64_t step, int64_t n, double out[])
{
	assert(t->data);
	if (t->splat)
		at = step = 0;
	const char *from = (const char *)t->data + at * type_info[t->dtype].bytes;
	switch (t->dtype) {
	case TYPE_F32:
		EACH(float, v);
	case TYPE_F64:
		EACH(double, v);
	case TYPE_F16:
		EACH(uint16_t, half_to_float(v));
	case TYPE_BF16:
		EACH(uint16_t, bf16_to_float(v));
	default:
		for (int64_t k = 0; k < n; k++)
			out[k] = tensor_f64(t, at + k * step);
	}
}

void tensor_read_i64(const Tensor *t, int64_t at, int64_t step, int64_t n, int64_t out[])
{
	assert(t->data);
	if (t->splat)
		at = step = 0;
	const char *from = (const char *)t->data + at * type_info[t->dtype].bytes;
	switch (t->dtype) {
	case TYPE_I64:
	case TYPE_U64:
		EACH(int64_t, v);
	case TYPE_I32:
		EACH(int32_t, v);
	case TYPE_U8:
	case TYPE_BOOL:
		EACH(uint8_t, v);
	default:
		for (int64_t k = 0; k < n; k++)
			out[k] = tensor_i64(t, at + k * step);
	}
}

void tensor_write_f64(Tensor *t, int64_t at, int64_t n, const double v[])
{
	if (t->dtype == TYPE_F32) {
		float *out = tensor_f32_data(t) + at;
		for (int64_t k = 0; k < n; k++)
			out[k] = (float)v[k];
	} else {
		for (int64_t k = 0; k < n; k++)
			tensor_set_f64(t, at + k, v[k]);
	}
}

void tensor_write_i64(Tensor *t, int64_t at, int64_t n, const int64_t v[])
{
	for (int64_t k = 0; k < n; k++)
		tensor_set_i64(t, at + k, v[k]);
}
