/* What a reduction over pixels can be: `kind` of reduce_unpack and reduce_math. */
#ifndef RUNTIME_DEVICE_REDUCE_H
#define RUNTIME_DEVICE_REDUCE_H

enum {
	TT_REDUCE_MAX = 0,
	TT_REDUCE_SUM = 1,
	TT_REDUCE_DEVIATION = 2, /* the sum of squares of what is left without the mean */
};

#endif
