#include "runtime/emu/convert.h"

#include <string.h>

/* The loops are written once for the compiler to vectorise, and compiled twice
 * where the processor may have wider registers than the build assumes. */
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))
#define HAS_WIDE __builtin_cpu_supports("avx2")
#else
#define WIDE
#define HAS_WIDE 0
#endif
#define LOOP static inline __attribute__((always_inline))

LOOP void bf16_loop(const uint8_t *restrict from, uint32_t *restrict to, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint16_t v;

		memcpy(&v, from + 2 * (size_t)k, 2);
		to[k] = (uint32_t)v << 16;
	}
}

WIDE static void bf16_wide(const uint8_t *from, uint32_t *to, uint32_t n)
{
	bf16_loop(from, to, n);
}

void src_from_bf16(const uint8_t *from, uint32_t *to, uint32_t n)
{
	if (HAS_WIDE)
		bf16_wide(from, to, n);
	else
		bf16_loop(from, to, n);
}

void src_from_fp32(const uint8_t *from, uint32_t *to, uint32_t n, bool bf16)
{
	uint32_t keep = bf16 ? 0xffff0000 : 0xffffe000;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t v;

		memcpy(&v, from + 4 * (size_t)k, 4);
		if (bf16 && (v & 0x7fffffff) < 0x00800000)
			v &= 0x80000000;
		to[k] = v & keep;
	}
}

/* The magnitude is an integer of 7 bits with 64 = 1.0, so the bits of its fp32
 * value are right but for the exponent, which wraps around as on silicon. Zero
 * with a sign is minus infinity. */
LOOP uint32_t bfp8(uint32_t from, uint32_t bias)
{
	int32_t magnitude = (int32_t)(from & 127);
	float value = (float)magnitude;
	uint32_t sign = from >> 7 << 31, bits;

	memcpy(&bits, &value, 4);
	bits = (bits + bias) & 0x7fffffff;
	if (!magnitude)
		bits = sign ? 0x7f800000 : 0;
	return bits | sign;
}

/* What to add to the exponent of the magnitude: 127 + 6 make it 1.0. */
LOOP uint32_t bfp8_bias(uint8_t exponent)
{
	return (uint32_t)(exponent - 133) << 23;
}

uint32_t src_from_bfp8(uint8_t from, uint8_t exponent)
{
	return bfp8(from, bfp8_bias(exponent));
}

LOOP void bfp8_loop(const uint8_t *restrict from, const uint8_t *restrict exponents,
                    uint32_t *restrict to, uint32_t n)
{
	for (uint32_t row = 0; row < n / 16; row++) {
		uint32_t bias = bfp8_bias(exponents[row]);

		for (uint32_t k = 0; k < 16; k++)
			to[16 * row + k] = bfp8(from[16 * row + k], bias);
	}
	for (uint32_t k = n / 16 * 16; k < n; k++)
		to[k] = bfp8(from[k], bfp8_bias(exponents[k / 16]));
}

WIDE static void bfp8_wide(const uint8_t *from, const uint8_t *exponents, uint32_t *to, uint32_t n)
{
	bfp8_loop(from, exponents, to, n);
}

void src_from_bfp8_rows(const uint8_t *from, const uint8_t *exponents, uint32_t *to, uint32_t n)
{
	if (HAS_WIDE)
		bfp8_wide(from, exponents, to, n);
	else
		bfp8_loop(from, exponents, to, n);
}

/* ---- out of Dst ---- */

LOOP uint32_t quiet(uint32_t v)
{
	return (v & 0x7fffffff) > 0x7f800000 ? (v & 0x80000000) | 0x7f800000 : v;
}

/* Of a bf16 pattern. */
LOOP uint32_t no_denormal(uint32_t v)
{
	return (v & 0x7fff) < 0x80 ? 0 : v;
}

void bf16_from_fp32(uint32_t *v, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		v[k] = no_denormal((quiet(v[k]) + 0x8000) >> 16);
}

void bfp8_from_fp32(uint32_t *v, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		v[k] = no_denormal(((quiet(v[k]) >> 16) + 1) & ~1u);
}

void bf16_from_bf16(uint32_t *v, uint32_t n, bool bfp8_next)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t value = no_denormal(quiet(v[k] << 16) >> 16);

		v[k] = bfp8_next ? (value + 1) & ~1u : value;
	}
}

void l1_from_bf16(const uint32_t *v, uint8_t *to, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint16_t half = (uint16_t)v[k];

		memcpy(to + 2 * (size_t)k, &half, 2);
	}
}

/* The largest exponent of the 16 is shared; what is smaller loses bits, rounded
 * half up; a magnitude of zero has no sign. */
LOOP void bfp8_row(const uint32_t *restrict v, uint8_t *exponent, uint8_t *restrict to)
{
	uint32_t most = 0;

	for (int k = 0; k < 16; k++)
		most = (v[k] >> 7 & 255) > most ? v[k] >> 7 & 255 : most;
	*exponent = (uint8_t)most;
	for (int k = 0; k < 16; k++) {
		uint32_t e = v[k] >> 7 & 255, m = (v[k] & 127) | (e ? 128 : 0);
		uint32_t shift = most - e < 8 ? most - e : 8;

		m = shift == 8 ? 0 : (m + (1u << shift)) >> (shift + 1);
		m = m > 127 ? 127 : m;
		to[k] = (uint8_t)(m | (m ? v[k] >> 8 & 128 : 0));
	}
}

WIDE static void bfp8_row_wide(const uint32_t *v, uint8_t *exponent, uint8_t *to)
{
	bfp8_row(v, exponent, to);
}

void l1_from_bfp8(const uint32_t *v, uint8_t *exponents, uint8_t *to, uint32_t n)
{
	for (uint32_t row = 0; row < n / 16; row++) {
		if (HAS_WIDE)
			bfp8_row_wide(v + 16 * row, exponents + row, to + 16 * row);
		else
			bfp8_row(v + 16 * row, exponents + row, to + 16 * row);
	}
}

static uint32_t flush(uint32_t v)
{
	return (v & 0x7fffffff) < 0x00800000 ? v & 0x80000000 : v;
}

uint32_t l1_add_fp32(uint32_t there, uint32_t value)
{
	float a, b;
	uint32_t sum;

	there = flush(there);
	value = flush(value);
	memcpy(&a, &there, 4);
	memcpy(&b, &value, 4);
	a += b;
	memcpy(&sum, &a, 4);
	return (sum & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : flush(sum);
}

/* A bf16 as a double. What is not a number counts as a finite one: beyond all
 * others in L1, of exponent 128 in the packer. */
static double widen(uint16_t v, bool there)
{
	uint64_t sign = (uint64_t)(v & 0x8000) << 48, bits;
	uint32_t pattern = flush((uint32_t)v << 16);
	float plain;
	double d;

	memcpy(&plain, &pattern, 4);
	if ((v & 0x7fff) <= 0x7f80)
		return plain;
	bits = (uint64_t)(1023 + 128) << 52 | (uint64_t)(v & 127) << 45;
	bits = (there ? 0x7fefffffffffffff : bits) | sign;
	memcpy(&d, &bits, 8);
	return d;
}

uint16_t l1_add_bf16(uint16_t there, uint16_t value)
{
	double sum = widen(there, true) + widen(value, false);
	uint64_t bits, mantissa;
	int32_t exponent;

	if ((there ^ value) == 0x8000 && (there & 0x7fff) == 0x7f80)
		return 0x7fc0;
	memcpy(&bits, &sum, 8);
	mantissa = bits & 0xfffffffffffff;
	exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023 + 127;
	if (exponent <= 0)
		return (uint16_t)(bits >> 48 & 0x8000);
	if (exponent >= 255)
		return (uint16_t)((bits >> 48 & 0x8000) | 0x7f80);
	/* Half to even. */
	mantissa = (mantissa + 0xfffffffffff + (mantissa >> 45 & 1)) >> 45;
	return (uint16_t)((bits >> 48 & 0x8000) | (((uint32_t)exponent << 7) + mantissa));
}
