/*
 * Pools of the device library, compiled, linked and run on the strict emulator
 * and on the vendor's simulator, against plain loops.
 */
#include <math.h>

#include "backend/program_verify.h"
#include "tests/check.h"
#include "tests/device_pool.h"
#include "tests/numbers.h"

typedef struct PoolCase {
	int cores, rows, cols, channels; /* rows of a core and columns, of the output */
	DevTypes in, out;
	MaxPool pool;
} PoolCase;

/* Column x of the image in planes of column phases. */
static void to_phases(const PoolCase *k, int height, const float *image, float *to)
{
	const int s = k->pool.stride[1], wide = (k->pool.width + s - 1) / s;
	const int each = (k->channels + 15) / 16 * 16;
	for (int c = 0; c < k->channels; c++)
		for (int y = 0; y < height; y++)
			for (int x = 0; x < k->pool.width; x++)
				to[((x % s * each + c) * height + y) * wide + x / s] =
					image[(c * height + y) * k->pool.width + x];
}

static float largest(const PoolCase *k, const float *image, int height, int c, int y, int x)
{
	const MaxPool *m = &k->pool;
	float want = -INFINITY;
	for (int t = 0; t < m->kernel[0] * m->kernel[1]; t++) {
		const int row = y * m->stride[0] + t / m->kernel[1] * m->dilation[0] - m->pad[0];
		const int col = x * m->stride[1] + t % m->kernel[1] * m->dilation[1] - m->pad[1];
		if (row >= 0 && row < height && col >= 0 && col < m->width)
			want = fmaxf(want, image[(c * height + row) * m->width + col]);
	}
	return want;
}

/* Whole numbers below 0 that bfp8_b holds, all of them or most. */
static float *below_zero(Fixture *t, Rng *r, int64_t count)
{
	float *v = numbers(t, r, count, 63);
	for (int64_t i = 0; i < count; i++)
		v[i] -= 64;
	return v;
}

static void pool_case(Fixture *t, PoolCase k, uint64_t seed)
{
	Rng r = { seed };
	Net *n = net_open(t, k.cores);
	const MaxPool *m = &k.pool;
	const int s = m->phased ? m->stride[1] : 1, wide = (m->width + s - 1) / s;
	const int rows = k.rows * m->stride[0], height = rows * k.cores;
	const int channels = s == 1 ? k.channels : s * ((k.channels + 15) / 16 * 16);
	int halo = (m->kernel[0] - 1) * m->dilation[0] + m->pad[0];
	halo = k.cores == 1 ? 0 : halo < rows ? halo : rows;
	Planes x = net_planes(n, DEV_BF16, channels, rows, wide, k.in == DEV_BF16 ? halo : 0);
	net_input(n, &x);
	if (k.in != DEV_BF16) {
		Planes q = net_planes(n, k.in, channels, rows, wide, halo);
		net_window(n, &x, &q, 1, 1, false, false);
		x = q;
	}
	Planes out = net_planes(n, k.out, k.channels, k.rows, k.cols, 0);
	net_max_pool(n, k.pool, &x, &out);
	net_output(n, &out);
	float *image = below_zero(t, &r, (int64_t)k.channels * height * m->width), *fed = image;
	if (s > 1) {
		fed = arena_array(t->arena, float, (int64_t)channels * height * wide);
		to_phases(&k, height, image, fed);
	}
	const int64_t count = (int64_t)k.channels * k.rows * k.cores * k.cols;
	float *got = arena_array(t->arena, float, count);
	net_run_all(n, &fed, got, count);
	for (int64_t i = 0; i < count; i++) {
		const int at = (int)(i % k.cols), y = (int)(i / k.cols % (k.rows * k.cores));
		const int c = (int)(i / k.cols / (k.rows * k.cores));
		const float want = largest(&k, image, height, c, y, at);
		if (got[i] != want)
			fail_msg("channel %d at (%d, %d): %g, not %g", c, y, at, got[i], want);
	}
}

static void taps_outside_of_the_image_never_win(void **state)
{
	pool_case(*state,
		  (PoolCase){ 1, 5, 40, 20, DEV_BF16, DEV_BF16,
			      { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, 40, false } }, 1);
	pool_case(*state,
		  (PoolCase){ 3, 4, 33, 48, DEV_BF16, DEV_BFP8_B,
			      { { 5, 7 }, { 1, 1 }, { 1, 2 }, { 2, 6 }, 33, false } }, 2);
	pool_case(*state,
		  (PoolCase){ 1, 1, 1, 16, DEV_BF16, DEV_BF16,
			      { { 5, 5 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, 1, false } }, 3);
}

static void strides_take_columns_apart_or_phases(void **state)
{
	pool_case(*state,
		  (PoolCase){ 2, 3, 34, 40, DEV_BF16, DEV_BF16,
			      { { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, 67, false } }, 4);
	pool_case(*state,
		  (PoolCase){ 2, 3, 34, 40, DEV_BF16, DEV_BF16,
			      { { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, 67, true } }, 5);
	for (int phased = 0; phased < 2; phased++)
		pool_case(*state,
			  (PoolCase){ 2, 3, 34, 40, DEV_F32, DEV_F32,
				      { { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, 67, phased } }, 8);
	pool_case(*state,
		  (PoolCase){ 1, 2, 23, 20, DEV_BFP8_B, DEV_BFP8_B,
			      { { 4, 5 }, { 3, 3 }, { 2, 1 }, { 3, 2 }, 69, true } }, 6);
	pool_case(*state,
		  (PoolCase){ 1, 3, 33, 36, DEV_BFP8_B, DEV_BF16,
			      { { 3, 9 }, { 1, 1 }, { 1, 1 }, { 1, 4 }, 33, false } }, 7);
}

/* As of an image smaller than the way from tap to tap. */
static void a_window_wholly_outside_is_minus_infinity(void **state)
{
	pool_case(*state,
		  (PoolCase){ 1, 1, 3, 16, DEV_BF16, DEV_BF16,
			      { { 1, 2 }, { 1, 1 }, { 1, 4 }, { 0, 2 }, 3, false } }, 8);
	pool_case(*state,
		  (PoolCase){ 1, 3, 4, 16, DEV_BF16, DEV_BF16,
			      { { 2, 1 }, { 1, 1 }, { 4, 1 }, { 2, 0 }, 4, false } }, 9);
}

static void windows_strides_and_paddings_at_random(void **state)
{
	Rng r = { 77 };
	for (int i = 0; i < 18; i++) {
		PoolCase k = { .cores = 1 + (int)rng_below(&r, 3),
			       .rows = 1 + (int)rng_below(&r, 3),
			       .cols = 1 + (int)rng_below(&r, 40),
			       .channels = 1 + (int)rng_below(&r, 50),
			       .in = (DevTypes)(1 << rng_below(&r, DEV_TYPE_COUNT)),
			       .out = (DevTypes)(1 << rng_below(&r, DEV_TYPE_COUNT)) };
		for (int a = 0; a < 2; a++) {
			k.pool.kernel[a] = 1 + (int)rng_below(&r, 5);
			k.pool.stride[a] = 1 + (int)rng_below(&r, 3);
			k.pool.dilation[a] = 1;
			k.pool.pad[a] = (int)rng_below(&r, (uint32_t)k.pool.kernel[a]);
		}
		k.pool.phased = k.in == DEV_BFP8_B || rng_below(&r, 2);
		k.pool.width = k.cols * k.pool.stride[1];
		if (k.cores > 1)
			k.rows += 2; /* a halo is no more than the rows of a core */
		pool_case(*state, k, (uint64_t)i + 100);
	}
}

/* What the verifier says of a pool, a parameter of which was changed. */
static const char *refused(Fixture *t, const char *field, uint32_t value)
{
	Net *n = net_open(t, 1);
	Planes in = net_planes(n, DEV_BF16, 32, 4, 16, 0);
	Planes out = net_planes(n, DEV_BF16, 16, 4, 16, 0);
	net_input(n, &in);
	net_max_pool(n,
		     (MaxPool){ { 3, 3 }, { 1, 2 }, { 1, 1 }, { 1, 1 }, 32, .phased = true },
		     &in, &out);
	program_set(&n->p->ops[1], field, 0, value);
	program_set_core(n->p, &n->p->ops[1], 0, field, 0, value);
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	n->p->dram_free = n->dram;
	for (int i = 0; i < n->p->nbuffers; i++)
		n->p->buffers[i].last = n->p->nops - 1;
	assert_false(program_verify(n->p, target, &t->diag));
	return fixture_said(t);
}

static void what_lies_outside_of_the_buffer_is_refused(void **state)
{
	const char *said = refused(*state, "image_rows", 5);
	assert_non_null(strstr(said, "image_rows: 5 from row 0 on of 4"));
	said = refused(*state, "image_cols", 35);
	assert_non_null(strstr(said, "image_cols: 18 from column 16 on of 32"));
	said = refused(*state, "in_phase", 2);
	assert_non_null(strstr(said, "in_phase: 2 phases, 2 planes apart, of 2 planes"));
	said = refused(*state, "in_phase", 0);
	assert_non_null(strstr(said, "strided is 0, the column stride 2, in_phase 0"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(taps_outside_of_the_image_never_win),
		CASE(strides_take_columns_apart_or_phases),
		CASE(a_window_wholly_outside_is_minus_infinity),
		CASE(windows_strides_and_paddings_at_random),
		CASE(what_lies_outside_of_the_buffer_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
