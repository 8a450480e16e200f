/*
 * The linker: gives the sections of a RISC-V's object their places in a core
 * and fills in what depends on them.
 *
 * Code and constants of the five RISC-Vs lie in L1 one behind the other, BRISC
 * from 0. Each has its variables in private memory from LINK_LOCAL on, all zero
 * at first, and the stack at the end of it; start code finds them through
 * symbols made here:
 *
 *     __bss_start  __bss_end  __stack_top
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
#define LINK_ACT LINK_ROUTINE "act_" /* of activations, which the others call */
#define LINK_LOCAL 0xffb00000u
#define LINK_START "_start"

enum { LINK_ALIGN = 16 }; /* of what the NoC or the mover to IRAM copies */

typedef struct Link {
	const Object *object;
	int start;         /* symbol of the entry point */
	bool *apart;       /* for each section, set by the caller */
	uint32_t *address; /* where each resident section runs */
	uint32_t at;       /* where the resident part runs, */
	uint32_t load;     /* lies before the start, which differs for IRAM only, */
	uint32_t bytes;    /* and how long it is, a multiple of LINK_ALIGN */
	uint32_t local_bytes; /* of variables */
	uint32_t ram_bytes;   /* of private memory */
	uint32_t entry;
} Link;

/* False if the object has variables with a first value or no LINK_START, which
 * is reported. */
bool link_init(Link *l, Arena *a, Diag *d, const Object *o, uint32_t ram_bytes);

/* Sets `apart` for all but what the entry point and these sections refer to,
 * directly or not. */
void link_keep(Link *l, Arena *a, const int sections[], int n);

/* Places the resident part, the section with the entry point first. */
void link_place(Link *l, uint32_t at, uint32_t load);

/* The section that holds this variant; -1 if there is none. */
int link_routine(const Link *l, const char *name);

/* The bytes of one section as they are when it runs at `at`: a resident one at
 * its address, one that is apart anywhere. False if a symbol is missing or a
 * target out of reach, which is reported. */
bool link_section(const Link *l, Diag *d, int section, uint32_t at, uint8_t *to);

/* The executable: a segment with the resident part, one without bytes for the
 * variables, and the symbols of functions. `data` is NULL if something was
 * wrong, which is reported. */
Bytes link_elf(const Link *l, Arena *a, Diag *d);

/* Bytes of stack the functions that are not apart need at most: the deepest act
 * on top of the deepest other routine on top of the deepest other function. -1
 * if that cannot be known, which is reported. */
int64_t link_stack(const Link *l, Arena *a, Diag *d);

#endif
