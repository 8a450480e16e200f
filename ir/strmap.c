#include "ir/strmap.h"

#include <stdint.h>
#include <string.h>

static const char removed[] = "";

static size_t hash(const char *s)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return (size_t)(h ^ h >> 32);
}

void strmap_init(StrMap *m, Arena *a)
{
	*m = (StrMap){ .arena = a };
}

/* The slot of `key`, or the empty one where the search for it ends. */
static StrSlot *find(const StrMap *m, const char *key)
{
	for (size_t i = hash(key);; i++) {
		StrSlot *s = &m->slots[i & (m->cap - 1)];
		if (!s->key || (s->key != removed && strcmp(s->key, key) == 0))
			return s;
	}
}

void *strmap_get(const StrMap *m, const char *key)
{
	return m->cap ? find(m, key)->value : NULL;
}

static void grow(StrMap *m)
{
	StrMap old = *m;
	m->cap = old.cap ? old.cap * 2 : 64;
	m->slots = arena_array(m->arena, StrSlot, m->cap);
	m->used = 0;
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].key && old.slots[i].key != removed)
			strmap_put(m, old.slots[i].key, old.slots[i].value);
}

void strmap_put(StrMap *m, const char *key, void *value)
{
	if (m->used * 2 >= m->cap)
		grow(m);
	StrSlot *s = find(m, key);
	if (!s->key)
		m->used++;
	*s = (StrSlot){ key, value };
}

void strmap_remove(StrMap *m, const char *key)
{
	StrSlot *s = m->cap ? find(m, key) : NULL;
	if (s && s->key)
		*s = (StrSlot){ removed, NULL };
}
