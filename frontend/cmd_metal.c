/*
 * A project is written beside its folder under a temporary name and renamed when it is
 * complete. A list of its files with their hashes, MANIFEST, goes with it: by that a
 * project of ours is known again, and whether somebody has worked in it.
 */
#include "frontend/cmd_metal.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/clock.h"

#define MANIFEST      ".tessera-project"
#define MANIFEST_HEAD "tessera project for TT-Metal, 1\n"

enum { MOST_DEVICES = 64 }; /* each way */

bool session_mesh(Session *s, bool wanted, MetalOptions *o)
{
	const char *text = option_text(s->opt, OPT_MESH);
	char *end = NULL;
	*o = (MetalOptions){ 1, 1, "tessera " TESSERA_VERSION };
	if (wanted && option_given(s->opt, OPT_CACHE_DIR)) {
		usage_error(
			s->diag,
			"'--cache-dir' keeps files, and '--emit=metal' makes a folder; leave one "
			"of them out");
		return false;
	}
	if (!text)
		return true;
	if (!wanted) {
		usage_error(s->diag, "'--mesh' is for --emit=metal");
		return false;
	}
	const bool digits = *text >= '1' && *text <= '9';
	const long rows = strtol(text, &end, 10);
	const bool both = digits && *end == 'x' && end[1] >= '1' && end[1] <= '9';
	const long cols = both ? strtol(end + 1, &end, 10) : 0;
	if (!both || *end || rows > MOST_DEVICES || cols > MOST_DEVICES) {
		usage_error(s->diag,
			    "'--mesh' wants rows and columns of devices as 1x2, each up to %d, not "
			    "'%s'",
			    MOST_DEVICES, text);
		return false;
	}
	o->rows = (int)rows;
	o->cols = (int)cols;
	return true;
}

/* Other targets have other grids: what their plans say of cores is not meant for this one. */
static bool is_planned_for(Session *s, const Compiled *c)
{
	const char *made_for = c->planned.file ? c->planned.file->target : NULL;
	if (!made_for || strcmp(made_for, c->asked.target->name) == 0)
		return true;
	diag_error(s->diag, (Loc){ .file = option_text(s->opt, OPT_PLAN) },
		   "a plan for target %s, and kernels are for %s; --target=%s makes them for that",
		   made_for, c->asked.target->name, made_for);
	return false;
}

enum ExitCode session_metal(Session *s, const Graph *g, Compiled *c, const MetalOptions *o,
			    MetalProject *m)
{
	const enum ExitCode code = session_lower(s, g, c);
	if (code != EXIT_OK)
		return code;
	if (!is_planned_for(s, c))
		return EXIT_MODEL;
	const double from = clock_now();
	session_progress(s, "printing kernels");
	const bool ok =
		emit_metal(m, s->arena, s->diag, c->program, c->planned.plan, c->asked.target, o);
	session_timing(s, "metal", from);
	return ok ? EXIT_OK : EXIT_INFEASIBLE;
}

/* ---- what is there already ---- */

/* Removes a folder and all in it. False if something stays. */
static bool remove_tree(Arena *a, const char *path)
{
	DIR *dir = opendir(path);
	bool ok = true;
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct stat st;
		const char *at = path_join(a, path, e->d_name);
		if (path_is_dots(e->d_name))
			continue;
		if (lstat(at, &st) == 0 && S_ISDIR(st.st_mode))
			ok &= remove_tree(a, at);
		else
			ok &= unlink(at) == 0;
	}
	if (dir)
		closedir(dir);
	return rmdir(path) == 0 && ok;
}

static const char *entry(Arena *a, const char *path, Bytes bytes)
{
	return arena_printf(a, "%016" PRIx64 " %s\n", program_hash(bytes.data, bytes.size), path);
}

/* The first file below `path` that is not in the list as it is; NULL if there is none. */
static const char *foreign(Session *s, const char *top, const char *within, const char *list)
{
	const char *folder = *within ? path_join(s->arena, top, within) : top, *found = NULL;
	DIR *dir = opendir(folder);
	for (struct dirent *e; dir && !found && (e = readdir(dir));) {
		struct stat st;
		const char *at = *within ? path_join(s->arena, within, e->d_name)
					 : arena_strdup(s->arena, e->d_name);
		const char *path = path_join(s->arena, top, at);
		if (path_is_dots(e->d_name) || strcmp(at, MANIFEST) == 0)
			continue;
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
			found = foreign(s, top, at, list);
			continue;
		}
		const Bytes b = S_ISREG(st.st_mode) ? file_map(s->arena, s->diag, (Loc){ 0 }, path)
						    : (Bytes){ 0 };
		if (!b.data || !strstr(list, entry(s->arena, at, b)))
			found = at;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* True if there is nothing, or nothing that is not ours. */
static bool may_replace(Session *s, const char *path)
{
	struct stat st;
	const char *list = "";
	if (lstat(path, &st) < 0 && errno == ENOENT)
		return true;
	if (!S_ISDIR(st.st_mode)) {
		diag_error(s->diag, (Loc){ .file = path },
			   "cannot write: it is there and no folder");
		return false;
	}
	const char *manifest = path_join(s->arena, path, MANIFEST);
	if (access(manifest, F_OK) == 0) {
		const Bytes b = file_map(s->arena, s->diag, (Loc){ 0 }, manifest);
		if (b.data && strncmp(b.data, MANIFEST_HEAD, strlen(MANIFEST_HEAD)) == 0)
			list = b.data;
	}
	const char *other = foreign(s, path, "", list);
	if (other)
		diag_error(s->diag, (Loc){ .file = path },
			   "cannot write: there is '%s', which no tessera "
			   "wrote like that; take it away, or choose another folder",
			   other);
	return !other;
}

/* ---- writing ---- */

static bool write_file(Session *s, const char *folder, const char *path, Bytes bytes)
{
	OutFile out;
	const char *to = path_join(s->arena, folder, path);
	if (!make_folder(s->diag, path_dir(s->arena, to)) || !out_open(&out, s->arena, s->diag, to))
		return false;
	fwrite(bytes.data, 1, bytes.size, out.f);
	return out_commit(&out, s->diag);
}

static bool write_files(Session *s, const MetalProject *m, const char *folder)
{
	TextFile list;
	text_open(&list);
	fputs(MANIFEST_HEAD, list.f);
	for (int i = 0; i < m->nfiles; i++)
		fputs(entry(s->arena, m->file[i].path, m->file[i].bytes), list.f);
	const char *text = text_take(&list, s->arena);
	for (int i = 0; i < m->nfiles; i++)
		if (!write_file(s, folder, m->file[i].path, m->file[i].bytes))
			return false;
	return write_file(s, folder, MANIFEST, (Bytes){ text, strlen(text) });
}

/* The old folder goes away only when the new one stands in its place. */
static bool put_in_place(Session *s, const char *made, const char *path)
{
	const char *old = arena_printf(s->arena, "%s.old%ld", path, (long)getpid());
	const bool was = rename(path, old) == 0;
	if ((was || errno == ENOENT) && rename(made, path) == 0) {
		if (was && !remove_tree(s->arena, old))
			diag_warning(s->diag, (Loc){ .file = old }, "cannot take away: %s",
				     strerror(errno));
		return true;
	}
	diag_error(s->diag, (Loc){ .file = path }, "cannot write: %s", strerror(errno));
	if (was && rename(old, path) < 0)
		diag_error(s->diag, (Loc){ .file = old }, "cannot put it back: %s",
			   strerror(errno));
	return false;
}

static const char *without_slashes(Arena *a, const char *path)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	return arena_strndup(a, path, n);
}

bool session_write_metal(Session *s, const MetalProject *m, const char *path)
{
	const char *to = without_slashes(s->arena, path);
	const char *made = arena_printf(s->arena, "%s.tmp%ld", to, (long)getpid());
	if (!may_replace(s, to))
		return false;
	if (mkdir(made, 0777) < 0) {
		diag_error(s->diag, (Loc){ .file = to }, "cannot write: %s", strerror(errno));
		return false;
	}
	if (write_files(s, m, made) && put_in_place(s, made, to)) {
		session_wrote(s,
			      path_join(s->arena, to, arena_printf(s->arena, "%s.cpp", m->name)));
		return true;
	}
	remove_tree(s->arena, made);
	return false;
}
