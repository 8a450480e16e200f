/*
 * The summary of a plan: a screen of text, JSON, or CSV op by op.
 */
#include <string.h>
#include <unistd.h>

#include "frontend/cmd_report.h"
#include "frontend/json.h"
#include "ir/quote.h"
#include "runtime/ref/ref.h"

/* Multiply-accumulates of a matrix unit in a cycle, of one phase: 8x16 by 16x16. */
enum { MVMUL_MACS = 8 * 16 * 16 };

typedef struct Summary {
	const Planned *p;
	const Plan *plan;
	Arena *a;
	PlanFacts facts;
	int64_t macs;  /* that matrix units do, of those the model asks for */
	int64_t ideal; /* cycles these take at the peak of all cores in use */
	int64_t images;
} Summary;

static bool is_product(const Step *s) { return s->kind == STEP_CONV || s->kind == STEP_DECONV2; }

/* Phases of all steps that multiply for an op, and how many of them there are. */
static int phases_of(const Plan *p, const Op *op, int *steps)
{
	int phases = 0;
	*steps = 0;
	for (int i = 0; i < p->nsteps; i++)
		if (p->steps[i].op == op && is_product(&p->steps[i])) {
			phases += p->steps[i].phases;
			++*steps;
		}
	return phases;
}

static Summary summary_of(const Planned *p)
{
	Summary s = { .p = p, .plan = p->plan, .a = p->bare->graph->arena, .images = 1 };
	int64_t ideal = 0;
	s.facts = plan_facts(p->bare, p->plan, &p->time);
	for_each_op(op, p->bare->graph) {
		int steps;
		const int phases = phases_of(p->plan, op, &steps);
		if (op->kind == OP_INPUT && op->shape.rank == 4)
			s.images = op->shape.dim[0];
		if (!steps)
			continue;
		const int64_t macs = ref_macs_of(op);
		s.macs += macs;
		ideal += macs / MVMUL_MACS * phases / steps;
	}
	s.ideal = ideal / p->plan->cores;
	return s;
}

static int64_t frames_tenths(const Summary *s)
{
	const int64_t time = s->p->time.all.total;
	const int64_t tenths = s->images * s->plan->target->clock_mhz * 10000000;
	return time ? (tenths + time / 2) / time : 0;
}

static const char *peak_name(const Summary *s)
{
	const PlanRow *rows = plan_rows(s->p->bare, s->plan, &s->p->time);
	int i = 0;
	while (rows[i].step < s->plan->peak_step)
		i++;
	return choice_step_spelling(s->p->bare, i);
}

static int64_t room_of(const Summary *s) { return planner_room(s->plan->target, s->p->request); }

static void print_time(FILE *f, const Summary *s)
{
	const Target *t = s->plan->target;
	const StepTime *all = &s->p->time.all;
	const int64_t fps = frames_tenths(s);
	fprintf(f, "  time        %s us predicted, %lld.%d frames/s\n", report_us(s->a, t, all->total),
		(long long)(fps / 10), (int)(fps % 10));
	fprintf(f, "  by cause    %s us\n", report_causes(s->a, t, all));
}

static void print_memory(FILE *f, const Summary *s)
{
	const PlanFacts *x = &s->facts;
	fprintf(f, "  L1          %lld of %lld bytes (%s%%) at op %s\n", (long long)s->plan->peak,
		(long long)room_of(s), report_percent(s->a, s->plan->peak, room_of(s)),
		peak_name(s));
	fprintf(f, "  DRAM        read %lld bytes (weights %lld, tensors %lld), written %lld\n",
		(long long)(x->weights_read + x->tensors_read), (long long)x->weights_read,
		(long long)x->tensors_read, (long long)x->tensors_written);
	fprintf(f, "  reshards    %d, %lld bytes, %s us; %d spills, %d refills\n", x->reshards,
		(long long)x->reshard_bytes, report_us(s->a, s->plan->target, x->reshard_cycles),
		x->spills, x->refills);
}

static void print_math(FILE *f, const Summary *s)
{
	const PlanFacts *x = &s->facts;
	fprintf(f, "  matrix      %lld MACs, %s%% of %d cores x %d MACs a cycle / phases\n",
		(long long)s->macs, report_percent(s->a, s->ideal, s->p->time.all.total),
		s->plan->cores, (int)MVMUL_MACS);
	fprintf(f, "  weights     bf16 %lld bytes, bfp8_b %lld, f32 %lld; products in lofi %d, hifi2 %d, "
		"hifi3 %d, hifi4 %d\n",
		(long long)x->weight_bytes[0], (long long)x->weight_bytes[1],
		(long long)x->weight_bytes[2], x->products[1], x->products[2], x->products[3],
		x->products[4]);
	fprintf(f, "  tensors     bf16 %d, bfp8_b %d, f32 %d; %d of them in DRAM\n", x->tensors[0],
		x->tensors[1], x->tensors[2], x->in_dram);
}

static void print_text(FILE *f, const Summary *s)
{
	const Found *found = &s->p->found;
	fputs("plan of ", f);
	name_print(f, s->plan->graph->name);
	fprintf(f, " for %s: %d ops, %d steps, %d cores\n", s->plan->target->name, s->facts.ops,
		s->plan->nsteps, s->plan->cores);
	print_time(f, s);
	print_memory(f, s);
	print_math(f, s);
	if (!s->p->settled)
		fprintf(f, "  candidates  %d layouts of tensors (%d to %d each), %d after dominance\n",
			found->layouts, found->fewest, found->most, found->left);
	fprintf(f, "  proof       %s\n", report_proof(s->a, s->p));
}

/* ---- op by op ---- */

void report_csv_name(FILE *f, const char *name)
{
	if (!strpbrk(name, ",\"\r\n")) {
		fputs(name, f);
		return;
	}
	fputc('"', f);
	for (; *name; name++) {
		if (*name == '"')
			fputc('"', f);
		fputc(*name, f);
	}
	fputc('"', f);
}

static void csv_row(FILE *f, const char *name, const char *kind, const StepTime *t)
{
	report_csv_name(f, name);
	fprintf(f, ",%s,%lld", kind, (long long)t->total);
	for (int c = 0; c < CAUSE_COUNT; c++)
		fprintf(f, ",%lld", (long long)t->cycles[c]);
	fputc('\n', f);
}

void report_csv(FILE *f, const Planned *p)
{
	const PlanRow *rows = plan_rows(p->bare, p->plan, &p->time);
	fputs("op,kind,cycles", f);
	for (int c = 0; c < CAUSE_COUNT; c++)
		fprintf(f, ",%s", cause_info[c].name);
	fputc('\n', f);
	for (int i = 0; i < p->bare->nsteps; i++) {
		const char *name = choice_step_spelling(p->bare, i);
		if (rows[i].nmoves)
			csv_row(f, name, "moves", &rows[i].moves);
		csv_row(f, name, step_names[p->bare->steps[i].kind], &rows[i].work);
	}
}

static void json_ops(FILE *f, const Summary *s)
{
	const Planned *p = s->p;
	const PlanRow *rows = plan_rows(p->bare, p->plan, &p->time);
	fputs(",\n\"ops\":[", f);
	for (int i = 0; i < p->bare->nsteps; i++) {
		fprintf(f, "%s\n{\"op\":", i ? "," : "");
		json_print_string(f, choice_step_spelling(p->bare, i));
		fprintf(f, ",\"kind\":\"%s\",\"cycles\":%lld,", step_names[p->bare->steps[i].kind],
			(long long)rows[i].work.total);
		report_json_causes(f, "causes", &rows[i].work);
		fprintf(f, ",\"moves\":%d,\"moves_cycles\":%lld,", rows[i].nmoves,
			(long long)rows[i].moves.total);
		report_json_causes(f, "moves_causes", &rows[i].moves);
		fputc('}', f);
	}
	fputs("]", f);
}

static void json_figure(FILE *f, const char *name, int64_t value)
{
	fprintf(f, ",\n\"%s\":%lld", name, (long long)value);
}

static void json_search(FILE *f, const Summary *s)
{
	const Found *found = &s->p->found;
	json_figure(f, "layouts", found->layouts);
	json_figure(f, "layouts_after_dominance", found->left);
	json_figure(f, "states", found->states);
	json_figure(f, "bound_cycles", found->bound);
	fputs(",\n\"proof\":", f);
	json_print_string(f, report_proof(s->a, s->p));
}

static void print_json(FILE *f, const Summary *s)
{
	const PlanFacts *x = &s->facts;
	const StepTime *all = &s->p->time.all;
	fputs("{\"model\":", f);
	json_print_string(f, s->plan->graph->name);
	fputs(",\n\"target\":", f);
	json_print_string(f, s->plan->target->name);
	json_figure(f, "ops_count", x->ops);
	json_figure(f, "steps", s->plan->nsteps);
	json_figure(f, "cores", s->plan->cores);
	json_figure(f, "clock_mhz", s->plan->target->clock_mhz);
	json_figure(f, "predicted_cycles", all->total);
	fputs(",\n", f);
	report_json_causes(f, "predicted_causes", all);
	const int64_t fps = frames_tenths(s);
	fprintf(f, ",\n\"predicted_frames_per_second\":%lld.%d", (long long)(fps / 10), (int)(fps % 10));
	json_figure(f, "l1_peak_bytes", s->plan->peak);
	json_figure(f, "l1_limit_bytes", room_of(s));
	fputs(",\n\"l1_peak_op\":", f);
	json_print_string(f, peak_name(s));
	json_figure(f, "dram_weights_read_bytes", x->weights_read);
	json_figure(f, "dram_tensors_read_bytes", x->tensors_read);
	json_figure(f, "dram_tensors_written_bytes", x->tensors_written);
	json_figure(f, "reshards", x->reshards);
	json_figure(f, "reshard_bytes", x->reshard_bytes);
	json_figure(f, "reshard_cycles", x->reshard_cycles);
	json_figure(f, "spills", x->spills);
	json_figure(f, "refills", x->refills);
	json_figure(f, "matrix_macs", s->macs);
	json_figure(f, "matrix_cycles_at_peak", s->ideal);
	json_figure(f, "weights_bf16_bytes", x->weight_bytes[0]);
	json_figure(f, "weights_bfp8_b_bytes", x->weight_bytes[1]);
	json_figure(f, "weights_f32_bytes", x->weight_bytes[2]);
	json_figure(f, "tensors_bf16", x->tensors[0]);
	json_figure(f, "tensors_bfp8_b", x->tensors[1]);
	json_figure(f, "tensors_f32", x->tensors[2]);
	json_search(f, s);
	json_ops(f, s);
	fputs("}\n", f);
}

void report_summary(FILE *f, const Planned *p, Format format)
{
	if (format == FORMAT_CSV) {
		report_csv(f, p);
		return;
	}
	const Summary s = summary_of(p);
	if (format == FORMAT_JSON)
		print_json(f, &s);
	else
		print_text(f, &s);
}

FILE *session_summary_to(Session *s, bool out)
{
	const bool shown = option_given(s->opt, OPT_SUMMARY) || isatty(STDERR_FILENO);
	return out ? stdout : shown ? stderr : NULL;
}

void session_summary(Session *s, const Planned *p, bool out)
{
	FILE *f = session_summary_to(s, out);
	if (f)
		report_summary(f, p, out ? session_format(s) : FORMAT_TEXT);
}
