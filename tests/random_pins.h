/*
 * Random pins for the steps of a plan: lines of a plan file without its first, one
 * field each. Values are of the form the field wants; many of them cannot be.
 */
#ifndef TESTS_RANDOM_PINS_H
#define TESTS_RANDOM_PINS_H

#include "ir/choice.h"
#include "ir/rng.h"

typedef struct RandomPin {
	int step, field; /* CHOICE_COUNT: shard */
	const char *line; /* with its newline */
} RandomPin;

/* False if the step that chance named has no such field. */
bool random_pin(Arena *a, Rng *r, const Plan *bare, RandomPin *pin);

#endif
