/* Resets, registers, both NoCs, DRAM, threads and quanta of the emulator. */
#include <stdlib.h>
#include <string.h>

#include "tests/chip.h"

#define NOC0 0xffb20000u
#define NOC1 0xffb30000u
#define CFG 0xffef0000u
#define MAILBOX(i) (0xffec0000u + 0x1000 * (i))
#define NODE(x, y) ((uint32_t)(x) << 4 | (uint32_t)(y) << 10)

enum {
	READ = 0x2090, WRITE = 0x2092, MULTICAST = 0x81b2, ATOMIC = 0x91, INLINE = 0x9a,
	SOURCE_INCLUDED = 1 << 17,
	ACKS = 0x204, READS = 0x208, ATOMICS = 0x200,
};

/* A command buffer's registers, its start, and the wait until its answers are
 * there: `counter` at `count`. */
typedef struct Request {
	uint32_t targ, targ_node, ret, ret_node, ctrl, len, data, counter, count;
} Request;

static void issue(Code *c, uint32_t noc, Request q)
{
	rv_poke(c, noc + 0x00, q.targ);
	rv_poke(c, noc + 0x04, q.targ_node);
	rv_poke(c, noc + 0x0c, q.ret);
	rv_poke(c, noc + 0x10, q.ret_node);
	rv_poke(c, noc + 0x1c, q.ctrl);
	rv_poke(c, noc + 0x20, q.len);
	rv_poke(c, noc + 0x24, q.data);
	rv_poke(c, noc + 0x28, 1);
	rv_await(c, noc + q.counter, q.count);
}

static void start(Emu *e, uint32_t x, uint32_t y, Code *c)
{
	rv_rest(c);
	chip_load(e, x, y, 0, c);
	chip_poke(e, x, y, SOFT_RESET, RELEASE_BRISC);
}

static void fill(Emu *e, uint32_t x, uint32_t y, uint32_t at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 4)
		chip_poke(e, x, y, at + i, (at + i) * 2654435761u);
}

static void holds(Emu *e, uint32_t x, uint32_t y, uint32_t at, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 4)
		assert_int_equal(chip_peek(e, x, y, at + i), (from + i) * 2654435761u);
}

static void host_reaches_workers_and_dram_and_nothing_else(void **state)
{
	Emu *e = chip_open(1, 0);
	uint32_t word = 7;

	(void)state;
	chip_poke(e, 18, 27, 0x100, 1); /* virtual: (1, 11) */
	assert_int_equal(chip_peek(e, 1, 11, 0x100), 1);
	chip_poke(e, 5, 9, 0x7ffffffc, 2); /* one of three places of channel 3 */
	assert_int_equal(chip_peek(e, 5, 2, 0x7ffffffc), 2);
	assert_false(emu_write(e, 5, 2, 0x80000000, &word, 4));
	assert_false(emu_write(e, 1, 1, 1499136, &word, 4));
	assert_true(emu_write(e, 1, 1, 1499132, &word, 4));
	assert_false(emu_write(e, 1, 0, 0, &word, 4)); /* Ethernet */
	assert_false(emu_write(e, 10, 1, 0, &word, 4));
	assert_false(emu_read(e, 1, 1, 0xffb00000, &word, 4)); /* local memory */
	assert_false(emu_read(e, 1, 1, CFG, &word, 4));
	assert_int_equal(chip_peek(e, 1, 1, SOFT_RESET), 0x47800);
	assert_int_equal(emu_run(e, 100), EMU_RUNNING);
	emu_close(e);
}

static void five_riscs_start_where_they_are_told(void **state)
{
	static const uint32_t at[] = { 0, 0x6000, 0xa000, 0xe000, 0x12000 };
	Emu *e = chip_open(1, 0);

	(void)state;
	for (uint32_t moved = 0; moved < 2; moved++) {
		for (uint32_t r = 0; r < 5; r++) {
			Code c = { 0 };

			for (uint32_t k = 0; !r && moved && k < 5; k++) {
				static const uint32_t words[] = { 158, 159, 160, 162 };

				if (k < 4)
					rv_poke(&c, CFG + 4 * words[k], 0x30000 + 0x1000 * (k + 1));
			}
			if (!r && moved) {
				rv_poke(&c, CFG + 4 * 161, 7);
				rv_poke(&c, CFG + 4 * 163, 1);
			}
			rv_poke(&c, OUT + 4 * r, r + 1 + 16 * moved);
			if (!r)
				rv_poke(&c, SOFT_RESET, 0); /* the others too */
			rv_rest(&c);
			chip_load(e, 3, 4, moved && r ? 0x30000 + 0x1000 * r : at[r], &c);
		}
		chip_poke(e, 3, 4, SOFT_RESET, 0x47800);
		chip_poke(e, 3, 4, SOFT_RESET, RELEASE_BRISC);
		chip_run(e);
		for (uint32_t r = 0; r < 5; r++)
			assert_int_equal(chip_peek(e, 3, 4, OUT + 4 * r), r + 1 + 16 * moved);
		assert_int_equal(chip_peek(e, 3, 4, SOFT_RESET), 0);
	}
	emu_close(e);
}

static void ncrisc_runs_from_its_own_memory(void **state)
{
	Emu *e = chip_open(1, 0);
	Code b = { 0 }, n = { 0 };

	(void)state;
	rv_poke(&n, OUT, 5);
	rv(&n, rv_i(0x17, 0, 3, 0, 0)); /* auipc x3, 0 */
	rv(&n, rv_sw(3, 30, 4));
	rv_rest(&n);
	chip_load(e, 1, 1, 0x40000, &n);
	rv_poke(&b, 0xffb11000, 0x40000 / 16);
	rv_poke(&b, 0xffb11004, 0x4000);
	rv_poke(&b, 0xffb11008, 16);
	rv_poke(&b, 0xffb1100c, 1);
	rv_poke(&b, 0xffb11010, 0x40);
	rv_poke(&b, CFG + 4 * 162, 0xffc00000);
	rv_poke(&b, CFG + 4 * 163, 1);
	rv_poke(&b, SOFT_RESET, 0x7000);
	start(e, 1, 1, &b);
	chip_run(e);
	assert_int_equal(chip_peek(e, 1, 1, OUT), 5);
	assert_int_equal(chip_peek(e, 1, 1, OUT + 4), 0xffc00014);
	emu_close(e);
}

static void mail_arrives_once(void **state)
{
	Emu *e = chip_open(1, 0);
	Code b = { 0 }, t = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		rv_poke(&b, MAILBOX(2), 100 + i); /* to TRISC1, which is slower */
		rv_li(&t, 30, MAILBOX(0));
		rv(&t, rv_lw(1, 30, 0));
		rv_li(&t, 30, OUT + 4 * i);
		rv(&t, rv_sw(1, 30, 0));
	}
	rv(&t, rv_lw(1, 30, 0));
	rv_li(&t, 30, MAILBOX(0));
	rv(&t, rv_lw(1, 30, 0)); /* nothing more comes */
	chip_load(e, 1, 1, 0xa000, &t);
	rv_rest(&b);
	chip_load(e, 1, 1, 0, &b);
	chip_poke(e, 1, 1, SOFT_RESET, 0x45000);
	assert_int_equal(emu_run(e, 10000), EMU_STUCK);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(chip_peek(e, 1, 1, OUT + 4 * i), 100 + i);
	emu_close(e);
}

static void noc_moves_data_between_cores_and_dram(void **state)
{
	static const uint32_t bases[] = { NOC0, NOC1 };
	Emu *e = chip_open(1, 0);

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t noc = bases[i], at = 0x50000 + 0x10000 * i, v = 18;
		uint32_t me = NODE(v + 1, v + 1), other = NODE(v + 7, v + 9);
		uint32_t dram = i ? NODE(9 - 5, 11 - 3) : NODE(5, 3);
		Code c = { 0 };

		fill(e, 2, 2, at, 256);
		fill(e, 9, 11, at + 0x1000, 64);
		fill(e, 5, 3, at + 0x2000, 64);
		issue(&c, noc, (Request){ at, me, at, other, WRITE, 256, 0, ACKS, 1 });
		issue(&c, noc, (Request){ at, me, at, dram, WRITE, 256, 0, ACKS, 2 });
		at += 0x1000;
		issue(&c, noc, (Request){ at, other, at, me, READ, 64, 0, READS, 1 });
		at += 0x1000;
		issue(&c, noc, (Request){ at, dram, at, me, READ, 64, 0, READS, 2 });
		at -= 0x2000;
		rv_li(&c, 5, noc + 0x2c);
		rv(&c, rv_lw(1, 5, 0));
		rv_li(&c, 5, OUT);
		rv(&c, rv_sw(1, 5, 0));
		start(e, 2, 2, &c);
		chip_run(e);
		holds(e, 9, 11, at, at, 256);
		holds(e, 5, 3, at, at, 256);
		holds(e, 2, 2, at + 0x1000, at + 0x1000, 64);
		holds(e, 2, 2, at + 0x2000, at + 0x2000, 64);
		assert_int_equal(chip_peek(e, 2, 2, OUT) & 0xfff, i ? 7 | 9 << 6 : 2 | 2 << 6);
		chip_poke(e, 2, 2, SOFT_RESET, 0x47800);
	}
	emu_close(e);
}

static void multicast_reaches_the_workers_of_a_rectangle(void **state)
{
	Emu *e = chip_open(1, 0);
	uint32_t me = NODE(4, 5), reached = 0;
	Code c = { 0 };

	(void)state;
	fill(e, 4, 5, 0x50000, 128);
	/* x 4 to 6, y 4 to 7: no workers in column 5 and row 6, (4,5) is the source */
	issue(&c, NOC0, (Request){ 0x50000, me, 0x60000, NODE(6, 7) | NODE(4, 4) << 12,
				   MULTICAST, 128, 0, ACKS, 5 });
	issue(&c, NOC0, (Request){ 0x50000, me, 0x70000, NODE(6, 7) | NODE(4, 4) << 12,
				   MULTICAST | SOURCE_INCLUDED, 128, 0, ACKS, 11 });
	/* NoC 1 runs the other way: first the larger, counted from the other corner */
	issue(&c, NOC1, (Request){ 0x50000, NODE(5, 6), 0x80000,
				   NODE(21, 21) | NODE(22, 23) << 12, MULTICAST, 128, 0, ACKS, 5 });
	start(e, 4, 5, &c);
	chip_run(e);
	for (uint32_t y = 1; y < 12; y++) {
		for (uint32_t x = 1; x < 10; x++) {
			bool inside = x >= 4 && x <= 6 && y >= 4 && y <= 7;
			bool source = x == 4 && y == 5;

			if (x == 5 || y == 6)
				continue;
			assert_int_equal(chip_peek(e, x, y, 0x6007c) != 0, inside && !source);
			assert_int_equal(chip_peek(e, x, y, 0x7007c) != 0, inside);
			assert_int_equal(chip_peek(e, x, y, 0x8007c) != 0, inside && !source);
			reached += inside;
		}
	}
	assert_int_equal(reached, 6);
	holds(e, 6, 7, 0x60000, 0x50000, 128);
	emu_close(e);
}

static void atomics_add_and_inline_writes_write_a_word(void **state)
{
	Emu *e = chip_open(1, 0);
	Code c = { 0 };

	(void)state;
	chip_poke(e, 3, 2, 0x60000, 40);
	for (uint32_t i = 1; i < 3; i++)
		issue(&c, NOC0, (Request){ 0x60000, NODE(3, 2), 0x70000, NODE(1, 1), ATOMIC,
					   0x107c, i, ATOMICS, i });
	issue(&c, NOC0, (Request){ 0x60014, NODE(3, 2), 0, NODE(1, 1), INLINE, 15 << 4, 0xcafe,
				   ACKS, 1 });
	start(e, 1, 1, &c);
	chip_run(e);
	assert_int_equal(chip_peek(e, 3, 2, 0x60000), 43);
	assert_int_equal(chip_peek(e, 1, 1, 0x70000), 41);
	assert_int_equal(chip_peek(e, 3, 2, 0x60014), 0xcafe);
	emu_close(e);
}

static void bad_requests_are_refused(void **state)
{
	static const struct { Request q; const char *check; } cases[] = {
		{ { 0x50000, NODE(1, 1), 0x60004, NODE(2, 1), WRITE, 16 }, "noc_packet" },
		{ { 0x50010, NODE(0, 0), 0x60000, NODE(1, 1), READ, 16 }, "noc_packet" },
		{ { 0x50000, NODE(1, 1), 0x60000, NODE(2, 1), WRITE, 8224 }, "noc_packet" },
		{ { 0x50000, NODE(1, 1), 0x60000, NODE(2, 1), WRITE, 0 }, "noc_packet" },
		{ { 0x50000, NODE(2, 1), 0x60000, NODE(3, 1), WRITE, 16 }, "noc_request" },
		{ { 0x50000, NODE(1, 1), 0x16e000, NODE(2, 1), WRITE, 16 }, "noc_request" },
		{ { 0x50000, NODE(1, 1), 0x60000, NODE(2, 0), WRITE, 16 }, "noc_request" },
		{ { 0x50000, NODE(1, 1), 0x60000, NODE(30, 1), WRITE, 16 }, "noc_request" },
		{ { 0x50000, NODE(1, 1), 0x60000, NODE(2, 1), WRITE | 4, 16 }, "noc_request" },
		{ { 0x50000, NODE(1, 1), 0x60000, NODE(2, 2) | NODE(3, 3) << 12, MULTICAST,
		    16 }, "noc_request" },
		{ { 0x50000, NODE(1, 1), 0xffb00000, NODE(2, 1), WRITE, 16 }, "noc_packet" },
		{ { 0x50004, NODE(2, 1), 0x60000, NODE(1, 1), ATOMIC, 0x107c }, "noc_packet" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		Emu *e = chip_open(1, 0);
		Code c = { 0 };

		issue(&c, NOC0, cases[i].q);
		start(e, 1, 1, &c);
		assert_int_equal(emu_run(e, 10000), EMU_FAULT);
		assert_string_equal(emu_report(e, 0)->check, cases[i].check);
		assert_string_equal(emu_report(e, 0)->risc, "brisc");
		emu_close(e);
	}
}

static int64_t counted(Emu *e, uint32_t x, uint32_t y, const char *name)
{
	for (size_t i = 0; emu_counter_name(i); i++)
		if (!strcmp(emu_counter_name(i), name))
			return emu_counter(e, x, y, i);
	fail_msg("no counter %s", name);
	return 0;
}

static void who_polls_sleeps_until_the_word_changes(void **state)
{
	Emu *e = chip_open(1, 0);
	Code c = { 0 };
	char text[400] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	(void)state;
	rv_await(&c, OUT, 1);
	rv_poke(&c, OUT + 4, 2);
	rv_await(&c, OUT, 3);
	start(e, 6, 3, &c);
	chip_run(e);
	int64_t before = counted(e, 6, 3, "brisc_instructions");

	assert_int_equal(emu_run(e, 1u << 30), EMU_RUNNING);
	assert_int_equal(counted(e, 6, 3, "brisc_instructions"), before);
	emu_waits(e, f);
	fclose(f);
	assert_non_null(strstr(text, "(6,3) brisc at 0x10"));
	assert_non_null(strstr(text, "polls 0x20000, which is 0x0"));
	chip_poke(e, 6, 3, OUT, 1);
	chip_run(e);
	assert_int_equal(chip_peek(e, 6, 3, OUT + 4), 2);
	emu_close(e);
}

static void work_is_counted_under_the_names_of_the_cost_model(void **state)
{
	Emu *e = chip_open(1, 0);
	Code c = { 0 };

	(void)state;
	rv_li(&c, 5, OUT);
	rv(&c, rv_lw(1, 5, 0));          /* used at once */
	rv(&c, rv_r(1, 0, 2, 1, 1));
	rv(&c, rv_lw(3, 5, 4));          /* used later */
	rv(&c, rv_r(1, 4, 2, 1, 1));
	rv(&c, rv_sw(3, 5, 8));
	rv(&c, rv_jal(0, 8));
	rv_rest(&c);
	rv(&c, rv_b(0, 0, 0, 4));
	rv_rest(&c);
	chip_load(e, 1, 2, 0x6000, &c);
	chip_poke(e, 1, 2, SOFT_RESET, 0x46800);
	chip_run(e);
	assert_int_equal(counted(e, 1, 2, "trisc0_l1_uses"), 1);
	assert_int_equal(counted(e, 1, 2, "trisc0_l1_loads"), 1);
	assert_int_equal(counted(e, 1, 2, "trisc0_l1_stores"), 1);
	assert_int_equal(counted(e, 1, 2, "trisc0_muls"), 1);
	assert_int_equal(counted(e, 1, 2, "trisc0_divs"), 1);
	assert_int_equal(counted(e, 1, 2, "brisc_instructions"), 0);
	c.n = 0;
	issue(&c, NOC0, (Request){ 0x50000, NODE(2, 2), 0x50000, NODE(4, 2), WRITE, 256, 0,
				   ACKS, 1 });
	issue(&c, NOC0, (Request){ 0x60000, NODE(5, 3), 0x60000, NODE(2, 2), READ, 96, 0,
				   READS, 1 });
	start(e, 2, 2, &c);
	chip_run(e);
	assert_int_equal(counted(e, 2, 2, "noc_transfers"), 2);
	assert_int_equal(counted(e, 2, 2, "noc_write_bytes"), 256);
	assert_int_equal(counted(e, 2, 2, "noc_read_bytes"), 96);
	assert_int_equal(counted(e, 4, 2, "noc_write_bytes"), 0);
	assert_int_equal(counted(e, 2, 2, "noc_waits"), 2);
	assert_int_equal(counted(e, 2, 2, "dram_waits"), 1);
	assert_int_equal(counted(e, 2, 2, "dram_read_bytes"), 96);
	emu_counters_clear(e);
	assert_int_equal(counted(e, 2, 2, "noc_write_bytes"), 0);
	assert_int_equal(counted(e, 2, 2, "noc_transfers"), 0);
	emu_close(e);
}

enum { RING = 12, LAPS = 5, TOKEN = 0x30000, SLOT = 0x40000 };

/* Core i waits for turn t * RING + i, mixes its block and writes it to the next,
 * then tells it by an atomic. */
static void ring_core(Emu *e, uint32_t i)
{
	uint32_t x = 1 + i % 4, y = 1 + i / 4, next = (i + 1) % RING;
	uint32_t me = NODE(x, y), to = NODE(1 + next % 4, 1 + next / 4);
	Code c = { 0 };

	for (uint32_t lap = 0; lap < LAPS; lap++) {
		rv_await(&c, TOKEN, lap + (i ? 1 : 0));
		rv_li(&c, 5, SLOT);
		rv(&c, rv_addi(6, 0, 64));
		rv(&c, rv_lw(7, 5, 0));               /* each word times 5, plus the core */
		rv(&c, rv_i(0x13, 1, 8, 7, 2));
		rv(&c, rv_r(0, 0, 7, 7, 8));
		rv(&c, rv_addi(7, 7, (int32_t)i + 1));
		rv(&c, rv_sw(7, 5, 0));
		rv(&c, rv_addi(5, 5, 4));
		rv(&c, rv_addi(6, 6, -1));
		rv(&c, rv_b(1, 6, 0, -28));
		issue(&c, NOC0, (Request){ SLOT, me, SLOT, to, WRITE, 256, 0, ACKS, lap + 1 });
		issue(&c, NOC0, (Request){ TOKEN, to, OUT, me, ATOMIC, 0x107c, 1, ATOMICS,
					   lap + 1 });
	}
	start(e, x, y, &c);
}

static void *ring(int threads, uint32_t quantum, size_t *n)
{
	enum { BYTES = 0x60000 };
	Emu *e = chip_open(threads, quantum);
	uint8_t *all = malloc(RING * BYTES);

	for (uint32_t i = 0; i < RING; i++)
		ring_core(e, i);
	chip_run(e);
	assert_int_equal(chip_peek(e, 1, 1, TOKEN), LAPS);
	for (uint32_t i = 0; i < RING; i++)
		assert_true(emu_read(e, 1 + i % 4, 1 + i / 4, 0, all + i * BYTES, BYTES));
	emu_close(e);
	*n = RING * BYTES;
	return all;
}

static void bytes_depend_neither_on_threads_nor_on_the_quantum(void **state)
{
	size_t n;
	void *want = ring(1, 0, &n);

	(void)state;
	for (int i = 0; i < 4; i++) {
		void *got = ring(1 + i % 3, i == 3 ? 100 : 0, &n);

		assert_memory_equal(got, want, n);
		free(got);
	}
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_reaches_workers_and_dram_and_nothing_else),
		cmocka_unit_test(five_riscs_start_where_they_are_told),
		cmocka_unit_test(ncrisc_runs_from_its_own_memory),
		cmocka_unit_test(mail_arrives_once),
		cmocka_unit_test(noc_moves_data_between_cores_and_dram),
		cmocka_unit_test(multicast_reaches_the_workers_of_a_rectangle),
		cmocka_unit_test(atomics_add_and_inline_writes_write_a_word),
		cmocka_unit_test(bad_requests_are_refused),
		cmocka_unit_test(who_polls_sleeps_until_the_word_changes),
		cmocka_unit_test(work_is_counted_under_the_names_of_the_cost_model),
		cmocka_unit_test(bytes_depend_neither_on_threads_nor_on_the_quantum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
