#include "ir/blockfloat.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum {
	SIGN = 0x80,
	MOST = 0x7f,
	FRACTION_BITS = 23,
	STEP_BITS = 6, /* of 2^exponent in a step */
	BIAS = 127,
};

static uint32_t bits_of(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

static unsigned exponent_of(float f) { return bits_of(f) >> FRACTION_BITS & 0xff; }

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
	const uint32_t fraction = bits_of(f) & ((1u << FRACTION_BITS) - 1);
	uint32_t steps = shift_nearest(1u << FRACTION_BITS | fraction,
				       FRACTION_BITS - STEP_BITS + shared - exponent);
	if (steps > MOST)
		steps = MOST;
	return (uint8_t)(steps | (steps && f < 0 ? SIGN : 0));
}

uint8_t blockfloat_pack(const float values[BLOCKFLOAT], uint8_t bytes[BLOCKFLOAT])
{
	unsigned shared = 0;
	for (int i = 0; i < BLOCKFLOAT; i++)
		if (exponent_of(values[i]) > shared)
			shared = exponent_of(values[i]);
	assert(shared < 255);
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
