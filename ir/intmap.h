/*
 * A map from short lists of whole numbers to pointers, for what is worked out once
 * and looked up often.
 *
 * Keys are copied. All memory comes from the arena, so there is nothing to
 * destroy.
 */
#ifndef IR_INTMAP_H
#define IR_INTMAP_H

#include <stdint.h>

#include "ir/arena.h"

enum { INTMAP_SHORT = 5 };

typedef struct IntSlot {
	uint64_t hash;
	void *value; /* NULL: the slot is free */
	const int *longer; /* key of more than INTMAP_SHORT numbers */
	int n, key[INTMAP_SHORT];
} IntSlot;

typedef struct IntMap {
	Arena *arena;
	IntSlot *slots;
	size_t cap, used;
} IntMap;

void intmap_init(IntMap *m, Arena *a);

/* NULL if the key is not there. */
void *intmap_get(const IntMap *m, const int *key, int n);

/* Adds what is not there yet. */
void intmap_put(IntMap *m, const int *key, int n, void *value);

/* Of a list of numbers, the same everywhere. */
uint64_t hash_ints(const int *key, int n);

#endif
