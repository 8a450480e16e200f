/*
 * Windows without weights, and what is a window of one tap.
 */
#include "backend/lower.h"

/* Rows and columns of the image among those that are read. */
static void image_of(Lowering *l, ProgramOp *op, const Step *s)
{
	program_set(op, "image_cols", 0, (uint32_t)s->in[0].tensor->layout.cols);
	for (int c = 0; c < l->plan->cores; c++) {
		const Region r = step_reads(s, 0, s->out->shard[c].own);
		lower_set(l, op, c, "image_rows", 0, (uint32_t)range_count(r.rows));
	}
}

void lower_pool(Lowering *l, const Step *s)
{
	ProgramOp *op = lower_tiles(l, s);
	const uint32_t in = (uint32_t)s->in[0].tensor->layout.type;
	const uint32_t strided = s->window[1].stride != 1;
	lower_run(l, op, TT_TRISC0, "window_unpack", (uint32_t[]){ in, strided }, 2);
	lower_run(l, op, TT_TRISC1, "window_math", NULL, 0);
	image_of(l, op, s);
	lower_store(l, op, s, 1, 1);
	lower_around(l, op, s);
}
