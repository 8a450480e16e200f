/* Words of costs.def about windows: what window_unpack and window_math do. */
#ifndef IR_WORK_WINDOW_H
#define IR_WORK_WINDOW_H

#include "ir/work.h"

/* Sums over the tiles of one pair of planes. A tap that some of 32 positions have
 * outside the image is read in parts; a window with no tap inside counts one. */
typedef struct Windows {
	int64_t tiles;
	int64_t taps;    /* that math moves, one at least for each tile */
	int64_t threes;  /* times math compares, three taps behind the first at a time */
	int64_t runs;    /* of pixels, in two planes each */
	int64_t pixels;  /* of all of them, in one plane */
	int64_t fills;   /* of SrcA, with the least value */
} Windows;

Windows work_windows(const Work *w);

#endif
