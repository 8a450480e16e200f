/*
 * A tensor as an operand of element-wise work: which pixels a tile of 32
 * positions and two planes reads of it, and how unpackers are told. TRISC0.
 *
 * An operand that has one value where the result has many (params.def, `spread`
 * and `row_step`) is read as often as it is needed: one channel stands in plane
 * in_first, which is read for both planes of the tile; one column is one pixel a
 * run; one row has a row step of 0. ELWADD and the like then take column 0 or
 * row 0 of SrcB for all (ELWADD.md), which SrcA cannot.
 */
#ifndef RUNTIME_DEVICE_OPERAND_H
#define RUNTIME_DEVICE_OPERAND_H

#include "runtime/device/conv_unpack.h"

/* A run of pixels in each of two planes, or (an odd last plane, or one channel
 * for all) twice in one. */
typedef struct TtRuns {
	uint32_t x, y, plane, pixels, two;
} TtRuns;

/* Piece s at planes `plane` and the next of an image, from position (x, y) on. */
TT_INLINE TtRuns tt_operand(const TtTiles *p, uint32_t s, uint32_t image, uint32_t plane,
			    uint32_t x, uint32_t y)
{
	const uint32_t one_channel = p->spread[s] & 1, one_column = p->spread[s] & 2;
	TtRuns r;
	r.x = p->in_x[s] + (one_column ? 0 : x);
	r.y = p->in_y[s] + y * p->row_step[s];
	r.plane = p->in_first[s] + image * p->in_image[s] + (one_channel ? 0 : plane);
	r.pixels = one_column ? 1 : tt_least(p->cols - x, TT_TILE);
	r.two = !one_channel && plane + 1 < p->out_planes;
	return r;
}

/* Address counters of unpackers `which` (1: of SrcA, 2: of SrcB) to the first run. */
TT_INLINE void tt_runs_counters(TtRuns r, uint32_t which)
{
	TT_PUSH(OP_SETADC(16 * r.x, 0, 0, which));
	TT_PUSH(OP_SETADC(16 * (r.x + r.pixels) - 1, 0, 1, which));
	TT_PUSH(OP_SETADC(r.y, 1, 0, which));
	TT_PUSH(OP_SETADC(r.plane, 2, 0, which));
}

/* Both runs: to rows 0 and 32 of SrcA. */
TT_INLINE void tt_runs_to_a(TtRuns r)
{
	tt_runs_counters(r, 1);
	TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 1));
	if (r.two)
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x11, 0));
	else
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x10, 0));
	TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0));
}

/* To rows 0 and 32 of SrcB; with a z stride of 16 rows, `far`, two steps of it. */
TT_INLINE void tt_runs_to_b(TtRuns r, uint32_t far)
{
	tt_runs_counters(r, 2);
	TT_I(OP_SETADCZW(4, 0, 0, 0, 0, 2));
	if (r.two && far)
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x21, 1));
	else if (r.two)
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x11, 1));
	else if (far)
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x20, 1));
	else
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x10, 1));
	TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1));
}

/* Unpacker 0 to piece s: where it lies, how large it is. */
TT_INLINE void tt_unpack_a_from(const TtTiles *p, uint32_t s, uint32_t format)
{
	const uint32_t x = 16 * p->in_pitch[s];
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor) = tt_descriptor_x(format, x);
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor + 1) =
		tt_descriptor_yz(p->in_height[s], p->in_total[s]);
	TT_CFG(TT_AT_THCON_SEC0_REG5_Tile_x_dim_cntx0) = x | x << 16;
	TT_CFG(TT_AT_THCON_SEC0_REG3_Base_address) = tt_l1_16(p->in[s]);
}

/* Unpacker 1 to piece s. */
TT_INLINE void tt_unpack_b_from(const TtTiles *p, uint32_t s, uint32_t format)
{
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor) =
		tt_descriptor_x(format, 16 * p->in_pitch[s]);
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor + 1) =
		tt_descriptor_yz(p->in_height[s], p->in_total[s]);
	TT_CFG(TT_AT_THCON_SEC1_REG3_Base_address) = tt_l1_16(p->in[s]);
}

#endif
