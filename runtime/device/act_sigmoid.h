/*
 * 1 / (1 + exp -x) of tiles in Dst: TRISC1, called by math routines (tt_act).
 */
#ifndef RUNTIME_DEVICE_ACT_SIGMOID_H
#define RUNTIME_DEVICE_ACT_SIGMOID_H

#include "runtime/device/math.h"

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

TT_ROUTINE void tt_act_sigmoid(const TtTiles *p, uint32_t row, uint32_t tiles)
{
	(void)p;
	tt_sfpu_begin();
	tt_math_tile(row);
	TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));
	for (uint32_t i = 32 * tiles; i; i--)
		tt_sfpu_sigmoid_values();
	tt_sfpu_end();
}

#endif
