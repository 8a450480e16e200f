/*
 * Activations made of lines: leaky_relu, clip, hard_sigmoid, hard_swish.
 *
 * A product and a sum round to fp32 once, clip is exact. Where a * x + b comes to
 * nothing the error is that of fp32 against b.
 */
#ifndef RUNTIME_DEVICE_ACT_LINES_H
#define RUNTIME_DEVICE_ACT_LINES_H

#include "runtime/device/act.h"

/* 5 instructions for 32 values. */
TT_ROUTINE void tt_act_leaky_relu(const TtTiles *p, const TtActTiles *t)
{
	tt_act_begin();
	tt_sfpu_word(4, p->act[0]);
	TT_SFPU_CONDITIONS();
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(0);
		TT_SFPU_IF_NEGATIVE(0);
		TT_SFPU_FMA(0, 0, 4, 9);
		TT_SFPU_ALL();
		TT_ACT_STORE(0);
	}
	TT_SFPU_NO_CONDITIONS();
	tt_sfpu_end();
}

/* 6 instructions for 32 values. */
TT_ROUTINE void tt_act_clip(const TtTiles *p, const TtActTiles *t)
{
	tt_act_begin();
	TT_SFPU_FIX_PARAM(13, p->act[0]);
	TT_SFPU_FIX_PARAM(12, p->act[1]);
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(0);
		TT_SFPU_ORDER(9, 0, 12);
		TT_SFPU_ORDER(1, 0, 13);
		TT_ACT_STORE(0);
	}
	tt_sfpu_end();
}

/* 8 instructions for 32 values. */
TT_ROUTINE void tt_act_hard_sigmoid(const TtTiles *p, const TtActTiles *t)
{
	tt_act_begin();
	tt_sfpu_word(4, p->act[0]);
	tt_sfpu_word(5, p->act[1]);
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(0);
		TT_SFPU_MAD(0, 0, 4, 5);
		TT_SFPU_ORDER(9, 0, 9);
		TT_SFPU_ORDER(1, 0, 10);
		TT_ACT_STORE(0);
	}
	tt_sfpu_end();
}

/* x times hard_sigmoid of 1/6 and 1/2. 10 instructions for 32 values. */
TT_ROUTINE void tt_act_hard_swish(const TtTiles *p, const TtActTiles *t)
{
	(void)p;
	tt_act_begin();
	TT_SFPU_CONSTANT(4, 0x3e2aaaabu);
	TT_SFPU_BF16(5, 0x3f00);
	TT_ACT_EACH(t) {
		TT_ACT_LOAD(0);
		TT_SFPU_MAD(1, 0, 4, 5);
		TT_SFPU_ORDER(9, 1, 9);
		TT_SFPU_ORDER(1, 1, 10);
		TT_SFPU_MAD(0, 0, 1, 9);
		TT_ACT_STORE(0);
	}
	tt_sfpu_end();
}

#endif
