#include "frontend/depfile.h"

#include <string.h>
#include <sys/stat.h>

#include "ir/file.h"
#include "ir/strmap.h"

/* Backslashes count only before a space or a #, where each is doubled. */
static void print_path(FILE *f, const char *path)
{
	size_t backslashes = 0;
	for (const char *p = path; *p; p++) {
		if (*p == ' ' || *p == '\t' || *p == '#')
			for (size_t i = 0; i <= backslashes; i++)
				fputc('\\', f);
		else if (*p == '$')
			fputc('$', f);
		backslashes = *p == '\\' ? backslashes + 1 : 0;
		fputc(*p, f);
	}
}

static bool can_be_said(Diag *d, const char *path)
{
	if (!strchr(path, '\n'))
		return true;
	diag_error(d, (Loc){ .file = path },
		   "a depfile cannot name a file with a line break; rename it");
	return false;
}

/* True if both are there and the same. */
static bool same_file(const char *a, const char *b)
{
	struct stat one, other;
	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev
		&& one.st_ino == other.st_ino;
}

bool depfile_write(Arena *a, Diag *d, const char *path, int ntargets,
		   const char *const targets[])
{
	const int errors = d->errors;
	int n, count = 0;
	const char *const *files = arena_files_read(a, &n);
	const char **once = arena_array(a, const char *, n);
	StrMap seen;
	strmap_init(&seen, a);
	for (int i = 0; i < n; i++) {
		if (strmap_get(&seen, files[i]) || !can_be_said(d, files[i]))
			continue;
		strmap_put(&seen, files[i], a);
		once[count++] = files[i];
		if (same_file(path, files[i]))
			diag_error(d, (Loc){ .file = path },
				   "the depfile would overwrite this file, which is read");
	}
	for (int i = 0; i < ntargets; i++)
		can_be_said(d, targets[i]);
	OutFile out;
	if (d->errors > errors || !out_open(&out, a, d, path))
		return false;
	for (int i = 0; i < ntargets; i++) {
		fputs(i ? " " : "", out.f);
		print_path(out.f, targets[i]);
	}
	fputc(':', out.f);
	for (int i = 0; i < count; i++) {
		fputs(" \\\n  ", out.f);
		print_path(out.f, once[i]);
	}
	fputc('\n', out.f);
	for (int i = 0; i < count; i++) {
		fputc('\n', out.f);
		print_path(out.f, once[i]);
		fputs(":\n", out.f);
	}
	return out_commit(&out, d);
}
