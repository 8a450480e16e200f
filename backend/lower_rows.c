/*
 * Rows on their way between cores, and the zeros around tensors.
 *
 * The owner of a row pushes it to every core that keeps it too; whole rows,
 * padding included, so that a run of rows is one run of bytes in each plane.
 */
#include "backend/lower.h"

uint32_t lower_plane_step(const PlanTensor *t)
{
	return lower_exponent_step(t) * (uint32_t)dev_pixel_bytes(t->layout.type);
}

uint32_t lower_exponent_step(const PlanTensor *t)
{
	return (uint32_t)t->buffer_rows * (uint32_t)t->layout.pitch;
}

static bool is_block_float(const PlanTensor *t) { return t->layout.type == DEV_BFP8_B; }

static uint32_t pixel_bytes(const PlanTensor *t)
{
	return (uint32_t)dev_pixel_bytes(t->layout.type);
}

/* Number of a pixel in the buffer; x counts from the image's first column in
 * the phase, and may be negative. */
static uint32_t pixel(const PlanTensor *t, int core, int phase, int image, int plane, int row,
		      int x)
{
	const int first = region_empty(t->shard[core].keep) ? 0 : t->shard[core].keep.rows.first;
	return lower_plane(t, core, phase, image, plane) * lower_exponent_step(t) +
	       (uint32_t)((row - first) * t->layout.pitch + t->layout.lead + x);
}

uint32_t lower_values(const PlanTensor *t, int core, int phase, int image, int plane, int row,
		      int x)
{
	const uint32_t exponents = (uint32_t)tensor_buffer_planes(t) * lower_exponent_step(t);
	return (uint32_t)t->layout.address + (is_block_float(t) ? exponents : 0) +
	       pixel(t, core, phase, image, plane, row, x) * pixel_bytes(t);
}

uint32_t lower_exponent(const PlanTensor *t, int core, int phase, int image, int plane, int row,
			int x)
{
	return (uint32_t)t->layout.address + pixel(t, core, phase, image, plane, row, x);
}

/* Whole rows of one image and phase, from a core's buffer of `a` to another's of
 * `b`, which may be the same tensor. */
static void push(Lowering *l, ProgramOp *op, const PlanTensor *a, const PlanTensor *b, int from,
		 int to, int phase, int image, Region r)
{
	const int lead = a->layout.lead, plane = r.planes.first, row = r.rows.first;
	const uint32_t pixels = (uint32_t)range_count(r.rows) * (uint32_t)a->layout.pitch;
	const uint32_t planes = (uint32_t)range_count(r.planes);
	if (is_block_float(a))
		program_push(l->program, op, from, (ProgramPush){
			.core = to, .bytes = pixels, .count = planes,
			.from = lower_exponent(a, from, phase, image, plane, row, -lead),
			.to = lower_exponent(b, to, phase, image, plane, row, -lead),
			.from_step = lower_exponent_step(a), .to_step = lower_exponent_step(b) });
	program_push(l->program, op, from, (ProgramPush){
		.core = to, .bytes = pixels * pixel_bytes(a), .count = planes,
		.from = lower_values(a, from, phase, image, plane, row, -lead),
		.to = lower_values(b, to, phase, image, plane, row, -lead),
		.from_step = lower_plane_step(a), .to_step = lower_plane_step(b) });
}

static void push_all(Lowering *l, ProgramOp *op, const PlanTensor *a, const PlanTensor *b, int from,
		     int to)
{
	const Region r = region_both(a->shard[from].own, tensor_kept(b, to));
	if (region_empty(r))
		return;
	for (int phase = 0; phase < a->layout.phases; phase++)
		for (int image = 0; image < a->images; image++)
			push(l, op, a, b, from, to, phase, image, r);
}

void lower_pushes(Lowering *l, ProgramOp *op, const PlanTensor *a, const PlanTensor *b)
{
	if (!tensor_pushed(l->plan, b))
		return;
	for (int from = 0; from < l->plan->cores; from++)
		for (int to = 0; to < l->plan->cores; to++)
			if (to != from || a != b)
				push_all(l, op, a, b, from, to);
}

/* What this core has of others': all rows between those it owns and those it reads
 * were sent too. Of a tensor that was cut anew, who owned it before sends it. */
static void arrivals(Lowering *l, ProgramOp *op, const PlanTensor *t, int core)
{
	const Step *made = &l->plan->steps[t->done];
	const PlanTensor *source = made->kind == STEP_RESHARD ? made->in[0].tensor : t;
	for (int from = 0; from < l->plan->cores; from++) {
		const Region r = region_both(tensor_kept(t, core), source->shard[from].own);
		if (from != core && !region_empty(r))
			program_arrival(l->program, op, core, (ProgramArrival){
				.core = from, .op = l->last_op[t->done] });
	}
}

/* Does any step read the tensor here? Of a step that makes some rows alone, a core
 * may have none. */
static bool is_read(const Plan *p, const PlanTensor *t, int core)
{
	for (int i = t->done + 1; i <= t->dies; i++) {
		const Step *s = &p->steps[i];
		for (int k = 0; s->out && k < s->nin; k++)
			if (s->in[k].tensor == t
			    && !region_empty(step_reads(s, k, s->out->shard[core].own)))
				return true;
	}
	return false;
}

/* All a core keeps is pushed to it, also what lies between its own and what it
 * reads; who reads any of it waits for all, and who reads none waits too, at the last
 * step that could, so that nothing comes when the buffer is another's. */
void lower_arrivals(Lowering *l, ProgramOp *op, const Step *s)
{
	const Plan *p = l->plan;
	for (int core = 0; s->out && core < p->cores; core++)
		for (int i = 0; i < s->nin; i++) {
			const PlanTensor *t = s->in[i].tensor;
			const bool last = l->step == &p->steps[t->dies];
			if (tensor_pushed(p, t)
			    && (!region_empty(step_reads(s, i, s->out->shard[core].own))
				|| (last && !is_read(p, t, core))))
				arrivals(l, op, t, core);
		}
}

/* `pixels` from column x of a row on, in `count` rows of each plane. */
static void clear(Lowering *l, ProgramOp *op, const PlanTensor *t, int core, int row, int x,
		  uint32_t pixels, uint32_t count)
{
	const uint32_t pitch = (uint32_t)t->layout.pitch;
	const uint32_t planes = (uint32_t)tensor_buffer_planes(t);
	const Region *keep = &t->shard[core].keep;
	const int first = region_empty(*keep) ? 0 : keep->planes.first;
	if (!pixels || !count)
		return;
	/* Packers end a row of exponents with zeros up to 16 bytes. */
	const uint32_t ended = (0u - (uint32_t)x) % 16;
	if (is_block_float(t) && pixels > ended)
		program_zero(l->program, op, core, (ProgramZero){
			.at = lower_exponent(t, core, 0, 0, first, row, x + (int)ended),
			.bytes = pixels - ended, .count = count,
			.step = pitch, .planes = planes, .plane_step = lower_exponent_step(t) });
	program_zero(l->program, op, core, (ProgramZero){
		.at = lower_values(t, core, 0, 0, first, row, x), .bytes = pixels * pixel_bytes(t),
		.count = count, .step = pitch * pixel_bytes(t), .planes = planes,
		.plane_step = lower_plane_step(t) });
}

static void clear_rows(Lowering *l, ProgramOp *op, const PlanTensor *t, int core, Range r)
{
	if (range_count(r))
		clear(l, op, t, core, r.first, -t->layout.lead,
		      (uint32_t)range_count(r) * (uint32_t)t->layout.pitch, 1);
}

void lower_rest(Lowering *l, ProgramOp *op, const PlanTensor *t)
{
	for (int core = 0; core < l->plan->cores; core++) {
		const Range rows = tensor_kept(t, core).rows;
		const bool any = range_count(rows);
		const int first = region_empty(t->shard[core].keep)
			? 0 : t->shard[core].keep.rows.first;
		if (any)
			clear_rows(l, op, t, core, (Range){ first, rows.first });
		clear_rows(l, op, t, core,
			   (Range){ any ? rows.end : first, first + t->buffer_rows });
		program_zero(l->program, op, core, (ProgramZero){
			.at = (uint32_t)t->layout.address + (uint32_t)(t->bytes - t->slack),
			.bytes = (uint32_t)t->slack, .count = 1, .planes = 1 });
	}
}

/* Columns before the image, and what no row of it fills but a reader of 32 pixels
 * may run into. Columns behind the image are the packers' work where they store
 * whole tiles, else ours. */
void lower_zeros(Lowering *l, ProgramOp *op, const Step *s)
{
	const PlanTensor *t = s->out;
	const Layout *y = &t->layout;
	const int cols = (y->cols + y->phases - 1) / y->phases;
	const bool tiles = s->kind != STEP_EDGE_IN && s->kind != STEP_DECONV2 && !t->partial;
	for (int core = 0; core < l->plan->cores; core++) {
		const Range rows = tensor_kept(t, core).rows;
		const uint32_t inside = (uint32_t)range_count(rows);
		clear(l, op, t, core, rows.first, -y->lead, (uint32_t)y->lead, inside);
		if (!tiles)
			clear(l, op, t, core, rows.first, cols,
			      (uint32_t)(y->pitch - y->lead - cols), inside);
	}
	lower_rest(l, op, t);
}

void lower_reshard(Lowering *l, const Step *s)
{
	const PlanTensor *from = s->in[0].tensor;
	if (l->image)
		return;
	ProgramOp *op = program_op(l->program, s->op->name, step_names[s->kind], NULL);
	lower_zeros(l, op, s);
	lower_pushes(l, op, from, s->out);
}
