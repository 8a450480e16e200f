/*
 * tanh: error 2^-13 of the value for every x, 1 and -1 far out.
 *
 * |x|, at most 5, times a quotient of two quadratics in x^2, with the sign of x; fitted
 * to 2^-14, beyond 5 what is left out is 2^-13. 27 instructions for 32 values.
 */
#ifndef RUNTIME_DEVICE_ACT_TANH_H
#define RUNTIME_DEVICE_ACT_TANH_H

#include "runtime/device/act.h"

TT_ROUTINE void tt_act_tanh(const TtTiles *p, const TtActTiles *t)
{
	(void)p;
	tt_act_begin();
	tt_sfpu_reciprocal_constant();
	TT_SFPU_FIX(14, 0x40a00000u);
	TT_SFPU_FIX(12, 0x3edef181u);
	TT_SFPU_CONSTANT(7, 0x3c520d9bu);
	TT_SFPU_CONSTANT(4, 0x3a2fcd2au);
	TT_SFPU_CONSTANT(5, 0x3dd1c1dcu);
	TT_SFPU_CONSTANT(6, 0x3f7ffca2u);
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(0);
		TT_I(OP_SFPSETSGN(1, 1, 0, 0));
		TT_SFPU_ORDER(1, 1, 14);
		TT_SFPU_MAD(0, 1, 1, 9);
		TT_SFPU_FMA(2, 7, 0, 12); /* the divisor, in register 2 */
		TT_SFPU_FMA(3, 4, 0, 5);
		TT_SFPU_FMA(2, 2, 0, 10);
		TT_SFPU_MAD(3, 3, 0, 6);
		TT_SFPU_FMA(1, 1, 3, 9);
		tt_sfpu_reciprocal();
		TT_I(OP_SFPNOP());
		TT_SFPU_FMA(3, 3, 1, 9);
		TT_ACT_LOAD(0);
		TT_I(OP_SFPSETSGN(0, 0, 3, 0));
		TT_ACT_STORE(0);
	}
	tt_sfpu_end();
}

#endif
