#include "ir/tensor.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const TypeInfo type_info[TYPE_COUNT] = {
	[TYPE_NONE] = { "none", 0, NO_CLASS },
#define TYPE(id, spelling, size, class) [TYPE_##id] = { spelling, size, class },
#include "ir/types.def"
};

DType type_by_name(const char *name)
{
	for (int t = TYPE_NONE + 1; t < TYPE_COUNT; t++)
		if (strcmp(type_info[t].name, name) == 0)
			return (DType)t;
	return TYPE_NONE;
}

bool shape_equal(Shape a, Shape b)
{
	if (a.rank != b.rank)
		return false;
	for (int i = 0; i < a.rank; i++)
		if (a.dim[i] != b.dim[i])
			return false;
	return true;
}

int64_t shape_count(Shape s)
{
	int64_t n = 1;
	bool empty = false;
	for (int i = 0; i < s.rank; i++) {
		if (s.dim[i] < 0)
			return -1;
		if (s.dim[i] == 0)
			empty = true;
		else if (s.dim[i] > MAX_ELEMENTS / n)
			return -1;
		else
			n *= s.dim[i];
	}
	return empty ? 0 : n;
}

void shape_strides(Shape s, int64_t strides[MAX_RANK])
{
	int64_t n = 1;
	for (int i = s.rank - 1; i >= 0; i--) {
		strides[i] = n;
		n *= s.dim[i];
	}
}

bool shape_broadcast(Shape a, Shape b, Shape *out)
{
	*out = (Shape){ .rank = a.rank > b.rank ? a.rank : b.rank };
	for (int i = 1; i <= out->rank; i++) {
		int64_t x = i <= a.rank ? a.dim[a.rank - i] : 1;
		int64_t y = i <= b.rank ? b.dim[b.rank - i] : 1;
		if (x != y && x != 1 && y != 1)
			return false;
		out->dim[out->rank - i] = x == 1 ? y : x;
	}
	return shape_count(*out) >= 0;
}

const char *shape_text(Arena *a, Shape s)
{
	char *text = arena_strdup(a, s.rank ? "" : "scalar");
	for (int i = 0; i < s.rank; i++)
		text = arena_printf(a, "%s%s%lld", text, i ? "x" : "", (long long)s.dim[i]);
	return text;
}

const char *type_text(char buf[TYPE_TEXT], DType dtype, Shape s)
{
	int n = snprintf(buf, TYPE_TEXT, "%s[", type_info[dtype].name);
	for (int i = 0; i < s.rank; i++)
		n += snprintf(buf + n, TYPE_TEXT - (size_t)n, "%s%lld", i ? "," : "", (long long)s.dim[i]);
	snprintf(buf + n, TYPE_TEXT - (size_t)n, "]");
	return buf;
}

Tensor *tensor_create(Arena *a, DType dtype, Shape shape)
{
	int64_t n = shape_count(shape);
	assert(n >= 0 && dtype != TYPE_NONE);
	Tensor *t = arena_new(a, Tensor);
	*t = (Tensor){ .dtype = dtype, .shape = shape, .owned = true };
	t->data = arena_calloc(a, n ? (size_t)n : 1, type_info[dtype].bytes);
	return t;
}

Tensor *tensor_splat(Arena *a, DType dtype, Shape shape, double f, int64_t i)
{
	Tensor *t = tensor_create(a, dtype, (Shape){ 0 });
	if (type_is_float(dtype))
		tensor_set_f64(t, 0, f);
	else
		tensor_set_i64(t, 0, i);
	t->shape = shape;
	t->splat = true;
	t->owned = false;
	return t;
}

Tensor *tensor_of_ints(Arena *a, const int64_t *v, int64_t n)
{
	Tensor *t = tensor_create(a, TYPE_I64, SHAPE(n));
	if (n)
		memcpy((void *)t->data, v, (size_t)n * sizeof *v);
	return t;
}

Tensor *tensor_of_floats(Arena *a, const float *v, int64_t n)
{
	Tensor *t = tensor_create(a, TYPE_F32, SHAPE(n));
	if (n)
		memcpy((void *)t->data, v, (size_t)n * sizeof *v);
	return t;
}

/* Element i where it lies: weight files do not align their data. */
static const void *at(const Tensor *t, int64_t i)
{
	assert(t->data);
	return (const char *)t->data + (t->splat ? 0 : i) * type_info[t->dtype].bytes;
}

#define READER(T, R) \
	static R read_##T(const void *p) \
	{ \
		T v; \
		memcpy(&v, p, sizeof v); \
		return (R)v; \
	}

READER(float, double)
READER(double, double)
READER(int8_t, int64_t)
READER(int16_t, int64_t)
READER(int32_t, int64_t)
READER(int64_t, int64_t)
READER(uint8_t, int64_t)
READER(uint16_t, int64_t)
READER(uint32_t, int64_t)
READER(uint64_t, int64_t)

static double load_float(DType type, const void *p)
{
	switch (type) {
	case TYPE_F64:
		return read_double(p);
	case TYPE_F16:
		return half_to_float((uint16_t)read_uint16_t(p));
	case TYPE_BF16:
		return bf16_to_float((uint16_t)read_uint16_t(p));
	default:
		return read_float(p);
	}
}

static int64_t load_int(DType type, const void *p)
{
	switch (type_info[type].bytes) {
	case 1:
		return type == TYPE_I8 ? read_int8_t(p) : read_uint8_t(p);
	case 2:
		return type == TYPE_I16 ? read_int16_t(p) : read_uint16_t(p);
	case 4:
		return type == TYPE_I32 ? read_int32_t(p) : read_uint32_t(p);
	default:
		return type == TYPE_I64 ? read_int64_t(p) : read_uint64_t(p);
	}
}

double tensor_f64(const Tensor *t, int64_t i)
{
	const void *p = at(t, i);
	if (type_is_float(t->dtype))
		return load_float(t->dtype, p);
	int64_t v = load_int(t->dtype, p);
	return t->dtype == TYPE_U64 ? (double)(uint64_t)v : (double)v;
}

int64_t tensor_i64(const Tensor *t, int64_t i)
{
	const void *p = at(t, i);
	if (!type_is_float(t->dtype))
		return load_int(t->dtype, p);
	double v = load_float(t->dtype, p);
	if (isnan(v))
		return 0;
	return v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

/* What is stored for `v` in an integer or bool; u64 as its bit pattern. */
static int64_t whole(DType type, double v)
{
	if (type == TYPE_BOOL)
		return v != 0;
	if (isnan(v) || v < -0x1p63)
		return isnan(v) ? 0 : INT64_MIN;
	if (v < 0x1p63)
		return (int64_t)v;
	if (type == TYPE_U64)
		return v < 0x1p64 ? (int64_t)(uint64_t)v : -1;
	return INT64_MAX;
}

/* To float such that rounding again, to a half or bf16, is as if done once:
 * what is not exact gets an odd last bit. */
static float to_odd(double v)
{
	float f = (float)v;
	if ((double)f == v || !isfinite(f))
		return f;
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	if (!(bits & 1))
		bits += fabs((double)f) < fabs(v) ? 1u : -1u;
	memcpy(&f, &bits, sizeof f);
	return f;
}

void tensor_set_f64(Tensor *t, int64_t i, double v)
{
	void *p = (char *)(uintptr_t)t->data + i * type_info[t->dtype].bytes;
	float f = (float)v;
	uint16_t h;

	assert(!t->splat);
	switch (t->dtype) {
	case TYPE_F64:
		memcpy(p, &v, sizeof v);
		break;
	case TYPE_F32:
		memcpy(p, &f, sizeof f);
		break;
	case TYPE_F16:
		h = float_to_half(to_odd(v));
		memcpy(p, &h, sizeof h);
		break;
	case TYPE_BF16:
		h = float_to_bf16(to_odd(v));
		memcpy(p, &h, sizeof h);
		break;
	default:
		tensor_set_i64(t, i, whole(t->dtype, v));
	}
}

void tensor_set_i64(Tensor *t, int64_t i, int64_t v)
{
	size_t bytes = type_info[t->dtype].bytes;
	char *p = (char *)(uintptr_t)t->data + (size_t)i * bytes;
	const uint64_t bits = t->dtype == TYPE_BOOL ? v != 0 : (uint64_t)v;

	assert(!t->splat);
	if (type_is_float(t->dtype)) {
		tensor_set_f64(t, i, (double)v);
		return;
	}
	for (size_t b = 0; b < bytes; b++)
		p[b] = (char)(bits >> (8 * b)); /* all our hosts are little-endian */
}

float *tensor_f32_data(Tensor *t)
{
	assert(t->dtype == TYPE_F32 && t->owned && !t->splat);
	return (float *)(uintptr_t)t->data;
}

Tensor *tensor_to_f32(Arena *a, Tensor *t)
{
	if (t->dtype == TYPE_F32 && t->owned && !t->splat)
		return t;
	Tensor *f = tensor_create(a, TYPE_F32, t->shape);
	float *out = tensor_f32_data(f);
	int64_t n = tensor_count(t);
	if (t->dtype == TYPE_F32 && !t->splat && n)
		memcpy(out, t->data, (size_t)n * sizeof *out);
	else
		for (int64_t i = 0; i < n; i++)
			out[i] = (float)tensor_f64(t, i);
	return f;
}

Tensor *tensor_reshaped(Arena *a, Tensor *t, Shape shape)
{
	Tensor *r = arena_new(a, Tensor);
	assert(shape_count(shape) == tensor_count(t));
	t->owned = false;
	*r = *t;
	r->shape = shape;
	return r;
}

float float_to_tf32(float f)
{
	const uint32_t bits = float_bits(f);
	return isnan(f) ? f : float_of_bits((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

float half_to_float(uint16_t h)
{
	/* A half's exponent and fraction, read as a float's, are 2^112 too small. */
	uint32_t bits = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
	float f;
	memcpy(&f, &bits, sizeof f);
	f *= 0x1p112f;
	memcpy(&bits, &f, sizeof bits);
	if ((h & 0x7c00) == 0x7c00)
		bits = 0x7f800000 | (uint32_t)(h & 0x3ff) << 13;
	bits |= sign;
	memcpy(&f, &bits, sizeof f);
	return f;
}

uint16_t float_to_half(float f)
{
	uint16_t sign = signbit(f) ? 0x8000 : 0;
	float x = fabsf(f);
	if (isnan(f))
		return sign | 0x7e00;
	if (x >= 65520) /* halfway between the largest half and 2^16 */
		return sign | 0x7c00;
	uint32_t bits;
	if (x < 0x1p-14f) { /* a multiple of 2^-24, which is the last bit of 0.5 */
		x += 0.5f;
		memcpy(&bits, &x, sizeof bits);
		return sign | (uint16_t)(bits - 0x3f000000);
	}
	memcpy(&bits, &x, sizeof bits);
	bits += 0xfff + (bits >> 13 & 1);
	return sign | (uint16_t)((bits >> 13) - (112 << 10));
}
