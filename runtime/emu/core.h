/* One worker core as the emulator's files share it, and the chip around it. */
#ifndef RUNTIME_EMU_CORE_H
#define RUNTIME_EMU_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/emu/emu.h"
#include "runtime/emu/tensix.h"

enum {
	L1_BYTES = 1499136,
	IRAM_BYTES = 16384,
	LOCAL_BYTES = 4096, /* TRISCs have half of it */
	NOCS = 2,
	NOC_COMMANDS = 4, /* command buffers */
	GRID_X = 10, GRID_Y = 12, /* NoC 0 */
	WORKER_COLS = 8, WORKER_ROWS = 10,
	WORKERS = WORKER_COLS * WORKER_ROWS,
	DRAM_CHANNELS = 6,
};

typedef enum Risc { BRISC, TRISC0, TRISC1, TRISC2, NCRISC, RISCS } Risc;

extern const char *const risc_names[RISCS];

typedef struct Hart {
	uint32_t pc;
	uint32_t x[32];
	bool on;                 /* out of reset */
	const char *waits;       /* why it did not go on last time; NULL if it did */
	uint32_t waits_at;       /* the address it waits on */
	uint64_t instructions;
	uint8_t local[LOCAL_BYTES];
} Hart;

/* A request to the NoC, taken at the end of the quantum. */
typedef struct NocRequest {
	uint8_t risc, noc, command;
	uint32_t targ_lo, targ_mid, ret_lo, ret_mid, tag, ctrl, len, data;
	uint32_t pc;
	uint64_t step;
} NocRequest;

typedef struct NocPort {
	struct NocCommand {
		uint32_t targ_lo, targ_mid, ret_lo, ret_mid, tag, ctrl, len, data;
	} command[NOC_COMMANDS];
	uint32_t router_cfg[4], niu_cfg;
	/* Counters a RISC-V can read: they move when requests take effect. */
	uint32_t atomic_responses, write_acks, read_responses;
	uint32_t writes_sent, posted_writes_sent, posted_atomics_sent;
} NocPort;

typedef struct EmuCore {
	Emu *emu;
	uint32_t index, x, y; /* NoC 0, physical */
	uint8_t *l1;          /* L1_BYTES */
	uint8_t iram[IRAM_BYTES];
	Hart hart[RISCS];
	Tensix tensix;
	NocPort noc[NOCS];
	NocRequest *requests;
	size_t request_count, request_room;
	uint32_t soft_reset;
	uint32_t reset_pc[RISCS], trisc_pc_override, ncrisc_pc_override;
	uint32_t xmov_src, xmov_size;
	uint32_t mailbox[4][4];
	bool mailbox_full[4][4];
	uint64_t step;
	bool faulted;
	struct Shadow *shadow;   /* what the strict checks remember; NULL if off */
	int64_t *counters;       /* ir/counters.def */
} EmuCore;

/* Files a report; the core stops at the end of its step. `check` is a row of
 * checks.def or a plain name. printf-like. */
void emu_fault(EmuCore *c, int risc, const char *check, uint64_t address, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Memory and registers as a RISC-V of the core sees them. False: it has to
 * wait and try the same instruction again. */
bool mmio_load(EmuCore *c, Risc r, uint32_t address, uint32_t *value);
bool mmio_store(EmuCore *c, Risc r, uint32_t address, uint32_t value);

/* Runs one RISC-V for up to `steps` instructions; stops early when it has to
 * wait. Returns how many. */
uint32_t hart_run(EmuCore *c, Risc r, uint32_t steps);

/* Puts RISC-Vs into reset and takes them out, as the soft reset register says. */
void core_soft_reset(EmuCore *c, uint32_t value);

#endif
