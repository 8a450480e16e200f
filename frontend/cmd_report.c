/*
 * tessera report: a plan as a page to look at, and its timeline as a trace. With a device
 * it also runs, and what was counted stands beside what was predicted.
 */
#include "frontend/cmd_counted.h"
#include "frontend/cmd_memory.h"
#include "frontend/cmd_page.h"
#include "frontend/cmd_sweep.h"
#include "frontend/cmd_trace.h"
#include "ir/clock.h"
#include "ir/file.h"

static bool finish(Session *s, OutFile *out, const char *path)
{
	if (!out_commit(out, s->diag))
		return false;
	session_wrote(s, path);
	return true;
}

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
	return finish(s, &out, path);
}

static bool write_trace(Session *s, const Planned *p, const Counted *ran)
{
	const char *path = option_text(s->opt, OPT_TRACE);
	OutFile out;
	if (!path)
		return true;
	if (!out_open(&out, s->arena, s->diag, path))
		return false;
	trace_write(out.f, p, ran);
	return finish(s, &out, path);
}

/* On the device that is asked for, if one is. */
static enum ExitCode run(Session *s, const Graph *g, Compiled *c, Counted *ran)
{
	if (!option_given(s->opt, OPT_DEVICE))
		return EXIT_OK;
	Tensor **in = inputs_data(g, s->arena, &s->inputs);
	if (!in || !session_device(s))
		return EXIT_USAGE;
	const enum ExitCode code = counted_steps(s, g, c, in, ran);
	if (code != EXIT_OK)
		return code;
	const int differing = counted_differing(ran);
	printf("%s ran %d steps of the plan on %d cores: %s\n", ran->device, ran->plan->nsteps,
	       ran->cores, differing ? "exact counters differ from what was predicted"
				     : "every exact counter is what was predicted");
	return EXIT_OK;
}

static enum ExitCode write_memory(Session *s, const Graph *g, Compiled *c, const Counted *ran)
{
	const char *dir = option_text(s->opt, OPT_MEMORY);
	const enum ExitCode code = dir ? memory_write(s, g, c, ran, dir) : EXIT_OK;
	if (dir && code == EXIT_OK)
		memory_print(stdout, &c->planned);
	return code;
}

enum ExitCode cmd_report(Session *s)
{
	Compiled c = { 0 };
	Counted ran = { 0 };
	if (option_given(s->opt, OPT_SWEEP))
		return sweep_print(s);
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	enum ExitCode code = session_plan(s, g, &c);
	if (code == EXIT_OK)
		code = run(s, g, &c, &ran);
	const char *log = option_text(s->opt, OPT_FROM_LOG);
	if (code == EXIT_OK && log)
		code = session_from_log(s, g, &c, log);
	if (code != EXIT_OK)
		return code;
	const bool ok = write_page(s, &c.planned)
		&& write_trace(s, &c.planned, ran.plan ? &ran : NULL);
	return ok ? write_memory(s, g, &c, ran.plan ? &ran : NULL) : EXIT_MODEL;
}
