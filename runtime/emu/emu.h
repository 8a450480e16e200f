/*
 * Our functional emulator of a Wormhole chip: worker cores with their five
 * RISC-Vs and Tensix coprocessor, both NoCs, DRAM. It executes the device
 * binaries as they are, bit for bit as the vendor's simulator does, and reports
 * what silicon would punish (checks.def).
 *
 * Cores run side by side for a quantum of steps, then everything they asked of
 * the NoC takes effect in the order (core, issue). So the result depends
 * neither on the number of threads nor on the machine. A program whose result
 * depends on the quantum has a race.
 */
#ifndef RUNTIME_EMU_EMU_H
#define RUNTIME_EMU_EMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Emu Emu;

enum { EMU_MOST_THREADS = 8 };

typedef struct EmuOptions {
	int threads;      /* 0: as many as the machine has; EMU_MOST_THREADS at most */
	uint32_t quantum; /* steps, a RISC-V instruction each; 0: the default */
	bool fast;        /* matrix unit in plain fp32: not bit-exact */
	bool strict;      /* checks.def */
	bool profile;     /* see emu_time */
	bool counters;    /* op by op: the loader says how many in EmuProgram */
} EmuOptions;

typedef enum EmuState {
	EMU_RUNNING,
	EMU_FAULT, /* a check failed, or an instruction is not known */
	EMU_STUCK, /* nobody can go on or even polls, so no word from the host helps: emu_waits */
} EmuState;

/* NULL if the memory cannot be had. */
Emu *emu_open(const EmuOptions *options);
void emu_close(Emu *e);

/* Memory as the host sees it through a TLB window: x, y are NoC 0 coordinates
 * (physical, or virtual from 18 on), of a worker core or of DRAM. False if
 * nothing is there, or a register is not one the host may touch. */
bool emu_write(Emu *e, uint32_t x, uint32_t y, uint64_t address, const void *from, size_t n);
bool emu_read(Emu *e, uint32_t x, uint32_t y, uint64_t address, void *to, size_t n);

/* Runs whole quanta, at least `steps` steps. Stops early when the state is no
 * longer EMU_RUNNING, and then stays where it is. */
EmuState emu_run(Emu *e, uint64_t steps);

/* What the checks know about the program, told by the loader before it runs.
 * All of it is optional; without it the checks that need it are silent. */
typedef struct EmuProgram {
	uint32_t op_word;  /* L1 address of the index of the op a core is at; 0: none */
	uint32_t cb_words; /* L1 address of the circular buffer counters; 0: none */
	uint32_t cb_count; /* four words each: received, acked, pages there are, unused */
	uint32_t code_end; /* below: code and control words, exempt from the buffer check */
	uint32_t counted_ops; /* ops to be counted one by one: op_word goes through 0 to that */
} EmuProgram;

/* False if the memory for counters cannot be had. */
bool emu_program(Emu *e, const EmuProgram *p);

/* The program may write here, on this core; without a single range every
 * address is allowed. */
void emu_allow(Emu *e, uint32_t x, uint32_t y, uint32_t first, uint32_t end);

typedef struct EmuReport {
	const char *check;  /* a row of checks.def, "unknown-instruction", ... */
	uint32_t x, y;      /* the core, NoC 0, physical */
	const char *risc;   /* "brisc", "ncrisc", "trisc0", ... */
	uint32_t pc;        /* of the RISC-V when it happened */
	uint32_t op;        /* the word at op_word */
	uint64_t address;   /* what was touched, or the instruction */
	char text[160];     /* one sentence */
} EmuReport;

/* Reports so far, in the order (step, core); at most 64 are kept. */
size_t emu_reports(const Emu *e);
const EmuReport *emu_report(const Emu *e, size_t i);

/* True if nothing goes on any more: RISC-Vs only poll or wait, Tensix threads
 * wait, the NoC has nothing to do. Only a write by the host can change that;
 * until one comes, emu_run returns at once. */
bool emu_idle(const Emu *e);

/* Who waits for what, a line for each RISC-V and thread that is not at rest. */
void emu_waits(const Emu *e, FILE *f);

/* Counters of a core since they were last cleared, under the names of
 * ir/counters.def; emu_counter_name(i) is NULL past the last. Turns of a poll
 * are counted until it is known for one (a few instructions). Of one op only if
 * the program said how many it has. */
const char *emu_counter_name(size_t i);
int64_t emu_counter(const Emu *e, uint32_t x, uint32_t y, size_t i);
int64_t emu_op_counter(const Emu *e, uint32_t x, uint32_t y, uint32_t op, size_t i);
void emu_counters_clear(Emu *e);

/* Host seconds spent by unit, summed over threads, with `profile`. */
typedef struct EmuTime {
	double risc, unpack, matrix, sfpu, pack, noc, other;
} EmuTime;

EmuTime emu_time(const Emu *e);

/* Steps run so far, of each core. */
uint64_t emu_steps(const Emu *e);

#endif
