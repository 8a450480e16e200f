/*
 * Files in and out.
 *
 * Inputs are mapped, not read: a weight costs memory only when touched.
 * Outputs appear whole or not at all: they are written under a temporary
 * name in the same folder and renamed when complete.
 */
#ifndef IR_FILE_H
#define IR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ir/arena.h"
#include "ir/diag.h"

typedef struct Bytes {
	const char *data; /* NULL: could not be read, which was reported */
	size_t size;
} Bytes;

/* Maps a regular file until the arena is destroyed. An empty file gives a
 * valid pointer and size 0. What fails is reported at `at`, or, if that has
 * no file, at the path itself. */
Bytes file_map(Arena *a, Diag *d, Loc at, const char *path);

typedef struct OutFile {
	FILE *f;
	char *path, *temporary;
} OutFile;

/* Opens a file to be written whole; false if that fails, which is reported. */
bool out_open(OutFile *out, Arena *a, Diag *d, const char *path);

/* Closes and renames it into place; false if any write failed, which is
 * reported, and then nothing is left behind. */
bool out_commit(OutFile *out, Diag *d);

/* Closes and removes it. */
void out_discard(OutFile *out);

/* A stream into memory. */
typedef struct TextFile {
	FILE *f;
	char *text;
	size_t size;
} TextFile;

void text_open(TextFile *t);

/* Closes it; what was printed, in the arena. */
char *text_take(TextFile *t, Arena *a);

/* As a string of C, C++ or Python, which all have octal escapes. */
void text_quote(FILE *f, const char *s);

/* Makes the folder and its parents. */
bool make_folder(Diag *d, const char *path);

/* "dir/name"; `name` itself if it is absolute or `dir` is empty. */
const char *path_join(Arena *a, const char *dir, const char *name);

/* All before the last '/', or "." */
const char *path_dir(Arena *a, const char *path);

/* What every folder has: "." and "..". */
bool path_is_dots(const char *name);

/* True if `path` names nothing outside the folder it is relative to: not
 * absolute, no ".." that climbs out. */
bool path_stays_inside(const char *path);

#endif
