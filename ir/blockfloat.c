#include "ir/blockfloat.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "ir/tensor.h"

enum {
	SIGN = 0x80,
	MOST = 0x7f,
	FRACTION_BITS = 23,
	STEP_BITS = 6, /* of 2^exponent in a step */
	BIAS = 127,
	LEAST_SCALED = 2 * STEP_BITS, /* shared exponents from which on scales are floats */
};

#define WHOLE 0x1p23f /* a float plus this is rounded to a whole number */

static unsigned exponent_of(float f) { return float_bits(f) >> FRACTION_BITS & 0xff; }

/* n / 2^shift to the nearest integer, ties to even; n has 24 bits. */
static uint32_t shift_nearest(uint32_t n, unsigned shift)
{
	if (shift > FRACTION_BITS + 2)
		return 0;
	const uint32_t half = 1u << (shift - 1), whole = n >> shift, rest = n & (2 * half - 1);
	return whole + (rest > half || (rest == half && (whole & 1)));
}

static uint8_t pack_value(float f, unsigned shared)
{
	const unsigned exponent = exponent_of(f);
	if (exponent == 0)
		return 0;
	const uint32_t fraction = float_bits(f) & ((1u << FRACTION_BITS) - 1);
	uint32_t steps = shift_nearest(1u << FRACTION_BITS | fraction,
				       FRACTION_BITS - STEP_BITS + shared - exponent);
	if (steps > MOST)
		steps = MOST;
	return (uint8_t)(steps | (steps && f < 0 ? SIGN : 0));
}

/* The same of all values, in float: steps are whole numbers, which adding WHOLE rounds to
 * the nearest, and stand in the lowest bits then. */
static void pack_scaled(const float values[BLOCKFLOAT], unsigned shared, uint8_t bytes[BLOCKFLOAT])
{
	const uint32_t exponent = 2 * BIAS + STEP_BITS - shared;
	const float scale = float_of_bits(exponent << FRACTION_BITS);
	for (int i = 0; i < BLOCKFLOAT; i++) {
		const float whole = fabsf(values[i]) * scale + WHOLE;
		const uint32_t all = float_bits(whole) - float_bits(WHOLE);
		const uint32_t steps = all > MOST ? MOST : all;
		bytes[i] = (uint8_t)(steps | (steps ? float_bits(values[i]) >> 24 & SIGN : 0));
	}
}

uint8_t blockfloat_pack(const float values[BLOCKFLOAT], uint8_t bytes[BLOCKFLOAT])
{
	unsigned shared = 0;
	for (int i = 0; i < BLOCKFLOAT; i++)
		if (exponent_of(values[i]) > shared)
			shared = exponent_of(values[i]);
	assert(shared < 255);
	if (shared >= LEAST_SCALED)
		pack_scaled(values, shared, bytes);
	else
		for (int i = 0; i < BLOCKFLOAT; i++)
			bytes[i] = pack_value(values[i], shared);
	return (uint8_t)shared;
}

float blockfloat_value(uint8_t exponent, uint8_t byte)
{
	const float size = ldexpf((float)(byte & MOST), exponent - BIAS - STEP_BITS);
	if (size < FLT_MIN)
		return 0;
	return byte & SIGN ? -size : size;
}
