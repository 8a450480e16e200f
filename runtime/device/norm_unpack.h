/*
 * Pixels less the mean of their channel, times a number for each channel, unpack
 * side: TRISC0.
 *
 * For each two planes: pixels 0 and 1 of piece 1 (the mean, high and low), then of
 * piece 2 (the factor), each to rows 0 and 32 of SrcB with SrcA cleared; then SrcB
 * is cleared, and SrcA gets 32 positions at a time as in window_unpack.
 *
 * A core without rows has nothing to do.
 *
 * Stalls: TT_FOR_UNPACK before REG2FLOP moves unpacker 1 to the other piece,
 * TT_FOR_THCON after it. Limits: pieces 1 and 2 are bf16, their planes alike (how many
 * a buffer has does not matter: no counter goes past one), and those of piece 0.
 */
#ifndef RUNTIME_DEVICE_NORM_UNPACK_H
#define RUNTIME_DEVICE_NORM_UNPACK_H

#include "runtime/device/reduce_unpack.h"

/* Unpacker 1 to piece s. */
TT_INLINE void tt_stat_piece(uint32_t s)
{
	TT_STALL(TT_HOLD_THCON, TT_FOR_UNPACK);
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG3_Base_address, TT_G_PIECE + s));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
}

TT_ROUTINE void tt_norm_unpack(const TtTiles *p, uint32_t in_type)
{
	const uint32_t planes = p->rows ? p->in_planes[0] : 0;
	tt_unpack_config(tt_format(in_type), TT_BF16);
	tt_stat_config(p, 1);
	tt_window_place(p, tt_format(in_type));
	TT_GPR(TT_G_PIECE + 1) = tt_l1_16(p->in[1]);
	TT_GPR(TT_G_PIECE + 2) = tt_l1_16(p->in[2]);
	TT_STALL(TT_HOLD_UNPACK | TT_HOLD_THCON, TT_FOR_STORES);
	for (uint32_t plane = 0; plane < planes; plane += 2) {
		TtRun t = { 0, 0, p->in_first[0] + plane, plane + 1 < planes };
		for (uint32_t s = 1; s <= 2; s++) {
			tt_stat_piece(s);
			tt_unpack_stat(p, s, 0, plane, t.two);
			tt_unpack_stat(p, s, 1, plane, t.two);
		}
		tt_clear_b();
		for (uint32_t x = 0; x < p->cols; x += TT_TILE) {
			t.x = p->in_x[0] + x;
			for (uint32_t y = 0; y < p->rows; y++) {
				t.y = p->in_y[0] + y;
				tt_window_whole(t, tt_least(p->cols - x, TT_TILE));
			}
		}
	}
}

#endif
