/*
 * A plan for ttnn as a table. Times are predicted: kernels alone, as tt-metal's device
 * profiler adds them up, and with the gaps between programs of a trace.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frontend/cmd_ttnn.h"
#include "frontend/json.h"
#include "ir/quote.h"

enum { KB = 1024 };

static double us(int64_t ps) { return (double)ps / 1e6; }

static int64_t images_of(const TtnnPlan *p)
{
	for_each_op(op, p->graph)
		if (op->kind == OP_INPUT && op->shape.rank == 4)
			return op->shape.dim[0];
	return 1;
}

static double per_second(const TtnnPlan *p, int64_t ps)
{
	return ps ? 1e12 * (double)images_of(p) / (double)ps : 0;
}

static int64_t runs_of(const TtnnPlan *p, const TtnnOp *o)
{
	int64_t n = 0;
	for (int i = o->first; i < o->first + o->n; i++)
		n += p->programs[i].times;
	return n;
}

/* "height 64", "block 8x8", "dram" */
static const char *where(Arena *a, const TtnnPlan *p, const TtnnOp *o)
{
	const TtnnChoice *c = &o->choice;
	(void)p;
	if (ttnn_op_info(o->op->kind)->class == TTNN_EDGES)
		return "-";
	const char *shard = ttnn_value(a, TTNN_SHARD, c->v[TTNN_SHARD]);
	if (c->v[TTNN_SHARD] == TTNN_BLOCK)
		return arena_printf(a, "%s %dx%d", shard, c->v[TTNN_ROWS], c->v[TTNN_PLANES]);
	return arena_printf(a, "%s %d", shard, c->v[TTNN_ROWS] * c->v[TTNN_PLANES]);
}

/* What of the rest is not as usual. */
static const char *notes(Arena *a, const TtnnOp *o)
{
	const TtnnChoice *c = &o->choice;
	const bool conv = ttnn_has(o->op->kind, TTNN_ABH);
	const char *to = "";
	if (conv && c->v[TTNN_RESHARD])
		to = arena_printf(a, "%s reshard", to);
	if (conv && c->v[TTNN_SLICE] != TTNN_L1_FULL)
		to = arena_printf(a, "%s %d slices by %s", to, c->v[TTNN_SLICES],
				  ttnn_value(a, TTNN_SLICE, c->v[TTNN_SLICE]));
	if (conv && c->v[TTNN_WDIV] > 1)
		to = arena_printf(a, "%s w_div %d", to, c->v[TTNN_WDIV]);
	if (ttnn_has(o->op->kind, TTNN_JOIN))
		to = arena_printf(a, "%s by %s", to, ttnn_value(a, TTNN_JOIN, c->v[TTNN_JOIN]));
	if (o->out.parked)
		to = arena_printf(a, "%s parked in dram", to);
	return *to ? to + 1 : to;
}

static void print_row(FILE *f, const TtnnPlan *p, const TtnnOp *o)
{
	Arena *a = p->graph->arena;
	const TtnnChoice *c = &o->choice;
	const bool conv = ttnn_has(o->op->kind, TTNN_ABH);
	const char *abh = conv ? ttnn_value(a, TTNN_ABH, c->v[TTNN_ABH]) : "";
	const char *db = !conv ? "" : c->v[TTNN_ACT_DB] && c->v[TTNN_W_DB] ? "a+w"
		: c->v[TTNN_ACT_DB] ? "a" : c->v[TTNN_W_DB] ? "w" : "-";
	fprintf(f, "%-22s %-16s %-11s %5s %4s %-9s %6" PRId64 " %6" PRId64 " %6" PRId64 " %6" PRId64
		" %4" PRId64 " %9.1f  %s\n", o->op->name, ttnn_op_info(o->op->kind)->name,
		where(a, p, o), abh, db, o->out.type == TTNN_BFP8 ? "bfloat8_b" : "bfloat16",
		o->buffers / KB, o->halo / KB, o->result / KB, o->l1 / KB, runs_of(p, o), us(o->ps),
		notes(a, o));
}

static void print_text(FILE *f, const TtnnPlan *p)
{
	int64_t programs = 0;
	const TtnnOp *most = &p->ops[0];
	fputs("plan of ", f);
	name_print(f, p->graph->name);
	fprintf(f, " for ttnn on %s\n\n%-22s %-16s %-11s %5s %4s %-9s %6s %6s %6s %6s %4s %9s\n",
		p->target->name, "op", "call", "cores", "abh", "dbl", "result", "cb KB", "halo",
		"out", "L1 KB", "runs", "us");
	for (int i = 0; i < p->nops; i++) {
		print_row(f, p, &p->ops[i]);
		programs += runs_of(p, &p->ops[i]);
		most = p->ops[i].l1 > most->l1 ? &p->ops[i] : most;
	}
	fprintf(f, "\n  device      %.3f ms predicted in %" PRId64 " programs: %.1f frames/s\n",
		us(p->kernel_ps) / 1e3, programs, per_second(p, p->kernel_ps));
	fprintf(f, "  traced      %.3f ms predicted with %.3f ms between programs: %.1f frames/s\n",
		us(ttnn_total_ps(p)) / 1e3, us(p->gap_ps) / 1e3, per_second(p, ttnn_total_ps(p)));
	fprintf(f, "  L1          %" PRId64 " of %" PRId64 " bytes at op %s; %" PRId64
		" set aside as L1_SMALL\n", p->l1, p->room, most->op->name, p->l1_small);
	fprintf(f, "  proof       %s\n", p->best ? "optimal under the model"
		: "the best that was found: more states than --effort keeps");
}

static void print_json_op(FILE *f, const TtnnPlan *p, const TtnnOp *o)
{
	fputs("{\"op\":", f);
	json_print_string(f, o->op->name);
	fprintf(f, ",\"call\":\"%s\"", ttnn_op_info(o->op->kind)->name);
	for (int i = 0; i < TTNN_FIELDS; i++)
		if (ttnn_has(o->op->kind, i))
			fprintf(f, ttnn_field_info[i].words ? ",\"%s\":\"%s\"" : ",\"%s\":%s",
				ttnn_field_info[i].name,
				ttnn_value(p->graph->arena, i, o->choice.v[i]));
	fprintf(f, ",\"split_reader\":%d,\"buffer_bytes\":%" PRId64 ",\"halo_bytes\":%" PRId64
		",\"result_bytes\":%" PRId64 ",\"l1_bytes\":%" PRId64 ",\"predicted_ns\":%" PRId64
		",\"programs\":[", o->split, o->buffers, o->halo, o->result, o->l1,
		o->ps / 1000);
	for (int i = o->first; i < o->first + o->n; i++) {
		const TtnnProgram *r = &p->programs[i];
		fprintf(f, "%s{\"name\":\"%s\",\"times\":%" PRId64 ",\"l1_bytes\":%" PRId64
			",\"predicted_ns\":%" PRId64 "}", i > o->first ? "," : "",
			ttnn_program_names[r->kind], r->times, r->l1, r->ps / 1000);
	}
	fputs("]}", f);
}

static void print_json(FILE *f, const TtnnPlan *p)
{
	fputs("{\"model\":", f);
	json_print_string(f, p->graph->name);
	fprintf(f, ",\n\"kernels\":\"ttnn\",\n\"target\":\"%s\",\n\"predicted_kernel_ns\":%" PRId64
		",\n\"predicted_traced_ns\":%" PRId64 ",\n\"l1_bytes\":%" PRId64 ",\n\"l1_room\":%"
		PRId64 ",\n\"l1_small_bytes\":%" PRId64 ",\n\"proof\":\"%s\",\n\"ops\":[\n",
		p->target->name, p->kernel_ps / 1000, ttnn_total_ps(p) / 1000, p->l1, p->room,
		p->l1_small, p->best ? "optimal" : "best found");
	for (int i = 0; i < p->nops; i++) {
		print_json_op(f, p, &p->ops[i]);
		fputs(i + 1 < p->nops ? ",\n" : "\n", f);
	}
	fputs("]}\n", f);
}

static void print_csv(FILE *f, const TtnnPlan *p)
{
	fputs("op,call", f);
	for (int i = 0; i < TTNN_FIELDS; i++)
		fprintf(f, ",%s", ttnn_field_info[i].name);
	fputs(",split_reader,buffer_bytes,halo_bytes,result_bytes,l1_bytes,programs,predicted_ns\n", f);
	for (int i = 0; i < p->nops; i++) {
		const TtnnOp *o = &p->ops[i];
		report_csv_name(f, o->op->name);
		fprintf(f, ",%s", ttnn_op_info(o->op->kind)->name);
		for (int k = 0; k < TTNN_FIELDS; k++)
			fprintf(f, ",%s", !ttnn_has(o->op->kind, k) ? ""
				: ttnn_value(p->graph->arena, k, o->choice.v[k]));
		fprintf(f, ",%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
			o->split, o->buffers, o->halo, o->result, o->l1, runs_of(p, o),
			o->ps / 1000);
	}
}

void report_ttnn(FILE *f, const TtnnPlan *p, Format format)
{
	switch (format) {
	case FORMAT_TEXT: print_text(f, p); return;
	case FORMAT_JSON: print_json(f, p); return;
	case FORMAT_CSV: print_csv(f, p); return;
	case FORMATS: return;
	}
}
