/*
 * Convolution as a sum of products: what conv and conv_transpose come down
 * to.
 *
 * Along each of three spatial dims (unused ones have extent 1) a product
 * visits `count` positions. Position q lies at out_from + q*out_step of the
 * result, and tap t multiplies the weight at kernel index tap[t] with the
 * input at q*in_step + at[t], which is 0 outside the input. For each output
 * channel the products of all taps and input channels are summed:
 *
 *     conv, stride 2, pad 1, kernel 3:  out_step 1, in_step 2, at = -1, 0, 1
 */
#ifndef RUNTIME_REF_PRODUCT_H
#define RUNTIME_REF_PRODUCT_H

#include "runtime/ref/ref_internal.h"

typedef struct Axis {
	int64_t in, out, kernel; /* extents */
	int64_t count, out_from, out_step, in_step;
	int64_t taps, *tap, *at;
} Axis;

typedef struct Product {
	const Tensor *x, *weights, *bias; /* bias may be NULL */
	const Tensor *y;
	int64_t batch, groups;
	int64_t cin, cout; /* channels of a group */
	bool input_major;  /* weights are [groups*cin, cout, ...], not [groups*cout, cin, ...] */
	Axis axis[SPATIAL];
	int threads;
} Product;

/* Writes the positions of `y` that p visits. */
void ref_product(const Product *p);

#endif
