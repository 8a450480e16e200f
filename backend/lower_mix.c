/*
 * Sums over pixels by tables: one op for each column phase of the result.
 */
#include "backend/lower.h"

/* Where the tables stand, and which rows of them a core needs. */
static void set_tables(Lowering *l, ProgramOp *op, const Step *s, const Mix *m)
{
	const PlanTensor *in = s->in[0].tensor;
	program_set(op, "cols", 0, (uint32_t)m->out_cols);
	program_set(op, "kernel_h", 0, (uint32_t)m->row_terms);
	program_set(op, "kernel_w", 0, (uint32_t)m->col_terms);
	program_set(op, "in_phase", 0,
		    in->layout.phases > 1 ? (uint32_t)(in->images * in->buffer_planes) : 0);
	program_set(op, "mix_rows_at", 0, mix_rows_at(m));
	program_set(op, "mix_tiles_at", 0, mix_tiles_at(m));
	for (int c = 0; c < l->plan->cores; c++) {
		const Region work = step_work(s, c);
		const bool idle = !range_count(work.rows);
		lower_set(l, op, c, "mix_row", 0, idle ? 0 : (uint32_t)work.rows.first);
		lower_set(l, op, c, "mix_above", 0,
			  idle ? 0 : (uint32_t)step_reads(s, 0, work).rows.first);
	}
}

static void set_output_phase(Lowering *l, ProgramOp *op, const Step *s, int phase)
{
	for (int c = 0; c < l->plan->cores; c++) {
		const Region work = step_work(s, c);
		if (range_count(work.rows))
			lower_set(l, op, c, "out_first", 0,
				  lower_plane(s->out, c, phase, l->image, work.planes.first));
	}
}

static void lower_phase(Lowering *l, const Step *s, int phase)
{
	const Mix *m = s->mix[phase];
	const uint32_t in = (uint32_t)s->in[0].tensor->layout.type, pairs = 4;
	const int last = s->out->layout.phases - 1;
	ProgramOp *op = lower_tiles(l, s);
	uint8_t *page = arena_alloc(l->arena, mix_bytes(m));
	mix_pack(m, page);
	set_tables(l, op, s, m);
	set_output_phase(l, op, s, phase);
	lower_run(l, op, TT_TRISC0, "mix_unpack", (uint32_t[]){ in, m->across }, 2);
	lower_run(l, op, TT_TRISC1, "mix_math", (uint32_t[]){ (uint32_t)m->phases, m->across }, 2);
	lower_store(l, op, s, pairs, 1);
	lower_page(l, op, s, page, mix_bytes(m));
	if (last == 0)
		lower_around(l, op, s);
	else
		lower_around_one(l, op, s, phase == 0, phase == last);
}

void lower_mix(Lowering *l, const Step *s)
{
	for (int phase = 0; phase < s->out->layout.phases; phase++)
		lower_phase(l, s, phase);
}
