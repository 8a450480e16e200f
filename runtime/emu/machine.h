/* The chip: what emu.c, chip.c, noc.c, schedule.c and report.c share. */
#ifndef RUNTIME_EMU_MACHINE_H
#define RUNTIME_EMU_MACHINE_H

#include "runtime/emu/core.h"

enum {
	REPORTS_KEPT = 64,
	DEFAULT_QUANTUM = 2048,
};

#define DRAM_BYTES ((uint64_t)1 << 31) /* of a channel */
#define LOCAL_BASE 0xffb00000u
#define IRAM_BASE 0xffc00000u

struct Emu {
	EmuOptions options;
	EmuProgram program;
	EmuCore *core[WORKERS];
	uint8_t *dram[DRAM_CHANNELS];
	EmuReport report[REPORTS_KEPT];
	size_t report_count;
	uint64_t steps;
	bool fault, idle, profile;
	double noc_time; /* host seconds, when profiling */
	struct Pool *pool;
	bool resting[WORKERS]; /* nothing goes on there until somebody outside does something */
	EmuCore *active[WORKERS];
	size_t active_count;
};

/* The worker at NoC 0 coordinates, physical or virtual; NULL if there is none. */
EmuCore *core_at(const Emu *e, uint32_t x, uint32_t y);

/* Counters of so many ops, all zero; false if the memory cannot be had. */
bool counters_make(EmuCore *c, uint32_t ops);

/* The core is at op `op` now. */
void counters_turn(EmuCore *c, uint32_t op);

static inline void core_wake(EmuCore *c) { c->emu->resting[c->index] = false; }

/* What stands at a place of NoC 0's grid. */
typedef struct Place {
	enum { PLACE_NONE, PLACE_WORKER, PLACE_DRAM } kind;
	uint32_t index; /* of the worker, or the channel */
} Place;

/* Physical NoC 0 coordinates from those a program uses on `noc`; false if there
 * are none such. */
bool chip_translate(int noc, uint32_t *x, uint32_t *y);
Place chip_place(uint32_t x, uint32_t y);
void chip_worker_at(uint32_t index, uint32_t *x, uint32_t *y);

static inline uint32_t local_bytes(int r)
{
	return r == BRISC || r == NCRISC ? LOCAL_BYTES : LOCAL_BYTES / 2;
}

/* NoC registers of a core. */
Access noc_load(EmuCore *c, int noc, uint32_t offset, uint32_t *value);
Access noc_store(EmuCore *c, Risc r, int noc, uint32_t offset, uint32_t value);

/* Everything the core asked for takes effect. */
void noc_apply(EmuCore *c);

/* Takes over what the active cores have reported. */
void reports_gather(Emu *e);

/* Threads beside the caller's that run cores. NULL for none. */
struct Pool *pool_create(Emu *e, int threads);
void pool_destroy(struct Pool *p);
void pool_run(struct Pool *p, uint32_t steps);

#endif
