/*
 * Windows over planes, unpack side: TRISC0.
 *
 * SrcA gets 32 positions of two planes for each tap, rows 0 to 31 and 32 to 63.
 * With a column stride, tileize mode takes rows of 16 values that lie apart;
 * it does not move the exponents of bfp8_b along. SrcB is cleared once and stays.
 */
#ifndef RUNTIME_DEVICE_WINDOW_UNPACK_H
#define RUNTIME_DEVICE_WINDOW_UNPACK_H

#include "runtime/device/conv_unpack.h"

TT_INLINE void tt_window_unpack_config(const TtTiles *p, uint32_t format, uint32_t strided)
{
	tt_unpack_config(format, format);
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor) = tt_descriptor_x(format, 16 * p->in_pitch[0]);
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor + 1) =
		tt_descriptor_yz(p->in_height[0], p->in_total[0]);
	TT_CFG(TT_AT_THCON_SEC0_REG5_Tile_x_dim_cntx0) = 16 * p->in_pitch[0] | 16 * p->in_pitch[0]
										       << 16;
	TT_CFG(TT_AT_THCON_SEC0_REG3_Base_address) = tt_l1_16(p->in[0]);
	if (strided) {
		const uint32_t step = 2 * p->stride_w; /* in 16 bytes, 4 bits at a time */
		TT_CFG(TT_AT_THCON_SEC0_REG2_Out_data_format) =
			format | TT_FIELD(THCON_SEC0_REG2_Throttle_mode, 2) |
			TT_FIELD(THCON_SEC0_REG2_Tileize_mode, 1) |
			TT_FIELD(THCON_SEC0_REG2_Shift_amount_cntx0, step);
	}
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_STORES);
	TT_I(OP_UNPACR_NOP(1, 1));
	TT_I(OP_UNPACR_NOP(7, 1));
}

/* One tap of `pixels` positions: two planes, or the last one twice. */
TT_INLINE void tt_window_tap(uint32_t x, uint32_t y, uint32_t pixels, uint32_t plane, uint32_t two)
{
	TT_PUSH(OP_SETADC(16 * x, 0, 0, 1));
	TT_PUSH(OP_SETADC(16 * (x + pixels) - 1, 0, 1, 1));
	TT_PUSH(OP_SETADC(y, 1, 0, 1));
	TT_PUSH(OP_SETADC(plane, 2, 0, 1));
	TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 1));
	if (two)
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x11, 0));
	else
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x10, 0));
	TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0));
}

TT_ROUTINE void tt_window_unpack(const TtTiles *p, uint32_t in_type, uint32_t strided)
{
	const uint32_t end = p->in_first[0] + p->in_planes[0];
	const uint32_t stride = strided ? p->stride_w : 1;
	tt_window_unpack_config(p, tt_format(in_type), strided);
	for (uint32_t plane = p->in_first[0]; plane < end; plane += 2) {
		for (uint32_t x = 0; x < p->cols; x += TT_TILE) {
			const uint32_t pixels = tt_least(p->cols - x, TT_TILE);
			for (uint32_t y = 0; y < p->rows; y++) {
				uint32_t row = p->in_y[0] + y * p->stride_h;
				for (uint32_t ky = p->kernel_h; ky; ky--, row += p->dilation_h) {
					uint32_t col = p->in_x[0] + x * stride;
					for (uint32_t kx = p->kernel_w; kx;
					     kx--, col += p->dilation_w)
						tt_window_tap(col, row, pixels, plane,
							      plane + 1 < end);
				}
			}
		}
	}
}

#endif
