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

bool tensor_equal(const Tensor *a, const Tensor *b)
{
	if (a->dtype != b->dtype || !shape_equal(a->shape, b->shape))
		return false;
	if (a->data && b->data && !a->splat && !b->splat)
		return memcmp(a->data, b->data, (size_t)tensor_bytes(a)) == 0;
	if (a->data && b->data && a->splat && b->splat)
		return memcmp(a->data, b->data, type_info[a->dtype].bytes) == 0;
	return tensor_hash(a) == tensor_hash(b);
}

/* The hash is a polynomial in STEP of the scrambled words, modulo the prime
 * 2^61 - 1, so that a word repeated often is taken in at once. */
#define PRIME ((UINT64_C(1) << 61) - 1)
#define STEP  UINT64_C(0x16a4a7935bd1e995)

static uint64_t scramble(uint64_t word)
{
	word = (word ^ word >> 32) * 0x9e3779b97f4a7c15u;
	return word ^ word >> 29;
}

/* x * y + z, not quite reduced: below 2^62 if x and y are. */
static uint64_t multiply_add(uint64_t x, uint64_t y, uint64_t z)
{
	__extension__ typedef unsigned __int128 Wide;
	const Wide v = (Wide)x * y + z;
	const uint64_t once = (uint64_t)(v & PRIME) + (uint64_t)(v >> 61);
	return (once & PRIME) + (once >> 61);
}

static uint64_t mix(uint64_t h, uint64_t word)
{
	return multiply_add(h, STEP, scramble(word));
}

/* `word`, n times: powers of the map h -> factor * h + term. */
static uint64_t mix_repeated(uint64_t h, uint64_t word, int64_t n)
{
	uint64_t factor = STEP, term = scramble(word) % PRIME;
	for (; n; n >>= 1) {
		if (n & 1)
			h = multiply_add(h, factor, term);
		term = multiply_add(term, factor, term);
		factor = multiply_add(factor, factor, 0);
	}
	return h;
}

uint64_t tensor_hash(const Tensor *t)
{
	if (!t->data)
		return t->hash;
	const size_t bytes = type_info[t->dtype].bytes;
	const int64_t words = tensor_bytes(t) / 8, rest = tensor_bytes(t) % 8;
	const char *data = t->data;
	uint64_t h = mix((uint64_t)t->dtype, (uint64_t)t->shape.rank), word = 0;
	for (int i = 0; i < t->shape.rank; i++)
		h = mix(h, (uint64_t)t->shape.dim[i]);
	if (t->splat) {
		for (size_t i = 0; i < 8; i += bytes)
			memcpy((char *)&word + i, data, bytes);
		h = mix_repeated(h, word, words);
		word = rest ? word & UINT64_MAX >> (64 - 8 * rest) : 0;
	} else {
		for (int64_t i = 0; i < words; i++) {
			memcpy(&word, data + 8 * i, 8);
			h = mix(h, word);
		}
		word = 0;
		memcpy(&word, data + 8 * words, (size_t)rest);
	}
	return scramble(mix(h, word) % PRIME);
}
