/* No two things of a package lie in the same place. */
#include <stdlib.h>

#include "runtime/host/elf32.h"
#include "runtime/host/error.h"
#include "runtime/host/ttb_check.h"

#define BAD(...) rt_fail(e, TESSERA_BAD_PACKAGE, __VA_ARGS__)

/* Bytes of one memory: DRAM banks, then L1 of every core alike, then L1 of
 * each core. */
enum { EVERY = TT_DRAM_BANKS, CORE = EVERY + 1 };

typedef struct Span {
	uint32_t memory;
	uint64_t first, end;
} Span;

typedef struct Spans {
	Span *span;
	size_t count;
} Spans;

static int by_place(const void *a, const void *b)
{
	const Span *s = a, *r = b;

	if (s->memory != r->memory)
		return s->memory < r->memory ? -1 : 1;
	return (s->first > r->first) - (s->first < r->first);
}

static bool twice(TesseraError *e, const Span *s)
{
	if (s->memory < EVERY)
		return BAD("two things lie at 0x%llx of bank %u", (unsigned long long)s->first,
			   s->memory);
	if (s->memory == EVERY)
		return BAD("two things lie at 0x%llx in L1 of every core",
			   (unsigned long long)s->first);
	return BAD("two things lie at 0x%llx in L1 of core %u", (unsigned long long)s->first,
		   s->memory - CORE);
}

/* The first span of `memory` that ends past `at`, in sorted disjoint spans. */
static size_t past(const Spans *all, uint32_t memory, uint64_t at)
{
	size_t low = 0, high = all->count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const Span *s = &all->span[mid];

		if (s->memory < memory || (s->memory == memory && s->end <= at))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool disjoint(Spans *all, TesseraError *e)
{
	qsort(all->span, all->count, sizeof *all->span, by_place);
	for (size_t i = 1; i < all->count; i++) {
		const Span *s = &all->span[i];

		if (s->memory == s[-1].memory && s->first < s[-1].end)
			return twice(e, s);
	}
	for (size_t i = 0; i < all->count; i++) {
		const Span *s = &all->span[i];

		if (s->memory < CORE)
			continue;
		const size_t k = past(all, EVERY, s->first);
		if (k < all->count && all->span[k].memory == EVERY && all->span[k].first < s->end)
			return twice(e, s);
	}
	return true;
}

static void add(Spans *all, uint32_t memory, uint64_t first, uint64_t bytes)
{
	all->span[all->count++] = (Span){ memory, first, first + bytes };
}

static void add_elfs(Spans *all, const Ttb *t)
{
	for (int r = 0; r < TT_RISCS; r++) {
		size_t n;
		const uint8_t *elf = ttb_section(t, (TtbSectionId)r, &n);
		ElfSegment s;

		for (size_t i = 0; n && elf_segment(elf, i, &s); i++)
			add(all, EVERY, s.to, s.bytes);
	}
}

/* Two views of one tensor in DRAM have equal places. */
static bool same_place(const TtbPart *a, const TtbPart *b)
{
	return a->base == b->base && a->page_bytes == b->page_bytes &&
	       a->slot_bytes == b->slot_bytes;
}

static void add_parts(Spans *all, const Ttb *t)
{
	size_t of_inputs = 0;

	for (size_t i = 0; i < t->inputs; i++)
		of_inputs += t->input[i].parts;
	for (size_t i = 0; i < t->parts; i++) {
		bool seen = false;

		for (size_t k = i < of_inputs ? 0 : of_inputs; k < i; k++)
			seen |= same_place(&t->part[k], &t->part[i]);
		for (uint32_t bank = 0; !seen && bank < TT_DRAM_BANKS; bank++)
			add(all, bank, t->part[i].base,
			    (uint64_t)TTB_SLOTS * t->part[i].slot_bytes);
	}
}

bool ttb_check_overlaps(const Ttb *t, TesseraError *e)
{
	const size_t room = t->images + t->parts * TT_DRAM_BANKS + ELF_MOST_SEGMENTS * TT_RISCS;
	Spans all = { .span = malloc(room * sizeof(Span)) };
	if (!all.span)
		return rt_fail(e, TESSERA_NO_MEMORY, "out of memory: %zu bytes",
			       room * sizeof(Span));

	for (size_t i = 0; i < t->images; i++) {
		const TtbImage *m = &t->image[i];
		const bool every = m->where == TTB_EVERY_CORE;

		add(&all,
		    m->place == TTB_DRAM ? m->where
		    : every              ? EVERY
					 : CORE + m->where,
		    m->address, m->bytes);
	}
	add_parts(&all, t);
	add_elfs(&all, t);
	const bool good = disjoint(&all, e);
	free(all.span);
	return good;
}
