/*
 * Tiles of Dst to planes in L1: TRISC2.
 *
 * Four packers, a 16x16 face each. Packers 0 and 1 write the first plane of the
 * tile (16 pixels, then 16 more), 2 and 3 the second, so that an odd last plane
 * is the work of the first two alone. Packers 1 to 3 are placed relative to
 * packer 0. Edge masks 0 (pixels 0 to 15) and 1 (16 to 31) write zeros where the
 * last tile of a row reaches past `cols`.
 *
 * bfp8_b: the exponents of all planes stand first, so the way from a face's
 * exponents to its mantissas differs from place to place and is set for each
 * tile (16 bits of 16 bytes: at most 65535 pixels in all planes).
 *
 * Sums of weights that come in chunks (sums.h) go to L1 as they are, fp32: the
 * packers are told otherwise before the first and the last chunk of a pass.
 *
 * Stalls. TT_FOR_STORES after configuration, TT_FOR_PACK before REG2FLOP changes
 * an address packers may be using, TT_FOR_THCON after it, TT_FOR_PACK before a
 * half of Dst is given back. Masks change after a sync.
 */
#ifndef RUNTIME_DEVICE_STORE_H
#define RUNTIME_DEVICE_STORE_H

#include "runtime/device/sums.h"

enum {
	TT_G_OUT = 12,     /* address of packer 0 */
	TT_G_SECTION = 16, /* four words: what lies between exponents and mantissas */
	TT_RELATIVE = (int)0x80000000u,
	TT_CFG_PACK_COUNTERS = 24, /* four words */
	TT_CFG_PACK_DST = 152,     /* four words: row of Dst each packer starts at */
	TT_CFG_MASK_ROWS_0 = 16,   /* which mask each of 16 rows has: 2 bits a row */
	TT_CFG_MASK_ROWS_1 = 17,
	TT_CFG_MASKS = 20,
};

/* Bytes of a pixel's values. */
TT_INLINE uint32_t tt_pixel_bytes(uint32_t format)
{
	return format == TT_BF16 ? 32 : format == TT_FP32 ? 64 : 16;
}

/* So many pixels, as packers are placed: in 16 bytes, of exponents if there are any. */
TT_INLINE uint32_t tt_places(uint32_t format, uint32_t pixels)
{
	return format == TT_BFP8_B ? pixels / 16 : pixels * (tt_pixel_bytes(format) / 16);
}

/* First configuration word of packer i: sizes, address, formats. */
TT_INLINE uint32_t tt_packer(uint32_t i)
{
	return i == 0 ? 56 : i == 1 ? 84 : i == 2 ? 96 : 124;
}

/* What packers need for any store: `step_z` and `step_w` are strides in Dst, in
 * values. */
TT_INLINE void tt_pack_config(uint32_t format, uint32_t relu, uint32_t step_z, uint32_t step_w)
{
	const uint32_t size = tt_pixel_bytes(format) / 16;
	TT_CFG(TT_AT_PCK0_ADDR_CTRL_XY_REG_0_Xstride) =
		TT_FIELD(PCK0_ADDR_CTRL_XY_REG_0_Xstride, size) |
		TT_FIELD(PCK0_ADDR_CTRL_XY_REG_0_Ystride, 16 * size);
	TT_CFG(TT_AT_PCK0_ADDR_CTRL_ZW_REG_0_Zstride) =
		TT_FIELD(PCK0_ADDR_CTRL_ZW_REG_0_Zstride, step_z * size) |
		TT_FIELD(PCK0_ADDR_CTRL_ZW_REG_0_Wstride, step_w * size);
	TT_STALL(TT_HOLD_CFG, TT_FOR_PACK);
	tt_cfg_part(TT_AT_ALU_FORMAT_SPEC_REG2_Dstacc, TT_FIELD(ALU_FORMAT_SPEC_REG2_Dstacc, 15),
		    TT_FIELD(ALU_FORMAT_SPEC_REG2_Dstacc, format));
	tt_cfg_part(TT_AT_STACC_RELU_ApplyRelu,
		    TT_FIELD(STACC_RELU_ApplyRelu, 15) | TT_FIELD(STACC_RELU_ReluThreshold, 0xffff),
		    TT_FIELD(STACC_RELU_ApplyRelu, relu));
	for (uint32_t i = 0; i < 4; i++) {
		TT_CFG(tt_packer(i)) = 0;
		TT_CFG(tt_packer(i) + 2) = 1 | format << 4 | format << 8;
		TT_CFG(tt_packer(i) + 3) = 0;
		TT_CFG(TT_CFG_PACK_COUNTERS + i) = 16 << 8;
	}
	TT_CFG(TT_AT_PCK_DEST_RD_CTRL_Read_32b_data) = 1;
	TT_CFG(TT_CFG_MASKS) = 0xffff | TT_FIELD(PCK_EDGE_TILE_ROW_SET_SELECT_select, 0x44);
	TT_CFG(TT_CFG_MASKS + 1) = 0;
	TT_CFG(TT_CFG_MASK_ROWS_0) = 0;
	TT_CFG(TT_CFG_MASK_ROWS_1) = 0;
	TT_I(OP_SETADCXY(0xf, 0, 0, 0, 0, 4));
	TT_I(OP_SETADCZW(0xf, 0, 0, 0, 0, 4));
}

/* Packers 1 to 3 relative to packer 0, in 16 bytes; where each reads Dst. */
TT_INLINE void tt_pack_places(uint32_t p1, uint32_t p2, uint32_t p3, uint32_t dst1, uint32_t dst2)
{
	TT_CFG(tt_packer(1) + 1) = p1 - 1;
	TT_CFG(tt_packer(2) + 1) = p2 - 1;
	TT_CFG(tt_packer(3) + 1) = p3 - 1;
	TT_CFG(TT_CFG_PACK_DST) = 0;
	TT_CFG(TT_CFG_PACK_DST + 1) = dst1;
	TT_CFG(TT_CFG_PACK_DST + 2) = dst2;
	TT_CFG(TT_CFG_PACK_DST + 3) = dst1 + dst2;
}

/* Rows of a face from `valid` on under mask 1. */
TT_INLINE uint32_t tt_mask_rows(uint32_t valid)
{
	return valid >= 16 ? 0 : 0x55555555u << 2 * valid;
}

TT_INLINE void tt_pack_mask(uint32_t valid)
{
	tt_sync();
	TT_CFG(TT_CFG_MASK_ROWS_0) = tt_mask_rows(valid);
	TT_CFG(TT_CFG_MASK_ROWS_1) = tt_mask_rows(valid < 16 ? 0 : valid - 16);
	TT_STALL(TT_HOLD_PACK, TT_FOR_STORES);
}

/* Number of a pixel in the output buffer. */
TT_INLINE uint32_t tt_out_pixel(const TtTiles *p, uint32_t plane, uint32_t y, uint32_t x)
{
	const uint32_t row = p->out_y + y * (p->out_skip + 1);
	return ((p->out_first + plane) * p->out_height + row) * p->out_pitch + p->out_x + x;
}

/* Packer 0 to pixel `pixel`, and for bfp8_b all four sections: `second` and
 * `across` are the pixels from the first plane to the second and from packer 0
 * to 1 (or to 2, if they stand the other way round). */
TT_INLINE void tt_pack_to(const TtTiles *p, uint32_t format, uint32_t pixel, uint32_t to1,
			  uint32_t to2)
{
	const uint32_t at = p->out + pixel * (format == TT_BFP8_B ? 1 : tt_pixel_bytes(format));
	TT_STALL(TT_HOLD_THCON, TT_FOR_PACK);
	tt_gpr_set(TT_G_OUT, (uint32_t)TT_RELATIVE | tt_l1_16(at));
	TT_I(TT_FLOP(TT_AT_THCON_SEC0_REG1_L1_Dest_addr, TT_G_OUT));
	if (format == TT_BFP8_B) {
		const uint32_t all = p->out_total * p->out_height * p->out_pitch;
		const uint32_t section = (all + 15 * pixel) / 16;
		tt_gpr_half(2 * TT_G_SECTION + 1, section);
		tt_gpr_half(2 * TT_G_SECTION + 3, section + 15 * to1 / 16);
		tt_gpr_half(2 * TT_G_SECTION + 5, section + 15 * to2 / 16);
		tt_gpr_half(2 * TT_G_SECTION + 7, section + 15 * (to1 + to2) / 16);
		TT_I(TT_FLOP(56, TT_G_SECTION));
		TT_I(TT_FLOP(84, TT_G_SECTION + 1));
		TT_I(TT_FLOP(96, TT_G_SECTION + 2));
		TT_I(TT_FLOP(124, TT_G_SECTION + 3));
	}
	TT_STALL(TT_HOLD_PACK, TT_FOR_THCON);
}

TT_INLINE void tt_pack_sections(void)
{
	for (uint32_t i = 0; i < 4; i++)
		TT_GPR(TT_G_SECTION + i) = 0;
	TT_STALL(TT_HOLD_PACK | TT_HOLD_THCON, TT_FOR_STORES);
}

/* A flush lets packers take the new address; then the tile, and its end. */
#define TT_PACK_TILE(packers)                                                                      \
	TT_I(OP_PACR(0, 1, 0, 0, packers, 0, 2));                                                  \
	TT_I(OP_PACR(1, 0, 1, 0, packers, 0, 1))

/* Tile `tile` of Dst to planes `plane` and the next of the image whose first is
 * `image`, at position (x, y). */
TT_INLINE void tt_store_tile(const TtTiles *p, uint32_t format, uint32_t tile, uint32_t image,
			     uint32_t plane, uint32_t y, uint32_t x)
{
	if (plane >= p->out_planes)
		return;
	tt_pack_to(p, format, tt_out_pixel(p, image + plane, y, x), 16,
		   p->out_height * p->out_pitch);
	TT_PUSH(OP_SETADC(tile, 3, 0, 4));
	if (plane + 1 < p->out_planes) {
		TT_PACK_TILE(15);
	} else {
		TT_PACK_TILE(3);
	}
}

#define TT_PACK_BEGIN() TT_I(OP_SEMWAIT(TT_SEM_EMPTY, TT_SEM_DST, TT_HOLD_TDMA | TT_HOLD_SYNC))
#define TT_PACK_END()                                                                              \
	do {                                                                                       \
		TT_STALL(TT_HOLD_SYNC | TT_HOLD_PACK, TT_FOR_PACK);                                \
		TT_I(OP_SEMGET(TT_SEM_DST));                                                       \
	} while (0)

/* For tiles of the output, or for sums. No packer is at work. */
TT_INLINE void tt_store_config(const TtTiles *p, uint32_t format, uint32_t relu, uint32_t sums)
{
	const uint32_t plane = p->out_height * p->out_pitch;
	const uint32_t across = tt_places(format, 16), down = tt_places(format, plane);
	tt_pack_config(sums ? (uint32_t)TT_FP32 : format, sums ? 0 : relu, 256, 1024);
	if (sums)
		tt_pack_places(128, 64, 192, 32, 16);
	else
		tt_pack_places(across, down, across + down, 32, 16);
	TT_I(OP_SETC16(TT_FIELD(ADDR_MOD_PACK_SEC1_YsrcClear, 1) |
			       TT_FIELD(ADDR_MOD_PACK_SEC1_YdstClear, 1),
		       TT_AT_ADDR_MOD_PACK_SEC1_YsrcIncr));
	TT_I(OP_SETC16(TT_FIELD(ADDR_MOD_PACK_SEC2_YsrcClear, 1),
		       TT_AT_ADDR_MOD_PACK_SEC2_YsrcIncr));
	TT_I(OP_SETADCXX(0, 255, 4));
	tt_pack_sections();
}

/* Tiles `tile` and on of Dst to the next page of sums. */
TT_INLINE void tt_store_sums(const TtTiles *p, uint32_t tile, uint32_t tiles)
{
	cb_reserve_back(p->sums_cb, 1);
	uint32_t at = get_write_ptr(p->sums_cb);
	for (; tiles; tiles--, tile++, at += TT_SUMS_TILE) {
		TT_STALL(TT_HOLD_THCON, TT_FOR_PACK);
		tt_gpr_set(TT_G_OUT, (uint32_t)TT_RELATIVE | tt_l1_16(at));
		TT_I(TT_FLOP(TT_AT_THCON_SEC0_REG1_L1_Dest_addr, TT_G_OUT));
		TT_STALL(TT_HOLD_PACK, TT_FOR_THCON);
		TT_PUSH(OP_SETADC(tile, 3, 0, 4));
		TT_PACK_TILE(15);
	}
	TT_STALL(TT_HOLD_SYNC | TT_HOLD_PACK, TT_FOR_PACK);
	tt_sync();
	cb_push_back(p->sums_cb, 1);
}

/* What the packers are told and where they are. */
typedef struct TtPacking {
	uint32_t sums;  /* 1: to store sums */
	uint32_t valid; /* columns of a tile they write as they are; 0: not known */
	uint32_t half;  /* first tile of the half of Dst that comes next */
} TtPacking;

/* Group g of the unit at `at`: `held` tiles. */
TT_INLINE void tt_store_unit(const TtTiles *p, uint32_t format, uint32_t g, TtPacking *k,
			     TtPlace at, uint32_t held, uint32_t n, uint32_t hold)
{
	const uint32_t valid = tt_least(p->cols - at.x, TT_TILE);
	if (p->cols % TT_TILE && valid != k->valid) {
		tt_pack_mask(valid);
		k->valid = valid;
	}
	TT_PACK_BEGIN();
	for (uint32_t o = 0; o < held; o++)
		tt_store_tile(p, format, k->half + o, at.image * p->out_image,
			      2 * (hold == 1 ? g * n + o : g), hold == 1 ? at.y : at.y + o, at.x);
	TT_PACK_END();
}

/* The units of a pass from `at` on, or their sums. */
TT_INLINE void tt_store_chunk(const TtTiles *p, uint32_t format, uint32_t g, TtPacking *k,
			      TtPlace *at, uint32_t n, uint32_t hold)
{
	for (uint32_t i = tt_units(p); i && tt_place_there(p, at); i--) {
		const uint32_t held = hold == 1 ? n : tt_least(hold, p->rows - at->y);
		if (k->sums) {
			TT_PACK_BEGIN();
			tt_store_sums(p, k->half, held);
			TT_PACK_END();
		} else {
			tt_store_unit(p, format, g, k, *at, held, n, hold);
		}
		k->half ^= TT_HALF_TILES;
		tt_place_next(p, at, hold);
	}
}

/* One pass of group g from `first` on; returns the next unit. */
TT_INLINE TtPlace tt_store_pass(const TtTiles *p, uint32_t format, uint32_t g, TtPacking *k,
				TtPlace first, uint32_t n, uint32_t hold, uint32_t relu)
{
	const uint32_t chunks = p->sums_pages ? tt_chunks(p) : 1;
	TtPlace at = first;
	for (uint32_t c = 0; c < chunks; c++) {
		const uint32_t sums = c + 1 < chunks;
		if (sums != k->sums) {
			tt_sync();
			tt_store_config(p, format, relu, sums);
			k->sums = sums;
			k->valid = 0;
		}
		at = first;
		tt_store_chunk(p, format, g, k, &at, n, hold);
	}
	return at;
}

TT_ROUTINE void tt_store(const TtTiles *p, uint32_t out_type, uint32_t n, uint32_t hold,
			 uint32_t relu)
{
	const uint32_t tiles = (p->out_planes + 2 * n - 1) / (2 * n);
	TtPacking k = { 2, 0, 0 };
	tt_sums_open(p, hold == 1 ? n : hold);
	for (uint32_t g = 0; g < tiles; g++) {
		TtPlace at = tt_place_first();
		while (tt_place_there(p, &at))
			at = tt_store_pass(p, tt_format(out_type), g, &k, at, n, hold, relu);
	}
}

#endif
