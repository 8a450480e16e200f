/* Built twice: with what the processor has, and without (CONVERT_PORTABLE). */
#include "tests/check.h"

#include <math.h>
#include <string.h>

#include "runtime/emu/convert.h"

static uint32_t seed = 1;

static uint32_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

static double value_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

static void a_row_of_bfp8_is_its_values_one_by_one(void **state)
{
	uint8_t row[256];
	uint32_t to[256];

	(void)state;
	for (uint32_t k = 0; k < 256; k++)
		row[k] = (uint8_t)k;
	for (uint32_t e = 0; e < 256; e++) {
		uint8_t exponents[16];

		memset(exponents, (int)e, sizeof exponents);
		src_from_bfp8_rows(row, exponents, to, 250); /* ends inside a row */
		for (uint32_t k = 0; k < 250; k++)
			assert_int_equal(to[k], src_from_bfp8((uint8_t)k, (uint8_t)e));
	}
}

static void bfp8_is_magnitude_times_the_shared_power(void **state)
{
	(void)state;
	for (uint32_t e = 7; e < 255; e++)
		for (int k = 1; k < 128; k++) {
			uint32_t plus = src_from_bfp8((uint8_t)k, (uint8_t)e);
			uint32_t minus = src_from_bfp8((uint8_t)(k | 128), (uint8_t)e);

			assert_true(value_of(plus) == ldexp(k, (int)e - 133));
			assert_true(value_of(minus) == -ldexp(k, (int)e - 133));
		}
	assert_int_equal(src_from_bfp8(0, 77), 0);
	assert_int_equal(src_from_bfp8(128, 77), 0xff800000); /* minus infinity */
}

static void bfp8_exponents_wrap_below_zero(void **state)
{
	(void)state;
	assert_int_equal(src_from_bfp8(1, 0), 250u << 23);
}

static void packed_bfp8_is_the_nearest_with_the_largest_exponent(void **state)
{
	uint32_t row[16];
	uint8_t exponent, to[16];

	(void)state;
	for (int n = 0; n < 20000; n++) {
		int largest = 0;

		for (int k = 0; k < 16; k++) {
			int e = 1 + (int)(next() % (n % 2 ? 254 : 12));

			row[k] = (next() & 0x807f) | (uint32_t)e << 7;
			largest = e > largest ? e : largest;
		}
		l1_from_bfp8(row, &exponent, to, 16);
		assert_int_equal(exponent, largest);
		for (int k = 0; k < 16; k++) {
			double v = fabs(value_of(row[k] << 16));
			double m = floor(ldexp(v, 133 - largest) + 0.5);
			int want = m > 127 ? 127 : (int)m;

			assert_int_equal(to[k] & 127, want);
			assert_int_equal(to[k] >> 7, want ? row[k] >> 15 & 1 : 0);
		}
	}
}

static void bf16_rounds_halves_away_from_zero(void **state)
{
	uint32_t v[] = { 0x3f808000, 0x3f807fff, 0xbf808000, 0x7f7fffff, 0x7f800001, 0x80000001,
	                 0x007fffff, 0x007f7fff, 0xff800000 };
	const uint32_t want[] = { 0x3f81, 0x3f80, 0xbf81, 0x7f80, 0x7f80, 0, 0x80, 0, 0xff80 };

	(void)state;
	bf16_from_fp32(v, 9);
	assert_memory_equal(v, want, sizeof want);
}

static void bf16_goes_in_and_out_unchanged(void **state)
{
	uint8_t l1[2 * 100], back[2 * 100];
	uint32_t v[100];

	(void)state;
	for (int k = 0; k < 200; k++)
		l1[k] = (uint8_t)next();
	src_from_bf16(l1, v, 100);
	for (int k = 0; k < 100; k++)
		v[k] >>= 16;
	l1_from_bf16(v, back, 100);
	assert_memory_equal(l1, back, sizeof l1);
}

static void tf32_and_bf16_cut_fp32_off(void **state)
{
	const uint32_t from[] = { 0x3fffffff, 0x80000001, 0x807fffff, 0x7fc01fff };
	uint32_t to[4];
	const uint32_t tf32[] = { 0x3fffe000, 0x80000000, 0x807fe000, 0x7fc00000 };
	const uint32_t bf16[] = { 0x3fff0000, 0x80000000, 0x80000000, 0x7fc00000 };

	(void)state;
	src_from_fp32((const uint8_t *)from, to, 4, false);
	assert_memory_equal(to, tf32, sizeof to);
	src_from_fp32((const uint8_t *)from, to, 4, true);
	assert_memory_equal(to, bf16, sizeof to);
}

static void sums_in_l1_round_to_even_and_have_one_nan(void **state)
{
	(void)state;
	assert_int_equal(l1_add_bf16(0x3f80, 0x3b80), 0x3f80); /* 1 + 2^-8: half, to even */
	assert_int_equal(l1_add_bf16(0x3f81, 0x3b80), 0x3f82);
	assert_int_equal(l1_add_bf16(0x7f80, 0xff80), 0x7fc0);
	assert_int_equal(l1_add_fp32(0x7f800000, 0xff800000), 0x7fc00000);
	assert_int_equal(l1_add_fp32(0x00000001, 0x00000001), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_of_bfp8_is_its_values_one_by_one),
		cmocka_unit_test(bfp8_is_magnitude_times_the_shared_power),
		cmocka_unit_test(bfp8_exponents_wrap_below_zero),
		cmocka_unit_test(packed_bfp8_is_the_nearest_with_the_largest_exponent),
		cmocka_unit_test(bf16_rounds_halves_away_from_zero),
		cmocka_unit_test(bf16_goes_in_and_out_unchanged),
		cmocka_unit_test(tf32_and_bf16_cut_fp32_off),
		cmocka_unit_test(sums_in_l1_round_to_even_and_have_one_nan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
