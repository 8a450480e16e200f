/*
 * Packing: boxes that live for a time each get an offset, so that those that live
 * at the same time lie apart, all of them below a limit.
 *
 *     Box v[] = { { 64, 0, 1 }, { 32, 1, 2 }, { 64, 2, 3 } };
 *     pack_boxes(v, 3, 96, &end, &blame);     at 0, 64, 0
 *
 * First in fixed orders, each box at the lowest offset that is free, and in orders
 * where those that did not fit come earlier; then along time; then by a search that
 * leaves nothing out but what is no better than something it tries. All of it is
 * counted, not timed, and ends at a limit: the same boxes are packed the same way
 * everywhere.
 */
#ifndef PASSES_PACK_H
#define PASSES_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"

typedef struct Box {
	int64_t bytes;  /* more than 0 */
	int born, dies; /* both included */
	int64_t at;     /* to be found */
} Box;

/* Sets every offset; `end` is that of the box that reaches highest. False if none
 * of what was tried stays below `room`: the lowest there is then, and `blame` is
 * a box that does not. */
bool pack_boxes(Box *v, int n, int64_t room, int64_t *end, int *blame);

/* ---- its parts ---- */

/* The times that matter: some box is born. First and last of each box, and boxes by
 * how many there are. */
typedef struct PackTimes {
	int n;
	int *first, *last, *longest;
} PackTimes;

PackTimes pack_times(Arena *a, const Box *v, int n);

/* From the first time to the last, bottom or top of what is free, with a limit on
 * the work. True with every offset set, else they are untouched. */
bool pack_sweep(Box *v, int n, int64_t room, int64_t work);

/* The same, but everything is tried: `ended` says whether it was. */
bool pack_search(Box *v, int n, int64_t room, int64_t work, bool *ended);

static inline bool box_meets(const Box *a, const Box *b)
{
	return a->born <= b->dies && b->born <= a->dies;
}

#endif
