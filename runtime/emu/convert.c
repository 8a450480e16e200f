#include "runtime/emu/convert.h"

#include <string.h>

#if defined(__x86_64__) && !defined(CONVERT_PORTABLE)
#include <immintrin.h>
#endif

/* Loops are compiled for AVX2 beside what the build assumes, where that is
 * enough for the compiler to vectorise them; the others are written twice. */
#if defined(__x86_64__) && !defined(CONVERT_PORTABLE)
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

/* What to add to the exponent of a magnitude: 127 + 6 make it 1.0. */
static uint32_t bfp8_bias(uint8_t exponent)
{
	return (uint32_t)(exponent - 133) << 23;
}

/* The magnitude is an integer of 7 bits with 64 = 1.0, so the bits of its fp32
 * value are right but for the exponent, which wraps around as on silicon. Zero
 * with a sign is minus infinity. */
uint32_t src_from_bfp8(uint8_t from, uint8_t exponent)
{
	float magnitude = (float)(from & 127);
	uint32_t sign = (uint32_t)(from >> 7) << 31, bits;

	memcpy(&bits, &magnitude, 4);
	if (!bits)
		return sign ? 0xff800000 : 0;
	return sign | ((bits + bfp8_bias(exponent)) & 0x7fffffff);
}

#if defined(__x86_64__) && !defined(CONVERT_PORTABLE)
WIDE static void bfp8_eight(const uint8_t *from, uint32_t bias, uint32_t *to)
{
	__m256i in = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)from));
	__m256i magnitude = _mm256_and_si256(in, _mm256_set1_epi32(127));
	__m256i sign = _mm256_slli_epi32(_mm256_srli_epi32(in, 7), 31);
	__m256i value = _mm256_castps_si256(_mm256_cvtepi32_ps(magnitude));
	__m256i zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
	__m256i infinity = _mm256_and_si256(_mm256_srai_epi32(sign, 31),
	                                    _mm256_set1_epi32(0x7f800000));

	value = _mm256_add_epi32(value, _mm256_set1_epi32((int32_t)bias));
	value = _mm256_and_si256(value, _mm256_set1_epi32(0x7fffffff));
	value = _mm256_blendv_epi8(value, infinity, zero);
	_mm256_storeu_si256((void *)to, _mm256_or_si256(value, sign));
}

WIDE static void bfp8_wide(const uint8_t *from, const uint8_t *exponents, uint32_t *to, uint32_t n)
{
	for (uint32_t k = 0; k < n; k += 8)
		bfp8_eight(from + k, bfp8_bias(exponents[k / 16]), to + k);
}
#else
#define bfp8_wide(from, exponents, to, n) (void)0
#endif

void src_from_bfp8_rows(const uint8_t *from, const uint8_t *exponents, uint32_t *to, uint32_t n)
{
	uint32_t wide = HAS_WIDE ? n / 8 * 8 : 0;

	if (wide)
		bfp8_wide(from, exponents, to, wide);
	for (uint32_t k = wide; k < n; k++)
		to[k] = src_from_bfp8(from[k], exponents[k / 16]);
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

LOOP void round_loop(uint32_t *v, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		v[k] = no_denormal((quiet(v[k]) + 0x8000) >> 16);
}

WIDE static void round_wide(uint32_t *v, uint32_t n)
{
	round_loop(v, n);
}

void bf16_from_fp32(uint32_t *v, uint32_t n)
{
	if (HAS_WIDE)
		round_wide(v, n);
	else
		round_loop(v, n);
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
static void bfp8_row(const uint32_t *v, uint8_t *exponent, uint8_t *to)
{
	uint32_t most = 0;

	for (int k = 0; k < 16; k++)
		most = (v[k] >> 7 & 255) > most ? v[k] >> 7 & 255 : most;
	*exponent = (uint8_t)most;
	for (int k = 0; k < 16; k++) {
		uint32_t e = v[k] >> 7 & 255, m = (v[k] & 127) | (e ? 128 : 0);
		uint32_t shift = most - e < 8 ? most - e : 8; /* at 8 nothing is left */

		m = (m + (1u << shift)) >> (shift + 1);
		m = m > 127 ? 127 : m;
		to[k] = (uint8_t)(m | (m ? v[k] >> 8 & 128 : 0));
	}
}

#if defined(__x86_64__) && !defined(CONVERT_PORTABLE)
/* Half of a row: the bytes, as words. */
WIDE static __m256i bfp8_half(__m256i v, __m256i most)
{
	const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1);
	__m256i e = _mm256_and_si256(_mm256_srli_epi32(v, 7), _mm256_set1_epi32(255));
	__m256i hidden = _mm256_andnot_si256(_mm256_cmpeq_epi32(e, zero), _mm256_set1_epi32(128));
	__m256i m = _mm256_or_si256(_mm256_and_si256(v, _mm256_set1_epi32(127)), hidden);
	__m256i shift = _mm256_min_epu32(_mm256_sub_epi32(most, e), _mm256_set1_epi32(8));
	__m256i sign = _mm256_and_si256(_mm256_srli_epi32(v, 8), _mm256_set1_epi32(128));

	m = _mm256_add_epi32(m, _mm256_sllv_epi32(one, shift));
	m = _mm256_srlv_epi32(m, _mm256_add_epi32(shift, one));
	m = _mm256_min_epu32(m, _mm256_set1_epi32(127));
	return _mm256_or_si256(m, _mm256_andnot_si256(_mm256_cmpeq_epi32(m, zero), sign));
}

WIDE static void bfp8_row_wide(const uint32_t *v, uint8_t *exponent, uint8_t *to)
{
	__m256i a = _mm256_loadu_si256((const void *)v);
	__m256i b = _mm256_loadu_si256((const void *)(v + 8));
	__m256i most = _mm256_max_epu32(_mm256_and_si256(a, _mm256_set1_epi32(255 << 7)),
	                                _mm256_and_si256(b, _mm256_set1_epi32(255 << 7)));

	most = _mm256_max_epu32(most, _mm256_permute2x128_si256(most, most, 1));
	most = _mm256_max_epu32(most, _mm256_shuffle_epi32(most, 0x4e));
	most = _mm256_max_epu32(most, _mm256_shuffle_epi32(most, 0xb1));
	most = _mm256_srli_epi32(most, 7);
	*exponent = (uint8_t)_mm256_cvtsi256_si32(most);
	a = _mm256_packus_epi32(bfp8_half(a, most), bfp8_half(b, most));
	a = _mm256_permute4x64_epi64(a, 0xd8);
	_mm_storeu_si128((void *)to, _mm_packus_epi16(_mm256_castsi256_si128(a),
	                                              _mm256_extracti128_si256(a, 1)));
}
#else
#define bfp8_row_wide bfp8_row
#endif

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
