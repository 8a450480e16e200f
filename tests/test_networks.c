/*
 * Networks on the emulator against the plain executor.
 *
 *     test_networks [SEED COUNT]   so many random networks from a seed on
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/compare.h"
#include "tests/check.h"
#include "tests/fixture.h"
#include "tests/network.h"
#include "tests/random_unet.h"

typedef struct Run {
	float *in, *got, *want;
	int64_t n;
} Run;

static Run run(Fixture *t, Network *net, const char *device, uint64_t seed, const NetOptions *opt)
{
	if (!net)
		fail_msg("seed %llu: %s", (unsigned long long)seed, fixture_said(t));
	Run r = { .n = network_output_count(net) };
	TesseraError e;
	r.in = arena_array(t->arena, float, network_input_count(net));
	r.got = arena_array(t->arena, float, r.n);
	r.want = arena_array(t->arena, float, r.n);
	random_image(r.in, network_input_count(net), seed, opt);
	if (!network_run(net, device, r.in, r.got, &e))
		fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, e.text, e.detail);
	network_ref(net, r.in, r.want);
	return r;
}

/* Worst error over the greatest magnitude wanted. */
static double worst(const Run *r)
{
	double error = 0, range = 0;
	for (int64_t i = 0; i < r->n; i++) {
		error = fmax(error, fabs((double)r->got[i] - (double)r->want[i]));
		range = fmax(range, fabs((double)r->want[i]));
	}
	return range > 0 ? error / range : error;
}

static void one_net(uint64_t seed, const NetOptions *opt, int cores, double most)
{
	Fixture *t;
	fixture_setup((void **)&t);
	Network *net = network_of(random_unet(t->arena, &t->diag, seed, opt), cores);
	const Run r = run(t, net, "emu", seed, opt);
	if (!(worst(&r) <= most))
		fail_msg("seed %llu: error %g of the range", (unsigned long long)seed, worst(&r));
	network_free(net);
	fixture_teardown((void **)&t);
}

/* Whole numbers below 128 have the 7 bits that two phases of fidelity see of an
 * activation, so every sum of them is exact. */
static void integers_come_out_exactly(void **state)
{
	(void)state;
	const NetOptions opt = { .integers = true, .levels = 2 };
	for (uint64_t seed = 1; seed <= 6; seed++)
		one_net(seed, &opt, 0, 0);
}

/* Each layer rounds its result to 8 bits, and bfp8_b weights to 7. */
static void bf16_nets_are_near(void **state)
{
	(void)state;
	const NetOptions opt = { .levels = 2 };
	for (uint64_t seed = 1; seed <= 6; seed++)
		one_net(seed, &opt, 0, 0.05);
}

static void one_core_does_what_many_do(void **state)
{
	Fixture *t = *state;
	const NetOptions opt = { .levels = 2 };
	const uint64_t seed = 4;
	Network *one = network_of(random_unet(t->arena, &t->diag, seed, &opt), 1);
	Network *many = network_of(random_unet(t->arena, &t->diag, seed, &opt), 0);
	const Run a = run(t, one, "emu", seed, &opt), b = run(t, many, "emu", seed, &opt);
	assert_memory_equal(a.got, b.got, (size_t)a.n * sizeof(float));
	network_free(one);
	network_free(many);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		const uint64_t from = strtoull(argv[1], NULL, 10), n = strtoull(argv[2], NULL, 10);
		for (uint64_t seed = from; seed < from + n; seed++) {
			printf("seed %llu\n", (unsigned long long)seed);
			fflush(stdout);
			one_net(seed, &(NetOptions){ .levels = 2 }, 0, 0.05);
			one_net(seed, &(NetOptions){ .integers = true, .levels = 2 }, 0, 0);
		}
		return 0;
	}
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(integers_come_out_exactly),
		T(bf16_nets_are_near),
		T(one_core_does_what_many_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
