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

void sfpu_fma(uint32_t r[SFPU_LANES], const uint32_t x[SFPU_LANES], const uint32_t y[SFPU_LANES],
	      const uint32_t z[SFPU_LANES])
{
	for (int lane = 0; lane < SFPU_LANES; lane++)
		r[lane] = sfpu_fma_one(x[lane], y[lane], z[lane]);
}
