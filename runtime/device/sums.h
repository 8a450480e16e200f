/*
 * Partial sums between the pages of a group's weights: TRISC0 brings them from L1
 * back to Dst, TRISC2 takes them there.
 *
 * A page of circular buffer `sums_cb` has the tiles of a unit of positions as they
 * lie in Dst, 64 rows of 16 fp32 values each. The packers copy all 32 bits and
 * unpacker 0 writes them to Dst as they are, so a sum is the same as if it had
 * stayed there. TT_SEM_SUMS is 1 while math waits for a half of Dst to be filled.
 *
 * Stalls. Unpacker 0 is turned to Dst and back by REG2FLOP: TT_FOR_UNPACK before,
 * TT_FOR_THCON behind (STALLWAIT.md). It writes Dst by row (UNPACR_Regular.md),
 * which wants SRCA_SET_SetOvrdWithAddr off. The semaphore goes down when it is
 * through (C1), the page is given back after a sync; TRISC2 gives a page to
 * TRISC0 after C3 to C6 and a sync.
 */
#ifndef RUNTIME_DEVICE_SUMS_H
#define RUNTIME_DEVICE_SUMS_H

#include "runtime/device/tiles.h"

enum { TT_SUMS_TILE = 4096 };

TT_INLINE void tt_sums_open(const TtTiles *p, uint32_t tiles)
{
	if (p->sums_pages)
		tt_cb_open(p->sums_cb, p->sums, tiles * TT_SUMS_TILE, p->sums_pages);
}

/* Registers of TRISC0: what unpacker 0 is told for sums and for weights. */
enum {
	TT_G_SUMS_AT = 48, /* base address */
	TT_G_SUMS = 49,    /* first word of the descriptor, two of formats */
	TT_G_SUMS_BACK = 52,
};

TT_INLINE void tt_sums_unpack_config(uint32_t weights)
{
	const uint32_t slow = TT_FIELD(THCON_SEC0_REG2_Throttle_mode, 2);
	TT_GPR(TT_G_SUMS) = TT_FP32 | 1 << 4 | 1024 << 16;
	TT_GPR(TT_G_SUMS + 1) = TT_FP32 | slow;
	TT_GPR(TT_G_SUMS + 2) = 0xf000f | TT_FIELD(THCON_SEC0_REG2_Unpack_if_sel_cntx0, 1);
	TT_GPR(TT_G_SUMS_BACK) = weights | 1 << 4 | 1024 << 16;
	TT_GPR(TT_G_SUMS_BACK + 1) = tt_source(weights) | slow;
	TT_GPR(TT_G_SUMS_BACK + 2) = 0xf000f;
}

#define TT_SUMS_TURN(registers)                                                                    \
	do {                                                                                       \
		TT_I(TT_FLOP(TT_AT_THCON_SEC0_REG0_TileDescriptor, registers));                    \
		TT_I(TT_FLOP(TT_AT_THCON_SEC0_REG2_Out_data_format, (registers) + 1));             \
		TT_I(TT_FLOP(TT_AT_THCON_SEC0_REG2_Out_data_format + 1, (registers) + 2));         \
	} while (0)

/* The next page to Dst, from `row` on. A row is two steps of y, 32 bytes each. */
TT_INLINE void tt_sums_load(const TtTiles *p, uint32_t row, uint32_t tiles)
{
	cb_wait_front(p->sums_cb, 1);
	TT_STALL(TT_HOLD_THCON, TT_FOR_UNPACK);
	tt_gpr_set(TT_G_SUMS_AT, tt_l1_16(get_read_ptr(p->sums_cb)));
	TT_I(TT_FLOP(TT_AT_THCON_SEC0_REG3_Base_address, TT_G_SUMS_AT));
	TT_SUMS_TURN(TT_G_SUMS);
	TT_I(OP_SETC16(0, TT_AT_SRCA_SET_SetOvrdWithAddr));
	TT_I(OP_SETADCZW(1, 0, 0, 0, 0, 1));
	TT_I(OP_SEMWAIT(TT_SEM_EMPTY, TT_SEM_SUMS, TT_HOLD_TDMA | TT_HOLD_SYNC));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
	for (; tiles; tiles--, row += TT_TILE_ROWS) {
		TT_PUSH(OP_SETADC(2 * row, 1, 1, 1));
		TT_I(OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x01, 0));
	}
	TT_STALL(TT_HOLD_THCON, TT_FOR_UNPACK);
	TT_I(OP_SEMGET(TT_SEM_SUMS));
	TT_SUMS_TURN(TT_G_SUMS_BACK);
	TT_I(OP_SETC16(4, TT_AT_SRCA_SET_SetOvrdWithAddr));
	TT_I(OP_SETADCXY(8, 0, 0, 0, 0, 1));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_THCON);
	tt_sync();
	cb_pop_front(p->sums_cb, 1);
}

/* Math: the half of Dst is ready for sums; until they are there. */
#define TT_SUMS_AWAIT()                                                                            \
	do {                                                                                       \
		TT_I(OP_SEMPOST(TT_SEM_SUMS));                                                     \
		TT_I(OP_SEMWAIT(TT_SEM_FULL, TT_SEM_SUMS,                                          \
				TT_HOLD_MATH | TT_HOLD_SFPU | TT_HOLD_SYNC));                      \
	} while (0)

#endif
