#include "runtime/emu/matrix_run.h"

#include <string.h>

#include "runtime/emu/fpu.h"
#include "runtime/emu/rwc.h"

enum {
	OPCODE_MVMUL = 0x26,
	MVMUL_OPERANDS = 0x183ff, /* dst and the modifier, no other */
	WIDE_ROWS = DST_ROWS / 2,
};

bool matrix_phase_idle(const Tensix *t, const Rwc *at)
{
	return t->fast && at->fidelity;
}

static MatrixKey key_of(const TensixThread *th)
{
	MatrixKey k = { .start = th->rwc,
			.base = th->cfg[TCFG_ADDR_MOD_SET_Base.word] & 1,
			.phase = (uint16_t)thread_field(th->cfg, TCFG_FIDELITY_BASE_Phase) };

	memcpy(k.modifier, &th->cfg[TCFG_ADDR_MOD_AB_SEC0_SrcAIncr.word], sizeof k.modifier);
	memcpy(k.bias, &th->cfg[TCFG_ADDR_MOD_BIAS_SEC0_BiasIncr.word], sizeof k.bias);
	return k;
}

/* Steps from the head of the queue on, `most` of them at most. */
static void find_steps(const Tensix *t, const TensixThread *th, uint32_t most, MatrixRun *r)
{
	Rwc at = th->rwc;

	r->count = r->dst_most = 0;
	r->idle = matrix_phase_idle(t, &at);
	while (r->count < most) {
		const uint32_t i = th->fifo[(th->head + r->count) % FIFO_SLOTS];
		const uint32_t row = (at.dst + op_bits(i, 9, 0)) % DST_ROWS;
		const Modifier m = rwc_modifier(th, &at, op_bits(i, 16, 15));

		if ((i & ~(uint32_t)MVMUL_OPERANDS) != OPCODE_MVMUL << 24 || (i | row) & 7 ||
		    at.srca & 15 || at.srcb & 7 || !modifier_dst_known(m) ||
		    !modifier_bias_known(m) || matrix_phase_idle(t, &at) != r->idle)
			break;
		r->instruction[r->count] = i;
		r->step[r->count++] = (MatrixStep){ (uint16_t)row, (uint8_t)at.srca,
						    (uint8_t)at.srcb,
						    (at.fidelity + r->key.phase) & 3 };
		r->dst_most = row > r->dst_most ? (uint16_t)row : r->dst_most;
		rwc_step(&at, m, true);
	}
	r->end = at;
}

static void find_chains(MatrixRun *r)
{
	bool taken[MATRIX_RUN] = { false };
	uint32_t n = 0;

	r->chains = 0;
	for (uint32_t k = 0; k < r->count; k++) {
		MatrixChain c = { .dst = r->step[k].dst, .first = (uint8_t)n };

		for (uint32_t j = k; !taken[k] && j < r->count; j++) {
			if (r->step[j].dst != c.dst)
				continue;
			taken[j] = j != k;
			r->order[n++] = c.last = (uint8_t)j;
			c.count++;
		}
		if (c.count)
			r->chain[r->chains++] = c;
	}
}

/* Whether the queue begins with the run. */
static bool stands_at(const MatrixRun *r, const TensixThread *th, const MatrixKey *key,
		      uint32_t most)
{
	const uint32_t at = th->head % FIFO_SLOTS;

	return r->count && r->count <= most && at + r->count <= FIFO_SLOTS &&
	       memcmp(&r->key, key, sizeof *key) == 0 &&
	       memcmp(r->instruction, th->fifo + at, r->count * sizeof *th->fifo) == 0;
}

const MatrixRun *matrix_run_find(Tensix *t, int thread)
{
	const TensixThread *th = &t->thread[thread];
	const uint32_t queued = th->tail - th->head, room = th->ahead + 1;
	const uint32_t more = queued < room ? queued : room;
	const uint32_t most = more < MATRIX_RUN ? more : MATRIX_RUN;
	const uint32_t to = thread_field(th->cfg, TCFG_DEST_TARGET_REG_CFG_MATH_Offset);
	const bool wide = cfg_field(tensix_cfg(t, thread), CFG_ALU_ACC_CTRL_Fp32_enabled);
	const MatrixKey key = key_of(th);
	MatrixRun *r = &t->runs[(th->rwc.dst / 8 + th->rwc.fidelity * 5 + most) % MATRIX_RUNS];

	if (to & 7 || !fpu_ready(&t->a) || !fpu_ready(&t->b))
		return NULL;
	if (!stands_at(r, th, &key, most)) {
		r->key = key;
		find_steps(t, th, most, r);
		find_chains(r);
	}
	/* Beyond these, rows of 32 bits have more than one number. */
	return r->count > 1 && !(wide && r->dst_most + to >= WIDE_ROWS) ? r : NULL;
}
