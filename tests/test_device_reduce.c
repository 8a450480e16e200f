/*
 * Reductions over pixels and channels, compiled, linked and run on the strict
 * emulator and on the vendor's simulator, against plain loops.
 */
#include <math.h>

#include "backend/program_verify.h"
#include "tests/check.h"
#include "tests/device_pool.h"
#include "tests/numbers.h"

typedef struct ReduceCase {
	int cores, rows, cols, channels; /* rows of a core */
	DevTypes in, out;
	bool whole; /* numbers whose sum is exact */
} ReduceCase;

static Planes input(Net *n, const ReduceCase *k)
{
	Planes x = net_planes(n, DEV_BF16, k->channels, k->rows, k->cols, 0);
	net_input(n, &x);
	if (k->in == DEV_BF16)
		return x;
	Planes q = net_planes(n, DEV_BFP8_B, k->channels, k->rows, k->cols, 0);
	net_window(n, &x, &q, 1, 1, false, false);
	return q;
}

/* Over all cores, by way of core 0. */
static void reduce(Net *n, ReduceKind kind, const Planes *in, const Planes *mean, Planes *to,
		   bool pair, float scale)
{
	const int each = kind == REDUCE_MAX ? 1 : 2;
	Planes all = net_planes(n, DEV_BF16, in->channels, 1, each * n->p->ncores, 0);
	net_reduce_rows(n, kind, in, mean, &all);
	net_reduce_pixels(n, kind == REDUCE_MAX ? kind : REDUCE_SUM, &all, to, pair, scale);
}

static double mean_of(const ReduceCase *k, const float *v, int c)
{
	const int64_t count = (int64_t)k->rows * k->cores * k->cols;
	double sum = 0;
	for (int64_t i = 0; i < count; i++)
		sum += v[c * count + i];
	return sum / (double)count;
}

static float largest_of(const ReduceCase *k, const float *v, int c)
{
	const int64_t count = (int64_t)k->rows * k->cores * k->cols;
	float most = -INFINITY;
	for (int64_t i = 0; i < count; i++)
		most = fmaxf(most, v[c * count + i]);
	return most;
}

/* Every core has the result: a row of the output each. */
static void reduce_case(Fixture *t, ReduceCase k, ReduceKind kind)
{
	Rng r = { 5 };
	Net *n = net_open(t, k.cores);
	Planes x = input(n, &k), out = net_planes(n, k.out, k.channels, 1, 1, 0);
	const int64_t count = (int64_t)k.rows * k.cores * k.cols;
	reduce(n, kind, &x, NULL, &out, false, kind == REDUCE_MAX ? 1 : 1 / (float)count);
	net_output(n, &out);
	net_await(n, &out);
	float *values = numbers(t, &r, k.channels * count, k.whole ? 60 : 0);
	for (int64_t i = 0; i < k.channels * count; i++)
		values[i] = net_rounded(values[i] - (k.whole ? 64.f : 1.f));
	float *got = arena_array(t->arena, float, k.channels * k.cores);
	net_run_all(n, &values, got, k.channels * k.cores);
	for (int c = 0; c < k.channels; c++) {
		const double want = kind == REDUCE_MAX ? largest_of(&k, values, c)
						       : mean_of(&k, values, c);
		const double bound = k.whole ? 0 : fabs(want) / 256;
		for (int i = 0; i < k.cores; i++)
			if (fabs(got[c * k.cores + i] - net_rounded(want)) > bound)
				fail_msg("channel %d, core %d: %g, not %g", c, i,
					 got[c * k.cores + i], want);
	}
}

static void sums_of_whole_numbers_are_exact(void **state)
{
	reduce_case(*state, (ReduceCase){ 1, 4, 32, 16, DEV_BF16, DEV_BF16, true }, REDUCE_SUM);
	reduce_case(*state, (ReduceCase){ 1, 7, 37, 50, DEV_BF16, DEV_BF16, false }, REDUCE_SUM);
	reduce_case(*state, (ReduceCase){ 4, 2, 8, 40, DEV_BF16, DEV_BF16, true }, REDUCE_SUM);
	reduce_case(*state, (ReduceCase){ 2, 1, 64, 33, DEV_BFP8_B, DEV_BF16, true }, REDUCE_SUM);
	reduce_case(*state, (ReduceCase){ 1, 1, 1, 20, DEV_BF16, DEV_BF16, true }, REDUCE_SUM);
	reduce_case(*state, (ReduceCase){ 24, 1, 4, 20, DEV_BF16, DEV_BF16, false }, REDUCE_SUM);
}

static void the_largest_of_negative_numbers_is_no_padding(void **state)
{
	reduce_case(*state, (ReduceCase){ 1, 3, 37, 50, DEV_BF16, DEV_BF16, true }, REDUCE_MAX);
	reduce_case(*state, (ReduceCase){ 3, 2, 64, 16, DEV_BFP8_B, DEV_BF16, true }, REDUCE_MAX);
	reduce_case(*state, (ReduceCase){ 24, 1, 1, 33, DEV_BF16, DEV_BF16, true }, REDUCE_MAX);
	reduce_case(*state, (ReduceCase){ 1, 1, 1, 1, DEV_BF16, DEV_BFP8_B, true }, REDUCE_MAX);
}

/* Less its mean, times `factor`: the sum of squares that way is the result's. */
static void norm_case(Fixture *t, ReduceCase k, float centre)
{
	Rng r = { 9 };
	Net *n = net_open(t, k.cores);
	Planes x = input(n, &k), y = net_planes(n, k.out, k.channels, k.rows, k.cols, 0);
	Planes mean = net_planes(n, DEV_BF16, k.channels, 1, 2, 0);
	Planes square = net_planes(n, DEV_BF16, k.channels, 1, 2, 0);
	const int64_t count = (int64_t)k.rows * k.cores * k.cols;
	reduce(n, REDUCE_SUM, &x, NULL, &mean, true, 1 / (float)count);
	reduce(n, REDUCE_DEVIATION, &x, &mean, &square, true, 1 / (float)count);
	net_norm(n, &x, &mean, &square, &y);
	net_output(n, &y);
	float *values = numbers(t, &r, k.channels * count, 0);
	for (int64_t i = 0; i < k.channels * count; i++)
		values[i] = net_rounded(values[i] + centre);
	float *got = arena_array(t->arena, float, k.channels * count);
	net_run_all(n, &values, got, k.channels * count);
	for (int64_t i = 0; i < k.channels * count; i++) {
		const int c = (int)(i / count);
		const double m = mean_of(&k, values, c);
		double v = 0;
		for (int64_t j = 0; j < count; j++)
			v += pow(values[c * count + j] - m, 2) / (double)count;
		const double want = (values[i] - m) * v;
		if (fabs(got[i] - want) > fabs(want) / 250 + 1e-4)
			fail_msg("channel %d, %d: %g, not %g", c, (int)(i % count), got[i], want);
	}
}

static void deviations_are_those_of_the_mean(void **state)
{
	norm_case(*state, (ReduceCase){ 1, 2, 32, 16, DEV_BF16, DEV_BF16, false }, 0);
	norm_case(*state, (ReduceCase){ 1, 5, 37, 20, DEV_BF16, DEV_BF16, false }, 0.5f);
	norm_case(*state, (ReduceCase){ 3, 2, 47, 50, DEV_BF16, DEV_BF16, false }, 100);
}

static void lanes_case(Fixture *t, ReduceCase k, bool sum)
{
	Rng r = { 13 };
	Net *n = net_open(t, k.cores);
	Planes x = input(n, &k), y = net_planes(n, k.out, 16, k.rows, k.cols, 0);
	const int64_t count = (int64_t)k.rows * k.cores * k.cols;
	net_lanes(n, &x, &y, sum);
	net_output(n, &y);
	float *values = numbers(t, &r, k.channels * count, 60);
	for (int64_t i = 0; i < k.channels * count; i++)
		values[i] -= 64;
	float *got = arena_array(t->arena, float, 16 * count);
	net_run_all(n, &values, got, 16 * count);
	for (int64_t i = 0; i < count; i++) {
		float most = -INFINITY, all = 0;
		for (int c = 0; c < k.channels; c++) {
			most = fmaxf(most, values[c * count + i]);
			all += values[c * count + i];
		}
		const float want = sum ? net_rounded(all) : most;
		for (int c = 0; c < 16; c++)
			if (got[c * count + i] != want)
				fail_msg("pixel %d, lane %d: %g, not %g", (int)i, c,
					 got[c * count + i], want);
	}
}

static void the_largest_channel_is_one_of_the_tensors(void **state)
{
	static const int channels[] = { 1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 50, 100 };
	for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
		lanes_case(*state,
			   (ReduceCase){ 1, 2, 35, channels[i], DEV_BF16,
					 i % 2 ? DEV_BF16 : DEV_BFP8_B, true },
			   false);
	lanes_case(*state, (ReduceCase){ 2, 2, 20, 21, DEV_BFP8_B, DEV_BF16, true }, false);
}

static void channels_past_the_tensors_do_not_count(void **state)
{
	static const int channels[] = { 1, 2, 15, 16, 17, 31, 32, 48, 50, 100 };
	for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
		lanes_case(*state,
			   (ReduceCase){ 1, 1, 35, channels[i], DEV_BF16, DEV_BF16, true }, true);
}

/* What the verifier says of a net, a parameter of an op of which was changed. */
static const char *refused(Net *n, int op, const char *field, int index, uint32_t value)
{
	Fixture *t = n->t;
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	program_set(&n->p->ops[op], field, index, value);
	n->p->dram_free = n->dram;
	for (int i = 0; i < n->p->nbuffers; i++)
		n->p->buffers[i].last = n->p->nops - 1;
	assert_false(program_verify(n->p, target, &t->diag));
	return fixture_said(t);
}

static Net *small(Fixture *t, Planes at[5])
{
	Net *n = net_open(t, 1);
	for (int i = 0; i < 5; i++)
		at[i] = net_planes(n, DEV_BF16, 32, i ? 1 : 2, i ? 2 : 16, 0);
	net_input(n, &at[0]);
	return n;
}

static void what_a_reduction_cannot_have_is_refused(void **state)
{
	Planes at[5];
	Net *n = small(*state, at);
	net_reduce_rows(n, REDUCE_DEVIATION, &at[0], &at[1], &at[2]);
	assert_non_null(strstr(refused(n, 1, "image_rows", 0, 3), "image_rows: 3 from row 0 on of 2"));
	assert_non_null(strstr(refused(n, 1, "in_planes", 1, 1), "in_planes: piece 1 has 1, piece 0 2"));
	assert_non_null(strstr(refused(n, 1, "in_x", 1, 31), "piece 1 has no two pixels at (0, 31)"));
	assert_non_null(strstr(refused(n, 1, "segments", 0, 1), "segments: 1, not 2"));
	assert_non_null(strstr(refused(n, 1, "cols", 0, 1), "1 x 1 pixels of a result that has 2"));
	n = small(*state, at);
	net_norm(n, &at[0], &at[1], &at[2], &at[3]);
	assert_non_null(strstr(refused(n, 1, "in_pitch", 2, 48), "in_pitch, in_height: pieces 1 and 2 differ"));
	n = small(*state, at);
	net_lanes(n, &at[0], &at[1], false);
	assert_non_null(strstr(refused(n, 1, "lanes", 0, 0), "lanes: no channel of the last plane"));
	assert_non_null(strstr(refused(n, 1, "out_planes", 0, 2), "of one piece, and one plane"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(sums_of_whole_numbers_are_exact),
		CASE(the_largest_of_negative_numbers_is_no_padding),
		CASE(deviations_are_those_of_the_mean),
		CASE(the_largest_channel_is_one_of_the_tensors),
		CASE(channels_past_the_tensors_do_not_count),
		CASE(what_a_reduction_cannot_have_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
