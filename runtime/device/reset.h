/*
 * The state of a thread of the coprocessor that routines count on and do not set
 * themselves. It survives a soft reset, and a kernel of somebody else may have left
 * another one.
 */
#ifndef RUNTIME_DEVICE_RESET_H
#define RUNTIME_DEVICE_RESET_H

#include "runtime/device/tensix.h"

/* The bit that makes modifiers 0 to 3 those from 4 on. Nothing sets it: modifiers turn
 * it (ExtraAddrModBit of RWCs.md). Here 0 leaves it and 4, which it is with the bit, turns
 * it back; what applies it clears rows of Dst (ZEROACC.md). Counters are anything then. */
static inline void tt_reset_modifier_bit(void)
{
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_SET_Base));
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_DST_SEC0_DestIncr));
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_DST_SEC4_DestIncr));
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_BIAS_SEC0_BiasIncr));
	TT_I(OP_SETC16(1, TT_AT_ADDR_MOD_BIAS_SEC4_BiasIncr));
	TT_I(OP_ZEROACC(0, 0, 1));
}

/* Math owns Dst, the source banks and the semaphores, which are 0. */
static inline void tt_reset_math(void)
{
	TT_I(OP_SETC16(0, TT_AT_CFG_STATE_ID_StateID));
	tt_reset_modifier_bit();
	TT_I(OP_ZEROACC(0, 0, 3));
	TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 0));
	TT_I(OP_SETC16(0, TT_AT_CLR_DVALID_SrcA_Disable));
	TT_I(OP_SETC16(0, TT_AT_FIDELITY_BASE_Phase));
	TT_I(OP_SFPENCC(10, 0, 2));   /* the vector unit: all lanes, */
	TT_I(OP_SFPCONFIG(1, 11, 0)); /* -1 in register 11, */
	TT_I(OP_SFPCONFIG(1, 15, 0)); /* and SFPSWAP as it is (LaneConfig) */
	TT_I(OP_SEMINIT(TT_SEM_DST, 0, 2));
	TT_I(OP_SEMINIT(TT_SEM_SUMS, 0, 1));
	tt_sync();
}

static inline void tt_reset_counters(void)
{
	TT_I(OP_SETC16(0, TT_AT_CFG_STATE_ID_StateID));
	TT_I(OP_SETADCXY(0xf, 0, 0, 0, 0, 7));
	TT_I(OP_SETADCZW(0xf, 0, 0, 0, 0, 7));
	tt_sync();
}

#endif
