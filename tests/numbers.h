/* Numbers to feed nets with. */
#ifndef TESTS_NUMBERS_H
#define TESTS_NUMBERS_H

#include "ir/rng.h"
#include "tests/fixture.h"

/* Whole numbers in -most..most, or reals below 1 if it is 0. */
static inline float *numbers(Fixture *t, Rng *r, int64_t count, int most)
{
	float *v = arena_array(t->arena, float, count);
	for (int64_t i = 0; i < count; i++)
		v[i] = most ? (float)(int)rng_below(r, 2 * most + 1) - (float)most
			    : (float)rng_below(r, 1u << 20) / (1 << 19) - 1;
	return v;
}

#endif
