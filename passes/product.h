/*
 * Products with weights (conv, conv_transpose, linear) seen channel by
 * channel: what passes do to weights they do through here, so that groups and
 * the three weight layouts are told apart once.
 *
 *     y = scale * conv(x) + shift     is     product_scale_outputs
 *     y = conv(scale * x + shift)     is     product_scale_inputs
 *
 * Sums are in double, results are stored in the type the weights have.
 */
#ifndef PASSES_PRODUCT_H
#define PASSES_PRODUCT_H

#include "ir/graph.h"

/* One scale and one shift per channel. */
typedef struct Affine {
	int64_t n;
	double *scale, *shift;
	bool scales, shifts; /* some scale is not 1; some shift is not 0 */
} Affine;

bool op_is_product(const Op *op);

/* Channels in and out, and the groups they fall into. */
int64_t product_inputs(const Op *op);
int64_t product_outputs(const Op *op);
int64_t product_groups(const Op *op);

/* True if every input channel has a group, and filter, of its own. */
bool product_is_depthwise(const Op *op);

/* True if weights and bias, if any, are constants that are there. */
bool product_is_known(Graph *g, const Op *op);

/* Input and output channel of weight row r = element / tail, where tail is
 * the number of taps (elements per input and output channel). */
int64_t product_taps(const Op *op);
int64_t product_row_input(const Op *op, int64_t row);
int64_t product_row_output(const Op *op, int64_t row);

/* All three want product_is_known. */
void product_scale_outputs(Graph *g, Op *op, const Affine *a);
void product_scale_inputs(Graph *g, Op *op, const Affine *a);

/* Adds one value per output channel, making a bias if there is none. */
void product_add_bias(Graph *g, Op *op, const double *shift);

/* False if a scale and shift per input channel cannot go into the weights:
 * a shift would also have to be applied to padding. */
bool product_takes_inputs(const Op *op, const Affine *a);

/* True if constant `c`, broadcast to `shape`, varies along dim 1 alone; then
 * the value per channel is in v, which is in g's arena. Says no for more
 * channels than weights could sensibly have. */
bool channel_values(Graph *g, const Op *c, Shape shape, double **v);

/* True if `op` scales and shifts each channel of its input `*data`: a
 * batch_norm, or add, sub, mul or div with a constant per channel. Its fused
 * activation, if any, comes after that. */
bool affine_of(Graph *g, const Op *op, Op **data, Affine *a);

/* A constant with one value per channel that broadcasts to rank `rank`. */
Tensor *channel_tensor(Graph *g, DType dtype, int rank, const double *v, int64_t n);

#endif
