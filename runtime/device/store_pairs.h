/*
 * The store of a 2x2 transposed conv of stride 2: TRISC2.
 *
 * Such a conv is four 1x1 products. A group holds the two column phases of one
 * output tile and row phase, as tiles 0 and 1 of the half of Dst; the packers
 * write them pixel by pixel, in turn: one row of 16 values each time, z from tile
 * to tile, y from position to position. Packer 0 has the first plane, packer 1
 * the second. 16 positions at a time, so that a row ends where it should. In fp32 a
 * tile is more bytes than a step of z has: a step is half of it, and z is set.
 */
#ifndef RUNTIME_DEVICE_STORE_PAIRS_H
#define RUNTIME_DEVICE_STORE_PAIRS_H

#include "runtime/device/store.h"

/* The first of a pair; z is at the second then. */
#define TT_PACK_FIRST(packers, halves)                                                             \
	do {                                                                                       \
		TT_I(OP_PACR(0, 0, 0, 0, packers, 0, 0));                                          \
		if (halves)                                                                        \
			TT_I(OP_SETADCZW(1, 2, 0, 0, 0, 4));                                       \
	} while (0)

/* `count` pairs; the last value closes the tile and clears y and z. */
#define TT_PACK_PAIRS(packers, count, halves)                                                      \
	do {                                                                                       \
		for (uint32_t left = (count)-1; left; left--) {                                    \
			TT_PACK_FIRST(packers, halves);                                            \
			TT_I(OP_PACR(0, 0, 0, 0, packers, 0, 3));                                  \
		}                                                                                  \
		TT_PACK_FIRST(packers, halves);                                                    \
		TT_I(OP_PACR(1, 0, 0, 0, packers, 0, 1));                                          \
	} while (0)

TT_INLINE void tt_store_pairs_config(const TtTiles *p, uint32_t out_type, uint32_t relu)
{
	const uint32_t format = tt_format(out_type);
	const uint32_t step = tt_places(format, p->out_height * p->out_pitch);
	tt_pack_config(format, relu, format == TT_FP32 ? 512 : 1024, 4096);
	tt_pack_places(step, 1, 1 + step, 16, 32);
	TT_I(OP_SETC16(TT_FIELD(ADDR_MOD_PACK_SEC0_ZsrcIncr, 1),
		       TT_AT_ADDR_MOD_PACK_SEC0_YsrcIncr));
	TT_I(OP_SETC16(TT_FIELD(ADDR_MOD_PACK_SEC1_YsrcClear, 1) |
			       TT_FIELD(ADDR_MOD_PACK_SEC1_YdstClear, 1) |
			       TT_FIELD(ADDR_MOD_PACK_SEC1_ZsrcClear, 1),
		       TT_AT_ADDR_MOD_PACK_SEC1_YsrcIncr));
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_PACK_SEC2_YsrcIncr));
	TT_I(OP_SETC16(TT_FIELD(ADDR_MOD_PACK_SEC3_YsrcIncr, 1) |
			       TT_FIELD(ADDR_MOD_PACK_SEC3_ZsrcClear, 1),
		       TT_AT_ADDR_MOD_PACK_SEC3_YsrcIncr));
	TT_I(OP_SETADCXX(0, 15, 4));
	tt_pack_sections();
}

/* Positions x to x + count - 1, at most 16, of the half's pixels from `row` on. */
TT_INLINE void tt_store_run(const TtTiles *p, uint32_t format, uint32_t pixel, uint32_t two,
			    uint32_t row, uint32_t count)
{
	tt_pack_to(p, format, pixel, p->out_height * p->out_pitch, 0);
	if (two)
		TT_I(OP_PACR(0, 1, 0, 0, 3, 0, 2));
	else
		TT_I(OP_PACR(0, 1, 0, 0, 1, 0, 2));
	TT_PUSH(OP_SETADC(row, 1, 0, 4));
	if (two)
		TT_PACK_PAIRS(3, count, format == TT_FP32);
	else
		TT_PACK_PAIRS(1, count, format == TT_FP32);
}

/* Group g of an image whose first plane is `image`; returns the half that is next. */
TT_INLINE uint32_t tt_store_pairs_group(const TtTiles *p, uint32_t format, uint32_t g,
					uint32_t image, uint32_t half)
{
	const uint32_t plane = g & ~1u, two = plane + 1 < p->out_planes;
	for (uint32_t x = 0; x < p->cols; x += TT_TILE) {
		const uint32_t count = tt_least(p->cols - x, TT_TILE);
		for (uint32_t y = 0; y < p->rows; y++, half ^= 1) {
			const uint32_t pixel =
				tt_out_pixel(p, image + plane, 2 * y + (g & 1), 2 * x);
			TT_PACK_BEGIN();
			TT_PUSH(OP_SETADC(half, 3, 0, 4));
			tt_store_run(p, format, pixel, two, 0, tt_least(count, 16));
			if (count > 16)
				tt_store_run(p, format, pixel + 32, two, 32, count - 16);
			TT_PACK_END();
		}
	}
	return half;
}

TT_ROUTINE void tt_store_pairs(const TtTiles *p, uint32_t out_type, uint32_t relu)
{
	uint32_t half = 0;
	tt_store_pairs_config(p, out_type, relu);
	for (uint32_t g = 0; g < p->groups; g++)
		for (uint32_t i = 0; i <= p->more_images; i++)
			half = tt_store_pairs_group(p, tt_format(out_type), g, i * p->out_image,
						    half);
}

#endif
