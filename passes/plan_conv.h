/*
 * Products with weights as steps: what convolutions, transposed ones and moves of
 * channels become.
 */
#ifndef PASSES_PLAN_CONV_H
#define PASSES_PLAN_CONV_H

#include "passes/plan_steps.h"

typedef struct Product {
	const Op *op;
	Parts in;
	const Tensor *filter; /* [out][in of a group][ky][kx] */
	const Tensor *bias;   /* [out], or NULL */
	int groups;
	Window window[2];
	int row, row_step; /* rows of the result it makes */
	int column_phase;  /* columns of it */
} Product;

/* Parts of one type, and no more than a routine reads as one input: copied where
 * they are not. */
Parts plan_pieces(Builder *b, const Op *op, Parts in);

/* As many parts, of one type, in one tensor: an exact copy. */
Part plan_join(Builder *b, const Op *op, Parts in);

/* A step for each part of `out`, whose channels are those of the filter one after
 * the other. */
void plan_product(Builder *b, const Product *p, Parts out);

/* Channels `channels` of `in`, in this order, to rows and a column phase of `out`;
 * exact in bf16. `p` says where, its filter and input are not looked at. */
void plan_select(Builder *b, const Product *p, Parts in, const int64_t *channels, Parts out);

/* Channels first, first + step, ... of `in`: without a step where they are whole
 * planes. */
Parts plan_slice_channels(Builder *b, const Op *op, Parts in, int64_t first, int64_t n,
			  int64_t step);

/* The same channels without gaps: all planes but the last of each part are full, and so
 * is the last of all parts but one. */
Parts plan_close_up(Builder *b, const Op *op, Parts in);

/* A 2x2 transposed convolution of stride 2, if its result is one tensor. */
bool plan_pairs(Builder *b, const Op *op);

/* Weights and bias of an op are constants with data, finite in bf16. */
bool plan_check_weights(Builder *b, const Op *op);

#endif
