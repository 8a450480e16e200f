/*
 * How the weights of a conv of a device_net come: what net_conv has made, one
 * page for each group, is cut into chunks and read by other cores.
 */
#ifndef TESTS_DEVICE_WEIGHTS_H
#define TESTS_DEVICE_WEIGHTS_H

#include "tests/device_net.h"

typedef struct Stream {
	int chunk_blocks; /* blocks of weights in a page; 0: a group in one */
	int block;        /* units of positions for which they come by once; 0: all, or 1 */
	int pages;        /* of the circular buffer */
	int cols, rows;   /* of the rectangles cores are grouped in; 1, 1: each reads alone */
	int fetchers;     /* of each */
	int first;        /* bytes in DRAM before the weights */
	bool early;       /* they come while the op before runs */
} Stream;

/* To the op added last, which is a conv. */
void net_stream(Net *n, Stream s);

/* The op added last has the weights of the one before, which has all of them. */
void net_stay(Net *n);

#endif
