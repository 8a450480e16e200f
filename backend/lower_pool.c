/*
 * Windows without weights, what is a window of one tap, and reductions over
 * pixels or channels.
 */
#include "backend/lower.h"

#include <assert.h>

#include "runtime/device/reduce.h"

static_assert((int)REDUCE_MAX == TT_REDUCE_MAX && (int)REDUCE_SUM == TT_REDUCE_SUM
		      && (int)REDUCE_DEVIATION == TT_REDUCE_DEVIATION,
	      "the routine's kinds are the plan's");

/* What there is of the image for a core's windows: only that is read. */
static void set_image(Lowering *l, ProgramOp *op, const Step *s)
{
	const PlanTensor *t = s->in[0].tensor;
	const int pad = s->window[1].pad;
	program_set(op, "in_x", 0, (uint32_t)t->layout.lead);
	program_set(op, "image_cols", 0, (uint32_t)t->layout.cols);
	program_set(op, "pad_left", 0, (uint32_t)pad);
	for (int c = 0; c < l->plan->cores; c++) {
		const Region work = step_work(s, c);
		const Range r = step_reads(s, 0, work).rows, image = step_image_rows(s, work);
		const bool idle = region_empty(work);
		lower_set(l, op, c, "in_y", 0,
			  idle ? 0 : (uint32_t)(image.first - t->shard[c].keep.rows.first));
		lower_set(l, op, c, "image_rows", 0, idle ? 0 : (uint32_t)range_count(image));
		lower_set(l, op, c, "pad_top", 0, idle ? 0 : (uint32_t)(image.first - r.first));
	}
}

void lower_pool(Lowering *l, const Step *s)
{
	ProgramOp *op = lower_tiles(l, s);
	const PlanTensor *t = s->in[0].tensor;
	const uint32_t in = (uint32_t)t->layout.type;
	const bool phases = t->layout.phases > 1;
	const uint32_t strided = s->window[1].stride != 1 && !phases;
	set_image(l, op, s);
	program_set(op, "in_phase", 0, phases ? (uint32_t)(t->images * t->buffer_planes) : 0);
	lower_run(l, op, TT_TRISC0, "window_unpack", (uint32_t[]){ in, strided }, 2);
	lower_run(l, op, TT_TRISC1, "window_math", NULL, 0);
	lower_store(l, op, s, 1, 1);
	lower_around(l, op, s);
}

static uint32_t as_word(float v)
{
	const union { float f; uint32_t word; } both = { .f = v };
	return both.word;
}

void lower_reduce(Lowering *l, const Step *s)
{
	ProgramOp *op = lower_tiles(l, s);
	const uint32_t in = (uint32_t)s->in[0].tensor->layout.type;
	const uint32_t kind = (uint32_t)s->reduce.kind, pair = s->reduce.pair;
	const uint32_t pixels = (uint32_t)s->out->layout.cols, onto = s->reduce.onto ? pixels : 0;
	set_image(l, op, s);
	program_set(op, "scale", 0, as_word(s->reduce.scale));
	lower_run(l, op, TT_TRISC0, "reduce_unpack", (uint32_t[]){ in, kind, onto }, 3);
	lower_run(l, op, TT_TRISC1, "reduce_math", (uint32_t[]){ kind, pair, onto }, 3);
	if (s->out->partial)
		lower_run(l, op, TT_TRISC2, "store_pixels", &pixels, 1);
	else
		lower_store(l, op, s, 1, 1);
	lower_around(l, op, s);
}

void lower_norm(Lowering *l, const Step *s)
{
	ProgramOp *op = lower_tiles(l, s);
	const uint32_t in = (uint32_t)s->in[0].tensor->layout.type;
	lower_run(l, op, TT_TRISC0, "norm_unpack", &in, 1);
	lower_run(l, op, TT_TRISC1, "norm_math", NULL, 0);
	lower_store(l, op, s, 1, 1);
	lower_around(l, op, s);
}

void lower_lanes(Lowering *l, const Step *s)
{
	ProgramOp *op = lower_tiles(l, s);
	const uint32_t in = (uint32_t)s->in[0].tensor->layout.type;
	program_set(op, "lanes", 0, (uint32_t)((s->in[0].channels - 1) % PLANE + 1));
	lower_run(l, op, TT_TRISC0, "lanes_unpack", &in, 1);
	lower_run(l, op, TT_TRISC1, "lanes_math", (uint32_t[]){ s->reduce.kind == REDUCE_SUM }, 1);
	lower_store(l, op, s, 1, 1);
	lower_around(l, op, s);
}
