#include "frontend/cmd_ttnn.h"

#include <string.h>
#include <unistd.h>

#include "backend/ttcnn.h"
#include "frontend/weights.h"
#include "ir/clock.h"
#include "ir/file.h"
#include "passes/ttnn_plan.h"

Kernels session_kernels(Session *s)
{
	static const char *const names[KERNELS_UNKNOWN] = { "own", "ttnn" };
	const char *text = option_text(s->opt, OPT_KERNELS);
	for (int i = 0; text && i < KERNELS_UNKNOWN; i++)
		if (strcmp(text, names[i]) == 0)
			return (Kernels)i;
	if (!text)
		return KERNELS_OWN;
	usage_error(s->diag, "'--kernels': own or ttnn, not '%s'", text);
	return KERNELS_UNKNOWN;
}

/* What the search for our own kernels knows and this one does not. */
static bool options_fit(Session *s)
{
	static const OptionId ids[] = { OPT_CORES, OPT_OBJECTIVE, OPT_MIN_PCC, OPT_MAX_ERR,
				       OPT_CALIBRATE };
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (option_given(s->opt, ids[i]))
			usage_error(s->diag, "'%s' is not for kernels of ttnn", option_spelling(ids[i]));
	return s->diag->errors == 0;
}

enum ExitCode session_ttnn(Session *s, const Graph *g, bool whole, TtnnPlan *p)
{
	if (!options_fit(s))
		return EXIT_USAGE;
	Asked a;
	/* Target, L1, effort and plan file are asked for in the same words. */
	const enum ExitCode code = session_asked(s, &a);
	if (code != EXIT_OK)
		return code;
	const Target *t = session_target(s);
	TtnnRequest r = { .whole = whole, .effort = a.request.effort };
	if (a.request.file) {
		r.file = a.request.file->name;
		r.text = a.request.file->text;
		r.size = a.request.file->size;
	}
	r.pins = a.request.line ? a.request.line->text : NULL;
	r.l1 = a.target->l1_end - a.target->l1_first;
	const double from = clock_now();
	session_progress(s, "planning for ttnn");
	const enum ExitCode planned = ttnn_plan(g, t, &r, p);
	session_timing(s, "plan", from);
	session_progress(s, NULL);
	return planned;
}

/* The plan of a command, and the form it is to be shown in. */
static enum ExitCode plan_asked(Session *s, bool whole, TtnnPlan *p, Format *format)
{
	*format = session_format(s);
	if (*format == FORMATS || !options_fit(s))
		return EXIT_USAGE;
	Graph *g = session_compile(s);
	return g ? session_ttnn(s, g, whole, p) : EXIT_MODEL;
}

enum ExitCode session_plan_ttnn(Session *s)
{
	const char *path = option_text(s->opt, OPT_OUT);
	Format format;
	TtnnPlan p;
	const enum ExitCode code = plan_asked(s, option_given(s->opt, OPT_WHOLE_PLAN), &p, &format);
	OutFile out;
	if (code != EXIT_OK)
		return code;
	if (path) {
		if (!out_open(&out, s->arena, s->diag, path))
			return EXIT_MODEL;
		ttnn_print(&p, out.f);
		if (!out_commit(&out, s->diag))
			return EXIT_MODEL;
		session_wrote(s, path);
	}
	report_ttnn(stdout, &p, format);
	return EXIT_OK;
}

enum ExitCode session_score_ttnn(Session *s)
{
	Format format;
	TtnnPlan p;
	const enum ExitCode code = plan_asked(s, true, &p, &format);
	if (code != EXIT_OK)
		return code;
	if (p.open)
		diag_note(s->diag, (Loc){ .file = option_text(s->opt, OPT_PLAN) },
			  "%d field%s not given: chosen best", p.open, p.open > 1 ? "s are" : " is");
	report_ttnn(stdout, &p, format);
	return EXIT_OK;
}

/* "unet.safetensors" beside "unet.py"; NULL, reported, if it is called otherwise. */
static const char *weights_path(Session *s, const char *path)
{
	const size_t n = path ? strlen(path) : 0;
	if (!path)
		usage_error(s->diag, "'--emit=ttcnn' wants -o FILE.py");
	else if (n < 4 || strcmp(path + n - 3, ".py") != 0)
		usage_error(s->diag, "'-o': a module wants a name that ends in .py, not '%s'", path);
	if (s->diag->errors)
		return NULL;
	const char *weights = arena_printf(s->arena, "%.*s.safetensors", (int)n - 3, path);
	session_keep_read(s, path, false);
	session_keep_read(s, weights, false);
	return s->diag->errors ? NULL : weights;
}

/* Both or none. */
static bool write_module(Session *s, const TtnnPlan *p, const char *path, const char *weights)
{
	const char *slash = strrchr(weights, '/');
	const TtcnnModule m = ttcnn_module(p, slash ? slash + 1 : weights);
	if (!safetensors_write(s->arena, s->diag, weights, m.n, m.names, m.tensors))
		return false;
	session_wrote(s, weights);
	if (session_write_bytes(s, path, (Bytes){ m.text, strlen(m.text) }))
		return true;
	unlink(weights);
	return false;
}

enum ExitCode session_emit_ttcnn(Session *s)
{
	const char *path = option_text(s->opt, OPT_OUT);
	const char *weights = weights_path(s, path);
	Format format;
	TtnnPlan p;
	if (!weights)
		return EXIT_USAGE;
	const enum ExitCode code = plan_asked(s, option_given(s->opt, OPT_WHOLE_PLAN), &p, &format);
	if (code != EXIT_OK)
		return code;
	if (!write_module(s, &p, path, weights))
		return EXIT_MODEL;
	if (option_given(s->opt, OPT_FORMAT))
		report_ttnn(stdout, &p, format);
	else if (option_given(s->opt, OPT_SUMMARY) || isatty(STDERR_FILENO))
		report_ttnn(stderr, &p, format);
	return EXIT_OK;
}
