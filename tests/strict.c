#include "tests/strict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tensix_ops.h"
#include "tests/check.h"
#include "tests/ttsim.h"

enum { STEPS = 20000, RESET_REGISTER_LOW = 0xb121b0 };

static const uint64_t reset_register = 0xff000000ull + RESET_REGISTER_LOW;
static const uint32_t starts[RISCS] = { 0, 0x6000, 0xa000, 0xe000, 0x12000 };
static const uint32_t reset_bits[RISCS] = { 0x800, 0x1000, 0x2000, 0x4000, 0x40000 };

static uint32_t held(const Strict *s)
{
	uint32_t bits = 0;

	for (int r = 0; r < RISCS; r++)
		bits |= s->code[r].n ? 0 : reset_bits[r];
	return bits;
}

static void fill(uint32_t *words)
{
	for (uint32_t k = 0; k < STRICT_DATA_BYTES / 4; k++)
		words[k] = 100 + k;
}

typedef struct OnTtsim {
	Strict program;
	uint32_t done;
} OnTtsim;

static void on_ttsim(Ttsim *t, void *shared)
{
	OnTtsim *o = shared;
	uint32_t words[STRICT_DATA_BYTES / 4], zero = 0, bits = held(&o->program);

	fill(words);
	ttsim_write(t, STRICT_X, STRICT_Y, STRICT_DATA, words, sizeof(words));
	ttsim_write(t, STRICT_X, STRICT_Y, STRICT_DONE, &zero, 4);
	for (int r = 0; r < RISCS; r++)
		if (o->program.code[r].n)
			ttsim_write(t, STRICT_X, STRICT_Y, starts[r], o->program.code[r].word,
				    rv_bytes(&o->program.code[r]));
	ttsim_write(t, STRICT_X, STRICT_Y, reset_register, &bits, 4);
	ttsim_clock(t, STEPS);
	ttsim_read(t, STRICT_X, STRICT_Y, STRICT_DONE, &o->done, 4);
}

static const char *ttsim_verdict(const Strict *s)
{
	OnTtsim *o = malloc(sizeof(*o));
	const char *verdict;

	if (!ttsim_there()) {
		free(o);
		return "not run";
	}
	o->program = *s;
	o->done = 0;
	if (!ttsim_run(on_ttsim, o, sizeof(*o)))
		verdict = "refuses";
	else
		verdict = o->done ? "passes" : "hangs";
	free(o);
	return verdict;
}

/* Runs it; returns the name of the first check that reported, "" if none did
 * and it came to its end, else what happened. */
static const char *emu_verdict(const Strict *s, EmuReport *report)
{
	Emu *e = emu_open(&(EmuOptions){ .threads = 1, .strict = true });
	uint32_t words[STRICT_DATA_BYTES / 4], zero = 0, bits = held(s), done = 0;
	const char *verdict = "";

	fill(words);
	emu_program(e, &s->program);
	if (s->end)
		emu_allow(e, STRICT_X, STRICT_Y, s->first, s->end);
	emu_write(e, STRICT_X, STRICT_Y, STRICT_DATA, words, sizeof(words));
	emu_write(e, STRICT_X, STRICT_Y, STRICT_DONE, &zero, 4);
	for (int r = 0; r < RISCS; r++)
		if (s->code[r].n)
			emu_write(e, STRICT_X, STRICT_Y, starts[r], s->code[r].word,
				  rv_bytes(&s->code[r]));
	emu_write(e, STRICT_X, STRICT_Y, reset_register, &bits, 4);
	emu_run(e, STEPS);
	emu_read(e, STRICT_X, STRICT_Y, STRICT_DONE, &done, 4);
	if (emu_reports(e)) {
		*report = *emu_report(e, 0);
		verdict = report->check;
	} else if (!done) {
		emu_waits(e, stdout);
		verdict = "does not end";
	}
	emu_close(e);
	return verdict;
}

/* The page of the ISA documentation a check rests on. */
static const char *page_of(const char *check)
{
	static const struct {
		const char *name, *page;
	} rows[] = {
#define CHECK(name, page, what) { #name, page },
#include "runtime/emu/checks.def"
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
		if (strcmp(rows[k].name, check) == 0)
			return rows[k].page;
	fail_msg("no check %s", check);
	return "";
}

static void strict_case(const StrictCase *k)
{
	static Strict wrong, right; /* large, and a failed assertion frees nothing */
	EmuReport report = { 0 }, none = { 0 };
	const char *caught, *passed;

	wrong = right = (Strict){ 0 };
	k->build(&wrong, false);
	k->build(&right, true);
	caught = emu_verdict(&wrong, &report);
	passed = emu_verdict(&right, &none);
	printf("%-18s %-44s emu: %s, %s; libttsim: %s, %s; %s\n", k->check, k->what,
	       strcmp(caught, k->check) == 0 ? "caught" : caught, *passed ? passed : "passes",
	       ttsim_verdict(&wrong), ttsim_verdict(&right), page_of(k->check));
	if (report.check)
		printf("    (%u,%u) %s at pc 0x%x, op %u, 0x%llx: %s\n", report.x, report.y, report.risc,
		       report.pc, report.op, (unsigned long long)report.address, report.text);
	if (none.check)
		printf("    (%u,%u) %s at pc 0x%x, 0x%llx: %s\n", none.x, none.y, none.risc, none.pc,
		       (unsigned long long)none.address, none.text);
	fflush(stdout);
	assert_string_equal(caught, k->check);
	assert_string_equal(passed, "");
}

void strict_clean(const char *what, void (*build)(Strict *s))
{
	static Strict s;
	EmuReport none = { 0 };
	const char *passed;

	s = (Strict){ 0 };
	build(&s);
	passed = emu_verdict(&s, &none);
	printf("%-18s %-44s emu: %s; libttsim: %s\n", "", what, *passed ? passed : "passes",
	       ttsim_verdict(&s));
	if (none.check)
		printf("    %s at pc 0x%x, 0x%llx: %s\n", none.risc, none.pc,
		       (unsigned long long)none.address, none.text);
	fflush(stdout);
	assert_string_equal(passed, "");
}

void strict_table(const StrictCase *cases, int n)
{
	for (int k = 0; k < n; k++)
		strict_case(&cases[k]);
}

void strict_end(Code *c)
{
	rv_poke(c, STRICT_DONE, 1);
	rv_rest(c);
}

void strict_load(Code *c, uint32_t rd, uint32_t address)
{
	rv_li(c, 30, address);
	rv(c, rv_lw(rd, 30, 0));
	rv(c, rv_addi(rd, rd, 0));
}

/* Pairs of configuration word and value. */
static void configure(Code *c, const uint32_t (*pairs)[2], size_t n)
{
	for (size_t k = 0; k < n; k++)
		rv_poke(c, 0xffef0000u + 4 * pairs[k][0], pairs[k][1]);
}

void strict_unpacker(Code *c)
{
	static const uint32_t pairs[][2] = {
		{ 45, 512 }, { 47, 512 }, { 44, 32 << 12 }, { 52, 0x15 }, { 53, 1 | 4 << 16 },
		{ 92, 0x15 | 256 << 16 }, { 93, 1 | 4 << 16 }, { 60, 0x25 }, { 61, 0xf000f },
		{ 100, 0x25 }, { 101, 0xf000f }, { 72, 64 | 64 << 16 }, { 74, 256 | 256 << 16 },
		{ 41, 1 << 8 }, { 64, STRICT_DATA / 16 - 1 }, { 104, STRICT_DATA / 16 - 1 },
	};

	configure(c, pairs, sizeof(pairs) / sizeof(pairs[0]));
	rv_tensix(c, OP_SETC16(4, 3));
	rv_tensix(c, OP_SETC16(0, 39));
	rv_tensix(c, OP_SETADCXY(0xb, 0, 0, 0, 0, 3));
	rv_tensix(c, OP_SETADCZW(0xf, 0, 0, 0, 0, 3));
	rv_tensix(c, OP_SETADCXX(0, 15, 3));
}

void strict_packer(Code *c, uint32_t to)
{
	static const uint8_t section[] = { 56, 84, 96, 124 };
	const uint32_t pairs[][2] = {
		{ 8, 2 | 32 << 12 }, { 9, 512 | 2048 << 12 }, { 14, 0 }, { 20, 0xffff }, { 16, 0 },
		{ 57, 0x80000000u | (to / 16 - 1) },
	};

	configure(c, pairs, sizeof(pairs) / sizeof(pairs[0]));
	for (uint32_t k = 0; k < 4; k++) {
		const uint32_t own[][2] = { { section[k], 4 << 16 }, { section[k] + 2u, 0x551 },
			{ section[k] + 3u, 0 }, { 24 + k, 1 << 8 }, { 152 + k, 16 * k } };

		configure(c, own, sizeof(own) / sizeof(own[0]));
	}
	rv_tensix(c, OP_RMWCIB3(1, 5 << 1, 0x1e)); /* format of Dst */
	rv_tensix(c, OP_SETC16(1 << 5 | 1 << 11, 32));
	rv_tensix(c, OP_SETC16(1 << 5, 33));
	rv_tensix(c, OP_SETADCXY(0xb, 0, 0, 0, 0, 4));
	rv_tensix(c, OP_SETADCZW(0xf, 0, 0, 0, 0, 4));
	rv_tensix(c, OP_SETADCXX(0, 15, 4));
}
