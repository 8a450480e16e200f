/*
 * The vector unit: 32 lanes of 32 bits, each of which takes part in an
 * instruction if conditions are off or its condition is set (VectorUnit.md,
 * LReg.md). An instruction works out a value for every lane and sfpu_put keeps
 * those of the lanes that take part.
 */
#ifndef RUNTIME_EMU_SFPU_H
#define RUNTIME_EMU_SFPU_H

#include <string.h>

#include "runtime/emu/tensix.h"

enum {
	SFPU_GENERAL = 8, /* registers below may be written */
	SFPU_ZERO = 9,    /* constants: 0 and 1 */
	SFPU_ONE = 10,
};

static inline uint32_t sfpu_lanes(const Tensix *t)
{
	return t->cc_on ? t->cc : 0xffffffff;
}

static inline void sfpu_put_lanes(Tensix *t, uint32_t reg, const uint32_t v[SFPU_LANES],
				  uint32_t lanes)
{
	uint32_t *r = t->lreg[reg];

	if (lanes == 0xffffffff) {
		memcpy(r, v, sizeof t->lreg[reg]);
		return;
	}
	for (int lane = 0; lane < SFPU_LANES; lane++)
		r[lane] = lanes >> lane & 1 ? v[lane] : r[lane];
}

static inline void sfpu_put(Tensix *t, uint32_t reg, const uint32_t v[SFPU_LANES])
{
	sfpu_put_lanes(t, reg, v, sfpu_lanes(t));
}

/* Sets the conditions of lanes that take part. */
static inline void sfpu_condition(Tensix *t, uint32_t condition)
{
	uint32_t lanes = sfpu_lanes(t);

	t->cc = (t->cc & ~lanes) | (condition & lanes);
}

/* Operands most instructions have. */
static inline uint32_t sfpu_mod(uint32_t i)
{
	return op_bits(i, 3, 0);
}
static inline uint32_t sfpu_dest(uint32_t i)
{
	return op_bits(i, 7, 4);
}
static inline uint32_t sfpu_c(uint32_t i)
{
	return op_bits(i, 11, 8);
}

/* Refuses an instr_mod1 that is not in the set, a bit for each, and a register
 * that may not be written. */
static inline Exec sfpu_check(Tensix *t, int thread, uint32_t i, uint32_t mods)
{
	if (!(mods >> sfpu_mod(i) & 1))
		return tensix_unknown(t, thread, i, "instr_mod1", sfpu_mod(i));
	if (sfpu_dest(i) >= SFPU_GENERAL)
		return tensix_unknown(t, thread, i, "lreg_dest", sfpu_dest(i));
	return EXEC_DONE;
}

/* r = x * y + z in every lane, as the unit has it (sfpu_fma.c); the second
 * routine works without AVX2 and gives the same bits. */
void sfpu_fma(uint32_t r[SFPU_LANES], const uint32_t x[SFPU_LANES], const uint32_t y[SFPU_LANES],
	      const uint32_t z[SFPU_LANES]);
uint32_t sfpu_fma_one(uint32_t x, uint32_t y, uint32_t z);

/* One step of a lane's random bits. */
static inline uint32_t sfpu_random_step(uint32_t state)
{
	uint32_t taps = (uint32_t)__builtin_popcount(state & 0x80200003);

	return ~taps << 31 | state >> 1;
}

#endif
