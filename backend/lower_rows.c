/*
 * Rows on their way between cores, and the zeros around tensors.
 *
 * The owner of a row pushes it to every core that keeps it too; whole rows,
 * padding included, so that a run of rows is one run of bytes in each plane.
 */
#include "backend/lower.h"

Layout lower_layout(const PlanTensor *t, int core)
{
	Layout l = t->layout;
	l.row = t->band[core].first;
	l.rows = t->buffer_rows;
	return l;
}

uint32_t lower_values(const PlanTensor *t, int core, int plane, int row, int col)
{
	const Layout l = lower_layout(t, core);
	return (uint32_t)(l.address + (uint64_t)layout_at(&l, plane, row, col).values);
}

uint32_t lower_exponent(const PlanTensor *t, int core, int plane, int row, int col)
{
	const Layout l = lower_layout(t, core);
	return (uint32_t)(l.address + (uint64_t)layout_at(&l, plane, row, col).exponent);
}

static uint32_t plane_pixels(const PlanTensor *t)
{
	return (uint32_t)t->buffer_rows * (uint32_t)t->layout.pitch;
}

static bool is_block_float(const PlanTensor *t) { return t->layout.type == DEV_BFP8_B; }

static uint32_t pixel_bytes(const PlanTensor *t) { return is_block_float(t) ? 16 : 32; }

uint32_t lower_plane_step(const PlanTensor *t) { return plane_pixels(t) * pixel_bytes(t); }
uint32_t lower_exponent_step(const PlanTensor *t) { return plane_pixels(t); }

static int height(const PlanTensor *t) { return (int)t->op->shape.dim[2]; }

static Rows both(Rows a, Rows b)
{
	return (Rows){ a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end };
}

static Rows owned(const PlanTensor *t, int core)
{
	const Band *b = &t->band[core];
	return (Rows){ b->row, b->row + b->rows };
}

static Rows kept(const PlanTensor *t, int core)
{
	return both((Rows){ t->band[core].first, t->band[core].end }, (Rows){ 0, height(t) });
}

static void push(Lowering *l, ProgramOp *op, const PlanTensor *t, int from, int to, Rows r)
{
	const int lead = t->layout.lead;
	const uint32_t pixels = (uint32_t)(r.end - r.first) * (uint32_t)t->layout.pitch;
	const uint32_t planes = (uint32_t)t->layout.planes;
	if (is_block_float(t))
		program_push(l->program, op, from, (ProgramPush){
			.core = to, .bytes = pixels, .count = planes,
			.from = lower_exponent(t, from, 0, r.first, -lead),
			.to = lower_exponent(t, to, 0, r.first, -lead),
			.from_step = lower_exponent_step(t), .to_step = lower_exponent_step(t) });
	program_push(l->program, op, from, (ProgramPush){
		.core = to, .bytes = pixels * pixel_bytes(t), .count = planes,
		.from = lower_values(t, from, 0, r.first, -lead),
		.to = lower_values(t, to, 0, r.first, -lead),
		.from_step = lower_plane_step(t), .to_step = lower_plane_step(t) });
}

/* From the host every core fetches all rows it keeps. */
static bool is_pushed(const PlanTensor *t) { return t->op->kind != OP_INPUT; }

void lower_pushes(Lowering *l, ProgramOp *op, const Step *s)
{
	const PlanTensor *t = s->out;
	if (!is_pushed(t))
		return;
	for (int from = 0; from < l->plan->cores; from++)
		for (int to = 0; to < l->plan->cores; to++) {
			const Rows r = both(owned(t, from), kept(t, to));
			if (to != from && r.first < r.end)
				push(l, op, t, from, to, r);
		}
}

/* Rows that this core reads of others. */
static void arrivals(Lowering *l, ProgramOp *op, const PlanTensor *t, int core, Rows reads)
{
	for (int from = 0; from < l->plan->cores; from++) {
		const Rows r = both(reads, owned(t, from));
		if (from != core && r.first < r.end)
			program_arrival(l->program, op, core,
					(ProgramArrival){ .core = from, .op = t->born });
	}
}

void lower_arrivals(Lowering *l, ProgramOp *op, const Step *s)
{
	for (int core = 0; s->out && core < l->plan->cores; core++) {
		const Rows reads = step_reads(s, owned(s->out, core));
		for (int i = 0; i < s->nin && reads.first < reads.end; i++)
			if (is_pushed(s->in[i]))
				arrivals(l, op, s->in[i], core, reads);
	}
}

/* `pixels` from a pixel on, in `count` rows of each plane. */
static void clear(Lowering *l, ProgramOp *op, const PlanTensor *t, int core, int row, int col,
		  uint32_t pixels, uint32_t count)
{
	const uint32_t pitch = (uint32_t)t->layout.pitch, planes = (uint32_t)t->layout.planes;
	if (!pixels || !count)
		return;
	/* Packers end a row of exponents with zeros up to 16 bytes. */
	const uint32_t ended = (0u - (uint32_t)col) % 16;
	if (is_block_float(t) && pixels > ended)
		program_zero(l->program, op, core, (ProgramZero){
			.at = lower_exponent(t, core, 0, row, col + (int)ended),
			.bytes = pixels - ended, .count = count,
			.step = pitch, .planes = planes, .plane_step = lower_exponent_step(t) });
	program_zero(l->program, op, core, (ProgramZero){
		.at = lower_values(t, core, 0, row, col), .bytes = pixels * pixel_bytes(t),
		.count = count, .step = pitch * pixel_bytes(t), .planes = planes,
		.plane_step = lower_plane_step(t) });
}

static void clear_rows(Lowering *l, ProgramOp *op, const PlanTensor *t, int core, int first,
		       int end)
{
	if (first < end)
		clear(l, op, t, core, first, -t->layout.lead,
		      (uint32_t)(end - first) * (uint32_t)t->layout.pitch, 1);
}

/* Columns before the image, rows above and below it, rows of the buffer that
 * this core does not use but a reader of 32 pixels may run into, and the bytes
 * behind the last plane. Columns behind the image are the packers' work where
 * they store whole tiles, else ours. */
void lower_zeros(Lowering *l, ProgramOp *op, const Step *s)
{
	const PlanTensor *t = s->out;
	const Layout *y = &t->layout;
	for (int core = 0; core < l->plan->cores; core++) {
		const Band *b = &t->band[core];
		const Rows rows = kept(t, core);
		const int inside = rows.first < rows.end ? rows.end - rows.first : 0;
		const int buffer_end = b->first + t->buffer_rows;
		clear(l, op, t, core, rows.first, -y->lead, (uint32_t)y->lead, (uint32_t)inside);
		if (!is_pushed(t) || s->kind == STEP_DECONV2)
			clear(l, op, t, core, rows.first, y->cols,
			      (uint32_t)(y->pitch - y->lead - y->cols), (uint32_t)inside);
		if (inside) {
			clear_rows(l, op, t, core, b->first, rows.first);
			clear_rows(l, op, t, core, rows.end, buffer_end);
		} else {
			clear_rows(l, op, t, core, b->first, buffer_end);
		}
		program_zero(l->program, op, core, (ProgramZero){
			.at = (uint32_t)y->address + (uint32_t)(t->bytes - t->slack),
			.bytes = (uint32_t)t->slack, .count = 1, .planes = 1 });
	}
}
