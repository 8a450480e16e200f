/*
 * A folder of results by what they were made of.
 *
 * An entry is a file of that name with any number of parts:
 *
 *     "tessera cache 1\n"
 *     the number of parts, the bytes of each      u64, little-endian
 *     the parts
 *     SHA-256 of all before                       64 hex digits
 *
 * Entries appear whole or not at all, so processes may share the folder, and any of them
 * may be removed at any time. Nothing here removes one.
 */
#ifndef FRONTEND_CACHE_H
#define FRONTEND_CACHE_H

#include "ir/file.h"

/* The parts of an entry, *n of them, mapped; NULL if there is none. What is damaged is
 * none, and a warning. */
const Bytes *cache_find(Arena *a, Diag *d, const char *dir, const char *key, int *n);

/* Makes an entry, or replaces it; if that fails, there is a warning. */
void cache_keep(Arena *a, Diag *d, const char *dir, const char *key, const Bytes parts[], int n);

#endif
