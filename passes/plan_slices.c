/*
 * Steps whose input or result lies in DRAM: they work on a slice of rows at a
 * time, while the next one is read and the last one is written. Each has two
 * buffers for that; or one, and the three follow each other.
 */
#include <stdlib.h>

#include "ir/hint.h"
#include "passes/plan_dram.h"

bool plan_can_slice(const Plan *p, const PlanTensor *t)
{
	bool any = false;
	if (t->born != t->done) /* made piece by piece */
		return false;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (s->out != t && !plan_reads(s, t))
			continue;
		if (s->out && s->out->born != s->out->done)
			return false;
		if (s->out == t && s->kind == STEP_REDUCE) /* a pixel, which grows where it is */
			return false;
		if (!step_can_slice(s) && s->kind != STEP_SPILL && s->kind != STEP_REFILL)
			return false;
		any = true;
	}
	return any;
}

static bool in_dram(const PlanTensor *t) { return t->layout.place == PLACE_DRAM; }

static int64_t buffer_bytes(const PlanTensor *t)
{
	Layout l = t->layout;
	l.place = PLACE_L1;
	l.rows = t->buffer_rows;
	l.planes = t->images * t->buffer_planes;
	return (layout_bytes(&l) + t->slack + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
}

/* What stands in L1 of a part, or (k == nin) of the result; all its buffers. */
static PlanTensor sliced(const Plan *p, const Step *s, int k)
{
	PlanTensor t = k < s->nin ? *s->in[k].tensor : *s->out;
	t.layout.place = PLACE_L1;
	t.buffer_rows = t.buffer_planes = 1;
	const int slices = step_slices(p, s);
	for (int c = 0; c < p->cores; c++)
		for (int i = 0; i < slices; i++) {
			const Region r = step_slice(s, k, c, i);
			if (range_count(r.rows) > t.buffer_rows)
				t.buffer_rows = range_count(r.rows);
			if (range_count(r.planes) > t.buffer_planes)
				t.buffer_planes = range_count(r.planes);
		}
	t.bytes = step_slice_buffers(s) * buffer_bytes(&t);
	return t;
}

int64_t plan_slice_bytes(const Plan *p, const Step *s)
{
	int64_t bytes = 0;
	for (int k = 0; k <= s->nin; k++) {
		const PlanTensor *t = k < s->nin ? s->in[k].tensor : s->out;
		if (t && t->layout.place == PLACE_DRAM)
			bytes += sliced(p, s, k).bytes;
	}
	return bytes;
}

static PlanTensor *tensor_of(const Step *s, int k) { return k < s->nin ? s->in[k].tensor : s->out; }

/* Do the slices fit, in L1 and into what routines can address? */
static bool fit(const Plan *p, const Step *s, int64_t bytes)
{
	for (int k = 0; k <= s->nin; k++) {
		if (!tensor_of(s, k) || !in_dram(tensor_of(s, k)))
			continue;
		const PlanTensor t = sliced(p, s, k);
		bytes -= t.bytes;
		if (bytes < 0 || t.buffer_rows > MAX_BAND_ROWS)
			return false;
	}
	return true;
}

/* Bytes of L1 that nothing else takes during a step. */
static int64_t room(const Plan *p, int step)
{
	int64_t left = p->target->l1_end - p->target->l1_first - ALIGN_DRAM;
	for (int i = 0; i < p->ntensors; i++)
		if (p->tensors[i]->born <= step && step <= p->tensors[i]->dies)
			left -= p->tensors[i]->bytes;
	const Step *s = &p->steps[step];
	return left - s->weight_bytes - s->stream.sums_bytes - s->scratch_bytes;
}

static int highest(const Plan *p, const Step *s)
{
	const PlanTensor *t = s->out ? s->out : s->in[0].tensor;
	int most = 1;
	for (int c = 0; c < p->cores; c++) {
		const int rows = range_count(step_sliced_rows(s, t->shard[c].own));
		most = rows > most ? rows : most;
	}
	return most;
}

/* Rows of a slice: as asked for, else as many as fit, of whole units. One at a time if
 * two of the lowest do not fit. */
static int height_of(const Plan *p, Step *s, int step, int rows)
{
	const PlanTensor *t = s->out && !s->out->partial ? s->out : s->in[0].tensor;
	const char *hint = op_hint(s->op, "act_block_h");
	const int unit = t->row_unit, most = (highest(p, s) + unit - 1) / unit * unit;
	if (hint)
		rows = atoi(hint) / ((t->layout.cols + TILE - 1) / TILE * TILE);
	if (rows || hint) {
		rows = (rows + unit - 1) / unit * unit;
		return rows < unit ? unit : rows < most ? rows : most;
	}
	const int64_t bytes = room(p, step);
	for (s->slice = most; s->slice > unit && !fit(p, s, bytes);)
		s->slice -= unit;
	if (s->single || fit(p, s, bytes))
		return s->slice;
	s->single = true;
	for (s->slice = most; s->slice > unit && !fit(p, s, bytes);)
		s->slice -= unit;
	return s->slice;
}

void plan_slice_buffers(Plan *p, int step)
{
	Arena *a = p->graph->arena;
	Step *s = &p->steps[step];
	s->slices = arena_array(a, PlanTensor *, s->nin + 1);
	for (int k = 0; k <= s->nin; k++) {
		PlanTensor *whole = tensor_of(s, k);
		if (!whole || !in_dram(whole))
			continue;
		const PlanTensor buffers = sliced(p, s, k);
		PlanTensor *t = plan_add_tensor(p, &buffers);
		t->name = arena_printf(a, "%s.slice%d.%d", whole->name, step, k);
		t->born = t->done = t->dies = step;
		s->slices[k] = t;
	}
}

bool plan_is_sliced(const Step *s)
{
	bool any = s->out && in_dram(s->out);
	for (int k = 0; k < s->nin; k++)
		any |= in_dram(s->in[k].tensor);
	return any && s->kind != STEP_SPILL && s->kind != STEP_REFILL;
}

/* Do hints want activations fetched only when the last are used up? */
static bool wants_single(const Op *op)
{
	return op_asks(op, "double_buffer", "none") || op_asks(op, "double_buffer", "weights");
}

void plan_slices(Plan *p, int rows, bool single)
{
	for (int i = 0; i < p->nsteps; i++) {
		Step *s = &p->steps[i];
		s->slice = 0;
		s->single = false;
		if (!plan_is_sliced(s))
			continue;
		s->single = single || wants_single(s->op);
		s->slice = height_of(p, s, i, rows);
		plan_slice_buffers(p, i);
	}
}
