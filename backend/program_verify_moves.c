/*
 * Bytes on their way between DRAM and L1.
 *
 * Parts of a buffer in DRAM are written once in a run. A reader needs to know that the
 * writers are done: its own core is when a later op starts, others must have told it
 * (an arrival). A writer needs to know that nobody uses what was there before, in this
 * run or in the last one, which a core may still be at: of the same buffer unless it has
 * two slots, and of all others that have some of its bytes (program_order.h).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "backend/program_order.h"
#include "backend/program_verify.h"

enum { MOST_COUNT = 65535 };

/* What one page of a move writes. */
typedef struct Written {
	int place; /* number of the buffer, times the banks, and the bank */
	int core, op;
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
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static int bank_of(const Written *w) { return w->place % TT_DRAM_BANKS; }

static Written page_of(const ProgramMove *m, int i, int buffer)
{
	const uint64_t at = m->at + (uint64_t)((m->bank + i) / TT_DRAM_BANKS) * m->page_bytes;
	return (Written){ .place = buffer * TT_DRAM_BANKS + (m->bank + i) % TT_DRAM_BANKS,
			  .at = at, .end = at + m->bytes, .loc = m->loc };
}

/* In every bank that it moves to or from, in all slots. */
static uint64_t end_of(const ProgramMove *m)
{
	return page_of(m, (int)m->count - 1, 0).end + m->slot_bytes;
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

/* The buffer it moves to or from, in all its slots; -1: none. */
static int buffer_of(const Verifier *v, int index, const ProgramMove *m)
{
	const ProgramBuffer *b = verify_banks(v, index, m->at, end_of(m) - m->at);
	return b ? (int)(b - v->p->buffers) : -1;
}

/* The buffer it moves to or from; -1 if it reads an image, or cannot be looked at
 * further, which is reported. */
static int check_move(Verifier *v, int index, int core, const ProgramMove *m)
{
	const int before = v->d->errors;
	check_shape(v, index, core, m);
	if (!m->count || m->count > MOST_COUNT || !m->bytes || m->bytes > m->page_bytes)
		verify_wrong(v, m->loc, index, core, "a move of %u times %u bytes in pages of %u",
			     m->count, m->bytes, m->page_bytes);
	if (v->d->errors != before)
		return -1;
	if (!verify_inside(v, index, core, m->l1, (uint64_t)(m->count - 1) * m->step + m->bytes))
		verify_wrong(v, m->loc, index, core, "a move at l1 0x%x reaches outside of a buffer",
			     m->l1);
	if (reads_image(v, m))
		return -1;
	const int buffer = buffer_of(v, index, m);
	if (buffer < 0)
		verify_wrong(v, m->loc, index, core,
			     "a move at 0x%x to 0x%" PRIx64 " is in no buffer that all banks of DRAM have",
			     m->at, end_of(m));
	return buffer;
}

/* The first one that ends behind the start of a page; -1: none. */
static int find_written(Writes w, const Written *page)
{
	int low = 0, high = w.n;
	while (low < high) {
		const int middle = low + (high - low) / 2;
		const Written *x = &w.v[middle];
		if (x->place < page->place || (x->place == page->place && x->end <= page->at))
			low = middle + 1;
		else
			high = middle;
	}
	return low < w.n && w.v[low].place == page->place ? low : -1;
}

/* Was all of a page written, and does the reader know? */
static void check_page(Verifier *v, int index, int core, Writes w, Told told, Written page)
{
	uint64_t at = page.at;
	for (int i = find_written(w, &page); i >= 0 && i < w.n && at < page.end; i++) {
		const Written *x = &w.v[i];
		if (x->place != page.place || x->at > at)
			break;
		at = x->end;
		if (x->op >= index)
			verify_wrong(v, page.loc, index, core,
				     "reads bank %d at 0x%" PRIx64 ", which op %d writes", bank_of(&page), page.at,
				     x->op);
		else if (x->core != core && told.op[core * told.cores + x->core] < x->op)
			verify_wrong(v, page.loc, index, core,
				     "reads bank %d at 0x%" PRIx64
				     ", and has not waited for core %d to write it in op %d",
				     bank_of(&page), page.at, x->core, x->op);
		else
			continue;
		return;
	}
	if (at < page.end)
		verify_wrong(v, page.loc, index, core,
			     "reads bank %d at 0x%" PRIx64 ", which nobody has written", bank_of(&page), at);
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
		const int buffer = buffer_of(v, index, m);
		for (int k = 0; k < (int)m->count && v->d->errors == before; k++)
			check_page(v, index, core, w, told, page_of(m, k, buffer));
	}
}

static void collect(Verifier *v, int index, int core, Writes *w, ProgramUse *uses)
{
	const ProgramOpCore *on = &v->p->ops[index].cores[core];
	for (int i = 0; i < on->nmoves; i++) {
		const ProgramMove *m = &on->moves[i];
		const int buffer = check_move(v, index, core, m);
		if (buffer < 0)
			continue;
		program_use_add(&uses[buffer], core, index, m->out);
		if (!m->out)
			continue;
		for (int k = 0; k < (int)m->count; k++) {
			w->v = arena_grow(v->a, w->v, w->n, sizeof *w->v);
			Written *x = &w->v[w->n++];
			*x = page_of(m, k, buffer);
			x->core = core;
			x->op = index;
		}
	}
}

/* A core writes what others may still use. */
static void tell_early(Verifier *v, const ProgramBuffer *used, const ProgramBuffer *wrote,
		       const ProgramUse *u, bool next)
{
	int op = v->p->nops;
	for (int c = 0; c < v->p->ncores; c++)
		op = u->wrote[c] >= 0 && u->wrote[c] < op ? u->wrote[c] : op;
	verify_wrong(v, wrote->loc, op, -1,
		     "'%s' is written where '%s' was%s, which some may not be through with",
		     wrote->name, used->name, next ? " in the run before" : "");
}

/* Of two buffers, or one: have they bytes that both write? */
static bool meet(const ProgramBuffer *a, const ProgramBuffer *b)
{
	return a->place == PLACE_DRAM && b->place == PLACE_DRAM
		&& a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

/* Two slots: what one run writes is not what the next one does. */
static bool has_slots(const Verifier *v, int buffer)
{
	const ProgramBuffer *b = &v->p->buffers[buffer];
	for (int o = b->first; o <= b->last; o++)
		for (int c = 0; c < v->p->ncores; c++) {
			const ProgramOpCore *on = &v->p->ops[o].cores[c];
			for (int i = 0; i < on->nmoves; i++)
				if (on->moves[i].out && !on->moves[i].slot_bytes
				    && buffer_of(v, o, &on->moves[i]) == buffer)
					return false;
		}
	return true;
}

static void check_order(Verifier *v, const ProgramUse *uses)
{
	const Program *p = v->p;
	const int n = p->nbuffers;
	const ProgramOrder order = program_order(v->a, p, uses, n);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			const ProgramBuffer *a = &p->buffers[i], *b = &p->buffers[k];
			if (!meet(a, b) || a->last < 0)
				continue;
			if (a->last < b->first && !order.same[i * n + k])
				tell_early(v, a, b, &uses[k], false);
			if (!order.next[i * n + k] && (i != k || !has_slots(v, i)))
				tell_early(v, a, b, &uses[k], true);
		}
}

/* Nobody writes what was written. */
static void check_once(Verifier *v, Writes w)
{
	if (w.n)
		qsort(w.v, (size_t)w.n, sizeof *w.v, by_place);
	for (int i = 1; i < w.n; i++)
		if (w.v[i].place == w.v[i - 1].place && w.v[i].at < w.v[i - 1].end)
			verify_wrong(v, w.v[i].loc, w.v[i].op, w.v[i].core,
				     "writes bank %d at 0x%" PRIx64 ", as core %d does in op %d",
				     bank_of(&w.v[i]), w.v[i].at, w.v[i - 1].core, w.v[i - 1].op);
}

void verify_moves(Verifier *v)
{
	const Program *p = v->p;
	const int before = v->d->errors;
	Writes w = { NULL, 0 };
	Told told = { arena_array(v->a, int, p->ncores * p->ncores + 1), p->ncores };
	ProgramUse *uses = arena_array(v->a, ProgramUse, p->nbuffers + 1);
	for (int i = 0; i < p->nbuffers; i++)
		uses[i] = program_use(v->a, p);
	for (int o = 0; o < p->nops; o++)
		for (int c = 0; c < p->ncores; c++)
			collect(v, o, c, &w, uses);
	if (v->d->errors == before)
		check_once(v, w);
	for (int i = 0; i < p->ncores * p->ncores; i++)
		told.op[i] = -1;
	for (int o = 0; o < p->nops && v->d->errors == before; o++)
		for (int c = 0; c < p->ncores; c++)
			check_reads(v, o, c, w, told);
	if (v->d->errors == before && w.n)
		check_order(v, uses);
}
