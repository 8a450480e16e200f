/*
 * What a RISC-V of a core talks to its Tensix coprocessor with: instructions,
 * configuration words, general purpose registers, syncs.
 *
 * TT_I pushes an instruction that is constant, as a word of the RISC-V's own
 * stream; it waits while the queue is full. TT_PUSH stores one that is made at
 * run time; silicon waits too, simulators may not, so a few at a time with a
 * TT_I behind them.
 */
#ifndef RUNTIME_DEVICE_TENSIX_H
#define RUNTIME_DEVICE_TENSIX_H

#include <stdint.h>

#include "tensix_ops.h"

/* Where a field stands: its word, its lowest bit. */
enum {
#define THREAD_FIELD(name, word, shift, width) TT_AT_##name = word, TT_BIT_##name = shift,
#define CFG_FIELD(name, word, shift, width)    TT_AT_##name = word, TT_BIT_##name = shift,
#include "runtime/device/tensix_cfg.def"
	TT_CFG_NONE = 0
};

/* Helpers take the constants of a variant as arguments: only inlined are they
 * constants there too. */
#define TT_INLINE static inline __attribute__((always_inline))

#define TT_FIELD(name, value) ((uint32_t)(value) << TT_BIT_##name)

#define TT_REG(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define TT_CFG(word)    TT_REG(0xffef0000u + 4u * (uint32_t)(word))
#define TT_GPR(n)       TT_REG(0xffe00000u + 4u * (uint32_t)(n))
#define TT_MOP_WORD(n)   TT_REG(0xffb80000u + 4u * (uint32_t)(n))
#define TT_SOFT_RESET   TT_REG(0xffb121b0u)

/* The instruction rotated left by two bits is a RISC-V instruction that pushes
 * it (PushTensixInstruction.md). */
#define TT_I(op)                                                                                   \
	__asm__ volatile(".word %0"                                                                \
			 :                                                                         \
			 : "i"((int)((uint32_t)(op) << 2 | (uint32_t)(op) >> 30))                  \
			 : "memory")
#define TT_PUSH(op) (TT_REG(0xffe40000u) = (op))

/* What STALLWAIT and SEMWAIT hold back, and what STALLWAIT waits for. */
enum {
	TT_HOLD_TDMA = 0x1, /* counters, scalar unit, packers and unpackers */
	TT_HOLD_SYNC = 0x2, /* in every mask, or a later wait replaces an earlier (SEMWAIT.md) */
	TT_HOLD_PACK = 0x4,
	TT_HOLD_UNPACK = 0x8,
	TT_HOLD_THCON = 0x20,
	TT_HOLD_MATH = 0x40,
	TT_HOLD_CFG = 0x80,
	TT_HOLD_SFPU = 0x100,

	TT_FOR_THCON = 0x1,
	TT_FOR_UNPACK = 0x6,
	TT_FOR_PACK = 0x78,
	TT_FOR_MATH = 0x80,
	TT_FOR_SRCA = 0x400, /* to be handed to the matrix unit */
	TT_FOR_SRCB = 0x800,
	TT_FOR_STORES = 0x2000, /* of this RISC-V to configuration and registers */
	TT_FOR_SFPU = 0x4000,
};

#define TT_STALL(hold, condition) TT_I(OP_STALLWAIT(condition, (hold) | TT_HOLD_SYNC))

/* Semaphores of the coprocessor: halves of Dst that math has filled; one that
 * waits for partial sums. */
enum { TT_SEM_DST = 1 << 1, TT_SEM_SUMS = 1 << 2 };

enum { TT_SEM_EMPTY = 1, TT_SEM_FULL = 2 }; /* conditions SEMWAIT keeps waiting on */

/* Formats in configuration words. */
enum { TT_FP32 = 0, TT_TF32 = 4, TT_BF16 = 5, TT_BFP8_B = 6 };

/* The devtypes.h type as configuration words have it. */
TT_INLINE uint32_t tt_format(uint32_t type)
{
	return type == 1 ? TT_BF16 : type == 2 ? TT_BFP8_B : TT_FP32;
}

/* What a format becomes in the source registers. */
TT_INLINE uint32_t tt_source(uint32_t format)
{
	return format == TT_FP32 ? (uint32_t)TT_TF32 : format;
}

/* Store, load, use of the loaded value: TTSync.md, and the hardware bug there. */
TT_INLINE void tt_pc_sync(uint32_t which)
{
	uint32_t got;
	__asm__ volatile("sw x0, 0(%1)\n\tlw %0, 0(%1)\n\tandi %0, %0, 0"
			 : "=&r"(got)
			 : "r"(0xffe80000u + 4u * which)
			 : "memory");
}

/* Until the coprocessor has done all this thread has pushed. */
TT_INLINE void tt_sync(void)
{
	tt_pc_sync(1);
}

/* Until the MOP expander may be told otherwise. */
TT_INLINE void tt_mop_sync(void)
{
	tt_pc_sync(2);
}

/* L1 as other RISC-Vs and the NoC see it. */
TT_INLINE volatile uint32_t *tt_l1(uint32_t address)
{
	return (volatile uint32_t *)(uintptr_t)address;
}

/* The word is in L1 when this returns, and with it all stores to L1 before it:
 * a port of L1 keeps their order (MemoryOrdering.md). */
TT_INLINE void tt_l1_set(uint32_t address, uint32_t value)
{
	uint32_t got;
	*tt_l1(address) = value;
	__asm__ volatile("lw %0, 0(%1)\n\taddi x0, %0, 0" : "=&r"(got) : "r"(address) : "memory");
}

/* Until a word that only grows has reached `number`. */
TT_INLINE void tt_l1_reach(uint32_t address, uint32_t number)
{
	while ((int32_t)(*tt_l1(address) - number) < 0)
		;
	__asm__ volatile("" ::: "memory");
}

/* A word of the shared configuration, by the thread itself: for words that two
 * threads write parts of. */
TT_INLINE void tt_cfg_part(uint32_t word, uint32_t mask, uint32_t value)
{
	if (mask & 0xff)
		TT_PUSH(OP_RMWCIB0(word, value, mask));
	if (mask & 0xff00)
		TT_PUSH(OP_RMWCIB1(word, value >> 8, mask >> 8));
	if (mask & 0xff0000)
		TT_PUSH(OP_RMWCIB2(word, value >> 16, mask >> 16));
	if (mask & 0xff000000u)
		TT_PUSH(OP_RMWCIB3(word, value >> 24, mask >> 24));
}

/* A register of the thread, in order with its instructions. */
TT_INLINE void tt_gpr_half(uint32_t half, uint32_t value)
{
	TT_PUSH(OP_SETDMAREG(half, 0, value & 0x3fff, value >> 14 & 3));
}

TT_INLINE void tt_gpr_set(uint32_t n, uint32_t value)
{
	tt_gpr_half(2 * n, value & 0xffff);
	tt_gpr_half(2 * n + 1, value >> 16);
}

/* From a register to a THCON configuration word; a TT_FOR_THCON stall comes
 * before its use (REG2FLOP_Configuration.md). */
#define TT_FLOP(word, gpr) OP_REG2FLOP(gpr, (word) - 52, 0, 0, 0, 1)

/* Unpackers and packers take L1 addresses in 16 bytes, less one. */
TT_INLINE uint32_t tt_l1_16(uint32_t address)
{
	return address / 16 - 1;
}

#endif
