/* Arithmetic of the emulator's matrix unit: known values, and the quick routines
 * against the plain ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/device/tensix_ops.h"
#include "runtime/emu/core.h"
#include "runtime/emu/matrix.h"
#include "tests/operands.h"

typedef struct Case {
	uint32_t a[16][16], b[8][16];
	uint16_t high[8][16], low[8][16];
	bool wide;
	uint32_t a_mask, b_mask, phase;
} Case;

static Case random_case(Operands *o)
{
	unsigned kind_a = operands_bits(o), kind_b = operands_bits(o), kind_d = operands_bits(o);
	Case c = { .wide = operands_bits(o) & 1, .phase = operands_bits(o) & 3 };

	for (int k = 0; k < 256; k++)
		c.a[k / 16][k % 16] = operands_word(o, kind_a) & 0xffffe000;
	for (int k = 0; k < 128; k++) {
		uint32_t d = operands_word(o, kind_d);

		c.b[k / 16][k % 16] = operands_word(o, kind_b) & 0xffffe000;
		c.high[k / 16][k % 16] = (uint16_t)(d >> 16);
		c.low[k / 16][k % 16] = (uint16_t)d;
	}
	c.a_mask = operands_bits(o) & 1 ? 0xffffe000 : 0xffff0000;
	c.b_mask = operands_bits(o) & 1 ? 0xffffe000 : 0xffff0000;
	return c;
}

static MatrixSource source_a(const Case *c)
{
	return (MatrixSource){ c->a, c->a_mask };
}
static MatrixSource source_b(const Case *c)
{
	return (MatrixSource){ c->b, c->b_mask };
}
static MatrixResult result_of(Case *c)
{
	return (MatrixResult){ c->high, c->wide ? c->low : NULL };
}

static float value_at(const Case *c, int row, int column)
{
	uint32_t bits = (uint32_t)c->high[row][column] << 16 |
		(c->wide ? c->low[row][column] : 0);
	float v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

static void compare_products(MatrixProduct *product)
{
	Operands o = { 88172645463325252u };

	for (int n = 0; n < 4000; n++) {
		Case plain = random_case(&o), quick = plain;
		MatrixFace f;
		MatrixRows r;

		matrix_product_portable(result_of(&plain), source_a(&plain), source_b(&plain), 8,
					plain.phase);
		matrix_face_avx2(&f, source_a(&quick), quick.phase & 1);
		matrix_rows_avx2(&r, source_b(&quick), quick.phase >> 1);
		matrix_product_with(product, result_of(&quick), &f, &r,
				    (MatrixFactors){ source_a(&quick), source_b(&quick) }, 8,
				    quick.phase);
		assert_memory_equal(&plain, &quick, sizeof plain);
	}
}

static void product_is_the_same_with_avx2(void **state)
{
	(void)state;
	if (!matrix_has_avx2())
		skip();
	compare_products(matrix_product_avx2);
}

static void product_is_the_same_with_avx512(void **state)
{
	(void)state;
	if (!matrix_has_avx512())
		skip();
	compare_products(matrix_product_avx512);
}

static void elements_are_the_same_with_avx2(void **state)
{
	Operands o = { 362436069362436069u };

	(void)state;
	if (!matrix_has_avx2())
		skip();
	for (int n = 0; n < 6000; n++) {
		Case plain = random_case(&o), quick = plain;
		MatrixElement op = n % 3;
		MatrixBroadcast how = { n / 3 & 1, n / 6 & 1 };
		bool onto = op == MATRIX_MUL || n / 12 & 1;

		matrix_element_portable(result_of(&plain), source_a(&plain), source_b(&plain), op,
					how, onto, plain.phase);
		matrix_element_avx2(result_of(&quick), source_a(&quick), source_b(&quick), op,
				    how, onto, quick.phase);
		assert_memory_equal(&plain, &quick, sizeof plain);
	}
}

/* Small integers times small integers: the first phase has them whole. */
static Case small_integers(void)
{
	Case c = { .wide = true, .a_mask = 0xffff0000, .b_mask = 0xffff0000 };

	for (int k = 0; k < 256; k++)
		c.a[k / 16][k % 16] = operands_float((float)(k * 7 % 23 - 11));
	for (int k = 0; k < 128; k++)
		c.b[k / 16][k % 16] = operands_float((float)(k * 5 % 31 - 15));
	return c;
}

static void product_of_small_integers_is_exact(void **state)
{
	Case c = small_integers();

	(void)state;
	for (int times = 1; times <= 3; times++) {
		matrix_product_portable(result_of(&c), source_a(&c), source_b(&c), 8, 0);
		for (int row = 0; row < 8; row++) {
			for (int column = 0; column < 16; column++) {
				int sum = 0;

				for (int k = 0; k < 16; k++)
					sum += ((row * 16 + k) * 5 % 31 - 15) *
						((k * 16 + column) * 7 % 23 - 11);
				assert_true(value_at(&c, row, column) == (float)(sum * times));
			}
		}
	}
}

/* Of 1.0 times 1 + 2^-5 the first phase sees 1, the second what is missing. */
static void phases_add_up_to_the_whole_mantissa(void **state)
{
	Case c = { .wide = true, .a_mask = 0xffff0000, .b_mask = 0xffff0000 };

	(void)state;
	c.a[0][0] = operands_float(1.03125f);
	c.b[0][0] = operands_float(1.0f);
	matrix_product_portable(result_of(&c), source_a(&c), source_b(&c), 8, 0);
	assert_true(value_at(&c, 0, 0) == 1.0f);
	matrix_product_portable(result_of(&c), source_a(&c), source_b(&c), 8, 1);
	assert_true(value_at(&c, 0, 0) == 1.03125f);
}

static void too_large_a_sum_is_infinite_and_too_small_a_one_zero(void **state)
{
	Case c = { .wide = true, .a_mask = 0xffff0000, .b_mask = 0xffff0000 };

	(void)state;
	c.a[0][0] = c.a[0][1] = operands_float(-0x1p127f);
	c.a[0][2] = operands_float(0x1p-126f);
	c.b[0][0] = operands_float(0x1p127f);
	c.b[1][0] = operands_float(0x1p-20f);
	matrix_product_portable(result_of(&c), source_a(&c), source_b(&c), 8, 0);
	assert_true(value_at(&c, 0, 0) == -INFINITY);
	assert_int_equal(operands_float(value_at(&c, 1, 2)), 0);
}

/* Dst of 16 bits keeps eight bits of a sum, ties away from zero. */
static void narrow_dst_rounds_every_sum(void **state)
{
	Case c = { .wide = false, .a_mask = 0xffff0000, .b_mask = 0xffff0000 };

	(void)state;
	c.a[0][0] = operands_float(1.0f);
	c.b[0][0] = operands_float(1.0f);
	for (int times = 0; times < 300; times++)
		matrix_product_portable(result_of(&c), source_a(&c), source_b(&c), 8, 0);
	assert_true(value_at(&c, 0, 0) == 256.0f + 2 * 44);
}

static void fast_product_is_near_the_exact_one(void **state)
{
	Operands o = { 521288629 };

	(void)state;
	for (int n = 0; n < 200; n++) {
		Case c = { .wide = n & 1, .a_mask = 0xffff0000, .b_mask = 0xffff0000 }, fast;

		for (int k = 0; k < 256; k++)
			c.a[k / 16][k % 16] = operands_word(&o, 1) & 0xffff0000;
		for (int k = 0; k < 128; k++)
			c.b[k / 16][k % 16] = operands_word(&o, 1) & 0xffff0000;
		fast = c;
		for (uint32_t phase = 0; phase < 4; phase++)
			matrix_product_portable(result_of(&c), source_a(&c), source_b(&c), 8,
						phase);
		matrix_products_fast(result_of(&fast),
				     &(MatrixFactors){ source_a(&fast), source_b(&fast) }, 1, 8);
		/* Sixteen products of at most 2^14 each, aligned to 12 bits in every
		 * phase, and the sum to 8 bits in a narrow Dst. */
		for (int k = 0; k < 128; k++)
			assert_true(fabsf(value_at(&c, k / 16, k % 16) -
					  value_at(&fast, k / 16, k % 16)) <=
				    0x1p14f * 16 * (c.wide ? 0x1p-11f : 0x1p-6f));
	}
}

/* Both phases of a product from the queue, with SrcA and SrcB of one value each. */
static uint32_t product_of_instructions(bool fast, float a, float b)
{
	enum { MATH = 1, NEXT_PHASE = 1 << 13 };
	static EmuCore core;
	Tensix *t = &core.tensix;

	tensix_reset(t, &core);
	t->fast = fast;
	t->cfg[0][1] = 5u << 17 | 5u << 21 | 1u << 29; /* bf16 sources, fp32 Dst */
	t->thread[MATH].cfg[TCFG_ADDR_MOD_DST_SEC0_DestIncr.word] = NEXT_PHASE;
	t->a.valid[0] = t->b.valid[0] = true;
	t->a.rows[0][0][0] = operands_float(a);
	t->b.rows[0][0][0] = operands_float(b);
	for (int phase = 0; phase < 2; phase++)
		tensix_push(t, MATH, OP_MVMUL(0, 0, 0, 0), true);
	assert_int_equal(tensix_step(t, MATH, 2), 2);
	return (uint32_t)t->dst[0][0] << 16 | t->dst[DST32_LOW][0];
}

static void fast_adds_a_product_once_whatever_the_phases(void **state)
{
	(void)state;
	assert_int_equal(product_of_instructions(true, 1.5f, 2.25f), operands_float(3.375f));
	assert_int_equal(product_of_instructions(false, 1.5f, 2.25f), operands_float(3.375f));
	assert_int_equal(product_of_instructions(true, 1.0078125f, -1.0078125f),
			 operands_float(-1.0078125f * 1.0078125f));
}

static void difference_of_equal_values_is_zero(void **state)
{
	Case c = small_integers();

	(void)state;
	matrix_element_portable(result_of(&c), source_b(&c), source_b(&c), MATRIX_SUB,
				(MatrixBroadcast){ 1, 1 }, false, 0);
	for (int k = 0; k < 128; k++)
		assert_int_equal(operands_float(value_at(&c, k / 16, k % 16)), 0);
}

static void one_row_and_one_column_go_to_all(void **state)
{
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		Case c = small_integers();

		matrix_element_portable(result_of(&c), source_a(&c), source_b(&c), MATRIX_ADD,
					(MatrixBroadcast){ mode & 2 ? 0 : 1, mode & 1 ? 0 : 1 },
					false, 0);
		for (int k = 0; k < 128; k++) {
			int at = (mode & 2 ? 0 : k / 16) * 16 + (mode & 1 ? 0 : k % 16);

			assert_true(value_at(&c, k / 16, k % 16) ==
				    (float)(k * 7 % 23 - 11 + at * 5 % 31 - 15));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(difference_of_equal_values_is_zero),
		cmocka_unit_test(elements_are_the_same_with_avx2),
		cmocka_unit_test(fast_adds_a_product_once_whatever_the_phases),
		cmocka_unit_test(fast_product_is_near_the_exact_one),
		cmocka_unit_test(narrow_dst_rounds_every_sum),
		cmocka_unit_test(one_row_and_one_column_go_to_all),
		cmocka_unit_test(phases_add_up_to_the_whole_mantissa),
		cmocka_unit_test(product_is_the_same_with_avx2),
		cmocka_unit_test(product_is_the_same_with_avx512),
		cmocka_unit_test(product_of_small_integers_is_exact),
		cmocka_unit_test(too_large_a_sum_is_infinite_and_too_small_a_one_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
