/*
 * What lies between a tensor and its readers, for the bounds of search_bound.c; above
 * all side readers: steps whose results hang below another tensor.
 *
 * A side reader finds the tensor where it lies, or in a copy, or it waited in DRAM. The
 * bound takes the cheapest of these, over all values that the reader's result may have.
 * That takes long where there are many values: before space is `sharp` what depends on
 * the reader's result is left out.
 *
 * Moves beside a step cost what they take longer than it. How long it takes in any plan
 * that is better than the best one known has a limit (`hide`): what is beyond is paid.
 */
#ifndef PASSES_SEARCH_SIDE_H
#define PASSES_SEARCH_SIDE_H

#include "passes/search_walk.h"

/* Bytes of L1 that it takes, whoever reads it. */
int64_t side_base(const Value *v);

/* Readers by number: of a step; the last use before one. */
int side_number(const TensorSpace *x, int step);
int side_use_before(const TensorSpace *x, int j);

/* May it wait in DRAM for reader j; may it move while others run; may it have come back
 * from DRAM for a reader before this one? */
bool side_may_park(const TensorSpace *x, int j);
bool side_may_beside(const TensorSpace *x, int j);
bool side_may_be_back(const TensorSpace *x, int j);

/* Does the step make a tensor that hangs below this one? */
bool side_is_main(const Space *s, int step, int tensor);

/* To DRAM by itself, for reader j; it is there if an earlier one had it so. */
int64_t side_spill(Space *s, int tensor, int value, int j);

/* A side reader j, whatever the value of its result, and the bytes in use for it. */
typedef struct SideRead {
	int64_t least;
	int64_t waits;     /* from the use before on, but for the last two steps */
	int64_t before, at; /* in the step before and the step itself */
} SideRead;
SideRead side_read(Space *s, int tensor, int value, int j);

/* What moves of a tensor that goes to DRAM and back beside steps for reader j take longer
 * than those; `there`: it has been spilled. */
int64_t side_beside(Space *s, int tensor, int value, int j, int64_t back, bool there);

/* From here on bounds look at side readers more closely: plans matter that take less than
 * `slack` more than the tree does. */
void side_sharpen(Space *s, int64_t slack);

#endif
