/*
 * A program for the five RISC-Vs of one core, run under the strict checks and,
 * where there is one, on the vendor's simulator.
 */
#ifndef TESTS_STRICT_H
#define TESTS_STRICT_H

#include <stdbool.h>

#include "runtime/emu/core.h"
#include "tests/rv32.h"

enum {
	STRICT_X = 1, STRICT_Y = 1, /* where it runs, NoC 0 */
	STRICT_DONE = 0x1f000,      /* a RISC-V stores 1 here when the program is over */
	STRICT_DATA = 0x20000,      /* 4 KiB the host fills: word k holds 100 + k */
	STRICT_DATA_BYTES = 4096,
	STRICT_FREE = 0x30000,      /* nobody has written it */
};

typedef struct Strict {
	Code code[RISCS];    /* empty: stays in reset */
	EmuProgram program;  /* told to the emulator */
	uint32_t first, end; /* so is this, if not empty: the program may write there */
} Strict;

/* One row of the table: what is built with `right` false has to be reported as
 * `check`, with `right` true it has to run through. */
typedef struct StrictCase {
	const char *check, *what;
	void (*build)(Strict *s, bool right);
} StrictCase;

void strict_table(const StrictCase *cases, int n);

/* Has to run through, without a report. */
void strict_clean(const char *what, void (*build)(Strict *s));

/* Ends a program: stores 1 to STRICT_DONE and rests. */
void strict_end(Code *c);

/* rd = the word at an address, and an instruction that uses it. */
void strict_load(Code *c, uint32_t rd, uint32_t address);

/* Configuration of unpacker 1 for sixteen bf16 from STRICT_DATA on, and of
 * packer 0 for sixteen bf16 to `to`, by stores; what is left is the stall. */
void strict_unpacker(Code *c);
void strict_packer(Code *c, uint32_t to);

#endif
