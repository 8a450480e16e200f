/*
 * tessera compile: a model as a package for a device, and what stands before it on the
 * way there.
 *
 *     tessera compile unet.onnx -o unet.ttb                          the package
 *     tessera compile unet.onnx -o unet.o                            an object and unet.h
 *     tessera compile unet.onnx --emit=program                       text, to standard output
 *     tessera compile unet.onnx --emit=plan,program,package -o unet.ttb
 *                                            unet.plan, unet.program and unet.ttb
 *     tessera compile unet.onnx --emit=metal -o DIR                  a project for TT-Metal
 *     tessera compile unet.onnx --emit=ttcnn -o unet.py              and unet.safetensors
 *
 * One kind goes to the file that -o names, several beside it, each with its own suffix.
 * All of them are written, or none.
 */
#include <string.h>
#include <unistd.h>

#include "backend/program_text.h"
#include "frontend/cmd_cache.h"
#include "frontend/cmd_metal.h"
#include "frontend/cmd_ttnn.h"
#include "ir/file.h"

typedef enum Stage { STAGE_GRAPH, STAGE_PLAN, STAGE_PROGRAM, STAGE_PACKAGE } Stage;

/* In the order in which they are written: those that are more than a file are last. */
typedef enum Emit {
	EMIT_PACKAGE, EMIT_OBJECT, EMIT_PLAN, EMIT_PROGRAM, EMIT_IR, EMIT_METAL, EMITS
} Emit;

static const struct {
	const char *name, *suffix;
	Stage stage; /* that makes it */
} kinds[EMITS] = {
	[EMIT_PACKAGE] = { "package", ".ttb", STAGE_PACKAGE },
	[EMIT_OBJECT] = { "object", ".o", STAGE_PACKAGE },
	[EMIT_PLAN] = { "plan", ".plan", STAGE_PLAN },
	[EMIT_PROGRAM] = { "program", ".program", STAGE_PROGRAM },
	[EMIT_IR] = { "ir", ".ir", STAGE_GRAPH },
	[EMIT_METAL] = { "metal", ".metal", STAGE_PROGRAM },
};

typedef struct Wanted {
	bool kind[EMITS];
	int n;
	Stage last;
	const char *path[EMITS]; /* NULL: standard output */
	const char *header;      /* beside an object */
	MetalOptions metal;
	MetalProject project;
} Wanted;

static bool ends_in(const char *path, const char *suffix)
{
	const size_t n = strlen(path), k = strlen(suffix);
	return n > k && strcmp(path + n - k, suffix) == 0;
}

static void add_kind(Session *s, Wanted *w, const char *name)
{
	const char *names[EMITS];
	for (int i = 0; i < EMITS; i++) {
		names[i] = kinds[i].name;
		if (strcmp(name, names[i]) != 0)
			continue;
		w->n += !w->kind[i];
		w->kind[i] = true;
		w->last = kinds[i].stage > w->last ? kinds[i].stage : w->last;
		return;
	}
	if (strcmp(name, "ttcnn") == 0) {
		usage_error(s->diag, "'--emit': ttcnn is by itself: it is planned for other kernels");
		return;
	}
	usage_error(s->diag, "'--emit': no kind '%s'", name);
	usage_hint(s->diag, name, names, EMITS, "'tessera compile --help' lists them");
}

/* A,B,C; without a list, what the name of the file says. */
static void read_kinds(Session *s, Wanted *w, const char *path)
{
	const char *list = option_text(s->opt, OPT_EMIT);
	if (!list)
		list = path && ends_in(path, ".o") ? "object" : "package";
	for (size_t n; ; list += n + 1) {
		n = strcspn(list, ",");
		add_kind(s, w, arena_strndup(s->arena, list, n));
		if (!list[n])
			break;
	}
}

static void name_files(Session *s, Wanted *w, const char *path)
{
	size_t base = strlen(path);
	for (int i = 0; i < EMITS; i++)
		if (ends_in(path, kinds[i].suffix))
			base = strlen(path) - strlen(kinds[i].suffix);
	for (int i = 0; i < EMITS; i++) {
		w->path[i] = w->n == 1 ? path
			: arena_printf(s->arena, "%.*s%s", (int)base, path, kinds[i].suffix);
		if (w->kind[i] && path)
			session_keep_read(s, w->path[i], w->n == 1 && i == EMIT_PLAN);
	}
	if (w->kind[EMIT_IR] && w->n > 1)
		session_keep_read(s, arena_printf(s->arena, "%.*s.safetensors", (int)base, path),
				  false);
	const char *object = w->path[EMIT_OBJECT];
	if (w->kind[EMIT_OBJECT] && !ends_in(object, ".o"))
		usage_error(s->diag, "'-o': an object wants a name that ends in .o, not '%s'", path);
	else if (w->kind[EMIT_OBJECT])
		w->header = arena_printf(s->arena, "%.*s.h", (int)strlen(object) - 2, object);
}

static bool read_wanted(Session *s, Wanted *w)
{
	const char *path = option_text(s->opt, OPT_OUT);
	read_kinds(s, w, path);
	if (session_format(s) == FORMATS || s->diag->errors)
		return false;
	if (w->last == STAGE_GRAPH && option_given(s->opt, OPT_FORMAT))
		usage_error(s->diag, "'--format' wants a plan, and '--emit=ir' is before it");
	else if (!path && option_given(s->opt, OPT_FORMAT))
		usage_error(s->diag, "'--format' wants -o FILE: standard output is for the summary");
	else if (!path && w->kind[EMIT_METAL])
		usage_error(s->diag, "'--emit=metal' wants -o DIR");
	else if (!path && w->last == STAGE_PACKAGE)
		usage_error(s->diag, "'compile' wants -o FILE");
	else if (!path && w->n > 1)
		usage_error(s->diag, "'--emit': several kinds want -o FILE");
	else if (path)
		name_files(s, w, path);
	if (!session_mesh(s, w->kind[EMIT_METAL], &w->metal))
		return false;
	return !s->diag->errors;
}

static bool write_text(Session *s, const Compiled *c, Emit kind, const char *path)
{
	OutFile out = { .f = stdout };
	if (path && !out_open(&out, s->arena, s->diag, path))
		return false;
	if (kind == EMIT_PLAN)
		fputs(report_plan_file(&c->planned), out.f);
	else
		program_print(c->program, out.f);
	if (path && !out_commit(&out, s->diag))
		return false;
	session_wrote(s, path);
	return true;
}

static bool write_object(Session *s, const Graph *g, const Compiled *c, const Wanted *w)
{
	const Bytes package = c->emission.package;
	const Bytes header = emit_object_header(s->arena, package, g->name);
	return session_write_bytes(s, w->header, header)
		&& session_write_bytes(s, w->path[EMIT_OBJECT],
				       emit_object(s->arena, package, g->name));
}

static bool write_kind(Session *s, Graph *g, const Compiled *c, const Wanted *w, Emit kind)
{
	switch (kind) {
	case EMIT_PACKAGE: return session_write_bytes(s, w->path[kind], c->emission.package);
	case EMIT_OBJECT: return write_object(s, g, c, w);
	case EMIT_IR: return session_write_graph(s, g, w->path[kind]);
	case EMIT_METAL: return session_write_metal(s, &w->project, w->path[kind]);
	case EMIT_PLAN: case EMIT_PROGRAM: return write_text(s, c, kind, w->path[kind]);
	case EMITS: break;
	}
	return false;
}

static bool write_all(Session *s, Graph *g, const Compiled *c, const Wanted *w)
{
	int i = 0;
	while (i < EMITS && (!w->kind[i] || write_kind(s, g, c, w, (Emit)i)))
		i++;
	if (i == EMITS)
		return true;
	session_take_back(s);
	return false;
}

/* What is asked for, from the graph that was read. */
static enum ExitCode make(Session *s, Graph *g, Wanted *w, Compiled *c)
{
	if (!session_passes(s, g))
		return EXIT_MODEL;
	enum ExitCode code = w->last > STAGE_GRAPH ? session_accurate(s, g, c) : EXIT_OK;
	if (code == EXIT_OK && w->last == STAGE_PLAN)
		code = session_plan(s, g, c);
	else if (code == EXIT_OK && w->last == STAGE_PROGRAM)
		code = session_lower(s, g, c);
	else if (code == EXIT_OK && w->last == STAGE_PACKAGE)
		code = session_emit(s, g, c);
	if (code == EXIT_OK && w->kind[EMIT_METAL])
		code = session_metal(s, g, c, &w->metal, &w->project);
	session_progress(s, NULL);
	if (code != EXIT_OK)
		return code;
	if (!write_all(s, g, c, w))
		return EXIT_MODEL;
	if (w->last > STAGE_GRAPH)
		session_summary(s, &c->planned, option_given(s->opt, OPT_FORMAT));
	return EXIT_OK;
}

enum ExitCode cmd_compile(Session *s)
{
	Wanted w = { .n = 0 };
	const char *kind = option_text(s->opt, OPT_EMIT);
	if (kind && strcmp(kind, "ttcnn") == 0)
		return session_emit_ttcnn(s);
	if (!read_wanted(s, &w) || !session_accuracy_asked(s) || !session_cache_asked(s))
		return EXIT_USAGE;
	Graph *g = session_read(s);
	if (!g)
		return EXIT_MODEL;
	Cache cache;
	enum ExitCode code = session_cache_begin(s, &cache, g);
	if (code != EXIT_OK || session_cache_use(s, &cache, &code))
		return code;
	Compiled c = { 0 };
	code = make(s, g, &w, &c);
	if (code == EXIT_OK)
		session_cache_keep(s, &cache, &c.planned);
	else
		session_cache_drop(s, &cache);
	return code;
}
