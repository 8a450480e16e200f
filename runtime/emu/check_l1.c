/*
 * l1_uninitialised, l1_outside, noc_read_early, noc_source_reused, l1_publish,
 * cb_counts: who reads and writes which words of L1.
 */
#include <string.h>

#include "runtime/emu/shadow_state.h"

static uint32_t last_word(uint32_t address, uint32_t bytes)
{
	uint32_t end = (address + bytes - 1) / 4;

	return end < L1_BYTES / 4 ? end : L1_BYTES / 4 - 1;
}

void l1_check_read(EmuCore *c, int risc, const char *who, uint32_t address, uint32_t bytes)
{
	const Shadow *s = c->shadow;

	for (uint32_t w = address / 4; bytes && w <= last_word(address, bytes); w++) {
		if (s->word[w] & WORD_LANDING) {
			emu_fault(c, risc, "noc_read_early", w * 4,
				  "%s reads what a NoC read may still be writing", who);
			return;
		}
		if (!(s->word[w] & WORD_WRITTEN)) {
			emu_fault(c, risc, "l1_uninitialised", w * 4, "%s reads it", who);
			return;
		}
	}
}

/* What packers wrote has to be known to be there. */
void l1_check_packed(EmuCore *c, int risc, const Know *know, uint32_t address, uint32_t bytes)
{
	const Shadow *s = c->shadow;

	for (uint32_t w = address / 4; bytes && w <= last_word(address, bytes); w++) {
		uint32_t stamp = s->stamp[w];
		int thread = stamp_by(stamp) - RISCS;

		if (thread >= 0 && stamp_store(stamp) > know->packed[thread]) {
			emu_fault(c, risc, "pack_early", w * 4,
				  "thread %d packs it, and nobody has waited for that", thread);
			return;
		}
	}
}

/* What is overwritten has to be known to have been unpacked. */
void l1_check_unpacked(EmuCore *c, int risc, const Know *know, uint32_t address, uint32_t bytes)
{
	const Shadow *s = c->shadow;

	for (uint32_t w = address / 4; bytes && w <= last_word(address, bytes); w++) {
		uint32_t stamp = s->unpacked[w];
		int thread = stamp_by(stamp) - RISCS;

		if (thread >= 0 && stamp_store(stamp) > know->unpacked[thread]) {
			emu_fault(c, risc, "l1_reused", w * 4,
				  "overwritten, and nobody has waited for the unpackers of thread %d",
				  thread);
			return;
		}
	}
}

void l1_mark_written(Shadow *s, uint32_t address, uint32_t bytes, uint32_t stamp)
{
	for (uint32_t w = address / 4; bytes && w <= last_word(address, bytes); w++) {
		s->word[w] |= WORD_WRITTEN;
		s->stamp[w] = stamp;
	}
}

void l1_check_write(EmuCore *c, int risc, const char *who, uint32_t address, uint32_t bytes)
{
	Shadow *s = c->shadow;
	bool outside = s->limited && address >= s->program.code_end;

	for (uint32_t w = address / 4; bytes && w <= last_word(address, bytes); w++) {
		if (s->word[w] & WORD_LEAVING) {
			emu_fault(c, risc, "noc_source_reused", w * 4,
				  "%s writes what a NoC write may still be reading", who);
			break;
		}
		if (outside && !(s->word[w] & WORD_ALLOWED)) {
			emu_fault(c, risc, "l1_outside", w * 4, "%s writes it", who);
			break;
		}
	}
}

/* Words the RISC-V itself has stored must be in L1 before it tells a unit to
 * read them. */
void l1_check_own(EmuCore *c, Risc r, const char *who, uint32_t address, uint32_t bytes)
{
	const Shadow *s = c->shadow;

	for (uint32_t w = address / 4; bytes && w <= last_word(address, bytes); w++) {
		uint32_t stamp = s->stamp[w];

		if (stamp && stamp_by(stamp) == (int)r && stamp_store(stamp) > s->hart[r].settled) {
			emu_fault(c, (int)r, "l1_publish", w * 4,
				  "%s reads a store that was not loaded back", who);
			return;
		}
	}
}

void shadow_host_write(EmuCore *c, uint64_t address, uint64_t bytes)
{
	if (address < L1_BYTES)
		l1_mark_written(c->shadow, (uint32_t)address, (uint32_t)bytes, 0);
}

void shadow_unpack(EmuCore *c, int thread, uint32_t address, uint32_t bytes)
{
	const Know *know = &c->shadow->thread[thread].know;

	l1_check_read(c, TRISC0 + thread, "an unpacker", address, bytes);
	l1_check_own(c, (Risc)(TRISC0 + thread), "an unpacker", address, bytes);
	l1_check_packed(c, TRISC0 + thread, know, address, bytes);
	for (uint32_t w = address / 4; bytes && w <= last_word(address, bytes); w++)
		c->shadow->unpacked[w] = stamp_of(know->issued[thread], RISCS + thread);
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
	const Shadow *s = c->shadow;

	for (uint32_t w = address / 4; bytes && w <= last_word(address, bytes); w++) {
		if (!(s->word[w] & WORD_WRITTEN)) {
			emu_fault(by, risc, "l1_uninitialised", w * 4,
				  "the NoC reads it from the core at %u,%u", (unsigned)c->x, (unsigned)c->y);
			return;
		}
	}
}

void shadow_noc_write(EmuCore *c, EmuCore *by, int risc, uint32_t address, uint32_t bytes)
{
	Shadow *s = c->shadow;

	if (s->limited && address >= s->program.code_end) {
		for (uint32_t w = address / 4; bytes && w <= last_word(address, bytes); w++) {
			if (s->word[w] & WORD_ALLOWED)
				continue;
			emu_fault(by, risc, "l1_outside", w * 4,
				  "the NoC writes it on the core at %u,%u", (unsigned)c->x, (unsigned)c->y);
			break;
		}
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
