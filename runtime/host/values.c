#include "runtime/host/values.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/device/map.h"

static uint16_t bf16_of_f32(uint32_t bits)
{
	const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
	const bool nan = (bits & 0x7fffffff) > 0x7f800000;

	return (uint16_t)((nan ? bits | 0x400000 : rounded) >> 16);
}

/* fp16 as fp32, exactly. */
static uint32_t f32_of_f16(uint32_t half)
{
	const uint32_t sign = (half & 0x8000) << 16, magnitude = half & 0x7fff;
	uint32_t exponent = 113, bits = magnitude << 13;

	if (magnitude >= 0x7c00)
		return sign | 0x70000000 | bits;
	if (magnitude >= 0x400 || !magnitude)
		return sign | (magnitude ? bits + 0x38000000 : 0);
	while (!(bits & 0x800000)) { /* below the smallest normal number: 2^-24 each */
		bits <<= 1;
		exponent--;
	}
	return sign | exponent << 23 | (bits & 0x7fffff);
}

static uint16_t f16_of_bf16(uint32_t bits)
{
	const uint32_t sign = bits & 0x8000, exponent = bits >> 7 & 255;
	const uint32_t value = 0x80 | (bits & 127); /* 8 bits */

	if (exponent == 255)
		return (uint16_t)(sign | 0x7c00 | (bits & 127) << 3);
	if (exponent > 142)
		return (uint16_t)(sign | 0x7c00);
	if (exponent >= 113)
		return (uint16_t)(sign | (exponent - 112) << 10 | (bits & 127) << 3);
	if (exponent < 102)
		return (uint16_t)sign; /* below half of 2^-24 */
	if (exponent >= 110)
		return (uint16_t)(sign | value << (exponent - 110));
	const uint32_t shift = 110 - exponent, half = 1u << (shift - 1);
	return (uint16_t)(sign | (value + half - 1 + (value >> shift & 1)) >> shift);
}

static uint16_t bf16_of_u8(uint8_t value)
{
	const float f = value;
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	return (uint16_t)(bits >> 16);
}

/* `out` of type Out made of each `in` of type In. */
#define EACH(In, in, Out, made) \
	for (size_t i = 0; i < n; i++) { \
		In in; \
		memcpy(&in, (const uint8_t *)from + i * sizeof in, sizeof in); \
		const Out out = made; \
		memcpy((uint8_t *)to + i * sizeof out, &out, sizeof out); \
	}

void values_to_bf16(uint32_t type, const void *from, size_t n, uint8_t *to)
{
	if (type == TT_HOST_F32)
		EACH(uint32_t, bits, uint16_t, bf16_of_f32(bits))
	else if (type == TT_HOST_F16)
		EACH(uint16_t, half, uint16_t, bf16_of_f32(f32_of_f16(half)))
	else
		EACH(uint8_t, byte, uint16_t, bf16_of_u8(byte))
}

void values_of_bf16(uint32_t type, const uint8_t *from, size_t n, void *to)
{
	if (type == TT_HOST_F32)
		EACH(uint16_t, half, uint32_t, (uint32_t)half << 16)
	else
		EACH(uint16_t, half, uint16_t, f16_of_bf16(half))
}
