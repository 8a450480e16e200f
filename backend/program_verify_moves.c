/*
 * Bytes on their way between DRAM and L1.
 *
 * Parts of a buffer in DRAM are written once in a run, so no writer needs to
 * wait for readers of what was there before; of two slots, since a core may be
 * one run ahead. A reader needs to know that the writers are done: its own core
 * is when a later op starts, others must have told it (an arrival).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "backend/program_verify.h"

enum { MOST_COUNT = 65535 };

/* What one page of a move writes. */
typedef struct Written {
	int bank, core, op;
	uint64_t at, end;
	Loc loc;
} Written;

typedef struct Writes {
	Written *v;
	int n;
} Writes;

/* For each core the last op of each other it has been told the end of, or -1. */
typedef struct Told {
	int *op;
	int cores;
} Told;

static int by_place(const void *x, const void *y)
{
	const Written *a = x, *b = y;
	if (a->bank != b->bank)
		return a->bank < b->bank ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static Written page_of(const ProgramMove *m, int i)
{
	const uint64_t at = m->at + (uint64_t)((m->bank + i) / TT_DRAM_BANKS) * m->page_bytes;
	return (Written){ .bank = (m->bank + i) % TT_DRAM_BANKS, .at = at, .end = at + m->bytes,
			  .loc = m->loc };
}

static void check_shape(Verifier *v, int index, int core, const ProgramMove *m)
{
	const uint32_t align = m->out ? ALIGN_L1 : ALIGN_DRAM;
	if (m->bank < 0 || m->bank >= TT_DRAM_BANKS)
		verify_wrong(v, m->loc, index, core, "a move starts in bank %d of %d", m->bank,
			     (int)TT_DRAM_BANKS);
	if (m->when == (m->out ? TT_MOVE_BEFORE : TT_MOVE_AFTER))
		verify_wrong(v, m->loc, index, core, "a move %s cannot be %s the op",
			     m->out ? "out" : "in", move_spellings[m->when]);
	if ((m->bytes | m->l1 | m->at | m->step) % ALIGN_L1
	    || (m->page_bytes | m->slot_bytes) % ALIGN_DRAM)
		verify_wrong(v, m->loc, index, core,
			     "a move of %u bytes, l1 0x%x in steps of %u, at 0x%x, is not on %d; "
			     "page %u or slot %u is not on %d",
			     m->bytes, m->l1, m->step, m->at, (int)ALIGN_L1, m->page_bytes,
			     m->slot_bytes, (int)ALIGN_DRAM);
	if ((m->l1 - m->at) % align || (m->count > 1 && m->step % align))
		verify_wrong(v, m->loc, index, core,
			     "a move at 0x%x of DRAM and l1 0x%x in steps of %u: not equal modulo %u", m->at,
			     m->l1, m->step, align);
}

/* Constants: a move in reads an image, or the first pages of it. */
static bool reads_image(const Verifier *v, const ProgramMove *m)
{
	for (int i = 0; i < v->p->nimages; i++) {
		const ProgramImage *image = &v->p->images[i];
		if (!m->out && !m->slot_bytes && m->at == image->address && m->bank == image->bank
		    && m->page_bytes == image->page_bytes
		    && (uint64_t)m->count * m->page_bytes <= image->bytes)
			return m->bank == 0;
	}
	return false;
}

/* False if what it moves cannot be looked at further. */
static bool check_move(Verifier *v, int index, int core, const ProgramMove *m)
{
	const int before = v->d->errors;
	check_shape(v, index, core, m);
	if (!m->count || m->count > MOST_COUNT || !m->bytes || m->bytes > m->page_bytes)
		verify_wrong(v, m->loc, index, core, "a move of %u times %u bytes in pages of %u",
			     m->count, m->bytes, m->page_bytes);
	if (v->d->errors != before)
		return false;
	if (!verify_inside(v, index, core, m->l1, (uint64_t)(m->count - 1) * m->step + m->bytes))
		verify_wrong(v, m->loc, index, core, "a move at l1 0x%x reaches outside of a buffer",
			     m->l1);
	const uint64_t end = page_of(m, (int)m->count - 1).end + m->slot_bytes;
	const ProgramBuffer *b = verify_banks(v, index, m->at, end - m->at);
	if (reads_image(v, m))
		return v->d->errors == before;
	if (!b)
		verify_wrong(v, m->loc, index, core,
			     "a move at 0x%x to 0x%" PRIx64 " is in no buffer that all banks of DRAM have",
			     m->at, end);
	else if (m->out && (!m->slot_bytes || b->first != 0 || b->last != v->p->nops - 1))
		verify_wrong(v, m->loc, index, core,
			     "'%s' is written: it needs two slots, and to live from the first op to the last",
			     b->name);
	return v->d->errors == before;
}

/* The one that ends behind `at`, the first of those; -1: none. */
static int find_written(Writes w, int bank, uint64_t at)
{
	int low = 0, high = w.n;
	while (low < high) {
		const int middle = low + (high - low) / 2;
		const Written *x = &w.v[middle];
		if (x->bank < bank || (x->bank == bank && x->end <= at))
			low = middle + 1;
		else
			high = middle;
	}
	return low < w.n && w.v[low].bank == bank ? low : -1;
}

/* Was all of a page written, and does the reader know? */
static void check_page(Verifier *v, int index, int core, Writes w, Told told, Written page)
{
	uint64_t at = page.at;
	for (int i = find_written(w, page.bank, at); i >= 0 && i < w.n && at < page.end; i++) {
		const Written *x = &w.v[i];
		if (x->bank != page.bank || x->at > at)
			break;
		at = x->end;
		if (x->op >= index)
			verify_wrong(v, page.loc, index, core,
				     "reads bank %d at 0x%" PRIx64 ", which op %d writes", page.bank, page.at,
				     x->op);
		else if (x->core != core && told.op[core * told.cores + x->core] < x->op)
			verify_wrong(v, page.loc, index, core,
				     "reads bank %d at 0x%" PRIx64
				     ", and has not waited for core %d to write it in op %d",
				     page.bank, page.at, x->core, x->op);
		else
			continue;
		return;
	}
	if (at < page.end)
		verify_wrong(v, page.loc, index, core,
			     "reads bank %d at 0x%" PRIx64 ", which nobody has written", page.bank, at);
}

static void check_reads(Verifier *v, int index, int core, Writes w, Told told)
{
	const ProgramOpCore *on = &v->p->ops[index].cores[core];
	for (int i = 0; i < on->narrivals; i++) {
		int *known = &told.op[core * told.cores + on->arrivals[i].core];
		*known = on->arrivals[i].op > *known ? on->arrivals[i].op : *known;
	}
	for (int i = 0; i < on->nmoves; i++) {
		const ProgramMove *m = &on->moves[i];
		const int before = v->d->errors;
		if (m->out || reads_image(v, m))
			continue;
		for (int k = 0; k < (int)m->count && v->d->errors == before; k++)
			check_page(v, index, core, w, told, page_of(m, k));
	}
}

static void collect(Verifier *v, int index, int core, Writes *w)
{
	const ProgramOpCore *on = &v->p->ops[index].cores[core];
	for (int i = 0; i < on->nmoves; i++) {
		const ProgramMove *m = &on->moves[i];
		if (!check_move(v, index, core, m) || !m->out)
			continue;
		for (int k = 0; k < (int)m->count; k++) {
			w->v = arena_grow(v->a, w->v, w->n, sizeof *w->v);
			Written *x = &w->v[w->n++];
			*x = page_of(m, k);
			x->core = core;
			x->op = index;
		}
	}
}

void verify_moves(Verifier *v)
{
	const Program *p = v->p;
	const int before = v->d->errors;
	Writes w = { NULL, 0 };
	Told told = { arena_array(v->a, int, p->ncores * p->ncores + 1), p->ncores };
	for (int o = 0; o < p->nops; o++)
		for (int c = 0; c < p->ncores; c++)
			collect(v, o, c, &w);
	if (v->d->errors != before)
		return;
	if (w.n)
		qsort(w.v, (size_t)w.n, sizeof *w.v, by_place);
	for (int i = 1; i < w.n; i++)
		if (w.v[i].bank == w.v[i - 1].bank && w.v[i].at < w.v[i - 1].end)
			verify_wrong(v, w.v[i].loc, w.v[i].op, w.v[i].core,
				     "writes bank %d at 0x%" PRIx64 ", as core %d does in op %d",
				     w.v[i].bank, w.v[i].at, w.v[i - 1].core, w.v[i - 1].op);
	for (int i = 0; i < p->ncores * p->ncores; i++)
		told.op[i] = -1;
	for (int o = 0; o < p->nops && v->d->errors == before; o++)
		for (int c = 0; c < p->ncores; c++)
			check_reads(v, o, c, w, told);
}
