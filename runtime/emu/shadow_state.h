/* What the files of the strict checks share: see shadow.h. */
#ifndef RUNTIME_EMU_SHADOW_STATE_H
#define RUNTIME_EMU_SHADOW_STATE_H

#include "runtime/emu/shadow.h"
#include "runtime/emu/word_map.h"

/* Opcodes by name. */
enum {
#define TENSIX_OP(name, opcode, fields) T_##name = opcode,
#include "runtime/device/tensix_ops.def"
};

/* ---- L1: flags and stamps for every four bytes ---- */

enum {
	WORD_WRITTEN = 1, /* by anybody */
	WORD_ALLOWED = 2, /* the program may write here */
	WORD_LANDING = 4, /* a NoC read writes it, nobody has seen its end */
	WORD_LEAVING = 8, /* a NoC write reads it, nobody has seen its end */
};

/* Who wrote a word last: a RISC-V and the number of its store, or the packers of
 * a thread (RISCS + thread) and how many instructions that had issued. 0: the
 * NoC or the host. */
static inline uint32_t stamp_of(uint32_t store, int by) { return store << 3 | (uint32_t)by; }
static inline uint32_t stamp_store(uint32_t stamp) { return stamp >> 3; }
static inline int stamp_by(uint32_t stamp) { return (int)(stamp & 7); }

/* ---- who knows what of the Tensix threads ---- */

/* How many instructions a thread has issued, and up to which its packers and its
 * unpackers are done, as far as somebody can know. */
typedef struct Know {
	uint32_t issued[TENSIX_THREADS], packed[TENSIX_THREADS], unpacked[TENSIX_THREADS];
} Know;

void know_join(Know *to, const Know *from);
void know_done(Know *mine, int thread, uint32_t open); /* units still at work: USE_* */

/* ---- a RISC-V ---- */

static inline bool is_trisc(Risc r) { return r >= TRISC0 && r <= TRISC2; }

enum {
	RETIRE_SLOTS = 8, /* loads older than this many instructions have come back */
	STORE_SLOTS = 4,  /* stores further back than the queue is deep have left */
};

/* A load whose value may not have come back. */
typedef struct OpenLoad {
	uint32_t settles; /* own stores up to here are in L1 once it has */
	uint32_t address;
	uint8_t rd, age;
	bool sync; /* of TTSync.md */
} OpenLoad;

/* What one RISC-V told another by something else than L1. */
typedef struct Told {
	uint32_t settled, stored; /* stores of the teller: in L1, made */
	uint32_t seen;            /* stores of it whose effect was seen in L1 */
} Told;

typedef struct HartShadow {
	OpenLoad load[RETIRE_SLOTS];
	uint32_t loads;
	struct {
		uint32_t address, stored;
	} recent[STORE_SLOTS]; /* stores to anywhere, the newest first */
	uint32_t stored, settled; /* numbers of stores to L1 */
	uint32_t pushes, synced_pushes[3]; /* Tensix instructions; by sync register */
	bool mop; /* pushed a MOP and has not waited for its expansion */
	Told told[RISCS];
	Know know;
	uint32_t lessons; /* grows with every join into it */
	bool on;
} HartShadow;

/* The RISC-V comes to know something. */
void hart_learns(HartShadow *h, const Know *from);

/* ---- a Tensix thread ---- */

enum {
	USE_UNPACK0 = 1, USE_UNPACK1 = 2, USE_UNPACK = 3,
	USE_PACK0 = 4, USE_PACK = 0x3c, /* four of them */
	USE_MATRIX = 0x40, USE_VECTOR = 0x80,
	CFG_READERS = 5, /* kinds of unit that read configuration */
};

/* A STALLWAIT or SEMWAIT that stands at the gate (STALLWAIT.md). */
typedef struct Latch {
	bool on;
	uint32_t block, conditions;
	uint32_t at;  /* its place in the queue */
	Know acquires;
} Latch;

typedef struct ThreadShadow {
	Latch latch;
	uint32_t open;       /* units at work for the thread, not waited for */
	uint32_t flop;       /* units that read what REG2FLOP wrote, not waited for */
	uint32_t stored;     /* units that read what the RISC-V stored */
	uint64_t stored_gprs; /* general registers it stored */
	uint32_t stored_at[CFG_READERS], gpr_at[GPRS]; /* the queue's tail at the store */
	uint32_t stored_address;
	uint32_t wrcfg;      /* units that read what the last instruction, WRCFG, wrote */
	uint32_t unfinished; /* LRegs the last instruction writes a slot late */
	Know know;
	uint32_t own_lessons, brisc_lessons; /* of its RISC-V and BRISC, that `know` has */
} ThreadShadow;

/* ---- the NoC ---- */

/* A request that has not been seen to end. */
typedef struct OpenRequest {
	bool write, leaving;            /* leaving: its source is not free yet */
	bool but_self;                  /* its own tile is not among the destinations */
	uint8_t risc, noc, tag;
	uint8_t x0, y0, x1, y1;         /* a write's destinations, NoC 0 */
	uint32_t address, bytes;        /* in our L1 */
} OpenRequest;

enum { DST_BLOCK = 8, DST_BLOCKS = DST_ROWS / DST_BLOCK };

/* Eight rows of Dst: who wrote it last, when packers read it. */
typedef struct DstBlock {
	uint8_t writer; /* 1 + thread */
	uint8_t user;   /* DstUser */
	uint32_t written;
	uint32_t packed[TENSIX_THREADS];
} DstBlock;

struct Shadow {
	EmuProgram program;
	bool limited; /* there are ranges the program may write */
	WordMap word;     /* flags */
	WordMap stamp;    /* who wrote a word last */
	WordMap unpacked; /* which thread's unpacker read it last: RISCS + thread, issued */
	uint32_t stores;
	HartShadow hart[RISCS];
	ThreadShadow thread[TENSIX_THREADS];
	Know semaphore[SEMAPHORES], mutex[MUTEXES];
	Told semaphore_told[SEMAPHORES][RISCS];
	Told mail[4][4]; /* from, to: who of BRISC and the TRISCs */
	Know mail_know[4][4];
	Know noc_know; /* of all RISC-Vs that asked something of the NoC, when they did */
	DstBlock dst[DST_BLOCKS];
	uint32_t cfg[2][CFG_WORDS]; /* as it was before the store at hand */
	uint32_t reads[CFG_READERS][CFG_WORDS]; /* bits each kind of unit reads */
	OpenRequest *request;
	uint32_t requests, request_room;
};

/* ---- check_cfg.c: configuration and the waits in between ---- */

void cfg_init(Shadow *s);
void cfg_issue(EmuCore *c, int thread, uint32_t i);
void cfg_store(EmuCore *c, Risc r, uint32_t address, uint32_t value);
void cfg_load(EmuCore *c, Risc r, uint32_t address);
void gpr_store(EmuCore *c, Risc r, uint32_t address);
void mop_store(EmuCore *c, Risc r, uint32_t address);
uint32_t units_used(uint32_t i); /* USE_* an instruction works with */

/* ---- check_sfpu.c ---- */

void sfpu_issue(EmuCore *c, int thread, uint32_t i);

/* ---- check_dst.c: what threads know of each other ---- */

void dst_issue(EmuCore *c, int thread, uint32_t i);
void semaphore_load(EmuCore *c, Risc r, uint32_t n);
void semaphore_store(EmuCore *c, Risc r, uint32_t n);

/* ---- check_risc.c: what has come back, what has left ---- */

void told(HartShadow *h, Risc by, const Told *what);
Told telling(const HartShadow *h);
void risc_l1_load(EmuCore *c, Risc r, uint32_t address, uint32_t rd);
void risc_l1_store(EmuCore *c, Risc r, uint32_t address, uint32_t size);
void risc_push(Shadow *s, Risc r, uint32_t instruction);
void risc_store(Shadow *s, Risc r, uint32_t address);
void risc_sync_load(EmuCore *c, Risc r, uint32_t address, uint32_t rd);
void risc_sync_store(Shadow *s, Risc r, uint32_t address);
void risc_needs_sync(EmuCore *c, Risc r, uint32_t address);

/* ---- check_l1.c ---- */

void l1_check_read(EmuCore *c, int risc, const char *who, uint32_t address, uint32_t bytes);
void l1_check_unpacked(EmuCore *c, int risc, const Know *know, uint32_t address, uint32_t bytes);
void l1_check_packed(EmuCore *c, int risc, const Know *know, uint32_t address, uint32_t bytes);
void l1_check_write(EmuCore *c, int risc, const char *who, uint32_t address, uint32_t bytes);
void l1_mark_written(Shadow *s, uint32_t address, uint32_t bytes, uint32_t stamp);
void l1_check_own(EmuCore *c, Risc r, const char *who, uint32_t address, uint32_t bytes);
void cb_store(EmuCore *c, Risc r, uint32_t address);

/* ---- check_noc.c ---- */

void noc_counter_load(EmuCore *c, int noc, uint32_t index, uint32_t value);

#endif
