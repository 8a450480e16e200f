/*
 * l1_uninitialised, l1_outside, noc_read_early, noc_source_reused, l1_publish,
 * cb_counts: who reads and writes which words of L1.
 */
#include <string.h>

#include "runtime/emu/shadow_state.h"

/* A range of words, cut off where L1 ends. */
typedef struct Words {
	uint32_t first, end;
} Words;

static const uint32_t NOWHERE = ~0u;

static Words words_of(uint32_t address, uint32_t bytes)
{
	const uint32_t last = (address + bytes - 1) / 4, room = L1_BYTES / 4;

	return (Words){ address / 4, !bytes ? 0 : last < room ? last + 1 : room };
}

/* The first word whose flags among `mask` are not those of `good`. */
static uint32_t find_flags(const Shadow *s, Words at, uint32_t mask, uint32_t good)
{
	uint32_t flags;

	for (uint32_t w = at.first, next; w < at.end; w = next) {
		next = word_run(&s->word, w, at.end, &flags);
		if ((flags & mask) != good)
			return w;
	}
	return NOWHERE;
}

/* The first word that packers or unpackers have used since `done` of each thread. */
static uint32_t find_later(const WordMap *m, Words at, const uint32_t done[TENSIX_THREADS])
{
	uint32_t stamp;

	for (uint32_t w = at.first, next; w < at.end; w = next) {
		next = word_run(m, w, at.end, &stamp);

		int thread = stamp_by(stamp) - RISCS;

		if (thread >= 0 && stamp_store(stamp) > done[thread])
			return w;
	}
	return NOWHERE;
}

/* The first word the RISC-V itself has stored that may not be in L1 yet. */
static uint32_t find_own(const Shadow *s, Words at, Risc r)
{
	uint32_t stamp;

	for (uint32_t w = at.first, next; w < at.end; w = next) {
		next = word_run(&s->stamp, w, at.end, &stamp);
		if (stamp && stamp_by(stamp) == (int)r && stamp_store(stamp) > s->hart[r].settled)
			return w;
	}
	return NOWHERE;
}

void l1_check_read(EmuCore *c, int risc, const char *who, uint32_t address, uint32_t bytes)
{
	const Shadow *s = c->shadow;
	const uint32_t w = find_flags(s, words_of(address, bytes), WORD_LANDING | WORD_WRITTEN,
				      WORD_WRITTEN);

	if (w == NOWHERE)
		return;
	if (word_at(&s->word, w) & WORD_LANDING)
		emu_fault(c, risc, "noc_read_early", w * 4,
			  "%s reads what a NoC read may still be writing", who);
	else
		emu_fault(c, risc, "l1_uninitialised", w * 4, "%s reads it", who);
}

/* What packers wrote has to be known to be there. */
void l1_check_packed(EmuCore *c, int risc, const Know *know, uint32_t address, uint32_t bytes)
{
	const WordMap *stamps = &c->shadow->stamp;
	const uint32_t w = find_later(stamps, words_of(address, bytes), know->packed);

	if (w != NOWHERE)
		emu_fault(c, risc, "pack_early", w * 4,
			  "thread %d packs it, and nobody has waited for that",
			  stamp_by(word_at(stamps, w)) - RISCS);
}

/* What is overwritten has to be known to have been unpacked. */
void l1_check_unpacked(EmuCore *c, int risc, const Know *know, uint32_t address, uint32_t bytes)
{
	const WordMap *stamps = &c->shadow->unpacked;
	const uint32_t w = find_later(stamps, words_of(address, bytes), know->unpacked);

	if (w != NOWHERE)
		emu_fault(c, risc, "l1_reused", w * 4,
			  "overwritten, and nobody has waited for the unpackers of thread %d",
			  stamp_by(word_at(stamps, w)) - RISCS);
}

void l1_mark_written(Shadow *s, uint32_t address, uint32_t bytes, uint32_t stamp)
{
	const Words at = words_of(address, bytes);

	word_change(&s->word, at.first, at.end, 0, WORD_WRITTEN);
	word_set(&s->stamp, at.first, at.end, stamp);
}

void l1_check_write(EmuCore *c, int risc, const char *who, uint32_t address, uint32_t bytes)
{
	const Shadow *s = c->shadow;
	const uint32_t allowed =
		s->limited && address >= s->program.code_end ? WORD_ALLOWED : 0;
	const uint32_t w = find_flags(s, words_of(address, bytes), WORD_LEAVING | allowed, allowed);

	if (w == NOWHERE)
		return;
	if (word_at(&s->word, w) & WORD_LEAVING)
		emu_fault(c, risc, "noc_source_reused", w * 4,
			  "%s writes what a NoC write may still be reading", who);
	else
		emu_fault(c, risc, "l1_outside", w * 4, "%s writes it", who);
}

/* Words the RISC-V itself has stored must be in L1 before it tells a unit to
 * read them. */
void l1_check_own(EmuCore *c, Risc r, const char *who, uint32_t address, uint32_t bytes)
{
	const uint32_t w = find_own(c->shadow, words_of(address, bytes), r);

	if (w != NOWHERE)
		emu_fault(c, (int)r, "l1_publish", w * 4,
			  "%s reads a store that was not loaded back", who);
}

void shadow_host_write(EmuCore *c, uint64_t address, uint64_t bytes)
{
	if (address < L1_BYTES)
		l1_mark_written(c->shadow, (uint32_t)address, (uint32_t)bytes, 0);
}

/* Nothing to report of a range that thread r's unpacker reads. */
static bool may_unpack(const Shadow *s, Words at, Risc r, const Know *know)
{
	uint32_t flags, stamp, most[8];

	for (int by = 0; by < 8; by++) /* the last stamp of each that may be there */
		most[by] = by < RISCS ? ~0u : know->packed[by - RISCS];
	most[r] = s->hart[r].settled;
	for (uint32_t w = at.first, next; w < at.end; w = next) {
		next = word_run(&s->word, w, at.end, &flags);
		next = word_run(&s->stamp, w, next, &stamp);
		if ((flags & (WORD_LANDING | WORD_WRITTEN)) != WORD_WRITTEN ||
		    stamp_store(stamp) > most[stamp_by(stamp)])
			return false;
	}
	return true;
}

/* Rows side by side are looked at as one, unless there is something to report. */
void shadow_unpack(EmuCore *c, int thread, uint32_t address, uint32_t bytes, uint32_t rows)
{
	Shadow *s = c->shadow;
	const Risc r = (Risc)(TRISC0 + thread);
	const Know *know = &s->thread[thread].know;
	const Words all = words_of(address, bytes * rows);
	const bool clean = may_unpack(s, all, r, know);

	for (uint32_t row = 0; row < rows && !clean; row++) {
		l1_check_read(c, (int)r, "an unpacker", address + row * bytes, bytes);
		l1_check_own(c, r, "an unpacker", address + row * bytes, bytes);
		l1_check_packed(c, (int)r, know, address + row * bytes, bytes);
	}
	word_set(&s->unpacked, all.first, all.end,
		 stamp_of(know->issued[thread], RISCS + thread));
}

void shadow_pack(EmuCore *c, int thread, uint32_t address, uint32_t bytes)
{
	const Know *know = &c->shadow->thread[thread].know;

	l1_check_write(c, TRISC0 + thread, "a packer", address, bytes);
	l1_check_unpacked(c, TRISC0 + thread, know, address, bytes);
	l1_mark_written(c->shadow, address, bytes,
			stamp_of(know->issued[thread], RISCS + thread));
}

void shadow_noc_read(EmuCore *c, EmuCore *by, int risc, uint32_t address, uint32_t bytes)
{
	const uint32_t w = find_flags(c->shadow, words_of(address, bytes), WORD_WRITTEN,
				      WORD_WRITTEN);

	if (w != NOWHERE)
		emu_fault(by, risc, "l1_uninitialised", w * 4,
			  "the NoC reads it from the core at %u,%u", (unsigned)c->x,
			  (unsigned)c->y);
}

void shadow_noc_write(EmuCore *c, EmuCore *by, int risc, uint32_t address, uint32_t bytes)
{
	Shadow *s = c->shadow;

	if (s->limited && address >= s->program.code_end) {
		const uint32_t w = find_flags(s, words_of(address, bytes), WORD_ALLOWED,
					      WORD_ALLOWED);

		if (w != NOWHERE)
			emu_fault(by, risc, "l1_outside", w * 4,
				  "the NoC writes it on the core at %u,%u", (unsigned)c->x,
				  (unsigned)c->y);
	}
	l1_mark_written(s, address, bytes, 0);
}

/* Counters of a circular buffer: see TtCbWords. */
void cb_store(EmuCore *c, Risc r, uint32_t address)
{
	const EmuProgram *p = &c->shadow->program;
	uint32_t words[4], first;

	if (!p->cb_words || address < p->cb_words || address >= p->cb_words + p->cb_count * 16)
		return;
	if ((address - p->cb_words) % 16 >= 8)
		return;
	first = address - (address - p->cb_words) % 16;
	memcpy(words, c->l1 + first, sizeof(words));
	if (words[2] && words[0] - words[1] > words[2])
		emu_fault(c, (int)r, "cb_counts", address,
			  "circular buffer %u: %u pages in, %u out, room for %u",
			  (unsigned)((first - p->cb_words) / 16), (unsigned)words[0],
			  (unsigned)words[1], (unsigned)words[2]);
}
