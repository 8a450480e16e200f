/*
 * What the routines of a mix take for granted: that the tables of its page
 * (ir/mix_table.h) lead to pixels that are there.
 */
#include <string.h>

#include "backend/program_verify_tiles.h"
#include "ir/mix_table.h"

static const ProgramImage *image_of(const Tiles *t)
{
	const Program *p = t->v->p;
	for (int i = 0; i < p->nimages; i++)
		if ((uint32_t)p->images[i].bank == t->p.dram_bank &&
		    p->images[i].address == t->p.dram_at)
			return &p->images[i];
	return NULL;
}

/* The largest W tile the columns name; -1 if a run leads outside. */
static int check_cols(const Tiles *t, const uint8_t *page)
{
	const TtTiles *p = &t->p;
	const uint32_t n = (p->cols + MIX_RUN - 1) / MIX_RUN * p->kernel_w;
	int most = 0;
	for (uint32_t i = 0; i < n; i++) {
		MixCol c;
		memcpy(&c, page + i * sizeof c, sizeof c);
		const uint32_t plane = p->in_first[0] + c.phase * p->in_phase[0] + p->in_planes[0];
		if (!c.pixels || c.pixels > MIX_RUN ||
		    p->in_x[0] + c.start + c.pixels > p->in_pitch[0] || plane > p->in_total[0]) {
			WRONG(t,
				    "column term %u: %u pixels from column %u of phase %u are not "
				    "in the input",
				    i, c.pixels, c.start, c.phase);
			return -1;
		}
		most = c.tile > most ? c.tile : most;
	}
	return most;
}

/* The largest coefficient the core's rows name; -1 if a row is not there. */
static int check_rows(const Tiles *t, const uint8_t *page)
{
	const TtTiles *p = &t->p;
	int most = 0;
	for (uint32_t i = p->mix_row * p->kernel_h; i < (p->mix_row + p->rows) * p->kernel_h; i++) {
		MixRow r;
		memcpy(&r, page + p->mix_rows_at + i * sizeof r, sizeof r);
		if (r.row - p->mix_above + p->in_y[0] >= p->in_height[0]) {
			WRONG(t,
				    "row term %u: row %u is not in the input, whose row %u is "
				    "mix_above %u",
				    i, r.row, p->in_y[0], p->mix_above);
			return -1;
		}
		most = r.coef > most ? r.coef : most;
	}
	return most;
}

static void check_page(const Tiles *t)
{
	const TtTiles *p = &t->p;
	const uint64_t cols = (uint64_t)(p->cols + MIX_RUN - 1) / MIX_RUN * p->kernel_w;
	const uint64_t rows = (uint64_t)(p->mix_row + p->rows) * p->kernel_h;
	const ProgramImage *image = image_of(t);
	const bool across = tiles_told(t, TT_TRISC0, "mix_unpack", "across");
	const uint32_t each = across ? MIX_TILE_BYTES : MIX_ROW_BYTES;
	if (p->mix_rows_at < cols * sizeof(MixCol) || p->mix_tiles_at % ALIGN_L1 ||
	    p->mix_tiles_at < p->mix_rows_at + rows * sizeof(MixRow) ||
	    p->mix_tiles_at + each > p->page_bytes) {
		WRONG(t, "mix_rows_at %u, mix_tiles_at %u do not fit a page of %u bytes",
			    p->mix_rows_at, p->mix_tiles_at, p->page_bytes);
		return;
	}
	if (!image || image->bytes < p->page_bytes) {
		WRONG(t, "dram_at 0x%x: no image holds the page of a mix", p->dram_at);
		return;
	}
	if (!image->data)
		return; /* not emitted either */
	const int tile = check_cols(t, image->data), coef = check_rows(t, image->data);
	if (tile >= 0 && coef >= 0 &&
	    (uint32_t)(tile + coef + 1) > (p->page_bytes - p->mix_tiles_at) / each)
		WRONG(t, "mix_tiles_at %u: W tile %d is not in the page", p->mix_tiles_at,
			    tile + coef);
}

void verify_mix(const Tiles *t)
{
	enum { PAIRS = 4 };
	if (tiles_told(t, TT_TRISC1, "mix_math", "across") !=
		    tiles_told(t, TT_TRISC0, "mix_unpack", "across") ||
	    tiles_told(t, TT_TRISC2, "store", "n") != PAIRS ||
	    tiles_told(t, TT_TRISC2, "store", "hold") != 1)
		WRONG(t, "unpack and math are not told the same across, or store not n %d, hold 1",
			    (int)PAIRS);
	if (t->p.segments != 1 || t->p.groups != 1)
		WRONG(t, "a mix has one piece and one page, not segments %u, groups %u",
			    t->p.segments, t->p.groups);
	if (t->p.in_planes[0] != t->p.out_planes)
		WRONG(t, "in_planes %u, out_planes %u of a mix are not the same",
			    t->p.in_planes[0], t->p.out_planes);
	check_page(t);
}
