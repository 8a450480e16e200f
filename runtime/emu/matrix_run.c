#include "runtime/emu/matrix_run.h"

#include "runtime/emu/fpu.h"
#include "runtime/emu/rwc.h"

enum { OPCODE_MVMUL = 0x26, MVMUL_OPERANDS = 0x183ff }; /* dst and the modifier, no other */

bool matrix_run_find(const Tensix *t, int thread, MatrixRun *r)
{
	const TensixThread *th = &t->thread[thread];
	const uint32_t queued = th->tail - th->head, room = th->ahead + 1;
	const uint32_t most = queued < room ? queued : room;
	const uint32_t to = thread_field(th->cfg, TCFG_DEST_TARGET_REG_CFG_MATH_Offset);
	const uint32_t phase = thread_field(th->cfg, TCFG_FIDELITY_BASE_Phase);
	Rwc at = th->rwc;

	r->count = 0;
	r->idle = matrix_phase_idle(t, &at);
	while (r->count < most && r->count < MATRIX_RUN) {
		const uint32_t i = th->fifo[(th->head + r->count) % FIFO_SLOTS];
		const uint32_t dst = op_bits(i, 9, 0), row = at.dst + dst + to;
		const Modifier m = rwc_modifier(th, &at, op_bits(i, 16, 15));

		if ((i & ~(uint32_t)MVMUL_OPERANDS) != OPCODE_MVMUL << 24 || (dst | row) & 7 ||
		    at.srca & 15 || at.srcb & 7 || !modifier_dst_known(m) ||
		    !modifier_bias_known(m) || matrix_phase_idle(t, &at) != r->idle)
			break;
		r->step[r->count++] = (MatrixStep){ (uint16_t)(row % DST_ROWS), (uint8_t)at.srca,
						    (uint8_t)at.srcb,
						    (at.fidelity + phase) & 3 };
		rwc_step(&at, m, true);
	}
	r->end = at;
	return r->count > 1 && fpu_ready(&t->a) && fpu_ready(&t->b);
}
