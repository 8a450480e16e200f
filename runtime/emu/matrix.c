/* MVMUL and the pools (MVMUL.md, GAPOOL.md, GMPOOL.md). */
#include "runtime/emu/fpu.h"

#include "runtime/emu/core.h"
#include "runtime/emu/dst.h"
#include "runtime/emu/shadow.h"

Exec fpu_setup(Tensix *t, int thread, uint32_t i, uint32_t a_formats, uint32_t b_formats,
	       FpuSetup *s)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t a = cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG0_SrcA);
	uint32_t b = cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG1_SrcB);

	if (cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG_SrcA_override))
		return tensix_unknown(t, thread, i, "override of the format of SrcA", 1);
	if (cfg_field(cfg, CFG_ALU_ACC_CTRL_INT8_math_enabled))
		return tensix_unknown(t, thread, i, "INT8_math_enabled", 1);
	if (cfg_field(cfg, CFG_ALU_ACC_CTRL_Zero_Flag_disabled_src))
		return tensix_unknown(t, thread, i, "Zero_Flag_disabled_src", 1);
	if (!(a_formats >> a & 1))
		return tensix_unknown(t, thread, i, "format of SrcA", a);
	if (!(b_formats >> b & 1))
		return tensix_unknown(t, thread, i, "format of SrcB", b);
	*s = (FpuSetup){ fpu_mask(a), fpu_mask(b),
			 cfg_field(cfg, CFG_ALU_ACC_CTRL_Fp32_enabled) };
	return EXEC_DONE;
}

/* The part of a bank around `row` that was worked out before, or is now. */
static const MatrixFace *face(Tensix *t, MatrixSource a, uint32_t row, uint32_t bit)
{
	MatrixCache *m = &t->matrix;
	uint32_t bank = t->a.matrix_bank, part = row / 16;

	if (m->of_a.bank != bank || m->of_a.changes != t->a.changes[bank] ||
	    m->of_a.mask != a.mask) {
		m->of_a.bank = bank;
		m->of_a.changes = t->a.changes[bank];
		m->of_a.mask = a.mask;
		m->of_a.ready[0] = m->of_a.ready[1] = 0;
	}
	if (!(m->of_a.ready[bit] >> part & 1)) {
		matrix_face_avx2(&m->a[bit][part], a, bit);
		m->of_a.ready[bit] |= (uint8_t)(1u << part);
	}
	return &m->a[bit][part];
}

static const MatrixRows *rows_of(Tensix *t, MatrixSource b, uint32_t row, uint32_t bit)
{
	MatrixCache *m = &t->matrix;
	uint32_t bank = t->b.matrix_bank, part = row / 8;

	if (m->of_b.bank != bank || m->of_b.changes != t->b.changes[bank] ||
	    m->of_b.mask != b.mask) {
		m->of_b.bank = bank;
		m->of_b.changes = t->b.changes[bank];
		m->of_b.mask = b.mask;
		m->of_b.ready[0] = m->of_b.ready[1] = 0;
	}
	if (!(m->of_b.ready[bit] >> part & 1)) {
		matrix_rows_avx2(&m->b[bit][part], b, bit);
		m->of_b.ready[bit] |= (uint8_t)(1u << part);
	}
	return &m->b[bit][part];
}

static MatrixFactors factors(Tensix *t, FpuSetup s, MatrixStep at)
{
	return (MatrixFactors){
		{ (const uint32_t(*)[16])fpu_bank(&t->a) + at.srca, s.a_mask },
		{ (const uint32_t(*)[16])fpu_bank(&t->b) + at.srcb, s.b_mask },
	};
}

static void product_of_parts(Tensix *t, MatrixResult d, const MatrixFactors *f, MatrixStep at,
			     uint32_t rows)
{
	const MatrixFace *fa = face(t, f->a, at.srca, at.phase & 1);
	const MatrixRows *rb = rows_of(t, f->b, at.srcb, at.phase >> 1);

	matrix_product_with(matrix_has_avx512() ? matrix_product_avx512 : matrix_product_avx2, d,
			    fa, rb, *f, (int)rows, at.phase);
}

static void product(Tensix *t, FpuSetup s, MatrixStep at, uint32_t rows)
{
	const MatrixFactors f = factors(t, s, at);
	const MatrixResult d = dst_accumulator(t, at.dst, rows, s.wide);

	if (t->fast)
		matrix_products_fast(d, &f, 1, (int)rows);
	else if (matrix_has_avx2())
		product_of_parts(t, d, &f, at, rows);
	else
		matrix_product_portable(d, f.a, f.b, (int)rows, at.phase);
}

/* Operands of an instruction that multiplies `rows` rows; EXEC_DONE if all is
 * well and the sources are there. */
static Exec operands(Tensix *t, int thread, uint32_t i, uint32_t rows, uint32_t *dst_row)
{
	const TensixThread *th = &t->thread[thread];
	uint32_t dst = op_bits(i, 9, 0);

	if (dst & (rows - 1))
		return tensix_unknown(t, thread, i, "dst", dst);
	if (!fpu_ready(&t->a) || !fpu_ready(&t->b))
		return EXEC_WAIT;
	if (th->rwc.srca & 15)
		return tensix_unknown(t, thread, i, "row of SrcA", th->rwc.srca);
	if (th->rwc.srcb & 7)
		return tensix_unknown(t, thread, i, "row of SrcB", th->rwc.srcb);
	*dst_row = fpu_dst_row(t, thread, dst);
	if (*dst_row & (rows - 1))
		return tensix_unknown(t, thread, i, "row of Dst", *dst_row);
	return EXEC_DONE;
}

static Exec multiply(Tensix *t, int thread, uint32_t i, uint32_t rows)
{
	const Rwc *at = &t->thread[thread].rwc;
	const bool idle = matrix_phase_idle(t, at);
	uint32_t dst_row = 0, release = op_bits(i, 23, 22);
	FpuSetup s = { 0 };
	Exec e = operands(t, thread, i, rows, &dst_row);

	if (e == EXEC_DONE && !idle)
		e = fpu_setup(t, thread, i, FPU_FLOATS, FPU_INT16_TOO, &s);
	if (e != EXEC_DONE)
		return e;
	if (!idle)
		product(t, s,
			(MatrixStep){ (uint16_t)(dst_row % DST_ROWS), (uint8_t)at->srca,
				      (uint8_t)at->srcb, (uint8_t)fpu_phase(t, thread) },
			rows);
	tensix_advance(t, thread, op_bits(i, 16, 15), true);
	return release ? tensix_release(t, thread, i, release) : EXEC_DONE;
}

/* Products onto the same rows are done together: others do not see those rows. */
static void run_fast(Tensix *t, FpuSetup s, const MatrixRun *r, uint32_t to)
{
	for (uint32_t k = 0; k < r->chains; k++) {
		const MatrixChain c = r->chain[k];
		MatrixFactors f[MATRIX_RUN];

		for (uint32_t j = 0; j < c.count; j++)
			f[j] = factors(t, s, r->step[r->order[c.first + j]]);
		matrix_products_fast(dst_accumulator(t, (c.dst + to) % DST_ROWS, 8, s.wide), f,
				     c.count, 8);
	}
}

static Exec multiply_run(Tensix *t, int thread, uint32_t i, const MatrixRun *r)
{
	TensixThread *th = &t->thread[thread];
	const uint32_t to = fpu_dst_row(t, thread, 0) - th->rwc.dst;
	FpuSetup s = { 0 };

	if (t->core->shadow && !shadow_matrix_run(t->core, thread, r, to))
		return multiply(t, thread, i, 8);
	if (!r->idle && fpu_setup(t, thread, i, FPU_FLOATS, FPU_INT16_TOO, &s) != EXEC_DONE)
		return EXEC_FAULT;
	if (!r->idle && t->fast)
		run_fast(t, s, r, to);
	for (uint32_t k = 0; !t->fast && k < r->count; k++) {
		MatrixStep at = r->step[k];

		at.dst = (uint16_t)((at.dst + to) % DST_ROWS);
		product(t, s, at, 8);
	}
	th->rwc = r->end;
	th->head += r->count - 1;
	return EXEC_DONE;
}

Exec emu_op_MVMUL(Tensix *t, int thread, uint32_t i)
{
	const MatrixRun *r = t->thread[thread].ahead ? matrix_run_find(t, thread) : NULL;

	if (op_bits(i, 19, 19))
		return tensix_unknown(t, thread, i, "instr_mod19", 1);
	return r ? multiply_run(t, thread, i, r) : multiply(t, thread, i, 8);
}

static Exec pool_mode(Tensix *t, int thread, uint32_t i)
{
	if (op_bits(i, 14, 14))
		return tensix_unknown(t, thread, i, "max_pool_index_en", 1);
	if (!op_bits(i, 19, 19))
		return tensix_unknown(t, thread, i, "instr_mod19", 0);
	return EXEC_DONE;
}

Exec emu_op_GAPOOL(Tensix *t, int thread, uint32_t i)
{
	Exec e = pool_mode(t, thread, i);

	return e == EXEC_DONE ? multiply(t, thread, i, 4) : e;
}

/* The largest of 16 rows of SrcA and one of Dst, where what was never written is
 * the least of all; three rows of zeros follow it. */
static void maxima(Tensix *t, int thread, FpuSetup s, uint32_t dst_row)
{
	const uint32_t first = t->thread[thread].rwc.srca;
	const uint32_t(*a)[16] = (const uint32_t(*)[16])fpu_bank(&t->a) + first;
	bool known = t->dst_valid[s.wide ? dst32_row(dst_row) : dst_row];
	MatrixResult d = dst_accumulator(t, dst_row, 4, s.wide);

	for (int column = 0; column < ROW_VALUES; column++) {
		uint32_t most = (uint32_t)d.high[0][column] << 16;

		if (d.low)
			most |= d.low[0][column] & 0xe000;
		if (!known)
			most = d.low ? 0xffffe000 : 0xffff0000;
		for (int row = 0; row < 16; row++) {
			uint32_t v = a[row][column] & s.a_mask;

			v = v & 0x7f800000 ? v : 0;
			most = fpu_ordered(v) > fpu_ordered(most) ? v : most;
		}
		for (int row = 0; row < 4; row++) {
			d.high[row][column] = row ? 0 : (uint16_t)(most >> 16);
			if (d.low)
				d.low[row][column] = row ? 0 : (uint16_t)most;
		}
	}
}

Exec emu_op_GMPOOL(Tensix *t, int thread, uint32_t i)
{
	uint32_t dst_row = 0;
	FpuSetup s = { 0 };
	Exec e = pool_mode(t, thread, i);

	if (e == EXEC_DONE)
		e = operands(t, thread, i, 4, &dst_row);
	if (e == EXEC_DONE)
		e = fpu_setup(t, thread, i, FPU_FLOATS, FPU_FLOATS, &s);
	if (e != EXEC_DONE)
		return e;
	if (dst_row >= DST_ROWS)
		return tensix_unknown(t, thread, i, "row of Dst", dst_row);
	for (int k = 0; k < ROW_VALUES; k++) {
		uint32_t scale = fpu_bank(&t->b)[t->thread[thread].rwc.srcb][k];

		if (scale != 0x3f800000)
			return tensix_unknown(t, thread, i, "scale other than 1 in SrcB", scale);
	}
	maxima(t, thread, s, dst_row);
	tensix_advance(t, thread, op_bits(i, 16, 15), true);
	return tensix_release(t, thread, i, op_bits(i, 23, 22));
}
