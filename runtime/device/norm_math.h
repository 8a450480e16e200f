/*
 * Pixels less the mean of their channel, times a number for each channel, math
 * side: TRISC1.
 *
 * Mean and factor come in SrcB as high and low bf16 and stand as fp32 in tiles 1
 * and 2 of the first half of Dst for two planes; packers only read tile 0. The
 * vector unit makes x * factor - mean * factor, all in fp32: off by 2^-24 of
 * mean * factor, however large the mean.
 */
#ifndef RUNTIME_DEVICE_NORM_MATH_H
#define RUNTIME_DEVICE_NORM_MATH_H

#include "runtime/device/reduce_math.h"
#include "runtime/device/window_math.h"

enum { TT_FACTOR_ROW = 2 * TT_TILE_ROWS };

/* Where the mean was: minus mean times factor, of one plane, even or odd. */
#define TT_NORM_SHIFT(at)                                                                          \
	TT_LOAD(TT_MEAN_ROW + (at), 0);                                                            \
	TT_LOAD(TT_FACTOR_ROW + (at), 1);                                                          \
	TT_SFPU_MAD(0, 0, 1, 9);                                                                   \
	TT_I(OP_SFPMOV(1, 0, 0));                                                                  \
	TT_STORE(TT_MEAN_ROW + (at), 0)

TT_INLINE void tt_norm_begin(void)
{
	tt_math_tile(0);
	TT_MATH_STAT(TT_MEAN_ROW);
	TT_MATH_STAT(TT_FACTOR_ROW);
	tt_sfpu_begin();
	TT_NORM_SHIFT(0);
	TT_NORM_SHIFT(2);
	TT_NORM_SHIFT(TT_SECOND);
	TT_NORM_SHIFT(TT_SECOND + 2);
	tt_sfpu_end();
}

/* Four groups of four pixels of a plane: 16 rows of the tile from `at` on. */
#define TT_NORM_FACE(at)                                                                           \
	do {                                                                                       \
		for (uint32_t g = 4; g; g--) {                                                     \
			TT_LOAD(at, 0);                                                            \
			TT_LOAD((at) + 2, 1);                                                      \
			TT_I(OP_SFPMAD(0, 0, 6, 4, 0));                                            \
			TT_I(OP_SFPMAD(0, 1, 7, 5, 1));                                            \
			TT_STORE(at, 0);                                                           \
			TT_STORE((at) + 2, 1);                                                     \
			TT_I(OP_INCRWC(0, 0, 4, 0));                                               \
		}                                                                                  \
		TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));                                                 \
	} while (0)

#define TT_NORM_PLANE(stat, at)                                                                    \
	do {                                                                                       \
		tt_math_tile(0);                                                                   \
		TT_LOAD(TT_FACTOR_ROW + (stat), 4);                                                \
		TT_LOAD(TT_FACTOR_ROW + (stat) + 2, 5);                                            \
		TT_LOAD(TT_MEAN_ROW + (stat), 6);                                                  \
		TT_LOAD(TT_MEAN_ROW + (stat) + 2, 7);                                              \
		tt_math_tile(half);                                                                \
		TT_NORM_FACE(at);                                                                  \
		TT_NORM_FACE((at) + 32);                                                           \
	} while (0)

TT_INLINE void tt_norm_tile(uint32_t half)
{
	tt_window_move(half);
	tt_sfpu_begin();
	TT_NORM_PLANE(0, 0);
	TT_NORM_PLANE(TT_SECOND, 16);
	tt_sfpu_end();
}

TT_ROUTINE void tt_norm_math(const TtTiles *p)
{
	const uint32_t pairs = p->rows ? tt_piece_tiles(p, 0) : 0;
	uint32_t half = 0;
	tt_math_config();
	tt_record_move();
	TT_MODIFIER(1, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0);
	for (uint32_t pair = 0; pair < pairs; pair++) {
		const uint32_t channels = tt_act_channels(p, pair);
		TtPlace at = tt_place_first();
		tt_norm_begin();
		for (; tt_place_there(p, &at); tt_place_next(p, &at, 1), half ^= TT_HALF_ROWS) {
			TT_MATH_BEGIN();
			tt_norm_tile(half);
			tt_act(p, half, 1, channels, 0, p->cols - at.x);
			TT_MATH_END();
		}
		TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 2));
	}
}

#endif
