/*
 * MVMULs that stand one behind the other in a thread's queue and keep the same banks.
 * Only the counters change between them, so where each of them works is known before
 * the first one starts, and they are executed and checked as one. Products are recorded
 * once and replayed, so most runs have been seen before.
 */
#ifndef RUNTIME_EMU_MATRIX_RUN_H
#define RUNTIME_EMU_MATRIX_RUN_H

#include <stdbool.h>
#include <stdint.h>

enum { MATRIX_RUN = 32, MATRIX_RUNS = 16 };

/* Register window counters and their carriage returns (RWCs.md), of the math thread in
 * practice. */
typedef struct Rwc {
	uint32_t srca, srca_cr, srcb, srcb_cr, dst, dst_cr, bias, fidelity;
} Rwc;

/* Rows where one of them works; those of Dst count from the thread's offset. */
typedef struct MatrixStep {
	uint16_t dst;
	uint8_t srca, srcb, phase;
} MatrixStep;

/* All that work on the same rows of Dst: places in `order`. */
typedef struct MatrixChain {
	uint16_t dst;
	uint8_t first, count;
	uint8_t last; /* of the steps */
} MatrixChain;

/* What steps follow from, beside the instructions. */
typedef struct MatrixKey {
	Rwc start;
	uint16_t modifier[24], bias[8]; /* configuration of the modifiers */
	uint16_t base, phase;
} MatrixKey;

typedef struct MatrixRun {
	MatrixKey key;
	uint32_t instruction[MATRIX_RUN];
	uint32_t count; /* 0: none */
	bool idle;      /* phases that only count */
	MatrixStep step[MATRIX_RUN];
	uint32_t chains;
	MatrixChain chain[MATRIX_RUN];
	uint8_t order[MATRIX_RUN]; /* steps, chain by chain */
	uint16_t dst_most;         /* of the steps */
	Rwc end;                   /* the counters after the last one */
} MatrixRun;

struct Tensix;

/* Those at the head of the queue; NULL if there is but one, or it has to be looked at
 * by itself. */
const MatrixRun *matrix_run_find(struct Tensix *t, int thread);

/* Whether a phase only counts: the fast product has whole mantissas, so the first one of
 * a sequence does all of it. */
bool matrix_phase_idle(const struct Tensix *t, const Rwc *at);

#endif
