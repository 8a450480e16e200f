/*
 * Two tensors of any broadcast, side by side in Dst, unpack side: TRISC0.
 *
 * Layout. Pieces 0 and 1 are operands A and B; either may have one channel, one
 * column or one row for all (operand.h). Up to 2 rows of positions are worked on
 * at a time: SrcB gets A's, then B's; SrcA is cleared once and stays, so that
 * ELWADD moves SrcB to Dst.
 *
 * Both operands come through unpacker 1, which is told where to read from and what
 * in between: TT_FOR_UNPACK before, since it may still read, TT_FOR_THCON behind.
 * Its z stride is 16 rows of bf16, 32 of bfp8_b.
 *
 * Cycles a tile, bf16: 4096 bytes at 64 a cycle, 64, and about 20 for each change
 * of operand, that is 20 a tile; the vector unit takes 200 to 700 (pair_math.h).
 */
#ifndef RUNTIME_DEVICE_PAIR_UNPACK_H
#define RUNTIME_DEVICE_PAIR_UNPACK_H

#include "runtime/device/operand.h"

TT_INLINE void tt_pair_piece_words(const TtTiles *p, uint32_t s, uint32_t format)
{
	const uint32_t g = TT_G_PIECE + 4 * s;
	TT_GPR(g) = tt_l1_16(p->in[s]);
	TT_GPR(g + 1) = tt_descriptor_x(format, 16 * p->in_pitch[s]);
	TT_GPR(g + 2) = tt_descriptor_yz(p->in_height[s], p->in_total[s]);
	TT_GPR(g + 3) = format | TT_FIELD(THCON_SEC1_REG2_Throttle_mode, 2);
}

TT_INLINE void tt_pair_unpack_config(const TtTiles *p, uint32_t a_type, uint32_t b_type)
{
	tt_unpack_config(TT_BF16, TT_BFP8_B);
	tt_pair_piece_words(p, 0, tt_format(a_type));
	tt_pair_piece_words(p, 1, tt_format(b_type));
	TT_STALL(TT_HOLD_UNPACK | TT_HOLD_THCON, TT_FOR_STORES);
	TT_I(OP_UNPACR_NOP(1, 0));
	TT_I(OP_UNPACR_NOP(7, 0));
}

/* Operand s of `held` rows of positions from (x, y) on. */
TT_INLINE void tt_pair_operand(const TtTiles *p, uint32_t s, uint32_t type, uint32_t image,
			       uint32_t plane, uint32_t x, uint32_t y, uint32_t held)
{
	const uint32_t g = TT_G_PIECE + 4 * s;
	TT_STALL(TT_HOLD_THCON, TT_FOR_UNPACK);
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG3_Base_address, g));
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG0_TileDescriptor, g + 1));
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG0_TileDescriptor + 1, g + 2));
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG2_Out_data_format, g + 3));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
	for (uint32_t h = 0; h < held; h++)
		tt_runs_to_b(tt_operand(p, s, image, plane, x, y + h), type == 1);
}

TT_ROUTINE void tt_pair_unpack(const TtTiles *p, uint32_t a_type, uint32_t b_type)
{
	tt_pair_unpack_config(p, a_type, b_type);
	for (uint32_t plane = 0; plane < p->out_planes; plane += 2) {
		for (uint32_t i = 0; i <= p->more_images; i++) {
			for (uint32_t x = 0; x < p->cols; x += TT_TILE) {
				for (uint32_t y = 0; y < p->rows; y += 2) {
					const uint32_t held = tt_least(p->rows - y, 2);
					tt_pair_operand(p, 0, a_type, i, plane, x, y, held);
					tt_pair_operand(p, 1, b_type, i, plane, x, y, held);
				}
			}
		}
	}
}

#endif
