/*
 * The largest channel of each pixel, or the sum of all, math side: TRISC1.
 *
 * Two planes at a time fall together in tile 0 of the half of Dst: the largest by
 * tiles 1 to 3 and the vector unit, as in window_math, sums by ELWADD in fp32. The
 * last two planes wait in tile 1: their channels past the tensor's, which hold
 * anything, must neither win nor count. Then, for each four pixels, both planes,
 * even and odd channels fall together, and seven rotations of eight lanes
 * (SFPSHFT2, a NOP behind each) leave the result in all of them. One plane of
 * output has it in all 16 channels.
 *
 * Register 15 holds twice the lane's number; `lanes` is how many channels count in
 * the last plane.
 */
#ifndef RUNTIME_DEVICE_LANES_MATH_H
#define RUNTIME_DEVICE_LANES_MATH_H

#include "runtime/device/reduce_math.h"
#include "runtime/device/window_math.h"

/* Register `to`: below 0 in lanes of channels past `last`, first of the even
 * channels, then of the odd. */
#define TT_LANE_PAST(to, last)                                                                     \
	tt_sfpu_word(to, 15);                                                                      \
	TT_I(OP_SFPAND(0, to, 15, 0));                                                             \
	tt_sfpu_word(1, last);                                                                     \
	TT_I(OP_SFPIADD(6, to, 1, 0))

/* Plus infinity in lanes that count, else minus: no more than that may be. */
#define TT_LANE_BOUND(to)                                                                          \
	TT_SFPU_CONSTANT(1, 0x80000000u);                                                          \
	TT_I(OP_SFPAND(0, to, 1, 0));                                                              \
	TT_SFPU_CONSTANT(1, 0x7f800000u);                                                          \
	TT_I(OP_SFPOR(0, to, 1, 0))

/* All ones in lanes that count, else 0. */
#define TT_LANE_MASK(to)                                                                           \
	TT_I(OP_SFPSHFT(1, to, 0, -31));                                                           \
	TT_I(OP_SFPIADD(5, to, to, -1))

/* Registers 6 and 7: what even and odd channels of the last plane are held to. */
TT_INLINE void tt_lanes_bounds(uint32_t lanes, uint32_t sum)
{
	TT_LANE_PAST(6, lanes - 1);
	TT_LANE_PAST(7, lanes - 2);
	if (sum) {
		TT_LANE_MASK(6);
		TT_LANE_MASK(7);
	} else {
		TT_LANE_BOUND(6);
		TT_LANE_BOUND(7);
	}
}

/* Register 1 joins register 0. */
#define TT_LANE_JOIN(sum)                                                                          \
	if (sum) {                                                                                 \
		TT_SFPU_MAD(0, 1, 10, 0);                                                          \
	} else {                                                                                   \
		TT_SFPU_ORDER(1, 1, 0);                                                            \
	}

/* The values at `at` join register 0. */
#define TT_LANE_TAKE(at, sum)                                                                      \
	TT_LOAD(at, 1);                                                                            \
	TT_LANE_JOIN(sum)

/* The same of the last plane, as register `bound` says. */
#define TT_LANE_TAKE_LAST(at, bound, sum)                                                          \
	TT_LOAD(at, 1);                                                                            \
	if (sum) {                                                                                 \
		TT_I(OP_SFPAND(0, 1, bound, 0));                                                   \
	} else {                                                                                   \
		TT_I(OP_SFPMOV(0, 2, bound));                                                      \
		TT_SFPU_ORDER(1, 1, 2);                                                            \
	}                                                                                          \
	TT_LANE_JOIN(sum)

#define TT_LANE_ROTATE(to, from)                                                                   \
	TT_I(OP_SFPSHFT2(3, to, from, 0));                                                         \
	TT_I(OP_SFPNOP())

/* Register 0: the result of each eight lanes, in all of them. */
TT_INLINE void tt_lanes_spread(uint32_t sum)
{
	TT_LANE_ROTATE(1, 0);
	TT_LANE_JOIN(sum);
	TT_LANE_ROTATE(1, 0);
	TT_LANE_ROTATE(1, 1);
	TT_LANE_JOIN(sum);
	TT_LANE_ROTATE(1, 0);
	TT_LANE_ROTATE(1, 1);
	TT_LANE_ROTATE(1, 1);
	TT_LANE_ROTATE(1, 1);
	TT_LANE_JOIN(sum);
}

/* Four pixels: rows 0 to 3 of tile 0 and of tile 1, and 16 behind them. */
TT_INLINE void tt_lanes_four(uint32_t more, uint32_t odd, uint32_t sum)
{
	if (sum)
		TT_I(OP_SFPMOV(0, 0, 9));
	else
		TT_I(OP_SFPLOADI(0xff80, 0, 0)); /* bf16: minus infinity */
	TT_LANE_TAKE_LAST(TT_TILE_ROWS + 16, 6, sum);
	TT_LANE_TAKE_LAST(TT_TILE_ROWS + 18, 7, sum);
	if (!odd) {
		TT_LANE_TAKE(TT_TILE_ROWS, sum);
		TT_LANE_TAKE(TT_TILE_ROWS + 2, sum);
	}
	if (more) {
		TT_LANE_TAKE(0, sum);
		TT_LANE_TAKE(2, sum);
		TT_LANE_TAKE(16, sum);
		TT_LANE_TAKE(18, sum);
	}
	tt_lanes_spread(sum);
	TT_STORE(0, 0);
	TT_STORE(2, 0);
	TT_I(OP_INCRWC(0, 0, 4, 0));
}

/* Tile 0 of the half: all but the last two planes; tile 1: those. */
TT_INLINE void tt_lanes_all(const TtTiles *p, uint32_t half, uint32_t more, uint32_t sum)
{
	tt_sfpu_begin();
	tt_math_tile(half);
	tt_lanes_bounds(p->lanes, sum);
	for (uint32_t i = 0; i < 8; i++) {
		if (i == 4) { /* past the second plane's pixels */
			TT_I(OP_INCRWC(0, 0, 8, 0));
			TT_I(OP_INCRWC(0, 0, 8, 0));
		}
		tt_lanes_four(more, p->in_planes[0] & 1, sum);
	}
	tt_sfpu_end();
}

/* Replay slots 8 to 15: as 0 to 7, onto what is there. */
#define TT_ONTO_ROWS(row) TT_I(OP_ELWADD(row, 0, 0, 1, 0))

TT_INLINE void tt_record_onto(void)
{
	TT_I(OP_REPLAY(8, 8, 0, 1));
	TT_ONTO_ROWS(0);
	TT_ONTO_ROWS(8);
	TT_ONTO_ROWS(32);
	TT_ONTO_ROWS(40);
	TT_ONTO_ROWS(16);
	TT_ONTO_ROWS(24);
	TT_ONTO_ROWS(48);
	TT_ONTO_ROWS(56);
}

TT_INLINE void tt_lanes_add(uint32_t row, uint32_t pairs)
{
	tt_window_move(row);
	for (; pairs > 1; pairs--) {
		TT_I(OP_REPLAY(8, 8, 0, 0));
		TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 1));
	}
}

TT_ROUTINE void tt_lanes_math(const TtTiles *p, uint32_t sum)
{
	const uint32_t pairs = tt_piece_tiles(p, 0);
	uint32_t half = 0;
	tt_math_config();
	tt_record_move();
	tt_record_onto();
	TtPlace at = tt_place_first();
	for (; tt_place_there(p, &at); tt_place_next(p, &at, 1)) {
		TT_MATH_BEGIN();
		if (pairs > 1 && sum)
			tt_lanes_add(half, pairs - 1);
		else if (pairs > 1)
			tt_window_largest(half, pairs - 1);
		tt_window_move(half + TT_TILE_ROWS);
		tt_lanes_all(p, half, pairs > 1, sum);
		tt_act(p, half, 1, 16, 0, p->cols - at.x);
		TT_MATH_END();
		half ^= TT_HALF_ROWS;
	}
	TT_MATH_RELEASE_B();
}

#endif
