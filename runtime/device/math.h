/*
 * What the matrix unit and the vector unit share between ops: formats, address
 * modifiers, and the vector unit's functions. TRISC1.
 *
 * Address modifiers 0 to 5 are those of a tile product over pixels that stand as
 * two runs of 32 rows in SrcB, 6 and 7 those of bias (see conv_math.h).
 */
#ifndef RUNTIME_DEVICE_MATH_H
#define RUNTIME_DEVICE_MATH_H

#include "runtime/device/tiles.h"

/* Modifier `n`: steps of SrcA, SrcB and Dst, each with a flag that the step is
 * from where the counter last returned to, and one that clears it; a step of the
 * fidelity phase; and whether modifiers 4 to 7 stand for 0 to 3 from then on. */
#define TT_MODIFIER(n, a, a_cr, a_clear, b, b_cr, b_clear, d, d_cr, d_clear, phase, other)         \
	TT_I(OP_SETC16((a) | (a_cr) << 6 | (a_clear) << 7 | (b) << 8 | (b_cr) << 14 |              \
			       (b_clear) << 15,                                                    \
		       TT_AT_ADDR_MOD_AB_SEC##n##_SrcAIncr));                                      \
	TT_I(OP_SETC16((d) | (d_cr) << 10 | (d_clear) << 11 | (phase) << 13,                       \
		       TT_AT_ADDR_MOD_DST_SEC##n##_DestIncr));                                     \
	TT_I(OP_SETC16(other, TT_AT_ADDR_MOD_BIAS_SEC##n##_BiasIncr))

/* Where math works in Dst: half h, tile t of it. */
TT_INLINE void tt_math_tile(uint32_t row)
{
	TT_PUSH(OP_SETC16(row, TT_AT_DEST_TARGET_REG_CFG_MATH_Offset));
}

/* Both sources with 8 bits of exponent, Dst of 32 bits. The packers' thread
 * writes other bits of the same word, hence in parts. */
TT_INLINE void tt_math_config(void)
{
	TT_STALL(TT_HOLD_CFG, TT_FOR_MATH | TT_FOR_SFPU);
	tt_cfg_part(TT_AT_ALU_FORMAT_SPEC_REG0_SrcA,
		    TT_FIELD(ALU_FORMAT_SPEC_REG0_SrcA, 15) |
			    TT_FIELD(ALU_FORMAT_SPEC_REG1_SrcB, 15) |
			    TT_FIELD(ALU_ACC_CTRL_INT8_math_enabled, 1) |
			    TT_FIELD(ALU_ACC_CTRL_Fp32_enabled, 1) |
			    TT_FIELD(ALU_ACC_CTRL_SFPU_Fp32_enabled, 1),
		    TT_FIELD(ALU_FORMAT_SPEC_REG0_SrcA, TT_BF16) |
			    TT_FIELD(ALU_FORMAT_SPEC_REG1_SrcB, TT_BF16) |
			    TT_FIELD(ALU_ACC_CTRL_Fp32_enabled, 1) |
			    TT_FIELD(ALU_ACC_CTRL_SFPU_Fp32_enabled, 1));
	tt_cfg_part(TT_AT_ALU_ACC_CTRL_Zero_Flag_disabled_src,
		    TT_FIELD(ALU_ACC_CTRL_Zero_Flag_disabled_src, 1), 0);
	TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 0));
	TT_STALL(TT_HOLD_MATH | TT_HOLD_SFPU, TT_FOR_STORES);
}

/* A half of Dst that the packers have emptied; and when it is full. */
#define TT_MATH_BEGIN()                                                                            \
	TT_I(OP_SEMWAIT(TT_SEM_FULL, TT_SEM_DST, TT_HOLD_MATH | TT_HOLD_SFPU | TT_HOLD_SYNC))
#define TT_MATH_END()                                                                              \
	do {                                                                                       \
		TT_STALL(TT_HOLD_SYNC, TT_FOR_MATH | TT_FOR_SFPU);                                 \
		TT_I(OP_SEMPOST(TT_SEM_DST));                                                      \
	} while (0)

/* A 32-bit constant to a register of the vector unit. */
#define TT_SFPU_CONSTANT(reg, bits)                                                                \
	TT_I(OP_SFPLOADI((bits) & 0xffff, 10, reg));                                               \
	TT_I(OP_SFPLOADI((bits) >> 16, 8, reg))

/* to = a * b + c; the result is there one slot later (VectorUnit.md). */
#define TT_SFPU_MAD(to, a, b, c)                                                                   \
	TT_I(OP_SFPMAD(0, to, c, b, a));                                                           \
	TT_I(OP_SFPNOP())

/* Smaller to `low`, larger to `high` (mode 1), or the other way (mode 9). */
#define TT_SFPU_ORDER(mode, low, high)                                                             \
	TT_I(OP_SFPSWAP(mode, low, high));                                                         \
	TT_I(OP_SFPNOP())

/* Modifiers 4 to 7 for all instructions, and 7 with no step at all: how the
 * vector unit walks Dst, by INCRWC. */
TT_INLINE void tt_sfpu_begin(void)
{
	TT_MODIFIER(7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	TT_I(OP_SETC16(1, TT_AT_ADDR_MOD_SET_Base));
	TT_STALL(TT_HOLD_SFPU, TT_FOR_MATH);
}

TT_INLINE void tt_sfpu_end(void)
{
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_SET_Base));
	TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));
	TT_STALL(TT_HOLD_MATH, TT_FOR_SFPU);
}

/* 32 values: registers 9, 10 and 11 hold 0, 1 and -1. */
TT_INLINE void tt_sfpu_sigmoid_values(void)
{
	TT_I(OP_SFPLOAD(0, 3, 0, 0));
	TT_SFPU_CONSTANT(1, 0xbfb8aa3bu); /* t = -x / ln 2, between -126 and 126 */
	TT_SFPU_MAD(1, 0, 1, 9);
	TT_SFPU_CONSTANT(2, 0x42fc0000u);
	TT_SFPU_ORDER(1, 1, 2);
	TT_SFPU_CONSTANT(2, 0xc2fc0000u);
	TT_SFPU_ORDER(9, 1, 2);
	TT_SFPU_CONSTANT(2, 0x4b400000u); /* n = t rounded, by adding 1.5 * 2^23; f = t - n */
	TT_SFPU_MAD(3, 1, 10, 2);
	TT_SFPU_CONSTANT(4, 0xcb400000u);
	TT_SFPU_MAD(4, 3, 10, 4);
	TT_SFPU_MAD(4, 4, 11, 1);
	TT_SFPU_CONSTANT(5, 0x3aaec3ffu); /* 2^f by its series */
	TT_SFPU_CONSTANT(6, 0x3c1d955bu);
	TT_SFPU_MAD(5, 5, 4, 6);
	TT_SFPU_CONSTANT(6, 0x3d635847u);
	TT_SFPU_MAD(5, 5, 4, 6);
	TT_SFPU_CONSTANT(6, 0x3e75fdf0u);
	TT_SFPU_MAD(5, 5, 4, 6);
	TT_SFPU_CONSTANT(6, 0x3f317218u);
	TT_SFPU_MAD(5, 5, 4, 6);
	TT_SFPU_MAD(5, 5, 4, 10);
	TT_I(OP_SFPSHFT(1, 3, 0, 23)); /* times 2^n: n to the exponent */
	TT_I(OP_SFPIADD(4, 5, 3, 0));
	TT_SFPU_MAD(5, 5, 10, 10); /* d = 1 + 2^t; 1 / d by three Newton steps */
	TT_I(OP_SFPMOV(0, 3, 5));
	TT_SFPU_CONSTANT(6, 0x7ef311c7u);
	TT_I(OP_SFPIADD(6, 3, 6, 0));
	TT_SFPU_MAD(5, 5, 11, 9);
	TT_SFPU_CONSTANT(2, 0x40000000u);
	TT_SFPU_MAD(6, 5, 3, 2);
	TT_SFPU_MAD(3, 3, 6, 9);
	TT_SFPU_MAD(6, 5, 3, 2);
	TT_SFPU_MAD(3, 3, 6, 9);
	TT_SFPU_MAD(6, 5, 3, 2);
	TT_SFPU_MAD(3, 3, 6, 9);
	TT_I(OP_SFPSTORE(0, 3, 0, 3));
	TT_I(OP_INCRWC(0, 0, 2, 0));
}

/* Of the tile at `row` of Dst. */
TT_INLINE void tt_sfpu_sigmoid(uint32_t row)
{
	tt_math_tile(row);
	TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));
	for (uint32_t i = 32; i; i--)
		tt_sfpu_sigmoid_values();
}

#endif
