/*
 * ttnn's formulas against figures worked out by hand and published ones.
 */
#include <stdlib.h>

#include "passes/ttnn_time.h"
#include "tests/check.h"
#include "tests/fixture.h"

typedef struct Row {
	const char *name;
	int64_t cin;
	TtnnRows layout;
	int64_t cout, oh, ow, window;
	bool transposed;
	int abh, act_db, w_db;
	TtnnType type;
	int acc;
	int64_t rows, busy, act, k, w, n;
	bool split;
	int64_t buffers, halo, result, all;
	int64_t reader, tilize, math, weights;
} Row;

static const Row rows[] = {
#define ROW(name, cin, layout, cout, oh, ow, window, up, abh, a, w_db, type, ...) \
	{ #name, cin, TTNN_##layout, cout, oh, ow, window, up, abh, a, w_db, TTNN_##type, \
	  __VA_ARGS__ },
#include "tests/ttnn/unet.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

typedef struct Case {
	TtnnConv conv;
	TtnnGrid grid;
	TtnnBlocks blocks;
	TtnnChoice choice;
	TtnnL1 l1;
	int64_t halo;
} Case;

static Case case_of(const Target *t, const Row *r)
{
	/* Of both sides, what is not in the result too. */
	const int64_t pad = r->transposed ? 1 : 2;
	Case c = {
		.conv = { .w = { 1, r->oh, r->ow, r->window, r->window, 1, 1, 1, 1,
				 r->oh + pad, r->ow + pad },
			  .cin = r->cin, .cout = r->cout, .bias = true },
		.grid = { TTNN_HEIGHT, 64, 1, 1 },
	};
	c.choice.v[TTNN_ABH] = r->abh;
	c.choice.v[TTNN_ACT_DB] = r->act_db;
	c.choice.v[TTNN_W_DB] = r->w_db;
	c.choice.v[TTNN_WEIGHTS] = TTNN_BFP8;
	c.choice.v[TTNN_TYPE] = (int)r->type;
	c.choice.v[TTNN_FP32] = r->acc;
	c.choice.v[TTNN_L1_ACC] = r->acc;
	c.blocks = ttnn_blocks(t, &c.conv, &c.grid, r->layout, &c.choice);
	c.l1 = ttnn_conv_l1(&c.conv, &c.grid, &c.blocks, &c.choice);
	c.halo = ttnn_halo(&c.conv.w, TTNN_HEIGHT, 64, c.blocks.rows * TTNN_SIDE,
			   2 * c.blocks.channels);
	return c;
}

static int64_t all_bytes(const Case *c) { return c->l1.buffers + c->halo + c->l1.result; }

static const Target *n150(Fixture *t) { return target_load(t->arena, &t->diag, "wormhole_n150"); }

static const Row *row_of(const char *name)
{
	int i = 0;
	while (strcmp(rows[i].name, name) != 0)
		i++;
	return &rows[i];
}

#define EQUAL(row, what, got, want) \
	do { \
		if ((got) != (want)) \
			fail_msg("%s: %s is %lld, not %lld", (row)->name, what, \
				 (long long)(got), (long long)(want)); \
	} while (0)

static void every_row_has_its_blocks(void **state)
{
	const Target *t = n150(*state);
	for (int i = 0; i < ROWS; i++) {
		const Row *r = &rows[i];
		const Case c = case_of(t, r);
		EQUAL(r, "tiles of rows", c.blocks.rows, r->rows);
		EQUAL(r, "busy cores", ttnn_div_up(r->oh * r->ow, c.blocks.rows * TTNN_SIDE), r->busy);
		EQUAL(r, "blocks", c.blocks.act, r->act);
		EQUAL(r, "blocks of K", c.blocks.k, r->k);
		EQUAL(r, "block width", c.blocks.w, r->w);
		EQUAL(r, "tiles of cout", c.blocks.n, r->n);
		EQUAL(r, "split reader", c.blocks.split, r->split);
	}
}

static void every_row_has_its_bytes_to_the_kilobyte(void **state)
{
	const Target *t = n150(*state);
	for (int i = 0; i < ROWS; i++) {
		const Row *r = &rows[i];
		const Case c = case_of(t, r);
		EQUAL(r, "buffers", c.l1.buffers / 1024, r->buffers);
		EQUAL(r, "halo", c.halo / 1024, r->halo);
		EQUAL(r, "result", c.l1.result / 1024, r->result);
		EQUAL(r, "all", all_bytes(&c) / 1024, r->all);
	}
}

static void the_largest_are_exact_to_the_byte(void **state)
{
	const Target *t = n150(*state);
	const Case bottleneck = case_of(t, row_of("bott_c2")), dec4 = case_of(t, row_of("dec4_c1"));
	const Case dec1 = case_of(t, row_of("dec1_c1"));
	assert_int_equal(all_bytes(&bottleneck), 1270848);
	assert_int_equal(all_bytes(&dec4), 1272896);
	assert_int_equal(dec1.halo, 780800);
}

static void near(const Row *r, const char *what, int64_t ps, int64_t us)
{
	if (llabs(ps - us * 1000000) > 600000)
		fail_msg("%s: %s takes %.2f us, not %lld", r->name, what, (double)ps / 1e6,
			 (long long)us);
}

/* The table charges 16 cycles a product, and the first layer of padded blocks whole. */
static void every_row_takes_its_microseconds(void **state)
{
	const Target *t = n150(*state);
	for (int i = 0; i < ROWS; i++) {
		const Row *r = &rows[i];
		const Case c = case_of(t, r);
		const TtnnConvTime time = ttnn_conv_time(t, &c.conv, &c.grid, &c.blocks, &c.choice);
		near(r, "reading", time.reader, r->reader);
		near(r, "tilizing", time.tilize, r->tilize);
		near(r, "multiplying", ttnn_cycles_ps(t, time.products * 16000), r->math);
		near(r, "fetching weights", time.weights, r->weights);
		assert_true(time.total >= time.reader && time.total >= time.weights);
		assert_true(time.total >= time.tilize);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		TEST(every_row_has_its_blocks),
		TEST(every_row_has_its_bytes_to_the_kilobyte),
		TEST(the_largest_are_exact_to_the_byte),
		TEST(every_row_takes_its_microseconds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
