/*
 * The linker: gives the sections of a RISC-V's object their places in a core
 * and fills in what depends on them.
 *
 * Code and constants of the five RISC-Vs lie in L1 one behind the other, BRISC
 * from 0; each has its variables in private memory at LINK_LOCAL, the stack
 * growing down from the end of it. Start code finds what it has to clear and to
 * copy through symbols made here:
 *
 *     __bss_start __bss_end  __data_start __data_end __data_lma  __stack_top
 *
 * Sections named with LINK_ROUTINE hold a variant each. One of these may be left
 * out of the resident part (`apart`) and linked later to other addresses, as
 * often as wanted: nothing refers to it by name, since routines are called by the
 * address in the parameter block.
 */
#ifndef BACKEND_LINK_H
#define BACKEND_LINK_H

#include "backend/object.h"

#define LINK_ROUTINE ".text.routine."
#define LINK_LOCAL 0xffb00000u

enum { LINK_ALIGN = 16 }; /* of what the NoC or the mover to IRAM copies */

typedef struct Link {
	const Object *object;
	bool *apart;       /* for each section, set by the caller */
	uint32_t *address; /* where each resident section runs */
	uint32_t at;       /* where the resident part runs, */
	uint32_t load;     /* lies before the start, which differs for IRAM only, */
	uint32_t bytes;    /* and how long it is: code, constants, first values of variables */
	uint32_t data_bytes, local_bytes; /* variables with a first value; all variables */
	uint32_t ram_bytes; /* of private memory */
	uint32_t entry;
} Link;

void link_init(Link *l, Arena *a, const Object *o, uint32_t ram_bytes);

/* Bytes of the resident part, a multiple of LINK_ALIGN. */
uint32_t link_bytes(const Link *l);

/* Places the resident part, `_start` first. */
void link_place(Link *l, uint32_t at, uint32_t load);

/* Where the first values of variables lie, at the end of the resident part. */
uint32_t link_data(const Link *l);

/* The section that holds this variant; -1 if there is none. */
int link_routine(const Link *l, const char *name);

/* The bytes of one section as they are when it runs at `at`: a resident one at
 * its address, one that is apart anywhere. False if a symbol is missing or a
 * target out of reach, which is reported. */
bool link_section(const Link *l, Diag *d, int section, uint32_t at, uint8_t *to);

/* The executable: one segment with the resident part, one without bytes for the
 * variables, and the symbols of functions. `data` is NULL if something was
 * wrong, which is reported. */
Bytes link_elf(const Link *l, Arena *a, Diag *d);

/* Bytes of stack the functions reachable from `_start` need at most; of each
 * RISC-V the routines are called by address, so every one of them counts. -1
 * if that cannot be known, which is reported. */
int64_t link_stack(const Object *o, Arena *a, Diag *d);

#endif
