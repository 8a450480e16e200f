/*
 * How near results have to be: a correlation, a greatest error over the range of what is
 * expected, or both.
 *
 *     const Limits l = limits_asked(s->opt);
 *     const Closeness c = tensor_compare(want, got);
 *     if (!limits_hold(l, &c))
 *             ... limits_excess(l, &c, usual) times the noise that may be is there
 *
 * Where the expected output is a constant there is no correlation, and the relative error
 * must be at most 1 - min_pcc instead.
 */
#ifndef FRONTEND_ACCURACY_LIMITS_H
#define FRONTEND_ACCURACY_LIMITS_H

#include "frontend/options.h"
#include "ir/compare.h"

typedef struct Limits {
	double min_pcc, max_err; /* negative: no limit */
} Limits;

/* Those of the command line. */
Limits limits_asked(const Options *o);

bool limits_hold(Limits l, const Closeness *c);

/* Noise over signal there is, over the most that the tighter limit leaves; infinite if that
 * is none, 1 or more if they do not hold. An error grows as the root of the noise, and noise
 * n leaves a correlation of 1 / sqrt(1 + n). Of an error more than twice `usual`, that of all
 * but a thousandth of the values (tensor_usual_error), what is above is no noise: a matrix
 * unit that loses a sum now and then (runtime/emu/matrix_exact.c, normalise) does so at any. */
double limits_excess(Limits l, const Closeness *c, double usual);

#endif
