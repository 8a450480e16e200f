/* What the tests of weight files share: an arena, a folder that is removed
 * afterwards, and diagnostics kept as text. */
#ifndef TESTS_WEIGHTS_FIXTURE_H
#define TESTS_WEIGHTS_FIXTURE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/weight_formats.h"
#include "ir/file.h"
#include "tests/check.h"
#include "tests/folder.h"

typedef struct Fixture {
	Arena *arena;
	Diag diag;
	char *said;
	size_t nsaid;
	char dir[FOLDER_ROOM];
} Fixture;

static inline int setup(void **state)
{
	Fixture *t = calloc(1, sizeof *t);
	t->arena = arena_create();
	t->diag.to = open_memstream(&t->said, &t->nsaid);
	folder_make(t->dir);
	*state = t;
	return 0;
}

static inline void remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	for (struct dirent *e; (e = readdir(dir));) {
		char file[600];
		snprintf(file, sizeof file, "%.300s/%.255s", path, e->d_name);
		if (e->d_name[0] != '.' && unlink(file) != 0)
			remove_folder(file);
	}
	closedir(dir);
	rmdir(path);
}

static inline int teardown(void **state)
{
	Fixture *t = *state;
	remove_folder(t->dir);
	diag_finish(&t->diag);
	fclose(t->diag.to);
	free(t->said);
	arena_destroy(t->arena);
	free(t);
	return 0;
}

/* What was said since the last call. */
static inline const char *said(Fixture *t)
{
	fflush(t->diag.to);
	char *copy = arena_strndup(t->arena, t->said, t->nsaid);
	rewind(t->diag.to);
	t->diag.errors = 0;
	return copy;
}

static inline const char *path_of(Fixture *t, const char *name)
{
	return path_join(t->arena, t->dir, name);
}

static inline void write_file(Fixture *t, const char *name, const char *data, size_t size)
{
	FILE *f = fopen(path_of(t, name), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

/* 0, 1, 2, ... in every type; true and false in turn for bool. */
static inline Tensor *counting(Arena *a, DType type, Shape shape)
{
	Tensor *x = tensor_create(a, type, shape);
	for (int64_t i = 0; i < tensor_count(x); i++)
		tensor_set_i64(x, i, type == TYPE_BOOL ? i % 3 == 0 : i);
	return x;
}

#endif
