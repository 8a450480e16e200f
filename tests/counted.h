/*
 * Predicted against counted: a program that was emitted runs on the emulator,
 * and every exact counter of every op on every core has to be what
 * backend/predict.h says. Counters do not depend on data, so it gets zeros.
 */
#ifndef TESTS_COUNTED_H
#define TESTS_COUNTED_H

#include "backend/emit.h"
#include "backend/predict.h"

/* What was compared, by routine. */
typedef struct Compared {
	int64_t places[WORK_COUNT];                 /* op and core */
	int64_t values[WORK_COUNT][COUNTER_COUNT];  /* that were not 0, of those */
	int64_t differing;
} Compared;

/* Counters of op and core, [op * cores + core], of the second run on `device`. */
Counters *counted_run(Arena *a, const Program *p, const Emission *e, const char *device);

/* Sums of so many ops from `first` on, of one core, less what it takes to fetch the
 * parameters of the next op each time: a plan does not know those. */
Counters counted_without_blocks(const Program *p, const Counters *all, int first, int ops,
				int core);

/* Fails at the first that differs. */
void counted_check(Arena *a, const Program *p, const Emission *e, Compared *t);

/* A line for each routine that was there. */
void counted_print(const Compared *t);

#endif
