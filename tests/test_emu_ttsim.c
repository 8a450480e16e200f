/*
 * The emulator's machine against Tenstorrent's simulator, byte for byte: random
 * rv32im programs on all RISC-Vs of all cores, random requests on both NoCs.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/rng.h"
#include "tests/chip.h"
#include "tests/ttsim.h"

enum {
	COLS = 8, ROWS = 10, CORES = COLS * ROWS, RISCS = 5,
	WINDOW = 0x400,       /* bytes a program works in, in L1 and in local memory */
	WINDOWS = 0x20000,
	LENGTH = 400,         /* instructions of a program */
	REQUESTS = 6,         /* NoC requests of a core */
	SLOTS = 0x40000, SLOT = 256, /* where core i writes in other cores: its slot */
	SOURCE = 0x60000, LANDING = 0x70000, COUNTED = 0x80000,
};

/* One of the two machines. */
typedef struct Sim {
	Emu *e;
	Ttsim *s;
} Sim;

static void put(Sim m, uint32_t x, uint32_t y, uint64_t at, const void *from, size_t n)
{
	if (m.s)
		ttsim_write(m.s, x, y, at, from, n);
	else
		assert_true(emu_write(m.e, x, y, at, from, n));
}

static void get(Sim m, uint32_t x, uint32_t y, uint64_t at, void *to, size_t n)
{
	if (m.s)
		ttsim_read(m.s, x, y, at, to, n);
	else
		assert_true(emu_read(m.e, x, y, at, to, n));
}

static void run(Sim m, uint32_t clocks)
{
	if (m.s)
		ttsim_clock(m.s, clocks);
	else
		chip_run(m.e);
}

static void release(Sim m, uint32_t i, uint32_t value)
{
	put(m, 18 + i % COLS, 18 + i / COLS, SOFT_RESET, &value, 4);
}

static uint32_t interesting(Rng *r)
{
	static const uint32_t corners[] = { 0, 1, 2, 31, 32, 0x7fffffff, 0x80000000, 0xfffffffe,
					    0xffffffff };

	return rng_below(r, 3) ? (uint32_t)rng_next(r) : corners[rng_below(r, 9)];
}

/* Registers 1 to 25 are free; 26 and 27 hold the windows, 28 counts turns. */
static uint32_t random_instruction(Rng *r, int left)
{
	static const uint32_t loads[] = { 0, 1, 2, 4, 5 }, branches[] = { 0, 1, 4, 5, 6, 7 };
	uint32_t rd = (uint32_t)rng_below(r, 26), a = (uint32_t)rng_below(r, 26);
	uint32_t b = (uint32_t)rng_below(r, 26), f3 = (uint32_t)rng_below(r, 8);
	uint32_t base = 26 + (uint32_t)rng_below(r, 2), size = (uint32_t)rng_below(r, 3);
	int32_t imm = (int32_t)rng_below(r, 4096) - 2048;
	int32_t offset = (int32_t)(rng_below(r, WINDOW) & -4);

	switch (rng_below(r, 8)) {
	case 0: return rv_r(f3 == 0 || f3 == 5 ? 32 : 0, f3, rd, a, b);
	case 1: return rv_r(0, f3, rd, a, b);
	case 2: case 3: return rv_r(1, f3, rd, a, b);
	case 4:
		if (f3 == 1 || f3 == 5)
			imm = (imm & 31) | (f3 == 5 && imm & 32 ? 0x400 : 0);
		return rv_i(0x13, f3, rd, a, imm);
	case 5: return rv_i(0x03, loads[rng_below(r, 5)], rd, base, offset);
	case 6: return rv_s(size, a, base, offset);
	default:
		if (left < 4)
			return rv_lui(rd, (uint32_t)rng_next(r));
		return rv_b(branches[rng_below(r, 6)], a, b, 4 * (1 + (int32_t)rng_below(r, 3)));
	}
}

static void random_program(Code *c, Rng *r, uint32_t risc)
{
	rv_li(c, 26, WINDOWS + WINDOW * risc);
	rv_li(c, 27, 0xffb00000);
	for (uint32_t i = 0; i < 256; i++)
		rv(c, rv_sw(0, 27, 4 * (int32_t)i));
	for (uint32_t x = 1; x < 26; x++)
		rv_li(c, x, interesting(r));
	rv(c, rv_addi(28, 0, 3));
	size_t top = c->n;

	for (int i = 0; i < LENGTH; i++)
		rv(c, random_instruction(r, LENGTH - i));
	rv(c, rv_addi(28, 28, -1));
	rv(c, rv_b(1, 28, 0, 4 * ((int32_t)top - (int32_t)c->n)));
	for (int x = 1; x < 26; x++)
		rv(c, rv_sw((uint32_t)x, 26, 4 * x));
	rv_rest(c);
}

static void random_programs(Sim m, uint8_t *result)
{
	static const uint32_t at[RISCS] = { 0, 0x6000, 0xa000, 0xe000, 0x12000 };
	Rng rng = { 20261116 };
	Code *c = malloc(sizeof(*c));

	for (uint32_t i = 0; i < CORES; i++) {
		for (uint32_t r = 0; r < RISCS; r++) {
			c->n = 0;
			random_program(c, &rng, r);
			put(m, 18 + i % COLS, 18 + i / COLS, at[r], c->word, rv_bytes(c));
		}
		release(m, i, RELEASE_ALL);
	}
	free(c);
	run(m, 3 * LENGTH + 1000);
	for (uint32_t i = 0; i < CORES; i++)
		get(m, 18 + i % COLS, 18 + i / COLS, WINDOWS, result + i * RISCS * WINDOW,
		    RISCS * WINDOW);
}

/* Somewhere on the NoC, as it counts: DRAM, or a worker by either name. */
static uint32_t place(int noc, uint32_t x, uint32_t y)
{
	return noc ? (9 - x) << 4 | (11 - y) << 10 : x << 4 | y << 10;
}

static uint32_t worker(Rng *r, int noc, uint32_t i)
{
	static const uint8_t xs[] = { 1, 2, 3, 4, 6, 7, 8, 9 };
	static const uint8_t ys[] = { 1, 2, 3, 4, 5, 7, 8, 9, 10, 11 };

	if (rng_below(r, 2))
		return (18 + i % COLS) << 4 | (18 + i / COLS) << 10;
	return place(noc, xs[i % COLS], ys[i / COLS]);
}

typedef struct Words {
	uint32_t targ, targ_node, ret, ret_node, ctrl, len, data, counter;
} Words;

static Words random_request(Rng *r, int noc, uint32_t i, uint32_t nth)
{
	static const uint8_t dram[][2] = { { 0, 11 }, { 0, 5 }, { 5, 1 }, { 5, 10 }, { 5, 8 },
					   { 5, 7 } };
	uint32_t me = worker(r, noc, i), other = (uint32_t)rng_below(r, CORES);
	uint32_t there = worker(r, noc, other), channel = (uint32_t)rng_below(r, 6);
	uint32_t bank = place(noc, dram[channel][0], dram[channel][1]);
	uint32_t at = SOURCE + 32 * (uint32_t)rng_below(r, 16), to = LANDING + SLOT * nth;
	uint32_t n = 1 + (uint32_t)rng_below(r, SLOT - 32), slot = SLOTS + SLOT * i;

	switch (rng_below(r, 6)) {
	case 0: return (Words){ at, me, slot, there, 0x2092, n, 0, 0x204 };
	case 1: return (Words){ at, me, slot, bank, 0x2092, n, 0, 0x204 };
	case 2: return (Words){ at, there, to, me, 0x2090, n, 0, 0x208 };
	case 3: return (Words){ at, bank, to, me, 0x2090, n, 0, 0x208 };
	case 4:
		to = LANDING + SLOT * REQUESTS;
		return (Words){ COUNTED, there, to, me, 0x91, 0x107c, n, 0x200 };
	default:
		at = slot + 4 * (uint32_t)rng_below(r, 64);
		return (Words){ at, there, 0, me, 0x9a, 15u << at % 16, n, 0x204 };
	}
}

static void noc_program(Code *c, Rng *r, uint32_t i)
{
	for (uint32_t k = 0; k < REQUESTS; k++) {
		int noc = (int)rng_below(r, 2);
		uint32_t regs = noc ? 0xffb30000 : 0xffb20000;
		Words q = random_request(r, noc, i, k);
		const uint32_t words[][2] = {
			{ 0x00, q.targ }, { 0x04, q.targ_node }, { 0x0c, q.ret },
			{ 0x10, q.ret_node }, { 0x1c, q.ctrl }, { 0x20, q.len }, { 0x24, q.data },
		};

		for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
			rv_poke(c, regs + words[w][0], words[w][1]);
		rv_li(c, 5, regs + q.counter);
		rv(c, rv_lw(6, 5, 0));
		rv_poke(c, regs + 0x28, 1);
		rv(c, rv_lw(7, 5, 0)); /* until it moves */
		rv(c, rv_b(0, 6, 7, -4));
	}
	rv_rest(c);
}

static void random_requests(Sim m, uint8_t *result)
{
	static const uint8_t dram[][2] = { { 0, 0 }, { 0, 5 }, { 5, 0 }, { 5, 2 }, { 5, 3 },
					   { 5, 5 } };
	Rng rng = { 7 };
	uint8_t data[1024];
	Code *c = malloc(sizeof(*c));

	for (uint32_t i = 0; i < CORES + 6; i++) {
		uint32_t x = i < CORES ? 18 + i % COLS : dram[i - CORES][0];
		uint32_t y = i < CORES ? 18 + i / COLS : dram[i - CORES][1];

		for (size_t k = 0; k < sizeof(data); k++)
			data[k] = (uint8_t)rng_next(&rng);
		put(m, x, y, SOURCE, data, sizeof(data));
		c->n = 0;
		if (i == CORES)
			for (uint32_t k = 0; k < CORES; k++)
				release(m, k, RELEASE_BRISC);
		if (i >= CORES)
			continue;
		noc_program(c, &rng, i);
		put(m, x, y, 0, c->word, rv_bytes(c));
	}
	free(c);
	run(m, 2000);
	for (uint32_t i = 0; i < CORES + 6; i++) {
		uint32_t x = i < CORES ? 18 + i % COLS : dram[i - CORES][0];
		uint32_t y = i < CORES ? 18 + i / COLS : dram[i - CORES][1];
		uint8_t *to = result + i * (CORES + REQUESTS + 1) * SLOT;

		get(m, x, y, SLOTS, to, CORES * SLOT);
		get(m, x, y, LANDING, to + CORES * SLOT, REQUESTS * SLOT);
		get(m, x, y, COUNTED, to + (CORES + REQUESTS) * SLOT, SLOT);
	}
}

static void programs_there(Ttsim *s, void *shared) { random_programs((Sim){ NULL, s }, shared); }
static void requests_there(Ttsim *s, void *shared) { random_requests((Sim){ NULL, s }, shared); }

static void compare(void (*here)(Sim, uint8_t *), TtsimBody *there, size_t n)
{
	uint8_t *want = calloc(1, n), *got = calloc(1, n);
	Emu *e = chip_open(2, 0);

	here((Sim){ e, NULL }, got);
	assert_true(ttsim_run(there, want, n));
	assert_memory_equal(got, want, n);
	emu_close(e);
	free(want);
	free(got);
}

static void random_programs_leave_the_same_bytes(void **state)
{
	(void)state;
	compare(random_programs, programs_there, (size_t)CORES * RISCS * WINDOW);
}

static void random_requests_leave_the_same_bytes(void **state)
{
	(void)state;
	compare(random_requests, requests_there,
		(size_t)(CORES + 6) * (CORES + REQUESTS + 1) * SLOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs_leave_the_same_bytes),
		cmocka_unit_test(random_requests_leave_the_same_bytes),
	};

	if (!ttsim_there()) {
		puts("TESSERA_TTSIM is not set");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
