/* Integers, and the parts of numbers (SFPIADD.md, SFPMOV.md, SFPABS.md,
 * SFPEXEXP.md, SFPSETEXP.md, SFPCAST.md, SFPSTOCHRND.md, ...). */
#include "runtime/emu/sfpu.h"

/* Lanes in which the sign is set. */
static uint32_t negative(const uint32_t v[SFPU_LANES])
{
	uint32_t lanes = 0;

	for (int lane = 0; lane < SFPU_LANES; lane++)
		lanes |= v[lane] >> 31 << lane;
	return lanes;
}

/* Puts another exponent in, or adds to it (infinities and NaN stay). */
Exec emu_op_SFPDIVP2(Tensix *t, int thread, uint32_t i)
{
	uint32_t imm = op_bits(i, 23, 12), v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0 | 1 << 1) != EXEC_DONE)
		return EXEC_FAULT;
	if (imm > 0x7f && imm < 0xf80)
		return tensix_unknown(t, thread, i, "imm12_math", imm);
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t from = t->lreg[sfpu_c(i)][lane], exponent = from >> 23 & 255;

		if (!sfpu_mod(i))
			exponent = imm;
		else if (exponent != 255)
			exponent += imm;
		v[lane] = (exponent & 255) << 23 | (from & 0x807fffff);
	}
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

/* The exponent as an integer, with or without its bias; lanes may be chosen by
 * its sign. */
Exec emu_op_SFPEXEXP(Tensix *t, int thread, uint32_t i)
{
	enum { BIASED = 1, IF_NEGATIVE = 2, IF_NOT_NEGATIVE = 10 };
	uint32_t mod = sfpu_mod(i), v[SFPU_LANES];

	if (sfpu_check(t, thread, i,
		       1 << 0 | 1 << BIASED | 1 << IF_NEGATIVE | 1 << IF_NOT_NEGATIVE) !=
	    EXEC_DONE)
		return EXEC_FAULT;
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = (t->lreg[sfpu_c(i)][lane] >> 23 & 255) - (mod & BIASED ? 0 : 127);
	sfpu_put(t, sfpu_dest(i), v);
	if (mod & 2)
		sfpu_condition(t, mod == IF_NEGATIVE ? negative(v) : ~negative(v));
	return EXEC_DONE;
}

Exec emu_op_SFPEXMAN(Tensix *t, int thread, uint32_t i)
{
	uint32_t v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0 | 1 << 1) != EXEC_DONE)
		return EXEC_FAULT;
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = (t->lreg[sfpu_c(i)][lane] & 0x7fffff) | (sfpu_mod(i) ? 0 : 0x800000);
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

/* c plus an immediate, c minus d, c plus d; lanes are chosen by the sign unless
 * bit 2 says not to. */
Exec emu_op_SFPIADD(Tensix *t, int thread, uint32_t i)
{
	enum { IMMEDIATE = 1, SUBTRACT = 2, NO_CONDITION = 4, IF_NOT_NEGATIVE = 8 };
	uint32_t mod = sfpu_mod(i), imm = op_bits(i, 23, 12), v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 0x777) != EXEC_DONE)
		return EXEC_FAULT;
	imm |= imm & 0x800 ? 0xfffff000 : 0;
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t d = t->lreg[sfpu_dest(i)][lane];

		d = mod & IMMEDIATE ? imm : mod & SUBTRACT ? -d : d;
		v[lane] = t->lreg[sfpu_c(i)][lane] + d;
	}
	sfpu_put(t, sfpu_dest(i), v);
	if (!(mod & NO_CONDITION))
		sfpu_condition(t, mod & IF_NOT_NEGATIVE ? ~negative(v) : negative(v));
	return EXEC_DONE;
}

/* As it is, with the other sign, in all lanes, or random bits. */
Exec emu_op_SFPMOV(Tensix *t, int thread, uint32_t i)
{
	enum { NEGATE = 1, ALL = 2, RANDOM = 8 };
	uint32_t mod = sfpu_mod(i), lanes = mod == ALL ? 0xffffffff : sfpu_lanes(t),
		 v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0 | 1 << NEGATE | 1 << ALL | 1 << RANDOM) != EXEC_DONE)
		return EXEC_FAULT;
	if (mod == RANDOM && sfpu_c(i) != SFPU_ZERO)
		return tensix_unknown(t, thread, i, "lreg_c", sfpu_c(i));
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		v[lane] = t->lreg[sfpu_c(i)][lane] ^ (mod == NEGATE ? 0x80000000 : 0);
		if (mod == RANDOM) {
			v[lane] = t->prng[lane];
			if (lanes >> lane & 1)
				t->prng[lane] = sfpu_random_step(t->prng[lane]);
		}
	}
	sfpu_put_lanes(t, sfpu_dest(i), v, lanes);
	return EXEC_DONE;
}

/* Of an integer, or of a number; negative NaN stay. */
Exec emu_op_SFPABS(Tensix *t, int thread, uint32_t i)
{
	uint32_t v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0 | 1 << 1) != EXEC_DONE)
		return EXEC_FAULT;
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t c = t->lreg[sfpu_c(i)][lane];

		if (sfpu_mod(i))
			v[lane] = c > 0xff800000 ? c : c & 0x7fffffff;
		else
			v[lane] = c >> 31 ? -c : c;
	}
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

typedef uint32_t Combine(uint32_t d, uint32_t c);

static uint32_t both_of(uint32_t d, uint32_t c)
{
	return d & c;
}
static uint32_t any_of(uint32_t d, uint32_t c)
{
	return d | c;
}
static uint32_t one_of(uint32_t d, uint32_t c)
{
	return d ^ c;
}
static uint32_t none_of(uint32_t d, uint32_t c)
{
	return (void)d, ~c;
}

static Exec combine(Tensix *t, int thread, uint32_t i, Combine *f)
{
	uint32_t v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0) != EXEC_DONE)
		return EXEC_FAULT;
	if (op_bits(i, 15, 12))
		return tensix_unknown(t, thread, i, "imm12_math", op_bits(i, 15, 12));
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = f(t->lreg[sfpu_dest(i)][lane], t->lreg[sfpu_c(i)][lane]);
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

Exec emu_op_SFPAND(Tensix *t, int thread, uint32_t i)
{
	return combine(t, thread, i, both_of);
}
Exec emu_op_SFPOR(Tensix *t, int thread, uint32_t i)
{
	return combine(t, thread, i, any_of);
}
Exec emu_op_SFPXOR(Tensix *t, int thread, uint32_t i)
{
	return combine(t, thread, i, one_of);
}
Exec emu_op_SFPNOT(Tensix *t, int thread, uint32_t i)
{
	return combine(t, thread, i, none_of);
}

/* Leading zeros, perhaps without the sign; lanes may be chosen by not being
 * zero. */
Exec emu_op_SFPLZ(Tensix *t, int thread, uint32_t i)
{
	enum { IF_NOT_ZERO = 2, NO_SIGN = 4 };
	uint32_t mod = sfpu_mod(i), some = 0, v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0 | 1 << IF_NOT_ZERO | 1 << NO_SIGN) != EXEC_DONE)
		return EXEC_FAULT;
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t c = t->lreg[sfpu_c(i)][lane] & (mod & NO_SIGN ? 0x7fffffff : 0xffffffff);

		v[lane] = c ? (uint32_t)__builtin_clz(c) : 32;
		some |= (uint32_t)(c != 0) << lane;
	}
	sfpu_put(t, sfpu_dest(i), v);
	if (mod & IF_NOT_ZERO)
		sfpu_condition(t, some);
	return EXEC_DONE;
}

/* From the lower bits of d, an immediate, or the exponent of d. */
Exec emu_op_SFPSETEXP(Tensix *t, int thread, uint32_t i)
{
	enum { IMMEDIATE = 1, OF_D = 2 };
	uint32_t mod = sfpu_mod(i), imm = op_bits(i, 19, 12), v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0 | 1 << IMMEDIATE | 1 << OF_D) != EXEC_DONE)
		return EXEC_FAULT;
	if (mod != IMMEDIATE && imm)
		return tensix_unknown(t, thread, i, "imm12_math", imm);
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t d = t->lreg[sfpu_dest(i)][lane];
		uint32_t exponent = mod == IMMEDIATE ? imm : mod == OF_D ? d >> 23 : d;

		v[lane] = (t->lreg[sfpu_c(i)][lane] & 0x807fffff) | (exponent & 255) << 23;
	}
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

/* From d, or zero, the only immediate there is. */
Exec emu_op_SFPSETMAN(Tensix *t, int thread, uint32_t i)
{
	uint32_t v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0 | 1 << 1) != EXEC_DONE)
		return EXEC_FAULT;
	if (op_bits(i, 23, 12))
		return tensix_unknown(t, thread, i, "imm12_math", op_bits(i, 23, 12));
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = (t->lreg[sfpu_c(i)][lane] & 0xff800000) |
			(sfpu_mod(i) ? 0 : t->lreg[sfpu_dest(i)][lane] & 0x7fffff);
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

Exec emu_op_SFPSETSGN(Tensix *t, int thread, uint32_t i)
{
	uint32_t imm = op_bits(i, 12, 12), v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0 | 1 << 1) != EXEC_DONE)
		return EXEC_FAULT;
	if (!sfpu_mod(i) && imm)
		return tensix_unknown(t, thread, i, "imm12_math", imm);
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = (t->lreg[sfpu_c(i)][lane] & 0x7fffffff) |
			(sfpu_mod(i) ? imm << 31 : t->lreg[sfpu_dest(i)][lane] & 0x80000000);
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

/* Sign and magnitude to fp32, ties to even. */
static uint32_t to_float(uint32_t v)
{
	uint32_t sign = v & 0x80000000, left, zeros;

	v &= 0x7fffffff;
	if (!v)
		return sign;
	zeros = (uint32_t)__builtin_clz(v);
	left = v << zeros;
	return sign | (((157 - zeros) << 23) + (left >> 8) + (left & 0x80 && left & 0x17f));
}

Exec emu_op_SFPCAST(Tensix *t, int thread, uint32_t i)
{
	uint32_t v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << 0) != EXEC_DONE)
		return EXEC_FAULT;
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = to_float(t->lreg[sfpu_c(i)][lane]);
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

/* Half away from zero; NaN become infinities. */
static uint32_t to_bf16(uint32_t v)
{
	if (!(v & 0x7f800000))
		return 0;
	if ((v & 0x7f800000) == 0x7f800000)
		return v & 0xff800000;
	return (v + 0x8000) & 0xffff0000;
}

/* Sign and magnitude, half away from zero, cut off at `most`. */
static uint32_t to_integer(uint32_t v, uint32_t most, bool is_signed)
{
	uint32_t sign = is_signed ? v & 0x80000000 : 0;
	int exponent = (int)(v >> 23 & 255) - 127;
	uint64_t magnitude = (v & 0x7fffff) | 0x800000;

	if (exponent < -1)
		return 0;
	if (exponent >= 16)
		return sign | most;
	magnitude = exponent < 0 ? magnitude >> 1 : magnitude << exponent;
	magnitude = (magnitude + 0x400000) >> 23;
	magnitude = magnitude > most ? most : magnitude;
	return magnitude ? sign | (uint32_t)magnitude : 0;
}

/* Only the modes that round to the nearest. */
Exec emu_op_SFP_STOCH_RND(Tensix *t, int thread, uint32_t i)
{
	enum { BF16 = 1, UINT8 = 2, INT8 = 3, UINT16 = 6, INT16 = 7 };
	static const uint32_t most[8] = { 0, 0, 255, 127, 0, 0, 65535, 32767 };
	uint32_t mod = sfpu_mod(i), lanes = sfpu_lanes(t), v[SFPU_LANES];

	if (sfpu_check(t, thread, i,
		       1 << BF16 | 1 << UINT8 | 1 << INT8 | 1 << UINT16 | 1 << INT16) !=
	    EXEC_DONE)
		return EXEC_FAULT;
	if (op_bits(i, 21, 16))
		return tensix_unknown(t, thread, i, "imm8_math, rnd_mode", op_bits(i, 21, 16));
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t c = t->lreg[sfpu_c(i)][lane];

		v[lane] = mod == BF16 ? to_bf16(c) : to_integer(c, most[mod], mod & 1);
		if (lanes >> lane & 1)
			t->prng[lane] = sfpu_random_step(t->prng[lane]);
	}
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}
