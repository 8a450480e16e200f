/*
 * How weights reach a core: chunks, sums between them, several cores that read,
 * rectangles. A conv gives the same bytes however its weights come.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/program_verify.h"
#include "ir/rng.h"
#include "tests/check.h"
#include "tests/device_weights.h"

static float *numbers(Fixture *t, Rng *r, int64_t count)
{
	float *v = arena_array(t->arena, float, count);
	for (int64_t i = 0; i < count; i++)
		v[i] = (float)rng_below(r, 1u << 20) / (1 << 19) - 1;
	return v;
}

/* Two convs, one behind the other. */
typedef struct Pair {
	int cores, rows, cols, channels[3];
	DevTypes type;
	Conv conv[2];
	Stream stream[2];
	uint64_t seed;
} Pair;

static Net *pair(Fixture *t, const Pair *k, bool streamed, float **in, int64_t *count)
{
	Rng r = { k->seed };
	Net *n = net_open(t, k->cores);
	Planes p[3];
	for (int i = 0; i < 3; i++)
		p[i] = net_planes(n, i ? k->type : DEV_BF16, k->channels[i], k->rows, k->cols,
				  i < 2 ? k->conv[i].kernel_h / 2 : 0);
	*in = numbers(t, &r, (int64_t)k->channels[0] * k->rows * k->cores * k->cols);
	*count = (int64_t)k->channels[2] * k->rows * k->cores * k->cols;
	net_input(n, &p[0]);
	for (int i = 0; i < 2; i++) {
		Conv c = k->conv[i];
		const int taps = c.kernel_h * c.kernel_w;
		c.values = numbers(t, &r, (int64_t)k->channels[i] * k->channels[i + 1] * taps);
		c.bias = numbers(t, &r, k->channels[i + 1]);
		net_conv(n, c, &p[i], 1, &p[i + 1]);
		if (streamed)
			net_stream(n, k->stream[i]);
	}
	net_output(n, &p[2]);
	return n;
}

static void same_bytes(Fixture *t, const Pair *k, bool race)
{
	float *in;
	int64_t count;
	Net *plain = pair(t, k, false, &in, &count), *streamed = pair(t, k, true, &in, &count);
	float *want = arena_array(t->arena, float, count);
	float *got = arena_array(t->arena, float, count);
	net_run(plain, "emu:threads=1", &in, want);
	if (race)
		net_run(streamed, "emu:race", &in, got);
	else
		net_run_all(streamed, &in, got, count);
	assert_memory_equal(got, want, (size_t)count * sizeof *got);
}

#define CONV(size, count, rows_held, deep)                                                         \
	{ .kernel_h = size, .kernel_w = size, .dilation = 1, .n = count, .hold = rows_held,        \
	  .weights = DEV_BF16, .phases = 4, .k_block = deep }

static void chunks_give_the_same_bytes(void **state)
{
	const Pair k = { 1, 3, 70, { 64, 96, 40 }, DEV_BF16,
			 { CONV(3, 1, 1, 1), CONV(3, 2, 1, 3) },
			 { { .chunk_blocks = 4, .pages = 1, .cols = 1, .rows = 1 },
			   { .chunk_blocks = 2, .pages = 2, .cols = 1, .rows = 1 } }, 1 };
	same_bytes(*state, &k, false);
}

static void sums_between_chunks_lose_nothing(void **state)
{
	const Pair k = { 1, 5, 70, { 64, 64, 100 }, DEV_BFP8_B,
			 { CONV(3, 1, 4, 1), CONV(3, 4, 1, 1) },
			 { { .chunk_blocks = 5, .block = 3, .pages = 2, .cols = 1, .rows = 1 },
			   { .chunk_blocks = 7, .block = 4, .pages = 1, .cols = 1, .rows = 1 } },
			 2 };
	same_bytes(*state, &k, false);
}

static void several_cores_read_in_turn(void **state)
{
	for (int fetchers = 2; fetchers <= 4; fetchers += 2) {
		const Pair k = { 4, 2, 33, { 40, 72, 48 }, DEV_BF16,
				 { CONV(3, 1, 2, 1), CONV(1, 1, 1, 1) },
				 { { .chunk_blocks = 4, .pages = 3, .cols = 4, .rows = 1,
				     .fetchers = fetchers, .first = 96 },
				   { .chunk_blocks = 1, .block = 2, .pages = fetchers, .cols = 4,
				     .rows = 1, .fetchers = fetchers } }, 3 };
		same_bytes(*state, &k, false);
	}
}

static void rectangles_follow_each_other(void **state)
{
	const Pair k = { 16, 1, 40, { 32, 64, 32 }, DEV_BF16,
			 { CONV(3, 1, 1, 1), CONV(3, 1, 1, 2) },
			 { { .chunk_blocks = 2, .pages = 2, .cols = 2, .rows = 2, .fetchers = 3 },
			   { .pages = 1, .cols = 8, .rows = 1, .fetchers = 2 } }, 4 };
	same_bytes(*state, &k, false);
	same_bytes(*state, &k, true);
}

static void weights_come_while_the_op_before_runs(void **state)
{
	const Pair k = { 4, 2, 40, { 32, 64, 32 }, DEV_BF16,
			 { CONV(3, 1, 1, 1), CONV(3, 1, 1, 2) },
			 { { .pages = 2, .cols = 4, .rows = 1, .fetchers = 1, .early = true },
			   { .chunk_blocks = 3, .pages = 4, .cols = 2, .rows = 1, .fetchers = 2,
			     .early = true } }, 6 };
	same_bytes(*state, &k, false);
	same_bytes(*state, &k, true);
}

/* A power of two up to `most`. */
static int power(Rng *r, int most)
{
	int v = 1;
	while (v < most && rng_below(r, 2))
		v *= 2;
	return v;
}

static Stream random_stream(Rng *r, int cores, int taps)
{
	Stream s = { .cols = power(r, cores < 8 ? cores : 8), .rows = cores > 8 ? power(r, 2) : 1 };
	s.chunk_blocks = rng_below(r, 4) ? 1 + (int)rng_below(r, (uint32_t)taps + 2) : 0;
	s.block = rng_below(r, 3) ? 1 + (int)rng_below(r, 6) : 0;
	s.pages = 1 + (int)rng_below(r, 4);
	const int most = s.cols * s.rows < 4 ? s.cols * s.rows : 4;
	s.fetchers = 1 + (int)rng_below(r, (uint32_t)most);
	s.first = 32 * (int)rng_below(r, 300);
	s.early = rng_below(r, 2);
	return s;
}

static Pair random_pair(uint64_t seed)
{
	Rng r = { seed };
	Pair k = { .cores = power(&r, 16), .rows = 1 + (int)rng_below(&r, 4),
		   .cols = 1 + (int)rng_below(&r, 70), .seed = seed,
		   .type = rng_below(&r, 3) ? DEV_BF16 : DEV_BFP8_B };
	for (int i = 0; i < 3; i++)
		k.channels[i] = 1 + (int)rng_below(&r, 130);
	for (int i = 0; i < 2; i++) {
		const int size = 1 + 2 * (int)rng_below(&r, 2), tiles = (k.channels[i] + 31) / 32;
		const int deep = tiles % 2 ? 1 : 1 + (int)rng_below(&r, 2);
		const int hold = 1 + (int)rng_below(&r, 4), wide = 1 << rng_below(&r, 3);
		const bool tall = rng_below(&r, 2);
		k.conv[i] = (Conv)CONV(size, tall ? 1 : wide, tall ? hold : 1, deep);
		k.conv[i].weights = (DevTypes)(1 << rng_below(&r, DEV_TYPE_COUNT));
		k.conv[i].relu = rng_below(&r, 2);
		if (size == 3 && k.rows < 2)
			k.rows = 2;
		k.stream[i] = random_stream(&r, k.cores, size * size * tiles / deep);
	}
	return k;
}

static void any_way_gives_the_same_bytes(void **state)
{
	const char *first = getenv("TESSERA_SEED"), *count = getenv("TESSERA_COUNT");
	const uint64_t from = first ? strtoull(first, NULL, 10) : 100;
	const int n = count ? atoi(count) : 4;
	for (int i = 0; i < n; i++) {
		const Pair k = random_pair(from + (uint64_t)i);
		print_message("seed %llu: %d cores\n", (unsigned long long)k.seed, k.cores);
		same_bytes(*state, &k, i % 2);
	}
}

static const char *say_refused(Fixture *t, Net *n)
{
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	const size_t before = strlen(fixture_said(t));
	for (int i = 0; i < n->p->nbuffers; i++)
		n->p->buffers[i].last = n->p->nops - 1;
	n->p->dram_free = n->dram;
	assert_false(program_verify(n->p, target, &t->diag));
	return fixture_said(t) + before;
}

static Net *small_pair(Fixture *t)
{
	const Pair k = { 4, 2, 40, { 64, 64, 64 }, DEV_BF16,
			 { CONV(1, 2, 1, 1), CONV(1, 2, 1, 1) },
			 { { .chunk_blocks = 1, .block = 2, .pages = 2, .cols = 2, .rows = 1,
			     .fetchers = 2 },
			   { .pages = 1, .cols = 4, .rows = 1, .fetchers = 1 } }, 5 };
	float *in;
	int64_t count;
	return pair(t, &k, true, &in, &count);
}

static const char *refused(Fixture *t, const char *field, uint32_t value)
{
	Net *n = small_pair(t);
	program_set(&n->p->ops[1], field, 0, value);
	return say_refused(t, n);
}

typedef struct Refusal {
	const char *field;
	uint32_t value;
	const char *said;
} Refusal;

static void check_refusals(Fixture *t, const Refusal *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *said = refused(t, r[i].field, r[i].value);
		if (!strstr(said, r[i].said))
			fail_msg("%s = %u: %s", r[i].field, r[i].value, said);
	}
}

static void pages_that_do_not_fit_are_refused(void **state)
{
	static const Refusal cases[] = {
		{ "chunks", 3, "chunks: 3 of chunk_blocks 1 for 2 blocks" },
		{ "chunk_blocks", 2, "chunks: 2 of chunk_blocks 2 for 2 blocks" },
		{ "passes", 1, "passes: 1 of block 2 for 4 units of positions" },
		{ "block", 0, "block: 0, but weights come in 2 chunks" },
		{ "block", 3, "sums_pages: 2 for block 3" },
		{ "sums_cb", 0, "sums_cb: 0 is that of the weights" },
		{ "sums_pages", 3, "sums: circular buffer 1 has 2 pages" },
		{ "page_bytes", 64, "pages of 64 bytes, of which the kernels walk 4352" },
		{ "pages", 3, "weights: circular buffer 0 has 2 pages of 4352 bytes" },
		{ "dram_first", 8, "dram_first: 8 is not on 32" },
	};
	check_refusals(*state, cases, sizeof cases / sizeof *cases);
}

static void senders_nobody_waits_for_are_refused(void **state)
{
	static const Refusal cases[] = {
		{ "fetchers", 5, "fetchers[0] is 5, not in 0..4" },
		{ "fetchers", 1, "fetcher: 1 of 1" },
		{ "fetchers", 3, "2 cores send weights and 0 receive them" },
		{ "credit_semaphore", 1, "credit_semaphore: one of the arrived ones" },
		{ "credit_semaphore", 9, "credit_semaphore: 9 is that of another rectangle in op" },
		{ "arrived_semaphore", 15, "arrived_semaphore 16 is not a semaphore of the program" },
	};
	check_refusals(*state, cases, sizeof cases / sizeof *cases);
}

static void early_weights_need_room_of_their_own(void **state)
{
	Net *n = small_pair(*state);
	n->p->ops[0].early = true;
	assert_non_null(strstr(say_refused(*state, n), "early: only weights of a later op"));
	n = small_pair(*state);
	n->p->ops[2].early = true;
	assert_non_null(strstr(say_refused(*state, n), "early: weights_cb 0 is in use in the op"));
	n = small_pair(*state);
	n->p->ops[1].early = true;
	for (int i = 0; i < n->p->nbuffers; i++)
		if (strncmp(n->p->buffers[i].name, "stream", 6) == 0)
			n->p->buffers[i].first = 1;
	assert_non_null(strstr(say_refused(*state, n), "buffer is not there in the op before"));
}

/* A conv of its own result: the second one fetches its weights, or finds them. */
static Net *twice(Fixture *t, int pages, bool stay, float **in, int64_t *count)
{
	Rng r = { 8 };
	Net *n = net_open(t, 2);
	Planes p[3];
	Conv c = CONV(1, 1, 1, 1);
	for (int i = 0; i < 3; i++)
		p[i] = net_planes(n, DEV_BF16, 64, 2, 40, 0);
	*in = numbers(t, &r, 64 * 4 * 40);
	*count = 64 * 4 * 40;
	c.values = numbers(t, &r, 64 * 64);
	c.bias = numbers(t, &r, 64);
	net_input(n, &p[0]);
	net_conv(n, c, &p[0], 1, &p[1]);
	net_stream(n, (Stream){ .pages = pages, .cols = 2, .rows = 1, .fetchers = 2 });
	net_conv(n, c, &p[1], 1, &p[2]);
	if (stay)
		net_stay(n);
	net_output(n, &p[2]);
	return n;
}

static void weights_may_stay_for_the_next_op(void **state)
{
	float *in, want[64 * 4 * 40], got[64 * 4 * 40];
	int64_t count;
	Net *n = twice(*state, 2, false, &in, &count);
	net_run(n, "emu:threads=1", &in, want);
	n = twice(*state, 2, true, &in, &count);
	net_run_all(n, &in, got, count);
	assert_memory_equal(got, want, sizeof got);
	n = twice(*state, 1, true, &in, &count);
	assert_non_null(strstr(say_refused(*state, n), "pages: 1 for 2; not all of them stay"));
	n = twice(*state, 2, true, &in, &count);
	program_set(&n->p->ops[2], "dram_at", 0, 64);
	assert_non_null(strstr(say_refused(*state, n), "weights_stay: dram_at is 64, in the op"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(chunks_give_the_same_bytes),
		CASE(sums_between_chunks_lose_nothing),
		CASE(several_cores_read_in_turn),
		CASE(rectangles_follow_each_other),
		CASE(weights_come_while_the_op_before_runs),
		CASE(weights_may_stay_for_the_next_op),
		CASE(any_way_gives_the_same_bytes),
		CASE(pages_that_do_not_fit_are_refused),
		CASE(senders_nobody_waits_for_are_refused),
		CASE(early_weights_need_room_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
