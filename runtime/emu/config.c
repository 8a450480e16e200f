#include "runtime/emu/config.h"

#include <string.h>

#include "runtime/emu/core.h"

/* Words that exist in the emulator: the bits they keep, whether they can be
 * read back. The others do what nobody here asks for, and are refused. */
typedef struct CfgWord {
	uint32_t bits;
	bool here, reads;
} CfgWord;

#define RW(word, bits) [word] = { bits, true, true }
#define WO(word, bits) [word] = { bits, true, false }

static const CfgWord words[CFG_WORDS] = {
	RW(0, 0x7fff), RW(1, 0xffffffff), RW(2, 0xffffffff), RW(3, 0x3fff),
	RW(8, 0xffffff), RW(9, 0xfffffff), RW(14, 0xf), WO(16, 0xffffffff), WO(17, 0xffffffff),
	RW(20, 0x1ffffff), RW(21, 0xffff), RW(22, 0xffff), RW(23, 0xffff),
	RW(24, 0xffffffff), RW(25, 0xffffffff), RW(26, 0xffffffff), RW(27, 0xffffffff),
	WO(41, 0x1ff), RW(44, 0xffffff), RW(45, 0xfffffff), RW(47, 0xfffffff),
	RW(52, 0xffffffff), RW(53, 0xffffffff),
	RW(56, 0xffffffff), RW(57, 0xffffffff), RW(58, 0xff7fffff), RW(59, 0xff7fffff),
	RW(60, 0xffffffff), RW(61, 0xff01ff), RW(64, 0xffffffff), RW(65, 0xffffffff),
	RW(72, 0xffffffff), RW(74, 0xffffffff), WO(80, 0xffffffff), WO(81, 0xffffffff),
	RW(84, 0xffffffff), RW(85, 0xffffffff), RW(86, 0xff03ffff), RW(87, 0xff7fffff),
	RW(92, 0xffffffff), RW(93, 0xffffffff),
	RW(96, 0xffffffff), RW(97, 0xffffffff), RW(98, 0xff7fffff), RW(99, 0xff7fffff),
	RW(100, 0xffffffff), RW(101, 0xff01ff), RW(104, 0xffffffff), RW(105, 0xffffffff),
	RW(124, 0xffffffff), RW(125, 0xffffffff), RW(126, 0xff03ffff), RW(127, 0xff7fffff),
	WO(152, 0x3ffff), WO(153, 0x3ffff), WO(154, 0x3ffff), WO(155, 0x3ffff),
};

/* Words above the plain ones. */
enum {
	FIRST_GLOBAL = 152, /* from here on both banks hold the same */
	INVALIDATE_CACHES = 157,
	TRISC_PCS = 158, TRISC_OVERRIDE = 161,
	NCRISC_PC = 162, NCRISC_OVERRIDE = 163,
	PRNG_SEED = 164,
};

/* Fields that ask for stochastic rounding and the like, in words 0 and 1. */
enum {
	REFUSED_0 = 1 << 9 | 1 << 14,
	REFUSED_1 = 0x7fff, /* all rounding modes, and padding bits */
};

static uint32_t prng_next(uint32_t state)
{
	return ((uint32_t)~__builtin_popcount(state & 0x80200003) << 31) | state >> 1;
}

static void prng_seed(Tensix *t, uint32_t seed)
{
	for (int k = 0; k < 32; k++)
		seed = prng_next(seed);
	for (int lane = SFPU_LANES - 1; lane >= 0; lane--)
		t->prng[lane] = seed = prng_next(prng_next(seed));
}

/* Addresses are read when they are used, so they need no new plan. */
static bool is_address(uint32_t word)
{
	return word == 57 || word == 64 || word == 65 || word == 104 || word == 105;
}

/* The one place where a word changes. False if it is not there, or takes no
 * such value. */
static bool change(Tensix *t, int bank, uint32_t word, uint32_t value)
{
	EmuCore *c = t->core;

	switch (word) {
	case INVALIDATE_CACHES:
		return value >= 1 && value <= 31;
	case TRISC_PCS: case TRISC_PCS + 1: case TRISC_PCS + 2:
		c->reset_pc[TRISC0 + word - TRISC_PCS] = value;
		return true;
	case TRISC_OVERRIDE:
		c->trisc_pc_override = value;
		return true;
	case NCRISC_PC:
		c->reset_pc[NCRISC] = value;
		return true;
	case NCRISC_OVERRIDE:
		c->ncrisc_pc_override = value;
		return true;
	case PRNG_SEED:
		prng_seed(t, value);
		return true;
	}
	if (word >= CFG_WORDS || !words[word].here)
		return false;
	value &= words[word].bits;
	if (t->cfg[bank][word] != value && !is_address(word))
		t->version++;
	t->cfg[bank][word] = value;
	if (word >= FIRST_GLOBAL)
		t->cfg[bank ^ 1][word] = value;
	return !(word == 0 && value & REFUSED_0) && !(word == 1 && value & REFUSED_1);
}

void tensix_cfg_write(Tensix *t, int risc, int bank, uint32_t word, uint32_t value)
{
	if (!change(t, bank, word, value))
		emu_fault(t->core, risc, "unknown-configuration", 0xffef0000 + 4 * word,
		          "configuration word %u takes no %u (0x%x)", word, value, value);
}

static bool can_read(uint32_t word)
{
	return word < CFG_WORDS && (words[word].reads || word == 10 || word == 11 || word == 54 ||
	       word == 55 || word == 62 || word == 63 || word == 94 || word == 95 || word == 102 ||
	       word == 103);
}

uint32_t tensix_cfg_read(Tensix *t, int risc, int bank, uint32_t word)
{
	if (can_read(word))
		return t->cfg[bank][word];
	emu_fault(t->core, risc, "unknown-configuration", 0xffef0000 + 4 * word,
	          "configuration word %u cannot be read", word);
	return 0;
}

Exec tensix_cfg_set(Tensix *t, int thread, uint32_t i, uint32_t word, uint32_t value)
{
	int bank = t->thread[thread].cfg[TCFG_CFG_STATE_ID_StateID.word] & 1;

	if (!change(t, bank, word, value))
		return tensix_unknown(t, thread, i, "configuration word that takes no such value", word);
	return EXEC_DONE;
}

/* ---- configuration unit ---- */

Exec emu_op_WRCFG(Tensix *t, int thread, uint32_t i)
{
	const uint32_t *gpr = t->thread[thread].gpr;
	uint32_t word = op_bits(i, 10, 0), from = op_bits(i, 21, 16);
	uint32_t n = op_bits(i, 15, 15) ? 4 : 1;

	if (n == 4 && (word & 3 || from & 3))
		return tensix_unknown(t, thread, i, "unaligned 128-bit write of word", word);
	for (uint32_t k = 0; k < n; k++)
		if (tensix_cfg_set(t, thread, i, word + k, gpr[from + k]) != EXEC_DONE)
			return EXEC_FAULT;
	return EXEC_DONE;
}

Exec emu_op_RDCFG(Tensix *t, int thread, uint32_t i)
{
	uint32_t word = op_bits(i, 10, 0);

	if (!can_read(word))
		return tensix_unknown(t, thread, i, "cfg_reg", word);
	t->thread[thread].gpr[op_bits(i, 21, 16)] = tensix_cfg(t, thread)[word];
	return EXEC_DONE;
}

static Exec modify(Tensix *t, int thread, uint32_t i, unsigned shift)
{
	uint32_t word = op_bits(i, 7, 0);
	uint32_t data = op_bits(i, 15, 8) << shift, mask = op_bits(i, 23, 16) << shift;

	if (!can_read(word))
		return tensix_unknown(t, thread, i, "cfg_reg_addr", word);
	data = (tensix_cfg(t, thread)[word] & ~mask) | (data & mask);
	return tensix_cfg_set(t, thread, i, word, data);
}

Exec emu_op_RMWCIB0(Tensix *t, int thread, uint32_t i)
{
	return modify(t, thread, i, 0);
}

Exec emu_op_RMWCIB1(Tensix *t, int thread, uint32_t i)
{
	return modify(t, thread, i, 8);
}

Exec emu_op_RMWCIB2(Tensix *t, int thread, uint32_t i)
{
	return modify(t, thread, i, 16);
}

Exec emu_op_RMWCIB3(Tensix *t, int thread, uint32_t i)
{
	return modify(t, thread, i, 24);
}

Exec emu_op_SETC16(Tensix *t, int thread, uint32_t i)
{
	/* Words a thread has: bit n of word n. */
	static const uint64_t here =
		((1ull << 4) - 1) + (7ull << 5) + (1ull << 9) + (1ull << 11) + (1ull << 13) +
		(1ull << 15) + (1ull << 17) + (1ull << 19) + (1ull << 21) + (0xfffull << 23) +
		(1ull << 39) + (0xffull << 48);
	/* Of these, the ones a plan depends on. */
	static const uint64_t planned = 1ull << 0 | 1ull << 3 | 1ull << 39;
	uint32_t word = op_bits(i, 23, 16);

	if (word >= THREAD_CFG_WORDS || !(here >> word & 1))
		return tensix_unknown(t, thread, i, "setc16_reg", word);
	if (planned >> word & 1 && t->thread[thread].cfg[word] != (uint16_t)i)
		t->version++;
	t->thread[thread].cfg[word] = (uint16_t)i;
	return EXEC_DONE;
}
