#include "ir/intmap.h"

#include <string.h>

enum { FIRST = 64 };

uint64_t hash_ints(const int *key, int n)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (int i = 0; i < n; i++) {
		h = (h ^ (uint32_t)key[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

void intmap_init(IntMap *m, Arena *a) { *m = (IntMap){ .arena = a }; }

/* The slot of a key, or the free one where it would go. */
static IntSlot *find(const IntMap *m, uint64_t hash, const int *key, int n)
{
	size_t i = (size_t)hash & (m->cap - 1);
	for (;; i = (i + 1) & (m->cap - 1)) {
		IntSlot *s = &m->slots[i];
		if (!s->value || (s->hash == hash && s->n == n
				  && memcmp(s->key, key, (size_t)n * sizeof *key) == 0))
			return s;
	}
}

void *intmap_get(const IntMap *m, const int *key, int n)
{
	return m->cap ? find(m, hash_ints(key, n), key, n)->value : NULL;
}

static void grow(IntMap *m)
{
	const IntMap old = *m;
	m->cap = old.cap ? 2 * old.cap : FIRST;
	m->slots = arena_array(m->arena, IntSlot, m->cap);
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].value) {
			const IntSlot *from = &old.slots[i];
			*find(m, from->hash, from->key, from->n) = *from;
		}
}

void intmap_put(IntMap *m, const int *key, int n, void *value)
{
	if (2 * m->used >= m->cap)
		grow(m);
	const uint64_t hash = hash_ints(key, n);
	IntSlot *s = find(m, hash, key, n);
	if (s->value)
		return;
	*s = (IntSlot){ hash, arena_array(m->arena, int, n + 1), n, value };
	memcpy(s->key, key, (size_t)n * sizeof *key);
	m->used++;
}
