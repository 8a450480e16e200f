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
	NOC_TAGS = 16,
	PUSH_LIMIT = 28,  /* instructions queued in a thread above which its RISC-V waits */
	CODE_PAGE = 10,   /* L1 is watched for changed code in pieces of 2 ** this */
	CODE_PAGES = (L1_BYTES >> 10) + 1,
	REPORTS = 8,      /* a core files in one quantum */
	GRID_X = 10, GRID_Y = 12, /* NoC 0 */
	WORKER_COLS = 8, WORKER_ROWS = 10,
	WORKERS = WORKER_COLS * WORKER_ROWS,
	DRAM_CHANNELS = 6,
};

typedef enum Risc { BRISC, TRISC0, TRISC1, TRISC2, NCRISC, RISCS } Risc;

extern const char *const risc_names[RISCS];

enum { POLLS = 8 };

/* A loop that reads and changes nothing. Each turn of it is like the last until
 * one of the words it reads changes, so the hart sleeps at its head until then. */
typedef struct Poll {
	bool asleep;
	uint8_t count;                     /* words it reads that others can change; 0: at rest */
	uint32_t at[POLLS], value[POLLS];
	uint32_t code_epoch;
} Poll;

typedef struct Hart {
	uint32_t pc;
	uint32_t x[33];          /* x[32] takes what is written to x0 */
	bool on;                 /* out of reset */
	const char *waits;       /* why it did not go on last time; NULL if it did */
	uint32_t waits_at;       /* the address it waits on */
	uint64_t instructions;   /* executed; what it slept through is not counted */
	Poll poll;
	uint8_t local[LOCAL_BYTES];
} Hart;

typedef enum NocKind { NOC_READ, NOC_WRITE, NOC_MULTICAST, NOC_ATOMIC, NOC_INLINE } NocKind;

/* A request to the NoC, taken at the end of the quantum. */
typedef struct NocRequest {
	uint8_t risc, noc, command;
	uint8_t kind;        /* NocKind */
	uint8_t x, y;        /* the other side, NoC 0, physical; of a multicast the last */
	uint8_t x0, y0;      /* of a multicast the first */
	bool dram;           /* the other side is DRAM */
	uint32_t here;       /* address in the core's own L1 */
	uint64_t there;
	uint32_t tag, ctrl, len, data; /* as in the registers */
	uint32_t pc;
	uint64_t step;
} NocRequest;

/* What a RISC-V can wait for, in the order of the counters it looks at. */
enum { ANSWER_ATOMIC, ANSWER_WRITE, ANSWER_READ, NOC_ANSWERS };
enum { ASKED = 1, ASKED_DRAM = 2 };

typedef struct NocPort {
	struct NocCommand {
		uint32_t targ_lo, targ_mid, ret_lo, ret_mid, tag, ctrl, len, data;
	} command[NOC_COMMANDS];
	uint32_t router_cfg[4], niu_cfg;
	/* Counters a RISC-V can read: they move when requests take effect. */
	uint32_t atomic_responses, write_acks, read_responses;
	uint32_t writes_sent, posted_writes_sent, posted_atomics_sent;
	uint8_t outstanding[NOC_TAGS], outgoing[NOC_TAGS]; /* by transaction id */
	uint8_t asked[NOC_ANSWERS]; /* since a RISC-V last looked: ASKED, ASKED_DRAM */
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
	struct RvCode *code, *iram_code; /* decoded, word by word */
	uint8_t code_page[CODE_PAGES];   /* has decoded code */
	uint32_t code_epoch;             /* of changes to it */
	EmuReport report[REPORTS];
	uint64_t report_step[REPORTS];
	uint32_t report_count;
	double risc_time, tensix_time; /* host seconds, when profiling */
	struct Shadow *shadow;   /* what the strict checks remember; NULL if off */
	int64_t *counters;       /* by CounterId of ir/cost.h, of the op it is at */
	int64_t *counted;        /* the same, COUNTER_COUNT for each op and for what is before */
	uint32_t counted_ops;    /* ops in `counted`; 0: all are counted as one */
} EmuCore;

/* Files a report; the core stops at the end of its step. `check` is a row of
 * checks.def or a plain name. printf-like. */
void emu_fault(EmuCore *c, int risc, const char *check, uint64_t address, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Whoever writes L1 other than by a RISC-V's store says so afterwards: code that
 * stood there is forgotten. */
void core_forget_code(EmuCore *c, uint32_t at, uint32_t n);

static inline void core_l1_written(EmuCore *c, uint32_t at, uint32_t n)
{
	if (n > 1u << CODE_PAGE || c->code_page[at >> CODE_PAGE]
	    || c->code_page[(at + n - 1) >> CODE_PAGE])
		core_forget_code(c, at, n);
}

/* What came of an access to a register. */
typedef enum Access {
	ACCESS_DONE,
	ACCESS_WAIT,    /* the RISC-V has to wait and try again */
	ACCESS_UNKNOWN, /* nothing is there, or not for who asks */
	ACCESS_FAULT,   /* reported */
} Access;

/* Registers as RISC-V `r` of the core sees them, or with r = RISCS whoever comes
 * over the NoC. L1 and local memory are not among them. */
Access mmio_load(EmuCore *c, Risc r, uint32_t address, uint32_t *value);
Access mmio_store(EmuCore *c, Risc r, uint32_t address, uint32_t value);

/* Whether loading it twice gives the same while nothing else happens. */
bool mmio_is_steady(uint32_t address);

/* Runs one RISC-V for up to `steps` instructions; stops early when it has to
 * wait or polls. Returns how many it executed. */
uint32_t hart_run(EmuCore *c, Risc r, uint32_t steps);

/* Puts RISC-Vs into reset and takes them out, as the soft reset register says. */
void core_soft_reset(EmuCore *c, uint32_t value);

/* Runs a core for a quantum. */
void core_run(EmuCore *c, uint32_t steps);

#endif
