/* ELWADD, ELWSUB and ELWMUL (ELWADD.md, ELWSUB.md, ELWMUL.md). */
#include "runtime/emu/fpu.h"

#include "runtime/emu/dst.h"

/* ELWMUL adds to Dst whatever the instruction says, and knows phases. */
static Exec element(Tensix *t, int thread, uint32_t i, MatrixElement op)
{
	const TensixThread *th = &t->thread[thread];
	uint32_t dst = op_bits(i, 9, 0), dst_row = fpu_dst_row(t, thread, dst);
	uint32_t phase = fpu_phase(t, thread), mode = op_bits(i, 20, 19);
	bool onto = op == MATRIX_MUL || op_bits(i, 21, 21);
	MatrixBroadcast how = { mode & 2 ? 0 : 1, mode & 1 ? 0 : 1 };
	FpuSetup s = { 0 };

	if (dst & 7)
		return tensix_unknown(t, thread, i, "dst", dst);
	if (!fpu_ready(&t->a) || !fpu_ready(&t->b))
		return EXEC_WAIT;
	if (fpu_setup(t, thread, i, FPU_FLOATS | 1 << FPU_BFP2, FPU_INTS_TOO | 1 << FPU_BFP2,
		      &s) != EXEC_DONE)
		return EXEC_FAULT;
	if (th->rwc.srca & 7)
		return tensix_unknown(t, thread, i, "row of SrcA", th->rwc.srca);
	if (th->rwc.srcb & 7)
		return tensix_unknown(t, thread, i, "row of SrcB", th->rwc.srcb);
	if (dst_row & 7 || dst_row >= DST_ROWS)
		return tensix_unknown(t, thread, i, "row of Dst", dst_row);
	if (op != MATRIX_MUL && phase)
		return tensix_unknown(t, thread, i, "fidelity phase", phase);

	MatrixSource a = { (const uint32_t(*)[16])fpu_bank(&t->a) + th->rwc.srca, s.a_mask };
	MatrixSource b = { (const uint32_t(*)[16])fpu_bank(&t->b) + th->rwc.srcb, s.b_mask };
	MatrixResult d = dst_accumulator(t, dst_row, 8, s.wide);

	if (matrix_has_avx2())
		matrix_element_avx2(d, a, b, op, how, onto, phase);
	else
		matrix_element_portable(d, a, b, op, how, onto, phase);
	tensix_advance(t, thread, op_bits(i, 16, 15), true);
	return tensix_release(t, thread, i, op_bits(i, 23, 22));
}

Exec emu_op_ELWADD(Tensix *t, int thread, uint32_t i)
{
	return element(t, thread, i, MATRIX_ADD);
}

Exec emu_op_ELWSUB(Tensix *t, int thread, uint32_t i)
{
	return element(t, thread, i, MATRIX_SUB);
}

Exec emu_op_ELWMUL(Tensix *t, int thread, uint32_t i)
{
	if (op_bits(i, 21, 21))
		return tensix_unknown(t, thread, i, "dest_accum_en", 1);
	return element(t, thread, i, MATRIX_MUL);
}
