/*
 * MVMULs that stand one behind the other in a thread's queue and keep the same banks.
 * Only the counters change between them, so where each of them works is known before
 * the first one starts, and they are executed and checked as one.
 */
#ifndef RUNTIME_EMU_MATRIX_RUN_H
#define RUNTIME_EMU_MATRIX_RUN_H

#include "runtime/emu/tensix.h"

enum { MATRIX_RUN = 64 };

/* Rows where one of them works. */
typedef struct MatrixStep {
	uint16_t dst;
	uint8_t srca, srcb, phase;
} MatrixStep;

typedef struct MatrixRun {
	uint32_t count;
	bool idle; /* phases that only count */
	MatrixStep step[MATRIX_RUN];
	Rwc end;   /* the counters after the last one */
} MatrixRun;

/* Those at the head of the queue; false if there is but one, or it has to be looked at
 * by itself. */
bool matrix_run_find(const Tensix *t, int thread, MatrixRun *r);

/* Whether a phase only counts: the fast product has whole mantissas, so the first one of
 * a sequence does all of it. */
static inline bool matrix_phase_idle(const Tensix *t, const Rwc *at)
{
	return t->fast && at->fidelity;
}

#endif
