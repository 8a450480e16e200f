/*
 * tessera explain: why an op is planned as it is, and what else would cost; or, if there
 * is no plan, why and what would help. All times are predicted.
 */
#include "frontend/cmd_explain.h"

#include <limits.h>
#include <string.h>

#include "ir/clock.h"

static double us(const Planned *p, int64_t cycles)
{
	return (double)cycles / (double)p->bare->target->clock_mhz;
}

/* "30 +1.2 us": what it is, and how much slower that is. */
static void print_trial(FILE *f, const Planned *p, const Trial *t, const char *what)
{
	if (t->how == PLANNED)
		fprintf(f, "%s %+.1f us", what, us(p, t->time - p->time.all.total));
	else
		fprintf(f, "%s: no plan", what);
}

static void print_fields(FILE *f, const Explained *e)
{
	fputs("choice\n", f);
	for (int i = 0; i < e->nfields; i++) {
		const ExplainField *x = &e->fields[i];
		const char *key = choice_info[x->field].key;
		const int n = fprintf(f, "  %s", trial_spelling(e->p, x->field, x->value))
			+ (x->pinned ? fprintf(f, "!") : 0);
		fprintf(f, "%*s", x->n && n < 26 ? 26 - n : 0, "");
		for (int k = 0; k < x->n; k++) {
			fputs(k ? ", " : "  ", f);
			print_trial(f, e->p, &x->trials[k], x->trials[k].what + strlen(key) + 1);
		}
		fputc('\n', f);
	}
}

static void print_time(FILE *f, const Explained *e)
{
	const StepTime *t = &e->p->time.steps[e->at];
	fputs("time\n", f);
	for (int k = 0; k < CAUSE_COUNT; k++)
		if (t->cycles[k])
			fprintf(f, "  %-10s %8.1f us  %s\n", cause_info[k].name,
				us(e->p, t->cycles[k]), cause_info[k].what);
}

static const char *peak_name(const Planned *p)
{
	const Step *s = &p->plan->steps[p->plan->peak_step];
	return s->out ? s->out->name : s->op->name;
}

static void print_l1(FILE *f, const Explained *e)
{
	fprintf(f, "L1: %lld of %lld bytes; at most %lld, at %s\n", (long long)e->used,
		(long long)e->limit, (long long)e->p->plan->peak, peak_name(e->p));
	for (int i = 0; i < e->nresidents; i++) {
		const Resident *r = &e->residents[i];
		fprintf(f, "  %8lld at 0x%06llx  %s: %s\n", (long long)r->bytes,
			(unsigned long long)r->address, r->name, r->why);
	}
}

static void print_edges(FILE *f, const Explained *e)
{
	if (e->nedges)
		fputs("inputs\n", f);
	for (int i = 0; i < e->nedges; i++) {
		const ExplainEdge *x = &e->edges[i];
		fprintf(f, "  %d %s: %s", x->part, x->name, edge_ways[x->way]);
		if (x->move_time)
			fprintf(f, " in %.1f us", us(e->p, x->move_time));
		fprintf(f, ", halo of %lld bytes in %.1f us", (long long)x->halo_bytes,
			us(e->p, x->halo_time));
		if (x->other.what) {
			fputs("; ", f);
			print_trial(f, e->p, &x->other,
				    x->way == EDGE_RESHARDED ? "where it lies" : "resharded");
		}
		fputc('\n', f);
	}
}

static void print_skips(FILE *f, const Explained *e)
{
	if (e->nskips)
		fputs("skips\n", f);
	for (int i = 0; i < e->nskips; i++) {
		const ExplainSkip *x = &e->skips[i];
		fprintf(f, "  %s for %s: ", x->name, x->reader);
		if (x->dram)
			fputs("lies in DRAM for good", f);
		else if (x->parked)
			fprintf(f, "waits in DRAM, moved %s", x->beside ? "beside others" : "by itself");
		else
			fprintf(f, "waits in L1, %lld bytes", (long long)x->bytes);
		if (x->other.what) {
			fputs("; ", f);
			print_trial(f, e->p, &x->other, x->parked ? "in L1" : "in DRAM");
		}
		fputc('\n', f);
	}
}

CauseId explain_cause(const Explained *e)
{
	const StepTime *t = &e->p->time.steps[e->at];
	int most = 0;
	for (int k = 0; k < CAUSE_COUNT; k++)
		if (t->cycles[k] > t->cycles[most])
			most = k;
	return (CauseId)most;
}

bool explain_binds(const Explained *e)
{
	return e->more_room.how == PLANNED && e->more_room.time < e->p->time.all.total;
}

static void print_verdict(FILE *f, const Explained *e)
{
	if (e->runner_up.what) {
		fputs("runner-up: ", f);
		print_trial(f, e->p, &e->runner_up, e->runner_up.what);
		fputc('\n', f);
	}
	fputs("bound by: ", f);
	if (explain_binds(e)) {
		fprintf(f, "L1, full at %s; ", peak_name(e->p));
		print_trial(f, e->p, &e->more_room, "a tenth more");
		fputc('\n', f);
	} else {
		fprintf(f, "%s; a tenth more L1 does not help\n", cause_info[explain_cause(e)].name);
	}
	fprintf(f, "%d other plans looked for\n", e->searches);
}

void explain_print(FILE *f, const Explained *e)
{
	const Planned *p = e->p;
	const Step *s = &p->bare->steps[e->step];
	fprintf(f, "%s: %s, %.1f of %.1f us\n", choice_step_spelling(p->bare, e->step),
		step_names[s->kind], us(p, p->time.steps[e->at].total), us(p, p->time.all.total));
	print_fields(f, e);
	print_time(f, e);
	print_l1(f, e);
	print_edges(f, e);
	print_skips(f, e);
	print_verdict(f, e);
}

static void print_reason(FILE *f, const ExplainedNone *e, const NoneReason *r)
{
	const char *name = choice_step_spelling(e->p->bare, r->step);
	switch (r->kind) {
	case NONE_STEP:
		fprintf(f, "  %s takes %lld bytes by itself, however it is cut\n", name,
			(long long)r->least);
		break;
	case NONE_PINS:
		fprintf(f, "  pins of %s", name);
		if (r->least)
			fprintf(f, ": %lld bytes by itself", (long long)r->least);
		fputc('\n', f);
		break;
	case NONE_NET:
		fprintf(f, "  what has to wait while %s runs, which takes %lld bytes by itself\n", name,
			(long long)r->least);
		break;
	}
}

void explain_print_none(FILE *f, const ExplainedNone *e)
{
	fprintf(f, "no plan fits %lld bytes of L1 on %d cores of %s\n", (long long)e->room,
		e->p->bare->cores, e->p->bare->target->name);
	const bool together = e->nreasons && e->reasons[0].kind == NONE_PINS
		&& !e->reasons[0].least;
	fprintf(f, "because of %s%s\n", e->fewest ? "" : "some of ",
		e->nreasons == 1 ? "this" : together ? "these together" : "each of these");
	for (int i = 0; i < e->nreasons; i++)
		print_reason(f, e, &e->reasons[i]);
	fputs(e->nfixes ? "what would help\n" : "nothing was found to help\n", f);
	for (int i = 0; i < e->nfixes; i++)
		fprintf(f, "  %s: %.1f us\n", e->fixes[i].trial.what,
			us(e->p, e->fixes[i].trial.time));
	fprintf(f, "%d plans looked for\n", e->searches);
}

static enum ExitCode no_step(Session *s, const Planned *p, const char *name)
{
	const char **names = arena_array(s->arena, const char *, p->bare->nsteps + 1);
	const int n = explain_names(p, names);
	usage_error(s->diag, "'--op': no op '%s' in the plan", name);
	usage_hint(s->diag, name, names, (size_t)n, "'tessera plan' lists them");
	return EXIT_USAGE;
}

/* 1: JSON, 0: text, -1: neither, reported. */
static int wants_json(Session *s)
{
	const char *format = option_text(s->opt, OPT_FORMAT);
	if (!format || strcmp(format, "text") == 0)
		return 0;
	if (strcmp(format, "json") == 0)
		return 1;
	usage_error(s->diag, "'--format': text or json, not '%s'", format);
	return -1;
}

static enum ExitCode tell_none(const Planned *p, bool json)
{
	ExplainedNone none;
	explain_none(p, &none);
	(json ? explain_json_none : explain_print_none)(stdout, &none);
	return EXIT_INFEASIBLE;
}

enum ExitCode cmd_explain(Session *s)
{
	Asked asked;
	const char *name = option_text(s->opt, OPT_OP);
	const int json = wants_json(s);
	Planned p;
	Explained e;
	if (json < 0)
		return EXIT_USAGE;
	if (!name) {
		usage_error(s->diag, "'explain' wants --op NAME");
		return EXIT_USAGE;
	}
	const enum ExitCode code = session_asked(s, &asked);
	if (code != EXIT_OK)
		return code;
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	s->diag->limit = INT_MAX; /* every op that cannot run is named */
	const double from = clock_now();
	const PlanOutcome how = planner_run(g, asked.target, &asked.request, &p);
	session_timing(s, "plan", from);
	if (how == PLAN_WRONG)
		return !p.bare ? EXIT_INFEASIBLE : p.line_wrong ? EXIT_USAGE : EXIT_MODEL;
	if (how == PLAN_NONE)
		return tell_none(&p, json);
	const int step = explain_find(&p, name);
	if (step < 0)
		return no_step(s, &p, name);
	explain_step(&p, step, &e);
	(json ? explain_json : explain_print)(stdout, &e);
	session_timing(s, "explain", from);
	return EXIT_OK;
}
