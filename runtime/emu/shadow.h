/*
 * What the strict checks (checks.def) remember about a core, and the hooks the
 * emulator calls. With checks off EmuCore.shadow is NULL and no hook may be
 * called: callers test the pointer.
 *
 * The emulator knows no time, so no check rests on when something happened in
 * it. A check asks whether the program has made sure of an order: by a stall
 * in between, by a semaphore, by loading back, by reading a counter. What it
 * left to luck is reported, whether or not luck held.
 */
#ifndef RUNTIME_EMU_SHADOW_H
#define RUNTIME_EMU_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/emu/core.h"

typedef struct Shadow Shadow;

/* NULL if the memory cannot be had. */
Shadow *shadow_new(void);
void shadow_free(Shadow *s);

/* What the loader tells; `first` to `end` may be written. */
void shadow_program(Shadow *s, const EmuProgram *p);
void shadow_allow(Shadow *s, uint32_t first, uint32_t end);

/* ---- a RISC-V of the core (hart.c) ---- */

/* Before each instruction, Tensix instructions in the stream included; others may be
 * left out while there are no open loads. */
void shadow_step(EmuCore *c, Risc r, uint32_t instruction);
const uint32_t *shadow_open_loads(const EmuCore *c, Risc r);

/* After a load or store of `size` bytes that went through. `rd` is the
 * register loaded. */
void shadow_load(EmuCore *c, Risc r, uint32_t address, uint32_t size, uint32_t value, uint32_t rd);
void shadow_store(EmuCore *c, Risc r, uint32_t address, uint32_t size, uint32_t value);

/* Nobody can go on: reports RISC-Vs that a full queue of instructions holds up. */
void shadow_stuck(EmuCore *c);

/* ---- L1, by whom ---- */

void shadow_host_write(EmuCore *c, uint64_t address, uint64_t bytes);

/* Unpackers and packers, for a thread; `rows` of so many bytes, one behind the other. */
void shadow_unpack(EmuCore *c, int thread, uint32_t address, uint32_t bytes, uint32_t rows);
void shadow_pack(EmuCore *c, int thread, uint32_t address, uint32_t bytes);

/* The NoC, when a request is made. */
void shadow_noc_issue(EmuCore *c, const NocRequest *q);

/* And when it takes effect: `by` and `risc` asked for it, `c` is
 * the worker core whose L1 is read or written. */
void shadow_noc_read(EmuCore *c, EmuCore *by, int risc, uint32_t address, uint32_t bytes);
void shadow_noc_write(EmuCore *c, EmuCore *by, int risc, uint32_t address, uint32_t bytes);

/* ---- Tensix ---- */

/* Before an instruction executes; called again when it had to wait. */
void shadow_issue(EmuCore *c, int thread, uint32_t instruction);

/* What follows the first instruction of a run, which has been issued; rows of Dst are
 * `to` further on. False, and nothing is known of it, if there is something to report:
 * they have to be issued one by one. */
bool shadow_matrix_run(EmuCore *c, int thread, const MatrixRun *r, uint32_t to);

/* Rows of Dst as 16-bit rows; a 32-bit row is two of them. */
typedef enum DstUser { DST_MATRIX, DST_VECTOR, DST_UNPACKER, DST_PACKER } DstUser;

void shadow_dst_write(EmuCore *c, int thread, DstUser user, uint32_t row, uint32_t rows);
void shadow_dst_read(EmuCore *c, int thread, DstUser user, uint32_t row, uint32_t rows);

#endif
