#include "frontend/cmd_explain.h"
#include "frontend/json.h"

/* "key":"text" and "key":number, each behind a comma but the first of an object. */
static void text(FILE *f, const char *before, const char *key, const char *value)
{
	fprintf(f, "%s\"%s\":", before, key);
	if (value)
		json_print_string(f, value);
	else
		fputs("null", f);
}

static void number(FILE *f, const char *before, const char *key, int64_t value)
{
	fprintf(f, "%s\"%s\":%lld", before, key, (long long)value);
}

static void flag(FILE *f, const char *before, const char *key, bool value)
{
	fprintf(f, "%s\"%s\":%s", before, key, value ? "true" : "false");
}

/* A plan that is not there has no time. */
static void trial(FILE *f, const Trial *t)
{
	if (!t->what) {
		fputs("null", f);
		return;
	}
	text(f, "{", "what", t->what);
	if (t->how == PLANNED)
		number(f, ",", "cycles", t->time);
	else
		fputs(",\"cycles\":null", f);
	fputc('}', f);
}

static void fields(FILE *f, const Explained *e)
{
	fputs(",\"fields\":[", f);
	for (int i = 0; i < e->nfields; i++) {
		const ExplainField *x = &e->fields[i];
		text(f, i ? ",{" : "{", "choice", trial_spelling(e->p, x->field, x->value));
		flag(f, ",", "pinned", x->pinned);
		fputs(",\"others\":[", f);
		for (int k = 0; k < x->n; k++) {
			fputs(k ? "," : "", f);
			trial(f, &x->trials[k]);
		}
		fputs("]}", f);
	}
	fputc(']', f);
}

static void l1(FILE *f, const Explained *e)
{
	number(f, ",\"l1\":{", "bytes", e->used);
	number(f, ",", "limit", e->limit);
	number(f, ",", "peak", e->p->plan->peak);
	fputs(",\"buffers\":[", f);
	for (int i = 0; i < e->nresidents; i++) {
		const Resident *r = &e->residents[i];
		text(f, i ? ",{" : "{", "name", r->name);
		text(f, ",", "why", r->why);
		number(f, ",", "bytes", r->bytes);
		number(f, ",", "address", (int64_t)r->address);
		fputc('}', f);
	}
	fputs("]}", f);
}

static void edges(FILE *f, const Explained *e)
{
	fputs(",\"inputs\":[", f);
	for (int i = 0; i < e->nedges; i++) {
		const ExplainEdge *x = &e->edges[i];
		text(f, i ? ",{" : "{", "name", x->name);
		text(f, ",", "way", edge_ways[x->way]);
		number(f, ",", "move_cycles", x->move_time);
		number(f, ",", "halo_bytes", x->halo_bytes);
		number(f, ",", "halo_cycles", x->halo_time);
		fputs(",\"other\":", f);
		trial(f, &x->other);
		fputc('}', f);
	}
	fputc(']', f);
}

static void skips(FILE *f, const Explained *e)
{
	fputs(",\"skips\":[", f);
	for (int i = 0; i < e->nskips; i++) {
		const ExplainSkip *x = &e->skips[i];
		text(f, i ? ",{" : "{", "name", x->name);
		text(f, ",", "reader", x->reader);
		text(f, ",", "waits", x->dram || x->parked ? "dram" : "l1");
		flag(f, ",", "beside", x->beside);
		number(f, ",", "bytes", x->bytes);
		fputs(",\"other\":", f);
		trial(f, &x->other);
		fputc('}', f);
	}
	fputc(']', f);
}

void explain_json(FILE *f, const Explained *e)
{
	const StepTime *t = &e->p->time.steps[e->at];
	text(f, "{", "op", choice_step_spelling(e->p->bare, e->step));
	text(f, ",", "step", step_names[e->p->bare->steps[e->step].kind]);
	number(f, ",", "clock_mhz", e->p->bare->target->clock_mhz);
	number(f, ",", "cycles", t->total);
	number(f, ",", "plan_cycles", e->p->time.all.total);
	for (int k = 0; k < CAUSE_COUNT; k++)
		number(f, k ? "," : ",\"causes\":{", cause_info[k].name, t->cycles[k]);
	fputc('}', f);
	fields(f, e);
	l1(f, e);
	edges(f, e);
	skips(f, e);
	fputs(",\"runner_up\":", f);
	trial(f, &e->runner_up);
	text(f, ",", "bound_by", explain_binds(e) ? "l1" : cause_info[explain_cause(e)].name);
	fputs(",\"more_l1\":", f);
	trial(f, &e->more_room);
	number(f, ",", "searches", e->searches);
	fputs("}\n", f);
}

void explain_json_none(FILE *f, const ExplainedNone *e)
{
	static const char *const kinds[] = { [NONE_STEP] = "step", [NONE_PINS] = "pins",
					     [NONE_NET] = "net" };
	number(f, "{", "l1", e->room);
	number(f, ",", "cores", e->p->bare->cores);
	flag(f, ",", "fewest", e->fewest);
	fputs(",\"reasons\":[", f);
	for (int i = 0; i < e->nreasons; i++) {
		const NoneReason *r = &e->reasons[i];
		text(f, i ? ",{" : "{", "kind", kinds[r->kind]);
		text(f, ",", "op", choice_step_spelling(e->p->bare, r->step));
		number(f, ",", "least_bytes", r->least);
		fputc('}', f);
	}
	fputs("],\"fixes\":[", f);
	for (int i = 0; i < e->nfixes; i++) {
		fputs(i ? "," : "", f);
		trial(f, &e->fixes[i].trial);
	}
	number(f, "],", "searches", e->searches);
	fputs("}\n", f);
}
