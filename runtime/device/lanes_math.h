/*
 * The largest channel of each pixel, math side: TRISC1.
 *
 * Two planes at a time go to tiles 1 to 3 of the half of Dst, the vector unit
 * keeps the largest in tile 0, as in window_math. The last two planes wait in tile
 * 1: their channels past the tensor's, which hold anything, must not win. Then,
 * for each four pixels, both planes, even and odd channels fall together, and
 * seven rotations of eight lanes (SFPSHFT2, a NOP behind each) leave the largest
 * in all of them. One plane of output has it in all 16 channels.
 *
 * Register 15 holds twice the lane's number; `lanes` is how many channels count in
 * the last plane.
 */
#ifndef RUNTIME_DEVICE_LANES_MATH_H
#define RUNTIME_DEVICE_LANES_MATH_H

#include "runtime/device/reduce_math.h"
#include "runtime/device/window_math.h"

/* Register `to`: plus infinity in lanes of channels that count, else minus; first
 * of the even channels, then of the odd. `last` is the last channel that counts. */
#define TT_LANE_BOUND(to, last)                                                                    \
	do {                                                                                       \
		tt_sfpu_word(to, 15);                                                              \
		TT_I(OP_SFPAND(0, to, 15, 0));                                                     \
		tt_sfpu_word(1, last);                                                             \
		TT_I(OP_SFPIADD(6, to, 1, 0)); /* last - channel: below 0 past it */               \
		TT_SFPU_CONSTANT(1, 0x80000000u);                                                  \
		TT_I(OP_SFPAND(0, to, 1, 0));                                                      \
		TT_SFPU_CONSTANT(1, 0x7f800000u);                                                  \
		TT_I(OP_SFPOR(0, to, 1, 0));                                                       \
	} while (0)

/* Larger of register 0 and the values at `at`, to register 0. */
#define TT_LANE_LARGER(at)                                                                         \
	TT_LOAD(at, 1);                                                                            \
	TT_SFPU_ORDER(1, 1, 0)

/* The same, no more than what register `bound` allows. */
#define TT_LANE_BOUNDED(at, bound)                                                                 \
	TT_LOAD(at, 1);                                                                            \
	TT_I(OP_SFPMOV(0, 2, bound));                                                              \
	TT_SFPU_ORDER(1, 1, 2);                                                                    \
	TT_SFPU_ORDER(1, 1, 0)

#define TT_LANE_ROTATE(to, from)                                                                   \
	TT_I(OP_SFPSHFT2(3, to, from, 0));                                                         \
	TT_I(OP_SFPNOP())

/* Register 0: the largest of each eight lanes, in all of them. */
TT_INLINE void tt_lanes_spread(void)
{
	TT_LANE_ROTATE(1, 0);
	TT_SFPU_ORDER(1, 1, 0);
	TT_LANE_ROTATE(1, 0);
	TT_LANE_ROTATE(1, 1);
	TT_SFPU_ORDER(1, 1, 0);
	TT_LANE_ROTATE(1, 0);
	TT_LANE_ROTATE(1, 1);
	TT_LANE_ROTATE(1, 1);
	TT_LANE_ROTATE(1, 1);
	TT_SFPU_ORDER(1, 1, 0);
}

/* Four pixels: rows 0 to 3 of tile 0 and of tile 1, and 16 behind them. Registers
 * 6 and 7 bound the channels of the last plane. */
TT_INLINE void tt_lanes_four(uint32_t more, uint32_t odd)
{
	TT_SFPU_CONSTANT(0, 0xff800000u);
	TT_LANE_BOUNDED(TT_TILE_ROWS + 16, 6);
	TT_LANE_BOUNDED(TT_TILE_ROWS + 18, 7);
	if (!odd) {
		TT_LANE_LARGER(TT_TILE_ROWS);
		TT_LANE_LARGER(TT_TILE_ROWS + 2);
	}
	if (more) {
		TT_LANE_LARGER(0);
		TT_LANE_LARGER(2);
		TT_LANE_LARGER(16);
		TT_LANE_LARGER(18);
	}
	tt_lanes_spread();
	TT_STORE(0, 0);
	TT_STORE(2, 0);
	TT_I(OP_INCRWC(0, 0, 4, 0));
}

/* Tile 0 of the half: all but the last two planes; tile 1: those. */
TT_INLINE void tt_lanes_all(const TtTiles *p, uint32_t half, uint32_t more)
{
	tt_sfpu_begin();
	tt_math_tile(half);
	TT_LANE_BOUND(6, p->lanes - 1);
	TT_LANE_BOUND(7, p->lanes - 2);
	for (uint32_t i = 0; i < 8; i++) {
		if (i == 4) { /* past the second plane's pixels */
			TT_I(OP_INCRWC(0, 0, 8, 0));
			TT_I(OP_INCRWC(0, 0, 8, 0));
		}
		tt_lanes_four(more, p->in_planes[0] & 1);
	}
	tt_sfpu_end();
}

TT_ROUTINE void tt_lanes_math(const TtTiles *p)
{
	const uint32_t pairs = tt_piece_tiles(p, 0);
	uint32_t half = 0;
	tt_math_config();
	tt_record_move();
	for (uint32_t i = (p->cols + TT_TILE - 1) / TT_TILE * p->rows; i; i--) {
		TT_MATH_BEGIN();
		if (pairs > 1)
			tt_window_largest(half, pairs - 1);
		tt_window_move(half + TT_TILE_ROWS);
		tt_lanes_all(p, half, pairs > 1);
		TT_MATH_END();
		half ^= TT_HALF_ROWS;
	}
	TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 2));
}

#endif
