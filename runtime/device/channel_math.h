/*
 * Sums over taps with a weight of its own for each channel, math side: TRISC1.
 *
 * Bias starts the sum: MOVB2D writes its row to the tile, 8 rows at a time, so
 * Dst is never cleared and SrcA is not needed. Sources are told to be TF32, which
 * bf16 is a part of, since only then does MOVB2D write 32 bits (MOVB2D.md).
 * Then 8 ELWMULs a tap and phase, pixels of SrcA times a row of SrcB; recorded
 * once, replayed by a MOP. Faces of Dst are in the order store wants them: 16
 * pixels of the first plane, 16 of the second, then 16 more of each.
 *
 * Rows of weights are 8 apart in SrcB, of bias and taps alike: the last ELWMUL of
 * a tap goes on to the next pair. The tile's end goes back to the first.
 */
#ifndef RUNTIME_DEVICE_CHANNEL_MATH_H
#define RUNTIME_DEVICE_CHANNEL_MATH_H

#include "runtime/device/math.h"

#define TT_SPREAD_ROW(row, modifier)          TT_I(OP_MOVB2D(row, 2, modifier, 0, 0))
#define TT_SCALE_ROWS(row, modifier, release) TT_I(OP_ELWMUL(row, modifier, 2, 0, release))

#define TT_SCALE_TILE(last, release)                                                               \
	TT_SCALE_ROWS(0, 0, 0);                                                                    \
	TT_SCALE_ROWS(8, 0, 0);                                                                    \
	TT_SCALE_ROWS(32, 0, 0);                                                                   \
	TT_SCALE_ROWS(40, 1, 0);                                                                   \
	TT_SCALE_ROWS(16, 0, 0);                                                                   \
	TT_SCALE_ROWS(24, 0, 0);                                                                   \
	TT_SCALE_ROWS(48, 0, 0);                                                                   \
	TT_SCALE_ROWS(56, last, release)

/* Bias in replay slots 0 to 7, a phase in 8 to 15, a tap's last in 16 to 23. */
TT_INLINE void tt_record_channel(uint32_t phases)
{
	TT_MODIFIER(0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	TT_MODIFIER(1, 8, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0);
	TT_MODIFIER(2, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0);
	TT_MODIFIER(3, 0, 0, 1, 16, 1, 0, 0, 0, 0, 0, 0);
	TT_I(OP_REPLAY(0, 8, 0, 1));
	TT_SPREAD_ROW(0, 0);
	TT_SPREAD_ROW(8, 0);
	TT_SPREAD_ROW(32, 0);
	TT_SPREAD_ROW(40, 1);
	TT_SPREAD_ROW(16, 0);
	TT_SPREAD_ROW(24, 0);
	TT_SPREAD_ROW(48, 0);
	TT_SPREAD_ROW(56, 3);
	TT_I(OP_REPLAY(8, 8, 0, 1));
	TT_SCALE_TILE(2, 0);
	TT_I(OP_REPLAY(16, 8, 0, 1));
	TT_SCALE_TILE(3, 1);
	tt_mop_sync();
	TT_MOP_WORD(0) = 1;
	TT_MOP_WORD(1) = phases;
	TT_MOP_WORD(2) = OP_NOP();
	TT_MOP_WORD(3) = OP_SETRWC(8, 0, 0, 0, 0, 0);
	TT_MOP_WORD(4) = OP_NOP();
	TT_MOP_WORD(5) = OP_REPLAY(8, 8, 0, 0);
	TT_MOP_WORD(6) = OP_NOP();
	TT_MOP_WORD(7) = OP_REPLAY(16, 8, 0, 0);
	TT_MOP_WORD(8) = OP_REPLAY(16, 8, 0, 0);
}

/* What one load of SrcB holds, for `held` tiles from `row` of Dst on. */
TT_INLINE void tt_channel_load(uint32_t row, uint32_t held, uint32_t bias, uint32_t taps)
{
	for (; held; held--, row += TT_TILE_ROWS) {
		tt_math_tile(row);
		if (bias)
			TT_I(OP_REPLAY(0, 8, 0, 0));
		for (uint32_t i = taps; i; i--)
			TT_I(OP_MOP(1, 0, 0));
		TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 0));
	}
}

TT_ROUTINE void tt_channel_math(const TtTiles *p, uint32_t phases)
{
	const uint32_t pairs = p->kernel_h * p->kernel_w + 1, stays = pairs <= TT_PAIRS;
	uint32_t half = 0;
	tt_math_config();
	tt_math_wide_sources();
	tt_record_channel(phases);
	for (uint32_t g = 0; g < p->groups; g++) {
		const uint32_t channels = tt_act_channels(p, g);
		TtPlace to = tt_place_first();
		for (; tt_place_there(p, &to); tt_place_next(p, &to, TT_HALF_TILES)) {
			const uint32_t held = tt_least(p->rows - to.y, TT_HALF_TILES);
			TT_MATH_BEGIN();
			for (uint32_t at = 0; at < pairs; at += TT_PAIRS) {
				const uint32_t here = tt_least(pairs - at, TT_PAIRS);
				tt_channel_load(half, held, !at, at ? here : here - 1);
				if (!stays)
					TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 2));
			}
			tt_act(p, half, held, channels, 0, p->cols - to.x);
			TT_MATH_END();
			half ^= TT_HALF_ROWS;
		}
		if (stays && p->rows)
			TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 2));
	}
}

#endif
