/*
 * tessera plan: the plan as a file, to look at, to edit and to hand back with --plan.
 *
 * The file goes to standard output, or to that of -o; then the summary does.
 */
#include "frontend/cmd_device.h"
#include "frontend/cmd_ttnn.h"
#include "ir/file.h"

static bool write_plan(Session *s, const Planned *p, const char *path)
{
	OutFile out = { .f = stdout };
	if (path && !out_open(&out, s->arena, s->diag, path))
		return false;
	fputs(report_plan_file(p), out.f);
	if (path && !out_commit(&out, s->diag))
		return false;
	session_wrote(s, path);
	return true;
}

enum ExitCode cmd_plan(Session *s)
{
	const char *path = option_text(s->opt, OPT_OUT);
	const Kernels kernels = session_kernels(s);
	if (kernels == KERNELS_UNKNOWN)
		return EXIT_USAGE;
	if (kernels == KERNELS_TTNN)
		return session_plan_ttnn(s);
	if (session_format(s) == FORMATS || !session_accuracy_asked(s))
		return EXIT_USAGE;
	if (!path && option_given(s->opt, OPT_FORMAT)) {
		usage_error(s->diag, "'--format' wants -o FILE: standard output is for the summary");
		return EXIT_USAGE;
	}
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	Compiled c = { 0 };
	enum ExitCode code = session_accurate(s, g, &c);
	if (code == EXIT_OK)
		code = session_plan(s, g, &c);
	if (code != EXIT_OK)
		return code;
	if (!write_plan(s, &c.planned, path))
		return EXIT_MODEL;
	session_summary(s, &c.planned, path != NULL);
	return EXIT_OK;
}
