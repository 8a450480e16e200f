/*
 * Who is known to be through with what.
 *
 * Nobody waits for all: a core may be ops ahead of another, and a run. What a core
 * knows of the others when it begins an op comes with what it has waited for (map.h):
 *
 *   - an arrival: who pushed was through with that op;
 *   - rows it has pushed: whom they went to had come to the op, in which they went;
 *   - weights that are shared: all cores of the rectangle had come to the op or, if the
 *     weights were early, to the one before;
 *
 * and with that what those knew then. A core that has come to an op is through with
 * all before it: its reads are there, its writes are acknowledged.
 */
#ifndef BACKEND_PROGRAM_ORDER_H
#define BACKEND_PROGRAM_ORDER_H

#include "backend/program.h"

/* Bytes that several cores use: by core the first op that writes them and the last
 * that reads or writes them, or -1. */
typedef struct ProgramUse {
	int *wrote, *used;
} ProgramUse;

ProgramUse program_use(Arena *a, const Program *p);
void program_use_add(ProgramUse *u, int core, int op, bool writes);

/* Does every core that writes use k know, when it first does, that all cores are
 * through with use i? same[i * n + k]: in the same run. next[i * n + k]: with i in the
 * run before. */
typedef struct ProgramOrder {
	bool *same, *next;
} ProgramOrder;

ProgramOrder program_order(Arena *a, const Program *p, const ProgramUse *uses, int n);

#endif
