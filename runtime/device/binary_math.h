/*
 * Sum, difference or product of two tensors, math side: TRISC1.
 *
 * 8 ELWADDs or ELWSUBs a tile, which write Dst. ELWMUL always adds to it, so a
 * product first clears the half of Dst; its 4 phases of 8 ELWMULs see all bits of
 * both operands. Both take column 0 or row 0 of SrcB for all where operand B has
 * one channel or one column (`spread`). Up to 4 rows of positions fill a half.
 *
 * Recorded at the start of the op: what is recorded depends on parameters, so
 * it is stored, 4 instructions at a time.
 */
#ifndef RUNTIME_DEVICE_BINARY_MATH_H
#define RUNTIME_DEVICE_BINARY_MATH_H

#include "runtime/device/math.h"

/* The argument `op` of binary_math and pair_math. */
enum { TT_ADD, TT_SUB, TT_MUL, TT_DIV, TT_PRELU, TT_MIN, TT_MAX };

TT_INLINE uint32_t tt_binary_rows(uint32_t op, uint32_t row, uint32_t modifier, uint32_t spread,
				  uint32_t release)
{
	return op == TT_ADD ? OP_ELWADD(row, modifier, spread, 0, release)
	     : op == TT_SUB ? OP_ELWSUB(row, modifier, spread, 0, release)
			    : OP_ELWMUL(row, modifier, spread, 0, release);
}

/* A tile in replay slots 0 to 7 or 8 to 15: modifier 0 within a plane, 1 behind
 * the first one, `last` and `release` at the end. */
TT_INLINE void tt_record_binary(uint32_t op, uint32_t spread, uint32_t last, uint32_t release)
{
	if (release)
		TT_I(OP_REPLAY(8, 4, 0, 1));
	else
		TT_I(OP_REPLAY(0, 4, 0, 1));
	TT_PUSH(tt_binary_rows(op, 0, 0, spread, 0));
	TT_PUSH(tt_binary_rows(op, 8, 0, spread, 0));
	TT_PUSH(tt_binary_rows(op, 32, 0, spread, 0));
	TT_PUSH(tt_binary_rows(op, 40, 1, spread, 0));
	if (release)
		TT_I(OP_REPLAY(12, 4, 0, 1));
	else
		TT_I(OP_REPLAY(4, 4, 0, 1));
	TT_PUSH(tt_binary_rows(op, 16, 0, spread, 0));
	TT_PUSH(tt_binary_rows(op, 24, 0, spread, 0));
	TT_PUSH(tt_binary_rows(op, 48, 0, spread, 0));
	TT_PUSH(tt_binary_rows(op, 56, last, spread, release));
}

TT_INLINE void tt_binary_setup(uint32_t op, uint32_t spread)
{
	if (spread & 2) {
		TT_MODIFIER(0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		TT_MODIFIER(1, 8, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0);
	} else {
		TT_MODIFIER(0, 8, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0);
		TT_MODIFIER(1, 8, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0);
	}
	TT_MODIFIER(2, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0);
	TT_MODIFIER(3, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0);
	if (op == TT_MUL)
		tt_record_binary(op, spread, 2, 0);
	tt_record_binary(op, spread, 3, 3);
	tt_mop_sync();
	TT_MOP_WORD(0) = 1;
	TT_MOP_WORD(1) = op == TT_MUL ? 4 : 1;
	TT_MOP_WORD(2) = OP_NOP();
	TT_MOP_WORD(3) = OP_SETRWC(8, 0, 0, 0, 0, 0);
	TT_MOP_WORD(4) = OP_NOP();
	TT_MOP_WORD(5) = OP_REPLAY(0, 8, 0, 0);
	TT_MOP_WORD(6) = OP_NOP();
	TT_MOP_WORD(7) = OP_REPLAY(8, 8, 0, 0);
	TT_MOP_WORD(8) = OP_REPLAY(8, 8, 0, 0);
}

TT_ROUTINE void tt_binary_math(const TtTiles *p, uint32_t op)
{
	const uint32_t pairs = (p->out_planes + 1) / 2;
	uint32_t half = 0;
	tt_math_config();
	tt_math_wide_sources();
	tt_binary_setup(op, p->spread[1]);
	for (uint32_t pair = 0; pair < pairs; pair++) {
		const uint32_t channels = tt_act_channels(p, pair);
		TtPlace at = tt_place_first();
		for (; tt_place_there(p, &at); tt_place_next(p, &at, TT_HALF_TILES)) {
			const uint32_t held = tt_least(p->rows - at.y, TT_HALF_TILES);
			TT_MATH_BEGIN();
			if (op == TT_MUL && half)
				TT_I(OP_ZEROACC(1, 0, 2));
			else if (op == TT_MUL)
				TT_I(OP_ZEROACC(0, 0, 2));
			for (uint32_t h = 0; h < held; h++) {
				tt_math_tile(half + h * TT_TILE_ROWS);
				TT_I(OP_MOP(1, 0, 0));
			}
			tt_act(p, half, held, channels, 0, p->cols - at.x);
			TT_MATH_END();
			half ^= TT_HALF_ROWS;
		}
	}
}

#endif
