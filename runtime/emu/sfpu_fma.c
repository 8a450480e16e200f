/*
 * Multiply and add of the vector unit (SFPMAD.md). It is not IEEE's: denormals
 * are zero, a product is cut to 28 bits before the addition, what is shifted out
 * leaves a trace only if something stays, and a NaN takes bits of the sum.
 */
#include "runtime/emu/sfpu.h"

typedef struct Number {
	uint32_t sign; /* bit 31 */
	int exponent;
	uint32_t mantissa; /* with three bits more than fp32 has */
} Number;

static int exponent_of(uint32_t word)
{
	return (int)(word >> 23 & 255);
}

static uint32_t mantissa_of(uint32_t word)
{
	return exponent_of(word) ? (word & 0x7fffff) | 0x800000 : 0;
}

static bool is_nan(uint32_t word)
{
	return (word & 0x7fffffff) > 0x7f800000;
}

static bool is_infinite(uint32_t word)
{
	return (word & 0x7fffffff) == 0x7f800000;
}

/* What was shifted out shows in the lowest bit, unless it was everything. */
static uint32_t shift_trace(uint32_t v, int by)
{
	uint32_t rest = by < 32 ? v >> by : 0;

	return rest && rest << by != v ? rest | 1 : rest;
}

/* Rounds to even and packs; `nan` is 0 or what a NaN starts from. */
static uint32_t round_pack(Number n, uint32_t nan)
{
	uint32_t packed;
	int by;

	if (n.mantissa == 0)
		return nan;
	by = 5 - __builtin_clz(n.mantissa);
	n.exponent += by;
	if (n.exponent >= 255)
		return nan ? nan : n.sign | 0x7f800000;
	if (n.exponent < 0)
		return nan;
	n.mantissa = by <= 0 ? n.mantissa << -by : n.mantissa >> by | (n.mantissa & 1);
	packed = ((uint32_t)n.exponent << 23) + (n.mantissa >> 3 & 0x7fffff);
	packed += (n.mantissa & 7) + (packed & 1) > 4;
	if (packed < 0x800000)
		return nan;
	return (nan ? nan : n.sign) | packed;
}

static uint32_t add(Number p, Number z, uint32_t nan)
{
	Number sum = { p.sign, p.exponent > z.exponent ? p.exponent : z.exponent, 0 };

	p.mantissa = shift_trace(p.mantissa, sum.exponent - p.exponent);
	z.mantissa = shift_trace(z.mantissa, sum.exponent - z.exponent);
	if (p.sign == z.sign)
		sum.mantissa = p.mantissa + z.mantissa;
	else if (p.mantissa >= z.mantissa)
		sum.mantissa = p.mantissa - z.mantissa;
	else {
		sum.mantissa = z.mantissa - p.mantissa;
		sum.sign = z.sign;
	}
	return round_pack(sum, nan);
}

uint32_t sfpu_fma_one(uint32_t x, uint32_t y, uint32_t z)
{
	uint64_t product = (uint64_t)mantissa_of(x) * mantissa_of(y);
	Number p = { (x ^ y) & 0x80000000, exponent_of(x) + exponent_of(y) - 127,
		     (uint32_t)(product >> 20) | ((product & 0xfffff) != 0) };
	Number n = { z & 0x80000000, exponent_of(z), mantissa_of(z) << 3 };
	bool infinite = exponent_of(x) == 255 || exponent_of(y) == 255 || p.exponent >= 255;
	uint32_t nan = 0;

	if (is_nan(x) || is_nan(y) || (is_infinite(x) && !mantissa_of(y)) ||
	    (is_infinite(y) && !mantissa_of(x)) ||
	    (is_infinite(z) && infinite && p.sign != n.sign))
		nan = p.sign | 0x7f800001;
	else if (is_nan(z))
		nan = n.sign | 0x7f800001;
	else if (is_infinite(z))
		return z;
	else if (infinite)
		return p.sign | 0x7f800000;
	if (p.exponent > 255)
		p.exponent = 255;
	if (p.mantissa == 0 || p.exponent < 0) {
		if (!nan)
			return n.mantissa ? z : 0;
		p.mantissa = 0;
		p.exponent = 0;
	}
	return add(p, n, nan);
}

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE AVX2 __attribute__((always_inline)) static inline

INLINE __m256i all(int v)
{
	return _mm256_set1_epi32(v);
}

INLINE __m256i exponents(__m256i v)
{
	return _mm256_srli_epi32(_mm256_slli_epi32(v, 1), 24);
}

INLINE __m256i mantissas(__m256i v, __m256i exponent)
{
	__m256i m = _mm256_or_si256(_mm256_and_si256(v, all(0x7fffff)), all(0x800000));

	return _mm256_andnot_si256(_mm256_cmpeq_epi32(exponent, _mm256_setzero_si256()), m);
}

/* Upper 28 bits of 48-bit products, the lowest of them a trace of the rest. */
INLINE __m256i products(__m256i a, __m256i b)
{
	const __m256i rest = _mm256_set1_epi64x(0xfffff);
	__m256i p[2] = { _mm256_mul_epu32(a, b),
			 _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)) };

	for (int k = 0; k < 2; k++) {
		__m256i trace = _mm256_add_epi64(_mm256_and_si256(p[k], rest), rest);

		p[k] = _mm256_or_si256(_mm256_srli_epi64(p[k], 20), _mm256_srli_epi64(trace, 20));
	}
	return _mm256_or_si256(p[0], _mm256_slli_epi64(p[1], 32));
}

INLINE __m256i shift_traces(__m256i v, __m256i by)
{
	const __m256i zero = _mm256_setzero_si256();
	__m256i rest = _mm256_srlv_epi32(v, by);
	__m256i whole = _mm256_or_si256(_mm256_cmpeq_epi32(_mm256_sllv_epi32(rest, by), v),
					_mm256_cmpeq_epi32(rest, zero));

	return _mm256_or_si256(rest, _mm256_andnot_si256(whole, all(1)));
}

/* round_pack without NaN; lanes of `beyond` are set where it is infinite. */
INLINE __m256i round_packs(__m256i sum, __m256i sign, __m256i exponent, __m256i *beyond)
{
	const __m256i zero = _mm256_setzero_si256();
	__m256i magnitude = _mm256_abs_epi32(sum), by, up, packed, keep;

	by = _mm256_castps_si256(_mm256_cvtepi32_ps(
		_mm256_andnot_si256(_mm256_srli_epi32(magnitude, 1), magnitude)));
	by = _mm256_sub_epi32(_mm256_srli_epi32(by, 23), all(127 + 26));
	exponent = _mm256_add_epi32(exponent, by);
	*beyond = _mm256_or_si256(*beyond, _mm256_cmpgt_epi32(exponent, all(254)));
	keep = _mm256_andnot_si256(_mm256_cmpeq_epi32(sum, zero),
				   _mm256_cmpgt_epi32(exponent, all(-1)));
	up = _mm256_and_si256(_mm256_cmpgt_epi32(by, zero), _mm256_and_si256(magnitude, all(1)));
	up = _mm256_or_si256(up, _mm256_srlv_epi32(magnitude, by));
	magnitude = _mm256_or_si256(up, _mm256_sllv_epi32(magnitude, _mm256_sub_epi32(zero, by)));
	packed = _mm256_add_epi32(
		_mm256_slli_epi32(exponent, 23),
		_mm256_and_si256(_mm256_srli_epi32(magnitude, 3), all(0x7fffff)));
	up = _mm256_add_epi32(_mm256_and_si256(magnitude, all(7)),
			      _mm256_and_si256(packed, all(1)));
	packed = _mm256_sub_epi32(packed, _mm256_cmpgt_epi32(up, all(4)));
	keep = _mm256_and_si256(keep, _mm256_cmpgt_epi32(packed, all(0x7fffff)));
	return _mm256_and_si256(_mm256_or_si256(packed, sign), keep);
}

/* Eight lanes; those of `special` are wrong. */
INLINE __m256i fma_lanes(__m256i x, __m256i y, __m256i z, __m256i *special)
{
	const __m256i zero = _mm256_setzero_si256(), sign_bit = all((int)0x80000000);
	__m256i ex = exponents(x), ey = exponents(y), ez = exponents(z), mz = mantissas(z, ez);
	__m256i mp = products(mantissas(x, ex), mantissas(y, ey));
	__m256i ep = _mm256_sub_epi32(_mm256_add_epi32(ex, ey), all(127));
	__m256i none = _mm256_or_si256(_mm256_cmpeq_epi32(mp, zero),
				       _mm256_cmpgt_epi32(zero, ep));
	__m256i alone = _mm256_andnot_si256(_mm256_cmpeq_epi32(mz, zero), z);
	__m256i first = _mm256_cmpgt_epi32(ep, ez); /* the product has the larger exponent */
	__m256i sp = _mm256_xor_si256(x, y), sign, minus, most, least, sum;

	*special = _mm256_cmpgt_epi32(
		_mm256_max_epi32(_mm256_max_epi32(ex, ey), _mm256_max_epi32(ez, ep)), all(254));
	mz = _mm256_slli_epi32(mz, 3);
	most = _mm256_blendv_epi8(mz, mp, first);
	least = _mm256_blendv_epi8(mp, mz, first);
	least = shift_traces(least, _mm256_abs_epi32(_mm256_sub_epi32(ep, ez)));
	minus = _mm256_srai_epi32(_mm256_xor_si256(sp, z), 31);
	sum = _mm256_add_epi32(most, _mm256_sub_epi32(_mm256_xor_si256(least, minus), minus));
	/* The sign is that of the one with the larger exponent, unless the other is
	 * larger after all. */
	sign = _mm256_xor_si256(_mm256_blendv_epi8(z, sp, first), sum);
	sum = round_packs(sum, _mm256_and_si256(sign, sign_bit), _mm256_max_epi32(ep, ez),
			  special);
	return _mm256_blendv_epi8(sum, alone, none);
}

AVX2 static void fma_avx2(uint32_t *r, const uint32_t *x, const uint32_t *y, const uint32_t *z)
{
	for (int from = 0; from < SFPU_LANES; from += 8) {
		__m256i special,
			v = fma_lanes(_mm256_loadu_si256((const __m256i *)(x + from)),
				      _mm256_loadu_si256((const __m256i *)(y + from)),
				      _mm256_loadu_si256((const __m256i *)(z + from)), &special);
		int lanes = _mm256_movemask_ps(_mm256_castsi256_ps(special));

		_mm256_storeu_si256((__m256i *)(r + from), v);
		for (; lanes; lanes &= lanes - 1) {
			int lane = from + __builtin_ctz((unsigned)lanes);

			r[lane] = sfpu_fma_one(x[lane], y[lane], z[lane]);
		}
	}
}
#endif

void sfpu_fma(uint32_t r[SFPU_LANES], const uint32_t x[SFPU_LANES], const uint32_t y[SFPU_LANES],
	      const uint32_t z[SFPU_LANES])
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2")) {
		fma_avx2(r, x, y, z);
		return;
	}
#endif
	for (int lane = 0; lane < SFPU_LANES; lane++)
		r[lane] = sfpu_fma_one(x[lane], y[lane], z[lane]);
}
