/*
 * A map from strings to pointers.
 *
 * Keys are not copied: they must outlive the map. All memory comes from the
 * arena, so there is nothing to destroy.
 */
#ifndef IR_STRMAP_H
#define IR_STRMAP_H

#include <stddef.h>

#include "ir/arena.h"

typedef struct StrSlot {
	const char *key;
	void *value;
} StrSlot;

typedef struct StrMap {
	Arena *arena;
	StrSlot *slots;
	size_t cap, used; /* used counts removed slots too */
} StrMap;

void strmap_init(StrMap *m, Arena *a);

/* NULL if `key` is not there. */
void *strmap_get(const StrMap *m, const char *key);

/* Adds or replaces. */
void strmap_put(StrMap *m, const char *key, void *value);
void strmap_remove(StrMap *m, const char *key);

#endif
