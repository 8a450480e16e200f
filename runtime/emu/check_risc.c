/*
 * l1_publish, sync_unused: what a RISC-V may take for done (MemoryOrdering.md,
 * TTSync.md).
 *
 * A store has left when its address is loaded or three more stores have gone
 * out; it is in L1 when a later load from L1 has come back; a load has come
 * back when something has used its value, or after seven more instructions.
 * Stores of one RISC-V to L1 stay in order, so a flag in L1 may announce data
 * in L1. Anything else (mailbox, semaphore, reset, NoC command, Tensix
 * instruction) goes another way and may overtake the data.
 */
#include "runtime/emu/shadow_state.h"

Told telling(const HartShadow *h)
{
	return (Told){ .settled = h->settled, .stored = h->stored };
}

void told(HartShadow *h, Risc by, const Told *what)
{
	Told *t = &h->told[by];

	if (what->stored > t->stored)
		t->stored = what->stored;
	if (what->settled > t->settled)
		t->settled = what->settled;
}

/* The registers an instruction reads, a bit each; x0 is not one. */
static uint32_t sources(uint32_t i)
{
	uint32_t rs1 = 1u << (i >> 15 & 31), rs2 = 1u << (i >> 20 & 31), both = (rs1 | rs2) & ~1u;

	if ((i & 3) != 3)
		return 0;
	switch (i & 0x7f) {
	case 0x37: case 0x17: case 0x6f: case 0x0f:
		return 0;
	case 0x67: case 0x03: case 0x13:
		return rs1 & ~1u;
	default:
		return both;
	}
}

/* The first n loads have come back. */
static void come_back(HartShadow *h, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (h->load[k].settles > h->settled)
			h->settled = h->load[k].settles;
	for (uint32_t k = n; k < h->loads; k++)
		h->load[k - n] = h->load[k];
	h->loads -= n;
}

void risc_push(Shadow *s, Risc r, uint32_t instruction)
{
	s->hart[r].pushes++;
	s->hart[r].mop |= instruction >> 24 == T_MOP;
}

void shadow_step(EmuCore *c, Risc r, uint32_t instruction)
{
	HartShadow *h = &c->shadow->hart[r];
	uint32_t back = 0, used;

	if ((instruction & 3) != 3) { /* a Tensix instruction in the stream is a store */
		risc_push(c->shadow, r, instruction >> 2 | instruction << 30);
		risc_store(c->shadow, r, ~0u);
	}
	if (!h->loads)
		return;
	used = sources(instruction);
	for (uint32_t k = 0; k < h->loads; k++) {
		OpenLoad *l = &h->load[k];

		if (++l->age >= RETIRE_SLOTS || used >> l->rd & 1)
			back = k + 1;
	}
	if (back)
		come_back(h, back);
}

const uint32_t *shadow_open_loads(const EmuCore *c, Risc r)
{
	return &c->shadow->hart[r].loads;
}

static void open_load(HartShadow *h, OpenLoad l)
{
	if (h->loads == RETIRE_SLOTS)
		come_back(h, 1);
	h->load[h->loads++] = l;
}

void risc_store(Shadow *s, Risc r, uint32_t address)
{
	HartShadow *h = &s->hart[r];

	for (int k = STORE_SLOTS - 1; k > 0; k--)
		h->recent[k] = h->recent[k - 1];
	h->recent[0].address = address;
	h->recent[0].stored = h->stored;
}

void risc_l1_store(EmuCore *c, Risc r, uint32_t address, uint32_t size)
{
	Shadow *s = c->shadow;

	s->hart[r].stored = ++s->stores;
	l1_mark_written(s, address, size, stamp_of(s->stores, (int)r));
}

void risc_l1_load(EmuCore *c, Risc r, uint32_t address, uint32_t rd)
{
	Shadow *s = c->shadow;
	HartShadow *h = &s->hart[r];
	uint32_t stamp = word_at(&s->stamp, address / 4), store = stamp_store(stamp);
	int by = stamp_by(stamp), k = 0;

	while (k < STORE_SLOTS - 1 && h->recent[k].address != address)
		k++;
	if (h->recent[k].stored > h->settled)
		open_load(h, (OpenLoad){ .settles = h->recent[k].stored, .rd = (uint8_t)rd });
	/* Who came over the NoC may have been asked by any of this core's. */
	if (!stamp)
		hart_learns(h, &s->noc_know);
	if (!stamp || by == (int)r || by >= RISCS)
		return;
	if (store > h->told[by].settled && store <= h->told[by].stored &&
	    store > h->told[by].seen)
		emu_fault(c, (int)r, "l1_publish", address,
			  "written by %s, which announced it without loading it back",
			  risc_names[by]);
	if (store > h->told[by].seen)
		h->told[by].seen = store;
	hart_learns(h, &s->hart[by].know);
}

/* PCBUF words 1 and 2: TTSync.md. */
void risc_sync_store(Shadow *s, Risc r, uint32_t address)
{
	HartShadow *h = &s->hart[r];

	h->synced_pushes[address / 4 & 3] = h->pushes;
}

void risc_sync_load(EmuCore *c, Risc r, uint32_t address, uint32_t rd)
{
	HartShadow *h = &c->shadow->hart[r];
	int thread = (int)r - TRISC0;
	ThreadShadow *t = &c->shadow->thread[thread];

	if (h->synced_pushes[address / 4 & 3] != h->pushes)
		emu_fault(c, (int)r, "sync_unused", address,
			  "sync loaded with no store to it since the last instruction was pushed");
	open_load(h, (OpenLoad){ .address = address, .rd = (uint8_t)rd, .sync = true });
	h->mop = false;
	if ((address & 0xf) != 4)
		return;
	t->open = 0;
	t->flop = 0;
	know_done(&t->know, thread, 0);
	hart_learns(h, &t->know);
}

void risc_needs_sync(EmuCore *c, Risc r, uint32_t address)
{
	const HartShadow *h = &c->shadow->hart[r];

	for (uint32_t k = 0; k < h->loads; k++)
		if (h->load[k].sync)
			emu_fault(c, (int)r, "sync_unused", address,
				  "nothing has used the value of the sync at 0x%08x yet",
				  (unsigned)h->load[k].address);
}
