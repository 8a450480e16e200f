/*
 * Room in L1 for all steps of a plan by local rules (greedy.h).
 */
#ifndef PASSES_GREEDY_ROOM_H
#define PASSES_GREEDY_ROOM_H

#include "passes/greedy_fit.h"

/* Steps that work on what pins place in DRAM have slices, the lowest. */
void greedy_slice_pinned(Greedy *g);

/* Changes choices, which are legal, until the buffers of every step fit; false if
 * the rules have no more to offer. What fits stays as it is. */
bool greedy_relieve(Greedy *g);

/* And then every step is done the best way in the room there is. */
bool greedy_make_room(Greedy *g);

/* Weights of a step come early where the one before has room for them; and not. */
void greedy_prefetch(Greedy *g);
void greedy_no_prefetch(Greedy *g);

/* Is there an address for every buffer? */
bool greedy_packs(const Greedy *g);

#endif
