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

/*
 * Code of T1 for a tile of SrcA, SrcB and Dst at a time, of random operands. What
 * it leaves in Dst is compared. Address modifier 0 moves on by the steps, 1 stays.
 */
typedef struct ExactWay ExactWay;
struct ExactWay {
	const char *name;
	bool wide;    /* Dst */
	bool ones;    /* SrcB is all ones */
	bool as_bf16; /* moves take sources for bf16 whatever Dst is */
	bool is_long; /* code of more than 30 instructions */
	uint32_t phase, a_step, b_step, dst_step;
	void (*code)(Player *p, const ExactWay *w, uint32_t k);
	int what; /* for code */
};

/* Prints a line, returns 1 if something differed; `only` is part of its name, or
 * it is not played. */
int exact_tiles(long count, const char *only, const ExactWay *w);

/* The parts: how many instructions and modes were wrong. `count` is of results. */
int exact_matrix(long count, const char *only);
int exact_move(long count, const char *only);
int exact_vector(long count, const char *only);

#endif
