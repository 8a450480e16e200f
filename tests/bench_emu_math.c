/*
 * Time of a 32x32x32 tile product at HiFi2 in the emulator's matrix unit, 32
 * MVMULs from the queue of a thread: bit-exact, and as `emu:fast` does it. Both
 * operands are new for every product. Fails if fast is not four times exact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/clock.h"
#include "runtime/device/tensix_ops.h"
#include "runtime/emu/core.h"
#include "tests/operands.h"

enum { PRODUCTS = 200, ROUNDS = 15, PHASES = 2, MATH = 1 };

static void set_modifier(TensixThread *th, int n, uint32_t ab, uint32_t dst, uint32_t bias)
{
	th->cfg[TCFG_ADDR_MOD_AB_SEC0_SrcAIncr.word + 2 * n] = (uint16_t)ab;
	th->cfg[TCFG_ADDR_MOD_DST_SEC0_DestIncr.word + n] = (uint16_t)dst;
	th->cfg[TCFG_ADDR_MOD_BIAS_SEC0_BiasIncr.word + n] = (uint16_t)bias;
}

/* Through the four faces of SrcA, SrcB and Dst in 16 steps: a next row, a next
 * face of SrcA, the next half of SrcB, and all of it again for the second half of
 * the sum. */
static void setup(Tensix *t)
{
	enum { A_BACK = 1 << 6, B = 8, B_BACK = 1 << 14, D_BACK = 1 << 10, PHASE = 1 << 13 };
	TensixThread *th = &t->thread[MATH];
	Operands o = { 1234567 };

	for (int k = 0; k < SRC_ROWS * ROW_VALUES; k++) {
		for (int bank = 0; bank < 2; bank++) {
			t->a.rows[bank][k / 16][k % 16] = operands_word(&o, 1) & 0xffff0000;
			t->b.rows[bank][k / 16][k % 16] = operands_word(&o, 2) & 0xffff0000;
		}
	}
	set_modifier(th, 0, 8 << B, 8, 0);
	set_modifier(th, 1, 16 | B_BACK, 8, 0);
	set_modifier(th, 2, A_BACK | 32 << B | B_BACK, 8, 0);
	set_modifier(th, 3, 8 << B, 8, 1);
	set_modifier(th, 4, 32 | A_BACK | 48 << B | B_BACK, D_BACK, 1);
	set_modifier(th, 5, A_BACK | 1 << 7 | B_BACK | 1 << 15, D_BACK | 1 << 11 | PHASE, 1);
	t->cfg[0][1] = 5u << 17 | 5u << 21 | 1u << 29; /* bf16 sources, fp32 Dst */
}

static void product(Tensix *t)
{
	static const uint8_t modes[16] = { 0, 1, 0, 2, 0, 1, 3, 0, 0, 1, 0, 2, 0, 1, 3, 1 };

	t->a.changes[0]++;
	t->b.changes[0]++;
	t->a.valid[0] = t->b.valid[0] = true;
	for (int n = 0; n < PHASES * 16; n++)
		tensix_push(t, MATH, OP_MVMUL(0, modes[n % 16], 0, 0), true);
	tensix_push(t, MATH, OP_SETRWC(15, 0, 0, 0, 0, 0), true);
	if (tensix_step(t, MATH, 1000) != PHASES * 16 + 1)
		abort();
}

/* The best round, in microseconds for a product. */
static double measure(bool fast)
{
	static EmuCore core;
	double best = 1e9;

	tensix_reset(&core.tensix, &core);
	core.tensix.fast = fast;
	setup(&core.tensix);
	for (int round = 0; round < ROUNDS; round++) {
		double from = clock_now(), spent;

		for (int k = 0; k < PRODUCTS; k++)
			product(&core.tensix);
		spent = (clock_now() - from) * 1e6 / PRODUCTS;
		best = spent < best ? spent : best;
		memset(core.tensix.dst_valid, false, sizeof core.tensix.dst_valid);
	}
	return best;
}

int main(void)
{
	double exact = measure(false), fast = measure(true);

	printf("tile product at HiFi2: %.2f us, %.2f GMAC/s; fast %.2f us, %.2f GMAC/s\n", exact,
	       32.768 / exact, fast, 32.768 / fast);
	return exact >= 4 * fast ? 0 : 1;
}
