/*
 * tessera report: a plan as a page to look at.
 */
#include "frontend/cmd_device.h"
#include "frontend/cmd_page.h"
#include "ir/clock.h"
#include "ir/file.h"

static bool write_page(Session *s, const Planned *p)
{
	const char *given = option_text(s->opt, OPT_OUT);
	const char *path = given ? given : "report.html";
	const double from = clock_now();
	OutFile out;
	if (!out_open(&out, s->arena, s->diag, path))
		return false;
	page_write(out.f, p);
	session_timing(s, "page", from);
	if (!out_commit(&out, s->diag))
		return false;
	session_wrote(s, path);
	return true;
}

enum ExitCode cmd_report(Session *s)
{
	Compiled c = { 0 };
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	const enum ExitCode code = session_plan(s, g, &c);
	if (code != EXIT_OK)
		return code;
	return write_page(s, &c.planned) ? EXIT_OK : EXIT_MODEL;
}
