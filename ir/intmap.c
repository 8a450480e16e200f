#include "ir/intmap.h"

#include <stdbool.h>
#include <string.h>

enum { FIRST = 64 };

uint64_t hash_ints(const int *key, int n)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (int i = 0; i < n; i += 2) {
		const uint64_t next = i + 1 < n ? (uint32_t)key[i + 1] : (uint32_t)n;
		h = (h ^ (uint32_t)key[i] ^ next << 32) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

void intmap_init(IntMap *m, Arena *a) { *m = (IntMap){ .arena = a }; }

static bool has_key(const IntSlot *s, const int *key, int n)
{
	const int *mine = n > INTMAP_SHORT ? s->longer : s->key;
	int i = 0;
	while (i < n && mine[i] == key[i])
		i++;
	return i == n;
}

/* The slot of a key, or the free one where it would go. */
static IntSlot *find(const IntMap *m, uint64_t hash, const int *key, int n)
{
	size_t i = (size_t)hash & (m->cap - 1);
	for (;; i = (i + 1) & (m->cap - 1)) {
		IntSlot *s = &m->slots[i];
		if (!s->value || (s->hash == hash && s->n == n && has_key(s, key, n)))
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
			size_t to = (size_t)from->hash & (m->cap - 1);
			while (m->slots[to].value)
				to = (to + 1) & (m->cap - 1);
			m->slots[to] = *from;
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
	int *room = n > INTMAP_SHORT ? arena_array(m->arena, int, n) : s->key;
	memcpy(room, key, (size_t)n * sizeof *key);
	s->hash = hash;
	s->n = n;
	s->longer = n > INTMAP_SHORT ? room : NULL;
	s->value = value;
	m->used++;
}
