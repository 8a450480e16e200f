/*
 * tessera diff MODEL A.plan B.plan: where the microseconds went. Both files are priced
 * as score does; then op by op, with the moves that belong to it apart, by cause, the
 * largest difference first. B less A: what is negative became faster.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/cmd_device.h"
#include "frontend/json.h"
#include "ir/file.h"

typedef struct Difference {
	int step;          /* of the bare plan */
	bool moves;        /* those of the step, not itself */
	const char *name, *kind;
	StepTime a, b, less; /* less: b - a */
} Difference;

typedef struct Two {
	Arena *arena;
	const Planned *a, *b;
	Difference *rows;
	int n;
} Two;

static StepTime less(const StepTime *a, const StepTime *b)
{
	StepTime t = { .total = b->total - a->total };
	for (int c = 0; c < CAUSE_COUNT; c++)
		t.cycles[c] = b->cycles[c] - a->cycles[c];
	return t;
}

static int by_size(const void *x, const void *y)
{
	const Difference *a = x, *b = y;
	const long long m = llabs(a->less.total), n = llabs(b->less.total);
	if (m != n)
		return m > n ? -1 : 1;
	return a->step != b->step ? a->step - b->step : (int)b->moves - (int)a->moves;
}

static void add(Two *t, int step, bool moves, const StepTime *a, const StepTime *b)
{
	const Plan *bare = t->a->bare;
	t->rows[t->n++] = (Difference){
		.step = step, .moves = moves, .name = choice_step_spelling(bare, step),
		.kind = moves ? "moves" : step_names[bare->steps[step].kind],
		.a = *a, .b = *b, .less = less(a, b),
	};
}

static Two compare(Arena *arena, const Planned *a, const Planned *b)
{
	const int n = a->bare->nsteps;
	const PlanRow *x = plan_rows(a->bare, a->plan, &a->time);
	const PlanRow *y = plan_rows(b->bare, b->plan, &b->time);
	Two t = { .arena = arena, .a = a, .b = b };
	t.rows = arena_array(arena, Difference, 2 * n + 1);
	for (int i = 0; i < n; i++) {
		if (x[i].nmoves || y[i].nmoves)
			add(&t, i, true, &x[i].moves, &y[i].moves);
		add(&t, i, false, &x[i].work, &y[i].work);
	}
	qsort(t.rows, (size_t)t.n, sizeof *t.rows, by_size);
	return t;
}

/* "bands 60 -> 30, type bf16 -> bfp8_b": fields of the step that moves do not show. */
static const char *changed(const Two *t, const Difference *d)
{
	const Step *s = &t->a->bare->steps[d->step];
	const char *before = "";
	TextFile f;
	text_open(&f);
	for (int i = 0; i < CHOICE_COUNT; i++) {
		const int a = choice_get(&t->a->choices[d->step], i);
		const int b = choice_get(&t->b->choices[d->step], i);
		const bool moves = choice_info[i].kind == CHOICE_PARTS;
		if (!choice_has(s, i) || a == b || moves != d->moves)
			continue;
		fprintf(f.f, "%s%s ", before, choice_info[i].key);
		choice_write(f.f, i, a);
		fputs(" -> ", f.f);
		choice_write(f.f, i, b);
		before = ", ";
	}
	return text_take(&f, t->arena);
}

/* B over A to a thousandth, as text. */
static const char *ratio(Arena *arena, int64_t a, int64_t b)
{
	const int64_t n = a ? (b * 1000 + a / 2) / a : 0;
	return arena_printf(arena, "%lld.%03d", (long long)(n / 1000), (int)(n % 1000));
}

static bool is_same(const Difference *d)
{
	for (int c = 0; c < CAUSE_COUNT; c++)
		if (d->less.cycles[c])
			return false;
	return true;
}

static void print_text(const Two *t)
{
	const Target *target = t->a->plan->target;
	Arena *m = t->arena;
	const StepTime *a = &t->a->time.all, *b = &t->b->time.all;
	const StepTime all = less(a, b);
	int same = 0;
	printf("%12s %10s %10s  op\n", "B - A us", "A us", "B us");
	for (int i = 0; i < t->n; i++) {
		const Difference *d = &t->rows[i];
		const char *what = changed(t, d);
		const char *causes = report_causes(m, target, &d->less);
		if (is_same(d) && !*what) {
			same++;
			continue;
		}
		printf("%12s %10s %10s  %s %s%s%s%s%s\n", report_us(m, target, d->less.total),
		       report_us(m, target, d->a.total), report_us(m, target, d->b.total), d->name,
		       d->kind, *causes ? ": " : "", causes, *what ? "; " : "", what);
	}
	if (same)
		printf("%12s %10s %10s  %d others\n", "0.0", "", "", same);
	printf("%12s %10s %10s  all, predicted: %s; B / A is %s\n", report_us(m, target, all.total),
	       report_us(m, target, a->total), report_us(m, target, b->total),
	       report_causes(m, target, &all), ratio(m, a->total, b->total));
}

static void print_csv(const Two *t)
{
	fputs("op,kind,a_cycles,b_cycles,difference", stdout);
	for (int c = 0; c < CAUSE_COUNT; c++)
		printf(",%s", cause_info[c].name);
	putchar('\n');
	for (int i = 0; i < t->n; i++) {
		const Difference *d = &t->rows[i];
		report_csv_name(stdout, d->name);
		printf(",%s,%lld,%lld,%lld", d->kind, (long long)d->a.total, (long long)d->b.total,
		       (long long)d->less.total);
		for (int c = 0; c < CAUSE_COUNT; c++)
			printf(",%lld", (long long)d->less.cycles[c]);
		putchar('\n');
	}
}

static void print_json(const Two *t)
{
	const StepTime *a = &t->a->time.all, *b = &t->b->time.all;
	const StepTime all = less(a, b);
	printf("{\"a_cycles\":%lld,\n\"b_cycles\":%lld,\n\"difference_cycles\":%lld,\n\"b_over_a\":%s,\n"
	       "\"clock_mhz\":%lld,\n", (long long)a->total, (long long)b->total,
	       (long long)all.total, ratio(t->arena, a->total, b->total),
	       (long long)t->a->plan->target->clock_mhz);
	report_json_causes(stdout, "difference", &all);
	fputs(",\n\"ops\":[", stdout);
	for (int i = 0; i < t->n; i++) {
		const Difference *d = &t->rows[i];
		printf("%s\n{\"op\":", i ? "," : "");
		json_print_string(stdout, d->name);
		printf(",\"kind\":\"%s\",\"a_cycles\":%lld,\"b_cycles\":%lld,", d->kind,
		       (long long)d->a.total, (long long)d->b.total);
		report_json_causes(stdout, "difference", &d->less);
		fputs(",\"changed\":", stdout);
		json_print_string(stdout, changed(t, d));
		putchar('}');
	}
	puts("]}");
}

static enum ExitCode price(Session *s, const Graph *g, const char *path, Asked *a, Planned *p)
{
	enum ExitCode code = session_asked(s, a);
	if (code == EXIT_OK)
		code = session_plan_file(s, a, path);
	a->request.whole = true;
	return code == EXIT_OK ? session_planned(s, g, a, p) : code;
}

enum ExitCode cmd_diff(Session *s)
{
	Asked asked[2];
	Planned p[2];
	const Format format = session_format(s);
	if (format == FORMATS)
		return EXIT_USAGE;
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	for (int i = 0; i < 2; i++) {
		const enum ExitCode code = price(s, g, s->opt->behind[i], &asked[i], &p[i]);
		if (code != EXIT_OK)
			return code;
		session_tell_open(s, &p[i]);
	}
	const Two t = compare(s->arena, &p[0], &p[1]);
	if (format == FORMAT_TEXT)
		print_text(&t);
	else if (format == FORMAT_CSV)
		print_csv(&t);
	else
		print_json(&t);
	return EXIT_OK;
}
