/*
 * tessera score: what a plan file takes. Every field that it gives is fixed; those that
 * it does not give are chosen best, and it is said how many.
 */
#include "frontend/cmd_device.h"
#include "frontend/cmd_ttnn.h"

/* Fields that nobody has fixed. */
static int left_open(const Planned *p)
{
	int n = 0;
	for (int i = 0; i < p->bare->nsteps; i++) {
		const Step *s = &p->bare->steps[i];
		for (int f = 0; f < CHOICE_COUNT; f++)
			n += choice_has(s, f) && !(p->pins[i].fixed >> f & 1)
				&& (choice_info[f].who != CHOICE_RESULT || s->out->born == i);
	}
	return n;
}

void session_tell_open(Session *s, const Planned *p)
{
	const int open = left_open(p);
	if (open)
		diag_note(s->diag, (Loc){ .file = p->request->file->name },
			  "%d field%s not given: chosen best", open, open > 1 ? "s are" : " is");
}

enum ExitCode cmd_score(Session *s)
{
	Asked a;
	Planned p;
	const Format format = session_format(s);
	if (format == FORMATS)
		return EXIT_USAGE;
	if (!option_given(s->opt, OPT_PLAN)) {
		usage_error(s->diag, "'score' wants --plan F.plan");
		return EXIT_USAGE;
	}
	const Kernels kernels = session_kernels(s);
	if (kernels == KERNELS_UNKNOWN)
		return EXIT_USAGE;
	if (kernels == KERNELS_TTNN)
		return session_score_ttnn(s);
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	enum ExitCode code = session_asked(s, &a);
	a.request.whole = true;
	if (code == EXIT_OK)
		code = session_planned(s, g, &a, &p);
	if (code != EXIT_OK)
		return code;
	session_tell_open(s, &p);
	report_summary(stdout, &p, format);
	return EXIT_OK;
}
