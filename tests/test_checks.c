/* Strict checks on Tensix instructions: each with a program that breaks the rule
 * and the same program done right. */
#include "runtime/device/tensix_ops.h"
#include "tests/check.h"
#include "tests/strict.h"

enum { /* STALLWAIT: what waits, on what */
	TDMA = 1, SYNC = 2, PACK = 4, UNPACK = 8, THCON = 0x20, MATH = 0x40, CFG = 0x80,
	SFPU = 0x100,
	ON_THCON = 1, ON_PACK = 0x78, ON_MATH = 0x80, ON_RISC = 0x2000, ON_SFPU = 0x4000,
	SEM = 1, /* a semaphore */
};

#define CFG_AT(word) (0xffef0000u + 4 * (word))
#define GPR_AT(n) (0xffe00000u + 4 * (n))
#define SEM_AT(n) (0xffe80020u + 4 * (n))
#define MOP_AT(n) (0xffb80000u + 4 * (n))
#define PCBUF_SYNC 0xffe80004u
#define UNPACR_B OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
#define PACR_ONE OP_PACR(1, 0, 0, 0, 1, 0, 1)

/* Waits for everything pushed; the way it is meant to be. */
static void sync(Code *c)
{
	rv_li(c, 30, PCBUF_SYNC);
	rv(c, rv_sw(0, 30, 0));
	rv(c, rv_lw(31, 30, 0));
	rv(c, rv_i(0x13, 7, 31, 31, 0));
}

static void end(Code *c)
{
	sync(c);
	strict_end(c);
}

static void stored_configuration(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	if (right)
		rv_tensix(c, OP_STALLWAIT(ON_RISC, UNPACK));
	rv_tensix(c, UNPACR_B);
	end(c);
}

static void stalled_something_else(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, right ? UNPACK | PACK : PACK));
	rv_tensix(c, UNPACR_B);
	end(c);
}

/* SEMWAIT.md: a SEMWAIT that the stall does not block makes the gate forget it. */
static void stall_forgotten(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	rv_tensix(c, OP_SEMINIT(1 << SEM, 1, 1));
	rv_tensix(c, OP_STALLWAIT(ON_RISC, right ? UNPACK | SYNC : UNPACK));
	rv_tensix(c, OP_SEMWAIT(1, 1 << SEM, UNPACK));
	rv_tensix(c, UNPACR_B);
	end(c);
}

static void loaded_back(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, UNPACK));
	rv_tensix(c, UNPACR_B);
	sync(c);
	rv_poke(c, CFG_AT(104), STRICT_DATA / 16);
	if (right)
		strict_load(c, 5, CFG_AT(104));
	rv_tensix(c, UNPACR_B);
	end(c);
}

static void under_a_queued_unpacr(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	rv_tensix(c, OP_SEMINIT(1 << SEM, 0, 1));
	sync(c);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, UNPACK | SYNC));
	rv_tensix(c, OP_SEMWAIT(1, 1 << SEM, UNPACK | SYNC));
	rv_tensix(c, UNPACR_B);
	if (!right)
		rv_poke(c, CFG_AT(104), STRICT_DATA / 16);
	rv_poke(c, SEM_AT(SEM), 0);
	sync(c);
	if (right)
		rv_poke(c, CFG_AT(104), STRICT_DATA / 16);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, UNPACK));
	rv_tensix(c, UNPACR_B);
	end(c);
}

static void wrcfg(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, UNPACK | CFG | THCON));
	rv_tensix(c, OP_SETDMAREG(2 * 12, 0, STRICT_DATA / 16 - 1, 0));
	rv_tensix(c, OP_SETDMAREG(2 * 12 + 1, 0, 0, 0));
	rv_tensix(c, OP_WRCFG(104, 0, 12));
	if (right)
		rv_tensix(c, OP_NOP());
	rv_tensix(c, UNPACR_B);
	end(c);
}

static void stored_gpr(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, UNPACK));
	rv_tensix(c, UNPACR_B);
	rv_poke(c, GPR_AT(12), STRICT_DATA / 16 - 1);
	if (right)
		rv_tensix(c, OP_STALLWAIT(ON_RISC, THCON));
	rv_tensix(c, OP_REG2FLOP(12, 104 - 52, 0, 0, 0, 1));
	end(c);
}

static void rmwcib_under_math(Strict *s, bool right)
{
	Code *c = &s->code[TRISC1];

	rv_tensix(c, OP_ZEROACC(0, 0, 3));
	if (right)
		rv_tensix(c, OP_STALLWAIT(ON_MATH, CFG));
	rv_tensix(c, OP_RMWCIB3(1, 0x20, 0x20)); /* 32-bit Dst */
	end(c);
}

static void reg2flop(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, UNPACK | THCON));
	rv_tensix(c, OP_SETDMAREG(2 * 12, 0, STRICT_DATA / 16 - 1, 0));
	rv_tensix(c, OP_SETDMAREG(2 * 12 + 1, 0, 0, 0));
	rv_tensix(c, OP_REG2FLOP(12, 104 - 52, 0, 0, 0, 1));
	if (right)
		rv_tensix(c, OP_STALLWAIT(ON_THCON, UNPACK));
	rv_tensix(c, UNPACR_B);
	end(c);
}

static void reg2flop_packer(Strict *s, bool right)
{
	Code *c = &s->code[TRISC2];
	uint32_t to = 0x80000000u | (STRICT_FREE / 16 - 1);

	strict_packer(c, STRICT_FREE + 64);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, PACK | THCON));
	rv_tensix(c, OP_SETDMAREG(2 * 12, 0, to & 0x3fff, to >> 14 & 3));
	rv_tensix(c, OP_SETDMAREG(2 * 12 + 1, 0, to >> 16 & 0x3fff, to >> 30));
	rv_tensix(c, OP_REG2FLOP(12, 57 - 52, 0, 0, 0, 1));
	if (right)
		rv_tensix(c, OP_STALLWAIT(ON_THCON, PACK));
	rv_tensix(c, PACR_ONE);
	end(c);
}

static void multiply_add(Strict *s, bool right)
{
	Code *c = &s->code[TRISC1];

	rv_tensix(c, OP_SFPLOADI(0x3f80, 0, 0));
	rv_tensix(c, OP_SFPMAD(0, 1, 9, 0, 0)); /* LReg[1] = LReg[0] * LReg[0] + 0 */
	if (right)
		rv_tensix(c, OP_SFPNOP());
	rv_tensix(c, OP_SFPMOV(0, 2, 1));
	end(c);
}

static void add_then_store(Strict *s, bool right)
{
	Code *c = &s->code[TRISC1];

	rv_tensix(c, OP_SFPLOADI(0x3f80, 0, 0));
	rv_tensix(c, OP_SFPADD(0, 1, 0, 10, 10));
	if (right)
		rv_tensix(c, OP_INCRWC(0, 0, 0, 0));
	rv_tensix(c, OP_SFPSTORE(0, 0, 3, 1));
	end(c);
}

/* Math clears Dst, which is writing it; the pack thread hears of it by a word in
 * L1 that says nothing about the coprocessor, or by a semaphore. */
static void packed_before_posted(Strict *s, bool right)
{
	Code *math = &s->code[TRISC1], *pack = &s->code[TRISC2];

	rv_tensix(math, OP_SEMINIT(1 << SEM, 0, 1));
	rv_tensix(math, OP_ZEROACC(0, 0, 3));
	if (right) {
		rv_tensix(math, OP_STALLWAIT(ON_MATH | ON_SFPU, SYNC));
		rv_tensix(math, OP_SEMPOST(1 << SEM));
	}
	rv_poke(math, STRICT_DATA, 1);
	rv_rest(math);
	strict_packer(pack, STRICT_FREE);
	rv_tensix(pack, OP_STALLWAIT(ON_RISC, PACK | SYNC));
	rv_await(pack, STRICT_DATA, 1);
	if (right)
		rv_tensix(pack, OP_SEMWAIT(1, 1 << SEM, TDMA));
	rv_tensix(pack, PACR_ONE);
	end(pack);
}

static void cleared_while_packing(Strict *s, bool right)
{
	Code *c = &s->code[TRISC2];

	strict_packer(c, STRICT_FREE);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, PACK | THCON));
	rv_tensix(c, PACR_ONE);
	if (right)
		rv_tensix(c, OP_STALLWAIT(ON_PACK, MATH));
	rv_tensix(c, OP_ZEROACC(0, 1, 3));
	end(c);
}

/* The pack thread gives Dst back before its packers are through. */
static void given_back_while_packing(Strict *s, bool right)
{
	Code *math = &s->code[TRISC1], *pack = &s->code[TRISC2];

	rv_tensix(math, OP_SEMINIT(1 << SEM, 1, 1));
	rv_poke(math, STRICT_DATA, 1);
	rv_tensix(math, OP_SEMWAIT(2, 1 << SEM, MATH | SFPU | SYNC));
	rv_tensix(math, OP_ZEROACC(0, 0, 3));
	end(math);
	rv_await(pack, STRICT_DATA, 1);
	strict_packer(pack, STRICT_FREE);
	rv_tensix(pack, OP_STALLWAIT(ON_RISC, PACK | THCON | SYNC));
	rv_tensix(pack, OP_SEMWAIT(1, 1 << SEM, TDMA | SYNC));
	rv_tensix(pack, PACR_ONE);
	if (right)
		rv_tensix(pack, OP_STALLWAIT(ON_PACK, SYNC));
	rv_tensix(pack, OP_SEMGET(1 << SEM));
	rv_rest(pack);
}

/* BRISC hears of the packed row by a word in L1. */
static void packed_and_read(Strict *s, bool right)
{
	Code *b = &s->code[BRISC], *pack = &s->code[TRISC2];

	strict_packer(pack, STRICT_FREE);
	rv_tensix(pack, OP_STALLWAIT(ON_RISC, PACK | THCON));
	rv_tensix(pack, PACR_ONE);
	if (right)
		sync(pack);
	rv_poke(pack, STRICT_DATA, 1);
	rv_rest(pack);
	rv_await(b, STRICT_DATA, 1);
	strict_load(b, 5, STRICT_FREE);
	strict_end(b);
}

static void unpacked_and_overwritten(Strict *s, bool right)
{
	Code *b = &s->code[BRISC], *unpack = &s->code[TRISC0];

	strict_unpacker(unpack);
	rv_tensix(unpack, OP_STALLWAIT(ON_RISC, UNPACK));
	rv_tensix(unpack, UNPACR_B);
	if (right)
		sync(unpack);
	rv_poke(unpack, STRICT_FREE, 1);
	rv_rest(unpack);
	rv_poke(b, STRICT_FREE, 0);
	rv_await(b, STRICT_FREE, 1);
	rv_poke(b, STRICT_DATA + 16, 0);
	strict_end(b);
}

static void mop_changed(Strict *s, bool right)
{
	Code *c = &s->code[TRISC1];

	for (uint32_t k = 0; k < 9; k++)
		rv_poke(c, MOP_AT(k), k < 2 ? 1 : k == 5 || k >= 7 ? OP_SFPNOP() : OP_NOP());
	rv_tensix(c, OP_MOP(1, 0, 0));
	if (right)
		sync(c);
	rv_poke(c, MOP_AT(1), 2);
	rv_tensix(c, OP_MOP(1, 0, 0));
	end(c);
}

static void sfpload_after_a_move(Strict *s, bool right)
{
	Code *unpack = &s->code[TRISC0], *math = &s->code[TRISC1];

	rv_tensix(unpack, OP_UNPACR_NOP(1, 1));
	rv_tensix(unpack, OP_SETDVALID(2));
	rv_rest(unpack);
	rv_tensix(math, OP_SETC16(0, 1));
	rv_tensix(math, OP_RMWCIB2(1, 5 << 1 | 5 << 5, 0x1e | 0xe0));
	rv_tensix(math, OP_RMWCIB3(1, 5 >> 3, 1));
	rv_tensix(math, OP_SETRWC(15, 0, 0, 0, 0, 0));
	rv_tensix(math, OP_MOVB2D(0, 4, 0, 0, 0));
	for (int k = 0; k < 3 && right; k++)
		rv_tensix(math, OP_NOP());
	rv_tensix(math, OP_SFPLOAD(0, 3, 2, 1));
	end(math);
}

static const StrictCase tensix_cases[] = {
	{ "cfg_stall", "store, no stall", stored_configuration },
	{ "cfg_stall", "store, stall of another unit", stalled_something_else },
	{ "cfg_stall", "store, stall forgotten for a SEMWAIT", stall_forgotten },
	{ "cfg_stall", "store, not loaded back", loaded_back },
	{ "cfg_stall", "store under a queued UNPACR", under_a_queued_unpacr },
	{ "cfg_stall", "WRCFG, used by the next instruction", wrcfg },
	{ "cfg_stall", "store to a general register, no stall", stored_gpr },
	{ "cfg_stall", "RMWCIB while the matrix unit works", rmwcib_under_math },
	{ "cfg_stall", "MOP configuration after a MOP", mop_changed },
	{ "flop_stall", "REG2FLOP, UNPACR", reg2flop },
	{ "flop_stall", "REG2FLOP, PACR", reg2flop_packer },
	{ "sfpu_slot", "SFPMAD, used at once", multiply_add },
	{ "sfpu_slot", "SFPADD, stored at once", add_then_store },
	{ "sfpload_early", "SFPLOAD right after MOVB2D", sfpload_after_a_move },
	{ "dst_early", "PACR without a semaphore", packed_before_posted },
	{ "zeroacc_packing", "ZEROACC after PACR", cleared_while_packing },
	{ "zeroacc_packing", "SEMGET before the packers are through", given_back_while_packing },
	{ "pack_early", "PACR, word in L1 that announces it", packed_and_read },
	{ "l1_reused", "UNPACR, word in L1 that gives it back", unpacked_and_overwritten },
};

static void each_breach_is_caught_and_each_clean_program_passes(void **state)
{
	(void)state;
	strict_table(tensix_cases, sizeof(tensix_cases) / sizeof(tensix_cases[0]));
}

static void swap_then_use(Strict *s)
{
	Code *c = &s->code[TRISC1];

	rv_tensix(c, OP_SFPLOADI(0x3f80, 0, 0));
	rv_tensix(c, OP_SFPLOADI(0x4000, 0, 1));
	rv_tensix(c, OP_SFPSWAP(1, 0, 1));
	rv_tensix(c, OP_SFPMOV(0, 2, 1));
	end(c);
}

static void same_value_again(Strict *s)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	rv_tensix(c, OP_STALLWAIT(ON_RISC, UNPACK));
	rv_tensix(c, UNPACR_B);
	rv_poke(c, CFG_AT(104), STRICT_DATA / 16 - 1);
	rv_tensix(c, UNPACR_B);
	end(c);
}

static void what_is_harmless_is_not_reported(void **state)
{
	(void)state;
	strict_clean("SFPSWAP holds its successor back itself", swap_then_use);
	strict_clean("a store that changes nothing", same_value_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_breach_is_caught_and_each_clean_program_passes),
		cmocka_unit_test(what_is_harmless_is_not_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
