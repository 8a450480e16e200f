/*
 * Pieces of activations: TRISC1, called by math routines (tt_act of math.h).
 *
 * An act takes 32 values at a time from Dst, works on them in registers 0 to 3 of
 * the vector unit and puts them back. What it needs for all values stands in
 * registers 4 to 7 and, by SFPCONFIG, in 12 to 14, from before the first; these
 * last ones SFPSWAP compares with and leaves alone (SFPSWAP.md). 9, 10 and 11 hold
 * 0, 1 and -1 (LReg.md; tt_reset_math sets 11). The loop is to stay within the
 * instruction cache, 128 instructions, so that a slot of the vector unit takes one
 * cycle. Storing goes on to the next 32 values, by modifier 6; to another face it goes
 * by saying where that starts.
 *
 * Errors are stated before the packers round to bf16, which is 2^-9 of the value,
 * and for finite input; denormals count as 0. No act makes a NaN of a number.
 */
#ifndef RUNTIME_DEVICE_ACT_H
#define RUNTIME_DEVICE_ACT_H

#include "runtime/device/math.h"

/* to = a * b + c; the next instruction must not read it (SFPMAD.md). */
#define TT_SFPU_FMA(to, a, b, c) TT_I(OP_SFPMAD(0, to, c, b, a))

/* In one instruction: the upper half of fp32, or fp16. */
#define TT_SFPU_BF16(reg, bits) TT_I(OP_SFPLOADI(bits, 0, reg))
#define TT_SFPU_FP16(reg, bits) TT_I(OP_SFPLOADI(bits, 1, reg))

/* Registers 12 to 14, by way of 0. */
#define TT_SFPU_FIX(reg, bits)                                                                     \
	TT_SFPU_CONSTANT(0, bits);                                                                 \
	TT_I(OP_SFPCONFIG(0, reg, 0))

/* The same of a parameter of the op. */
#define TT_SFPU_FIX_PARAM(reg, bits)                                                               \
	tt_sfpu_word(0, bits);                                                                    \
	TT_I(OP_SFPCONFIG(0, reg, 0))

/* Lanes of a condition: off before and after, then instructions for lanes where
 * the register is negative, or is not, until TT_SFPU_ALL. */
#define TT_SFPU_CONDITIONS()     TT_I(OP_SFPENCC(10, 0, 3))
#define TT_SFPU_NO_CONDITIONS()  TT_I(OP_SFPENCC(10, 0, 2))
#define TT_SFPU_IF_NEGATIVE(reg) TT_I(OP_SFPSETCC(0, 0, reg, 0))
#define TT_SFPU_IF_POSITIVE(reg) TT_I(OP_SFPSETCC(4, 0, reg, 0))
#define TT_SFPU_ALL()            TT_I(OP_SFPENCC(0, 0, 0))

/* Where an act is: the face behind the one at hand, the bytes of it and those behind it
 * in the tile, where that begins, tiles left; in the face, vectors left. */
typedef struct TtActWalk {
	uint32_t row, faces, tile, tiles, left;
} TtActWalk;

#define TT_ACT_EACH(t)                                                                             \
	for (TtActWalk tt_at = tt_act_walk(t); tt_act_face(t, &tt_at);)                            \
		for (; tt_at.left; tt_at.left--)
#define TT_ACT_LOAD(reg)   TT_I(OP_SFPLOAD(0, 3, 0, reg))
#define TT_ACT_STORE(reg)  TT_I(OP_SFPSTORE(0, 2, 0, reg))

/* Modifier 6 steps Dst alone: how far, each face says. */
TT_INLINE void tt_act_begin(void)
{
	tt_sfpu_begin();
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_AB_SEC6_SrcAIncr));
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_BIAS_SEC6_BiasIncr));
}

TT_INLINE TtActWalk tt_act_walk(const TtActTiles *t)
{
	TtActWalk w = { t->row, t->tiles > 1 ? t->faces : t->last, t->row, t->tiles, 0 };
	return w;
}

/* Goes to the next face with vectors to work on; 0 if there is none. */
TT_INLINE uint32_t tt_act_face(const TtActTiles *t, TtActWalk *w)
{
	uint32_t face;
	do {
		if (!w->faces) {
			if (!--w->tiles)
				return 0;
			w->row = w->tile += TT_TILE_ROWS;
			w->faces = w->tiles > 1 ? t->faces : t->last;
		}
		face = w->faces & 0xff;
		w->left = face & TT_ACT_COUNT;
		w->faces >>= 8;
		w->row += TT_FACE_ROWS;
	} while (!w->left);
	TT_PUSH(OP_SETC16(face & TT_ACT_EVEN ? 4 : 2, TT_AT_ADDR_MOD_DST_SEC6_DestIncr));
	tt_math_tile(w->row - TT_FACE_ROWS);
	TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));
	return 1;
}

/* What tt_sfpu_exp2 and tt_sfpu_reciprocal want in registers 4 to 7, 12 and 13. */
TT_INLINE void tt_sfpu_exp2_constants(void)
{
	TT_SFPU_FIX(12, 0x3f02697du);
	TT_SFPU_CONSTANT(7, 0x3ea082d7u);
	TT_SFPU_CONSTANT(6, 0x3e291523u);
	TT_SFPU_CONSTANT(5, 0xbac04e2cu);
	TT_SFPU_CONSTANT(4, 0x3c5bfd82u);
}

TT_INLINE void tt_sfpu_reciprocal_constant(void)
{
	TT_SFPU_FIX(13, 0x7ef311c7u);
}

/*
 * 2^(r - 639) to register 1, where r stands, from 512 (which gives 0) to 767
 * (infinite): error 2^-15. Registers 0 and 2 are lost.
 *
 * Such an r has 14 bits of fraction. Shifted to the left by 9 the whole part of
 * r - 512 is the exponent of the result and the fraction f its mantissa, which
 * 1 + f, and so 2^f, depends on: a polynomial in 1 + f to 2^-18, 1 where f is 0 and
 * below 2 for all f (tried out, as it rounds).
 */
TT_INLINE void tt_sfpu_exp2(void)
{
	TT_I(OP_SFPSHFT(1, 1, 0, 9));
	TT_I(OP_SFPSETEXP(1, 2, 1, 127));
	TT_SFPU_MAD(0, 4, 2, 5);
	TT_SFPU_MAD(0, 0, 2, 6);
	TT_SFPU_MAD(0, 0, 2, 7);
	TT_SFPU_MAD(0, 0, 2, 12);
	TT_I(OP_SFPSETEXP(2, 1, 0, 0));
}

/* 639 to register `reg`; at least 512, in register 1. Register 2 is lost. */
#define TT_ACT_639(reg) TT_SFPU_FP16(reg, 0x60fe)
#define TT_ACT_512()                                                                               \
	TT_SFPU_BF16(2, 0x4400);                                                                   \
	TT_SFPU_ORDER(9, 1, 2)

/*
 * 1 / d to register 3, for d from 2^-126 to 2^112, where it stands, and -d in register
 * 2: error 2^-17. Register 0 is lost. An integer subtraction is right to 5%; two
 * Newton steps. The next instruction must not read register 3.
 */
TT_INLINE void tt_sfpu_reciprocal_of(void)
{
	TT_I(OP_SFPIADD(6, 3, 13, 0));
	TT_SFPU_MAD(0, 2, 3, 10);
	TT_SFPU_MAD(3, 3, 0, 3);
	TT_SFPU_MAD(0, 2, 3, 10);
	TT_SFPU_FMA(3, 3, 0, 3);
}

/* The same of register 2, which is lost. */
TT_INLINE void tt_sfpu_reciprocal(void)
{
	TT_I(OP_SFPMOV(0, 3, 2));
	TT_I(OP_SFPMOV(1, 2, 2));
	tt_sfpu_reciprocal_of();
}

#endif
