/* Moves between the register files of the matrix unit
 * (MOVA2D.md, MOVB2D.md, MOVD2A.md, MOVD2B.md, TRNSPSRCB.md). */
#include "runtime/emu/fpu.h"

#include "runtime/emu/dst.h"

/* The format a move works with: SrcA's, or what overrides it. */
static uint32_t move_format(const uint32_t *cfg)
{
	return cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG_SrcA_override)
		? cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG_SrcA_val)
		: cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG0_SrcA);
}

/* A row of source words as a move reads it: without denormals, unless they are
 * to be kept. */
static void moved(const uint32_t *cfg, uint32_t to[ROW_VALUES], const uint32_t from[ROW_VALUES])
{
	uint32_t keep = cfg_field(cfg, CFG_ALU_ACC_CTRL_Zero_Flag_disabled_src) ? 0xffffffff : 0;

	for (int k = 0; k < ROW_VALUES; k++)
		to[k] = from[k] & (from[k] & 0x7f800000 ? 0xffffffff : keep);
}

/* Into 32 bits, 16, or the lower half of 32, where silicon puts the upper half in
 * the order Dst has it in. A row that only gets lower halves keeps its upper ones,
 * or zeros if it had none. */
static void to_dst(Tensix *t, uint32_t row, const uint32_t words[ROW_VALUES], uint32_t format,
		   bool low)
{
	uint32_t wide_row = dst32_row(row);

	if (!low && format != FPU_TF32) {
		for (int k = 0; k < ROW_VALUES; k++)
			t->dst[row][k] = (uint16_t)(words[k] >> 16);
		t->dst_valid[row] = true;
		return;
	}
	if (low && !t->dst_valid[wide_row])
		memset(t->dst[wide_row], 0, sizeof t->dst[wide_row]);
	for (int k = 0; k < ROW_VALUES; k++) {
		uint16_t high = (uint16_t)(words[k] >> 16);

		if (!low)
			t->dst[wide_row][k] = high;
		t->dst[wide_row + DST32_LOW][k] = low ? dst_raw(high) : (uint16_t)words[k];
	}
	t->dst_valid[wide_row] = true;
}

Exec emu_op_MOVA2D(Tensix *t, int thread, uint32_t i)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t dst = op_bits(i, 9, 0), src = op_bits(i, 22, 17), mode = op_bits(i, 13, 12);
	uint32_t format = move_format(cfg), from = src + t->thread[thread].rwc.srca;
	uint32_t to = fpu_dst_row(t, thread, dst) % DST_ROWS;
	bool low = op_bits(i, 23, 23);

	if (mode != 2)
		return tensix_unknown(t, thread, i, "instr_mod", mode);
	if (dst & 7 || src & 7)
		return tensix_unknown(t, thread, i, "dst, src", dst << 16 | src);
	if (!fpu_ready(&t->a))
		return EXEC_WAIT;
	if (!((FPU_INTS_TOO | 1 << FPU_BFP2) >> format & 1))
		return tensix_unknown(t, thread, i, "format of SrcA", format);
	if (from & 7 || from >= SRC_ROWS)
		return tensix_unknown(t, thread, i, "row of SrcA", from);
	if (to & 7)
		return tensix_unknown(t, thread, i, "row of Dst", to);
	if (low && format == FPU_TF32)
		return tensix_unknown(t, thread, i, "dest_32b_lo with tf32", 1);
	for (uint32_t row = 0; row < 8; row++) {
		uint32_t words[ROW_VALUES];

		moved(cfg, words, fpu_bank(&t->a)[from + row]);
		to_dst(t, to + row, words, format, low);
	}
	tensix_advance(t, thread, op_bits(i, 16, 15), true);
	return EXEC_DONE;
}

/* instr_mod: bit 0 broadcasts column 0, bit 1 one row to eight; else 4 rows. */
static void b_to_dst(Tensix *t, int thread, uint32_t i, uint32_t from, uint32_t to)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t mode = op_bits(i, 14, 12), rows = mode & 2 ? 8 : 4, format = move_format(cfg);
	uint32_t mask = fpu_mask(cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG1_SrcB));
	bool low = op_bits(i, 23, 23);

	for (uint32_t row = 0; row < rows; row++) {
		uint32_t words[ROW_VALUES];

		moved(cfg, words, fpu_bank(&t->b)[from + (mode & 2 ? 0 : row)]);
		for (int k = ROW_VALUES - 1; k >= 0; k--)
			words[k] = words[mode & 1 ? 0 : k] & mask;
		to_dst(t, to + row, words, format, low);
	}
}

Exec emu_op_MOVB2D(Tensix *t, int thread, uint32_t i)
{
	enum { FP16 = 1 };
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t dst = op_bits(i, 9, 0), src = op_bits(i, 22, 17), mode = op_bits(i, 14, 12);
	uint32_t from = src + t->thread[thread].rwc.srcb, rows = mode & 2 ? 8 : 4;
	uint32_t to = fpu_dst_row(t, thread, dst) % DST_ROWS, format = move_format(cfg);

	if (mode < 2 || mode > 5)
		return tensix_unknown(t, thread, i, "instr_mod", mode);
	if (dst & 3 || src & 3)
		return tensix_unknown(t, thread, i, "dst, src", dst << 16 | src);
	if (!fpu_ready(&t->b))
		return EXEC_WAIT;
	if (!(FPU_INTS_TOO >> format & 1))
		return tensix_unknown(t, thread, i, "format of SrcA", format);
	if (cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG1_SrcB) == FP16)
		return tensix_unknown(t, thread, i, "format of SrcB", FP16);
	if (from & (rows - 1) || from >= SRC_ROWS)
		return tensix_unknown(t, thread, i, "row of SrcB", from);
	if (to & (rows - 1))
		return tensix_unknown(t, thread, i, "row of Dst", to);
	if (op_bits(i, 23, 23) && format == FPU_TF32)
		return tensix_unknown(t, thread, i, "dest_32b_lo with tf32", 1);
	b_to_dst(t, thread, i, from, to);
	tensix_advance(t, thread, op_bits(i, 16, 15), true);
	return EXEC_DONE;
}

/* A row of Dst in the format of a source. */
static void from_dst(Tensix *t, int thread, uint32_t row, bool low, uint32_t *words)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	bool wide = cfg_field(cfg, CFG_ALU_ACC_CTRL_Fp32_enabled) ||
		cfg_field(cfg, CFG_ALU_ACC_CTRL_INT8_math_enabled);
	uint32_t mask = fpu_mask(move_format(cfg));

	for (uint32_t column = 0; column < ROW_VALUES; column++) {
		uint32_t value = wide ? dst_get32(t, row, column)
				      : (uint32_t)dst_get16(t, row, column) << 16;

		if (low)
			value = (uint32_t)dst_natural((uint16_t)value) << 16;
		words[column] = value & mask;
	}
}

/* What both moves from Dst to a source refuse. */
static Exec from_dst_mode(Tensix *t, int thread, uint32_t i, uint32_t formats, uint32_t to)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t dst = op_bits(i, 9, 0), src = op_bits(i, 22, 17), format = move_format(cfg);
	bool wide = cfg_field(cfg, CFG_ALU_ACC_CTRL_Fp32_enabled) ||
		cfg_field(cfg, CFG_ALU_ACC_CTRL_INT8_math_enabled);
	bool low = op_bits(i, 23, 23);

	if (dst & 3 || src & 3)
		return tensix_unknown(t, thread, i, "dst, src", dst << 16 | src);
	if (!(formats >> format & 1))
		return tensix_unknown(t, thread, i, "format of SrcA", format);
	if (to & 3 || to >= SRC_ROWS)
		return tensix_unknown(t, thread, i, "row of the source", to);
	if (fpu_dst_row(t, thread, dst) & 3)
		return tensix_unknown(t, thread, i, "row of Dst", fpu_dst_row(t, thread, dst));
	if (low && (!wide || format == FPU_TF32))
		return tensix_unknown(t, thread, i, "dest_32b_lo", 1);
	if (!wide && format == FPU_TF32)
		return tensix_unknown(t, thread, i, "tf32 of a 16-bit Dst", 1);
	return EXEC_DONE;
}

Exec emu_op_MOVD2A(Tensix *t, int thread, uint32_t i)
{
	uint32_t mode = op_bits(i, 13, 12),
		 from = fpu_dst_row(t, thread, op_bits(i, 9, 0)) % DST_ROWS;
	uint32_t to = (op_bits(i, 22, 17) + t->thread[thread].rwc.srca) % SRC_ROWS;

	if (mode != 2)
		return tensix_unknown(t, thread, i, "instr_mod", mode);
	if (cfg_field(tensix_cfg(t, thread), CFG_ALU_FORMAT_SPEC_REG_SrcA_override))
		return tensix_unknown(t, thread, i, "override of the format of SrcA", 1);
	if (op_bits(i, 23, 23))
		return tensix_unknown(t, thread, i, "dest_32b_lo", 1);
	if (from_dst_mode(t, thread, i, FPU_FLOATS, to) != EXEC_DONE)
		return EXEC_FAULT;
	for (uint32_t row = 0; row < 4; row++)
		from_dst(t, thread, from + row, false, fpu_bank(&t->a)[to + row]);
	fpu_changed(&t->a);
	tensix_advance(t, thread, op_bits(i, 16, 15), true);
	return EXEC_DONE;
}

Exec emu_op_MOVD2B(Tensix *t, int thread, uint32_t i)
{
	uint32_t mode = op_bits(i, 13, 12),
		 from = fpu_dst_row(t, thread, op_bits(i, 9, 0)) % DST_ROWS;
	uint32_t to = op_bits(i, 22, 17) + t->thread[thread].rwc.srcb;

	if (mode != 0 && mode != 2)
		return tensix_unknown(t, thread, i, "instr_mod", mode);
	if (from_dst_mode(t, thread, i, FPU_FLOATS | 1 << FPU_INT32, to) != EXEC_DONE)
		return EXEC_FAULT;
	for (uint32_t row = 0; row < (mode ? 4 : 1); row++)
		from_dst(t, thread, from + row, op_bits(i, 23, 23), fpu_bank(&t->b)[to + row]);
	fpu_changed(&t->b);
	tensix_advance(t, thread, op_bits(i, 16, 15), true);
	return EXEC_DONE;
}

Exec emu_op_MOVB2A(Tensix *t, int thread, uint32_t i)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t mode = op_bits(i, 13, 12), a = op_bits(i, 22, 17), b = op_bits(i, 5, 0);
	uint32_t to = a + t->thread[thread].rwc.srca, from = b + t->thread[thread].rwc.srcb;

	if (mode != 2)
		return tensix_unknown(t, thread, i, "instr_mod", mode);
	if (a & 3 || b & 3)
		return tensix_unknown(t, thread, i, "srca, srcb", a << 16 | b);
	if (!fpu_ready(&t->b))
		return EXEC_WAIT;
	if (to & 3 || to >= SRC_ROWS)
		return tensix_unknown(t, thread, i, "row of SrcA", to);
	if (from & 3 || from >= SRC_ROWS)
		return tensix_unknown(t, thread, i, "row of SrcB", from);
	for (uint32_t row = 0; row < 4; row++)
		moved(cfg, fpu_bank(&t->a)[to + row], fpu_bank(&t->b)[from + row]);
	fpu_changed(&t->a);
	tensix_advance(t, thread, op_bits(i, 16, 15), true);
	return EXEC_DONE;
}

/* Rows 16 to 31. */
Exec emu_op_TRNSPSRCB(Tensix *t, int thread, uint32_t i)
{
	uint32_t(*face)[ROW_VALUES] = fpu_bank(&t->b) + 16;

	(void)thread, (void)i;
	if (!fpu_ready(&t->b))
		return EXEC_WAIT;
	for (int row = 0; row < 16; row++) {
		for (int column = 0; column < row; column++) {
			uint32_t word = face[row][column];

			face[row][column] = face[column][row];
			face[column][row] = word;
		}
	}
	fpu_changed(&t->b);
	return EXEC_DONE;
}
