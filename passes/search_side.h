/*
 * What lies between a tensor and its readers, for the bounds of search_bound.c; above
 * all side readers: steps whose results hang below another tensor.
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

/* A side reader j, whatever the value of its result. */
int64_t side_read(Space *s, int tensor, int value, int j);

#endif
