/*
 * dst_early, zeroacc_packing, sfpload_early: rows of Dst between the threads.
 *
 * Nothing but semaphores keeps a packer from reading rows the math thread has
 * not finished, or the math thread from writing rows a packer still reads.
 * So everybody who can take part in telling (threads, semaphores, mutexes,
 * RISC-Vs) has a Know: how far each thread had come when it last heard, by
 * whatever way, of it. Where the way is uncertain the later state is assumed,
 * so a missed breach is possible and a false report is not.
 *
 * A thread that tells has to wait for its packers first (STALLWAIT on C3 to
 * C6): that is what Know.packed counts.
 */
#include "runtime/emu/fpu.h"
#include "runtime/emu/shadow_state.h"

void know_join(Know *to, const Know *from)
{
	for (int k = 0; k < TENSIX_THREADS; k++) {
		if (from->issued[k] > to->issued[k])
			to->issued[k] = from->issued[k];
		if (from->packed[k] > to->packed[k])
			to->packed[k] = from->packed[k];
		if (from->unpacked[k] > to->unpacked[k])
			to->unpacked[k] = from->unpacked[k];
	}
}

void hart_learns(HartShadow *h, const Know *from)
{
	know_join(&h->know, from);
	h->lessons++;
}

/* What a thread knows only grows, so it has to look only where there is more. */
static inline void catch_up(Know *mine, uint32_t *lessons, const HartShadow *h)
{
	if (*lessons == h->lessons)
		return;
	know_join(mine, &h->know);
	*lessons = h->lessons;
}

void know_done(Know *mine, int thread, uint32_t open)
{
	if (!(open & USE_PACK))
		mine->packed[thread] = mine->issued[thread];
	if (!(open & USE_UNPACK))
		mine->unpacked[thread] = mine->issued[thread];
}

static void check_written(EmuCore *c, int thread, DstUser user, const DstBlock *b, uint32_t row)
{
	const Know *mine = &c->shadow->thread[thread].know;
	int writer = b->writer - 1;

	if (user == DST_PACKER && writer >= 0 && writer != thread &&
	    mine->issued[writer] < b->written)
		emu_fault(c, TRISC0 + thread, "dst_early", row,
			  "packs row %u, written by thread %d, without a semaphore in between",
			  (unsigned)row, writer);
	/* SFPLOAD.md: at least three instructions after the matrix unit wrote. */
	if (user == DST_VECTOR && writer == thread && b->user == DST_MATRIX &&
	    mine->issued[thread] - b->written <= 3 &&
	    c->shadow->thread[thread].open & USE_MATRIX)
		emu_fault(c, TRISC0 + thread, "sfpload_early", row,
			  "loads row %u %u instructions after the matrix unit wrote it",
			  (unsigned)row, (unsigned)(mine->issued[thread] - b->written));
}

void shadow_dst_read(EmuCore *c, int thread, DstUser user, uint32_t row, uint32_t rows)
{
	Shadow *s = c->shadow;

	if (!rows)
		return;
	for (uint32_t k = row / DST_BLOCK; k <= (row + rows - 1) / DST_BLOCK; k++) {
		DstBlock *b = &s->dst[k % DST_BLOCKS];

		check_written(c, thread, user, b, k * DST_BLOCK);
		if (user == DST_PACKER)
			b->packed[thread] = s->thread[thread].know.issued[thread];
	}
}

void shadow_dst_write(EmuCore *c, int thread, DstUser user, uint32_t row, uint32_t rows)
{
	Shadow *s = c->shadow;
	const Know *mine = &s->thread[thread].know;

	if (!rows)
		return;
	for (uint32_t k = row / DST_BLOCK; k <= (row + rows - 1) / DST_BLOCK; k++) {
		DstBlock *b = &s->dst[k % DST_BLOCKS];

		for (int p = 0; p < TENSIX_THREADS; p++)
			if (b->packed[p] > mine->packed[p])
				emu_fault(c, TRISC0 + thread, "zeroacc_packing", k * DST_BLOCK,
					  "writes row %u, which thread %d may still be packing",
					  (unsigned)(k * DST_BLOCK), p);
		b->writer = (uint8_t)(1 + thread);
		b->user = (uint8_t)user;
		b->written = mine->issued[thread];
	}
}

/* Rows of an instruction that has an operand for them. */
static void touch(EmuCore *c, int thread, DstUser user, bool write, uint32_t row, uint32_t rows,
		  bool wide)
{
	void (*hook)(EmuCore *, int, DstUser, uint32_t, uint32_t) =
		write ? shadow_dst_write : shadow_dst_read;

	for (uint32_t k = row; k < row + rows; k += 4) { /* wide rows keep together in eights */
		uint32_t at = (wide ? dst32_row(k % DST_ROWS) : k) % DST_ROWS;

		hook(c, thread, user, at, 4);
		if (wide)
			hook(c, thread, user, at + DST32_LOW, 4);
	}
}

static void touch_cleared(EmuCore *c, int thread, uint32_t i, bool wide)
{
	uint32_t mode = op_bits(i, 21, 19), rows = DST_ROWS;

	if (mode == 0) {
		uint32_t row = fpu_dst_row(&c->tensix, thread, op_bits(i, 9, 0));

		touch(c, thread, DST_MATRIX, true, row & ~3u, 4, wide);
		return;
	}
	if ((mode & 3) == 1)
		rows = 16;
	else if ((mode & 3) == 2)
		rows = DST_ROWS / 2;
	shadow_dst_write(c, thread, DST_MATRIX, op_bits(i, 9, 0) * rows % DST_ROWS, rows);
}

static void touch_rows(EmuCore *c, int thread, uint32_t i)
{
	const Tensix *t = &c->tensix;
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t row = fpu_dst_row(t, thread, op_bits(i, 9, 0)) % DST_ROWS, op = i >> 24;
	bool wide = cfg_field(cfg, CFG_ALU_ACC_CTRL_Fp32_enabled);
	uint32_t format = op_bits(i, 19, 16); /* of SFPLOAD and SFPSTORE */

	switch (op) {
	case T_MVMUL: case T_ELWMUL: case T_ELWADD: case T_ELWSUB:
		touch(c, thread, DST_MATRIX, true, row & ~7u, 8, wide);
		break;
	case T_GMPOOL: case T_GAPOOL:
		touch(c, thread, DST_MATRIX, true, row & ~3u, 4, wide);
		break;
	case T_MOVA2D: case T_MOVB2D:
		wide = cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG0_SrcA) == FPU_TF32 ||
		       op_bits(i, 23, 23);
		touch(c, thread, DST_MATRIX, true, row & ~3u,
		      op == T_MOVB2D && !op_bits(i, 13, 13) ? 4 : 8, wide);
		break;
	case T_SFPLOAD: case T_SFPSTORE:
		wide = format ? format == 3 || format == 4
			      : cfg_field(cfg, CFG_ALU_ACC_CTRL_SFPU_Fp32_enabled);
		touch(c, thread, DST_VECTOR, op == T_SFPSTORE, row & ~3u, 4, wide);
		break;
	case T_ZEROACC:
		touch_cleared(c, thread, i, wide);
		break;
	}
}

void dst_issue(EmuCore *c, int thread, uint32_t i)
{
	Shadow *s = c->shadow;
	Know *mine = &s->thread[thread].know;

	/* What its RISC-V has waited for, its instructions come after. */
	catch_up(mine, &s->thread[thread].own_lessons, &s->hart[TRISC0 + thread]);
	catch_up(mine, &s->thread[thread].brisc_lessons, &s->hart[BRISC]);
	mine->issued[thread]++;
	touch_rows(c, thread, i);
	switch (i >> 24) {
	case T_SEMINIT: case T_SEMPOST: case T_SEMGET:
		for (int k = 0; k < SEMAPHORES; k++)
			if (op_bits(i, 9, 2) >> k & 1)
				know_join(&s->semaphore[k], mine);
		break;
	case T_ATGETM:
		know_join(mine, &s->mutex[i % MUTEXES]);
		break;
	case T_ATRELM:
		know_join(&s->mutex[i % MUTEXES], mine);
		break;
	}
}

/* Blocks that a product onto 8 rows writes: one, or with 32-bit values the next one too. */
static uint32_t first_block(uint32_t row, bool wide)
{
	return (wide ? dst32_row(row) : row) / DST_BLOCK;
}

static bool is_packing(const DstBlock *b, const Know *mine)
{
	return b->packed[0] > mine->packed[0] || b->packed[1] > mine->packed[1] ||
	       b->packed[2] > mine->packed[2];
}

bool shadow_matrix_run(EmuCore *c, int thread, const MatrixRun *r, uint32_t to)
{
	const bool wide = cfg_field(tensix_cfg(&c->tensix, thread), CFG_ALU_ACC_CTRL_Fp32_enabled);
	Know *mine = &c->shadow->thread[thread].know;
	DstBlock *blocks = c->shadow->dst;

	for (uint32_t k = 0; k < r->chains; k++) {
		const uint32_t at = first_block((r->chain[k].dst + to) % DST_ROWS, wide);

		if (is_packing(&blocks[at], mine) || is_packing(&blocks[at + wide], mine))
			return false;
	}
	for (uint32_t k = 0; k < r->chains; k++) {
		const uint32_t at = first_block((r->chain[k].dst + to) % DST_ROWS, wide);

		for (uint32_t more = 0; more <= wide; more++) {
			DstBlock *b = &blocks[at + more];

			b->writer = (uint8_t)(1 + thread);
			b->user = DST_MATRIX;
			b->written = mine->issued[thread] + r->chain[k].last;
		}
	}
	mine->issued[thread] += r->count - 1;
	return true;
}

void semaphore_load(EmuCore *c, Risc r, uint32_t n)
{
	Shadow *s = c->shadow;

	hart_learns(&s->hart[r], &s->semaphore[n]);
	for (int k = 0; k < RISCS; k++)
		if (k != (int)r)
			told(&s->hart[r], (Risc)k, &s->semaphore_told[n][k]);
}

void semaphore_store(EmuCore *c, Risc r, uint32_t n)
{
	Shadow *s = c->shadow;

	know_join(&s->semaphore[n], &s->hart[r].know);
	s->semaphore_told[n][r] = telling(&s->hart[r]);
}
