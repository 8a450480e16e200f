/*
 * How near a result is to what it should be.
 *
 * Elements that are the same infinity or NaN on both sides agree; one that is
 * not finite on one side alone is an infinite error and leaves no
 * correlation.
 */
#ifndef IR_COMPARE_H
#define IR_COMPARE_H

#include "ir/tensor.h"

typedef struct Closeness {
	double pcc;      /* Pearson's correlation; 1 if both are constant and equal,
			  * 0 if there is none */
	double max_abs;  /* greatest difference */
	double range;    /* greatest less least expected value; of a constant its
			  * magnitude, or 1 if that is 0 */
	double max_rel;  /* max_abs / range */
	bool constant;   /* all expected values are the same: pcc says little */
	int64_t worst;   /* where the greatest difference is */
} Closeness;

/* The tensors have the same shape; their types may differ. */
Closeness tensor_compare(const Tensor *expected, const Tensor *actual);

/* Over the range as max_rel is: the difference, to a hundredth of itself, that all but one
 * element in so many have at most. */
double tensor_usual_error(const Tensor *expected, const Tensor *actual, const Closeness *c,
			  int one_in);

/* The first element that is NaN, or -1. The tensor is not elided. */
int64_t tensor_find_nan(const Tensor *t);

#endif
