/*
 * UNet-like graphs of the ops the device library has, with data.
 */
#ifndef TESTS_RANDOM_UNET_H
#define TESTS_RANDOM_UNET_H

#include "ir/graph.h"
#include "ir/rng.h"

typedef struct NetOptions {
	bool integers;  /* small whole numbers, sparse: sums stay below 128 */
	DevTypes stored; /* hint for the tensors between the edges, or 0; both: any */
	DevTypes weights; /* hint for the weights, or 0; both: any */
	int most_width; /* of the image; 0: 70 */
	int levels;     /* poolings at most */
} NetOptions;

Graph *random_unet(Arena *a, Diag *d, uint64_t seed, const NetOptions *opt);

/* Ops in any order on any tensor: windows of every shape, tensors joined with
 * themselves, results that are the input. May read more pieces than a device
 * routine takes. */
Graph *random_wild(Arena *a, Diag *d, uint64_t seed, const NetOptions *opt);

/* Numbers and formats by seed. */
NetOptions wild_options(uint64_t seed);

/* One convolution, same padding. */
typedef struct ConvShape {
	int cin, cout, height, width, kernel, dilation;
	OpKind act; /* OP_INPUT: none */
} ConvShape;

Graph *random_conv(Arena *a, Diag *d, uint64_t seed, const ConvShape *c, const NetOptions *opt);

/* So many 3x3 convolutions one after the other, all of the same shape. */
Graph *random_chain(Arena *a, Diag *d, uint64_t seed, int n, int channels, int size);

/* Input data to match. */
void random_image(float *to, int64_t n, uint64_t seed, const NetOptions *opt);

#endif
