#include "runtime/emu/machine.h"

#include <string.h>

/* Where registers stand (TensixTile/BabyRISCV/MemoryMap.md): 4 KiB each but the
 * NoCs' 64. */
enum {
	PAGE_TDMA = 0xffb11,
	PAGE_DEBUG = 0xffb12,
	PAGE_NOC0 = 0xffb20,
	PAGE_NOC_END = 0xffb40,
	PAGE_MOP = 0xffb80,
	PAGE_GPR = 0xffe00,
	PAGE_PUSH0 = 0xffe40,
	PAGE_PUSH1 = 0xffe50,
	PAGE_PUSH2 = 0xffe60,
	PAGE_PCBUF = 0xffe80,
	PAGE_MAILBOX0 = 0xffec0,
	PAGE_MAILBOX_END = 0xffec4,
	PAGE_CFG = 0xffef0,
};

enum {
	TDMA_SOURCE = 0x0, /* in units of 16 bytes */
	TDMA_TARGET = 0x4,
	TDMA_SIZE = 0x8,
	TDMA_DIRECTION = 0xc,
	TDMA_COMMAND = 0x10,
	TDMA_STATUS = 0x14,
	TDMA_CLOCK_GATE = 0x24,
	TDMA_TO_IRAM = 0x4000, /* the only target we know, with direction 1 and command 0x40 */

	DEBUG_FEATURES = 0x68,
	DEBUG_SOFT_RESET = 0x1b0,
	DEBUG_CLOCK = 0x1f0,
	DEBUG_CLOCK_HIGH = 0x1f4,
	DEBUG_CLOCK_HIGH_AT = 0x1f8,

	PCBUF_SYNC = 0x4,
	PCBUF_MOP_SYNC = 0x8,
	PCBUF_SEMAPHORE = 0x20,
};

static const uint32_t reset_bits[RISCS] = { 0x800, 0x1000, 0x2000, 0x4000, 0x40000 };

static bool is_trisc(Risc r)
{
	return r >= TRISC0 && r <= TRISC2;
}

static Access wait_for(EmuCore *c, Risc r, const char *what, uint32_t at)
{
	if (r == RISCS)
		return ACCESS_UNKNOWN;
	c->hart[r].waits = what;
	c->hart[r].waits_at = at;
	return ACCESS_WAIT;
}

static uint32_t reset_pc(const EmuCore *c, int r)
{
	static const uint32_t fixed[RISCS] = { 0, 0x6000, 0xa000, 0xe000, 0x12000 };
	bool used = r == NCRISC ? c->ncrisc_pc_override & 1
				: r != BRISC && (c->trisc_pc_override >> (r - TRISC0) & 1);

	return used ? c->reset_pc[r] : fixed[r];
}

void core_soft_reset(EmuCore *c, uint32_t value)
{
	for (int r = 0; r < RISCS; r++) {
		Hart *h = &c->hart[r];
		bool on = !(value & reset_bits[r]);

		if (on && !h->on) {
			h->pc = reset_pc(c, r);
			h->waits = NULL;
			h->poll.asleep = false;
		}
		h->on = on;
	}
	c->soft_reset = value;
}

/* The mover, used to load NCRISC's instruction memory (Mover.md). */
static Access tdma_store(EmuCore *c, Risc r, uint32_t offset, uint32_t value)
{
	uint64_t from = (uint64_t)c->xmov_src * 16, bytes = (uint64_t)c->xmov_size * 16;

	switch (offset) {
	case TDMA_SOURCE:
		c->xmov_src = value;
		return ACCESS_DONE;
	case TDMA_SIZE:
		c->xmov_size = value;
		return ACCESS_DONE;
	case TDMA_TARGET:
		return value == TDMA_TO_IRAM ? ACCESS_DONE : ACCESS_UNKNOWN;
	case TDMA_DIRECTION:
		return value == 1 ? ACCESS_DONE : ACCESS_UNKNOWN;
	case TDMA_CLOCK_GATE:
		return ACCESS_DONE;
	case TDMA_COMMAND:
		if (value != 0x40)
			return ACCESS_UNKNOWN;
		if (bytes > IRAM_BYTES || from + bytes > L1_BYTES) {
			emu_fault(c, r, "mover", from, "%llu bytes from L1 0x%llx to IRAM",
				  (unsigned long long)bytes, (unsigned long long)from);
			return ACCESS_FAULT;
		}
		memcpy(c->iram, c->l1 + from, bytes);
		memset(c->iram_code, 0, bytes * 2);
		c->code_epoch++;
		return ACCESS_DONE;
	default:
		return ACCESS_UNKNOWN;
	}
}

static Access debug_load(EmuCore *c, uint32_t offset, uint32_t *value)
{
	switch (offset) {
	case DEBUG_FEATURES:
		*value = 0;
		return ACCESS_DONE;
	case DEBUG_SOFT_RESET:
		*value = c->soft_reset;
		return ACCESS_DONE;
	case DEBUG_CLOCK:
		*value = (uint32_t)c->step;
		return ACCESS_DONE;
	case DEBUG_CLOCK_HIGH:
	case DEBUG_CLOCK_HIGH_AT:
		*value = (uint32_t)(c->step >> 32);
		return ACCESS_DONE;
	default:
		return ACCESS_UNKNOWN;
	}
}

static Access debug_store(EmuCore *c, uint32_t offset, uint32_t value)
{
	if (offset == DEBUG_FEATURES && value == 0)
		return ACCESS_DONE;
	value &= 0x7fffffff; /* the top bit, which host software sets, means nothing */
	if (offset != DEBUG_SOFT_RESET || value & ~0x47800u)
		return ACCESS_UNKNOWN;
	core_soft_reset(c, value);
	return ACCESS_DONE;
}

static Access pcbuf_load(EmuCore *c, Risc r, uint32_t offset, uint32_t *value)
{
	*value = 0;
	if (!is_trisc(r))
		return ACCESS_UNKNOWN;
	if (offset == PCBUF_SYNC && tensix_queued(&c->tensix, r - TRISC0))
		return wait_for(c, r, "its Tensix thread to finish", (uint32_t)PAGE_PCBUF << 12 | offset);
	if (offset == PCBUF_SYNC || offset == PCBUF_MOP_SYNC)
		return ACCESS_DONE;
	if (offset < PCBUF_SEMAPHORE || offset >= PCBUF_SEMAPHORE + 4 * SEMAPHORES)
		return ACCESS_UNKNOWN;
	*value = c->tensix.semaphore[(offset - PCBUF_SEMAPHORE) / 4];
	return ACCESS_DONE;
}

/* A store to a semaphore: 0 posts, 1 takes. */
static Access pcbuf_store(EmuCore *c, Risc r, uint32_t offset, uint32_t value)
{
	if (!is_trisc(r))
		return ACCESS_UNKNOWN;
	if (offset == PCBUF_SYNC || offset == PCBUF_MOP_SYNC)
		return ACCESS_DONE;
	if (offset < PCBUF_SEMAPHORE || offset >= PCBUF_SEMAPHORE + 4 * SEMAPHORES || value > 1)
		return ACCESS_UNKNOWN;
	uint32_t i = (offset - PCBUF_SEMAPHORE) / 4;
	uint8_t *semaphore = &c->tensix.semaphore[i];

	if (*semaphore == (value ? 0 : 15)) {
		emu_fault(c, r, "semaphore", i, "semaphore %u %s", i,
			  value ? "taken at 0" : "posted at 15");
		return ACCESS_FAULT;
	}
	*semaphore = (uint8_t)(*semaphore + (value ? -1 : 1));
	return ACCESS_DONE;
}

static Access mailbox_load(EmuCore *c, Risc r, uint32_t from, uint32_t offset, uint32_t *value)
{
	if (r >= NCRISC || offset)
		return ACCESS_UNKNOWN;
	if (!c->mailbox_full[from][r])
		return wait_for(c, r, "mail", (PAGE_MAILBOX0 + from) << 12);
	c->mailbox_full[from][r] = false;
	*value = c->mailbox[from][r];
	return ACCESS_DONE;
}

static Access mailbox_store(EmuCore *c, Risc r, uint32_t to, uint32_t offset, uint32_t value)
{
	if (r >= NCRISC || offset)
		return ACCESS_UNKNOWN;
	if (c->mailbox_full[r][to])
		return wait_for(c, r, "room in a mailbox", (PAGE_MAILBOX0 + to) << 12);
	c->mailbox_full[r][to] = true;
	c->mailbox[r][to] = value;
	return ACCESS_DONE;
}

/* BRISC reaches every thread, past the MOP expander; a TRISC its own. */
static Access push_store(EmuCore *c, Risc r, int window, uint32_t at, uint32_t value)
{
	int thread = r == BRISC ? window : (int)r - TRISC0;

	if (at % 4096 || (r != BRISC && (!is_trisc(r) || window)))
		return ACCESS_UNKNOWN;
	if (tensix_queued(&c->tensix, thread) > PUSH_LIMIT)
		return wait_for(c, r, "room in the queue of its Tensix thread", at);
	tensix_push(&c->tensix, thread, value, r != BRISC);
	return c->faulted ? ACCESS_FAULT : ACCESS_DONE;
}

bool mmio_is_steady(uint32_t address)
{
	uint32_t page = address >> 12;

	return !(page >= PAGE_MAILBOX0 && page < PAGE_MAILBOX_END)
	       && !(page == PAGE_DEBUG && (address & 0xfff) >= DEBUG_CLOCK);
}

Access mmio_load(EmuCore *c, Risc r, uint32_t address, uint32_t *value)
{
	uint32_t page = address >> 12, offset = address & 0xfff;

	if (page >= PAGE_NOC0 && page < PAGE_NOC_END)
		return noc_load(c, (int)(page - PAGE_NOC0) / 16, address & 0xffff, value);
	if (page >= PAGE_MAILBOX0 && page < PAGE_MAILBOX_END)
		return mailbox_load(c, r, page - PAGE_MAILBOX0, offset, value);
	switch (page) {
	case PAGE_TDMA:
		*value = 8; /* idle */
		return offset == TDMA_STATUS ? ACCESS_DONE : ACCESS_UNKNOWN;
	case PAGE_DEBUG:
		return debug_load(c, offset, value);
	case PAGE_GPR:
		if (!is_trisc(r) || offset >= 4 * GPRS)
			return ACCESS_UNKNOWN;
		*value = c->tensix.thread[r - TRISC0].gpr[offset / 4];
		return ACCESS_DONE;
	case PAGE_PCBUF:
		return pcbuf_load(c, r, offset, value);
	case PAGE_CFG:
		if (r >= NCRISC || offset / 4 >= CFG_WORDS)
			return ACCESS_UNKNOWN;
		*value = tensix_cfg_read(&c->tensix, (int)r, 0, offset / 4);
		return c->faulted ? ACCESS_FAULT : ACCESS_DONE;
	default:
		return ACCESS_UNKNOWN;
	}
}

Access mmio_store(EmuCore *c, Risc r, uint32_t address, uint32_t value)
{
	uint32_t page = address >> 12, offset = address & 0xfff;

	if (page >= PAGE_NOC0 && page < PAGE_NOC_END)
		return noc_store(c, r, (int)(page - PAGE_NOC0) / 16, address & 0xffff, value);
	if (page >= PAGE_MAILBOX0 && page < PAGE_MAILBOX_END)
		return mailbox_store(c, r, page - PAGE_MAILBOX0, offset, value);
	switch (page) {
	case PAGE_TDMA:
		return tdma_store(c, r, offset, value);
	case PAGE_DEBUG:
		return debug_store(c, offset, value);
	case PAGE_MOP:
		if (!is_trisc(r) || offset > 32)
			return ACCESS_UNKNOWN;
		c->tensix.thread[r - TRISC0].mop_cfg[offset / 4] = value;
		return ACCESS_DONE;
	case PAGE_GPR:
		if (!is_trisc(r) || offset >= 4 * GPRS)
			return ACCESS_UNKNOWN;
		c->tensix.thread[r - TRISC0].gpr[offset / 4] = value;
		return ACCESS_DONE;
	case PAGE_PUSH0: case PAGE_PUSH1: case PAGE_PUSH2:
		return push_store(c, r, (int)(page - PAGE_PUSH0) / 16, address, value);
	case PAGE_PCBUF:
		return pcbuf_store(c, r, offset, value);
	case PAGE_CFG:
		if (r >= NCRISC || offset / 4 >= CFG_WORDS)
			return ACCESS_UNKNOWN;
		tensix_cfg_write(&c->tensix, (int)r, 0, offset / 4, value);
		return c->faulted ? ACCESS_FAULT : ACCESS_DONE;
	default:
		return ACCESS_UNKNOWN;
	}
}
