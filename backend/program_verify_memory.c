/* Who has which bytes when. */
#include <inttypes.h>
#include <stdlib.h>

#include "backend/program_verify.h"

enum { MOST_NAMED = 4 }; /* of what is too large */

/* Bytes of one memory for a time: L1 of one core or of all, a bank of DRAM or
 * every one. */
typedef struct Span {
	const char *name;
	Loc loc;
	bool dram;
	int where; /* core or bank; -1: all */
	uint64_t at, end;
	int first, last;
} Span;

typedef struct Spans {
	Span *v;
	int n;
} Spans;

static void check(Verifier *v, const Span *s)
{
	const uint64_t align = s->dram ? ALIGN_DRAM : ALIGN_L1;
	const uint64_t first = s->dram ? 0 : (uint64_t)v->t->l1_first;
	const uint64_t end = (uint64_t)(s->dram ? v->t->dram_bank_bytes : v->t->l1_end);
	const int most = s->dram ? (int)v->t->dram_banks : v->p->ncores;
	if (s->at % align)
		diag_error(v->d, s->loc, "'%s' at 0x%" PRIx64 " is not on %" PRIu64 " bytes", s->name,
			   s->at, align);
	if (s->at < first || s->end > end || s->end < s->at)
		diag_error(v->d, s->loc, "'%s', 0x%" PRIx64 " to 0x%" PRIx64
			   ", is not within 0x%" PRIx64 " to 0x%" PRIx64, s->name, s->at, s->end, first,
			   end);
	if (s->where >= most || s->where < -1)
		diag_error(v->d, s->loc, "'%s' lies in %s %d of %d", s->name,
			   s->dram ? "bank" : "L1 of core", s->where, most);
	if (s->first < 0 || s->first > s->last || s->last >= v->p->nops)
		diag_error(v->d, s->loc, "'%s' lives from op %d to op %d of %d", s->name, s->first,
			   s->last, v->p->nops);
	if (s->dram && s->end > v->p->dram_free)
		diag_error(v->d, s->loc, "'%s' reaches 0x%" PRIx64 ", DRAM is said to be free from 0x%"
			   PRIx64 " on", s->name, s->end, v->p->dram_free);
}

static int by_address(const void *x, const void *y)
{
	const Span *a = x, *b = y;
	return (a->at > b->at) - (a->at < b->at);
}

static void check_disjoint(Verifier *v, Spans s)
{
	qsort(s.v, (size_t)s.n, sizeof *s.v, by_address);
	for (int i = 0; i < s.n; i++)
		for (int k = i + 1; k < s.n && s.v[k].at < s.v[i].end; k++) {
			const Span *a = &s.v[i], *b = &s.v[k];
			const bool same = a->where < 0 || b->where < 0 || a->where == b->where;
			if (a->dram != b->dram || !same || b->at == b->end || a->last < b->first
			    || b->last < a->first)
				continue;
			const int op = a->first > b->first ? a->first : b->first;
			diag_error(v->d, b->loc, "'%s' and '%s' share byte 0x%" PRIx64 " during op %d",
				   a->name, b->name, b->at, op);
		}
}

static void add_buffers(Verifier *v, Spans *s)
{
	for (int i = 0; i < v->p->nbuffers; i++) {
		const ProgramBuffer *b = &v->p->buffers[i];
		const bool dram = b->place == PLACE_DRAM;
		s->v[s->n++] = (Span){ b->name, b->loc, dram, dram ? b->bank : b->core, b->address,
				       b->address + b->bytes, b->first, b->last };
	}
}

static void add_images(Verifier *v, Spans *s)
{
	const uint64_t banks = (uint64_t)v->t->dram_banks;
	for (int i = 0; i < v->p->nimages; i++) {
		const ProgramImage *m = &v->p->images[i];
		uint64_t bytes = m->bytes;
		if (m->page_bytes)
			bytes = (bytes + m->page_bytes * banks - 1) / (m->page_bytes * banks)
				* m->page_bytes;
		if (m->page_bytes % ALIGN_DRAM)
			diag_error(v->d, m->loc, "'%s': pages of %u bytes are not on %d", m->name,
				   m->page_bytes, (int)ALIGN_DRAM);
		if (m->bank < 0 || m->bank >= v->t->dram_banks)
			diag_error(v->d, m->loc, "'%s' starts in bank %d of %d", m->name, m->bank,
				   (int)banks);
		s->v[s->n++] = (Span){ m->name, m->loc, true, m->page_bytes ? -1 : m->bank,
				       m->address, m->address + bytes, 0, v->p->nops - 1 };
	}
}

/* Two slots of a host tensor; parts may look at the same one. */
static void add_tensor(Verifier *v, Spans *s, const ProgramEdge *e, const ProgramTensor *t)
{
	const uint64_t banks = (uint64_t)v->t->dram_banks;
	const uint64_t pages = (uint64_t)(t->shape[0] * t->shape[1] * t->shape[2]);
	const uint64_t each = (pages + banks - 1) / banks * t->page_bytes;
	if (t->slot_bytes < each)
		diag_error(v->d, e->loc, "'%s': a slot of 0x%" PRIx64 " bytes for 0x%" PRIx64, e->name,
			   t->slot_bytes, each);
	for (int i = 0; i < s->n; i++)
		if (s->v[i].dram && s->v[i].name == e->name && s->v[i].at == t->base)
			return;
	s->v[s->n++] = (Span){ e->name, e->loc, true, -1, t->base, t->base + 2 * t->slot_bytes, 0,
			       v->p->nops - 1 };
}

static void add_edges(Verifier *v, Spans *s, const ProgramEdge *edges, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < edges[i].nparts; k++)
			add_tensor(v, s, &edges[i], &edges[i].parts[k].tensor);
}

static int count_parts(const ProgramEdge *edges, int n)
{
	int parts = 0;
	for (int i = 0; i < n; i++)
		parts += edges[i].nparts;
	return parts;
}

static int by_size(const void *x, const void *y)
{
	const Span *a = x, *b = y;
	const uint64_t m = a->dram ? a->end - a->at : 0, n = b->dram ? b->end - b->at : 0;
	return m != n ? (m < n) - (m > n) : by_address(x, y);
}

/* Addresses behind the end of the banks mean nothing: then that is all there is to say. */
static bool fits_dram(Verifier *v, Spans s)
{
	const uint64_t there = (uint64_t)v->t->dram_bank_bytes;
	if (v->p->dram_free <= there)
		return true;
	const char *largest = "";
	qsort(s.v, (size_t)s.n, sizeof *s.v, by_size);
	for (int i = 0; i < s.n && i < MOST_NAMED && s.v[i].dram; i++)
		largest = arena_printf(v->a, "%s%s'%s' %" PRIu64, largest, i ? ", " : "",
				       s.v[i].name, s.v[i].end - s.v[i].at);
	diag_error(v->d, (Loc){ .file = v->p->name },
		   "tensors and weights need %" PRIu64 " bytes of each of %d banks of DRAM, which have "
		   "%" PRIu64 "; the largest: %s", v->p->dram_free, (int)v->t->dram_banks, there,
		   largest);
	return false;
}

bool verify_memory(Verifier *v)
{
	const Program *p = v->p;
	const int most = p->nbuffers + p->nimages + count_parts(p->inputs, p->ninputs)
		+ count_parts(p->outputs, p->noutputs);
	Spans s = { arena_array(v->a, Span, most + 1), 0 };
	add_buffers(v, &s);
	add_images(v, &s);
	add_edges(v, &s, p->inputs, p->ninputs);
	add_edges(v, &s, p->outputs, p->noutputs);
	if (!fits_dram(v, s))
		return false;
	for (int i = 0; i < s.n; i++)
		check(v, &s.v[i]);
	check_disjoint(v, s);
	return true;
}

static bool holds(const ProgramBuffer *b, Place place, int op, uint64_t address, uint64_t bytes)
{
	return b->place == place && b->first <= op && op <= b->last && address >= b->address
		&& bytes <= b->bytes && address - b->address <= b->bytes - bytes;
}

bool verify_inside(const Verifier *v, int op, int core, uint64_t address, uint64_t bytes)
{
	for (int i = 0; i < v->p->nbuffers; i++) {
		const ProgramBuffer *b = &v->p->buffers[i];
		if ((b->core < 0 || core < 0 || b->core == core)
		    && holds(b, PLACE_L1, op, address, bytes))
			return true;
	}
	return false;
}

const ProgramBuffer *verify_banks(const Verifier *v, int op, uint64_t address, uint64_t bytes)
{
	for (int i = 0; i < v->p->nbuffers; i++)
		if (v->p->buffers[i].bank < 0
		    && holds(&v->p->buffers[i], PLACE_DRAM, op, address, bytes))
			return &v->p->buffers[i];
	return NULL;
}
