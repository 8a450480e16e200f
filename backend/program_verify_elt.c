/* What channel_*, binary_* and pair_* take for granted. */
#include "backend/program_verify_tiles.h"
#include "backend/routines.h"
#include "ir/layout.h"

enum {
	PAIR_BYTES = 128,     /* bias, or weights of a tap, of two planes */
	MOST_PAIRS = 4095,    /* two rows each, by a counter of 13 bits */
	CHANNEL_ROWS = 4,     /* of positions at a time */
	BINARY_ROWS = 4,
	PAIR_ROWS = 2,
	ONE_CHANNEL = 1,      /* of `spread` */
};

static bool runs(const Tiles *t, TtRisc risc, const char *routine)
{
	const Program *p = t->v->p;
	const int variant = program_runs(&p->ops[t->op], t->core, risc);
	return variant >= 0 && p->variants[variant].routine == routine_find(routine);
}

static void check_store(const Tiles *t, const char *math, uint32_t rows)
{
	if (!runs(t, TT_TRISC1, math))
		WRONG(t, "what is unpacked is for %s", math);
	if (tiles_told(t, TT_TRISC2, "store", "n") != 1 || tiles_told(t, TT_TRISC2, "store", "hold") != rows)
		WRONG(t, "%s: store has n 1 and hold %u", math, rows);
}

void verify_channel(const Tiles *t)
{
	const TtTiles *p = &t->p;
	const uint32_t pairs = p->kernel_h * p->kernel_w + 1;
	const bool strided = tiles_told(t, TT_TRISC0, "channel_unpack", "strided");
	check_store(t, "channel_math", CHANNEL_ROWS);
	if (strided && (tiles_told(t, TT_TRISC0, "channel_unpack", "in_type") == DEV_BFP8_B
			|| p->phase || p->in_phase[0]))
		WRONG(t, "phase, in_phase: strided input is not bfp8_b and has no column phases");
	if (p->segments != 1)
		WRONG(t, "segments: weights for each channel are for one piece, not for %u", p->segments);
	if (p->in_planes[0] != p->out_planes)
		WRONG(t, "in_planes: %u, out_planes: %u", p->in_planes[0], p->out_planes);
	if (p->rows && p->groups != (p->out_planes + 1) / 2)
		WRONG(t, "groups: %u for %u planes, two a page", p->groups, p->out_planes);
	if (p->weights % ALIGN_DRAM)
		WRONG(t, "weights: 0x%x is not on %d, as reads from DRAM want", p->weights,
		      (int)ALIGN_DRAM);
	if (p->chunks > 1 || p->passes > 1 || p->sums_pages)
		WRONG(t, "chunks, passes, sums_pages: weights for each channel come in one page");
	if (pairs > MOST_PAIRS)
		WRONG(t, "kernel_h, kernel_w: %u taps, at most %d", pairs - 1, (int)MOST_PAIRS - 1);
	if (p->page_bytes != PAIR_BYTES * pairs)
		WRONG(t, "page_bytes: %u, of which the kernels walk %u", p->page_bytes,
		      PAIR_BYTES * pairs);
}

static void check_operand(const Tiles *t, uint32_t s)
{
	const TtTiles *p = &t->p;
	const uint32_t planes = p->spread[s] & ONE_CHANNEL ? 1 : p->out_planes;
	const uint32_t end = p->in_y[s] + (p->rows ? p->rows - 1 : 0) * p->row_step[s];
	if (p->in_planes[s] != planes)
		WRONG(t, "in_planes[%u]: %u, where the result has %u and spread is %u", s, p->in_planes[s],
		      p->out_planes, p->spread[s]);
	if (end >= p->in_height[s])
		WRONG(t, "row_step[%u]: leads to row %u of %u", s, end, p->in_height[s]);
}

void verify_operands(const Tiles *t)
{
	const TtTiles *p = &t->p;
	const bool pair = runs(t, TT_TRISC0, "pair_unpack");
	check_store(t, pair ? "pair_math" : "binary_math", pair ? PAIR_ROWS : BINARY_ROWS);
	if (p->segments != 2) {
		WRONG(t, "segments: %u, not operands A and B", p->segments);
		return;
	}
	if (p->kernel_h * p->kernel_w != 1 || p->stride_h != 1 || p->stride_w != 1)
		WRONG(t, "kernel_h, kernel_w, stride_h, stride_w: 1 for element by element");
	if (!pair && (p->spread[0] || !p->row_step[0]))
		WRONG(t, "spread[0], row_step[0]: operand A of binary_unpack is as large as the result");
	for (uint32_t s = 0; s < 2; s++)
		check_operand(t, s);
}
