#include "ir/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Mapping {
	void *at;
	size_t size;
} Mapping;

static void unmap(void *what)
{
	Mapping *m = what;
	munmap(m->at, m->size);
}

static Bytes report(Diag *d, Loc at, const char *path, const char *why)
{
	if (at.file)
		diag_error(d, at, "cannot read '%s': %s", path, why);
	else
		diag_error(d, (Loc){ .file = path }, "cannot read: %s", why);
	return (Bytes){ 0 };
}

Bytes file_map(Arena *a, Diag *d, Loc at, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return report(d, at, path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return report(d, at, path, "not a regular file");
	}
	if (st.st_size == 0) {
		close(fd);
		arena_note_read(a, path, 0);
		return (Bytes){ "", 0 };
	}
	/* One byte more than the file, so that text readers find a NUL: the
	 * rest of the last page is zero, and a file that ends on a page
	 * boundary gets an anonymous page behind it. */
	Mapping *m = arena_new(a, Mapping);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)st.st_size;
	m->size = (size / page + 1) * page;
	m->at = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *file = m->at == MAP_FAILED ? MAP_FAILED
		: mmap(m->at, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return report(d, at, path, strerror(errno));
	arena_on_destroy(a, unmap, m);
	arena_note_read(a, path, size);
	return (Bytes){ file, size };
}

bool out_open(OutFile *out, Arena *a, Diag *d, const char *path)
{
	*out = (OutFile){ .path = arena_strdup(a, path) };
	out->temporary = arena_printf(a, "%s.tmp%ld", path, (long)getpid());
	out->f = fopen(out->temporary, "wb");
	if (!out->f)
		diag_error(d, (Loc){ .file = path }, "cannot write: %s", strerror(errno));
	return out->f != NULL;
}

bool out_commit(OutFile *out, Diag *d)
{
	bool ok = !ferror(out->f);
	ok = fclose(out->f) == 0 && ok;
	ok = ok && rename(out->temporary, out->path) == 0;
	if (!ok) {
		diag_error(d, (Loc){ .file = out->path }, "cannot write: %s", strerror(errno));
		unlink(out->temporary);
	}
	out->f = NULL;
	return ok;
}

void out_discard(OutFile *out)
{
	fclose(out->f);
	unlink(out->temporary);
	out->f = NULL;
}

void text_open(TextFile *t)
{
	*t = (TextFile){ 0 };
	t->f = open_memstream(&t->text, &t->size);
	if (!t->f)
		die_out_of_memory(0);
}

char *text_take(TextFile *t, Arena *a)
{
	if (fclose(t->f) != 0)
		die_out_of_memory(t->size);
	char *kept = arena_strndup(a, t->text, t->size);
	free(t->text);
	return kept;
}

void text_quote(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		const unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "\\%03o", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

bool make_folder(Diag *d, const char *path)
{
	char *copy = strdup(path);
	if (!copy)
		die_out_of_memory(strlen(path));
	bool ok = true;
	for (char *p = copy + 1; ok && *copy; p++) {
		char c = *p;
		if (c != '/' && c)
			continue;
		*p = '\0';
		ok = mkdir(copy, 0777) == 0 || errno == EEXIST;
		*p = c;
		if (!c)
			break;
	}
	struct stat st;
	ok = ok && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (!ok)
		diag_error(d, (Loc){ .file = path }, "cannot make the folder: %s",
			   errno == EEXIST ? strerror(ENOTDIR) : strerror(errno));
	free(copy);
	return ok;
}

const char *path_join(Arena *a, const char *dir, const char *name)
{
	if (name[0] == '/' || !dir[0])
		return name;
	return arena_printf(a, "%s/%s", dir, name);
}

const char *path_dir(Arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return ".";
	return slash == path ? "/" : arena_strndup(a, path, (size_t)(slash - path));
}

bool path_is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool path_stays_inside(const char *path)
{
	int depth = 0;
	if (path[0] == '/' || !path[0])
		return false;
	while (*path) {
		size_t n = strcspn(path, "/");
		if (n == 2 && path[0] == '.' && path[1] == '.')
			depth--;
		else if (n && !(n == 1 && path[0] == '.'))
			depth++;
		if (depth < 0)
			return false;
		path += n + (path[n] == '/');
	}
	return true;
}
