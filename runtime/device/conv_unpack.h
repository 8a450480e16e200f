/*
 * A conv, unpack side: TRISC0.
 *
 * SrcB gets 32 positions times 32 channels straight from the planes: a run of 32
 * pixels from each of two, at the place of the tap; of fp32 what TF32 has. The tile
 * descriptor spans the whole buffer (x: the channels of a row, y: rows, z: planes) and
 * address counters choose the run, so that bfp8_b finds its exponents too. SrcA gets
 * weights, tile by tile along z of a block, of fp32 likewise.
 *
 * Column stride s: the buffer holds s column phases, `in_phase` planes apart;
 * column c of the image is column c / s of phase c mod s. So the 32 pixels of a
 * tap stand side by side whatever the stride, and a tap dilation_w further on is
 * dilation_w / s columns and dilation_w mod s phases further, with a carry.
 * Groups: after every `group_pages` pages the planes start `group_step` later.
 * Images: planes of one image behind those of the other; a page is used for all.
 *
 * Bias comes first and starts the sum: two runs of 16 values become rows 0 and 32
 * of SrcB, SrcA is cleared. It is fp32, of which SrcB takes what TF32 has. Every page
 * of a group's weights starts with it; only that of the first is used. The next ones
 * go on from sums (sums.h).
 *
 * Stalls. After stores to configuration and registers, TT_FOR_STORES before the
 * first UNPACR (STALLWAIT.md C13). After REG2FLOP, TT_FOR_THCON before UNPACR.
 * Before a descriptor changes, TT_FOR_UNPACK: an unpacker may still read it.
 * Before a page of weights is given back, TT_FOR_UNPACK and a sync.
 */
#ifndef RUNTIME_DEVICE_CONV_UNPACK_H
#define RUNTIME_DEVICE_CONV_UNPACK_H

#include "runtime/device/sums.h"

/* Registers of the thread. cb_pop_front of TT-Metal uses 4. */
enum {
	TT_G_BIAS_DESC = 6, /* descriptor, first word, of fp32 */
	TT_G_BIAS_OUT = 7,
	TT_G_PIXELS = 12,  /* base address of unpacker 1 */
	TT_G_WEIGHTS = 13, /* of unpacker 0 */
	TT_G_IN_OUT = 14,
	TT_G_PIECE = 16, /* 4 words for each of 8: base, two of the descriptor, weights' second */
};

/* Of an output tile, fp32. */
enum { TT_BIAS_BYTES = 128 };

/* Channel 0 z up by one, channel 1 z too (to the other half of SrcB). */
#define TT_UNPACK_PIXELS(last)  TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, last, 1, 0, 0, 0, 0x11, 1))
#define TT_UNPACK_PIXELS_STAY() TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x10, 1))
#define TT_UNPACK_WEIGHTS()     TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0x01, 0))

/* Bytes that 512 values take as the source registers are addressed, of a format there. */
TT_INLINE uint32_t tt_source_half(uint32_t source)
{
	return source == TT_BF16 ? 1024 : source == TT_TF32 ? 2048 : 512;
}

/* What unpackers need whatever they read: formats in L1. */
TT_INLINE void tt_unpack_config(uint32_t format_a, uint32_t format_b)
{
	const uint32_t source_a = tt_source(format_a), source_b = tt_source(format_b);
	TT_CFG(TT_AT_UNP0_ADDR_CTRL_XY_REG_1_Ystride) =
		TT_FIELD(UNP0_ADDR_CTRL_XY_REG_1_Ystride, 32);
	TT_CFG(TT_AT_UNP0_ADDR_CTRL_ZW_REG_1_Zstride) =
		TT_FIELD(UNP0_ADDR_CTRL_ZW_REG_1_Zstride, tt_source_half(source_a));
	TT_CFG(TT_AT_UNP1_ADDR_CTRL_ZW_REG_1_Zstride) =
		TT_FIELD(UNP1_ADDR_CTRL_ZW_REG_1_Zstride, tt_source_half(source_b));
	TT_CFG(TT_AT_THCON_SEC0_REG2_Out_data_format) =
		source_a | TT_FIELD(THCON_SEC0_REG2_Throttle_mode, 2);
	TT_CFG(TT_AT_THCON_SEC0_REG2_Out_data_format + 1) = 0xf000f;
	TT_CFG(TT_AT_THCON_SEC1_REG2_Out_data_format) =
		source_b | TT_FIELD(THCON_SEC1_REG2_Throttle_mode, 2);
	TT_CFG(TT_AT_THCON_SEC1_REG2_Out_data_format + 1) = 0xf000f;
	TT_CFG(TT_AT_THCON_SEC0_REG5_Dest_cntx0_address) = 64 | 64 << 16;
	TT_CFG(TT_AT_UNP0_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr) =
		TT_FIELD(UNP0_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr, 1);
	TT_I(OP_SETC16(4, TT_AT_SRCA_SET_SetOvrdWithAddr));
	TT_I(OP_SETC16(0, TT_AT_UNPACK_MISC_CFG_CfgContextOffset_0));
	TT_I(OP_SETADCXY(0xf, 0, 0, 0, 0, 3));
	TT_I(OP_SETADCZW(0xf, 0, 0, 0, 0, 3));
}

/* Unpacker 0 takes pixels that lie stride_w apart, in bf16 or fp32: 16 bytes are the unit,
 * 12 bits of it. */
TT_INLINE void tt_unpack_a_apart(const TtTiles *p, uint32_t format)
{
	const uint32_t pixel = format == TT_FP32 ? 4 : 2;
	TT_CFG(TT_AT_THCON_SEC0_REG2_Out_data_format) =
		tt_source(format) | TT_FIELD(THCON_SEC0_REG2_Throttle_mode, 2) |
		TT_FIELD(THCON_SEC0_REG2_Tileize_mode, 1) |
		TT_FIELD(THCON_SEC0_REG2_Shift_amount_cntx0, pixel * p->stride_w);
}

/* Words of a tile descriptor. */
TT_INLINE uint32_t tt_descriptor_x(uint32_t format, uint32_t x)
{
	return format | 1 << 4 | x << 16;
}
TT_INLINE uint32_t tt_descriptor_yz(uint32_t y, uint32_t z)
{
	return y | z << 16;
}

TT_INLINE void tt_conv_unpack_config(const TtTiles *p, uint32_t in_type, uint32_t weight_type,
				     uint32_t n)
{
	const uint32_t in = tt_format(in_type), weights = tt_format(weight_type);
	tt_unpack_config(weights, in);
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor) = tt_descriptor_x(weights, 1024);
	TT_CFG(TT_AT_THCON_SEC0_REG5_Tile_x_dim_cntx0) = 1024 | 1024 << 16;
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor) = tt_descriptor_x(in, 16 * p->in_pitch[0]);
	for (uint32_t s = 0; s < p->segments; s++) {
		const uint32_t g = TT_G_PIECE + 4 * s;
		TT_GPR(g) = tt_l1_16(p->in[s]);
		TT_GPR(g + 1) = tt_descriptor_x(in, 16 * p->in_pitch[s]);
		TT_GPR(g + 2) = tt_descriptor_yz(p->in_height[s], p->in_total[s]);
		TT_GPR(g + 3) = tt_descriptor_yz(1, p->k_block[s] * n);
	}
	TT_GPR(TT_G_BIAS_DESC) = tt_descriptor_x(TT_FP32, 1024);
	TT_GPR(TT_G_BIAS_OUT) = TT_TF32 | TT_FIELD(THCON_SEC1_REG2_Throttle_mode, 2);
	TT_GPR(TT_G_IN_OUT) = tt_source(in) | TT_FIELD(THCON_SEC1_REG2_Throttle_mode, 2);
	tt_sums_unpack_config(weights);
	TT_I(OP_SETADCXX(0, 1023, 1));
	TT_STALL(TT_HOLD_UNPACK | TT_HOLD_THCON, TT_FOR_STORES);
}

/* 32 values of bias tile o: constants, so four times. A step of z is that of the input's
 * format: bytes, of which a value of bias takes more. */
#define TT_UNPACK_BIAS(o)                                                                          \
	TT_I(OP_SETADCXX(32 * (o), 32 * (o) + 15, 2));                                             \
	TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1));                                    \
	TT_I(OP_SETADCXX(32 * (o) + 16, 32 * (o) + 31, 2));                                        \
	TT_I(OP_SETADC(in_type == 4 ? 1 : in_type == 1 ? 2 : 4, 2, 1, 2));                         \
	TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1));                                    \
	TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 2));                                                       \
	TT_I(OP_UNPACR_NOP(1, 0));                                                                 \
	TT_I(OP_UNPACR_NOP(7, 0))

/* Bias of the page at `page`: of n tiles, or of one `held` times. */
TT_INLINE void tt_unpack_bias(uint32_t page, uint32_t in_type, uint32_t n, uint32_t held)
{
	TT_STALL(TT_HOLD_THCON, TT_FOR_UNPACK);
	tt_gpr_set(TT_G_PIXELS, tt_l1_16(page));
	TT_I(TT_FLOP(TT_AT_THCON_SEC1_REG3_Base_address, TT_G_PIXELS));
	TT_I(TT_FLOP(TT_AT_THCON_SEC1_REG0_TileDescriptor, TT_G_BIAS_DESC));
	TT_I(TT_FLOP(TT_AT_THCON_SEC1_REG2_Out_data_format, TT_G_BIAS_OUT));
	TT_I(OP_SETADCXY(2, 0, 0, 0, 0, 2));
	TT_I(OP_SETADCZW(5, 0, 0, 0, 0, 2));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
	for (uint32_t h = held; h; h--) {
		TT_UNPACK_BIAS(0);
	}
	if (n > 1) {
		TT_UNPACK_BIAS(1);
	}
	if (n > 2) {
		TT_UNPACK_BIAS(2);
		TT_UNPACK_BIAS(3);
	}
	TT_STALL(TT_HOLD_THCON, TT_FOR_UNPACK);
	TT_I(TT_FLOP(TT_AT_THCON_SEC1_REG2_Out_data_format, TT_G_IN_OUT));
}

TT_INLINE void tt_unpack_piece(uint32_t s)
{
	const uint32_t g = TT_G_PIECE + 4 * s;
	TT_STALL(TT_HOLD_THCON, TT_FOR_UNPACK);
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG3_Base_address, g));
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG0_TileDescriptor, g + 1));
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC1_REG0_TileDescriptor + 1, g + 2));
	TT_PUSH(TT_FLOP(TT_AT_THCON_SEC0_REG0_TileDescriptor + 1, g + 3));
	TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 2));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
}

/* Counters to the first run of a tap, of `pixels` pixels: what is behind them may
 * be a row that has not arrived. x is in channels. */
TT_INLINE void tt_unpack_tap(uint32_t x, uint32_t y, uint32_t plane, uint32_t pixels)
{
	TT_PUSH(OP_SETADC(16 * x, 0, 0, 2));
	TT_PUSH(OP_SETADC(16 * (x + pixels) - 1, 0, 1, 2));
	TT_PUSH(OP_SETADC(y, 1, 0, 2));
	TT_PUSH(OP_SETADC(plane, 2, 0, 2));
}

TT_INLINE void tt_unpack_block(uint32_t at)
{
	tt_gpr_set(TT_G_WEIGHTS, tt_l1_16(at));
	TT_I(TT_FLOP(TT_AT_THCON_SEC0_REG3_Base_address, TT_G_WEIGHTS));
	TT_I(OP_SETADCZW(1, 0, 0, 0, 0, 1));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
}

#define TT_UNPACK_N(n)                                                                             \
	do {                                                                                       \
		TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 2));                                               \
		TT_UNPACK_WEIGHTS();                                                               \
		if ((n) > 1)                                                                       \
			TT_UNPACK_WEIGHTS();                                                       \
		if ((n) > 2) {                                                                     \
			TT_UNPACK_WEIGHTS();                                                       \
			TT_UNPACK_WEIGHTS();                                                       \
		}                                                                                  \
	} while (0)

/* k input tiles of a block: pixels once, then the weights of n output tiles.
 * An odd last plane is read twice; its second half meets zero weights. */
TT_INLINE void tt_unpack_wide(uint32_t k, uint32_t odd, uint32_t n)
{
	for (k -= odd; k; k--) {
		TT_UNPACK_PIXELS(0);
		TT_UNPACK_PIXELS(1);
		TT_UNPACK_N(n);
	}
	if (odd) {
		TT_UNPACK_PIXELS_STAY();
		TT_UNPACK_PIXELS(1);
		TT_UNPACK_N(n);
	}
}

/* Back to the first plane and half of SrcB, one row down. */
#define TT_UNPACK_RETURN() TT_I(OP_ADDRCRZW(5, 0, 0, 0, 0, 2))
#define TT_UNPACK_TALL_ROW(at, first)                                                              \
	do {                                                                                       \
		TT_PUSH(at);                                                                       \
		first;                                                                             \
		TT_UNPACK_PIXELS(1);                                                               \
		TT_UNPACK_RETURN();                                                                \
	} while (0)

/* Weights once and then the pixels of `held` rows. */
#define TT_UNPACK_TALL(first)                                                                      \
	do {                                                                                       \
		TT_UNPACK_WEIGHTS();                                                               \
		TT_UNPACK_TALL_ROW(y0, first);                                                     \
		if (held > 1)                                                                      \
			TT_UNPACK_TALL_ROW(y1, first);                                             \
		if (held > 2)                                                                      \
			TT_UNPACK_TALL_ROW(y2, first);                                             \
		if (held > 3)                                                                      \
			TT_UNPACK_TALL_ROW(y3, first);                                             \
		TT_I(OP_ADDRCRZW(1, 2, 0, 0, 0, 2));                                               \
	} while (0)

/* Which row unpacker 1 reads, as an instruction: made before a loop. */
TT_INLINE uint32_t tt_unpack_row(uint32_t y)
{
	return OP_SETADC(y, 1, 0, 2);
}

/* k input tiles of a block, for `held` rows `stride` apart. */
TT_INLINE void tt_unpack_tall(uint32_t k, uint32_t odd, uint32_t held, uint32_t y, uint32_t stride)
{
	const uint32_t y0 = tt_unpack_row(y), y1 = tt_unpack_row(y + stride);
	const uint32_t y2 = tt_unpack_row(y + 2 * stride), y3 = tt_unpack_row(y + 3 * stride);
	for (k -= odd; k; k--)
		TT_UNPACK_TALL(TT_UNPACK_PIXELS(0));
	if (odd)
		TT_UNPACK_TALL(TT_UNPACK_PIXELS_STAY());
}

/* Where the routine is, and how far a tap is from the one before it. */
typedef struct TtSpot {
	TtPlace place;
	uint32_t held;            /* rows from there on */
	uint32_t half;            /* first row of Dst for it */
	uint32_t group_plane;     /* of the input, where the group starts */
	uint32_t columns, phases; /* from tap to tap */
	TtBlocks blocks;          /* that are in the page */
	uint32_t weights;         /* of the next one */
} TtSpot;

/* Those blocks of piece s that are in the page, for the positions at a spot; the
 * piece's first one has number `number`, `bytes` are those of n tiles. */
TT_INLINE void tt_unpack_taps(const TtTiles *p, uint32_t s, uint32_t number, uint32_t bytes,
			      TtSpot *at, uint32_t n, uint32_t hold)
{
	const uint32_t k = p->k_block[s], blocks = tt_piece_tiles(p, s) / k;
	const uint32_t odd = p->in_planes[s] & 1;
	const uint32_t pixels = tt_least(p->cols - at->place.x, TT_TILE);
	const uint32_t first = p->in_first[s] + at->group_plane + at->place.image * p->in_image[s];
	uint32_t row = p->in_y[s] + at->place.y * p->stride_h;
	for (uint32_t ky = p->kernel_h; ky; ky--, row += p->dilation_h) {
		uint32_t col = p->in_x[s] + at->place.x, phase = p->phase;
		for (uint32_t kx = p->kernel_w; kx; kx--, number += blocks) {
			const TtBlocks part = tt_blocks_among(at->blocks, number, blocks);
			if (part.first < part.end)
				tt_unpack_tap(col, row,
					      first + phase * p->in_phase[s] + 2 * part.first * k,
					      pixels);
			for (uint32_t b = part.first; b < part.end; b++) {
				tt_unpack_block(at->weights);
				at->weights += bytes * k;
				if (hold == 1)
					tt_unpack_wide(k, odd && b + 1 == blocks, n);
				else
					tt_unpack_tall(k, odd && b + 1 == blocks, at->held, row,
						       p->stride_h);
			}
			col += at->columns;
			phase += at->phases;
			if (phase >= p->stride_w) {
				phase -= p->stride_w;
				col++;
			}
		}
	}
}

/* What the page at `page` does for the unit at a spot, as chunk `chunk`. */
TT_INLINE void tt_unpack_unit(const TtTiles *p, uint32_t page, uint32_t chunk, TtSpot *at,
			      uint32_t in_type, uint32_t weight_type, uint32_t n, uint32_t hold)
{
	const uint32_t bytes = n * (weight_type == 1 ? 2048 : weight_type == 4 ? 4096 : 1088);
	uint32_t number = 0;
	at->weights = page + TT_BIAS_BYTES * n;
	at->held = hold == 1 ? 1 : tt_least(hold, p->rows - at->place.y);
	if (!chunk)
		tt_unpack_bias(page, in_type, n, at->held);
	else if (p->sums_pages)
		tt_sums_load(p, at->half, hold == 1 ? n : at->held);
	for (uint32_t s = 0; s < p->segments; s++) {
		const uint32_t blocks = tt_piece_blocks(p, s);
		const TtBlocks part = tt_blocks_among(at->blocks, number, blocks);
		if (part.first < part.end) {
			tt_unpack_piece(s);
			tt_unpack_taps(p, s, number, bytes, at, n, hold);
		}
		number += blocks;
	}
}

/* All pages of a group, for the units of one pass from at->place on. */
TT_INLINE void tt_unpack_pass(const TtTiles *p, TtSpot *at, uint32_t in_type, uint32_t weight_type,
			      uint32_t n, uint32_t hold)
{
	const TtPlace first = at->place;
	for (uint32_t c = 0; c < tt_chunks(p); c++) {
		at->place = first;
		at->blocks = tt_chunk_blocks(p, c);
		cb_wait_front(p->weights_cb, 1);
		for (uint32_t i = tt_units(p); i && tt_place_there(p, &at->place); i--) {
			tt_unpack_unit(p, get_read_ptr(p->weights_cb), c, at, in_type, weight_type,
				       n, hold);
			at->half ^= TT_HALF_ROWS;
			tt_place_next(p, &at->place, hold);
		}
		TT_STALL(TT_HOLD_UNPACK, TT_FOR_UNPACK);
		tt_sync();
		cb_pop_front(p->weights_cb, 1);
	}
}

TT_ROUTINE void tt_conv_unpack(const TtTiles *p, uint32_t in_type, uint32_t weight_type, uint32_t n,
			       uint32_t hold)
{
	TtSpot at;
	uint32_t pages = p->group_pages;
	at.half = at.group_plane = 0;
	at.columns = p->dilation_w / p->stride_w;
	at.phases = p->dilation_w % p->stride_w;
	tt_conv_unpack_config(p, in_type, weight_type, n);
	tt_cb_open(p->weights_cb, p->weights, p->page_bytes, p->pages);
	tt_sums_open(p, hold == 1 ? n : hold);
	for (uint32_t g = p->groups; g; g--) {
		at.place = tt_place_first();
		for (uint32_t i = tt_passes(p); i; i--)
			tt_unpack_pass(p, &at, in_type, weight_type, n, hold);
		if (--pages == 0) {
			pages = p->group_pages;
			at.group_plane += p->group_step;
		}
	}
}

#endif
