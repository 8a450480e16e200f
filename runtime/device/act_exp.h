/*
 * The exponential function, and elu.
 */
#ifndef RUNTIME_DEVICE_ACT_EXP_H
#define RUNTIME_DEVICE_ACT_EXP_H

#include "runtime/device/act.h"

/* Error 2^-15 of the value; 0 below 2^-126, infinite from 2^128 on. 21 instructions
 * for 32 values. */
TT_ROUTINE void tt_act_exp(const TtTiles *p, const TtActTiles *t)
{
	(void)p;
	tt_act_begin();
	tt_sfpu_exp2_constants();
	TT_SFPU_FIX(14, 0x3fb8aa3bu); /* 1 / ln 2 */
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(0);
		TT_ACT_639(3);
		TT_SFPU_FMA(1, 0, 14, 3);
		TT_ACT_512();
		TT_SFPU_FP16(2, 0x61fe); /* 767 */
		TT_SFPU_ORDER(1, 1, 2);
		tt_sfpu_exp2();
		TT_ACT_STORE(1);
	}
	tt_sfpu_end();
}

/*
 * x, or where it is negative a * (exp x - 1): error 2^-15 of the value for every x.
 *
 * x / ln 2 = n + f with n whole and f from -1/2 to 1/2, exactly; n is found by
 * adding 1.5 * 2^23, plus the bias of an exponent. Then exp x - 1 =
 * 2^n * (2^f - 1) + (2^n - 1), where 2^f - 1 = f times a polynomial in f. 25
 * instructions for 32 values.
 */
TT_ROUTINE void tt_act_elu(const TtTiles *p, const TtActTiles *t)
{
	tt_act_begin();
	TT_SFPU_FIX_PARAM(14, p->act[0]);
	TT_SFPU_FIX(12, 0x3e75ff84u);
	TT_SFPU_FIX(13, 0x3f31716bu);
	TT_SFPU_CONSTANT(4, 0x3fb8aa3bu); /* 1 / ln 2 */
	TT_SFPU_CONSTANT(5, 0x4b40007fu);
	TT_SFPU_CONSTANT(6, 0x3c1d9548u);
	TT_SFPU_CONSTANT(7, 0x3d64b5a1u);
	TT_SFPU_CONDITIONS();
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(0);
		TT_SFPU_FMA(1, 0, 4, 9);
		TT_SFPU_BF16(2, 0xc2fc); /* -126: exp is next to nothing */
		TT_SFPU_ORDER(9, 1, 2);
		TT_SFPU_FMA(2, 1, 10, 5);
		TT_I(OP_SFPMOV(1, 3, 5));
		TT_SFPU_FMA(3, 2, 10, 3);
		TT_I(OP_SFPSHFT(1, 2, 0, 23)); /* 2^n */
		TT_SFPU_MAD(3, 3, 11, 1);      /* f */
		TT_SFPU_MAD(1, 6, 3, 7);
		TT_SFPU_MAD(1, 1, 3, 12);
		TT_SFPU_MAD(1, 1, 3, 13);
		TT_SFPU_FMA(1, 1, 3, 9);
		TT_SFPU_MAD(3, 2, 10, 11);
		TT_SFPU_FMA(1, 1, 2, 3);
		TT_SFPU_IF_NEGATIVE(0);
		TT_SFPU_FMA(0, 1, 14, 9);
		TT_SFPU_ALL();
		TT_ACT_STORE(0);
	}
	TT_SFPU_NO_CONDITIONS();
	tt_sfpu_end();
}

#endif
