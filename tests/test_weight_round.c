/* Weights are rounded to values next to them, and their sums stay. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/blockfloat.h"
#include "ir/devtypes.h"
#include "ir/rng.h"
#include "ir/tensor.h"
#include "ir/weight_block.h"
#include "ir/weight_round.h"
#include "tests/check.h"

enum { RESULTS = 32, WEIGHTS = 288 };

static void fill(float *v, uint64_t seed)
{
	Rng r = { seed };
	for (int i = 0; i < RESULTS * WEIGHTS; i++)
		v[i] = (rng_float(&r) * 2 - 1) * (i % 7 ? 0.1f : 1);
}

/* The largest step of the type at a weight of result o. */
static double step_at(DevTypes type, const float *v, int o, int i)
{
	double most = fabs(v[o * WEIGHTS + i]);
	for (int k = 0; type == DEV_BFP8_B && k < BLOCKFLOAT; k++)
		most = fmax(most, fabs(v[(o / BLOCKFLOAT * BLOCKFLOAT + k) * WEIGHTS + i]));
	const int bits = type == DEV_F32 ? 9 : type == DEV_BF16 ? 7 : 6;
	return most > 0 ? ldexp(1, ilogb(most) - bits) : 0;
}

static void sums_stay(DevTypes type)
{
	float v[RESULTS * WEIGHTS], w[RESULTS * WEIGHTS];
	fill(v, 5);
	memcpy(w, v, sizeof w);
	weight_round(type, w, RESULTS, WEIGHTS);
	for (int o = 0; o < RESULTS; o++) {
		double sum = 0, largest = 0;
		for (int i = 0; i < WEIGHTS; i++) {
			const double step = step_at(type, v, o, i);
			const double error = (double)w[o * WEIGHTS + i] - v[o * WEIGHTS + i];
			assert_true(fabs(error) <= step);
			largest = fmax(largest, step);
			sum += error;
		}
		assert_true(fabs(sum) <= largest / 2);
	}
}

static void sums_of_bf16_weights_stay_within_half_a_step(void **state)
{
	(void)state;
	sums_stay(DEV_BF16);
}

static void sums_of_f32_weights_stay_within_half_a_step_of_ten_bits(void **state)
{
	(void)state;
	sums_stay(DEV_F32);
}

/* What five bits in each of two phases see is all of it. */
static void an_f32_weight_has_ten_bits(void **state)
{
	(void)state;
	float v[RESULTS * WEIGHTS], w[RESULTS * WEIGHTS];
	fill(v, 8);
	memcpy(w, v, sizeof w);
	weight_round(DEV_F32, w, RESULTS * WEIGHTS, 1);
	for (int i = 0; i < RESULTS * WEIGHTS; i++) {
		uint32_t bits;
		memcpy(&bits, &w[i], sizeof bits);
		assert_int_equal(bits & 0x3fff, 0);
		assert_true(fabs((double)w[i] - v[i]) <= step_at(DEV_F32, v, 0, i) / 2);
	}
}

static void sums_of_bfp8_weights_stay_within_half_a_step(void **state)
{
	(void)state;
	sums_stay(DEV_BFP8_B);
}

/* Tiles of 32 results times 288 weights, and back. */
static void what_was_rounded_is_packed_as_it_is(void **state)
{
	(void)state;
	const DevTypes types[] = { DEV_BF16, DEV_BFP8_B, DEV_F32 };
	const WeightStrides at = { 1, 1, WEIGHTS };
	for (int k = 0; k < 3; k++) {
		float v[RESULTS * WEIGHTS], back[RESULTS * WEIGHTS];
		const WeightBlocks w = { types[k], 1, WEIGHTS, RESULTS, WEIGHTS / TILE, 1 };
		uint8_t *packed = malloc(weight_bytes(&w));
		fill(v, 6);
		weight_round(types[k], v, RESULTS, WEIGHTS);
		weight_blocks_pack(&w, v, at, packed);
		weight_blocks_unpack(&w, packed, at, back);
		for (int i = 0; i < RESULTS * WEIGHTS; i++)
			assert_true(v[i] == back[i]);
		free(packed);
	}
}

static void a_weight_by_itself_goes_to_the_nearest(void **state)
{
	(void)state;
	float v[RESULTS * WEIGHTS], w[RESULTS * WEIGHTS];
	fill(v, 7);
	memcpy(w, v, sizeof w);
	weight_round(DEV_BF16, w, RESULTS * WEIGHTS, 1);
	for (int i = 0; i < RESULTS * WEIGHTS; i++)
		assert_true(w[i] == bf16_to_float(float_to_bf16(v[i])));
}

static void zeros_and_what_the_type_holds_stay(void **state)
{
	(void)state;
	float v[BLOCKFLOAT * 4] = { 1, 0, -0.5f, 0.25f, 127.0f / 64, 0, 0, 1.5f };
	float w[BLOCKFLOAT * 4];
	memcpy(w, v, sizeof w);
	weight_round(DEV_BFP8_B, w, BLOCKFLOAT, 4);
	assert_memory_equal(v, w, sizeof v);
	weight_round(DEV_BF16, w, BLOCKFLOAT, 4);
	assert_memory_equal(v, w, sizeof v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_bf16_weights_stay_within_half_a_step),
		cmocka_unit_test(sums_of_f32_weights_stay_within_half_a_step_of_ten_bits),
		cmocka_unit_test(an_f32_weight_has_ten_bits),
		cmocka_unit_test(sums_of_bfp8_weights_stay_within_half_a_step),
		cmocka_unit_test(what_was_rounded_is_packed_as_it_is),
		cmocka_unit_test(a_weight_by_itself_goes_to_the_nearest),
		cmocka_unit_test(zeros_and_what_the_type_holds_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
