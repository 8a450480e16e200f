/*
 * All pixels of a core to one, unpack side: TRISC0.
 *
 * SrcA gets runs of 32 pixels of two planes, rows 0 to 31 and 32 to 63, of the
 * image_rows x image_cols pixels from (in_y, in_x) on; an odd last plane is read
 * twice. Where a row ends within a run, SrcA is filled first with what changes
 * nothing: zero for a sum, the least value for a maximum. (Deviations are masked
 * by math: no fill is the mean of every channel.) SrcB is cleared once and stays.
 *
 * Deviations (kind 2) read the mean of each channel first, for each two planes:
 * pixels 0 and 1 of piece 1, whose sum it is, go to rows 0 and 32 of SrcB, one
 * after the other, with SrcA cleared; then SrcB is cleared.
 *
 * What goes onto a result that is there (`onto`, its pixels) reads that the same way,
 * behind the mean: unpacker 1 is told where in between. TT_SEM_SUMS is 1 while math
 * waits for that to have been read: packers write there.
 *
 * Stalls: TT_FOR_STORES before the first UNPACR; TT_FOR_UNPACK before unpacker 1 is
 * told of another tensor, TT_FOR_THCON after it. Limits: piece 1 is bf16 and has the
 * planes of piece 0.
 */
#ifndef RUNTIME_DEVICE_REDUCE_UNPACK_H
#define RUNTIME_DEVICE_REDUCE_UNPACK_H

#include "runtime/device/reduce.h"
#include "runtime/device/window_unpack.h"

/* Unpacker 1 on the bf16 pixels of piece s, which hold a number for each channel. */
TT_INLINE void tt_stat_config(const TtTiles *p, uint32_t s)
{
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor) =
		tt_descriptor_x(TT_BF16, 16 * p->in_pitch[s]);
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor + 1) =
		tt_descriptor_yz(p->in_height[s], p->in_total[s]);
	TT_CFG(TT_AT_THCON_SEC1_REG3_Base_address) = tt_l1_16(p->in[s]);
}

/* Pixel (x, y) of planes `plane` and the next: rows 0 and 32 of SrcB. */
TT_INLINE void tt_unpack_pixel(uint32_t x, uint32_t y, uint32_t plane, uint32_t two)
{
	TT_PUSH(OP_SETADC(16 * x, 0, 0, 2));
	TT_PUSH(OP_SETADC(16 * x + 15, 0, 1, 2));
	TT_PUSH(OP_SETADC(y, 1, 0, 2));
	TT_PUSH(OP_SETADC(plane, 2, 0, 2));
	TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 2));
	if (two)
		TT_UNPACK_PIXELS(0);
	else
		TT_UNPACK_PIXELS_STAY();
	TT_UNPACK_PIXELS(1);
	TT_I(OP_UNPACR_NOP(1, 0));
	TT_I(OP_UNPACR_NOP(7, 0));
}

/* Pixel x of piece s, of its planes `plane` and the next. */
TT_INLINE void tt_unpack_stat(const TtTiles *p, uint32_t s, uint32_t x, uint32_t plane,
			      uint32_t two)
{
	tt_unpack_pixel(p->in_x[s] + x, p->in_y[s], p->in_first[s] + plane, two);
}

/* Registers for unpacker 1: what it is told of piece 1, and of the result. */
TT_INLINE void tt_onto_words(const TtTiles *p)
{
	TT_GPR(TT_G_PIECE) = tt_l1_16(p->in[1]);
	TT_GPR(TT_G_PIECE + 1) = tt_descriptor_x(TT_BF16, 16 * p->in_pitch[1]);
	TT_GPR(TT_G_PIECE + 2) = tt_descriptor_yz(p->in_height[1], p->in_total[1]);
	TT_GPR(TT_G_PIECE + 4) = tt_l1_16(p->out);
	TT_GPR(TT_G_PIECE + 5) = tt_descriptor_x(TT_BF16, 16 * p->out_pitch);
	TT_GPR(TT_G_PIECE + 6) = tt_descriptor_yz(p->out_height, p->out_total);
}

TT_INLINE void tt_onto_from(uint32_t g)
{
	TT_STALL(TT_HOLD_THCON, TT_FOR_UNPACK);
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG3_Base_address, g));
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG0_TileDescriptor, g + 1));
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG0_TileDescriptor + 1, g + 2));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
}

/* What two planes begin with: the mean, and what there is of the result. */
TT_INLINE void tt_reduce_stats(const TtTiles *p, uint32_t kind, uint32_t onto, uint32_t plane,
			       uint32_t two)
{
	if (kind == TT_REDUCE_DEVIATION) {
		if (onto)
			tt_onto_from(TT_G_PIECE);
		tt_unpack_stat(p, 1, 0, plane, two);
		tt_unpack_stat(p, 1, 1, plane, two);
	}
	if (onto)
		tt_onto_from(TT_G_PIECE + 4);
	for (uint32_t x = 0; x < onto; x++)
		tt_unpack_pixel(p->out_x + x, p->out_y, p->out_first + plane, two);
	if (onto) {
		TT_I(OP_SEMWAIT(TT_SEM_EMPTY, TT_SEM_SUMS, TT_HOLD_TDMA | TT_HOLD_SYNC));
		TT_STALL(TT_HOLD_UNPACK, TT_FOR_UNPACK);
		TT_I(OP_SEMGET(TT_SEM_SUMS));
	}
	tt_clear_b();
}

/* `count` pixels, the rest of SrcA filled. */
TT_INLINE void tt_reduce_run(TtRun t, uint32_t count, uint32_t kind)
{
	if (count < TT_TILE && kind == TT_REDUCE_MAX)
		TT_I(OP_UNPACR_NOP(5, 0));
	if (count < TT_TILE && kind == TT_REDUCE_SUM)
		TT_I(OP_UNPACR_NOP(1, 0));
	tt_window_whole(t, count);
}

TT_ROUTINE void tt_reduce_unpack(const TtTiles *p, uint32_t in_type, uint32_t kind, uint32_t onto)
{
	const uint32_t planes = p->rows ? p->in_planes[0] : 0;
	const uint32_t stats = kind == TT_REDUCE_DEVIATION || onto;
	tt_unpack_config(tt_format(in_type), TT_BF16);
	if (onto)
		tt_onto_words(p);
	else if (kind == TT_REDUCE_DEVIATION)
		tt_stat_config(p, 1);
	tt_window_place(p, tt_format(in_type));
	if (onto)
		TT_STALL(TT_HOLD_UNPACK | TT_HOLD_THCON, TT_FOR_STORES);
	else
		TT_STALL(TT_HOLD_UNPACK, TT_FOR_STORES);
	if (!stats)
		tt_clear_b();
	for (uint32_t plane = 0; plane < planes; plane += 2) {
		TtRun t = { 0, p->in_y[0], p->in_first[0] + plane, plane + 1 < planes };
		if (stats)
			tt_reduce_stats(p, kind, onto, plane, t.two);
		for (uint32_t y = 0; y < p->image_rows; y++, t.y++) {
			for (uint32_t x = 0; x < p->image_cols; x += TT_TILE) {
				t.x = p->in_x[0] + x;
				tt_reduce_run(t, tt_least(p->image_cols - x, TT_TILE), kind);
			}
		}
	}
}

#endif
