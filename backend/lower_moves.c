/*
 * Tensors in DRAM: their way there and back, whole or in slices.
 *
 * Each plane of each image and phase is a page, dealt over the banks from bank 0
 * on, with all rows of the image; in bfp8_b the exponents of the plane come
 * first. Rows are as long as in L1. Who wrote rows tells the cores that will
 * read them.
 */
#include "backend/lower.h"

static bool is_block_float(const PlanTensor *t) { return t->layout.type == DEV_BFP8_B; }

uint32_t lower_page_bytes(const PlanTensor *t)
{
	const uint32_t pixels = (uint32_t)t->height * (uint32_t)t->layout.pitch;
	return pixels * (is_block_float(t) ? 17 : 32);
}

static uint32_t slot_bytes(const PlanTensor *t)
{
	const int pages = t->layout.phases * t->images * t->layout.planes;
	return (uint32_t)((pages + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS) * lower_page_bytes(t);
}

void lower_dram_tensors(Lowering *l)
{
	for (int i = 0; i < l->plan->ntensors; i++) {
		PlanTensor *t = l->plan->tensors[i];
		if (t->layout.place == PLACE_DRAM)
			t->layout.address = lower_dram_all(l, 2 * (uint64_t)slot_bytes(t));
	}
}

void lower_dram_buffer(Lowering *l, const PlanTensor *t)
{
	ProgramBuffer *b = program_buffer(l->program, t->name);
	b->place = PLACE_DRAM;
	b->address = t->layout.address;
	b->bytes = 2 * (uint64_t)slot_bytes(t);
	b->last = l->program->nops - 1;
}

/* One image and phase of a region, between the buffer of `t` on a core and DRAM. */
static void move_image(Lowering *l, ProgramOp *op, int core, const PlanTensor *t,
		       const PlanTensor *dram, bool out, TtMoveWhen when, Region r, int phase,
		       int image)
{
	const int plane = r.planes.first, row = r.rows.first, lead = t->layout.lead;
	const uint32_t page = (uint32_t)((phase * t->images + image) * t->layout.planes + plane);
	const uint32_t pitch = (uint32_t)t->layout.pitch, unit = is_block_float(t) ? 16 : 32;
	const uint32_t exponents = is_block_float(t) ? (uint32_t)t->height * pitch : 0;
	const uint32_t at = (uint32_t)dram->layout.address
		+ page / TT_DRAM_BANKS * lower_page_bytes(t);
	ProgramMove m = {
		.out = out, .when = when, .bank = (int)(page % TT_DRAM_BANKS),
		.at = at + exponents + (uint32_t)row * pitch * unit,
		.page_bytes = lower_page_bytes(t), .slot_bytes = slot_bytes(t),
		.l1 = lower_values(t, core, phase, image, plane, row, -lead),
		.bytes = (uint32_t)range_count(r.rows) * pitch * unit,
		.count = (uint32_t)range_count(r.planes), .step = lower_plane_step(t),
	};
	program_move(l->program, op, core, m);
	if (!is_block_float(t))
		return;
	m.at = at + (uint32_t)row * pitch;
	m.l1 = lower_exponent(t, core, phase, image, plane, row, -lead);
	m.bytes = (uint32_t)range_count(r.rows) * pitch;
	m.step = lower_exponent_step(t);
	program_move(l->program, op, core, m);
}

void lower_move(Lowering *l, ProgramOp *op, int core, const PlanTensor *t, const PlanTensor *dram,
		bool out, TtMoveWhen when, Region r)
{
	const Region inside = region_in_image(t, r);
	if (region_empty(inside))
		return;
	for (int phase = 0; phase < t->layout.phases; phase++)
		for (int image = 0; image < t->images; image++)
			move_image(l, op, core, t, dram, out, when, inside, phase, image);
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
