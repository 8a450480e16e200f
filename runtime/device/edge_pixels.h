/*
 * Rows of host tensors to words of pixels and back, by a RISC-V.
 *
 * A pixel of a plane is 8 words of two channels, a word of a row is two pixels of
 * one channel: two words of rows are two words of pixels. Loads and stores are
 * what takes time, so all are whole words, and 8 pixels are loaded before the
 * first is used. In a tensor of fp32 a word is one value.
 */
#ifndef RUNTIME_DEVICE_EDGE_PIXELS_H
#define RUNTIME_DEVICE_EDGE_PIXELS_H

#include "runtime/device/tiles.h"

enum { TT_EDGE_TURN = 8, TT_PIXEL_BYTES = 32 };

/* The lower halves of two words, and the upper ones. */
TT_INLINE uint32_t tt_lower_halves(uint32_t a, uint32_t b)
{
	return (a & 0xffff) | b << 16;
}

TT_INLINE uint32_t tt_upper_halves(uint32_t a, uint32_t b)
{
	return a >> 16 | (b & 0xffff0000u);
}

/* Two pixels of rows `even` and `odd`, to the word of each at `to`. */
TT_INLINE void tt_edge_two_in(uint32_t even, uint32_t odd, uint32_t to)
{
	*tt_l1(to) = tt_lower_halves(even, odd);
	*tt_l1(to + TT_PIXEL_BYTES) = tt_upper_halves(even, odd);
}

/*
 * `pixels` of two rows of a channel, to one word of each pixel. Without `both` the
 * second channel is 0.
 */
TT_INLINE void tt_edge_words_in(uint32_t even, uint32_t odd, uint32_t both, uint32_t to,
				uint32_t pixels)
{
	const uint32_t end = even + 2 * (pixels & ~(TT_EDGE_TURN - 1u));
	for (; even != end; even += 16, odd += 16, to += TT_EDGE_TURN * TT_PIXEL_BYTES) {
		const uint32_t a0 = *tt_l1(even), a1 = *tt_l1(even + 4);
		const uint32_t a2 = *tt_l1(even + 8), a3 = *tt_l1(even + 12);
		const uint32_t b0 = both ? *tt_l1(odd) : 0, b1 = both ? *tt_l1(odd + 4) : 0;
		const uint32_t b2 = both ? *tt_l1(odd + 8) : 0, b3 = both ? *tt_l1(odd + 12) : 0;
		tt_edge_two_in(a0, b0, to);
		tt_edge_two_in(a1, b1, to + 2 * TT_PIXEL_BYTES);
		tt_edge_two_in(a2, b2, to + 4 * TT_PIXEL_BYTES);
		tt_edge_two_in(a3, b3, to + 6 * TT_PIXEL_BYTES);
	}
	for (uint32_t left = pixels & (TT_EDGE_TURN - 1); left; even += 4, odd += 4) {
		const uint32_t a = *tt_l1(even), b = both ? *tt_l1(odd) : 0;
		*tt_l1(to) = tt_lower_halves(a, b);
		if (left == 1)
			break;
		*tt_l1(to + TT_PIXEL_BYTES) = tt_upper_halves(a, b);
		to += 2 * TT_PIXEL_BYTES;
		left -= 2;
	}
}

/* The word of two pixels, to a word of rows `even` and, with `both`, `odd`. */
TT_INLINE void tt_edge_two_out(uint32_t first, uint32_t second, uint32_t even, uint32_t odd,
			       uint32_t both)
{
	*tt_l1(even) = tt_lower_halves(first, second);
	if (both)
		*tt_l1(odd) = tt_upper_halves(first, second);
}

/* The way back; a last word that is half full ends with a zero. */
TT_INLINE void tt_edge_words_out(uint32_t from, uint32_t even, uint32_t odd, uint32_t both,
				 uint32_t pixels)
{
	const uint32_t end = even + 2 * (pixels & ~(TT_EDGE_TURN - 1u));
	for (; even != end; even += 16, odd += 16, from += TT_EDGE_TURN * TT_PIXEL_BYTES) {
		const uint32_t p0 = *tt_l1(from), p1 = *tt_l1(from + TT_PIXEL_BYTES);
		const uint32_t p2 = *tt_l1(from + 2 * TT_PIXEL_BYTES);
		const uint32_t p3 = *tt_l1(from + 3 * TT_PIXEL_BYTES);
		const uint32_t p4 = *tt_l1(from + 4 * TT_PIXEL_BYTES);
		const uint32_t p5 = *tt_l1(from + 5 * TT_PIXEL_BYTES);
		const uint32_t p6 = *tt_l1(from + 6 * TT_PIXEL_BYTES);
		const uint32_t p7 = *tt_l1(from + 7 * TT_PIXEL_BYTES);
		tt_edge_two_out(p0, p1, even, odd, both);
		tt_edge_two_out(p2, p3, even + 4, odd + 4, both);
		tt_edge_two_out(p4, p5, even + 8, odd + 8, both);
		tt_edge_two_out(p6, p7, even + 12, odd + 12, both);
	}
	for (uint32_t left = pixels & (TT_EDGE_TURN - 1); left; even += 4, odd += 4) {
		const uint32_t last = left == 1;
		tt_edge_two_out(*tt_l1(from), last ? 0 : *tt_l1(from + TT_PIXEL_BYTES), even, odd,
				both);
		from += 2 * TT_PIXEL_BYTES;
		left -= last ? 1 : 2;
	}
}

/* `pixels` of one channel of fp32, to a row. */
TT_INLINE void tt_edge_fp32_out(uint32_t from, uint32_t to, uint32_t pixels)
{
	enum { STEP = 2 * TT_PIXEL_BYTES };
	const uint32_t end = to + 4 * (pixels & ~(TT_EDGE_TURN - 1u));
	for (; to != end; to += 4 * TT_EDGE_TURN, from += TT_EDGE_TURN * STEP) {
		const uint32_t p0 = *tt_l1(from), p1 = *tt_l1(from + STEP);
		const uint32_t p2 = *tt_l1(from + 2 * STEP), p3 = *tt_l1(from + 3 * STEP);
		const uint32_t p4 = *tt_l1(from + 4 * STEP), p5 = *tt_l1(from + 5 * STEP);
		const uint32_t p6 = *tt_l1(from + 6 * STEP), p7 = *tt_l1(from + 7 * STEP);
		*tt_l1(to) = p0;
		*tt_l1(to + 4) = p1;
		*tt_l1(to + 8) = p2;
		*tt_l1(to + 12) = p3;
		*tt_l1(to + 16) = p4;
		*tt_l1(to + 20) = p5;
		*tt_l1(to + 24) = p6;
		*tt_l1(to + 28) = p7;
	}
	for (uint32_t left = pixels & (TT_EDGE_TURN - 1); left; left--, to += 4, from += STEP)
		*tt_l1(to) = *tt_l1(from);
}

TT_INLINE uint32_t tt_l1_byte(uint32_t at)
{
	return *(volatile uint8_t *)(uintptr_t)at;
}

/* A value of bfp8_b as bf16: sign, 7 bits without a hidden one, the exponent of 16. */
static inline uint32_t tt_bf16_of_bfp8(uint32_t byte, uint32_t exponent)
{
	uint32_t value = byte & 127;
	if (!value)
		return 0;
	while (!(value & 64) && exponent) {
		value <<= 1;
		exponent--;
	}
	return (byte & 128) << 8 | exponent << 7 | (value & 63) << 1;
}

/* `pixels` of one channel: exponents at `exponents`, values 16 apart, to a row. */
TT_INLINE void tt_edge_bytes_out(uint32_t exponents, uint32_t values, uint32_t to, uint32_t pixels)
{
	for (; pixels; exponents += 2, values += 32, to += 4) {
		uint32_t word = tt_bf16_of_bfp8(tt_l1_byte(values), tt_l1_byte(exponents));
		if (pixels > 1)
			word |= tt_bf16_of_bfp8(tt_l1_byte(values + 16), tt_l1_byte(exponents + 1))
				<< 16;
		*tt_l1(to) = word;
		pixels -= pixels > 1 ? 2 : 1;
	}
}

#endif
