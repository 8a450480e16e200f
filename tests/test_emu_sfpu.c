/* The emulator's vector unit: claims about conditions, order and rounding, the
 * quick multiply-add against the plain one, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/device/tensix_ops.h"
#include "runtime/emu/core.h"
#include "runtime/emu/sfpu.h"
#include "tests/operands.h"
#include "tests/player.h"
#include "tests/ttsim.h"

enum { MATH = 1, ALL_LANES = 3 };

static EmuCore core;

static Tensix *fresh(void)
{
	tensix_reset(&core.tensix, &core);
	return &core.tensix;
}

static void run(Tensix *t, uint32_t instruction)
{
	tensix_push(t, MATH, instruction, true);
	assert_int_equal(tensix_step(t, MATH, 1), 1);
}

/* Register `reg` gets `first` in lane 0, `step` more in each lane after. */
static void ramp(Tensix *t, int reg, float first, float step)
{
	for (int lane = 0; lane < SFPU_LANES; lane++)
		t->lreg[reg][lane] = operands_float(first + (float)lane * step);
}

static void multiply_add_is_the_same_with_avx2(void **state)
{
	Operands o = { 2463534242 };

	(void)state;
	for (int n = 0; n < 20000; n++) {
		uint32_t x[SFPU_LANES], y[SFPU_LANES], z[SFPU_LANES], r[SFPU_LANES];
		unsigned kinds[3] = { operands_bits(&o), operands_bits(&o), operands_bits(&o) };

		for (int lane = 0; lane < SFPU_LANES; lane++) {
			x[lane] = operands_word(&o, kinds[0]);
			y[lane] = operands_word(&o, kinds[1]);
			z[lane] = operands_word(&o, kinds[2]);
		}
		sfpu_fma(r, x, y, z);
		for (int lane = 0; lane < SFPU_LANES; lane++)
			assert_int_equal(r[lane], sfpu_fma_one(x[lane], y[lane], z[lane]));
	}
}

static void multiply_add_takes_denormals_for_zero(void **state)
{
	(void)state;
	assert_int_equal(sfpu_fma_one(0x00400000, operands_float(0x1p127f), operands_float(1)),
			 operands_float(1));
	assert_int_equal(sfpu_fma_one(operands_float(1), operands_float(1), 0x807fffff),
			 operands_float(1));
	assert_int_equal(sfpu_fma_one(operands_float(-0x1p-100f), operands_float(0x1p-100f), 0),
			 0);
}

static void a_tie_goes_to_the_even_neighbour(void **state)
{
	(void)state;
	assert_int_equal(
		sfpu_fma_one(operands_float(0x1p-24f), operands_float(1), operands_float(1)),
		operands_float(1));
	assert_int_equal(
		sfpu_fma_one(operands_float(0x3p-24f), operands_float(1), operands_float(1)),
		operands_float(1 + 0x4p-24f));
}

static void lanes_whose_condition_is_not_set_keep_their_value(void **state)
{
	Tensix *t = fresh();

	(void)state;
	ramp(t, 0, -8, 1);
	ramp(t, 1, 100, 0);
	run(t, OP_SFPSETCC(0, 0, 0, 0));
	run(t, OP_SFPMOV(0, 1, 0));
	for (int lane = 0; lane < SFPU_LANES; lane++)
		assert_int_equal(t->lreg[1][lane],
				 lane < 8 ? operands_float((float)lane - 8)
					  : operands_float(100));
}

/* if (a < 0) { if (b == 0) x = 1 else x = 2 } else x = 3, by lanes. */
static void branches_nest(void **state)
{
	Tensix *t = fresh();

	(void)state;
	ramp(t, 0, -16, 1);
	for (int lane = 0; lane < SFPU_LANES; lane++)
		t->lreg[1][lane] = lane & 1;
	run(t, OP_SFPPUSHC(0, 0));
	run(t, OP_SFPSETCC(0, 0, 0, 0));
	run(t, OP_SFPPUSHC(0, 0));
	run(t, OP_SFPSETCC(6, 0, 1, 0));
	run(t, OP_SFPLOADI(1, 2, 2));
	run(t, OP_SFPCOMPC(0));
	run(t, OP_SFPLOADI(2, 2, 2));
	run(t, OP_SFPPOPC(0, 0));
	run(t, OP_SFPCOMPC(0));
	run(t, OP_SFPLOADI(3, 2, 2));
	run(t, OP_SFPPOPC(0, 0));
	for (int lane = 0; lane < SFPU_LANES; lane++)
		assert_int_equal(t->lreg[2][lane], lane >= 16 ? 3 : lane & 1 ? 2 : 1);
	assert_int_equal(t->cc, 0xffffffff);
}

static void swap_sorts_numbers_of_both_signs(void **state)
{
	Tensix *t = fresh();

	(void)state;
	ramp(t, 0, -4.5f, 0.5f);
	ramp(t, 1, 4.25f, -0.5f);
	run(t, OP_SFPSWAP(1, 0, 1));
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		float up = -4.5f + 0.5f * (float)lane, down = 4.25f - 0.5f * (float)lane;

		assert_int_equal(t->lreg[0][lane], operands_float(up < down ? up : down));
		assert_int_equal(t->lreg[1][lane], operands_float(up < down ? down : up));
	}
}

static void transposing_twice_changes_nothing(void **state)
{
	Tensix *t = fresh();
	uint32_t before[8][SFPU_LANES];

	(void)state;
	for (int reg = 0; reg < 8; reg++)
		ramp(t, reg, (float)(reg * 100), 1);
	memcpy(before, t->lreg, sizeof before);
	run(t, OP_SFPTRANSP(0));
	assert_int_equal(t->lreg[0][8], before[1][0]);
	assert_int_equal(t->lreg[3][16 + 5], before[2][24 + 5]);
	run(t, OP_SFPTRANSP(0));
	assert_memory_equal(before, t->lreg, sizeof before);
}

/* Lanes are four rows of eight, of the even columns and then the odd ones. */
static void two_loads_read_four_rows_of_dst(void **state)
{
	Tensix *t = fresh();

	(void)state;
	for (int row = 0; row < 8; row++)
		for (int column = 0; column < ROW_VALUES; column++)
			t->dst[row][column] = (uint16_t)(0x4000 + row * 16 + column);
	run(t, OP_SFPLOAD(4, 0, 2, 0));
	run(t, OP_SFPLOAD(6, 0, 2, 1));
	for (uint32_t lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t even = 0x4000 + (4 + lane / 8) * 16 + lane % 8 * 2;

		assert_int_equal(t->lreg[0][lane], even << 16);
		assert_int_equal(t->lreg[1][lane], (even + 1) << 16);
	}
}

/* What the vendor's simulator ends at, the emulator ends at too. */
static void modes_nobody_has_are_refused(void **state)
{
	static const uint32_t refused[] = {
		OP_MVMUL(1, 0, 0, 0),
		OP_MVMUL(0, 0, 1, 0),
		OP_ELWMUL(0, 0, 0, 1, 0),
		OP_GMPOOL(0, 1, 0, 1, 0),
		OP_GAPOOL(0, 0, 0, 0, 0),
		OP_MOVA2D(0, 0, 0, 0, 0),
		OP_MOVB2D(0, 0, 0, 0, 0),
		OP_MOVD2A(0, 1, 0, 0, 0),
		OP_ZEROACC(0, 0, 4),
		OP_ZEROACC(1, 0, 3),
		OP_ZEROSRC(0, 0, 1, 0),
		OP_CLEARDVALID(1, 3),
		OP_SETRWC(0, 0, 0, 0, 1, 0),
		OP_SETRWC(0, 0, 0, 0, 0, 1),
		OP_INCRWC(0, 0, 0, 1),
		OP_SFPLOAD(1, 0, 0, 0),
		OP_SFPLOAD(0, 0, 5, 0),
		OP_SFPLOADI(0, 3, 0),
		OP_SFPLOADI(0, 0, 8),
		OP_SFPSTORE(0, 0, 8, 0),
		OP_SFPMAD(1, 0, 0, 0, 0),
		OP_SFPADD(0, 0, 0, 1, 2),
		OP_SFPMUL(0, 0, 0, 1, 2),
		OP_SFPLUT(0, 0),
		OP_SFPLUTFP32(0, 0),
		OP_SFPIADD(3, 0, 0, 0),
		OP_SFPSHFT2(4, 0, 0, 0),
		OP_SFPSETCC(1, 0, 0, 0),
		OP_SFPENCC(2, 0, 0),
		OP_SFPPOPC(0, 0),
		OP_SFPCAST(1, 0, 0),
		OP_SFP_STOCH_RND(0, 0, 0, 0, 0, 0),
		OP_SFP_STOCH_RND(1, 0, 0, 0, 0, 1),
		OP_SFPCONFIG(1, 15, 1),
		OP_SFPSWAP(4, 0, 1),
		OP_SFPMOV(0, 8, 0),
	};

	(void)state;
	for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
		Player *p = player_new();
		uint8_t data[16] = { 0 };

		player_op(p, MATH, refused[k]);
		assert_false(player_on_emu(p, data, sizeof data));
		if (ttsim_there())
			assert_false(player_on_ttsim(p, data, sizeof data));
		player_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tie_goes_to_the_even_neighbour),
		cmocka_unit_test(branches_nest),
		cmocka_unit_test(lanes_whose_condition_is_not_set_keep_their_value),
		cmocka_unit_test(modes_nobody_has_are_refused),
		cmocka_unit_test(multiply_add_is_the_same_with_avx2),
		cmocka_unit_test(multiply_add_takes_denormals_for_zero),
		cmocka_unit_test(swap_sorts_numbers_of_both_signs),
		cmocka_unit_test(transposing_twice_changes_nothing),
		cmocka_unit_test(two_loads_read_four_rows_of_dst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
