/* The RISC-Vs of the emulator: rv32im, memory, and what they refuse. */
#include <string.h>

#include "tests/chip.h"

typedef struct Row {
	uint32_t f7, f3, a, b, want;
} Row;

/* Instructions of two registers: corner cases by the RISC-V manual. */
static const Row rows[] = {
	{ 0, 0, 0xffffffff, 2, 1 }, { 32, 0, 1, 2, 0xffffffff },      /* add, sub */
	{ 0, 1, 1, 33, 2 }, { 0, 1, 0x80000001, 31, 0x80000000 },     /* sll */
	{ 0, 2, 0x80000000, 0, 1 }, { 0, 2, 0, 0x80000000, 0 },       /* slt */
	{ 0, 3, 0x80000000, 0, 0 }, { 0, 3, 0, 0x80000000, 1 },       /* sltu */
	{ 0, 4, 0xf0f0, 0xff00, 0x0ff0 },                             /* xor */
	{ 0, 5, 0x80000000, 31, 1 }, { 32, 5, 0x80000000, 31, ~0u },  /* srl, sra */
	{ 32, 5, 0x80000000, 32, 0x80000000 },
	{ 0, 6, 0xf0f0, 0xff00, 0xfff0 }, { 0, 7, 0xf0f0, 0xff00, 0xf000 }, /* or, and */
	{ 1, 0, 0x12345678, 0x9abcdef0, 0x242d2080 },                 /* mul */
	{ 1, 1, 0x80000000, 0x80000000, 0x40000000 },                 /* mulh */
	{ 1, 1, 0xffffffff, 1, 0xffffffff }, { 1, 1, 0xffffffff, 0xffffffff, 0 },
	{ 1, 2, 0x80000000, 0x80000000, 0xc0000000 },                 /* mulhsu */
	{ 1, 2, 0xffffffff, 0xffffffff, 0xffffffff }, { 1, 2, 1, 0xffffffff, 0 },
	{ 1, 3, 0xffffffff, 0xffffffff, 0xfffffffe },                 /* mulhu */
	{ 1, 4, 7, 0xfffffffe, 0xfffffffd }, { 1, 4, 7, 0, ~0u },     /* div */
	{ 1, 4, 0x80000000, 0xffffffff, 0x80000000 }, { 1, 4, 0x80000001, ~0u, 0x7fffffff },
	{ 1, 5, 0xfffffffe, 2, 0x7fffffff }, { 1, 5, 7, 0, ~0u },     /* divu */
	{ 1, 6, 0xfffffff9, 2, 0xffffffff }, { 1, 6, 7, 0, 7 },       /* rem */
	{ 1, 6, 0x80000000, 0xffffffff, 0 }, { 1, 6, 7, 0xfffffffe, 1 },
	{ 1, 7, 0xfffffff9, 2, 1 }, { 1, 7, 7, 0, 7 },                /* remu */
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

static void instructions_of_two_registers_give_what_the_manual_says(void **state)
{
	Emu *e = chip_open(1, 0);
	Code c = { 0 };

	(void)state;
	rv_li(&c, 5, OUT);
	for (int i = 0; i < ROWS; i++) {
		rv_li(&c, 1, rows[i].a);
		rv_li(&c, 2, rows[i].b);
		rv(&c, rv_r(rows[i].f7, rows[i].f3, 3, 1, 2));
		rv(&c, rv_sw(3, 5, 4 * i));
	}
	rv_rest(&c);
	chip_load(e, 1, 1, 0, &c);
	chip_poke(e, 1, 1, SOFT_RESET, RELEASE_BRISC);
	chip_run(e);
	for (int i = 0; i < ROWS; i++)
		if (chip_peek(e, 1, 1, OUT + 4 * (uint32_t)i) != rows[i].want)
			fail_msg("row %d gives %08x, not %08x", i,
				 chip_peek(e, 1, 1, OUT + 4 * (uint32_t)i), rows[i].want);
	emu_close(e);
}

static void instructions_of_an_immediate_give_what_the_manual_says(void **state)
{
	static const struct { uint32_t f3, a; int32_t imm; uint32_t want; } cases[] = {
		{ 0, 5, -6, 0xffffffff }, { 1, 3, 31, 0x80000000 }, { 2, 0xfffffffe, -1, 1 },
		{ 2, 5, -1, 0 }, { 3, 5, -1, 1 }, { 4, 0xff, -1, 0xffffff00 },
		{ 5, 0x80000000, 4, 0x08000000 }, { 5, 0x80000000, 4 | 0x400, 0xf8000000 },
		{ 6, 0x0f, 0x7f0, 0x7ff }, { 7, 0xff, -16, 0xf0 },
	};
	enum { N = sizeof(cases) / sizeof(*cases) };
	Emu *e = chip_open(1, 0);
	Code c = { 0 };

	(void)state;
	rv_li(&c, 5, OUT);
	for (int i = 0; i < N; i++) {
		rv_li(&c, 1, cases[i].a);
		rv(&c, rv_i(0x13, cases[i].f3, 3, 1, cases[i].imm));
		rv(&c, rv_sw(3, 5, 4 * i));
	}
	rv(&c, rv_i(0x17, 0, 3, 0, 0)); /* auipc x3, 0 */
	rv(&c, rv_sw(3, 5, 4 * N));
	rv(&c, rv_addi(0, 1, 1)); /* x0 stays zero */
	rv(&c, rv_sw(0, 5, 4 * N + 4));
	rv_rest(&c);
	chip_load(e, 1, 1, 0, &c);
	chip_poke(e, 1, 1, OUT + 4 * N + 4, 1);
	chip_poke(e, 1, 1, SOFT_RESET, RELEASE_BRISC);
	chip_run(e);
	for (int i = 0; i < N; i++)
		assert_int_equal(chip_peek(e, 1, 1, OUT + 4 * (uint32_t)i), cases[i].want);
	assert_int_equal(chip_peek(e, 1, 1, OUT + 4 * N), 4 * (2 + 4 * N));
	assert_int_equal(chip_peek(e, 1, 1, OUT + 4 * N + 4), 0);
	emu_close(e);
}

static void bytes_and_halves_are_extended_and_stored_in_place(void **state)
{
	static const uint32_t loads[] = { 0, 4, 1, 5 }; /* lb lbu lh lhu */
	static const uint32_t want[] = { 0xffffff80, 0x80, 0xffffff80, 0xff80 };
	Emu *e = chip_open(1, 0);
	Code c = { 0 };

	(void)state;
	for (uint32_t place = 0; place < 2; place++) { /* L1, local memory */
		uint32_t at = place ? 0xffb00100 : OUT + 0x100;

		rv_li(&c, 5, at);
		rv_li(&c, 6, OUT + 0x20 * place);
		rv_li(&c, 1, 0x1234ff80);
		rv(&c, rv_sw(0, 5, 0));
		rv(&c, rv_sw(0, 5, 4));
		rv(&c, rv_s(1, 1, 5, 2)); /* half into the upper half */
		for (int i = 0; i < 4; i++) {
			rv(&c, rv_i(0x03, loads[i], 2, 5, 2));
			rv(&c, rv_sw(2, 6, 4 * i));
		}
		rv(&c, rv_s(0, 1, 5, 5)); /* byte */
		rv(&c, rv_lw(2, 5, 4));
		rv(&c, rv_sw(2, 6, 16));
	}
	rv_rest(&c);
	chip_load(e, 1, 1, 0, &c);
	chip_poke(e, 1, 1, SOFT_RESET, RELEASE_BRISC);
	chip_run(e);
	for (uint32_t place = 0; place < 2; place++) {
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(chip_peek(e, 1, 1, OUT + 0x20 * place + 4 * i), want[i]);
		assert_int_equal(chip_peek(e, 1, 1, OUT + 0x20 * place + 16), 0x8000);
	}
	emu_close(e);
}

static void branches_compare_signed_and_unsigned(void **state)
{
	static const uint32_t values[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff };
	static const uint32_t kinds[] = { 0, 1, 4, 5, 6, 7 };
	Emu *e = chip_open(1, 0);
	Code c = { 0 };
	uint32_t n = 0;

	(void)state;
	rv_li(&c, 5, OUT);
	for (int k = 0; k < 6; k++) {
		for (int i = 0; i < 25; i++, n++) {
			rv_li(&c, 1, values[i / 5]);
			rv_li(&c, 2, values[i % 5]);
			rv(&c, rv_addi(3, 0, 1));
			rv(&c, rv_b(kinds[k], 1, 2, 8));
			rv(&c, rv_addi(3, 0, 0));
			rv(&c, rv_sw(3, 5, 4 * (int32_t)n));
		}
	}
	rv_rest(&c);
	chip_load(e, 1, 1, 0, &c);
	chip_poke(e, 1, 1, SOFT_RESET, RELEASE_BRISC);
	chip_run(e);
	for (uint32_t k = 0, at = OUT; k < 6; k++) {
		for (uint32_t i = 0; i < 25; i++, at += 4) {
			uint32_t a = values[i / 5], b = values[i % 5];
			bool want = kinds[k] == 0 ? a == b : kinds[k] == 1 ? a != b
				    : kinds[k] < 6 ? (int32_t)a < (int32_t)b : a < b;

			want ^= kinds[k] == 5 || kinds[k] == 7;
			assert_int_equal(chip_peek(e, 1, 1, at), want);
		}
	}
	emu_close(e);
}

static void a_call_returns_behind_itself(void **state)
{
	Emu *e = chip_open(1, 0);
	Code c = { 0 };

	(void)state;
	rv_li(&c, 5, OUT);
	rv(&c, rv_jal(1, 16));      /* 8: to 24 */
	rv(&c, rv_sw(6, 5, 0));     /* 12 */
	rv(&c, rv_sw(1, 5, 4));     /* 16 */
	rv_rest(&c);                /* 20 */
	rv(&c, rv_addi(6, 0, 77));  /* 24 */
	rv(&c, rv_i(0x67, 0, 0, 1, 1)); /* 28: jalr x0, 1(x1): the lowest bit does not count */
	chip_load(e, 1, 1, 0, &c);
	chip_poke(e, 1, 1, SOFT_RESET, RELEASE_BRISC);
	chip_run(e);
	assert_int_equal(chip_peek(e, 1, 1, OUT), 77);
	assert_int_equal(chip_peek(e, 1, 1, OUT + 4), 12);
	emu_close(e);
}

static void code_that_was_changed_is_executed_as_it_is_now(void **state)
{
	Emu *e = chip_open(1, 0);
	Code c = { 0 };

	(void)state;
	rv_li(&c, 5, OUT);
	rv_li(&c, 6, rv_addi(7, 0, 2));
	rv(&c, rv_addi(8, 0, 2));       /* turns */
	rv(&c, rv_addi(7, 0, 1));       /* 20: becomes 2 */
	rv(&c, rv_sw(7, 5, 0));
	rv(&c, rv_addi(5, 5, 4));
	rv(&c, rv_sw(6, 0, 20));
	rv(&c, rv_addi(8, 8, -1));
	rv(&c, rv_b(1, 8, 0, -20));
	rv_rest(&c);
	chip_load(e, 1, 1, 0, &c);
	chip_poke(e, 1, 1, SOFT_RESET, RELEASE_BRISC);
	chip_run(e);
	assert_int_equal(chip_peek(e, 1, 1, OUT), 1);
	assert_int_equal(chip_peek(e, 1, 1, OUT + 4), 2);
	chip_poke(e, 1, 1, 20, rv_addi(7, 0, 3));
	chip_poke(e, 1, 1, SOFT_RESET, 0x47800);
	chip_poke(e, 1, 1, SOFT_RESET, RELEASE_BRISC);
	chip_run(e);
	assert_int_equal(chip_peek(e, 1, 1, OUT), 3);
	emu_close(e);
}

static void refused(const Code *c, const char *check, uint64_t address, uint32_t pc)
{
	Emu *e = chip_open(1, 0);

	chip_load(e, 2, 3, 0, c);
	chip_poke(e, 2, 3, SOFT_RESET, RELEASE_BRISC);
	assert_int_equal(emu_run(e, 1000), EMU_FAULT);
	assert_int_equal(emu_reports(e), 1);
	const EmuReport *r = emu_report(e, 0);

	assert_string_equal(r->check, check);
	assert_int_equal(r->address, address);
	assert_int_equal(r->pc, pc);
	assert_int_equal(r->x, 2);
	assert_int_equal(r->y, 3);
	assert_string_equal(r->risc, "brisc");
	emu_close(e);
}

static void what_is_not_known_is_refused_by_name(void **state)
{
	(void)state;
	refused(&(Code){ { 0xffffffff }, 1 }, "unknown-instruction", 0xffffffff, 0);
	refused(&(Code){ { rv_addi(1, 0, 0), 0xc00022f3 }, 2 }, "unknown-instruction", 0xc00022f3, 4);
	refused(&(Code){ { rv_lui(1, 0x20000), rv_lw(2, 1, 2) }, 2 }, "misaligned", 0x20002, 4);
	refused(&(Code){ { rv_lui(1, 0x20000), rv_s(1, 2, 1, 1) }, 2 }, "misaligned", 0x20001, 4);
	refused(&(Code){ { rv_lui(1, 0x200000), rv_lw(2, 1, 0) }, 2 }, "unknown-address", 0x200000, 4);
	refused(&(Code){ { rv_lui(1, 0xffb12000), rv_lw(2, 1, 0) }, 2 }, "unknown-address",
		0xffb12000, 4);
	refused(&(Code){ { rv_jal(0, 2) }, 1 }, "bad-pc", 2, 0);
	refused(&(Code){ { rv_i(0x67, 0, 0, 0, -4) }, 1 }, "bad-pc", 0xfffffffc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_of_two_registers_give_what_the_manual_says),
		cmocka_unit_test(instructions_of_an_immediate_give_what_the_manual_says),
		cmocka_unit_test(bytes_and_halves_are_extended_and_stored_in_place),
		cmocka_unit_test(branches_compare_signed_and_unsigned),
		cmocka_unit_test(a_call_returns_behind_itself),
		cmocka_unit_test(code_that_was_changed_is_executed_as_it_is_now),
		cmocka_unit_test(what_is_not_known_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
