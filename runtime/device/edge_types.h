/*
 * Values of host tensors to bf16 and back, by RISC-Vs: the 16 upper bits of an
 * fp32 number. Nothing here divides or multiplies.
 */
#ifndef RUNTIME_DEVICE_EDGE_TYPES_H
#define RUNTIME_DEVICE_EDGE_TYPES_H

#include "runtime/device/tiles.h"

TT_INLINE uint32_t tt_l1_half(uint32_t at)
{
	return *(volatile uint16_t *)(uintptr_t)at;
}

TT_INLINE uint32_t tt_l1_byte(uint32_t at)
{
	return *(volatile uint8_t *)(uintptr_t)at;
}

/* fp32 to bf16, to nearest, ties to even; a NaN stays one. */
static inline uint32_t tt_round_bf16(uint32_t bits)
{
	if ((bits & 0x7fffffff) > 0x7f800000)
		return bits >> 16 | 0x40;
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* fp16 as fp32, exactly. */
static inline uint32_t tt_widen_f16(uint32_t half)
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

/* bf16 as fp16: too large is infinite, too small rounds to nearest, ties to even. */
static inline uint32_t tt_f16_of_bf16(uint32_t bits)
{
	const uint32_t sign = bits & 0x8000, exponent = bits >> 7 & 255;
	const uint32_t value = 0x80 | (bits & 127); /* 8 bits */
	if (exponent == 255)
		return sign | 0x7c00 | (bits & 127) << 3;
	if (exponent > 142)
		return sign | 0x7c00;
	if (exponent >= 113)
		return sign | (exponent - 112) << 10 | (bits & 127) << 3;
	if (exponent < 102)
		return sign; /* below half of 2^-24 */
	if (exponent >= 110)
		return sign | value << (exponent - 110);
	const uint32_t shift = 110 - exponent, half = 1u << (shift - 1);
	return sign | (value + half - 1 + (value >> shift & 1)) >> shift;
}

/* A whole number below 256. */
static inline uint32_t tt_bf16_of_u8(uint32_t value)
{
	uint32_t exponent = 134;
	if (!value)
		return 0;
	while (!(value & 0x80)) {
		value <<= 1;
		exponent--;
	}
	return exponent << 7 | (value & 0x7f);
}

/* The element at `at`, as bf16. */
TT_INLINE uint32_t tt_host_value(uint32_t host, uint32_t at)
{
	if (host == TT_HOST_F32)
		return tt_round_bf16(*tt_l1(at));
	if (host == TT_HOST_BF16)
		return tt_l1_half(at);
	if (host == TT_HOST_F16)
		return tt_round_bf16(tt_widen_f16(tt_l1_half(at)));
	return tt_bf16_of_u8(tt_l1_byte(at));
}

/* The fp32 number `bits`, of 8 bits of mantissa at most, to an element. */
TT_INLINE void tt_host_set(uint32_t host, uint32_t at, uint32_t bits)
{
	if (host == TT_HOST_F32)
		*tt_l1(at) = bits;
	else if (host == TT_HOST_BF16)
		*(volatile uint16_t *)(uintptr_t)at = (uint16_t)(bits >> 16);
	else
		*(volatile uint16_t *)(uintptr_t)at = (uint16_t)tt_f16_of_bf16(bits >> 16);
}

#endif
