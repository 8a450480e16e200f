/*
 * What came of a calibration: constants and errors as text or JSON, or what was measured
 * beside what was predicted, row by row, as CSV.
 */
#include <inttypes.h>

#include "frontend/cmd_calibrate.h"
#include "frontend/json.h"

static const struct {
	const char *word, *why;
} states[] = {
	[FIT_FITTED] = { "fitted", NULL },
	[FIT_SAME] = { "same", "need not change for these times" },
	[FIT_UNSEEN] = { "unseen", "nothing that was measured depends on them" },
	[FIT_ALIKE] = { "alike", "cannot be told from the others named" },
	[FIT_FEW] = { "few", "too little was measured for one more" },
	[FIT_UNSURE] = { "unsure", "the times do not say what they are, or which of them it is" },
};

enum { STATES = sizeof states / sizeof *states };

static double sum_of(const double *v, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

double calibration_ratio(const Calibration *c, const Fit *f)
{
	return sum_of(c->times, c->rows) / sum_of(f->before, c->rows);
}

static void print_kept(const Calibration *c, const FitConstant *k, FitState state)
{
	int n = 0;
	for (int i = 0; i < c->n; i++) {
		if (k[i].state != state)
			continue;
		printf("%s%s", n++ ? ", " : "  kept        ", c->constants[i].name);
		if (state == FIT_ALIKE)
			printf(" (as %s)", c->constants[k[i].like].name);
	}
	if (n)
		printf(": %s\n", states[state].why);
}

static void print_text(const Calibration *c, const Fit *f)
{
	const FitConstant *k = f->constants;
	int before, after;
	printf("%d of the %d %s in the plan of %s are measured: column '%s'\n", c->rows, c->planned,
	       c->what, c->plan, c->measured.column);
	for (int i = 0; i < c->n; i++)
		if (k[i].state == FIT_FITTED)
			printf("  %-18s %8" PRId64 " -> %-8" PRId64 " %s, within %.1f%%\n",
			       c->constants[i].name, k[i].first, k[i].value, c->constants[i].unit,
			       100 * k[i].error);
	for (int state = FIT_FITTED + 1; state < STATES; state++)
		print_kept(c, k, (FitState)state);
	const double worst = fit_worst_error(f, f->before, &before);
	const double worst_now = fit_worst_error(f, f->after, &after);
	printf("  error       half of them within %.1f%% -> %.1f%%; at most %.1f%% (%s) -> %.1f%% (%s)\n",
	       100 * fit_median_error(f, f->before), 100 * fit_median_error(f, f->after),
	       100 * worst, c->names[before], 100 * worst_now, c->names[after]);
	printf("  in all      %.1f us measured, %.1f -> %.1f us predicted\n",
	       sum_of(c->times, c->rows) / 1e3, sum_of(f->before, c->rows) / 1e3,
	       sum_of(f->after, c->rows) / 1e3);
}

static void print_csv(const Calibration *c, const Fit *f)
{
	puts("op,measured_ns,before_ns,after_ns");
	for (int i = 0; i < c->rows; i++) {
		report_csv_name(stdout, c->names[i]);
		printf(",%.0f,%.0f,%.0f\n", c->times[i], f->before[i], f->after[i]);
	}
}

static void print_json(const Calibration *c, const Fit *f)
{
	fputs("{\"plan\":", stdout);
	json_print_string(stdout, c->plan);
	fputs(",\n\"target\":", stdout);
	json_print_string(stdout, c->base->name);
	fputs(",\n\"column\":", stdout);
	json_print_string(stdout, c->measured.column);
	printf(",\n\"median_error_before\":%.4f,\n\"median_error_after\":%.4f,\n\"constants\":[",
	       fit_median_error(f, f->before), fit_median_error(f, f->after));
	for (int i = 0; i < c->n; i++) {
		const FitConstant *k = &f->constants[i];
		const bool fitted = k->state == FIT_FITTED;
		printf("%s\n{\"name\":\"%s\",\"unit\":\"%s\",\"state\":\"%s\",\"before\":%" PRId64
		       ",\"after\":%" PRId64, i ? "," : "", c->constants[i].name, c->constants[i].unit,
		       states[k->state].word, k->first, fitted ? k->value : k->first);
		if (fitted)
			printf(",\"relative_error\":%.4f", k->error);
		if (k->state == FIT_ALIKE)
			printf(",\"like\":\"%s\"", c->constants[k->like].name);
		putchar('}');
	}
	fputs("],\n\"ops\":[", stdout);
	for (int i = 0; i < c->rows; i++) {
		printf("%s\n{\"op\":", i ? "," : "");
		json_print_string(stdout, c->names[i]);
		printf(",\"measured_ns\":%.0f,\"before_ns\":%.0f,\"after_ns\":%.0f}", c->times[i],
		       f->before[i], f->after[i]);
	}
	puts("]}");
}

void calibration_print(const Calibration *c, const Fit *f, Format format)
{
	switch (format) {
	case FORMAT_TEXT: print_text(c, f); return;
	case FORMAT_JSON: print_json(c, f); return;
	case FORMAT_CSV: print_csv(c, f); return;
	case FORMATS: return;
	}
}
