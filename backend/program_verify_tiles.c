/*
 * What the routines of an op on tiles take for granted: that they were told the
 * same, and that counters and descriptors hold what they are given
 * (runtime/device/DEVICE.md).
 */
#include <string.h>

#include "backend/program_verify_tiles.h"
#include "backend/routines.h"
#include "ir/weight_block.h"

enum {
	MOST_SECTION = 65535, /* pixels between exponents and mantissas */
};

uint32_t tiles_told(const Tiles *t, TtRisc risc, const char *routine, const char *arg)
{
	const Program *p = t->v->p;
	const int variant = program_runs(&p->ops[t->op], t->core, risc);
	if (variant < 0 || p->variants[variant].routine != routine_find(routine))
		return 0;
	const RoutineArg *a = routine_at(p->variants[variant].routine)->args;
	for (int i = 0; a[i].name; i++)
		if (strcmp(a[i].name, arg) == 0)
			return p->variants[variant].args[i];
	return 0;
}

static void check_product(const Tiles *t)
{
	const uint32_t n = tiles_told(t, TT_TRISC0, "conv_unpack", "n");
	const uint32_t hold = tiles_told(t, TT_TRISC0, "conv_unpack", "hold");
	const uint32_t type = tiles_told(t, TT_TRISC0, "conv_unpack", "weight_type");
	const uint32_t stored = tiles_told(t, TT_TRISC2, "store", "n");
	const bool pairs = !stored && tiles_told(t, TT_TRISC2, "store_pairs", "out_type");
	const uint32_t tiles = (t->p.out_planes + 1) / 2 * (pairs ? 4 : 1);
	if (n != tiles_told(t, TT_TRISC1, "conv_math", "n") || hold != tiles_told(t, TT_TRISC1, "conv_math", "hold")
	    || (!pairs && (n != stored || hold != tiles_told(t, TT_TRISC2, "store", "hold"))))
		WRONG(t, "unpack, math and store are not told the same n and hold");
	if ((n > 1 && hold > 1) || (pairs && (n != 2 || hold != 1)))
		WRONG(t, "n %u and hold %u do not go together", n, hold);
	if (pairs && t->p.out_skip)
		WRONG(t, "store_pairs leaves no rows out, out_skip is %u", t->p.out_skip);
	const bool idle = !t->p.rows && !t->p.groups; /* of a split that has no planes */
	if (t->p.groups != (tiles + n - 1) / n && !idle)
		WRONG(t, "%u groups of %u for %u output tiles", t->p.groups, n, tiles);
	verify_weights(t->v, t->op, t->core, &t->p,
		       (ProductTold){ .n = n, .hold = hold, .weight_type = type, .pairs = pairs });
}

/* Planes that all images, groups and column phases of a piece reach over. */
static uint32_t reached(const Tiles *t, uint32_t s)
{
	const TtTiles *p = &t->p;
	const uint32_t sets = p->group_pages ? p->groups / p->group_pages : 1;
	return p->in_first[s] + p->in_planes[s] + p->more_images * p->in_image[s]
		+ (sets - 1) * p->group_step + (p->stride_w - 1) * p->in_phase[s];
}

static void check_sets(const Tiles *t)
{
	const TtTiles *p = &t->p;
	if (p->group_pages && p->groups % p->group_pages) {
		WRONG(t, "group_pages: %u does not divide %u pages", p->group_pages, p->groups);
		return;
	}
	if (p->group_pages && p->segments != 1)
		WRONG(t, "group_pages: groups have one piece, not %u", p->segments);
	if (p->phase >= p->stride_w)
		WRONG(t, "phase: %u, of %u", p->phase, p->stride_w);
	for (uint32_t s = 0; s < p->segments; s++)
		if (reached(t, s) > p->in_total[s])
			WRONG(t, "piece %u: in_image, group_step, in_phase lead to plane %u of %u", s,
			      reached(t, s), p->in_total[s]);
	if (p->out_first + p->out_planes + p->more_images * p->out_image > p->out_total)
		WRONG(t, "out_image: leads to plane %u of %u",
		      p->out_first + p->out_planes + p->more_images * p->out_image, p->out_total);
	if (p->rows && p->out_y + (p->rows - 1) * (p->out_skip + 1) >= p->out_height)
		WRONG(t, "out_skip: leads to row %u of %u",
		      p->out_y + (p->rows - 1) * (p->out_skip + 1), p->out_height);
}

static void check_planes(const Tiles *t)
{
	const TtTiles *p = &t->p;
	const uint64_t pixels = (uint64_t)p->out_total * p->out_height * p->out_pitch;
	const bool blocks = tiles_told(t, TT_TRISC2, "store", "out_type") == DEV_BFP8_B
		|| tiles_told(t, TT_TRISC2, "store_pairs", "out_type") == DEV_BFP8_B;
	for (uint32_t s = 0; s < p->segments; s++)
		if (!p->in_planes[s] || p->in_first[s] + p->in_planes[s] > p->in_total[s])
			WRONG(t, "piece %u: planes %u to %u of %u", s, p->in_first[s],
			      p->in_first[s] + p->in_planes[s], p->in_total[s]);
	if (p->out_first + p->out_planes > p->out_total)
		WRONG(t, "output: planes %u to %u of %u", p->out_first, p->out_first + p->out_planes,
		      p->out_total);
	if (blocks && (pixels > MOST_SECTION || p->out_x % PITCH_STEP || p->out_pitch % PITCH_STEP))
		WRONG(t, "bfp8_b output: %llu pixels (at most %d), column %u, pitch %u (on %d)",
		      (unsigned long long)pixels, (int)MOST_SECTION, p->out_x, p->out_pitch,
		      (int)PITCH_STEP);
}

void verify_tiles(Verifier *v, int op, int core)
{
	Tiles t = { .v = v, .op = op, .core = core };
	uint32_t words[sizeof t.p / sizeof(uint32_t)];
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		words[i] = program_word(&v->p->ops[op], core, (int)i);
	memcpy(&t.p, words, sizeof words);
	check_planes(&t);
	const bool conv = tiles_told(&t, TT_TRISC0, "conv_unpack", "n");
	if (!conv && (t.p.chunks > 1 || t.p.passes > 1 || t.p.block || t.p.sums_pages))
		WRONG(&t, "chunks, passes, block, sums_pages: only a conv takes weights more than once");
	if (conv) {
		check_product(&t);
		check_sets(&t);
	} else if (tiles_told(&t, TT_TRISC0, "window_unpack", "in_type")) {
		verify_window(&t);
	} else if (tiles_told(&t, TT_TRISC0, "reduce_unpack", "in_type")) {
		verify_reduce(&t);
	} else if (tiles_told(&t, TT_TRISC0, "norm_unpack", "in_type")) {
		verify_norm(&t);
	} else if (tiles_told(&t, TT_TRISC0, "lanes_unpack", "in_type")) {
		verify_lanes(&t);
	} else if (tiles_told(&t, TT_TRISC0, "channel_unpack", "in_type")) {
		verify_channel(&t);
		check_sets(&t);
	} else if (tiles_told(&t, TT_TRISC0, "binary_unpack", "a_type")
		   || tiles_told(&t, TT_TRISC0, "pair_unpack", "a_type")) {
		verify_operands(&t);
		check_sets(&t);
	} else if (tiles_told(&t, TT_TRISC0, "mix_unpack", "in_type")) {
		verify_mix(&t);
	}
}
