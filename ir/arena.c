#include "ir/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/diag.h"

enum { CHUNK = 64 * 1024 };

typedef struct Chunk Chunk;
typedef struct Undo Undo;

struct Chunk {
	Chunk *next;
	size_t used, size;
	max_align_t data[];
};

struct Undo {
	Undo *next;
	void (*undo)(void *);
	void *what;
};

struct Arena {
	Chunk *top;
	Undo *undo;
	size_t bytes;
	size_t read, afforded; /* see arena_afford */
	const char **files;    /* that were read, nfiles of them */
	int nfiles;
};

static void *xcalloc(size_t size)
{
	void *p = calloc(1, size);
	if (!p)
		die_out_of_memory(size);
	return p;
}

void *xmalloc(size_t size)
{
	return xrealloc(NULL, size);
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		die_out_of_memory(size);
	return p;
}

Arena *arena_create(void)
{
	return xcalloc(sizeof(Arena));
}

void arena_destroy(Arena *a)
{
	for (Undo *u = a->undo; u; u = u->next)
		u->undo(u->what);
	for (Chunk *c = a->top, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

/* A block of its own goes below the top chunk, which keeps its free space. */
static void *alloc_large(Arena *a, size_t size)
{
	Chunk *c = xcalloc(sizeof(Chunk) + size);
	c->size = c->used = size;
	if (a->top) {
		c->next = a->top->next;
		a->top->next = c;
	} else {
		a->top = c;
	}
	return c->data;
}

void *arena_alloc(Arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	if (size > SIZE_MAX / 2)
		die_out_of_memory(size);
	size = (size + align - 1) / align * align;
	a->bytes += size;
	if (size > CHUNK / 4)
		return alloc_large(a, size);
	if (!a->top || a->top->size - a->top->used < size) {
		Chunk *c = xcalloc(sizeof(Chunk) + CHUNK);
		c->size = CHUNK;
		c->next = a->top;
		a->top = c;
	}
	void *p = (char *)a->top->data + a->top->used;
	a->top->used += size;
	return p;
}

void *arena_calloc(Arena *a, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / 2 / size)
		die_out_of_memory(SIZE_MAX);
	return arena_alloc(a, count * size);
}

void *arena_grow(Arena *a, void *list, int n, size_t size)
{
	if (n & (n - 1))
		return list;
	void *larger = arena_calloc(a, n ? 2 * (size_t)n : 1, size);
	return n ? memcpy(larger, list, (size_t)n * size) : larger;
}

char *arena_printf(Arena *a, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	size_t n = (size_t)vsnprintf(NULL, 0, fmt, ap) + 1;
	char *s = arena_alloc(a, n);
	vsnprintf(s, n, fmt, again);
	va_end(again);
	va_end(ap);
	return s;
}

char *arena_strndup(Arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);
	memcpy(copy, s, n);
	return copy;
}

char *arena_strdup(Arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

void arena_on_destroy(Arena *a, void (*undo)(void *), void *what)
{
	Undo *u = arena_new(a, Undo);
	*u = (Undo){ a->undo, undo, what };
	a->undo = u;
}

size_t arena_bytes(const Arena *a)
{
	return a->bytes;
}

bool arena_afford(Arena *a, size_t bytes)
{
	const size_t limit = ((size_t)256 << 20) + 4 * a->read;
	if (a->afforded > limit || bytes > limit - a->afforded)
		return false;
	a->afforded += bytes;
	return true;
}

void arena_note_read(Arena *a, const char *path, size_t bytes)
{
	a->read += bytes;
	a->files = arena_grow(a, a->files, a->nfiles, sizeof *a->files);
	a->files[a->nfiles++] = arena_strdup(a, path);
}

const char *const *arena_files_read(const Arena *a, int *n)
{
	*n = a->nfiles;
	return a->files;
}
