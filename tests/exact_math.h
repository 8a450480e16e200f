/*
 * What the comparisons of arithmetic with the vendor's simulator share: operands
 * go through the unpackers into registers, results through the packers back into
 * L1, a tile of 32x32 each.
 *
 *     T0 waits for EMPTY, unpacks, posts LOADED
 *     T1 waits for LOADED, computes, posts READY
 *     T2 waits for READY, packs, posts EMPTY
 */
#ifndef TESTS_EXACT_MATH_H
#define TESTS_EXACT_MATH_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/operands.h"
#include "tests/player.h"

enum { EXACT_TILE = 1024, EXACT_BYTES = 4 * EXACT_TILE }; /* values, bytes in L1 */

/* Where tile k of the data stands in L1. */
static inline uint32_t exact_at(uint32_t k)
{
	return PLAYER_DATA + k * EXACT_BYTES;
}

/* Semaphores, as operands of instructions name them. */
enum { EXACT_LOADED = 1 << 1, EXACT_READY = 1 << 2, EXACT_EMPTY = 1 << 3 };

/* Configures everything. `wide`: Dst of 32 bits and sources of 19, else of 16. */
void exact_setup(Player *p, bool wide);

/* By T0: a tile of fp32 in L1 into SrcA, SrcB, or tile `to` of a wide Dst. */
void exact_to_a(Player *p, bool wide, uint32_t from);
void exact_to_b(Player *p, uint32_t from);
void exact_to_dst(Player *p, uint32_t from, uint32_t to);

/* By T2: tile `from` of Dst into L1, as fp32. */
void exact_from_dst(Player *p, uint32_t from, uint32_t to);

/* By any thread: waits until a semaphore is up and takes it down; the reverse. */
void exact_take(Player *p, int thread, uint32_t semaphore);
void exact_give(Player *p, int thread, uint32_t semaphore);

/* A tile of one kind of operands (operands.h), or of all. */
void exact_fill(Operands *o, uint8_t *tile, unsigned kind);

/* Plays on both, and counts values of the last `results` tiles of `data` that
 * differ; says which first. -1 if one did not come to its end or nothing was
 * written. */
long exact_compare(const char *what, Player *p, const uint8_t *data, size_t tiles,
		   size_t results);

/* The parts; each prints a line for each instruction and mode, and returns how
 * many were wrong. `count` is of results. */
int exact_matrix(long count, const char *only);
int exact_vector(long count, const char *only);

#endif
