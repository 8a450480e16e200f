/*
 * How a convolution spends its cores, by what the emulator counts: instructions of
 * the RISC-Vs and bytes unpacked for each product of tiles in the inner loop. Two
 * programs that differ in the depth of the input alone are subtracted, so that
 * what is done once a tile, a page or an op falls out.
 */
#include "tests/check.h"
#include "tests/counted.h"
#include "tests/device_net.h"

enum { ROWS = 8, COLS = 32, SHALLOW = 256, DEEP = 512, TILE_CHANNELS = 32 };

static Counters counted;

/* The op that is a conv, on the only core. */
void net_emitted(Net *n, const Emission *e)
{
	const Counters *all =
		counted_run(n->t->arena, n->p, e, "emu:counters,fast,strict=0,threads=1");
	for (int op = 0; op < n->p->nops; op++)
		if (strcmp(n->p->ops[op].kind, "conv") == 0)
			counted = all[op];
}

static Counters conv(Fixture *t, Conv c, DevTypes in, int channels)
{
	Net *n = net_open(t, 1);
	const int cout = 32 * c.n;
	float *image = arena_array(t->arena, float, (int64_t)channels * ROWS * COLS);
	float *out = arena_array(t->arena, float, (int64_t)cout * ROWS * COLS);
	Planes x = net_planes(n, DEV_BF16, channels, ROWS, COLS, 0);
	net_input(n, &x);
	if (in != DEV_BF16) {
		Planes narrow = net_planes(n, in, channels, ROWS, COLS, 0);
		net_window(n, &x, &narrow, 1, 1, false, false);
		x = narrow;
	}
	c.kernel_h = c.kernel_w = c.dilation = c.pages = 1;
	c.values = arena_array(t->arena, float, (int64_t)cout * channels);
	c.bias = arena_array(t->arena, float, cout);
	Planes y = net_planes(n, DEV_BF16, cout, ROWS, COLS, 0);
	net_conv(n, c, &x, 1, &y);
	net_output(n, &y);
	net_run(n, "emu:fast,strict=0,threads=1", &image, out);
	return counted;
}

typedef struct IssueCase {
	DevTypes in, weights;
	int n, hold;
} IssueCase;

/* Bytes: pixels of 32 positions for n products, or for one; a weight tile for one,
 * or for `hold` rows. */
static double expected_bytes(const IssueCase *k)
{
	const double pixels = k->in == DEV_BF16 ? 2048 : 1088;
	const double weights = k->weights == DEV_BF16 ? 2048 : 1088;
	return pixels / k->n + weights / k->hold;
}

static void check_case(Fixture *t, const IssueCase *k)
{
	const Conv c = { .n = k->n, .hold = k->hold, .phases = 2, .weights = k->weights };
	const Counters a = conv(t, c, k->in, SHALLOW), b = conv(t, c, k->in, DEEP);
	const int64_t products = (DEEP - SHALLOW) / TILE_CHANNELS * ROWS * k->n;
	const double each = 1.0 / (double)products;
	const double unpack = each * (double)(b.trisc0_instructions - a.trisc0_instructions);
	const double math = each * (double)(b.trisc1_instructions - a.trisc1_instructions);
	const double bytes = each * (double)(b.unpack_bytes - a.unpack_bytes);
	print_message("%-6s %-6s %d %4d  %8.2f %8.2f %8.1f %8.1f\n",
		      k->in == DEV_BF16 ? "bf16" : "bfp8_b", k->weights == DEV_BF16 ? "bf16" : "bfp8_b",
		      k->n, k->hold, unpack, math, bytes, expected_bytes(k));
	assert_int_equal(b.mvmuls - a.mvmuls, 2 * 16 * products);
	assert_true(bytes == expected_bytes(k));
	assert_true(unpack <= 6 && math <= 6);
}

static void a_product_takes_at_most_six_instructions_and_the_bytes_it_must(void **state)
{
	print_message("input  weights n hold  TRISC0/product  TRISC1  bytes  expected\n");
	for (int types = 0; types < 4; types++) {
		const DevTypes in = types & 2 ? DEV_BFP8_B : DEV_BF16;
		const DevTypes weights = types & 1 ? DEV_BFP8_B : DEV_BF16;
		for (int n = 1; n <= 4; n *= 2)
			check_case(*state, &(IssueCase){ in, weights, n, 1 });
		check_case(*state, &(IssueCase){ in, weights, 1, 4 });
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_product_takes_at_most_six_instructions_and_the_bytes_it_must,
			fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
