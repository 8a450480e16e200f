#include "frontend/cmd_report.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/json.h"
#include "ir/file.h"

Format session_format(Session *s)
{
	static const char *const names[FORMATS] = { "text", "json", "csv" };
	const char *text = option_text(s->opt, OPT_FORMAT);
	for (int i = 0; text && i < FORMATS; i++)
		if (strcmp(text, names[i]) == 0)
			return (Format)i;
	if (!text)
		return FORMAT_TEXT;
	usage_error(s->diag, "'--format': text, json or csv, not '%s'", text);
	return FORMATS;
}

/* Tenths as a number with a point; half a tenth is rounded away from 0. */
static const char *tenths(Arena *a, int64_t n, int64_t by)
{
	const int64_t whole = ((n < 0 ? -n : n) * 20 + by) / (2 * by);
	return arena_printf(a, "%s%lld.%d", n < 0 && whole ? "-" : "", (long long)(whole / 10),
			    (int)(whole % 10));
}

const char *report_us(Arena *a, const Target *t, int64_t cycles)
{
	return tenths(a, cycles, t->clock_mhz);
}

const char *report_percent(Arena *a, int64_t part, int64_t all)
{
	return tenths(a, part * 100, all ? all : 1);
}

const char *report_causes(Arena *a, const Target *t, const StepTime *time)
{
	TextFile f;
	bool told[CAUSE_COUNT] = { false };
	const char *before = "";
	text_open(&f);
	for (;;) {
		int most = -1;
		for (int c = 0; c < CAUSE_COUNT; c++)
			if (llabs(time->cycles[c]) * 20 >= t->clock_mhz && !told[c]
			    && (most < 0 || llabs(time->cycles[c]) > llabs(time->cycles[most])))
				most = c;
		if (most < 0)
			break;
		told[most] = true;
		fprintf(f.f, "%s%s %s", before, cause_info[most].name,
			report_us(a, t, time->cycles[most]));
		before = ", ";
	}
	return text_take(&f, a);
}

typedef struct Notes {
	const Planned *p;
	const PlanRow *rows;
} Notes;

static const char *about(void *with, int step)
{
	const Notes *n = with;
	const Plan *p = n->p->plan;
	const PlanRow *r = &n->rows[step];
	Arena *a = p->graph->arena;
	const char *moves = "";
	if (r->nmoves)
		moves = arena_printf(a, "; moves %s us", report_us(a, p->target, r->moves.total));
	return arena_printf(a, "%s us: %s%s", report_us(a, p->target, r->work.total),
			    report_causes(a, p->target, &r->work), moves);
}

const char *report_plan_file(const Planned *p)
{
	TextFile t;
	Notes with = { p, plan_rows(p->bare, p->plan, &p->time) };
	const ChoiceNotes notes = { .placed = p->plan, .about = about, .with = &with };
	text_open(&t);
	choice_print(t.f, p->bare, p->choices, p->marked, &notes,
		     p->file ? &p->file->remarks : NULL);
	return text_take(&t, p->bare->graph->arena);
}

void report_json_causes(FILE *f, const char *name, const StepTime *time)
{
	json_print_string(f, name);
	for (int c = 0; c < CAUSE_COUNT; c++)
		fprintf(f, "%s\"%s\":%lld", c ? "," : ":{", cause_info[c].name,
			(long long)time->cycles[c]);
	fputc('}', f);
}

int report_pin_count(const Planned *p)
{
	int n = 0;
	for (int i = 0; i < p->bare->nsteps; i++) {
		const Step *s = &p->bare->steps[i];
		const Pins *pins = &p->pins[i];
		for (int f = 0; f < CHOICE_COUNT; f++)
			n += pins->fixed >> f & 1
				&& (choice_info[f].who != CHOICE_RESULT || s->out->born == i);
		n += pins->shard != SHARD_ANY && s->out->born == i;
	}
	return n;
}

const char *report_proof(Arena *a, const Planned *p)
{
	const int pins = report_pin_count(p);
	const char *under = pins ? arena_printf(a, " and the %d pin%s given", pins,
						pins > 1 ? "s" : "") : "";
	const char *of = p->found.in_l1 ? ", of plans that make tensors in L1" : "";
	if (p->settled)
		return "none: every field was given, nothing was searched";
	if (p->request->objective != OBJECTIVE_TIME)
		return arena_printf(a, "none for objective %s",
				    objective_name(p->request->objective));
	if (p->found.time == p->found.bound)
		return arena_printf(a, "optimal under the model%s%s", under, of);
	const int64_t gap = p->found.time - p->found.bound;
	return arena_printf(a, "at most %s%% above the optimum under the model%s%s",
			    report_percent(a, gap, p->found.bound), under, of);
}
