#include "runtime/host/race.h"

#include <string.h>

#include "runtime/host/device.h"
#include "runtime/host/error.h"

enum { CHUNK = 4096 };

/* The first of n bytes that differs, or n. */
static uint64_t difference(Emu *a, Emu *b, Place w, uint64_t address, uint64_t n)
{
	uint8_t x[CHUNK], y[CHUNK];

	for (uint64_t at = 0; at < n; at += CHUNK) {
		const size_t k = n - at < CHUNK ? (size_t)(n - at) : CHUNK;

		if (!emu_read(a, w.x, w.y, w.start + address + at, x, k) ||
		    !emu_read(b, w.x, w.y, w.start + address + at, y, k))
			return at;
		for (size_t i = 0; memcmp(x, y, k) != 0; i++)
			if (x[i] != y[i])
				return at + i;
	}
	return n;
}

static bool differs(const Ttb *t, size_t core, uint64_t address, uint32_t run, TesseraError *e)
{
	const TtbBuffer *b = ttb_buffer_at(t, core, address, (uint32_t)t->ops - 1);
	char room[TTB_OP_TEXT];

	return rt_fail(e, TESSERA_RACE,
		       "race: run %u: core (%u,%u), L1 address 0x%llx (%s%s%s) depends on timing",
		       run, t->core[core].col, t->core[core].row, (unsigned long long)address,
		       b ? ttb_string(t, b->name) : "no buffer", b ? " of op " : "",
		       b ? ttb_op_text(t, b->born, room) : "");
}

static bool compare_l1(Emu *a, Emu *b, const Ttb *t, uint32_t run, TesseraError *e)
{
	for (size_t i = 0; i < t->cores; i++) {
		const TtbCore *c = &t->core[i];
		const uint64_t n = TT_L1_END - TT_USER;
		const uint64_t at = difference(a, b, place_worker(c->col, c->row), TT_USER, n);

		if (at < n)
			return differs(t, i, TT_USER + at, run, e);
	}
	return true;
}

static bool compare_output(Emu *a, Emu *b, const Ttb *t, const TtbTensor *x, uint32_t run,
			   TesseraError *e)
{
	for (uint32_t i = x->first_part; i < x->first_part + x->parts; i++) {
		const TtbPart *p = &t->part[i];
		const uint64_t from = p->base + (uint64_t)((run - 1) % TTB_SLOTS) * p->slot_bytes;

		for (uint32_t bank = 0; bank < TT_DRAM_BANKS; bank++) {
			const uint64_t n = (uint64_t)ttb_bank_pages(p, bank) * p->page_bytes;
			const uint64_t at = difference(a, b, place_bank(bank), from, n);

			if (at < n)
				return rt_fail(e, TESSERA_RACE,
					       "race: run %u: output %s, DRAM bank %u, address "
					       "0x%llx depends on timing",
					       run, ttb_string(t, x->name), bank,
					       (unsigned long long)(from + at));
		}
	}
	return true;
}

bool race_compare(Emu *a, Emu *b, const Ttb *t, uint32_t run, TesseraError *e)
{
	if (!compare_l1(a, b, t, run, e))
		return false;
	for (size_t i = 0; i < t->outputs; i++)
		if (!compare_output(a, b, t, &t->output[i], run, e))
			return false;
	return true;
}
