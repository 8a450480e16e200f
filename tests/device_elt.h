/* Element-wise ops in nets for tests of the device library. */
#ifndef TESTS_DEVICE_ELT_H
#define TESTS_DEVICE_ELT_H

#include "tests/device_net.h"

/* A sum over taps with weights [channel][ky][kx] and a bias each. */
typedef struct Channel {
	int kernel_h, kernel_w, dilation, stride_h, stride_w, pad_h, pad_w;
	int phases; /* of fidelity */
	int pages;  /* of the circular buffer; 0: all */
	bool relu;
	const float *values, *bias;
} Channel;

/* With a column stride s the input has the planes of the result, or s column phases
 * one behind the other with as many each: s times its channels, rounded to 16. */
void net_channel(Net *n, Channel c, const Planes *in, Planes *to);

/* a op b: TT_ADD and so on. Where an operand has one channel, row or column and
 * the result has many, it is for all. `through_dst`: by the vector unit. */
void net_binary(Net *n, uint32_t op, bool through_dst, const Planes *a, const Planes *b,
		Planes *to);

#endif
