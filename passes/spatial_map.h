/*
 * Ops whose result is a map over rows times a map over columns of their input,
 * the same for every channel: resize, avg_pool, pad and slice in two dims.
 */
#ifndef PASSES_SPATIAL_MAP_H
#define PASSES_SPATIAL_MAP_H

#include "ir/graph.h"
#include "ir/mix.h"

/* Rows to map[0], columns to map[1]. False if the op cannot be written so:
 * *why says what is in the way. The coordinates are those of the reference
 * (runtime/ref), computed anew: tests compare the two. Which channels a slice
 * takes is not looked at. */
bool spatial_maps(Arena *a, const Op *op, AxisMap map[2], const char **why);

#endif
