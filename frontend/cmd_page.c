#include "frontend/cmd_page.h"

#include <string.h>

#include "frontend/json.h"
#include "ir/embed.h"
#include "ir/file.h"
#include "passes/plan_buffers.h"
#include "passes/plan_units.h"
#include "passes/pressure.h"

extern const EmbeddedFile embedded_page[];
extern const int embedded_page_count;

typedef struct Page {
	FILE *f;
	const Planned *p;
	const Plan *plan;
	const StepSpan *spans;
	const WhatIf *what_if;
	const Pressure *pressure;
	int *row;  /* of each step of the plan: that of the bare one, -1 for a move */
	int tried;
} Page;

static void put_name(FILE *f, const char *key, const char *value)
{
	fprintf(f, "\"%s\":", key);
	json_print_string(f, value);
}

static void put_numbers(FILE *f, const char *key, const int64_t *v, int n)
{
	fprintf(f, "\"%s\":[", key);
	for (int i = 0; i < n; i++)
		fprintf(f, "%s%lld", i ? "," : "", (long long)v[i]);
	fputc(']', f);
}

/* ---- lists of names ---- */

static void put_pair(FILE *f, bool first, const char *name, const char *what)
{
	fputs(first ? "[" : ",[", f);
	json_print_string(f, name);
	fputc(',', f);
	json_print_string(f, what);
	fputc(']', f);
}

static void put_legends(const Page *g)
{
	FILE *f = g->f;
	fputs("\"causes\":[", f);
	for (int i = 0; i < CAUSE_COUNT; i++)
		put_pair(f, !i, cause_info[i].name, cause_info[i].what);
	fputs("],\n\"units\":[", f);
	for (int i = 0; i < UNIT_COUNT; i++)
		put_pair(f, !i, unit_info[i].label, unit_info[i].what);
	fputs("],\n\"kinds\":[", f);
	for (int i = 0; i < BUFFER_KINDS; i++) {
		fputs(i ? "," : "", f);
		json_print_string(f, buffer_kinds[i]);
	}
	fputs("],\n", f);
}

static void put_head(const Page *g)
{
	const Target *t = g->plan->target;
	const Planned *p = g->p;
	Arena *a = g->plan->graph->arena;
	FILE *f = g->f;
	put_name(f, "model", g->plan->graph->name);
	fputc(',', f);
	put_name(f, "target", t->name);
	fprintf(f, ",\"mhz\":%lld,\"cores\":%d,\"cols\":%d,\"rows\":%d,\"l1_first\":%lld,\"l1_room\":%lld,"
		"\"peak\":%lld,\"peak_step\":%d,\"tried\":%d,\n", (long long)t->clock_mhz,
		g->plan->cores, g->plan->cols, g->plan->rows,
		(long long)(t->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM,
		(long long)planner_room(t, p->request), (long long)g->plan->peak,
		g->plan->peak_step, g->tried);
	put_name(f, "proof", report_proof(a, p));
	fputs(",\n", f);
	TextFile text;
	text_open(&text);
	report_summary(text.f, p, FORMAT_TEXT);
	put_name(f, "summary", text_take(&text, a));
	fputs(",\n", f);
	put_numbers(f, "total", (const int64_t[]){ p->time.all.total }, 1);
	fputc(',', f);
	put_numbers(f, "by_cause", p->time.all.cycles, CAUSE_COUNT);
	fputs(",\n", f);
}

/* ---- steps ---- */

/* What a plan file says of the step, and of the tensor if the step begins it. */
static const char *choices_of(const Page *g, int row)
{
	const Step *s = &g->p->bare->steps[row];
	Arena *a = g->plan->graph->arena;
	TextFile t;
	text_open(&t);
	const char *before = "";
	for (int f = 0; f < CHOICE_COUNT; f++) {
		const int value = choice_get(&g->p->choices[row], f);
		if (!choice_has(s, f)
		    || (choice_info[f].who == CHOICE_RESULT && s->out->born != row))
			continue;
		fprintf(t.f, "%s%s%s", before, trial_spelling(g->p, f, value),
			g->p->pins[row].fixed >> f & 1 ? "!" : "");
		before = " ";
	}
	return text_take(&t, a);
}

static void put_inputs(const Page *g, const Step *s)
{
	fputs("\"in\":[", g->f);
	for (int k = 0; k < s->nin; k++)
		fprintf(g->f, "%s%d", k ? "," : "", s->in[k].tensor->id);
	fputs("],", g->f);
}

static void put_choice(const Page *g, int row)
{
	const WhatIf *w = &g->what_if[row];
	put_name(g->f, "config", choices_of(g, row));
	fputc(',', g->f);
	if (!w->what)
		return;
	put_name(g->f, "other", w->what);
	fprintf(g->f, ",\"other_cycles\":%lld,", (long long)(w->time - g->p->time.all.total));
}

static void put_source(const Page *g, const Step *s)
{
	Arena *a = g->plan->graph->arena;
	put_name(g->f, "op", s->op->name);
	fputc(',', g->f);
	if (s->op->loc.file && s->op->loc.line)
		put_name(g->f, "source",
			 arena_printf(a, "%s:%d", s->op->loc.file, s->op->loc.line));
	else
		put_name(g->f, "source", s->op->loc.file ? s->op->loc.file : "");
	fputc(',', g->f);
}

static void put_steps(const Page *g)
{
	FILE *f = g->f;
	fputs("\"steps\":[", f);
	for (int i = 0; i < g->plan->nsteps; i++) {
		const Step *s = &g->plan->steps[i];
		fputs(i ? ",\n{" : "\n{", f);
		put_name(f, "name", g->row[i] < 0 ? plan_step_name(s)
						  : choice_step_spelling(g->p->bare, g->row[i]));
		fprintf(f, ",\"kind\":\"%s\",\"moves\":%d,\"beside\":%d,\"out\":%d,", step_names[s->kind],
			step_moves(s), s->beside, s->out ? s->out->id : -1);
		put_source(g, s);
		put_inputs(g, s);
		if (g->row[i] >= 0)
			put_choice(g, g->row[i]);
		fprintf(f, "\"score\":%d,\"risk\":\"%s\",", g->pressure[i].score,
			level_names[g->pressure[i].risk]);
		fprintf(f, "\"start\":%lld,\"cycles\":%lld,", (long long)g->spans[i].start,
			(long long)g->spans[i].cycles);
		put_numbers(f, "by", g->p->time.steps[i].cycles, CAUSE_COUNT);
		fputc(',', f);
		put_numbers(f, "busy", g->spans[i].busy, UNIT_COUNT);
		fputc('}', f);
	}
	fputs("],\n", f);
}

/* ---- tensors, buffers ---- */

static void put_tensors(const Page *g)
{
	FILE *f = g->f;
	fputs("\"tensors\":[", f);
	for (int i = 0; i < g->plan->ntensors; i++) {
		const PlanTensor *t = g->plan->tensors[i];
		fputs(i ? ",\n{" : "\n{", f);
		put_name(f, "name", t->name);
		fprintf(f, ",\"channels\":%d,\"height\":%d,\"width\":%d,\"images\":%d,\"type\":\"%s\","
			"\"place\":\"%s\",\"bands\":%d,\"splits\":%d,\"bytes\":%lld}", t->channels,
			t->height, t->layout.cols, t->images,
			dev_type_name(t->layout.type),
			t->layout.place == PLACE_DRAM ? "dram" : "l1", t->cut.bands, t->cut.splits,
			(long long)t->bytes);
	}
	fputs("],\n", f);
}

/* [own, halo, cores] for each run of cores that hold the same. */
static void put_held(const Page *g, const PlanBuffer *b)
{
	int run = 0;
	fputs(",\"held\":[", g->f);
	for (int core = 0; core < g->plan->cores; core++) {
		const Held h = plan_held_bytes(g->plan, b, core);
		const bool last = core + 1 == g->plan->cores;
		const Held next = last ? (Held){ 0 } : plan_held_bytes(g->plan, b, core + 1);
		run++;
		if (!last && next.own == h.own && next.halo == h.halo)
			continue;
		fprintf(g->f, "%s[%lld,%lld,%d]", core + 1 > run ? "," : "", (long long)h.own,
			(long long)h.halo, run);
		run = 0;
	}
	fputs("]", g->f);
}

static void put_buffers(const Page *g)
{
	PlanBuffer *v;
	const int n = plan_buffers(g->plan, &v);
	fputs("\"buffers\":[", g->f);
	for (int i = 0; i < n; i++) {
		fputs(i ? ",\n{" : "\n{", g->f);
		put_name(g->f, "name", v[i].name);
		fprintf(g->f, ",\"kind\":%d,\"at\":%llu,\"bytes\":%lld,\"born\":%d,\"dies\":%d", v[i].kind,
			(unsigned long long)v[i].address, (long long)v[i].bytes, v[i].born,
			v[i].dies);
		put_held(g, &v[i]);
		fputc('}', g->f);
	}
	fputs("]\n", g->f);
}

void page_data(FILE *f, const Planned *p)
{
	Arena *a = p->bare->graph->arena;
	Page g = { .f = f, .p = p, .plan = p->plan, .spans = plan_spans(p->plan, &p->time) };
	const PlanRow *rows = plan_rows(p->bare, p->plan, &p->time);
	Pressure net;
	const int64_t room = planner_room(p->plan->target, p->request);
	g.pressure = plan_pressure(p->plan, &p->time, room, &net);
	g.what_if = what_if(p, &g.tried);
	g.row = arena_array(a, int, p->plan->nsteps + 1);
	for (int i = 0; i < p->plan->nsteps; i++)
		g.row[i] = -1;
	for (int i = 0; i < p->bare->nsteps; i++)
		g.row[rows[i].step] = i;
	fputc('{', f);
	put_head(&g);
	put_legends(&g);
	put_steps(&g);
	put_tensors(&g);
	put_buffers(&g);
	fputs("}\n", f);
}

/* ---- the page ---- */

/* Inside of a script element nothing may look like its end. */
static void put_data(FILE *f, const Planned *p)
{
	TextFile t;
	text_open(&t);
	page_data(t.f, p);
	for (const char *c = text_take(&t, p->bare->graph->arena); *c; c++)
		if (*c == '<')
			fputs("\\u003c", f);
		else
			fputc(*c, f);
}

static const EmbeddedFile *page_file(const char *name, size_t n)
{
	for (int i = 0; i < embedded_page_count; i++)
		if (strlen(embedded_page[i].name) == n
		    && memcmp(embedded_page[i].name, name, n) == 0)
			return &embedded_page[i];
	return NULL;
}

/* A line "{{NAME}}" of the frame stands for a file, or for the data. */
void page_write(FILE *f, const Planned *p)
{
	const EmbeddedFile *frame = page_file("frame", 5);
	for (const char *line = frame->text; *line;) {
		const size_t n = strcspn(line, "\n");
		const bool stands = n > 4 && memcmp(line, "{{", 2) == 0;
		const EmbeddedFile *file = stands ? page_file(line + 2, n - 4) : NULL;
		if (file)
			fwrite(file->text, 1, file->size, f);
		else if (stands)
			put_data(f, p);
		else
			fwrite(line, 1, n + (line[n] == '\n'), f);
		line += n + (line[n] == '\n');
	}
}
