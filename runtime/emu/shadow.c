/* The strict checks' memory, and which check looks at which access. */
#include "runtime/emu/shadow_state.h"

#include <stdlib.h>

/* Upper halves of addresses, and places there. */
enum {
	AT_LOCAL = 0xffb0, AT_TILE = 0xffb1, AT_NOC0 = 0xffb2, AT_NOC1 = 0xffb3, AT_MOP = 0xffb8,
	AT_GPR = 0xffe0,
	AT_PUSH0 = 0xffe4, AT_PUSH1 = 0xffe5, AT_PUSH2 = 0xffe6, AT_PCBUF = 0xffe8,
	AT_MAILBOX = 0xffec, AT_CFG = 0xffef,
	TILE_RESET = 0x21b0,
	NOC_COUNTERS = 0x200, NOC_COUNTERS_END = 0x300,
	PCBUF_SYNC = 4, PCBUF_MOP_SYNC = 8, PCBUF_SEMAPHORES = 0x20, PCBUF_END = 0x40,
};

Shadow *shadow_new(void)
{
	Shadow *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (!word_map_make(&s->word, L1_BYTES / 4) || !word_map_make(&s->stamp, L1_BYTES / 4) ||
	    !word_map_make(&s->unpacked, L1_BYTES / 4)) {
		shadow_free(s);
		return NULL;
	}
	cfg_init(s);
	return s;
}

void shadow_free(Shadow *s)
{
	if (!s)
		return;
	word_map_free(&s->word);
	word_map_free(&s->stamp);
	word_map_free(&s->unpacked);
	free(s->request);
	free(s);
}

void shadow_program(Shadow *s, const EmuProgram *p) { s->program = *p; }

void shadow_allow(Shadow *s, uint32_t first, uint32_t end)
{
	end = end < L1_BYTES ? (end + 3) / 4 : L1_BYTES / 4;
	s->limited = true;
	word_change(&s->word, first / 4, end, 0, WORD_ALLOWED);
}

/* BRISC and the TRISCs have mailboxes: 0 to 3. */
static int mail_index(Risc r) { return r == NCRISC ? -1 : (int)r - BRISC; }

static void mailbox(Shadow *s, Risc r, uint32_t address, bool put)
{
	int me = mail_index(r), other = (int)(address >> 12 & 3);
	HartShadow *h = &s->hart[r];

	if (me < 0)
		return;
	if (put) {
		s->mail[me][other] = telling(h);
		s->mail_know[me][other] = h->know;
	} else {
		told(h, (Risc)(BRISC + other), &s->mail[other][me]);
		hart_learns(h, &s->mail_know[other][me]);
	}
}

/* Those that came out of reset by the store of r may rely on all it did. */
static void released(EmuCore *c, Risc r)
{
	Shadow *s = c->shadow;
	Told what = telling(&s->hart[r]);

	for (int k = 0; k < RISCS; k++) {
		if (k != (int)r && c->hart[k].on && !s->hart[k].on) {
			told(&s->hart[k], r, &what);
			hart_learns(&s->hart[k], &s->hart[r].know);
		}
		s->hart[k].on = c->hart[k].on;
	}
}

static void pcbuf(EmuCore *c, Risc r, uint32_t address, bool store, uint32_t rd)
{
	uint32_t offset = address & 0xffff;

	if (!is_trisc(r))
		return;
	if (offset == PCBUF_SYNC || offset == PCBUF_MOP_SYNC) {
		if (store)
			risc_sync_store(c->shadow, r, address);
		else
			risc_sync_load(c, r, address, rd);
	} else if (offset >= PCBUF_SEMAPHORES && offset < PCBUF_END) {
		if (store)
			semaphore_store(c, r, (offset - PCBUF_SEMAPHORES) / 4);
		else
			semaphore_load(c, r, (offset - PCBUF_SEMAPHORES) / 4);
	}
}

void shadow_load(EmuCore *c, Risc r, uint32_t address, uint32_t size, uint32_t value, uint32_t rd)
{
	uint32_t high = address >> 16, offset = address & 0xffff;

	if (high == AT_LOCAL)
		return;
	risc_needs_sync(c, r, address);
	if (address < L1_BYTES) {
		l1_check_read(c, (int)r, "a load", address, size);
		l1_check_packed(c, (int)r, &c->shadow->hart[r].know, address, size);
		risc_l1_load(c, r, address, rd);
	} else if (high == AT_PCBUF) {
		pcbuf(c, r, address, false, rd);
	} else if (high == AT_MAILBOX) {
		mailbox(c->shadow, r, address, false);
	} else if (high == AT_NOC0 || high == AT_NOC1) {
		if (offset >= NOC_COUNTERS && offset < NOC_COUNTERS_END)
			noc_counter_load(c, high == AT_NOC1, (offset - NOC_COUNTERS) / 4, value);
	} else if (high == AT_CFG || high == AT_GPR) {
		cfg_load(c, r, address);
	}
}

static void register_store(EmuCore *c, Risc r, uint32_t address, uint32_t value)
{
	switch (address >> 16) {
	case AT_PCBUF:
		pcbuf(c, r, address, true, 0);
		break;
	case AT_MAILBOX:
		mailbox(c->shadow, r, address, true);
		break;
	case AT_MOP:
		mop_store(c, r, address);
		break;
	case AT_CFG:
		cfg_store(c, r, address, value);
		break;
	case AT_GPR:
		gpr_store(c, r, address);
		break;
	case AT_TILE:
		if ((address & 0xffff) == TILE_RESET)
			released(c, r);
		break;
	}
}

void shadow_store(EmuCore *c, Risc r, uint32_t address, uint32_t size, uint32_t value)
{
	uint32_t high = address >> 16;

	if (high == AT_PUSH0 || high == AT_PUSH1 || high == AT_PUSH2) {
		risc_push(c->shadow, r, value);
	} else if (address < L1_BYTES) {
		risc_needs_sync(c, r, address);
		l1_check_write(c, (int)r, "a store", address, size);
		l1_check_unpacked(c, (int)r, &c->shadow->hart[r].know, address, size);
		risc_l1_store(c, r, address, size);
		cb_store(c, r, address);
	} else if (high != AT_LOCAL) {
		risc_needs_sync(c, r, address);
		register_store(c, r, address, value);
	}
	risc_store(c->shadow, r, address);
}

void shadow_issue(EmuCore *c, int thread, uint32_t instruction)
{
	cfg_issue(c, thread, instruction);
	dst_issue(c, thread, instruction);
	sfpu_issue(c, thread, instruction);
}

void shadow_stuck(EmuCore *c)
{
	for (int thread = 0; thread < TENSIX_THREADS; thread++) {
		const Hart *h = &c->hart[TRISC0 + thread];

		if (h->on && h->waits && tensix_queued(&c->tensix, thread) > PUSH_LIMIT)
			emu_fault(c, TRISC0 + thread, "fifo_depth", h->waits_at,
				  "%u instructions wait in the queue, and the RISC-V has to go on",
				  (unsigned)tensix_queued(&c->tensix, thread));
	}
}
