/*
 * Sums over taps with a weight of its own for each channel (depthwise conv,
 * batch norm, arithmetic with a constant per channel), unpack side: TRISC0.
 *
 * Layout. Input and output have the same planes; two of them, and 32 columns of
 * up to 4 rows of positions, are worked on at a time. SrcA gets the pixels of a
 * tap, two runs of 32; padding is what stands in the buffer. A column stride reads
 * column phases, as in conv_unpack, or (`strided`, bf16 or fp32) takes pixels that lie
 * apart by tileize mode, which does not move the exponents of bfp8_b along.
 *
 * A page of weights belongs to two planes:
 *
 *     [bias, tap 0, tap 1, ...][2 planes][16 channels] fp32
 *
 * that is 128 bytes of bias and 128 for each tap, of which SrcB takes what TF32 has.
 * It gets up to 4 of these pairs
 * of rows at a time, at rows 0, 8, 16, ...: ELWMUL can take any row for all 8
 * (ELWMUL.md), the simulator only multiples of 8. With up to 3 taps all of them
 * fit and stay in SrcB for the whole page; else they are loaded again for each
 * 4 rows of positions.
 *
 * Circular buffer: a page for each two planes, popped when all positions are done.
 *
 * Stalls. As in conv_unpack: TT_FOR_STORES after configuration, TT_FOR_UNPACK
 * before the page's address changes, TT_FOR_THCON after it, TT_FOR_UNPACK and a
 * sync before a page is given back.
 *
 * Cycles a tile and tap, bf16 (bfp8_b): 2048 (1088) bytes to SrcA at 64 a cycle,
 * 32 (17); 8 ELWMULs a phase, 32 for 4 phases; weights, 16 bytes a cycle at the
 * least, 8 for 4 tiles. A 3x3 window: 9 * 32 = 288 (288), and 64 to store.
 *
 * Limits: one piece; (taps + 1) * 2 rows are counted by a counter of 13 bits.
 */
#ifndef RUNTIME_DEVICE_CHANNEL_UNPACK_H
#define RUNTIME_DEVICE_CHANNEL_UNPACK_H

#include "runtime/device/operand.h"

/* The next row of weights, 8 rows further in SrcB; the last of a load gives SrcB away. */
#define TT_UNPACK_ROW(last) TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, last, 1, 0, 0, 0, 0x14, 1))

TT_INLINE void tt_channel_unpack_config(const TtTiles *p, uint32_t format, uint32_t strided)
{
	tt_unpack_config(format, TT_TF32);
	tt_unpack_a_from(p, 0, format);
	if (strided)
		tt_unpack_a_apart(p, format);
	TT_CFG(TT_AT_UNP1_ADDR_CTRL_ZW_REG_1_Zstride) =
		TT_FIELD(UNP1_ADDR_CTRL_ZW_REG_1_Zstride, 8 * 64);
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor) = tt_descriptor_x(TT_FP32, 16);
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor + 1) = tt_descriptor_yz(1, 1);
	TT_I(OP_SETADCXX(0, 15, 2));
	TT_STALL(TT_HOLD_UNPACK | TT_HOLD_THCON, TT_FOR_STORES);
}

TT_INLINE void tt_channel_page(uint32_t page)
{
	TT_STALL(TT_HOLD_THCON, TT_FOR_UNPACK);
	tt_gpr_set(TT_G_WEIGHTS, tt_l1_16(page));
	TT_I(TT_FLOP(TT_AT_THCON_SEC1_REG3_Base_address, TT_G_WEIGHTS));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
}

/* `pairs` pairs of rows from pair `first` on to SrcB. */
TT_INLINE void tt_channel_rows(uint32_t first, uint32_t pairs)
{
	TT_PUSH(OP_SETADC(2 * first, 1, 0, 2));
	TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 2));
	for (uint32_t i = 2 * pairs - 1; i; i--)
		TT_UNPACK_ROW(0);
	TT_UNPACK_ROW(1);
}

/* Where a tap reads, from position (0, 0): columns and phases as conv_unpack has
 * them, and how far it is from one to the next. `step` is from position to
 * position, in columns of the phase. */
typedef struct TtTap {
	uint32_t row, kx, col, phase;
	uint32_t columns, phases, step;
} TtTap;

TT_INLINE TtTap tt_first_tap(const TtTiles *p, uint32_t strided)
{
	TtTap t;
	t.row = p->in_y[0];
	t.kx = 0;
	t.col = p->in_x[0];
	t.phase = p->phase;
	t.columns = strided ? p->dilation_w : p->dilation_w / p->stride_w;
	t.phases = strided ? 0 : p->dilation_w % p->stride_w;
	t.step = strided ? p->stride_w : 1;
	return t;
}

TT_INLINE void tt_next_tap(const TtTiles *p, TtTap *t)
{
	t->col += t->columns;
	t->phase += t->phases;
	if (t->phase >= p->stride_w) {
		t->phase -= p->stride_w;
		t->col++;
	}
	if (++t->kx == p->kernel_w) {
		t->kx = 0;
		t->col = p->in_x[0];
		t->phase = p->phase;
		t->row += p->dilation_h;
	}
}

/* Pixels of `taps` taps from t on; the tap behind them. `r` says which planes, and
 * how far the positions are from (0, 0). */
TT_INLINE TtTap tt_channel_taps(const TtTiles *p, TtTap t, uint32_t taps, TtRuns r)
{
	for (; taps; taps--) {
		TtRuns here = r;
		here.x = r.x * t.step + t.col;
		here.y += t.row;
		here.plane += t.phase * p->in_phase[0];
		tt_runs_to_a(here);
		tt_next_tap(p, &t);
	}
	return t;
}

/* `held` rows of positions from row y on. */
TT_INLINE void tt_channel_block(const TtTiles *p, TtRuns r, uint32_t y, uint32_t held,
				uint32_t loaded, uint32_t strided)
{
	const uint32_t pairs = p->kernel_h * p->kernel_w + 1;
	TtTap at = tt_first_tap(p, strided);
	for (uint32_t first = 0; first < pairs; first += TT_PAIRS) {
		const uint32_t count = tt_least(pairs - first, TT_PAIRS);
		TtTap next = at;
		if (!loaded)
			tt_channel_rows(first, count);
		for (uint32_t h = 0; h < held; h++) {
			r.y = (y + h) * p->stride_h;
			next = tt_channel_taps(p, at, first ? count : count - 1, r);
		}
		at = next;
	}
}

/* All positions of two planes of all images by one page; `plane` counts from in_first. */
TT_INLINE void tt_channel_planes(const TtTiles *p, uint32_t plane, uint32_t strided)
{
	const uint32_t stays = p->kernel_h * p->kernel_w < TT_PAIRS;
	uint32_t loaded = 0;
	TtRuns r;
	r.two = plane + 1 < p->in_planes[0];
	for (uint32_t i = 0; i <= p->more_images; i++) {
		r.plane = p->in_first[0] + plane + i * p->in_image[0];
		for (r.x = 0; r.x < p->cols; r.x += TT_TILE) {
			r.pixels = tt_least(p->cols - r.x, TT_TILE);
			for (uint32_t y = 0; y < p->rows; y += TT_HALF_TILES, loaded = stays)
				tt_channel_block(p, r, y, tt_least(p->rows - y, TT_HALF_TILES),
						 loaded, strided);
		}
	}
}

TT_ROUTINE void tt_channel_unpack(const TtTiles *p, uint32_t in_type, uint32_t strided)
{
	tt_channel_unpack_config(p, tt_format(in_type), strided);
	tt_cb_open(p->weights_cb, p->weights, p->page_bytes, p->pages);
	for (uint32_t g = 0; g < p->groups; g++) {
		cb_wait_front(p->weights_cb, 1);
		tt_channel_page(get_read_ptr(p->weights_cb));
		tt_channel_planes(p, 2 * g, strided);
		TT_STALL(TT_HOLD_UNPACK, TT_FOR_UNPACK);
		tt_sync();
		cb_pop_front(p->weights_cb, 1);
	}
}

#endif
