/* Pools of the device library as ops of a small net (device_net.h). */
#ifndef TESTS_DEVICE_POOL_H
#define TESTS_DEVICE_POOL_H

#include "tests/device_net.h"

typedef struct MaxPool {
	int kernel[2], stride[2], dilation[2], pad[2]; /* rows, columns */
	int width;   /* columns of the image */
	bool phased; /* planes of the input: those of column phase 0, of phase 1, ... */
} MaxPool;

/* The input's rows are the output's times stride[0], its halo what windows need. */
void net_max_pool(Net *n, MaxPool k, const Planes *in, Planes *to);

typedef enum ReduceKind { REDUCE_MAX, REDUCE_SUM, REDUCE_DEVIATION } ReduceKind;

/* Each core reduces its rows to pixels of `to`, all cores' side by side, on core 0
 * too: one for a maximum, else two. `mean` is for deviations. */
void net_reduce_rows(Net *n, ReduceKind kind, const Planes *in, const Planes *mean, Planes *to);

/* Core 0 alone: `cols` pixels to one (or, as a pair, two), which all get. */
void net_reduce_pixels(Net *n, ReduceKind kind, const Planes *in, Planes *to, bool pair,
		       float scale);

/* The op made last waits, on the other cores, for what core 0 made. */
void net_await(Net *n, const Planes *p);

/* Less the mean, times a factor, both pairs that all cores have. */
void net_norm(Net *n, const Planes *in, const Planes *mean, const Planes *factor, Planes *to);

/* The largest channel of each pixel, or the sum of all. */
void net_lanes(Net *n, const Planes *in, Planes *to, bool sum);

#endif
