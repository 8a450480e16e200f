/*
 * Constants of a model, fitted to what was measured.
 *
 *     Fit f = { .arena = a, .constants = c, .n = n, .measured = us, .rows = m,
 *               .predict = price, .context = &model };
 *     fit_run(&f);
 *     c[0].state == FIT_FITTED, c[0].value, c[0].error
 *
 * Sought are the whole numbers that make the errors of all rows, each relative to what was
 * measured, least; rows that fit worst count less (Huber's loss), and so do those that take
 * less than a twentieth of the mean.
 *
 * Whether the rows tell a constant is seen from how predictions move with it. One that
 * moves none of them, one that moves them as another does, and one that would come out within
 * a fifth or worse, should all others be off by a half, keeps the value it had; so does one
 * that need not change, one that moves a single row that others move too, one that comes out
 * elsewhere once those are left out, and those that two rows each are not there for. No row
 * is taken to be more exact than 0.2%.
 */
#ifndef IR_FIT_H
#define IR_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"

typedef enum FitState {
	FIT_FITTED,
	FIT_UNSEEN, /* no row depends on it */
	FIT_ALIKE,  /* rows depend on it as they do on `like` and others together */
	FIT_FEW,    /* there are too few rows for one more */
	FIT_UNSURE, /* rows depend on it, but another may be the reason as well */
	FIT_SAME,   /* with the value it had, and others fitted, rows are met as well */
} FitState;

typedef struct FitConstant {
	int64_t least, most;
	int64_t first, value; /* before, and after; no more than ten times as large or small */
	FitState state;
	int like;             /* of FIT_ALIKE: which */
	double error;         /* of FIT_FITTED: standard error, relative, others uncertain too */
} FitConstant;

/* What the model says of each row, for these values of all constants. */
typedef void FitPredict(void *context, const int64_t *values, double *rows);

typedef struct Fit {
	Arena *arena;
	FitConstant *constants;
	int n;
	const double *measured; /* more than 0 */
	int rows;
	FitPredict *predict;
	void *context;
	double *before, *after; /* set: predicted rows */
} Fit;

/* How many were fitted. */
int fit_run(Fit *f);

/* Of n numbers. */
double fit_median(Arena *a, const double *v, int n);

/* Half of the relative errors of `predicted` are at most this; the largest, and its row. */
double fit_median_error(const Fit *f, const double *predicted);
double fit_worst_error(const Fit *f, const double *predicted, int *row);

#endif
