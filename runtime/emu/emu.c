#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/emu/machine.h"
#include "runtime/emu/noc.h"
#include "runtime/emu/riscv.h"
#include "runtime/emu/shadow.h"

enum { RESET_ALL = 0x47800 };

/* Zeros that take no memory until they are written. */
static void *lazy(uint64_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void give_back(void *at, uint64_t bytes)
{
	if (at)
		munmap(at, bytes);
}

static uint64_t code_bytes(uint32_t memory)
{
	return (memory / 4 + 1) * sizeof(RvCode);
}

static void core_close(EmuCore *c)
{
	if (!c)
		return;
	give_back(c->l1, L1_BYTES);
	give_back(c->code, code_bytes(L1_BYTES));
	give_back(c->iram_code, code_bytes(IRAM_BYTES));
	free(c->requests);
	shadow_free(c->shadow);
	free(c->counted);
	give_back(c, sizeof(*c));
}

static EmuCore *core_open(Emu *e, uint32_t index)
{
	EmuCore *c = lazy(sizeof(*c));

	if (!c)
		return NULL;
	c->emu = e;
	c->index = index;
	chip_worker_at(index, &c->x, &c->y);
	c->l1 = lazy(L1_BYTES);
	c->code = lazy(code_bytes(L1_BYTES));
	c->iram_code = lazy(code_bytes(IRAM_BYTES));
	c->shadow = e->options.strict ? shadow_new() : NULL;
	if (!c->l1 || !c->code || !c->iram_code || !counters_make(c, 0)
	    || (e->options.strict && !c->shadow)) {
		core_close(c);
		return NULL;
	}
	c->code[L1_BYTES / 4].op = RV_END;
	c->iram_code[IRAM_BYTES / 4].op = RV_END;
	for (int noc = 0; noc < NOCS; noc++) {
		c->noc[noc].router_cfg[1] = NO_WORKER_COLS;
		c->noc[noc].router_cfg[3] = NO_WORKER_ROWS;
	}
	tensix_reset(&c->tensix, c);
	c->tensix.fast = e->options.fast;
	c->tensix.profile = e->options.profile;
	core_soft_reset(c, RESET_ALL);
	e->resting[index] = true;
	return c;
}

static int thread_count(int wanted)
{
	long there = sysconf(_SC_NPROCESSORS_ONLN);

	if (wanted <= 0)
		wanted = there > 0 && there < EMU_MOST_THREADS ? (int)there
									 : EMU_MOST_THREADS;
	return wanted < EMU_MOST_THREADS ? wanted : EMU_MOST_THREADS;
}

Emu *emu_open(const EmuOptions *options)
{
	Emu *e = calloc(1, sizeof(*e));
	bool there = e != NULL;

	if (!there)
		return NULL;
	e->options = options ? *options : (EmuOptions){ 0 };
	e->profile = e->options.profile;
	if (!e->options.quantum)
		e->options.quantum = DEFAULT_QUANTUM;
	for (uint32_t i = 0; i < WORKERS; i++)
		there &= (e->core[i] = core_open(e, i)) != NULL;
	for (int i = 0; i < DRAM_CHANNELS; i++)
		there &= (e->dram[i] = lazy(DRAM_BYTES)) != NULL;
	e->idle = true;
	e->pool = there ? pool_create(e, thread_count(e->options.threads)) : NULL;
	if (e->pool)
		return e;
	emu_close(e);
	return NULL;
}

void emu_close(Emu *e)
{
	if (!e)
		return;
	pool_destroy(e->pool);
	for (int i = 0; i < WORKERS; i++)
		core_close(e->core[i]);
	for (int i = 0; i < DRAM_CHANNELS; i++)
		give_back(e->dram[i], DRAM_BYTES);
	free(e);
}

EmuCore *core_at(const Emu *e, uint32_t x, uint32_t y)
{
	if (!chip_translate(0, &x, &y))
		return NULL;
	Place p = chip_place(x, y);

	return p.kind == PLACE_WORKER ? e->core[p.index] : NULL;
}

/* The bytes of L1 or DRAM at an address, if n of them are there. */
static uint8_t *memory_at(const Emu *e, uint32_t x, uint32_t y, uint64_t address, size_t n)
{
	if (!chip_translate(0, &x, &y))
		return NULL;
	Place p = chip_place(x, y);
	uint64_t bytes = p.kind == PLACE_WORKER ? L1_BYTES : p.kind == PLACE_DRAM ? DRAM_BYTES : 0;

	if (address > bytes || n > bytes - address)
		return NULL;
	return (p.kind == PLACE_WORKER ? e->core[p.index]->l1 : e->dram[p.index]) + address;
}

bool emu_write(Emu *e, uint32_t x, uint32_t y, uint64_t address, const void *from, size_t n)
{
	EmuCore *c = core_at(e, x, y);
	uint8_t *to = memory_at(e, x, y, address, n);
	uint32_t word;

	if (c) {
		core_wake(c);
		e->idle = false;
	}
	if (to) {
		memcpy(to, from, n);
		if (c && n)
			core_l1_written(c, (uint32_t)address, (uint32_t)n);
		if (c && c->shadow)
			shadow_host_write(c, address, n);
		return true;
	}
	if (!c || n != 4 || address % 4 || address > ~0u)
		return false;
	c->step = e->steps;
	memcpy(&word, from, 4);
	return mmio_store(c, RISCS, (uint32_t)address, word) == ACCESS_DONE;
}

bool emu_read(Emu *e, uint32_t x, uint32_t y, uint64_t address, void *to, size_t n)
{
	EmuCore *c = core_at(e, x, y);
	const uint8_t *from = memory_at(e, x, y, address, n);
	uint32_t word;

	if (from) {
		memcpy(to, from, n);
		return true;
	}
	if (!c || n != 4 || address % 4 || address > ~0u)
		return false;
	c->step = e->steps;
	if (mmio_load(c, RISCS, (uint32_t)address, &word) != ACCESS_DONE)
		return false;
	memcpy(to, &word, 4);
	return true;
}

bool emu_program(Emu *e, const EmuProgram *p)
{
	bool there = true;

	e->program = *p;
	for (int i = 0; i < WORKERS && e->options.strict; i++)
		shadow_program(e->core[i]->shadow, p);
	for (int i = 0; i < WORKERS && p->counted_ops; i++)
		there &= counters_make(e->core[i], p->counted_ops);
	return there;
}

void emu_allow(Emu *e, uint32_t x, uint32_t y, uint32_t first, uint32_t end)
{
	EmuCore *c = core_at(e, x, y);

	if (c && c->shadow)
		shadow_allow(c->shadow, first, end);
}

EmuTime emu_time(const Emu *e)
{
	EmuTime t = { .noc = e->noc_time };

	for (int i = 0; i < WORKERS; i++) {
		const EmuCore *c = e->core[i];
		const uint64_t *ns = c->tensix.spent;
		double units = 1e-9 * (double)(ns[UNIT_UNPACK] + ns[UNIT_MATRIX] + ns[UNIT_SFPU]
					       + ns[UNIT_PACK]);

		t.risc += c->risc_time;
		t.unpack += 1e-9 * (double)ns[UNIT_UNPACK];
		t.matrix += 1e-9 * (double)ns[UNIT_MATRIX];
		t.sfpu += 1e-9 * (double)ns[UNIT_SFPU];
		t.pack += 1e-9 * (double)ns[UNIT_PACK];
		t.other += c->tensix_time > units ? c->tensix_time - units : 0;
	}
	return t;
}
