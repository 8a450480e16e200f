#include "ir/layout.h"

#include <inttypes.h>

#include "ir/tensor.h"

typedef struct Check {
	Diag *d;
	Loc at;
	bool ok;
} Check;

static void at_least(Check *c, const char *what, int64_t has, int64_t least)
{
	if (has >= least)
		return;
	diag_error(c->d, c->at, "layout: %s wants at least %" PRId64 ", has %" PRId64, what, least, has);
	c->ok = false;
}

static void at_most(Check *c, const char *what, int64_t has, int64_t most)
{
	if (has <= most)
		return;
	diag_error(c->d, c->at, "layout: %s wants at most %" PRId64 ", has %" PRId64, what, most, has);
	c->ok = false;
}

static void multiple_of(Check *c, const char *what, uint64_t has, unsigned step)
{
	if (has % step == 0)
		return;
	diag_error(c->d, c->at, "layout: %s wants a multiple of %u, has %" PRIu64, what, step, has);
	c->ok = false;
}

static void check_signs(Check *c, const Layout *l)
{
	at_least(c, "first row", l->row, 0);
	at_least(c, "rows", l->rows, 1);
	at_least(c, "halo above", l->above, 0);
	at_least(c, "halo below", l->below, 0);
	at_least(c, "first plane", l->plane, 0);
	at_least(c, "planes", l->planes, 1);
	at_least(c, "cols", l->cols, 1);
	at_least(c, "lead", l->lead, 0);
	at_least(c, "phases", l->phases, 1);
	at_least(c, "pitch", l->pitch, 1);
}

static void check_descriptor(Check *c, const Layout *l)
{
	at_most(c, "pitch in L1", l->pitch, MAX_PITCH);
	at_most(c, "rows and halo in L1", (int64_t)l->above + l->rows + l->below, MAX_BAND_ROWS);
	at_most(c, "planes times phases in L1", (int64_t)l->planes * l->phases, MAX_BAND_PLANES);
	if (l->address > UINT32_MAX) {
		diag_error(c->d, c->at, "layout: address in L1 wants 32 bits, has 0x%" PRIx64, l->address);
		c->ok = false;
	}
}

static void check_count(Check *c, const Layout *l)
{
	const int64_t rows = (int64_t)l->above + l->rows + l->below;
	if (shape_count(SHAPE(l->phases, l->planes, rows, l->pitch, PLANE)) >= 0)
		return;
	diag_error(c->d, c->at, "layout: a shard wants at most %" PRId64 " elements, has more",
		   MAX_ELEMENTS);
	c->ok = false;
}

bool layout_check(const Layout *l, Diag *d, Loc at)
{
	Check c = { d, at, true };
	check_signs(&c, l);
	if (!c.ok)
		return false;
	multiple_of(&c, "pitch", (uint64_t)l->pitch, PITCH_STEP);
	at_least(&c, "pitch", l->pitch,
		 (int64_t)l->lead + ((int64_t)l->cols + l->phases - 1) / l->phases);
	/* A packer writes 16 exponents at a time, at a multiple of 16 bytes. */
	if (l->type == DEV_BFP8_B)
		multiple_of(&c, "lead of bfp8_b", (uint64_t)l->lead, PITCH_STEP);
	multiple_of(&c, "address", l->address, l->place == PLACE_L1 ? ALIGN_L1 : ALIGN_DRAM);
	if (l->place == PLACE_L1)
		check_descriptor(&c, l);
	else
		check_count(&c, l);
	return c.ok;
}
