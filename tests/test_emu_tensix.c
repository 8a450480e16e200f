#include "tests/check.h"

#include <string.h>

#include "ir/cost.h"
#include "runtime/device/tensix_ops.h"
#include "runtime/emu/machine.h"

enum { UNPACK, MATH, PACK };

static int setup(void **state)
{
	Emu *e = emu_open(&(EmuOptions){ .threads = 1 });

	*state = e;
	return e ? 0 : -1;
}

static int teardown(void **state)
{
	emu_close(*state);
	return 0;
}

static Tensix *tensix_of(void **state)
{
	return &((Emu *)*state)->core[0]->tensix;
}

static void assert_queued(const Tensix *t, int thread, const uint32_t *want, uint32_t n)
{
	const TensixThread *th = &t->thread[thread];

	assert_int_equal(tensix_queued(t, thread), n);
	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(th->fifo[(th->head + k) % FIFO_SLOTS], want[k]);
}

static void run(Tensix *t, int thread, uint32_t i)
{
	tensix_push(t, thread, i, true);
	assert_int_equal(tensix_step(t, thread, 1), 1);
}

static void assert_refused(Tensix *t, int thread, uint32_t i, const char *why)
{
	EmuCore *c = t->core;

	tensix_push(t, thread, i, true);
	assert_int_equal(tensix_step(t, thread, 1), 0);
	assert_true(c->faulted);
	assert_non_null(strstr(c->report[c->report_count - 1].text, why));
	assert_non_null(strstr(c->report[c->report_count - 1].text, tensix_op_name(i)));
}

/* ---- expanders ---- */

static void nested_mop_alternates_and_ends_its_loops(void **state)
{
	Tensix *t = tensix_of(state);
	const uint32_t cfg[9] = { 2, 2, 0xf0000001, 0xf0000002, 0xf0000003, 0xf000000a,
	                          0xf000000b, 0xf0000007, 0xf0000008 };
	const uint32_t want[] = {
		0xf0000001, 0xf000000a, 0xf000000b, 0xf000000a, 0xf0000008, 0xf0000002, 0xf0000003,
		0xf0000001, 0xf000000a, 0xf000000b, 0xf000000a, 0xf0000007, 0xf0000002, 0xf0000003,
	};

	memcpy(t->thread[MATH].mop_cfg, cfg, sizeof cfg);
	tensix_push(t, MATH, OP_MOP(1, 0, 0), true);
	assert_queued(t, MATH, want, 14);
}

static void nested_mop_leaves_out_nops(void **state)
{
	Tensix *t = tensix_of(state);
	const uint32_t nop = OP_NOP(), cfg[9] = { 1, 3, nop, nop, 0xf0000003, 0xf000000a, nop,
	                                          0xf0000007, 0xf0000008 };
	const uint32_t want[] = { 0xf000000a, 0xf000000a, 0xf0000007 };

	memcpy(t->thread[MATH].mop_cfg, cfg, sizeof cfg);
	tensix_push(t, MATH, OP_MOP(1, 0, 0), true);
	assert_queued(t, MATH, want, 3);
}

static void masked_mop_takes_a_turn_for_each_bit(void **state)
{
	Tensix *t = tensix_of(state);
	const uint32_t cfg[9] = { 0, 3, 0xf00000b0, 0xf00000a0, 0xf00000a1, 0xf00000a2,
	                          0xf00000a3, 0xf00000d0, 0xf00000d1 };
	const uint32_t want[] = {
		0xf00000d0, 0xf00000d1, 0xf00000a0, 0xf00000a1, 0xf00000a2, 0xf00000a3, 0xf00000b0,
		0xf00000d0, 0xf00000d1,
	};

	memcpy(t->thread[UNPACK].mop_cfg, cfg, sizeof cfg);
	tensix_push(t, UNPACK, OP_MOP(0, 2, 5), true);
	assert_queued(t, UNPACK, want, 9);
}

static void upper_half_of_a_mask_comes_from_mop_cfg(void **state)
{
	Tensix *t = tensix_of(state);
	const uint32_t cfg[9] = { 0, 0, 0, 0xf00000a0, 0, 0, 0, 0xf00000d0, 0 };

	memcpy(t->thread[UNPACK].mop_cfg, cfg, sizeof cfg);
	tensix_push(t, UNPACK, OP_MOP_CFG(1), true);
	tensix_push(t, UNPACK, OP_MOP(0, 16, 0), true);
	assert_int_equal(tensix_queued(t, UNPACK), 17);
	assert_int_equal(t->thread[UNPACK].fifo[15], 0xf00000a0);
	assert_int_equal(t->thread[UNPACK].fifo[16], 0xf00000d0);
}

static void replay_wraps_around_its_slots(void **state)
{
	Tensix *t = tensix_of(state);
	const uint32_t want[] = { 0xf0000001, 0xf0000002, 0xf0000003 };

	tensix_push(t, PACK, OP_REPLAY(30, 3, 0, 1), true);
	for (int k = 0; k < 3; k++)
		tensix_push(t, PACK, want[k], true);
	assert_int_equal(tensix_queued(t, PACK), 0);
	assert_int_equal(t->thread[PACK].replay[0], want[2]);
	tensix_push(t, PACK, OP_REPLAY(30, 3, 0, 0), true);
	assert_queued(t, PACK, want, 3);
}

static void replay_can_execute_while_it_loads(void **state)
{
	Tensix *t = tensix_of(state);
	const uint32_t want[] = { 0xf0000001, 0xf0000002, 0xf0000001, 0xf0000002 };

	tensix_push(t, PACK, OP_REPLAY(4, 2, 1, 1), true);
	tensix_push(t, PACK, want[0], true);
	tensix_push(t, PACK, want[1], true);
	tensix_push(t, PACK, OP_REPLAY(4, 2, 0, 0), true);
	assert_queued(t, PACK, want, 4);
}

static void mop_replays(void **state)
{
	Tensix *t = tensix_of(state);
	const uint32_t nop = OP_NOP(), again = OP_REPLAY(0, 2, 0, 0);
	const uint32_t cfg[9] = { 1, 2, nop, 0xf0000009, nop, again, nop, again, again };
	const uint32_t want[] = { 0xf0000001, 0xf0000002, 0xf0000001, 0xf0000002, 0xf0000009 };

	memcpy(t->thread[MATH].mop_cfg, cfg, sizeof cfg);
	tensix_push(t, MATH, OP_REPLAY(0, 2, 0, 1), true);
	tensix_push(t, MATH, want[0], true);
	tensix_push(t, MATH, want[1], true);
	tensix_push(t, MATH, OP_MOP(1, 0, 0), true);
	assert_queued(t, MATH, want, 5);
	assert_true(t->thread[MATH].expanded[0]);
}

static void a_mop_past_the_expander_is_refused(void **state)
{
	Tensix *t = tensix_of(state);

	tensix_push(t, UNPACK, OP_MOP(1, 0, 0), false);
	assert_int_equal(tensix_step(t, UNPACK, 1), 0);
	assert_true(t->core->faulted);
}

static void queue_overflow_is_an_error(void **state)
{
	Tensix *t = tensix_of(state);

	for (int k = 0; k < FIFO_SLOTS; k++)
		tensix_push(t, MATH, OP_DMANOP(), true);
	assert_false(t->core->faulted);
	tensix_push(t, MATH, OP_DMANOP(), true);
	assert_true(t->core->faulted);
}

/* ---- address counters ---- */

static void address_counters_are_set_by_mask(void **state)
{
	Tensix *t = tensix_of(state);
	const Adc *adc = t->thread[UNPACK].adc;

	run(t, UNPACK, OP_SETADCXY(0xb, 1, 2, 3, 4, 1));
	assert_int_equal(adc[ADC_UNPACK0].ch[0].x, 1);
	assert_int_equal(adc[ADC_UNPACK0].ch[0].y, 2);
	assert_int_equal(adc[ADC_UNPACK0].ch[1].x, 0); /* bit 2 of the mask is off */
	assert_int_equal(adc[ADC_UNPACK0].ch[1].y, 4);
	assert_int_equal(adc[ADC_UNPACK1].ch[0].x, 0);
	run(t, UNPACK, OP_SETADC(0x1234, 0, 1, 6));
	assert_int_equal(adc[ADC_UNPACK1].ch[1].x, 0x1234);
	assert_int_equal(adc[ADC_PACK].ch[1].x, 0x1234);
	assert_int_equal(adc[ADC_UNPACK0].ch[1].x, 0);
}

static void address_counters_wrap_at_their_width(void **state)
{
	Tensix *t = tensix_of(state);
	const AdcChannel *ch = &t->thread[PACK].adc[ADC_PACK].ch[0];

	run(t, PACK, OP_SETADC(0xff, 2, 0, 4));
	run(t, PACK, OP_INCADCZW(3, 0, 0, 0, 4));
	assert_int_equal(ch->z, 2);
	run(t, PACK, OP_SETADC(0x1fff, 1, 0, 4));
	run(t, PACK, OP_INCADCXY(0, 2, 0, 0, 4));
	assert_int_equal(ch->y, 1);
}

static void carriage_returns_move_from_where_the_counter_was_set(void **state)
{
	Tensix *t = tensix_of(state);
	const AdcChannel *ch = &t->thread[PACK].adc[ADC_PACK].ch[1];

	run(t, PACK, OP_SETADCZW(4, 0, 0, 5, 0, 4));
	run(t, PACK, OP_INCADCZW(0, 0, 3, 0, 4));
	assert_int_equal(ch->z, 8);
	run(t, PACK, OP_ADDRCRZW(4, 0, 0, 1, 0, 4));
	assert_int_equal(ch->z, 6);
	assert_int_equal(ch->z_cr, 6);
}

/* ---- register window counters ---- */

static void address_modifiers_move_register_windows(void **state)
{
	Tensix *t = tensix_of(state);
	TensixThread *th = &t->thread[MATH];

	/* Modifier 1: A + 8, B to its start + 16; Dst + 1020, fidelity + 1. */
	run(t, MATH, OP_SETC16(8 | 1 << 14 | 16 << 8, 9));
	run(t, MATH, OP_SETC16(1020 | 1 << 13, 24));
	th->rwc.srcb = 40;
	th->rwc.srcb_cr = 32;
	tensix_advance(t, MATH, 1, true);
	assert_int_equal(th->rwc.srca, 8);
	assert_int_equal(th->rwc.srcb, 48);
	assert_int_equal(th->rwc.srcb_cr, 48);
	assert_int_equal(th->rwc.fidelity, 1);
	tensix_advance(t, MATH, 1, false);
	assert_int_equal(th->rwc.dst, 1016); /* 2040 mod 1024 */
	assert_int_equal(th->rwc.srcb, 0);   /* 64 mod 64 */
	assert_int_equal(th->rwc.fidelity, 1);
}

static void bias_selects_the_upper_modifiers(void **state)
{
	Tensix *t = tensix_of(state);
	TensixThread *th = &t->thread[MATH];

	run(t, MATH, OP_SETC16(1, 48)); /* modifier 0 switches */
	run(t, MATH, OP_SETC16(4, 15)); /* modifier 4: A + 4 */
	tensix_advance(t, MATH, 0, false);
	assert_int_equal(th->rwc.srca, 0);
	tensix_advance(t, MATH, 0, false);
	assert_int_equal(th->rwc.srca, 4);
}

/* ---- configuration ---- */

static void bytes_of_a_word_change_by_mask(void **state)
{
	Tensix *t = tensix_of(state);

	tensix_cfg_write(t, BRISC, 0, 56, 0x12345678);
	run(t, UNPACK, OP_RMWCIB1(56, 0xff, 0x0f));
	assert_int_equal(t->cfg[0][56], 0x12345f78);
	assert_int_equal(tensix_cfg_read(t, BRISC, 0, 56), 0x12345f78);
}

static void registers_reach_the_bank_the_thread_uses(void **state)
{
	Tensix *t = tensix_of(state);

	run(t, PACK, OP_SETC16(1, 0));
	run(t, PACK, OP_SETDMAREG(24, 0, 0x1234, 1));
	run(t, PACK, OP_SETDMAREG(25, 0, 0x0567, 2));
	run(t, PACK, OP_REG2FLOP(12, 57 - 52, 0, 0, 0, 1));
	assert_int_equal(t->cfg[1][57], 0x85675234);
	assert_int_equal(t->cfg[0][57], 0);
	run(t, PACK, OP_RDCFG(57, 3));
	assert_int_equal(t->thread[PACK].gpr[3], 0x85675234);
}

static void words_that_are_not_there_are_refused(void **state)
{
	Tensix *t = tensix_of(state);

	tensix_cfg_write(t, BRISC, 0, 5, 1);
	assert_true(t->core->faulted);
	assert_non_null(strstr(t->core->report[0].text, "word 5"));
}

/* ---- sync ---- */

static void semaphores_hold_a_thread_up(void **state)
{
	Tensix *t = tensix_of(state);
	char text[80];

	run(t, MATH, OP_SEMINIT(2, 0, 1));
	tensix_push(t, PACK, OP_SEMWAIT(1, 2, 1), true);
	assert_int_equal(tensix_step(t, PACK, 9), 0);
	assert_string_equal(tensix_waits(t, PACK, text, sizeof text), "SEMWAIT on semaphore 1 (is 0)");
	run(t, MATH, OP_SEMPOST(2));
	tensix_push(t, MATH, OP_SEMWAIT(2, 2, 1), true);
	assert_int_equal(tensix_step(t, MATH, 9), 0);
	assert_string_equal(tensix_waits(t, MATH, text, sizeof text),
	                    "SEMWAIT on semaphore 1 (is 1, its maximum)");
	assert_int_equal(tensix_step(t, PACK, 9), 1);
	assert_null(tensix_waits(t, PACK, text, sizeof text));
	run(t, PACK, OP_SEMGET(2));
	assert_int_equal(tensix_step(t, MATH, 9), 1);
}

static void a_semaphore_does_not_pass_its_maximum(void **state)
{
	run(tensix_of(state), MATH, OP_SEMINIT(2, 1, 1));
	assert_refused(tensix_of(state), MATH, OP_SEMPOST(2), "maximum");
}

static void a_semaphore_does_not_fall_below_zero(void **state)
{
	assert_refused(tensix_of(state), MATH, OP_SEMGET(4), "zero");
}

static void a_mutex_is_had_by_one_thread(void **state)
{
	Tensix *t = tensix_of(state);

	run(t, UNPACK, OP_ATGETM(0));
	tensix_push(t, PACK, OP_ATGETM(0), true);
	assert_int_equal(tensix_step(t, PACK, 1), 0);
	run(t, UNPACK, OP_ATRELM(0));
	assert_int_equal(tensix_step(t, PACK, 1), 1);
}

static void stalls_on_source_banks_wait(void **state)
{
	Tensix *t = tensix_of(state);
	char text[80];

	tensix_push(t, MATH, OP_STALLWAIT(0xc00, 0x40), true);
	run(t, UNPACK, OP_UNPACR_NOP(7, 0));
	assert_int_equal(tensix_step(t, MATH, 1), 0);
	assert_string_equal(tensix_waits(t, MATH, text, sizeof text), "STALLWAIT for SrcB to be valid");
	run(t, UNPACK, OP_UNPACR_NOP(7, 1));
	assert_int_equal(tensix_step(t, MATH, 1), 1);
	run(t, MATH, OP_STALLWAIT(0x80, 0x40)); /* units are never busy */
}

static void unpackers_wait_for_a_bank(void **state)
{
	Tensix *t = tensix_of(state);
	char text[80];

	run(t, UNPACK, OP_UNPACR_NOP(7, 0));
	run(t, UNPACK, OP_UNPACR_NOP(7, 0));
	tensix_push(t, UNPACK, OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0), true);
	assert_int_equal(tensix_step(t, UNPACK, 1), 0);
	assert_string_equal(tensix_waits(t, UNPACK, text, sizeof text), "UNPACR for SrcA to be free");
}

/* ---- what is not known ---- */

static void unknown_bits_are_refused(void **state)
{
	assert_refused(tensix_of(state), PACK, OP_PACR(1, 0, 0, 0, 15, 0, 0) | 1 << 13, "unused bits");
}

static void refused_operands_are_named(void **state)
{
	assert_refused(tensix_of(state), UNPACK, OP_UNPACR(1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0),
	               "auto_inc_context_id = 1");
}

static void a_packer_wants_its_formats_known(void **state)
{
	assert_refused(tensix_of(state), PACK, OP_PACR(1, 0, 0, 0, 5, 0, 0), "pack_sel = 5");
}

static void instructions_are_counted(void **state)
{
	Tensix *t = tensix_of(state);
	int64_t *counters = t->core->counters;

	run(t, MATH, OP_SEMINIT(2, 0, 1));
	run(t, PACK, OP_SEMINIT(2, 0, 1));
	run(t, UNPACK, OP_UNPACR_NOP(1, 0));
	assert_int_equal(counters[COUNTER_math_others], 1);
	assert_int_equal(counters[COUNTER_unpack_others], 1);
	assert_int_equal(counters[COUNTER_pack_others], 1);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(nested_mop_alternates_and_ends_its_loops),
		CLAIM(nested_mop_leaves_out_nops),
		CLAIM(masked_mop_takes_a_turn_for_each_bit),
		CLAIM(upper_half_of_a_mask_comes_from_mop_cfg),
		CLAIM(replay_wraps_around_its_slots),
		CLAIM(replay_can_execute_while_it_loads),
		CLAIM(mop_replays),
		CLAIM(a_mop_past_the_expander_is_refused),
		CLAIM(queue_overflow_is_an_error),
		CLAIM(address_counters_are_set_by_mask),
		CLAIM(address_counters_wrap_at_their_width),
		CLAIM(carriage_returns_move_from_where_the_counter_was_set),
		CLAIM(address_modifiers_move_register_windows),
		CLAIM(bias_selects_the_upper_modifiers),
		CLAIM(bytes_of_a_word_change_by_mask),
		CLAIM(registers_reach_the_bank_the_thread_uses),
		CLAIM(words_that_are_not_there_are_refused),
		CLAIM(semaphores_hold_a_thread_up),
		CLAIM(a_semaphore_does_not_pass_its_maximum),
		CLAIM(a_semaphore_does_not_fall_below_zero),
		CLAIM(a_mutex_is_had_by_one_thread),
		CLAIM(stalls_on_source_banks_wait),
		CLAIM(unpackers_wait_for_a_bank),
		CLAIM(unknown_bits_are_refused),
		CLAIM(refused_operands_are_named),
		CLAIM(a_packer_wants_its_formats_known),
		CLAIM(instructions_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
