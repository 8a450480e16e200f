/*
 * Memory that lives as long as one compilation.
 *
 * Everything a graph owns comes from its arena and is freed with it, so no
 * IR object has a destructor and no allocation has a NULL check: running out
 * of memory ends the program.
 */
#ifndef IR_ARENA_H
#define IR_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_create(void);
void arena_destroy(Arena *a);

/* Zeroed, aligned for any type. Large blocks are fresh pages: they cost no
 * memory until written. */
void *arena_alloc(Arena *a, size_t size);

/* count * size, dying on overflow. */
void *arena_calloc(Arena *a, size_t count, size_t size);

/* Room for one more element in a list of n that doubles whenever n is a power of
 * two: the list, or a larger copy of it. */
void *arena_grow(Arena *a, void *list, int n, size_t size);

char *arena_printf(Arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_strdup(Arena *a, const char *s);
char *arena_strndup(Arena *a, const char *s, size_t n);

/* Calls undo(what) when the arena is destroyed, latest first: for what an
 * arena cannot free itself, such as a mapped file. */
void arena_on_destroy(Arena *a, void (*undo)(void *), void *what);

/* Bytes handed out so far. */
size_t arena_bytes(const Arena *a);

/* Memory that a short input could ask for again and again, such as folded
 * constants, is bounded by what was really read: false if `bytes` more of it
 * would come to over 256 MiB plus four times what arena_note_read was told. */
bool arena_afford(Arena *a, size_t bytes);

/* Notes a file that was mapped for this compilation, and its bytes. */
void arena_note_read(Arena *a, const char *path, size_t bytes);

/* The paths of all that were noted, in that order, some more than once; *n of them. */
const char *const *arena_files_read(const Arena *a, int *n);

#define arena_new(a, T)      ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_calloc((a), (size_t)(n), sizeof(T)))

/* malloc and realloc that end the program instead of returning NULL. */
void *xmalloc(size_t size);
void *xrealloc(void *p, size_t size);

#endif
