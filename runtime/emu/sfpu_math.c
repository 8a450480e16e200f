/* Multiplication, addition and tables of the vector unit (SFPMAD.md, SFPADD.md,
 * SFPMUL.md, SFPADDI.md, SFPMULI.md, SFPLUT.md, SFPLUTFP32.md). */
#include "runtime/emu/sfpu.h"

static void spread(uint32_t v[SFPU_LANES], uint32_t value)
{
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = value;
}

/* dest = x * y + z. */
static Exec multiply_add(Tensix *t, uint32_t dest, const uint32_t *x, const uint32_t *y,
			 const uint32_t *z)
{
	uint32_t v[SFPU_LANES];

	sfpu_fma(v, x, y, z);
	sfpu_put(t, dest, v);
	return EXEC_DONE;
}

Exec emu_op_SFPMAD(Tensix *t, int thread, uint32_t i)
{
	uint32_t a = op_bits(i, 19, 16), b = op_bits(i, 15, 12);

	if (sfpu_check(t, thread, i, 1 << 0) != EXEC_DONE)
		return EXEC_FAULT;
	return multiply_add(t, sfpu_dest(i), t->lreg[a], t->lreg[b], t->lreg[sfpu_c(i)]);
}

/* One factor has to be the constant 1. */
Exec emu_op_SFPADD(Tensix *t, int thread, uint32_t i)
{
	uint32_t a = op_bits(i, 19, 16), b = op_bits(i, 15, 12), other = a == SFPU_ONE ? b : a;

	if (sfpu_check(t, thread, i, 1 << 0) != EXEC_DONE)
		return EXEC_FAULT;
	if (a != SFPU_ONE && b != SFPU_ONE)
		return tensix_unknown(t, thread, i, "lreg_src_a", a);
	return multiply_add(t, sfpu_dest(i), t->lreg[SFPU_ONE], t->lreg[other],
			    t->lreg[sfpu_c(i)]);
}

/* What is added has to be the constant 0. */
Exec emu_op_SFPMUL(Tensix *t, int thread, uint32_t i)
{
	uint32_t a = op_bits(i, 19, 16), b = op_bits(i, 15, 12);

	if (sfpu_check(t, thread, i, 1 << 0) != EXEC_DONE)
		return EXEC_FAULT;
	if (sfpu_c(i) != SFPU_ZERO)
		return tensix_unknown(t, thread, i, "lreg_src_c", sfpu_c(i));
	return multiply_add(t, sfpu_dest(i), t->lreg[a], t->lreg[b], t->lreg[SFPU_ZERO]);
}

Exec emu_op_SFPMULI(Tensix *t, int thread, uint32_t i)
{
	uint32_t imm[SFPU_LANES], dest = sfpu_dest(i);

	if (sfpu_check(t, thread, i, 1 << 0) != EXEC_DONE)
		return EXEC_FAULT;
	spread(imm, op_bits(i, 23, 8) << 16);
	return multiply_add(t, dest, imm, t->lreg[dest], t->lreg[SFPU_ZERO]);
}

Exec emu_op_SFPADDI(Tensix *t, int thread, uint32_t i)
{
	uint32_t imm[SFPU_LANES], dest = sfpu_dest(i);

	if (sfpu_check(t, thread, i, 1 << 0) != EXEC_DONE)
		return EXEC_FAULT;
	spread(imm, op_bits(i, 23, 8) << 16);
	return multiply_add(t, dest, imm, t->lreg[SFPU_ONE], t->lreg[dest]);
}

/* Sign, 3 bits of negative exponent, 4 of mantissa; all ones are zero. */
static uint32_t from_8_bits(uint32_t x)
{
	if (x == 0xff)
		return 0;
	return (x & 0x80) << 24 | (127 - (x >> 4 & 7)) << 23 | (x & 15) << 19;
}

/* Line by line: below 1, below 2, from there on. The result takes the sign of
 * the operand, which is register 3. */
Exec emu_op_SFPLUT(Tensix *t, int thread, uint32_t i)
{
	uint32_t mod = op_bits(i, 19, 16), dest = op_bits(i, 23, 20);
	uint32_t slope[SFPU_LANES], at[SFPU_LANES], offset[SFPU_LANES], v[SFPU_LANES];

	if (mod != 4)
		return tensix_unknown(t, thread, i, "instr_mod0", mod);
	if (dest >= SFPU_GENERAL)
		return tensix_unknown(t, thread, i, "lreg_ind", dest);
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t line;

		at[lane] = t->lreg[3][lane] & 0x7fffffff;
		line = t->lreg[at[lane] < 0x3f800000 ? 0 : at[lane] < 0x40000000 ? 1 : 2][lane];
		slope[lane] = from_8_bits(line >> 8 & 0xff);
		offset[lane] = from_8_bits(line & 0xff);
	}
	sfpu_fma(v, slope, at, offset);
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = (v[lane] & 0x7fffffff) | (t->lreg[3][lane] & 0x80000000);
	sfpu_put(t, dest, v);
	return EXEC_DONE;
}

/* Sign, 5 bits of exponent, 10 of mantissa; the largest exponent is zero. */
static uint32_t from_16_bits(uint32_t x)
{
	uint32_t exponent = x >> 10 & 31;

	exponent = exponent == 31 ? 0 : exponent + 112;
	return (x & 0x8000) << 16 | exponent << 23 | (x & 0x3ff) << 13;
}

/* Six pieces: up to 0.5, 1, 1.5, 2, 3 and beyond; slopes in registers 0 to 2,
 * offsets in 4 to 6, two in each. */
Exec emu_op_SFPLUTFP32(Tensix *t, int thread, uint32_t i)
{
	static const uint32_t ends[5] = { 0x3f000000, 0x3f800000, 0x3fc00000, 0x40000000,
					  0x40400000 };
	uint32_t slope[SFPU_LANES], at[SFPU_LANES], offset[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 2) != EXEC_DONE)
		return EXEC_FAULT;
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		int piece = 0;

		at[lane] = t->lreg[3][lane] & 0x7fffffff;
		while (piece < 5 && at[lane] >= ends[piece])
			piece++;
		slope[lane] = from_16_bits(t->lreg[piece / 2][lane] >> piece % 2 * 16 & 0xffff);
		offset[lane] = from_16_bits(t->lreg[4 + piece / 2][lane] >> piece % 2 * 16 &
					    0xffff);
	}
	return multiply_add(t, sfpu_dest(i), slope, at, offset);
}
