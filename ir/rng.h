/*
 * The random numbers of --random-weights and of tests: SplitMix64, so that a
 * seed gives the same weights everywhere.
 */
#ifndef IR_RNG_H
#define IR_RNG_H

#include <stdint.h>

typedef struct Rng {
	uint64_t state;
} Rng;

static inline uint64_t rng_next(Rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Uniform in [0, 1), 24 bits. */
static inline float rng_float(Rng *r) { return (float)(rng_next(r) >> 40) * 0x1p-24f; }

/* Uniform in 0 .. n-1. */
static inline int64_t rng_below(Rng *r, int64_t n)
{
	return (int64_t)(rng_next(r) % (uint64_t)n);
}

#endif
