/*
 * 1 / x and 1 / sqrt(x + a), for other ops to be made of.
 */
#ifndef RUNTIME_DEVICE_ACT_ROOT_H
#define RUNTIME_DEVICE_ACT_ROOT_H

#include "runtime/device/act.h"

/* Error 2^-14 of the value for |x| up to 2^112, absolute 2^-112 from there on; of 0
 * it is 2^126. 19 instructions for 32 values. */
TT_ROUTINE void tt_act_reciprocal(const TtTiles *p, const TtActTiles *t)
{
	(void)p;
	tt_act_begin();
	tt_sfpu_reciprocal_constant();
	TT_SFPU_FIX(12, 0x00800000u); /* 2^-126 */
	TT_SFPU_FIX(14, 0x7e000000u); /* 2^125 */
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(1);
		TT_I(OP_SFPSETSGN(1, 2, 1, 0));
		TT_SFPU_ORDER(9, 2, 12);
		TT_SFPU_ORDER(1, 2, 14);
		tt_sfpu_reciprocal();
		TT_I(OP_SFPNOP());
		TT_I(OP_SFPSETSGN(0, 1, 3, 0));
		TT_ACT_STORE(1);
	}
	tt_sfpu_end();
}

/* Of x + a from 2^-125 on; below, of 2^-125. Error 2^-17 of the value: an integer
 * subtraction is right to 3.5%; two Newton steps. 23 instructions for 32 values. */
TT_ROUTINE void tt_act_rsqrt(const TtTiles *p, const TtActTiles *t)
{
	tt_act_begin();
	tt_sfpu_word(4, p->act[0]);
	TT_SFPU_FIX(12, 0x01000000u); /* 2^-125, of which half is still a number */
	TT_SFPU_FIX(13, 0x5f3759dfu);
	TT_SFPU_BF16(5, 0xbf00); /* -1/2 */
	TT_SFPU_BF16(6, 0x3fc0); /* 3/2 */
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(0);
		TT_SFPU_MAD(0, 0, 10, 4);
		TT_SFPU_ORDER(9, 0, 12);
		TT_I(OP_SFPMOV(0, 1, 0));
		TT_I(OP_SFPSHFT(1, 1, 0, 0xfff)); /* to the right by 1 */
		TT_I(OP_SFPIADD(6, 1, 13, 0));
		TT_SFPU_MAD(0, 0, 5, 9);
		TT_SFPU_MAD(2, 0, 1, 9);
		TT_SFPU_MAD(2, 2, 1, 6);
		TT_SFPU_MAD(1, 1, 2, 9);
		TT_SFPU_MAD(2, 0, 1, 9);
		TT_SFPU_MAD(2, 2, 1, 6);
		TT_SFPU_MAD(1, 1, 2, 9);
		TT_ACT_STORE(1);
	}
	tt_sfpu_end();
}

#endif
