/*
 * Tensors in DRAM: their way there and back, whole or in slices.
 *
 * Each plane of each image and phase has pages of so many rows (ir/layout.h), dealt
 * over the banks from bank 0 on: those with the first rows of all planes, then those
 * with the next. In bfp8_b the exponents of a page come first. Rows are as long as
 * in L1. Who wrote rows tells the cores that will read them.
 */
#include "backend/lower.h"

static bool is_block_float(const PlanTensor *t) { return t->layout.type == DEV_BFP8_B; }

int lower_page_rows(const PlanTensor *t)
{
	return layout_page_rows(t->layout.type, t->layout.pitch, t->height);
}

uint32_t lower_page_bytes(const PlanTensor *t)
{
	const uint32_t pixels = (uint32_t)lower_page_rows(t) * (uint32_t)t->layout.pitch;
	return pixels * (uint32_t)(dev_pixel_bytes(t->layout.type) + is_block_float(t));
}

uint32_t lower_dram_page(const PlanTensor *t, int phase, int image, int plane, int row)
{
	const int part = row / lower_page_rows(t);
	return (uint32_t)(((part * t->layout.phases + phase) * t->images + image)
			  * t->layout.planes + plane);
}

uint32_t lower_dram_at(const PlanTensor *t, uint32_t page)
{
	return (uint32_t)t->layout.address + page / TT_DRAM_BANKS * lower_page_bytes(t);
}

/* Rows of one image, phase and page, between the buffer of `t` on a core and DRAM. */
static void move_rows(Lowering *l, ProgramOp *op, int core, const PlanTensor *t,
		      const PlanTensor *dram, ProgramMove m, Region r, int phase, int image)
{
	const int plane = r.planes.first, row = r.rows.first, lead = t->layout.lead;
	const int rows = lower_page_rows(dram);
	const uint32_t page = lower_dram_page(dram, phase, image, plane, row);
	const uint32_t pitch = (uint32_t)t->layout.pitch;
	const uint32_t unit = (uint32_t)dev_pixel_bytes(t->layout.type);
	const uint32_t exponents = is_block_float(t) ? (uint32_t)rows * pitch : 0;
	const uint32_t at = lower_dram_at(dram, page), first = (uint32_t)(row % rows) * pitch;
	m.bank = (int)(page % TT_DRAM_BANKS);
	m.at = at + exponents + first * unit;
	m.page_bytes = lower_page_bytes(dram);
	m.l1 = lower_values(t, core, phase, image, plane, row, -lead);
	m.bytes = (uint32_t)range_count(r.rows) * pitch * unit;
	m.count = (uint32_t)range_count(r.planes);
	m.step = lower_plane_step(t);
	program_move(l->program, op, core, m);
	lower_dram_moved(l, op, core, dram);
	if (!is_block_float(t))
		return;
	m.at = at + first;
	m.l1 = lower_exponent(t, core, phase, image, plane, row, -lead);
	m.bytes = (uint32_t)range_count(r.rows) * pitch;
	m.step = lower_exponent_step(t);
	program_move(l->program, op, core, m);
	lower_dram_moved(l, op, core, dram);
}

void lower_move(Lowering *l, ProgramOp *op, int core, const PlanTensor *t, const PlanTensor *dram,
		bool out, TtMoveWhen when, Region r)
{
	const Region inside = region_in_image(t, r);
	const int rows = lower_page_rows(dram);
	for (int row = inside.rows.first / rows * rows; row < inside.rows.end; row += rows) {
		const Region part = { range_both(inside.rows, (Range){ row, row + rows }),
				      inside.planes };
		for (int k = 0; !region_empty(part) && k < t->layout.phases * t->images; k++)
			move_rows(l, op, core, t, dram, (ProgramMove){ .out = out, .when = when },
				  part, k / t->images, k % t->images);
	}
}

/* Rows that go there anyhow say it too. */
static bool is_told(const ProgramOpCore *on, int core)
{
	bool any = false;
	for (int i = 0; i < on->npushes; i++)
		any |= on->pushes[i].core == core;
	return any;
}

void lower_announce(Lowering *l, ProgramOp *op, const PlanTensor *t)
{
	for (int from = 0; from < l->plan->cores; from++)
		for (int to = 0; to < l->plan->cores; to++)
			if (from != to && !is_told(&op->cores[from], to)
			    && plan_reads_dram(l->plan, t, to, t->shard[from].own))
				program_push(l->program, op, from, (ProgramPush){ .core = to });
}

void lower_await(Lowering *l, ProgramOp *op, const Step *s, int part)
{
	const PlanTensor *t = s->in[part].tensor;
	for (int core = 0; core < l->plan->cores; core++)
		for (int from = 0; from < l->plan->cores; from++) {
			const Region r = region_both(step_reads_dram(s, part, core),
						     t->shard[from].own);
			if (from != core && !region_empty(r))
				program_arrival(l->program, op, core,
						(ProgramArrival){ .core = from,
								  .op = l->last_op[t->done] });
		}
}

void lower_move_step(Lowering *l, ProgramOp *op, const Step *s)
{
	const PlanTensor *from = s->in[0].tensor;
	const bool out = s->kind == STEP_SPILL;
	if (!op)
		op = program_op(l->program, s->op->name, step_names[s->kind], NULL);
	for (int c = 0; c < l->plan->cores; c++)
		lower_move(l, op, c, out ? from : s->out, out ? s->out : from, out,
			   TT_MOVE_ALONGSIDE, out ? from->shard[c].own : s->out->shard[c].keep);
	if (out) {
		lower_announce(l, op, s->out);
		return;
	}
	lower_await(l, op, s, 0);
	lower_rest(l, op, s->out);
}
