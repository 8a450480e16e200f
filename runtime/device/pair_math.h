/*
 * Two tensors of any broadcast by the vector unit, math side: TRISC1.
 *
 * Tiles 0 and 1 of a half of Dst get operand A of up to 2 rows of positions, tiles
 * 2 and 3 operand B: ELWADD adds SrcB, or its column 0 or row 0, to the zeros that
 * stay in SrcA. Then the vector unit makes tiles 0 and 1 the result, in fp32.
 *
 * A quotient is within 2 units of the last place of fp32 for divisors of 2^-125 to
 * 2^125 in size: three Newton steps for 1 / b. What is divided by 0 becomes 0: the
 * channels that fill up a plane are 0 in both operands, and an infinity there would
 * spoil the exponent that bfp8_b shares, or a product with zero weights later on.
 * Prelu is max(a, 0) + b * min(a, 0).
 *
 * Cycles a tile: 16 ELWADDs; the vector unit 32 times 7 (sum) to 27 (quotient)
 * instructions, 224 to 864.
 */
#ifndef RUNTIME_DEVICE_PAIR_MATH_H
#define RUNTIME_DEVICE_PAIR_MATH_H

#include "runtime/device/act.h"
#include "runtime/device/binary_math.h"

#define TT_PAIR_ROWS(row, modifier, release) \
	TT_PUSH(OP_ELWADD(row, modifier, spread, 0, release))

/* A tile of an operand, in replay slots 0 to 7 or (`second`) 8 to 15. */
TT_INLINE void tt_record_operand(uint32_t spread, uint32_t second)
{
	const uint32_t within = spread & 2 ? 1 : 0, behind = spread & 2 ? 2 : 0;
	if (second)
		TT_I(OP_REPLAY(8, 4, 0, 1));
	else
		TT_I(OP_REPLAY(0, 4, 0, 1));
	TT_PAIR_ROWS(0, within, 0);
	TT_PAIR_ROWS(8, within, 0);
	TT_PAIR_ROWS(32, within, 0);
	TT_PAIR_ROWS(40, behind, 0);
	if (second)
		TT_I(OP_REPLAY(12, 4, 0, 1));
	else
		TT_I(OP_REPLAY(4, 4, 0, 1));
	TT_PAIR_ROWS(16, within, 0);
	TT_PAIR_ROWS(24, within, 0);
	TT_PAIR_ROWS(48, within, 0);
	TT_PAIR_ROWS(56, 3, 2);
}

TT_INLINE void tt_pair_setup(const TtTiles *p)
{
	TT_MODIFIER(0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0);
	TT_MODIFIER(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	TT_MODIFIER(2, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0);
	TT_MODIFIER(3, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0);
	tt_record_operand(p->spread[0], 0);
	tt_record_operand(p->spread[1], 1);
	TT_I(OP_NOP());
}

/* Register 3 = 1 / register 1, 0 of 0; changes 1, 2 and 4. Conditions are on. */
TT_INLINE void tt_sfpu_inverse(void)
{
	TT_I(OP_SFPMOV(0, 3, 1));
	TT_SFPU_CONSTANT(2, 0x7ef311c7u); /* 1 / b within 12 %: this minus the bits of b */
	TT_I(OP_SFPIADD(6, 3, 2, 0));
	TT_SFPU_MAD(1, 1, 11, 9);
	TT_SFPU_CONSTANT(2, 0x40000000u);
	for (uint32_t i = 0; i < 3; i++) {
		TT_SFPU_MAD(4, 1, 3, 2);
		TT_SFPU_MAD(3, 3, 4, 9);
	}
	TT_I(OP_SFPSETCC(6, 0, 1, 0)); /* where it is 0 */
	TT_I(OP_SFPMOV(0, 3, 9));
	TT_SFPU_ALL();
}

/* 32 values: a in register 0, b in 1; registers 9, 10 and 11 hold 0, 1 and -1. */
TT_INLINE void tt_pair_values(uint32_t op)
{
	TT_I(OP_SFPLOAD(0, 3, 0, 0));
	TT_I(OP_SFPLOAD(2 * TT_TILE_ROWS, 3, 0, 1));
	if (op == TT_ADD) {
		TT_SFPU_MAD(0, 0, 10, 1);
	} else if (op == TT_SUB) {
		TT_SFPU_MAD(0, 1, 11, 0);
	} else if (op == TT_MUL) {
		TT_SFPU_MAD(0, 0, 1, 9);
	} else if (op == TT_DIV) {
		tt_sfpu_inverse();
		TT_SFPU_MAD(0, 0, 3, 9);
	} else if (op == TT_PRELU) {
		TT_I(OP_SFPMOV(0, 2, 9));
		TT_SFPU_ORDER(1, 0, 2);
		TT_SFPU_MAD(0, 0, 1, 2);
	} else if (op == TT_MIN) {
		TT_SFPU_ORDER(1, 0, 1);
	} else {
		TT_SFPU_ORDER(1, 1, 0);
	}
	TT_I(OP_SFPSTORE(0, 3, 0, 0));
	TT_I(OP_INCRWC(0, 0, 2, 0));
}

TT_INLINE void tt_pair_tiles(uint32_t row, uint32_t tiles, uint32_t op)
{
	tt_sfpu_begin();
	if (op == TT_DIV)
		TT_SFPU_CONDITIONS();
	for (; tiles; tiles--, row += TT_TILE_ROWS) {
		tt_math_tile(row);
		TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));
		for (uint32_t i = 32; i; i--)
			tt_pair_values(op);
	}
	if (op == TT_DIV)
		TT_SFPU_NO_CONDITIONS();
	tt_sfpu_end();
}

TT_ROUTINE void tt_pair_math(const TtTiles *p, uint32_t op)
{
	const uint32_t pairs = (p->out_planes + 1) / 2;
	uint32_t half = 0;
	tt_math_config();
	tt_pair_setup(p);
	for (uint32_t pair = 0; pair < pairs; pair++) {
		const uint32_t channels = tt_act_channels(p, pair);
		TtPlace at = tt_place_first();
		for (; tt_place_there(p, &at); tt_place_next(p, &at, 2), half ^= TT_HALF_ROWS) {
			const uint32_t held = tt_least(p->rows - at.y, 2);
			TT_MATH_BEGIN();
			for (uint32_t h = 0; h < held; h++) {
				tt_math_tile(half + h * TT_TILE_ROWS);
				TT_I(OP_REPLAY(0, 8, 0, 0));
			}
			for (uint32_t h = 0; h < held; h++) {
				tt_math_tile(half + (2 + h) * TT_TILE_ROWS);
				TT_I(OP_REPLAY(8, 8, 0, 0));
			}
			tt_pair_tiles(half, held, op);
			tt_act(p, half, held, channels, 0, p->cols - at.x);
			TT_MATH_END();
		}
	}
	if (!p->rows)
		TT_STALL(TT_HOLD_MATH, TT_FOR_SRCA); /* nothing else has waited for it */
	TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 1));
}

#endif
