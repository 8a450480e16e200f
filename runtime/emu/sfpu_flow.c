/* Conditions of lanes, and moves between lanes and registers (SFPSETCC.md,
 * SFPENCC.md, SFPPUSHC.md, SFPPOPC.md, SFPCOMPC.md, SFPSWAP.md, SFPTRANSP.md,
 * SFPSHFT2.md). */
#include "runtime/emu/sfpu.h"

#include "runtime/emu/fpu.h"

/* Negative, not zero, not negative, zero. */
Exec emu_op_SFPSETCC(Tensix *t, int thread, uint32_t i)
{
	uint32_t mod = sfpu_mod(i), condition = 0;

	if (mod & 1 || mod > 6)
		return tensix_unknown(t, thread, i, "instr_mod1", mod);
	if (sfpu_dest(i))
		return tensix_unknown(t, thread, i, "lreg_dest", sfpu_dest(i));
	if (op_bits(i, 12, 12))
		return tensix_unknown(t, thread, i, "imm12_math", 1);
	if (!t->cc_on)
		return tensix_unknown(t, thread, i, "conditions enabled", 0);
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t v = t->lreg[sfpu_c(i)][lane];
		bool is = mod & 2 ? v != 0 : v >> 31;

		condition |= (uint32_t)is << lane;
	}
	sfpu_condition(t, mod & 4 ? ~condition : condition);
	return EXEC_DONE;
}

Exec emu_op_SFPENCC(Tensix *t, int thread, uint32_t i)
{
	uint32_t mod = sfpu_mod(i), imm = op_bits(i, 13, 12);

	if (sfpu_dest(i))
		return tensix_unknown(t, thread, i, "lreg_dest", sfpu_dest(i));
	if (mod != 0 && mod != 10)
		return tensix_unknown(t, thread, i, "instr_mod1", mod);
	if (mod == 0 && imm)
		return tensix_unknown(t, thread, i, "imm12_math", imm);
	t->cc = mod == 0 || imm & 2 ? 0xffffffff : 0;
	if (mod == 10)
		t->cc_on = imm & 1;
	return EXEC_DONE;
}

/* PUSHC and POPC have neither modifier nor register. */
static Exec plain(Tensix *t, int thread, uint32_t i)
{
	if (sfpu_mod(i))
		return tensix_unknown(t, thread, i, "instr_mod1", sfpu_mod(i));
	if (sfpu_dest(i))
		return tensix_unknown(t, thread, i, "lreg_dest", sfpu_dest(i));
	return EXEC_DONE;
}

Exec emu_op_SFPPUSHC(Tensix *t, int thread, uint32_t i)
{
	if (plain(t, thread, i) != EXEC_DONE)
		return EXEC_FAULT;
	if (t->cc_depth == CC_STACK)
		return tensix_unknown(t, thread, i, "conditions pushed already", CC_STACK);
	t->cc_on_stack[t->cc_depth] = t->cc_on;
	t->cc_stack[t->cc_depth++] = t->cc;
	return EXEC_DONE;
}

Exec emu_op_SFPPOPC(Tensix *t, int thread, uint32_t i)
{
	if (plain(t, thread, i) != EXEC_DONE)
		return EXEC_FAULT;
	if (t->cc_depth == 0)
		return tensix_unknown(t, thread, i, "conditions pushed", 0);
	t->cc_on = t->cc_on_stack[--t->cc_depth];
	t->cc = t->cc_stack[t->cc_depth];
	return EXEC_DONE;
}

/* The other branch: lanes of the level above that are not in this one. */
Exec emu_op_SFPCOMPC(Tensix *t, int thread, uint32_t i)
{
	uint32_t above = t->cc_depth ? t->cc_stack[t->cc_depth - 1] : 0xffffffff;

	if (sfpu_dest(i))
		return tensix_unknown(t, thread, i, "lreg_dest", sfpu_dest(i));
	if (!t->cc_on || (t->cc_depth && !t->cc_on_stack[t->cc_depth - 1]))
		return tensix_unknown(t, thread, i, "conditions enabled", 0);
	t->cc = above & ~t->cc;
	return EXEC_DONE;
}

/* Lanes in which c and d change places. */
static uint32_t swapping(const Tensix *t, uint32_t i)
{
	enum { INVERTED = 0x100 };
	static const uint32_t dest_gets_least[4] = { 0, 0xffffffff, 0x0000ffff, 0x00ff00ff };
	uint32_t mod = sfpu_mod(i), least = mod == 9 ? 0 : dest_gets_least[mod], swap = 0;

	if (mod == 0)
		return 0xffffffff;
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		bool less = fpu_ordered(t->lreg[sfpu_c(i)][lane]) <
			fpu_ordered(t->lreg[sfpu_dest(i)][lane]);

		swap |= (uint32_t)less << lane;
	}
	swap ^= ~least;
	return t->lane_config & INVERTED ? ~swap : swap;
}

static void swap_lanes(Tensix *t, uint32_t a, uint32_t b, uint32_t lanes)
{
	uint32_t was_a[SFPU_LANES], was_b[SFPU_LANES];

	memcpy(was_a, t->lreg[a], sizeof was_a);
	memcpy(was_b, t->lreg[b], sizeof was_b);
	if (a < SFPU_GENERAL)
		sfpu_put_lanes(t, a, was_b, lanes);
	if (b < SFPU_GENERAL)
		sfpu_put_lanes(t, b, was_a, lanes);
}

/* Exchange, or sort: register d gets the lesser value in all lanes, in the first
 * half of them, in every other eight, in none. With FOLLOW, registers 4 to 7 go
 * where 0 to 3 go. */
Exec emu_op_SFPSWAP(Tensix *t, int thread, uint32_t i)
{
	enum { FOLLOW = 4 };
	uint32_t mod = sfpu_mod(i), d = sfpu_dest(i), c = sfpu_c(i), lanes;

	if (d >= 12)
		return tensix_unknown(t, thread, i, "lreg_dest", d);
	if (mod > 3 && mod != 9)
		return tensix_unknown(t, thread, i, "instr_mod1", mod);
	if (t->lane_config & FOLLOW && (c >= 4 || d >= 4))
		return tensix_unknown(t, thread, i, "registers", c << 4 | d);
	lanes = swapping(t, i) & sfpu_lanes(t);
	swap_lanes(t, c, d, lanes);
	if (t->lane_config & FOLLOW)
		swap_lanes(t, c + 4, d + 4, lanes);
	return EXEC_DONE;
}

/* Of four registers with four rows of eight lanes, twice. */
Exec emu_op_SFPTRANSP(Tensix *t, int thread, uint32_t i)
{
	uint32_t was[SFPU_GENERAL][SFPU_LANES], v[SFPU_LANES];

	if (sfpu_dest(i))
		return tensix_unknown(t, thread, i, "lreg_dest", sfpu_dest(i));
	memcpy(was, t->lreg, sizeof was);
	for (uint32_t reg = 0; reg < SFPU_GENERAL; reg++) {
		for (uint32_t lane = 0; lane < SFPU_LANES; lane++)
			v[lane] = was[(reg & 4) + lane / 8][(reg & 3) * 8 + lane % 8];
		sfpu_put(t, reg, v);
	}
	return EXEC_DONE;
}

/* Left by a positive amount, right by a negative one; 31 at most counts. */
static uint32_t shifted(uint32_t value, uint32_t by)
{
	return by >> 31 ? value >> (-by & 31) : value << (by & 31);
}

/* Rotates rows of eight lanes, or shifts one register by another. */
Exec emu_op_SFPSHFT2(Tensix *t, int thread, uint32_t i)
{
	enum { ROTATE = 3, SHIFT = 5 };
	uint32_t mod = sfpu_mod(i), imm = op_bits(i, 23, 12), v[SFPU_LANES];

	if (sfpu_check(t, thread, i, 1 << ROTATE | 1 << SHIFT) != EXEC_DONE)
		return EXEC_FAULT;
	if (imm >= (mod == SHIFT ? SFPU_REGS : 1))
		return tensix_unknown(t, thread, i, "imm12_math", imm);
	for (uint32_t lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = mod == SHIFT ? shifted(t->lreg[imm][lane], t->lreg[sfpu_c(i)][lane])
				       : t->lreg[sfpu_c(i)][(lane & ~7u) | ((lane - 1) & 7)];
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

/* By an immediate, or by register c. */
Exec emu_op_SFPSHFT(Tensix *t, int thread, uint32_t i)
{
	uint32_t imm = op_bits(i, 23, 12), v[SFPU_LANES];
	bool immediate = sfpu_mod(i);

	if (sfpu_check(t, thread, i, 1 << 0 | 1 << 1) != EXEC_DONE)
		return EXEC_FAULT;
	if (!immediate && imm)
		return tensix_unknown(t, thread, i, "imm12_math", imm);
	imm |= imm & 0x800 ? 0xfffff000 : 0;
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = shifted(t->lreg[sfpu_dest(i)][lane],
				  immediate ? imm : t->lreg[sfpu_c(i)][lane]);
	sfpu_put(t, sfpu_dest(i), v);
	return EXEC_DONE;
}

Exec emu_op_SFPNOP(Tensix *t, int thread, uint32_t i)
{
	return (void)t, (void)thread, (void)i, EXEC_DONE;
}
