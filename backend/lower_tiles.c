/*
 * What all ops on tiles have in common: where they read and write.
 */
#include "backend/lower.h"

#include <string.h>

uint32_t lower_plane(const PlanTensor *t, int core, int phase, int image, int plane)
{
	const Region *keep = &t->shard[core].keep;
	const int first = region_empty(*keep) ? 0 : keep->planes.first;
	if (t->images == 1)
		image = 0; /* for all of them */
	return (uint32_t)((phase * t->images + image) * t->buffer_planes + plane - first);
}

/* Rows and planes of part i that a core reads. */
static Region reads(const Step *s, int i, int core)
{
	const Region work = step_work(s, core);
	const Part *part = &s->in[i];
	Region r = step_reads(s, i, work);
	if (range_count(r.rows)) /* a step may make no row of a core's */
		return r;
	r = step_reads(s, i, (Region){ { s->row, s->row + 1 }, work.planes });
	const int planes = range_count(r.planes);
	r.rows = (Range){ 0, 0 };
	r.planes.first = region_empty(part->tensor->shard[core].keep)
		? 0 : part->tensor->shard[core].keep.planes.first;
	r.planes.end = r.planes.first + planes;
	return r;
}

void lower_input(Lowering *l, ProgramOp *op, const Step *s)
{
	program_set(op, "segments", 0, (uint32_t)s->nin);
	for (int i = 0; i < s->nin; i++) {
		const PlanTensor *t = s->in[i].tensor;
		const Layout *y = &t->layout;
		program_set(op, "in", i, (uint32_t)y->address);
		program_set(op, "in_pitch", i, (uint32_t)y->pitch);
		program_set(op, "in_height", i, (uint32_t)t->buffer_rows);
		program_set(op, "in_total", i, (uint32_t)tensor_buffer_planes(t));
		program_set(op, "in_x", i, (uint32_t)(y->lead - s->window[1].pad));
		program_set(op, "k_block", i, s->weights ? step_blocks(s, i).k : 0);
		for (int c = 0; c < l->plan->cores; c++) {
			const Region r = reads(s, i, c);
			const int first = range_count(r.rows) ? t->shard[c].keep.rows.first
							      : r.rows.first;
			lower_set(l, op, c, "in_first", i,
				  lower_plane(t, c, 0, l->image, r.planes.first));
			lower_set(l, op, c, "in_planes", i, (uint32_t)range_count(r.planes));
			lower_set(l, op, c, "in_y", i, (uint32_t)(r.rows.first - first));
		}
	}
}

void lower_output(Lowering *l, ProgramOp *op, const Step *s)
{
	const PlanTensor *t = s->out;
	const Layout *y = &t->layout;
	program_set(op, "out", 0, (uint32_t)y->address);
	program_set(op, "out_pitch", 0, (uint32_t)y->pitch);
	program_set(op, "out_height", 0, (uint32_t)t->buffer_rows);
	program_set(op, "out_total", 0, (uint32_t)tensor_buffer_planes(t));
	program_set(op, "out_x", 0, (uint32_t)y->lead);
	for (int c = 0; c < l->plan->cores; c++) {
		const Region work = step_work(s, c);
		const bool idle = !range_count(work.rows);
		lower_set(l, op, c, "out_first", 0,
			  idle ? 0 : lower_plane(t, c, 0, l->image, work.planes.first));
		lower_set(l, op, c, "out_planes", 0, (uint32_t)range_count(work.planes));
		lower_set(l, op, c, "out_y", 0,
			  idle ? 0 : (uint32_t)(work.rows.first - t->shard[c].keep.rows.first));
	}
}

void lower_window(Lowering *l, ProgramOp *op, const Step *s)
{
	const Window h = s->window[0], w = s->window[1];
	const int half = s->kind == STEP_DECONV2 ? 2 : 1;
	program_set(op, "cols", 0, (uint32_t)(s->out->layout.cols / half));
	program_set(op, "kernel_h", 0, (uint32_t)h.size);
	program_set(op, "kernel_w", 0, (uint32_t)w.size);
	program_set(op, "dilation_h", 0, (uint32_t)h.dilation);
	program_set(op, "dilation_w", 0, (uint32_t)w.dilation);
	program_set(op, "stride_h", 0, (uint32_t)h.stride);
	program_set(op, "stride_w", 0, (uint32_t)w.stride);
	for (int c = 0; c < l->plan->cores; c++)
		lower_set(l, op, c, "rows", 0,
			  (uint32_t)(range_count(step_work(s, c).rows) / half));
}

ProgramOp *lower_tiles(Lowering *l, const Step *s)
{
	ProgramOp *op = program_op(l->program, s->op->name, step_names[s->kind], "tiles");
	lower_window(l, op, s);
	lower_input(l, op, s);
	lower_output(l, op, s);
	return op;
}

/* The act is named as the op is, and told its attributes and where there are channels.
 * A relu is the packers'. */
static void lower_act(Lowering *l, ProgramOp *op, const Step *s)
{
	const Act act = s->act;
	const bool norm = act.kind == OP_INSTANCE_NORM;
	if (act.kind == OP_INPUT || act.kind == OP_RELU)
		return;
	const char *name = arena_printf(l->arena, "act_%s", norm ? "rsqrt" : op_info[act.kind].name);
	op->act = program_variant(l->program, name, NULL, 0);
	for (int i = 0; i < 2; i++) {
		uint32_t bits;
		memcpy(&bits, &act.param[i], sizeof bits);
		program_set(op, "act", i, bits);
	}
	for (int c = 0; s->kind != STEP_LANES && c < l->plan->cores; c++)
		lower_set(l, op, c, "lanes", 0, (uint32_t)step_lanes(s, step_work(s, c)));
}

void lower_around_one(Lowering *l, ProgramOp *op, const Step *s, bool first, bool last)
{
	/* Of slices each buffer is cleared once, and rows go when all are there. */
	const Step *whole = l->step;
	const int buffers = whole->slice && whole->slices[whole->nin]
		? step_slice_buffers(whole) : 1;
	const int step = (int)(whole - l->plan->steps);
	if (first && l->image == 0 && whole->out->born == step && l->slice < buffers)
		lower_zeros(l, op, s);
	lower_arrivals(l, op, s);
	if (last && l->image + l->images == s->out->images && whole->out->done == step
	    && !whole->slice)
		lower_pushes(l, op, s->out, s->out);
}

void lower_around(Lowering *l, ProgramOp *op, const Step *s)
{
	lower_act(l, op, s);
	lower_around_one(l, op, s, true, true);
}

void lower_store(Lowering *l, ProgramOp *op, const Step *s, uint32_t n, uint32_t hold)
{
	const uint32_t type = (uint32_t)s->out->layout.type, relu = s->act.kind == OP_RELU;
	if (s->kind == STEP_DECONV2)
		lower_run(l, op, TT_TRISC2, "store_pairs", (uint32_t[]){ type, relu }, 2);
	else
		lower_run(l, op, TT_TRISC2, "store", (uint32_t[]){ type, n, hold, relu }, 4);
}
