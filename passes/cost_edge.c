/*
 * Host edges: BRISC and NCRISC convert values one by one, each half of the rows
 * (runtime/device/edge.h).
 */
#include "passes/cost_parts.h"

enum { WORDS = PLANE / 2, RISCS = 2 };

/* Of RISC-V instructions for a word of a pixel, which holds two channels: cycles
 * without L1; loads used later and at once, and stores. */
typedef struct Turn {
	int64_t others, loads, uses, stores;
} Turn;

/* As the emulator counts them, of zeros. What is not listed is as fp16. */
typedef struct EdgeTurns {
	Turn pair, single; /* in: both channels are there, or one */
	Turn out;
} EdgeTurns;

static const EdgeTurns turns[] = {
	[TYPE_F32] = { { 23, 0, 2, 1 }, { 14, 0, 1, 1 }, { 8, 1, 0, 2 } },
	[TYPE_F16] = { { 56, 0, 2, 1 }, { 30, 0, 1, 1 }, { 36, 0, 1, 2 } },
	[TYPE_BF16] = { { 6, 1, 1, 1 }, { 5, 0, 1, 1 }, { 7, 1, 0, 2 } },
};
static const Turn nothing = { 3, 0, 0, 1 };

/* A word of bfp8_b is two values that are shifted into place, bit by bit. */
static const Turn out_block_float = { 60, 0, 3, 2 };

static int64_t cycles(const Target *t, Turn turn, int64_t times)
{
	return times * (turn.others * 1000 + turn.loads * t->risc_l1_load
			+ turn.uses * t->risc_l1_use + turn.stores * t->risc_l1_store) / 1000;
}

static const EdgeTurns *turns_of(DType type)
{
	const bool listed = type == TYPE_F32 || type == TYPE_BF16;
	return &turns[listed ? type : TYPE_F16];
}

int64_t cost_edge_core(const CostContext *x, const Step *s, int rows, int planes)
{
	const Target *t = x->target;
	const bool in = s->kind == STEP_EDGE_IN;
	const PlanTensor *of = cost_worked_on(s);
	const EdgeTurns *e = turns_of(s->op->dtype);
	const int64_t channels = cost_least(in ? of->channels : s->in[0].channels,
					    (int64_t)planes * PLANE);
	const int64_t mine = cost_up(rows, RISCS), pairs = channels / 2, odd = channels % 2;
	const int64_t none = (int64_t)planes * WORDS - pairs - odd;
	const Turn out = of->layout.type == DEV_BF16 ? e->out : out_block_float;
	const int64_t pixel = in ? cycles(t, e->pair, pairs) + cycles(t, e->single, odd)
				+ cycles(t, nothing, none)
				 : cycles(t, out, pairs + odd);
	return mine * (of->layout.cols * pixel + channels * t->noc_issue) + x->round_trip
		+ t->dram_latency;
}
