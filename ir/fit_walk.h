/*
 * What the parts of the fit share: constants on their way.
 */
#ifndef IR_FIT_WALK_H
#define IR_FIT_WALK_H

#include "ir/fit.h"

typedef struct FitWalk {
	Fit *f;
	double *weight;       /* of each row */
	double *at;           /* logarithms of all constants, 1 more */
	int64_t *values;      /* them, whole */
	int *chosen, nchosen; /* those that are being fitted */
	FitState *settled;    /* why one is not, for good; or FIT_FITTED */
	double *row;          /* predictions */
	double *slope;        /* of each error, a column for each constant; */
	double *first;        /* the same where constants were at first */
	double *moves;        /* how much a constant moves rows, at most */
	double *error;        /* of each row */
} FitWalk;

/* The logarithm that is walked over; the whole number for it, as far as a constant may go. */
double fit_log(int64_t value);
int64_t fit_limited(const FitConstant *c, double at);

/* What an error of a row is relative to. */
double fit_scale(const Fit *f, int row);

/* Errors for `values`, weighted; the sum of their squares. */
double fit_errors(FitWalk *s, const int64_t *values, double *to);

/* The values for the logarithms at hand. */
void fit_set_values(FitWalk *s);

/* How errors move with the logarithm of one constant. */
void fit_slope(FitWalk *s, int k, double *to);

double fit_dot(const double *a, const double *b, int n);

/* The inverse of a symmetric matrix of n rows, in place; false if it has none. */
bool fit_invert(double *m, int n);

/* Downhill over the chosen constants, the others as they were at first. The sum of squares. */
double fit_descend(FitWalk *s);

#endif
