/*
 * Windows over planes, math side: TRISC1.
 *
 * The first tap of a window goes to tile 0 of the half of Dst, up to three more
 * to tiles 1 to 3; the vector unit keeps the largest in tile 0. ELWADD with the
 * zeros in SrcB moves them, exactly, in the order of faces that store wants: 16
 * pixels of the first plane, 16 of the second, then 16 more of each. The least
 * value, which stands for taps outside of the image, becomes minus infinity in
 * ELWADD, as an infinity of the input stays one; SFPSWAP orders all of them. Taps
 * are counted as window_unpack does (window.h).
 */
#ifndef RUNTIME_DEVICE_WINDOW_MATH_H
#define RUNTIME_DEVICE_WINDOW_MATH_H

#include "runtime/device/math.h"
#include "runtime/device/window.h"

#define TT_MOVE_ROWS(row) TT_I(OP_ELWADD(row, 0, 0, 0, 0))

TT_INLINE void tt_record_move(void)
{
	TT_MODIFIER(0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	TT_I(OP_REPLAY(0, 8, 0, 1));
	TT_MOVE_ROWS(0);
	TT_MOVE_ROWS(8);
	TT_MOVE_ROWS(32);
	TT_MOVE_ROWS(40);
	TT_MOVE_ROWS(16);
	TT_MOVE_ROWS(24);
	TT_MOVE_ROWS(48);
	TT_MOVE_ROWS(56);
}

/* A tap from SrcA to the tile at `row` of Dst. */
TT_INLINE void tt_window_move(uint32_t row)
{
	tt_math_tile(row);
	TT_I(OP_REPLAY(0, 8, 0, 0));
	TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 1));
}

/* The larger of tile 0 and each of `more` tiles behind it, to tile 0. */
TT_INLINE void tt_window_larger(uint32_t row, uint32_t more)
{
	tt_sfpu_begin();
	tt_math_tile(row);
	TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));
	for (uint32_t i = 32; i; i--) {
		TT_I(OP_SFPLOAD(0, 3, 0, 0));
		TT_I(OP_SFPLOAD(64, 3, 0, 1));
		TT_SFPU_ORDER(1, 1, 0);
		if (more > 1) {
			TT_I(OP_SFPLOAD(128, 3, 0, 1));
			TT_SFPU_ORDER(1, 1, 0);
		}
		if (more > 2) {
			TT_I(OP_SFPLOAD(192, 3, 0, 1));
			TT_SFPU_ORDER(1, 1, 0);
		}
		TT_I(OP_SFPSTORE(0, 3, 0, 0));
		TT_I(OP_INCRWC(0, 0, 2, 0));
	}
	tt_sfpu_end();
}

/* The largest of `taps` taps, to the tile at `row`. */
TT_INLINE void tt_window_largest(uint32_t row, uint32_t taps)
{
	tt_window_move(row);
	for (uint32_t left = taps - 1; left;) {
		const uint32_t more = tt_least(left, TT_HALF_TILES - 1);
		for (uint32_t t = 1; t <= more; t++)
			tt_window_move(row + t * TT_TILE_ROWS);
		tt_window_larger(row, more);
		left -= more;
	}
}

TT_ROUTINE void tt_window_math(const TtTiles *p)
{
	uint32_t half = 0;
	tt_math_config();
	tt_math_wide_sources();
	tt_record_move();
	for (uint32_t pair = 0; pair < tt_piece_tiles(p, 0); pair++) {
		const uint32_t channels = tt_act_channels(p, pair);
		for (uint32_t x = 0; x < p->cols; x += TT_TILE) {
			const uint32_t across =
				tt_window_columns(p, x, tt_least(p->cols - x, TT_TILE));
			for (uint32_t y = 0; y < p->rows; y++, half ^= TT_HALF_ROWS) {
				const TtSpan down = tt_window_rows(p, y);
				const uint32_t taps = across * (uint32_t)(down.end - down.first);
				TT_MATH_BEGIN();
				tt_window_largest(half, taps ? taps : 1);
				tt_act(p, half, 1, channels, 0, p->cols - x);
				TT_MATH_END();
			}
		}
	}
	TT_MATH_RELEASE_B();
}

#endif
