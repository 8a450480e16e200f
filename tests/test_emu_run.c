/* MVMULs executed as one do what they do one by one. */
#include "tests/check.h"

#include <string.h>

#include "ir/cost.h"
#include "runtime/device/tensix_ops.h"
#include "runtime/emu/fpu.h"
#include "runtime/emu/machine.h"
#include "runtime/emu/shadow_state.h"
#include "tests/operands.h"

enum { MATH = 1, PACK = 2, LONG = 100, BF16_SOURCES = 5 << 17 | 5 << 21, WIDE = 1 << 29 };

typedef struct Machine {
	EmuCore core;
	int64_t counted[COUNTER_COUNT];
} Machine;

static Emu emu;

/* Steps of the counters that stay within faces, and once in a while do not. */
static void random_modifiers(Operands *o, TensixThread *th)
{
	for (int mode = 0; mode < 8; mode++) {
		const uint32_t a = operands_bits(o) % 3 * 16;
		const uint32_t b = operands_bits(o) % 4 * 8 + (operands_bits(o) % 16 == 0) * 4;
		const uint32_t d = operands_bits(o) % 4 * 8 + (operands_bits(o) % 16 == 0);
		uint16_t *ab = &th->cfg[TCFG_ADDR_MOD_AB_SEC0_SrcAIncr.word + 2 * mode];

		*ab = (uint16_t)(a | (operands_bits(o) & 3) << 6 | b << 8 |
				 (operands_bits(o) & 3) << 14);
		th->cfg[TCFG_ADDR_MOD_DST_SEC0_DestIncr.word + mode] =
			(uint16_t)(d | (operands_bits(o) & 3) << 10 | (operands_bits(o) & 1) << 13 |
				   (uint32_t)(operands_bits(o) % 32 == 0) << 12 |
				   (uint32_t)(operands_bits(o) % 8 == 0) << 15);
		th->cfg[TCFG_ADDR_MOD_BIAS_SEC0_BiasIncr.word + mode] = operands_bits(o) % 8 == 0;
	}
}

static void random_machine(Operands *o, Machine *m, bool fast, bool wide)
{
	Tensix *t = &m->core.tensix;

	tensix_reset(t, &m->core);
	m->core.emu = &emu; /* reports ask it for the op */
	m->core.counters = m->counted;
	m->core.shadow = shadow_new();
	assert_non_null(m->core.shadow);
	t->fast = fast;
	t->cfg[0][1] = BF16_SOURCES | (wide ? WIDE : 0);
	t->a.valid[0] = t->b.valid[0] = t->a.valid[1] = t->b.valid[1] = true;
	for (uint32_t k = 0; k < 2 * SRC_ROWS * ROW_VALUES; k++) {
		(&t->a.rows[0][0][0])[k] = operands_word(o, 1) & 0xffff0000;
		(&t->b.rows[0][0][0])[k] = operands_word(o, 1) & 0xffff0000;
	}
	for (uint32_t row = 0; row < DST_ROWS; row++)
		t->dst_valid[row] = operands_bits(o) & 1;
	random_modifiers(o, &t->thread[MATH]);
	t->thread[MATH].cfg[TCFG_CLR_DVALID_SrcA_Disable.word] = 3; /* so nothing waits */
	t->thread[MATH].cfg[TCFG_DEST_TARGET_REG_CFG_MATH_Offset.word] =
		(uint16_t)(operands_bits(o) % 16 * 64);
	if (operands_bits(o) % 8 == 0) /* a packer that nobody has waited for */
		m->core.shadow->dst[operands_bits(o) % DST_BLOCKS].packed[PACK] = 1;
}

static void random_queue(Operands *o, Tensix *t)
{
	for (int k = 0; k < LONG; k++) {
		const uint32_t mode = operands_bits(o) & 3, dst = operands_bits(o) % 4 * 8;
		const uint32_t give = operands_bits(o) & 3;

		if (operands_bits(o) % 32)
			tensix_push(t, MATH, OP_MVMUL(0, mode, 0, dst), true);
		else if (operands_bits(o) & 1)
			tensix_push(t, MATH, OP_SETRWC(0xf, 0, 0, 0, 0, give), true);
		else
			tensix_push(t, MATH, OP_MVMUL(give, mode, 0, dst), true);
	}
}

static void assert_same(const Machine *a, const Machine *b)
{
	const Tensix *ta = &a->core.tensix, *tb = &b->core.tensix;
	const TensixThread *ha = &ta->thread[MATH], *hb = &tb->thread[MATH];
	const Shadow *sa = a->core.shadow, *sb = b->core.shadow;

	assert_int_equal(ha->head, hb->head);
	assert_memory_equal(&ha->rwc, &hb->rwc, sizeof ha->rwc);
	assert_memory_equal(ta->dst, tb->dst, sizeof ta->dst);
	assert_memory_equal(ta->dst_valid, tb->dst_valid, sizeof ta->dst_valid);
	assert_memory_equal(ta->a.valid, tb->a.valid, sizeof ta->a.valid);
	assert_memory_equal(a->counted, b->counted, sizeof a->counted);
	for (int k = 0; k < DST_BLOCKS; k++) {
		assert_int_equal(sa->dst[k].written, sb->dst[k].written);
		assert_int_equal(sa->dst[k].writer, sb->dst[k].writer);
		assert_int_equal(sa->dst[k].user, sb->dst[k].user);
	}
	assert_memory_equal(&sa->thread[MATH].know, &sb->thread[MATH].know, sizeof(Know));
	assert_int_equal(sa->thread[MATH].open, sb->thread[MATH].open);
	assert_int_equal(a->core.faulted, b->core.faulted);
	assert_int_equal(a->core.report_count, b->core.report_count);
	for (uint32_t k = 0; k < a->core.report_count; k++)
		assert_string_equal(a->core.report[k].text, b->core.report[k].text);
}

/* How many of the queue have been executed. */
static uint32_t play(uint64_t seed, bool fast, bool wide)
{
	static Machine one, many;
	Operands o = { seed };
	uint32_t done = 0, now;

	memset(&many, 0, sizeof many);
	random_machine(&o, &many, fast, wide);
	random_queue(&o, &many.core.tensix);
	Shadow *copy = shadow_new();
	assert_non_null(copy);
	memcpy(copy->dst, many.core.shadow->dst, sizeof copy->dst);
	one = many;
	one.core.tensix.core = &one.core;
	one.core.counters = one.counted;
	one.core.shadow = copy;
	while ((now = tensix_step(&many.core.tensix, MATH, 64)) != 0)
		done += now;
	for (uint32_t k = 0; k <= done; k++)
		tensix_step(&one.core.tensix, MATH, 1);
	assert_same(&one, &many);
	shadow_free(one.core.shadow);
	shadow_free(many.core.shadow);
	return done;
}

static void runs_do_what_each_instruction_does(void **state)
{
	uint32_t done = 0;

	(void)state;
	for (uint32_t n = 1; n <= 150; n++)
		done += play(n * 7919, n & 1, n & 2);
	assert_true(done > 150 * LONG / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_do_what_each_instruction_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
