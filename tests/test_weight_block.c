/* Weight blocks and the block floats in them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/blockfloat.h"
#include "ir/rng.h"
#include "ir/tensor.h"
#include "ir/weight_block.h"
#include "tests/check.h"

static void a_block_float_counts_steps_of_the_largest_exponent(void **state)
{
	(void)state;
	const float in[BLOCKFLOAT] = { 1.0f, 0.5f, -0.75f, 0.01f, 0, -0.0f, 1.984375f, -1.0f };
	const uint8_t want[BLOCKFLOAT] = { 64, 32, 0x80 | 48, 1, 0, 0, 127, 0x80 | 64 };
	uint8_t got[BLOCKFLOAT];
	assert_int_equal(blockfloat_pack(in, got), 127);
	assert_memory_equal(got, want, sizeof want);
}

static void block_floats_round_once_to_nearest_even_and_saturate(void **state)
{
	(void)state;
	/* in steps of 1/64: 64, 0.5, 1.5, 2.5, just above 0.5, just below 1.5 */
	const float in[BLOCKFLOAT] = { 1.0f, 0x1p-7f, 0x3p-7f, 0x5p-7f, 0x1.000002p-7f,
				       0x1.7ffffep-6f, 0x1.fcp0f, 0x1.fep0f, -0x1.ffp0f,
				       0x1p-30f, -0x1p-8f };
	const uint8_t want[BLOCKFLOAT] = { 64, 0, 2, 2, 1, 1, 127, 127, 0xff, 0, 0 };
	uint8_t got[BLOCKFLOAT];
	assert_int_equal(blockfloat_pack(in, got), 127);
	assert_memory_equal(got, want, sizeof want);
}

static void tiny_values_are_zero(void **state)
{
	(void)state;
	const float in[BLOCKFLOAT] = { 0x1p-127f, -0x1p-149f };
	const uint8_t none[BLOCKFLOAT] = { 0 };
	uint8_t got[BLOCKFLOAT];
	assert_int_equal(blockfloat_pack(in, got), 0);
	assert_memory_equal(got, none, sizeof none);
	assert_true(blockfloat_value(1, 1) == 0);
	assert_true(blockfloat_value(1, 64) == 0x1p-126f);
}

static void every_block_float_byte_survives_a_round_trip(void **state)
{
	(void)state;
	for (unsigned exponent = 20; exponent < 255; exponent += 13)
		for (unsigned byte = 0; byte < 256; byte++) {
			uint8_t e = (uint8_t)exponent, got[BLOCKFLOAT];
			float in[BLOCKFLOAT] = { blockfloat_value(e, 64),
						 blockfloat_value(e, (uint8_t)byte) };
			assert_int_equal(blockfloat_pack(in, got), exponent);
			assert_int_equal(got[1], byte == 0x80 ? 0 : byte);
		}
}

/* Half a step, or a whole one where 128 steps became 127. */
static void a_block_float_errs_by_half_a_step(void **state)
{
	(void)state;
	Rng rng = { 7 };
	for (int i = 0; i < 10000; i++) {
		float in[BLOCKFLOAT];
		uint8_t bytes[BLOCKFLOAT];
		for (int j = 0; j < BLOCKFLOAT; j++)
			in[j] = (rng_float(&rng) - 0.5f) * ldexpf(1, (int)rng_below(&rng, 12));
		uint8_t exponent = blockfloat_pack(in, bytes);
		float step = ldexpf(1, exponent - 133);
		for (int j = 0; j < BLOCKFLOAT; j++) {
			float error = fabsf(in[j] - blockfloat_value(exponent, bytes[j]));
			assert_true(error <= ((bytes[j] & 127) == 127 ? step : step / 2));
		}
	}
}

static const WeightBlocks conv = { DEV_BFP8_B, 9, 64, 128, 2, 4 };

static void sizes_are_those_of_the_tiles(void **state)
{
	(void)state;
	WeightBlocks w = conv;
	assert_int_equal(weight_block_exponents(&w), 512);
	assert_int_equal(weight_block_bytes(&w), 8 * 1088);
	assert_int_equal(weight_block_count(&w), 9);
	assert_int_equal(weight_bytes(&w), 9 * 8 * 1088);
	w = (WeightBlocks){ DEV_F32, 9, 64, 128, 2, 4 };
	assert_int_equal(weight_block_exponents(&w), 0);
	assert_int_equal(weight_block_bytes(&w), 8 * 4096);
	w = (WeightBlocks){ DEV_BF16, 9, 33, 70, 1, 3 };
	assert_int_equal(weight_block_exponents(&w), 0);
	assert_int_equal(weight_block_bytes(&w), 3 * 2048);
	assert_int_equal(weight_bytes(&w), 2 * 3 * 9 * 2048);
}

static void blocks_go_by_output_tiles_then_taps_then_input_tiles(void **state)
{
	(void)state;
	const WeightBlocks w = { DEV_BF16, 9, 128, 128, 2, 2 };
	assert_int_equal(weight_block_of(&w, 0, 1, 1), 0);
	assert_int_equal(weight_block_of(&w, 0, 2, 0), 1);
	assert_int_equal(weight_block_of(&w, 1, 0, 0), 2);
	assert_int_equal(weight_block_of(&w, 8, 3, 1), 17);
	assert_int_equal(weight_block_of(&w, 0, 0, 2), 18);
	assert_int_equal(weight_tile_of(&w, 0, 1), 1);
	assert_int_equal(weight_tile_of(&w, 3, 2), 2);
}

static void a_tile_is_four_faces(void **state)
{
	(void)state;
	assert_int_equal(weight_value_of(0, 15), 15);
	assert_int_equal(weight_value_of(1, 0), 16);
	assert_int_equal(weight_value_of(0, 16), 256);
	assert_int_equal(weight_value_of(16, 0), 512);
	assert_int_equal(weight_value_of(31, 31), 1023);
}

/* One weight that is not zero, at a place worked out by hand. */
static void a_weight_stands_where_the_header_says(void **state)
{
	(void)state;
	const int64_t taps = 9, cin = 64, cout = 128;
	float *from = calloc((size_t)(taps * cin * cout), sizeof *from);
	uint8_t *to = malloc(weight_bytes(&conv));
	from[(70 * cin + 33) * taps + 5] = -1.0f; /* cout 70, cin 33, tap 5 */
	weight_blocks_pack(&conv, from, (WeightStrides){ 1, taps, cin * taps }, to);

	/* block 5; cin tile 1, cout tile 2: tile 6; row 1, col 6 */
	const uint64_t block = 5 * 8 * 1088, exponent = block + 6 * 64 + 1;
	const uint64_t value = block + 512 + 6 * 1024 + 16 + 6;
	for (uint64_t i = 0; i < weight_bytes(&conv); i++)
		assert_int_equal(to[i], i == exponent ? 127 : i == value ? 0x80 | 64 : 0);
	free(from);
	free(to);
}

static void round_trip(DevTypes type, uint32_t k, uint32_t n, float tolerance)
{
	const WeightBlocks w = { type, 4, 100, 70, k, n };
	const WeightStrides at = { 1, 4, 400 };
	const size_t count = 4 * 100 * 70;
	float *from = malloc(count * sizeof *from), *back = calloc(count, sizeof *back);
	uint8_t *packed = malloc(weight_bytes(&w));
	Rng rng = { 11 };
	for (size_t i = 0; i < count; i++)
		from[i] = rng_float(&rng) * 2 - 1;
	weight_blocks_pack(&w, from, at, packed);
	weight_blocks_unpack(&w, packed, at, back);
	for (size_t i = 0; i < count; i++)
		assert_true(fabsf(from[i] - back[i]) <= tolerance);
	free(from);
	free(back);
	free(packed);
}

static void unpacking_gives_back_what_was_packed(void **state)
{
	(void)state;
	/* values below 1: steps of 2^-7, or half a unit in the last of 8 bits */
	round_trip(DEV_BFP8_B, 2, 3, 0x1p-7f);
	round_trip(DEV_BFP8_B, 4, 1, 0x1p-7f);
	round_trip(DEV_BF16, 1, 3, 0x1p-9f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_float_counts_steps_of_the_largest_exponent),
		cmocka_unit_test(block_floats_round_once_to_nearest_even_and_saturate),
		cmocka_unit_test(tiny_values_are_zero),
		cmocka_unit_test(every_block_float_byte_survives_a_round_trip),
		cmocka_unit_test(a_block_float_errs_by_half_a_step),
		cmocka_unit_test(sizes_are_those_of_the_tiles),
		cmocka_unit_test(blocks_go_by_output_tiles_then_taps_then_input_tiles),
		cmocka_unit_test(a_tile_is_four_faces),
		cmocka_unit_test(a_weight_stands_where_the_header_says),
		cmocka_unit_test(unpacking_gives_back_what_was_packed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
