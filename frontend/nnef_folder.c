#include "frontend/nnef_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/file.h"

static bool is_folder(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* True for what a written model is made of: graph.nnef and .dat files. */
static bool is_ours(const char *name)
{
	size_t n = strlen(name);
	return strcmp(name, "graph.nnef") == 0 || (n > 4 && strcmp(name + n - 4, ".dat") == 0);
}

/* Removes a written model. Anything else in the folder stays, and then so do
 * the folders above it. */
static void remove_model(Arena *a, const char *path)
{
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir));) {
		const char *inside = path_join(a, path, arena_strdup(a, e->d_name));
		if (path_is_dots(e->d_name))
			continue;
		if (is_folder(inside))
			remove_model(a, inside);
		else if (is_ours(e->d_name))
			unlink(inside);
	}
	closedir(dir);
	rmdir(path);
}

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	bool empty = true;
	if (!dir)
		return false;
	for (struct dirent *e; (e = readdir(dir));)
		empty = empty && path_is_dots(e->d_name);
	closedir(dir);
	return empty;
}

static bool has_mark(Arena *a, const char *path)
{
	char line[sizeof NNEF_MARK] = "";
	FILE *f = fopen(path_join(a, path, "graph.nnef"), "rb");
	if (!f)
		return false;
	size_t n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	return n == sizeof line - 1 && strcmp(line, NNEF_MARK) == 0;
}

/* "dir" for "dir/": what is made beside it must not land inside. */
static const char *trimmed(Arena *a, const char *dir)
{
	size_t n = strlen(dir);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	return arena_strndup(a, dir, n);
}

bool folder_begin(Arena *a, Diag *d, const char *dir, const char **temporary)
{
	struct stat st;
	dir = trimmed(a, dir);
	if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode)) {
		diag_error(d, (Loc){ .file = dir }, "cannot write: it is a file, not a folder");
		return false;
	}
	if (stat(dir, &st) == 0 && !is_empty(dir) && !has_mark(a, dir)) {
		diag_error(d, (Loc){ .file = dir },
			   "cannot write: the folder is not empty and holds no model converted before");
		return false;
	}
	*temporary = arena_printf(a, "%s.tmp%ld", dir, (long)getpid());
	return make_folder(d, *temporary);
}

bool folder_end(Arena *a, Diag *d, const char *dir, const char *temporary, bool keep)
{
	const char *old = NULL;
	dir = trimmed(a, dir);
	if (keep && is_folder(dir) && !is_empty(dir)) {
		old = arena_printf(a, "%s.old%ld", dir, (long)getpid());
		keep = rename(dir, old) == 0;
	}
	if (keep && rename(temporary, dir) == 0) {
		if (old)
			remove_model(a, old);
		if (old && is_folder(old))
			diag_warning(d, (Loc){ .file = old }, "what convert did not write was kept here");
		return true;
	}
	if (keep || old)
		diag_error(d, (Loc){ .file = dir }, "cannot write: %s", strerror(errno));
	if (old)
		rename(old, dir);
	remove_model(a, temporary);
	return false;
}
