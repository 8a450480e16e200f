/*
 * The files of -o, and -MD and -MF: what they were made of.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/cmd_session.h"
#include "frontend/depfile.h"

bool session_depfile_asked(Session *s)
{
	const bool asked = option_given(s->opt, OPT_DEPFILE);
	const char *path = option_text(s->opt, OPT_DEPFILE_PATH);
	if (path && !asked)
		usage_error(s->diag, "'-MF %s' names a depfile that -MD does not ask for", path);
	if (asked && !option_given(s->opt, OPT_OUT))
		usage_error(s->diag, "'-MD' wants -o: a depfile is about a file that is written");
	return asked ? option_given(s->opt, OPT_OUT) : !path;
}

void session_wrote(Session *s, const char *path)
{
	if (!path)
		return;
	s->written = arena_grow(s->arena, s->written, s->nwritten, sizeof *s->written);
	s->written[s->nwritten++] = path;
}

void session_keep_read(const Session *s, const char *path, bool plan)
{
	const char *target = option_text(s->opt, OPT_TARGET);
	const char *read[] = { s->opt->model, option_text(s->opt, OPT_WEIGHTS),
			       plan ? NULL : option_text(s->opt, OPT_PLAN), s->opt->behind[0],
			       target && strpbrk(target, "/.") ? target : NULL,
			       option_text(s->opt, OPT_FROM_LOG) };
	struct stat a, b;
	for (size_t i = 0; i < sizeof read / sizeof *read; i++)
		if (read[i] && stat(path, &a) == 0 && stat(read[i], &b) == 0
		    && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			usage_error(s->diag, "'-o': '%s' would be overwritten, which is read", path);
}

bool session_write_bytes(Session *s, const char *path, Bytes b)
{
	OutFile out;
	if (!out_open(&out, s->arena, s->diag, path))
		return false;
	fwrite(b.data, 1, b.size, out.f);
	if (!out_commit(&out, s->diag))
		return false;
	session_wrote(s, path);
	return true;
}

void session_take_back(Session *s)
{
	while (s->nwritten)
		unlink(s->written[--s->nwritten]);
}

/* "dir/unet.d" for "dir/unet.ttb", "dir/unet" and "dir/unet/". */
static const char *beside(Arena *a, const char *path)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	path = arena_strndup(a, path, n);
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	return arena_printf(a, "%.*s.d", (int)(dot && dot > name ? dot - path : (long)n), path);
}

bool session_depfile(Session *s)
{
	const char *path = option_text(s->opt, OPT_DEPFILE_PATH);
	if (!option_given(s->opt, OPT_DEPFILE))
		return true;
	const char *out = option_text(s->opt, OPT_OUT);
	if (!path)
		path = beside(s->arena, out);
	/* ninja looks at the first target only. */
	for (int i = 0; i < s->nwritten; i++)
		if (strcmp(s->written[i], out) == 0) {
			s->written[i] = s->written[0];
			s->written[0] = out;
		}
	return depfile_write(s->arena, s->diag, path, s->nwritten, s->written);
}
