/*
 * Products with weights. One op makes all images: they share every page.
 */
#include "backend/lower.h"

static Range positions(const Step *s, int core)
{
	const Range rows = step_work(s, core).rows;
	return range_count(rows) ? step_positions(s, rows) : (Range){ 0, 0 };
}

static int floor_div(int a, int b)
{
	return a < 0 ? -((b - 1 - a) / b) : a / b;
}

/* Column phases of the input, and its images. */
static void set_input_sets(ProgramOp *op, const Step *s)
{
	const Window w = s->window[1];
	const int first = floor_div(-w.pad, w.stride);
	program_set(op, "phase", 0, (uint32_t)(-w.pad - first * w.stride));
	program_set(op, "more_images", 0, (uint32_t)s->out->images - 1);
	for (int i = 0; i < s->nin; i++) {
		const PlanTensor *t = s->in[i].tensor;
		program_set(op, "in_x", i, (uint32_t)(t->layout.lead + first));
		program_set(op, "in_phase", i,
			    w.stride > 1 ? (uint32_t)(t->images * t->buffer_planes) : 0);
		program_set(op, "in_image", i, t->images > 1 ? (uint32_t)t->buffer_planes : 0);
	}
}

/* Each group of channels reads its own planes; a core's first group too. */
static void set_groups(Lowering *l, ProgramOp *op, const Step *s)
{
	const int planes = part_planes(&s->in[0]) / s->channel_groups;
	const int pages = s->groups / s->channel_groups;
	if (s->channel_groups == 1)
		return;
	program_set(op, "group_pages", 0, (uint32_t)pages);
	program_set(op, "group_step", 0, (uint32_t)planes);
	for (int c = 0; c < l->plan->cores; c++) {
		const int page = step_groups(s, step_work(s, c).planes).first;
		const int first = s->in[0].plane + page / pages * planes;
		const bool idle = !range_count(positions(s, c));
		lower_set(l, op, c, "in_planes", 0, (uint32_t)planes);
		lower_set(l, op, c, "in_first", 0,
			  idle ? 0 : lower_plane(s->in[0].tensor, c, 0, 0, first));
	}
}

/* Rows and the column phase of the result that the step makes. */
static void set_output_sets(Lowering *l, ProgramOp *op, const Step *s)
{
	const PlanTensor *t = s->out;
	program_set(op, "cols", 0, (uint32_t)step_columns(s));
	program_set(op, "out_image", 0, t->images > 1 ? (uint32_t)t->buffer_planes : 0);
	program_set(op, "out_skip", 0, (uint32_t)s->row_step - 1);
	for (int c = 0; c < l->plan->cores; c++) {
		const Range at = positions(s, c), planes = step_work(s, c).planes;
		const bool idle = !range_count(at);
		const int unit = s->kind == STEP_DECONV2 ? 2 : s->row_step;
		lower_set(l, op, c, "rows", 0, (uint32_t)range_count(at));
		lower_set(l, op, c, "out_first", 0,
			  idle ? 0 : lower_plane(t, c, s->column_phase, 0, planes.first));
		lower_set(
			l, op, c, "out_y", 0,
			idle ? 0
			     : (uint32_t)(s->row + at.first * unit - t->shard[c].keep.rows.first));
		for (int i = 0; i < s->nin && idle; i++)
			lower_set(l, op, c, "in_y", i, 0);
	}
}

void lower_conv(Lowering *l, const Step *s)
{
	ProgramOp *op = lower_tiles(l, s);
	const uint32_t n = (uint32_t)s->held, phases = (uint32_t)s->phases;
	const uint32_t hold = (uint32_t)s->stream.hold;
	const uint32_t in = (uint32_t)s->in[0].tensor->layout.type;
	l->images = s->out->images;
	set_input_sets(op, s);
	set_groups(l, op, s);
	set_output_sets(l, op, s);
	lower_run(l, op, TT_TRISC0, "conv_unpack",
		  (uint32_t[]){ in, (uint32_t)s->weights, n, hold }, 4);
	lower_run(l, op, TT_TRISC1, "conv_math", (uint32_t[]){ n, hold, phases }, 3);
	lower_store(l, op, s, n, hold);
	lower_weights(l, op, s);
	lower_around(l, op, s);
}
