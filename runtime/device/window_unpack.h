/*
 * Windows over planes, unpack side: TRISC0.
 *
 * SrcA gets 32 positions of two planes for each tap, rows 0 to 31 and 32 to 63;
 * an odd last plane is read twice, and the second half is not stored. SrcB is
 * cleared once and stays.
 *
 * A column stride is taken from a tensor in column phases (in_phase), whose
 * pixels stand side by side. A bf16 or fp32 tensor without phases will do too:
 * tileize mode takes rows of 16 values that lie apart (not those of bfp8_b, whose
 * exponents it does not move along). Of fp32 SrcA takes what TF32 has.
 *
 * What lies outside of the image never wins (window.h says what is inside). Rows
 * of taps outside are skipped. If some of the 32 positions have a tap outside,
 * UNPACR_NOP fills SrcA with the least value there is, which ELWADD makes minus
 * infinity, and only the positions inside are written over it. Unpacker 0 loses
 * rows of a run that does not start on a burst of 64 bytes, unless it is a single
 * row, so single rows come first. A window of which nothing is inside reads one
 * such filled SrcA. The fill waits until math has emptied SrcA.
 *
 * Stalls: TT_FOR_STORES before the first UNPACR. Limits: one piece of input.
 */
#ifndef RUNTIME_DEVICE_WINDOW_UNPACK_H
#define RUNTIME_DEVICE_WINDOW_UNPACK_H

#include "runtime/device/conv_unpack.h"
#include "runtime/device/window.h"

/* Unpacker 0 on the planes of piece 0; a row of SrcA is a step of channel 1 y. */
TT_INLINE void tt_window_place(const TtTiles *p, uint32_t format)
{
	TT_CFG(TT_AT_UNP0_ADDR_CTRL_XY_REG_1_Ystride) =
		TT_FIELD(UNP0_ADDR_CTRL_XY_REG_1_Ystride, tt_source_half(tt_source(format)) / 32);
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor) = tt_descriptor_x(format, 16 * p->in_pitch[0]);
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor + 1) =
		tt_descriptor_yz(p->in_height[0], p->in_total[0]);
	TT_CFG(TT_AT_THCON_SEC0_REG5_Tile_x_dim_cntx0) = 16 * p->in_pitch[0] | 16 * p->in_pitch[0]
										       << 16;
	TT_CFG(TT_AT_THCON_SEC0_REG3_Base_address) = tt_l1_16(p->in[0]);
}

/* Clears SrcB and hands it over. */
TT_INLINE void tt_clear_b(void)
{
	TT_I(OP_UNPACR_NOP(1, 1));
	TT_I(OP_UNPACR_NOP(7, 1));
}

TT_INLINE void tt_window_unpack_config(const TtTiles *p, uint32_t format, uint32_t strided)
{
	tt_unpack_config(format, format);
	tt_window_place(p, format);
	if (strided)
		tt_unpack_a_apart(p, format);
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_STORES);
	tt_clear_b();
}

/* What a tap reads: a run of pixels in each of two planes, or twice in one. */
typedef struct TtRun {
	uint32_t x, y, plane, two;
} TtRun;

/* Counters to `count` pixels behind the first `skip`, which go to the rows from
 * `row` on; `step` pixels from one to the next. */
TT_INLINE void tt_window_counters(TtRun t, uint32_t skip, uint32_t row, uint32_t count,
				  uint32_t step)
{
	const uint32_t x = t.x + skip * step;
	TT_PUSH(OP_SETADC(16 * x, 0, 0, 1));
	TT_PUSH(OP_SETADC(16 * (x + count) - 1, 0, 1, 1));
	TT_PUSH(OP_SETADC(t.y, 1, 0, 1));
	TT_PUSH(OP_SETADC(row, 1, 1, 1));
	TT_PUSH(OP_SETADC(t.plane, 2, 0, 1));
	TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 1));
	if (t.two)
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x11, 0));
	else
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x10, 0));
}

/* A tap that all positions have inside. */
TT_INLINE void tt_window_whole(TtRun t, uint32_t count)
{
	tt_window_counters(t, 0, 0, count, 1);
	TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0));
}

/* A tap that only positions first to end - 1 have inside; t.x is where the first
 * of them reads. A run starts on `burst` rows. */
TT_INLINE void tt_window_part(TtRun t, TtSpan s, uint32_t burst, uint32_t step)
{
	const uint32_t first = (uint32_t)s.first, end = (uint32_t)s.end;
	uint32_t row = first;
	TT_I(OP_UNPACR_NOP(5, 0));
	while (row < end) {
		const uint32_t count = row & (burst - 1) ? 1 : end - row;
		tt_window_counters(t, row - first, row, count, step);
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0));
		row += count;
	}
	TT_I(OP_UNPACR_NOP(7, 0));
}

/* One row of taps for `count` positions from column x on. */
TT_INLINE void tt_window_taps(const TtTiles *p, TtRun t, uint32_t x, uint32_t count, uint32_t burst,
			      uint32_t strided)
{
	const uint32_t step = strided ? p->stride_w : 1, plane = t.plane;
	for (uint32_t kx = 0; kx < p->kernel_w; kx++) {
		const TtColumn c = tt_window_column(p, kx);
		const TtSpan s = tt_window_span(p, c, x, count);
		if (s.end == s.first)
			continue;
		t.x = (uint32_t)(c.pixel + (int32_t)x + s.first) * step + p->in_x[0];
		if (strided)
			t.x += (uint32_t)c.phase;
		else
			t.plane = plane + (uint32_t)c.phase * p->in_phase[0];
		if (s.first == 0 && s.end == (int32_t)count)
			tt_window_whole(t, count);
		else
			tt_window_part(t, s, burst, step);
	}
}

TT_ROUTINE void tt_window_unpack(const TtTiles *p, uint32_t in_type, uint32_t strided)
{
	const uint32_t end = p->in_first[0] + p->in_planes[0];
	const uint32_t burst = in_type == 4 ? 1 : in_type == 1 ? 2 : 4;
	tt_window_unpack_config(p, tt_format(in_type), strided);
	for (uint32_t plane = p->in_first[0]; plane < end; plane += 2) {
		for (uint32_t x = 0; x < p->cols; x += TT_TILE) {
			const uint32_t count = tt_least(p->cols - x, TT_TILE);
			const uint32_t across = tt_window_columns(p, x, count);
			for (uint32_t y = 0; y < p->rows; y++) {
				const TtSpan down = tt_window_rows(p, y);
				TtRun t = { 0, 0, plane, plane + 1 < end };
				if (!across || down.end == down.first)
					tt_window_part(t, (TtSpan){ 0, 0 }, burst, 1);
				for (int32_t ky = down.first; across && ky < down.end; ky++) {
					t.y = p->in_y[0] + y * p->stride_h - p->pad_top +
					      (uint32_t)ky * p->dilation_h;
					tt_window_taps(p, t, x, count, burst, strided);
				}
			}
		}
	}
}

#endif
