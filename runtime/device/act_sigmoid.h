/*
 * The logistic function and what is x times it: sigmoid, silu, and gelu_tanh,
 * since (1 + tanh u) / 2 = sigmoid(2 u).
 *
 * Errors are 2^-14 of the value where that is more than 2^-119; what is smaller
 * comes out that small or as 0. Far out they are 0, 1 and x.
 */
#ifndef RUNTIME_DEVICE_ACT_SIGMOID_H
#define RUNTIME_DEVICE_ACT_SIGMOID_H

#include "runtime/device/act.h"

/*
 * With e = 2^(r - 639), r in register 1 and not above 639: 1 / (1 + e) where the
 * value in Dst is not negative, e / (1 + e) where it is, so that neither cancels.
 * To register 3; the value to register 2. Register 0 is lost.
 */
TT_INLINE void tt_sfpu_logistic(void)
{
	TT_ACT_512();
	tt_sfpu_exp2();
	TT_SFPU_FMA(3, 1, 10, 10);
	TT_SFPU_FMA(2, 1, 11, 11);
	tt_sfpu_reciprocal_of();
	TT_ACT_LOAD(2);
	TT_SFPU_IF_NEGATIVE(2);
	TT_SFPU_FMA(3, 3, 1, 9);
	TT_SFPU_ALL();
}

TT_INLINE void tt_sfpu_logistic_begin(void)
{
	tt_act_begin();
	tt_sfpu_exp2_constants();
	tt_sfpu_reciprocal_constant();
	TT_SFPU_CONDITIONS();
}

TT_INLINE void tt_sfpu_logistic_end(void)
{
	TT_SFPU_NO_CONDITIONS();
	tt_sfpu_end();
}

/* 639 - |x| / ln 2 to register 1; 1 / ln 2 is register 14. */
TT_INLINE void tt_sfpu_minus_x(void)
{
	TT_ACT_LOAD(0);
	TT_I(OP_SFPSETSGN(1, 0, 0, 1));
	TT_ACT_639(3);
	TT_SFPU_FMA(1, 0, 14, 3);
}

/* 33 instructions for 32 values. */
TT_ROUTINE void tt_act_sigmoid(const TtTiles *p, const TtActTiles *t)
{
	(void)p;
	tt_sfpu_logistic_begin();
	TT_SFPU_FIX(14, 0x3fb8aa3bu);
	TT_ACT_EACH(t) {
		tt_sfpu_minus_x();
		tt_sfpu_logistic();
		TT_ACT_STORE(3);
	}
	tt_sfpu_logistic_end();
}

/* 35 instructions for 32 values. */
TT_ROUTINE void tt_act_silu(const TtTiles *p, const TtActTiles *t)
{
	(void)p;
	tt_sfpu_logistic_begin();
	TT_SFPU_FIX(14, 0x3fb8aa3bu);
	TT_ACT_EACH(t) {
		tt_sfpu_minus_x();
		tt_sfpu_logistic();
		TT_SFPU_MAD(3, 3, 2, 9);
		TT_ACT_STORE(3);
	}
	tt_sfpu_logistic_end();
}

/* 2 u / ln 2 = x * (a + b * x^2), with a = 2 sqrt(2 / pi) / ln 2 and b = 0.044715 a.
 * 39 instructions for 32 values. */
TT_ROUTINE void tt_act_gelu_tanh(const TtTiles *p, const TtActTiles *t)
{
	(void)p;
	tt_sfpu_logistic_begin();
	TT_SFPU_FIX(14, 0xbdd2d3e8u); /* -b */
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(0);
		TT_SFPU_FMA(1, 0, 0, 9);
		TT_SFPU_CONSTANT(2, 0xc0135761u); /* -a */
		TT_SFPU_FMA(1, 1, 14, 2);
		TT_I(OP_SFPSETSGN(1, 0, 0, 0));
		TT_ACT_639(3);
		TT_SFPU_FMA(1, 0, 1, 3);
		tt_sfpu_logistic();
		TT_SFPU_MAD(3, 3, 2, 9);
		TT_ACT_STORE(3);
	}
	tt_sfpu_logistic_end();
}

#endif
