/* Register window counters, and what clears registers and hands them back
 * (SETRWC.md, INCRWC.md, CLEARDVALID.md, ZEROACC.md, ZEROSRC.md). */
#include "runtime/emu/fpu.h"

#include <string.h>

/* A counter set to a value, or counted on from where its line began. */
static void set_counter(uint32_t *counter, uint32_t *line, bool from_line, uint32_t value,
			uint32_t rows)
{
	*counter = *line = from_line ? (*line + value) & (rows - 1) : value;
}

Exec emu_op_SETRWC(Tensix *t, int thread, uint32_t i)
{
	Rwc *at = &t->thread[thread].rwc;
	uint32_t which = op_bits(i, 3, 0), lines = op_bits(i, 21, 18);

	if (lines > 7)
		return tensix_unknown(t, thread, i, "rwc_cr", lines);
	if (lines & 3 & ~which)
		return tensix_unknown(t, thread, i, "rwc_cr without its bit of bit_mask", lines);
	if (which & 1)
		set_counter(&at->srca, &at->srca_cr, lines & 1, op_bits(i, 9, 6), SRC_ROWS);
	if (which & 2)
		set_counter(&at->srcb, &at->srcb_cr, lines & 2, op_bits(i, 13, 10), SRC_ROWS);
	if (which & 4)
		set_counter(&at->dst, &at->dst_cr, lines & 4, op_bits(i, 17, 14), DST_ROWS);
	if (which & 8)
		at->fidelity = 0;
	return tensix_release(t, thread, i, op_bits(i, 23, 22));
}

Exec emu_op_INCRWC(Tensix *t, int thread, uint32_t i)
{
	TensixThread *th = &t->thread[thread];
	uint32_t lines = op_bits(i, 20, 18);

	if (lines & 3)
		return tensix_unknown(t, thread, i, "rwc_cr", lines);
	th->rwc.srca = (th->rwc.srca + op_bits(i, 9, 6)) % SRC_ROWS;
	th->rwc.srcb = (th->rwc.srcb + op_bits(i, 13, 10)) % SRC_ROWS;
	if (lines & 4)
		th->rwc.dst = th->rwc.dst_cr;
	th->rwc.dst = (th->rwc.dst + op_bits(i, 17, 14)) % DST_ROWS;
	if (lines & 4)
		th->rwc.dst_cr = th->rwc.dst;
	return EXEC_DONE;
}

static bool drop(SrcFile *src)
{
	bool was = fpu_ready(src);

	src->valid[src->matrix_bank] = false;
	src->matrix_bank ^= 1;
	return was;
}

Exec emu_op_CLEARDVALID(Tensix *t, int thread, uint32_t i)
{
	uint32_t reset = op_bits(i, 1, 0), which = op_bits(i, 23, 22);

	if (reset)
		return tensix_unknown(t, thread, i, "reset", reset);
	if (!which)
		return tensix_unknown(t, thread, i, "cleardvalid", which);
	if (which & 1 && !drop(&t->a))
		return tensix_unknown(t, thread, i, "releases SrcA, which is not valid", which);
	if (which & 2 && !drop(&t->b))
		return tensix_unknown(t, thread, i, "releases SrcB, which is not valid", which);
	return EXEC_DONE;
}

static Exec zero_one(Tensix *t, int thread, uint32_t i)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t row = fpu_dst_row(t, thread, op_bits(i, 9, 0));

	if (row >= DST_ROWS)
		return tensix_unknown(t, thread, i, "row of Dst", row);
	if (cfg_field(cfg, CFG_ALU_ACC_CTRL_INT8_math_enabled))
		return tensix_unknown(t, thread, i, "INT8_math_enabled", 1);
	if (cfg_field(cfg, CFG_ALU_ACC_CTRL_Fp32_enabled))
		row = dst32_row(row);
	t->dst_valid[row] = false;
	return EXEC_DONE;
}

/* One row, 16 rows, a half, all; modes 6 and 7 are 2 and 3 of 32-bit rows and
 * clear the same. */
Exec emu_op_ZEROACC(Tensix *t, int thread, uint32_t i)
{
	uint32_t mode = op_bits(i, 21, 19), dst = op_bits(i, 9, 0);
	uint32_t rows = mode == 1 ? 16 : (mode & 3) == 2 ? DST_ROWS / 2 : DST_ROWS;

	if (mode == 4 || mode == 5)
		return tensix_unknown(t, thread, i, "clear_mode", mode);
	if (mode == 0) {
		if (zero_one(t, thread, i) != EXEC_DONE)
			return EXEC_FAULT;
	} else {
		if (dst >= DST_ROWS / rows)
			return tensix_unknown(t, thread, i, "dst", dst);
		memset(&t->dst_valid[dst * rows], false, rows * sizeof t->dst_valid[0]);
	}
	if (mode <= 1)
		tensix_advance(t, thread, op_bits(i, 16, 15), true);
	return EXEC_DONE;
}

static void zero_bank(SrcFile *src, uint32_t bank)
{
	memset(src->rows[bank], 0, sizeof src->rows[bank]);
	src->changes[bank]++;
}

/* Both banks of both files, or the bank the matrix unit has of those named. */
Exec emu_op_ZEROSRC(Tensix *t, int thread, uint32_t i)
{
	uint32_t which = op_bits(i, 1, 0), both = op_bits(i, 2, 2), mode = op_bits(i, 3, 3);

	if (!which || (both && which != 3))
		return tensix_unknown(t, thread, i, "src_mask", which);
	if (op_bits(i, 4, 4))
		return tensix_unknown(t, thread, i, "zero_val", 1);
	if (mode == both)
		return tensix_unknown(t, thread, i, "write_mode", mode);
	for (uint32_t bank = 0; bank < 2; bank++) {
		if (which & 1 && (both || bank == t->a.matrix_bank))
			zero_bank(&t->a, bank);
		if (which & 2 && (both || bank == t->b.matrix_bank))
			zero_bank(&t->b, bank);
	}
	return EXEC_DONE;
}
