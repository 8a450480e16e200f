/*
 * The emulator counts what costs.def predicts: every exact counter of every op
 * on every core, for all variants of the routines.
 *
 *     test_counters                 the cases below
 *     test_counters nets SEED COUNT random networks
 */
#include <stdlib.h>
#include <string.h>

#include "ir/rng.h"
#include "tests/check.h"
#include "tests/counted.h"
#include "tests/device_net.h"
#include "tests/network.h"
#include "tests/random_unet.h"

static Compared tally;

static float *zero_values(Net *n, int64_t count) { return arena_array(n->t->arena, float, count); }

void net_emitted(Net *n, const Emission *e)
{
	counted_check(n->t->arena, n->p, e, &tally);
}

static void check(Net *n, const Planes *from, int pieces, Planes *out)
{
	const int64_t pixels = (int64_t)n->p->ncores * 8 * 70;
	float *in[2] = { 0 };
	net_output(n, out);
	for (int i = 0; i < pieces; i++)
		in[i] = zero_values(n, from[i].channels * pixels);
	net_run(n, "emu:fast,strict=0,threads=1", in, zero_values(n, out->channels * 4 * pixels));
}

static Planes input(Net *n, DevTypes type, int channels, int rows, int cols, int halo)
{
	Planes p = net_planes(n, DEV_BF16, channels, rows, cols, type == DEV_BF16 ? halo : 0);
	net_input(n, &p);
	if (type != DEV_BF16) {
		Planes q = net_planes(n, type, channels, rows, cols, halo);
		net_window(n, &p, &q, 1, 1, false, false);
		p = q;
	}
	return p;
}

static int between(Rng *r, int least, int most)
{
	return least + (int)rng_below(r, (uint64_t)(most - least + 1));
}

/* A conv of random shape for these constants. */
static void conv(Fixture *t, Rng *r, Conv c, DevTypes in, DevTypes out)
{
	Net *n = net_open(t, between(r, 1, 3));
	const int rows = between(r, 2, 6), cols = between(r, 5, 70), pieces = between(r, 1, 2);
	const int cout = between(r, 1, 140);
	int cin = 0;
	Planes from[2];
	c.kernel_h = 2 * between(r, 0, 1) + 1;
	c.kernel_w = 2 * between(r, 0, 1) + 1;
	c.dilation = 1;
	c.k_block = 0;
	c.pages = between(r, 1, 2);
	for (int i = 0; i < pieces; i++) {
		const int channels = between(r, 1, 90);
		from[i] = input(n, in, channels, rows, cols, c.kernel_h / 2);
		cin += channels;
	}
	c.values = zero_values(n, (int64_t)cout * cin * c.kernel_h * c.kernel_w);
	c.bias = zero_values(n, cout);
	Planes to = net_planes(n, out, cout, rows, cols, 0);
	net_conv(n, c, from, pieces, &to);
	check(n, from, pieces, &to);
}

static void conv_predictions_are_exact_for_all_variants(void **state)
{
	const struct { int n, hold; } shapes[] = { { 1, 1 }, { 2, 1 }, { 4, 1 },
						   { 1, 2 }, { 1, 3 }, { 1, 4 } };
	Rng r = { 11 };
	for (int i = 0; i < 6; i++)
		for (int types = 0; types < 8; types++)
			conv(*state, &r,
			     (Conv){ .n = shapes[i].n, .hold = shapes[i].hold,
				     .phases = 1 + rng_below(&r, 4),
				     .weights = (DevTypes)(1 << rng_below(&r, DEV_TYPE_COUNT)),
				     .relu = rng_below(&r, 2), .sigmoid = rng_below(&r, 4) == 0 },
			     (DevTypes)(1 << rng_below(&r, DEV_TYPE_COUNT)),
			     types & 4 ? DEV_BF16 : DEV_BFP8_B);
}

static void transposed_conv_predictions_are_exact(void **state)
{
	Rng r = { 12 };
	for (int types = 0; types < 8; types++) {
		Net *n = net_open(*state, between(&r, 1, 2));
		const int cin = between(&r, 1, 70), cout = between(&r, 1, 70);
		const int rows = between(&r, 1, 5), cols = between(&r, 3, 50);
		Conv c = { .n = 2, .hold = 1, .phases = 2, .pages = 1,
			   .weights = types & 1 ? DEV_BF16 : DEV_BFP8_B, .relu = types & 1 };
		Planes in = input(n, types & 2 ? DEV_BF16 : DEV_BFP8_B, cin, rows, cols, 0);
		c.values = zero_values(n, (int64_t)cin * cout * 4);
		c.bias = zero_values(n, cout);
		Planes out = net_planes(n, types & 4 ? DEV_BF16 : DEV_BFP8_B, cout, 2 * rows,
					2 * cols, 0);
		net_deconv(n, c, &in, &out);
		check(n, &in, 1, &out);
	}
}

static void window_predictions_are_exact(void **state)
{
	Rng r = { 13 };
	for (int kernel = 1; kernel <= 4; kernel++)
		for (int types = 0; types < 6; types++) {
			Net *n = net_open(*state, between(&r, 1, 2));
			const DevTypes in_type = (DevTypes)(1 << types / 2);
			const int stride = in_type != DEV_BFP8_B ? kernel : 1;
			const int rows = kernel * between(&r, 1, 2), channels = between(&r, 1, 70);
			const int cols = kernel * between(&r, 2, 17);
			Planes in = input(n, in_type, channels, rows, cols, 0);
			Planes out = net_planes(n, types & 2 ? DEV_BF16 : DEV_BFP8_B, channels,
						(rows - kernel) / stride + 1,
						(cols - kernel) / stride + 1, 0);
			net_window(n, &in, &out, kernel, stride, rng_below(&r, 2),
				   rng_below(&r, 3) == 0);
			check(n, &in, 1, &out);
		}
}

/* False if the plan refuses it: wild ones may be too wild. */
static bool network(uint64_t seed, bool wild)
{
	const NetOptions opt = wild ? wild_options(seed)
				    : (NetOptions){ .most_width = 40, .levels = 2,
						    .weights = DEV_BF16 | DEV_BFP8_B };
	void *state;
	fixture_setup(&state);
	Fixture *t = state;
	Network *n = network_of(wild ? random_wild(t->arena, &t->diag, seed, &opt)
				     : random_unet(t->arena, &t->diag, seed, &opt), 0);
	if (n)
		counted_check(t->arena, n->program, &n->emission, &tally);
	else
		print_message("seed %llu is refused: %s", (unsigned long long)seed, fixture_said(t));
	network_free(n);
	fixture_teardown(&state);
	return n != NULL;
}

static void nets(uint64_t first, uint64_t count)
{
	uint64_t tame = 0, wild = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		tame += network(seed, false);
		wild += network(seed, true);
	}
	print_message("%llu networks, %llu wild ones\n", (unsigned long long)tame,
		      (unsigned long long)wild);
	assert_int_equal(tame, count);
	assert_true(wild > 0);
}

static void random_networks_count_what_is_predicted(void **state)
{
	(void)state;
	nets(1, 4);
}

int main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(conv_predictions_are_exact_for_all_variants),
		T(transposed_conv_predictions_are_exact),
		T(window_predictions_are_exact),
		cmocka_unit_test(random_networks_count_what_is_predicted),
	};
	if (argc == 4 && strcmp(argv[1], "nets") == 0) {
		nets(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
		counted_print(&tally);
		return 0;
	}
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	counted_print(&tally);
	return failed;
}
