/* Strict checks on what RISC-Vs and the NoC do: each with a program that breaks
 * the rule and the same program done right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tensix_ops.h"
#include "tests/check.h"
#include "tests/strict.h"

#define NOC_AT(offset) (0xffb20000u + (offset))
#define NODE(x, y) ((uint32_t)(x) << 4 | (uint32_t)(y) << 10)
#define RECTANGLE(x0, y0, x1, y1) (NODE(x1, y1) | NODE(x0, y0) << 12)
#define PUSH_AT 0xffe40000u
#define PCBUF_AT 0xffe80000u
#define SEM_AT(n) (PCBUF_AT + 0x20 + 4 * (n))
#define MAIL_AT(n) (0xffec0000u + 0x1000 * (n))

enum {
	READ = 0x2090, WRITE = 0x2092, MULTICAST = 0x81b2, INLINE = 0x209a, /* NOC_CTRL */
	WRITE_ACKS = 0x204, READ_RESPONSES = 0x208,
	CB_AT = 0x1e000,
};

static const uint32_t self = NODE(STRICT_X, STRICT_Y), other = NODE(2, 1), dram = NODE(0, 0);

typedef struct Request {
	uint32_t targ, targ_node, ret, ret_node, ctrl, len, data;
} Request;

static void ask(Code *c, Request q)
{
	const uint32_t pairs[][2] = {
		{ 0x0, q.targ }, { 0x4, q.targ_node }, { 0xc, q.ret }, { 0x10, q.ret_node },
		{ 0x18, 0 }, { 0x1c, q.ctrl }, { 0x20, q.len }, { 0x24, q.data }, { 0x28, 1 },
	};

	for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++)
		rv_poke(c, NOC_AT(pairs[k][0]), pairs[k][1]);
}

static void mail(Strict *s, bool right)
{
	Code *b = &s->code[BRISC], *t = &s->code[TRISC0];

	rv_poke(b, STRICT_FREE, 7);
	if (right)
		strict_load(b, 5, STRICT_FREE);
	rv_poke(b, MAIL_AT(1), 1);
	rv_rest(b);
	strict_load(t, 5, MAIL_AT(0));
	strict_load(t, 6, STRICT_FREE);
	strict_end(t);
}

/* The value loaded back has to have arrived before the mail leaves. */
static void mail_before_it_is_back(Strict *s, bool right)
{
	Code *b = &s->code[BRISC], *t = &s->code[TRISC0];

	rv_li(b, 5, STRICT_FREE);
	rv_li(b, 6, MAIL_AT(1));
	rv(b, rv_sw(6, 5, 0));
	rv(b, rv_lw(7, 5, 0));
	if (right)
		rv(b, rv_addi(7, 7, 0));
	rv(b, rv_sw(6, 6, 0));
	rv_rest(b);
	strict_load(t, 5, MAIL_AT(0));
	strict_load(t, 6, STRICT_FREE);
	strict_end(t);
}

static void reset(Strict *s, bool right)
{
	Code *b = &s->code[BRISC];
	Code t = { 0 };

	/* TRISC0's program lies where the reset register alone will start it. */
	strict_load(&t, 6, STRICT_FREE);
	strict_end(&t);
	for (size_t k = 0; k < t.n; k++)
		rv_poke(b, 0x6000 + 4 * (uint32_t)k, t.word[k]);
	rv_poke(b, STRICT_FREE, 7);
	if (right)
		strict_load(b, 5, STRICT_FREE);
	rv_poke(b, 0xffb121b0u, 0x46000);
	rv_rest(b);
}

static void noc_source(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];

	rv_poke(c, STRICT_DATA, 7);
	if (right)
		strict_load(c, 5, STRICT_DATA);
	ask(c, (Request){ STRICT_DATA, self, STRICT_FREE, other, WRITE, 16, 0 });
	rv_await(c, NOC_AT(WRITE_ACKS), 1);
	strict_end(c);
}

static void posted(Strict *s, bool right)
{
	Code *a = &s->code[TRISC0], *b = &s->code[TRISC1];

	rv_poke(a, STRICT_FREE, 7);
	if (right)
		strict_load(a, 5, STRICT_FREE);
	rv_poke(a, SEM_AT(3), 0);
	rv_rest(a);
	rv_await(b, SEM_AT(3), 1);
	strict_load(b, 5, STRICT_FREE);
	strict_end(b);
}

static void unpacked(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	rv_poke(c, STRICT_DATA, 0);
	if (right)
		strict_load(c, 5, STRICT_DATA);
	rv_tensix(c, OP_STALLWAIT(0x2000, 8));
	rv_tensix(c, OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1));
	strict_end(c);
}

static void read_early(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];

	rv_poke(c, STRICT_FREE, 1);
	ask(c, (Request){ 0, dram, STRICT_FREE, self, READ, 32, 0 });
	if (right)
		rv_await(c, NOC_AT(READ_RESPONSES), 1);
	strict_load(c, 5, STRICT_FREE);
	strict_end(c);
}

static void unpacked_early(Strict *s, bool right)
{
	Code *b = &s->code[BRISC], *t = &s->code[TRISC0];

	ask(b, (Request){ 0, dram, STRICT_DATA, self, READ, 32, 0 });
	if (right)
		rv_await(b, NOC_AT(READ_RESPONSES), 1);
	rv_poke(b, STRICT_DATA + 64, 1);
	rv_rest(b);
	strict_unpacker(t);
	rv_tensix(t, OP_STALLWAIT(0x2000, 8));
	rv_await(t, STRICT_DATA + 64, 1);
	rv_tensix(t, OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1));
	strict_end(t);
}

static void source_reused(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];

	ask(c, (Request){ STRICT_DATA, self, STRICT_FREE, other, WRITE, 64, 0 });
	if (right)
		rv_await(c, NOC_AT(WRITE_ACKS), 1);
	rv_poke(c, STRICT_DATA + 32, 1);
	strict_end(c);
}

static void told_early(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];

	ask(c, (Request){ STRICT_DATA, self, STRICT_FREE, other, WRITE, 64, 0 });
	if (right)
		rv_await(c, NOC_AT(WRITE_ACKS), 1);
	ask(c, (Request){ STRICT_FREE + 0x100, other, STRICT_FREE, self, INLINE, 15, 1 });
	rv_await(c, NOC_AT(WRITE_ACKS), 2);
	strict_end(c);
}

static void multicast(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];
	uint32_t to = RECTANGLE(2, 1, right ? 4 : 6, 1);

	ask(c, (Request){ STRICT_DATA, self, STRICT_FREE, to, MULTICAST, 64, 0 });
	rv_await(c, NOC_AT(WRITE_ACKS), right ? 3 : 4);
	strict_end(c);
}

static void long_packet(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];

	ask(c, (Request){ 0, dram, STRICT_FREE, self, READ, right ? 8192 : 8224, 0 });
	rv_await(c, NOC_AT(READ_RESPONSES), 1);
	strict_end(c);
}

static void unaligned_packet(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];

	ask(c, (Request){ 0, dram, STRICT_FREE + (right ? 32 : 16), self, READ, 64, 0 });
	rv_await(c, NOC_AT(READ_RESPONSES), 1);
	strict_end(c);
}

static void sync_load(Code *c, bool store, bool use)
{
	rv_tensix(c, OP_SETADCXX(0, 15, 3));
	rv_li(c, 30, PCBUF_AT);
	rv_li(c, 28, STRICT_FREE);
	if (store)
		rv(c, rv_sw(0, 30, 4));
	rv(c, rv_lw(31, 30, 4));
	if (use)
		rv(c, rv_i(0x13, 7, 31, 31, 0));
	rv(c, rv_sw(0, 28, 0));
	strict_end(c);
}

static void sync_not_used(Strict *s, bool right) { sync_load(&s->code[TRISC0], true, right); }

static void sync_without_store(Strict *s, bool right) { sync_load(&s->code[TRISC0], right, true); }

/* The RISC-V has to come past all its stores to post what the first waits for. */
static void deep_queue(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	rv_tensix(c, OP_SEMINIT(1 << 2, 0, 1));
	rv_li(c, 30, PCBUF_AT);
	rv(c, rv_sw(0, 30, 4));
	rv(c, rv_lw(31, 30, 4));
	rv(c, rv_i(0x13, 7, 31, 31, 0));
	rv_tensix(c, OP_SEMWAIT(1, 1 << 2, 0x1ff));
	for (int k = 0; k < (right ? 20 : 60); k++)
		rv_poke(c, PUSH_AT, OP_DMANOP());
	rv_poke(c, SEM_AT(2), 0);
	strict_end(c);
}

static void buffer(Strict *s, uint32_t in, uint32_t out)
{
	Code *c = &s->code[BRISC];

	s->program = (EmuProgram){ .cb_words = CB_AT, .cb_count = 2 };
	for (uint32_t k = 0; k < 4; k++)
		rv_poke(c, CB_AT + 16 + 4 * k, k == 2 ? 2 : 0);
	rv_poke(c, CB_AT + 16, in);
	rv_poke(c, CB_AT + 20, out);
	strict_end(c);
}

static void overflow(Strict *s, bool right) { buffer(s, right ? 2 : 3, 0); }

static void underflow(Strict *s, bool right) { buffer(s, 1, right ? 1 : 2); }

static void never_written(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];

	if (right)
		rv_poke(c, STRICT_FREE, 1);
	strict_load(c, 5, STRICT_FREE);
	strict_end(c);
}

static void sent_never_written(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];
	uint32_t from = right ? STRICT_DATA : STRICT_FREE;

	ask(c, (Request){ from, self, STRICT_FREE, other, WRITE, 64, 0 });
	rv_await(c, NOC_AT(WRITE_ACKS), 1);
	strict_end(c);
}

static void unpacked_never_written(Strict *s, bool right)
{
	Code *c = &s->code[TRISC0];

	strict_unpacker(c);
	if (!right)
		rv_poke(c, 0xffef0000u + 4 * 104, STRICT_FREE / 16 - 1);
	rv_tensix(c, OP_STALLWAIT(0x2000, 8));
	rv_tensix(c, OP_UNPACR(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1));
	strict_end(c);
}

static void written_outside(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];
	uint32_t to = STRICT_FREE + (right ? 0 : 16);

	s->program.code_end = STRICT_DATA;
	s->first = STRICT_FREE;
	s->end = STRICT_FREE + 64;
	ask(c, (Request){ STRICT_DATA, self, to, self, WRITE, 64, 0 });
	rv_await(c, NOC_AT(WRITE_ACKS), 1);
	strict_end(c);
}

static void outside(Strict *s, bool right)
{
	Code *c = &s->code[BRISC];

	s->program.code_end = STRICT_DATA;
	s->first = STRICT_FREE;
	s->end = STRICT_FREE + 64;
	rv_poke(c, STRICT_FREE + (right ? 60 : 64), 1);
	strict_end(c);
}

static void packed_outside(Strict *s, bool right)
{
	Code *c = &s->code[TRISC2];

	s->program.code_end = STRICT_DATA;
	s->first = STRICT_FREE;
	s->end = STRICT_FREE + 64;
	strict_packer(c, STRICT_FREE + (right ? 32 : 48));
	rv_tensix(c, OP_STALLWAIT(0x2000, 0x24));
	rv_tensix(c, OP_PACR(1, 0, 0, 0, 1, 0, 1));
	strict_end(c);
}

static const StrictCase cases[] = {
	{ "l1_publish", "store, mail", mail },
	{ "l1_publish", "store, load, mail before it is back", mail_before_it_is_back },
	{ "l1_publish", "store, out of reset", reset },
	{ "l1_publish", "store, semaphore posted", posted },
	{ "l1_publish", "store, NoC write of it", noc_source },
	{ "l1_publish", "store, UNPACR of it", unpacked },
	{ "noc_read_early", "NoC read, load", read_early },
	{ "noc_read_early", "NoC read, UNPACR", unpacked_early },
	{ "noc_source_reused", "NoC write, store to its source", source_reused },
	{ "semaphore_early", "NoC write, inline write to the same tile", told_early },
	{ "mcast_target", "multicast over a DRAM column", multicast },
	{ "noc_packet", "8224 bytes", long_packet },
	{ "noc_packet", "DRAM read, 16 bytes off", unaligned_packet },
	{ "sync_unused", "sync, store before it is back", sync_not_used },
	{ "sync_unused", "sync not ordered after the instruction", sync_without_store },
	{ "fifo_depth", "60 instructions before the post", deep_queue },
	{ "cb_counts", "three pages into two", overflow },
	{ "cb_counts", "two pages out of one", underflow },
	{ "l1_uninitialised", "load", never_written },
	{ "l1_uninitialised", "NoC write", sent_never_written },
	{ "l1_uninitialised", "UNPACR", unpacked_never_written },
	{ "l1_outside", "NoC write", written_outside },
	{ "l1_outside", "store", outside },
	{ "l1_outside", "PACR", packed_outside },
};

static void each_breach_is_caught_and_each_clean_program_passes(void **state)
{
	(void)state;
	strict_table(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Stores of one RISC-V to L1 stay in order (MemoryOrdering.md). */
static void flag_in_l1(Strict *s)
{
	Code *b = &s->code[BRISC], *t = &s->code[TRISC0];

	rv_poke(b, STRICT_FREE, 7);
	rv_poke(b, STRICT_DATA, 1);
	rv_rest(b);
	rv_await(t, STRICT_DATA, 1);
	strict_load(t, 5, STRICT_FREE);
	strict_end(t);
}

/* Seven instructions, and the load is back whoever uses it. */
static void long_after(Strict *s)
{
	Code *b = &s->code[BRISC], *t = &s->code[TRISC0];

	rv_li(b, 5, STRICT_FREE);
	rv_li(b, 6, MAIL_AT(1));
	rv(b, rv_sw(6, 5, 0));
	rv(b, rv_lw(7, 5, 0));
	for (int k = 0; k < 7; k++)
		rv(b, rv_addi(0, 0, 0));
	rv(b, rv_sw(6, 6, 0));
	rv_rest(b);
	strict_load(t, 5, MAIL_AT(0));
	strict_load(t, 6, STRICT_FREE);
	strict_end(t);
}

static void two_tiles(Strict *s)
{
	Code *c = &s->code[BRISC];

	ask(c, (Request){ STRICT_DATA, self, STRICT_FREE, other, WRITE, 64, 0 });
	ask(c, (Request){ STRICT_FREE, NODE(3, 1), STRICT_FREE, self, INLINE, 15, 1 });
	rv_await(c, NOC_AT(WRITE_ACKS), 2);
	strict_end(c);
}

/* Of translated coordinates only workers count. */
static void translated_multicast(Strict *s)
{
	Code *c = &s->code[BRISC];
	uint32_t to = RECTANGLE(19, 18, 25, 18);

	ask(c, (Request){ STRICT_DATA, self, STRICT_FREE, to, MULTICAST, 64, 0 });
	rv_await(c, NOC_AT(WRITE_ACKS), 7);
	strict_end(c);
}

static void what_is_harmless_is_not_reported(void **state)
{
	(void)state;
	strict_clean("data and its flag both in L1", flag_in_l1);
	strict_clean("mail seven instructions after the load", long_after);
	strict_clean("a semaphore for another tile", two_tiles);
	strict_clean("multicast in translated coordinates", translated_multicast);
}

/* TRISC0 waits for its thread, that for a semaphore, BRISC for mail of TRISC0. */
static void a_stuck_program_ends_with_who_waits_for_what(void **state)
{
	Emu *e = emu_open(&(EmuOptions){ .threads = 1, .strict = true });
	Code b = { 0 }, t = { 0 };
	uint32_t release = 0x46000;
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	strict_load(&b, 5, MAIL_AT(1));
	rv_rest(&b);
	rv_tensix(&t, OP_SEMWAIT(1, 1 << 2, 0x1ff));
	rv_li(&t, 30, PCBUF_AT);
	rv(&t, rv_sw(0, 30, 4));
	rv(&t, rv_lw(31, 30, 4));
	rv_poke(&t, MAIL_AT(0), 1);
	rv_rest(&t);
	assert_true(emu_write(e, STRICT_X, STRICT_Y, 0, b.word, rv_bytes(&b)));
	assert_true(emu_write(e, STRICT_X, STRICT_Y, 0x6000, t.word, rv_bytes(&t)));
	assert_true(emu_write(e, STRICT_X, STRICT_Y, 0xffb121b0u, &release, 4));
	assert_int_equal(emu_run(e, 100000), EMU_STUCK);
	emu_waits(e, f);
	fclose(f);
	printf("%s", text);
	assert_non_null(strstr(text, "(1,1) brisc at 0x8, op 0: waits for mail (0xffec1000)"));
	assert_non_null(strstr(text, "trisc0 at 0x6010, op 0: waits for its Tensix thread to finish"));
	assert_non_null(strstr(text, "tensix unpack, op 0: SEMWAIT on semaphore 2 (is 0)"));
	free(text);
	emu_close(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stuck_program_ends_with_who_waits_for_what),
		cmocka_unit_test(each_breach_is_caught_and_each_clean_program_passes),
		cmocka_unit_test(what_is_harmless_is_not_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
