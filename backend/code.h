/*
 * The code of a program in a core: five executables one behind the other from
 * L1 address 0 on and, if all that would not fit, overlays.
 *
 *     0        brisc  ncrisc  trisc0  trisc1  trisc2  | overlay area |  budget
 *
 * With overlays only start, loop and helpers stay resident, and what NCRISC runs
 * in early ops, while the op before is still at work. The other variants of
 * consecutive ops, of all RISC-Vs, make an overlay, as many ops as fit; BRISC
 * copies it from DRAM into the area before the first of these ops. A variant
 * that two overlays need is in both, at addresses of their own.
 */
#ifndef BACKEND_CODE_H
#define BACKEND_CODE_H

#include "backend/link.h"
#include "backend/program.h"
#include "ir/target.h"

typedef struct CodeOptions {
	uint32_t budget; /* bytes of L1 from 0 on */
	bool iram;       /* NCRISC runs from its own instruction memory */
} CodeOptions;

typedef struct Overlay {
	int first_op; /* to the op before the next overlay's first */
	uint8_t *data;
	uint32_t bytes;     /* a multiple of CODE_OVERLAY_ALIGN */
	uint32_t *address;  /* of each variant, TT_RISCS of them; 0 if it is not here */
} Overlay;

enum { CODE_OVERLAY_ALIGN = 32 }; /* DRAM and L1 agree modulo this */

typedef struct Code {
	Object object[TT_RISCS];
	Link link[TT_RISCS];
	Bytes elf[TT_RISCS];
	int64_t stack[TT_RISCS];  /* bytes at most */
	uint32_t bytes;           /* resident, of all RISC-Vs */
	uint32_t *address;        /* as in Overlay, of resident variants */
	int noverlays;
	Overlay *overlays;
	uint32_t area, area_bytes; /* the overlay area */
	uint32_t iram_from, iram_bytes;
} Code;

/* Places and links the objects, one for each RISC-V. False if they do not fit
 * the target, which is reported. */
bool code_link(Code *c, Arena *a, Diag *d, const Program *p, const Target *t,
	       const Bytes objects[TT_RISCS], const CodeOptions *options);

/* The overlay that must be there for an op; -1: none. */
int code_overlay(const Code *c, int op);

/* Where `risc` finds a variant during an op. */
uint32_t code_address(const Code *c, int op, TtRisc risc, int variant);

#endif
