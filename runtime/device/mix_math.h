/*
 * A mix (ir/mix_table.h), math side: TRISC1.
 *
 * The tile product of conv_math, with pixels of SrcA in the place of weights:
 * there the planes of a pair stand 32 rows apart and the halves of the run 16, so
 * two address modifiers step the other way round. Where columns stay (`across` 0)
 * pixels are multiplied by one value instead. Sums start from nothing:
 * ZEROACC marks the half of Dst, MVMUL reads such rows as zero (ZEROACC.md); the
 * packers have left it, as TT_MATH_BEGIN waits for.
 */
#ifndef RUNTIME_DEVICE_MIX_MATH_H
#define RUNTIME_DEVICE_MIX_MATH_H

#include "runtime/device/conv_math.h"

#define TT_MIX_ROWS(row, modifier) TT_I(OP_ELWMUL(row, modifier, 2, 0, 0))

/* Pixels times row 0 of SrcB, in the place of the tile product: 8 ELWMULs, faces
 * of Dst in the order store wants them. */
TT_INLINE void tt_record_mix_rows(uint32_t phases)
{
	tt_record_product(phases, 1);
	TT_MODIFIER(0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	TT_MODIFIER(1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0);
	TT_I(OP_REPLAY(16, 8, 0, 1));
	TT_MIX_ROWS(0, 0);
	TT_MIX_ROWS(8, 0);
	TT_MIX_ROWS(32, 0);
	TT_MIX_ROWS(40, 0);
	TT_MIX_ROWS(16, 0);
	TT_MIX_ROWS(24, 0);
	TT_MIX_ROWS(48, 0);
	TT_MIX_ROWS(56, 1);
	tt_mop_sync();
	TT_MOP_WORD(5) = OP_REPLAY(16, 8, 0, 0);
	TT_MOP_WORD(7) = OP_REPLAY(16, 8, 0, 0);
	TT_MOP_WORD(8) = OP_REPLAY(16, 8, 0, 0);
}

TT_INLINE void tt_record_mix(uint32_t phases)
{
	tt_record_product(phases, 1);
	TT_MODIFIER(1, 32, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0);
	TT_MODIFIER(4, 16, 1, 0, 16, 1, 0, 0, 1, 0, 0, 1);
}

TT_ROUTINE void tt_mix_math(const TtTiles *p, uint32_t phases, uint32_t across)
{
	const uint32_t terms = p->kernel_h * p->kernel_w;
	const uint32_t tiles = tt_piece_tiles(p, 0);
	uint32_t half = 0;
	tt_math_config();
	if (across)
		tt_record_mix(phases);
	else
		tt_record_mix_rows(phases);
	for (uint32_t pair = 0; pair < tiles; pair += TT_HALF_TILES) {
		const uint32_t pairs = tt_least(tiles - pair, TT_HALF_TILES);
		const uint32_t channels = tt_act_channels(p, pair);
		TtPlace at = tt_place_first();
		for (; tt_place_there(p, &at); tt_place_next(p, &at, 1), half ^= TT_HALF_ROWS) {
			TT_MATH_BEGIN();
			if (half)
				TT_I(OP_ZEROACC(1, 0, 2));
			else
				TT_I(OP_ZEROACC(0, 0, 2));
			tt_math_wide(half, terms, pairs);
			tt_act(p, half, pairs, channels, 1, p->cols - at.x);
			TT_MATH_END();
		}
	}
}

#endif
