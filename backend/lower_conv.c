/*
 * Products with weights.
 */
#include "backend/lower.h"

/* Rows computed at a time from the same weights, where one output tile leaves
 * room for them in half of Dst. */
static uint32_t rows_held(const Lowering *l, const Step *s)
{
	int most = 1;
	for (int c = 0; c < l->plan->cores && s->held == 1; c++) {
		const int rows = range_count(s->out->shard[c].own.rows);
		most = rows > most ? rows : most;
	}
	return most < 4 ? (uint32_t)most : 4;
}

void lower_conv(Lowering *l, const Step *s)
{
	ProgramOp *op = lower_tiles(l, s);
	const uint32_t n = (uint32_t)s->held, phases = (uint32_t)s->phases;
	const uint32_t hold = rows_held(l, s);
	const uint32_t in = (uint32_t)s->in[0].tensor->layout.type;
	lower_run(l, op, TT_TRISC0, "conv_unpack",
		  (uint32_t[]){ in, (uint32_t)s->weights, n, hold }, 4);
	lower_run(l, op, TT_TRISC1, "conv_math", (uint32_t[]){ n, hold, phases }, 3);
	lower_store(l, op, s, n, hold);
	lower_weights(l, op, s);
	lower_around(l, op, s);
}
