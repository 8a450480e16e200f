/*
 * A mix (ir/mix_table.h), unpack side: TRISC0.
 *
 * SrcB gets a constant W tile, 32 output pixels times 32 input pixels: rows 0 to
 * 31 hold input pixels 0 to 15, rows 32 to 63 the others. It stays for 4 pairs of
 * planes, as many as half of Dst holds. SrcA gets up to 32 input pixels of each
 * plane of a pair: rows 0 to 31 and 32 to 63, straight from the planes, by a
 * descriptor over the whole buffer as in conv_unpack. So the product sums over
 * pixels, channels stand side by side.
 *
 * Where columns stay (`across` 0), a row of 16 equal values in SrcB takes the
 * place of the tile: ELWMUL multiplies every pixel by it.
 *
 * Only pixels of the image are read. Where a row has fewer than 32, SrcA is
 * cleared before (UNPACR_NOP waits for the bank as UNPACR does): the rows behind
 * meet zero weights, but must not hold what is no number.
 *
 * Walk: 4 pairs of planes, 32 columns, rows, row terms, column terms. The page
 * of tables comes by weights_cb, once, and is given back at the end.
 *
 * Stalls. TT_FOR_STORES before the first UNPACR (STALLWAIT.md C13); after
 * REG2FLOP of a tile's address TT_FOR_THCON before UNPACR. Before the page is
 * given back, TT_FOR_UNPACK and a sync.
 *
 * Limits: pitch <= 4080, height and planes <= 255 as in conv_unpack; one piece.
 */
#ifndef RUNTIME_DEVICE_MIX_UNPACK_H
#define RUNTIME_DEVICE_MIX_UNPACK_H

#include "ir/mix_table.h"
#include "runtime/device/conv_unpack.h"

TT_INLINE void tt_mix_unpack_config(const TtTiles *p, uint32_t format, uint32_t across)
{
	tt_unpack_config(format, TT_BF16);
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor) = tt_descriptor_x(format, 16 * p->in_pitch[0]);
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor + 1) =
		tt_descriptor_yz(p->in_height[0], p->in_total[0]);
	TT_CFG(TT_AT_THCON_SEC0_REG5_Tile_x_dim_cntx0) = 16 * p->in_pitch[0] | 16 * p->in_pitch[0]
										       << 16;
	TT_CFG(TT_AT_THCON_SEC0_REG3_Base_address) = tt_l1_16(p->in[0]);
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor) = tt_descriptor_x(TT_BF16, 1024);
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor + 1) = tt_descriptor_yz(1, 1);
	if (across)
		TT_I(OP_SETADCXX(0, 1023, 2));
	else
		TT_I(OP_SETADCXX(0, 15, 2));
	TT_STALL(TT_HOLD_UNPACK | TT_HOLD_THCON, TT_FOR_STORES);
}

/* The W tile, or row, at `at`. */
TT_INLINE void tt_mix_weights(uint32_t at)
{
	tt_gpr_set(TT_G_PIXELS, tt_l1_16(at));
	TT_I(TT_FLOP(TT_AT_THCON_SEC1_REG3_Base_address, TT_G_PIXELS));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
	TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1));
}

/* `planes` planes of a run, two at a time; an odd last one is read twice. */
TT_INLINE void tt_mix_pixels(uint32_t x, uint32_t y, uint32_t pixels, uint32_t plane,
			     uint32_t planes)
{
	TT_PUSH(OP_SETADC(16 * x, 0, 0, 1));
	TT_PUSH(OP_SETADC(16 * (x + pixels) - 1, 0, 1, 1));
	TT_PUSH(OP_SETADC(y, 1, 0, 1));
	TT_PUSH(OP_SETADC(plane, 2, 0, 1));
	for (uint32_t left = planes; left; left -= left > 1 ? 2 : 1) {
		TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 1));
		if (pixels < TT_TILE)
			TT_I(OP_UNPACR_NOP(1, 0));
		if (left > 1)
			TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x11, 0));
		else
			TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x10, 0));
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0x01, 0));
	}
}

/* All terms of one row of a tile. */
TT_INLINE void tt_mix_terms(const TtTiles *p, const MixCol *cols, const MixRow *rows,
			    uint32_t tiles, uint32_t plane, uint32_t planes, uint32_t across)
{
	const uint32_t bytes = across ? MIX_TILE_BYTES : MIX_ROW_BYTES;
	for (uint32_t r = 0; r < p->kernel_h; r++) {
		const uint32_t y = rows[r].row - p->mix_above + p->in_y[0];
		const uint32_t coef = tiles + bytes * rows[r].coef;
		for (uint32_t c = 0; c < p->kernel_w; c++) {
			tt_mix_weights(coef + bytes * cols[c].tile);
			tt_mix_pixels(p->in_x[0] + cols[c].start, y, cols[c].pixels,
				      plane + cols[c].phase * p->in_phase[0], planes);
		}
	}
}

TT_ROUTINE void tt_mix_unpack(const TtTiles *p, uint32_t in_type, uint32_t across)
{
	const uint32_t end = p->in_first[0] + p->in_planes[0];
	tt_mix_unpack_config(p, tt_format(in_type), across);
	tt_cb_open(p->weights_cb, p->weights, p->page_bytes, p->pages);
	cb_wait_front(p->weights_cb, 1);
	const uint32_t page = get_read_ptr(p->weights_cb);
	const MixRow *rows =
		(const MixRow *)(uintptr_t)(page + p->mix_rows_at) + p->mix_row * p->kernel_h;
	for (uint32_t plane = p->in_first[0]; plane < end; plane += 2 * TT_HALF_TILES) {
		const uint32_t planes = tt_least(2 * TT_HALF_TILES, end - plane);
		const MixCol *cols = (const MixCol *)(uintptr_t)page;
		for (uint32_t x = 0; x < p->cols; x += TT_TILE, cols += p->kernel_w)
			for (uint32_t y = 0; y < p->rows; y++)
				tt_mix_terms(p, cols, rows + y * p->kernel_h,
					     page + p->mix_tiles_at, plane, planes, across);
	}
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_UNPACK);
	tt_sync();
	cb_pop_front(p->weights_cb, 1);
}

#endif
