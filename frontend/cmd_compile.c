/*
 * tessera compile: a model as a package for a device, or what stands before it
 * on the way there.
 */
#include <string.h>
#include <unistd.h>

#include "backend/program_text.h"
#include "frontend/cmd_device.h"
#include "ir/file.h"

typedef enum Emit { EMIT_PACKAGE, EMIT_OBJECT, EMIT_PROGRAM, EMIT_PLAN, EMITS } Emit;

static const char *const emit_names[EMITS] = { "package", "object", "program", "plan" };

static Emit wanted(Session *s)
{
	const char *text = option_text(s->opt, OPT_EMIT);
	if (!text)
		return EMIT_PACKAGE;
	for (int i = 0; i < EMITS; i++)
		if (strcmp(text, emit_names[i]) == 0)
			return (Emit)i;
	usage_error(s->diag, "'--emit': no kind '%s'", text);
	const char *near = diag_nearest(text, emit_names, EMITS);
	if (near)
		diag_note(s->diag, (Loc){ .file = "tessera" }, "did you mean '%s'?", near);
	return EMITS;
}

/* Text goes to the file, or to standard output if there is none. */
static bool write_text(Session *s, const Compiled *c, Emit kind, const char *path)
{
	OutFile out = { .f = stdout };
	if (path && !out_open(&out, s->arena, s->diag, path))
		return false;
	if (kind == EMIT_PLAN)
		fputs(report_plan_file(&c->planned), out.f);
	else
		program_print(c->program, out.f);
	return !path || out_commit(&out, s->diag);
}

static bool write_bytes(Session *s, const char *path, Bytes b)
{
	OutFile out;
	if (!out_open(&out, s->arena, s->diag, path))
		return false;
	fwrite(b.data, 1, b.size, out.f);
	return out_commit(&out, s->diag);
}

/* model.o gets model.h beside it. */
static const char *header_path(Session *s, const char *path)
{
	const size_t n = strlen(path);
	if (n < 3 || strcmp(path + n - 2, ".o") != 0) {
		usage_error(s->diag, "'-o': an object wants a name that ends in .o, not '%s'", path);
		return NULL;
	}
	return arena_printf(s->arena, "%.*s.h", (int)(n - 2), path);
}

/* Both or none. */
static bool write_object(Session *s, const Graph *g, const Compiled *c, const char *path,
			 const char *header)
{
	const Bytes package = c->emission.package;
	if (!write_bytes(s, header, emit_object_header(s->arena, package, g->name)))
		return false;
	if (write_bytes(s, path, emit_object(s->arena, package, g->name)))
		return true;
	unlink(header);
	return false;
}

enum ExitCode cmd_compile(Session *s)
{
	const Emit kind = wanted(s);
	const char *path = option_text(s->opt, OPT_OUT);
	const bool text = kind == EMIT_PROGRAM || kind == EMIT_PLAN;
	if (kind == EMITS || session_format(s) == FORMATS)
		return EXIT_USAGE;
	if (!path && option_given(s->opt, OPT_FORMAT)) {
		usage_error(s->diag, "'--format' wants -o FILE: standard output is for the summary");
		return EXIT_USAGE;
	}
	if (!path && !text) {
		usage_error(s->diag, "'compile' wants -o FILE");
		return EXIT_USAGE;
	}
	const char *header = kind == EMIT_OBJECT ? header_path(s, path) : NULL;
	if (kind == EMIT_OBJECT && !header)
		return EXIT_USAGE;
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	Compiled c = { 0 };
	const enum ExitCode code = kind == EMIT_PLAN ? session_plan(s, g, &c)
		: text ? session_lower(s, g, &c) : session_emit(s, g, &c);
	if (code != EXIT_OK)
		return code;
	bool ok;
	if (text)
		ok = write_text(s, &c, kind, path);
	else if (kind == EMIT_OBJECT)
		ok = write_object(s, g, &c, path, header);
	else
		ok = write_bytes(s, path, c.emission.package);
	if (ok)
		session_summary(s, &c.planned, option_given(s->opt, OPT_FORMAT));
	return ok ? EXIT_OK : EXIT_MODEL;
}
