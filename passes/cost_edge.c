/*
 * Host edges: four RISC-Vs of a core have a part of the columns each, the fifth moves
 * rows ahead of them or behind (runtime/device/edge.h).
 */
#include "passes/cost_parts.h"

enum { PARTS = 4, TURN = 8, ZERO_BYTES = 1024, PIXEL_BYTES = 2 * PLANE };

/* Of a RISC-V: cycles without L1; loads used later and at once, and stores. */
typedef struct Spent {
	int64_t others, loads, uses, stores;
} Spent;

/* For TURN pixels and a word of each: what the loops of runtime/device/edge_pixels.h
 * are compiled to, instruction by instruction. Both channels of the word are there, or
 * one. */
static const Spent in_pair = { 29, 8, 0, 8 }, in_single = { 11, 4, 0, 8 };
static const Spent out_pair = { 29, 8, 0, 8 }, out_single = { 15, 8, 0, 4 };

/* A channel of fp32. */
static const Spent out_fp32 = { 3, 8, 0, 8 };

/* A channel of bfp8_b: a value takes 15 and 6 for each place it is shifted, which are
 * two or three. */
static const Spent out_block_float = { 240, 16, 0, 4 };

/* Around them, as the emulator counts it: for a turn, whose place is worked out and
 * which is waited for and told, and for a word of it. */
static const Spent each_turn = { 77, 14, 8, 1 }, each_word = { 17, 0, 0, 0 };

static int64_t cycles(const Target *t, Spent s, int64_t times)
{
	return times * (s.others * 1000 + s.loads * t->risc_l1_load + s.uses * t->risc_l1_use
			+ s.stores * t->risc_l1_store) / 1000;
}

/* A row of all planes: the columns of the first part. */
static int64_t part_row(const Target *t, const Step *s, const PlanTensor *of, int64_t channels,
			int64_t planes)
{
	const int64_t turns = cost_up(of->layout.cols, TURN * PARTS);
	const int64_t pairs = channels / 2, odd = channels % 2;
	int64_t words = pairs + odd, turn;
	if (s->kind == STEP_EDGE_IN) {
		turn = cycles(t, in_pair, pairs) + cycles(t, in_single, odd);
	} else if (of->layout.type == DEV_BF16) {
		turn = cycles(t, out_pair, pairs) + cycles(t, out_single, odd);
	} else {
		const bool fp32 = of->layout.type == DEV_F32;
		turn = cycles(t, fp32 ? out_fp32 : out_block_float, channels);
		words = channels;
	}
	return turns * turn + cycles(t, each_turn, planes) + cycles(t, each_word, words);
}

/* Who moves: one turn at a time, and zeros where words of a pixel have no channel. All
 * cores want DRAM at the same time. */
static int64_t mover_row(const CostContext *x, const Step *s, const PlanTensor *of,
			 int64_t channels, int64_t planes)
{
	const Target *t = x->target;
	const int64_t bare = s->kind == STEP_EDGE_IN ? planes - (channels + 1) / PLANE : 0;
	const int64_t zeros = bare * cost_up(of->layout.cols * PIXEL_BYTES, ZERO_BYTES);
	const int64_t cores = (int64_t)of->cut.bands * of->cut.splits;
	const int64_t value = of->layout.type == DEV_F32 ? 4 : 2;
	const int64_t bytes = cores * channels * of->layout.cols * value;
	const int64_t rate = s->kind == STEP_EDGE_IN ? t->dram_read_all : t->dram_write_all;
	return cost_most((channels + zeros) * t->noc_issue
				 + planes * (x->round_trip + t->dram_latency),
			 bytes * 1000 / rate);
}

int64_t cost_edge_core(const CostContext *x, const Step *s, int rows, int planes)
{
	const bool in = s->kind == STEP_EDGE_IN;
	const PlanTensor *of = cost_worked_on(s);
	const int64_t channels = cost_least(in ? of->channels : s->in[0].channels,
					    (int64_t)planes * PLANE);
	const int64_t part = part_row(x->target, s, of, channels, planes);
	const int64_t mover = mover_row(x, s, of, channels, planes);
	return rows * cost_most(part, mover) + cost_least(part, mover);
}
