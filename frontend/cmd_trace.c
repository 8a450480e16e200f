#include "frontend/cmd_trace.h"

#include "frontend/json.h"
#include "passes/plan_buffers.h"

typedef struct Trace {
	FILE *f;
	const Planned *p;
	bool more; /* events stand before the next one */
} Trace;

static void put_time(const Trace *t, const char *key, int64_t cycles)
{
	const int64_t ns = cycles * 1000 / t->p->plan->target->clock_mhz;
	fprintf(t->f, ",\"%s\":%lld.%03d", key, (long long)(ns / 1000), (int)(ns % 1000));
}

static void begin(Trace *t, const char *name, char how, int pid, int tid)
{
	fputs(t->more ? ",\n{\"name\":" : "\n{\"name\":", t->f);
	t->more = true;
	json_print_string(t->f, name);
	fprintf(t->f, ",\"ph\":\"%c\",\"pid\":%d,\"tid\":%d", how, pid, tid);
}

static void put_title(Trace *t, const char *what, int pid, int tid, const char *title)
{
	begin(t, what, 'M', pid, tid);
	fputs(",\"args\":{\"name\":", t->f);
	json_print_string(t->f, title);
	fputs("}}", t->f);
}

static void put_tracks(Trace *t, int pid, const char *process)
{
	put_title(t, "process_name", pid, 0, process);
	put_title(t, "thread_name", pid, 0, "steps");
	for (int u = 0; u < UNIT_COUNT; u++)
		put_title(t, "thread_name", pid, u + 1, unit_info[u].label);
	for (int u = 0; u <= UNIT_COUNT; u++) {
		begin(t, "thread_sort_index", 'M', pid, u);
		fprintf(t->f, ",\"args\":{\"sort_index\":%d}}", u);
	}
}

/* Of all cores together. */
static void put_counters(Trace *t, const Counters *cores, int n)
{
	Counters sum = { 0 };
	bool more = false;
	for (int k = 0; k < n; k++)
		counters_add(&sum, &cores[k]);
	for (int id = 0; id < COUNTER_COUNT; id++) {
		if (!counter_get(&sum, id))
			continue;
		fprintf(t->f, "%s\"%s\":%lld", more ? "," : "", counter_info[id].name,
			(long long)counter_get(&sum, id));
		more = true;
	}
}

static void put_causes(Trace *t, const StepTime *time)
{
	bool more = false;
	for (int c = 0; c < CAUSE_COUNT; c++) {
		if (!time->cycles[c])
			continue;
		fprintf(t->f, "%s\"%s cycles\":%lld", more ? "," : "", cause_info[c].name,
			(long long)time->cycles[c]);
		more = true;
	}
}

static void put_step(Trace *t, int pid, int i, const StepSpan *span, const Counted *ran)
{
	const Plan *p = t->p->plan;
	const char *name = plan_step_name(&p->steps[i]);
	begin(t, name, 'X', pid, 0);
	fprintf(t->f, ",\"cat\":\"%s\"", step_names[p->steps[i].kind]);
	put_time(t, "ts", span->start);
	put_time(t, "dur", span->cycles);
	fputs(",\"args\":{", t->f);
	if (ran)
		put_counters(t, &ran->ran[i * ran->cores], ran->cores);
	else
		put_causes(t, &t->p->time.steps[i]);
	fputs("}}", t->f);
	for (int u = 0; u < UNIT_COUNT; u++) {
		if (!span->busy[u])
			continue;
		begin(t, name, 'X', pid, u + 1);
		fprintf(t->f, ",\"cat\":\"%s\"", unit_info[u].name);
		put_time(t, "ts", span->start);
		put_time(t, "dur", span->busy[u]);
		fputs(",\"args\":{}}", t->f);
	}
}

/* Bytes of L1 in use on each core, as a curve. */
static void put_l1(Trace *t, int pid, const StepSpan *spans)
{
	const Plan *p = t->p->plan;
	PlanBuffer *v;
	const int n = plan_buffers(p, &v);
	for (int i = 0; i < p->nsteps; i++) {
		int64_t sum = 0;
		for (int k = 0; k < n; k++)
			if (v[k].born <= i && i <= v[k].dies)
				sum += v[k].bytes;
		begin(t, "L1 of a core", 'C', pid, 0);
		put_time(t, "ts", spans[i].start);
		fprintf(t->f, ",\"args\":{\"bytes\":%lld}}", (long long)sum);
	}
}

static void put_process(Trace *t, int pid, const char *name, const StepSpan *spans,
			const Counted *ran)
{
	put_tracks(t, pid, name);
	for (int i = 0; i < t->p->plan->nsteps; i++)
		if (spans[i].cycles)
			put_step(t, pid, i, &spans[i], ran);
	put_l1(t, pid, spans);
}

void trace_write(FILE *f, const Planned *p, const Counted *ran)
{
	Trace t = { .f = f, .p = p };
	Arena *a = p->bare->graph->arena;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
	put_process(&t, 1, "predicted", plan_spans(p->plan, &p->time), NULL);
	if (ran)
		put_process(&t, 2, arena_printf(a, "counted on %s, at the prices of %s", ran->device,
						p->plan->target->name), counted_spans(ran), ran);
	fputs("\n]}\n", f);
}
