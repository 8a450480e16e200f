/*
 * What the checks of ops on tiles share: one file for each family of routines.
 */
#ifndef BACKEND_PROGRAM_VERIFY_TILES_H
#define BACKEND_PROGRAM_VERIFY_TILES_H

#include "backend/program_verify.h"
#include "runtime/device/params.h"

/* An op on one core, with its parameters there. */
typedef struct Tiles {
	Verifier *v;
	int op, core;
	TtTiles p;
} Tiles;

#define WRONG(t, ...) \
	verify_wrong((t)->v, (t)->v->p->ops[(t)->op].loc, (t)->op, (t)->core, __VA_ARGS__)

/* A constant of the routine a RISC-V runs; 0 if it runs another. */
uint32_t tiles_told(const Tiles *t, TtRisc risc, const char *routine, const char *arg);

void verify_channel(const Tiles *t); /* program_verify_elt.c */
void verify_operands(const Tiles *t); /* program_verify_elt.c */
void verify_lanes(const Tiles *t); /* program_verify_pool.c */
void verify_norm(const Tiles *t); /* program_verify_pool.c */
void verify_reduce(const Tiles *t); /* program_verify_pool.c */
void verify_window(const Tiles *t); /* program_verify_pool.c */
void verify_mix(const Tiles *t); /* program_verify_mix.c */

#endif
