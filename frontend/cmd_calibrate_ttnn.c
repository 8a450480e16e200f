/*
 * Calibrating for --kernels=ttnn: a profile of ttnn has its programs in the order in which
 * they ran, by the names of their kinds alone. They are laid beside the programs of the
 * plan so that as many as possible match, over as many runs as there seem to be.
 */
#include <string.h>
#include <strings.h>

#include "frontend/cmd_calibrate.h"
#include "frontend/cmd_ttnn.h"
#include "passes/ttnn_plan.h"

/* How many in a hundred of the plan's programs have to be there, and how many rows have to be
 * about them; rows that are looked at; a gap so many times as long as it should be is not
 * one of a trace. */
enum { ENOUGH = 75, ENOUGH_ROWS = 80, MOST_ROWS = 4000, NO_TRACE = 10 };

/* A program that the plan runs, once. */
typedef struct Ran {
	int program; /* of the plan */
	double sum;
	int times;
} Ran;

typedef struct Ttnn {
	Calibration *c;
	TtnnPlan plan;
	Ran *ran;
	int n, *row; /* of each row: which ran; -1: the gap */
} Ttnn;

/* "Halo UntilizeWithHalo": does the op code begin with one of these? */
static bool is_code(const char *code, const char *codes)
{
	while (*codes) {
		const size_t n = strcspn(codes, " ");
		if (strncasecmp(code, codes, n) == 0)
			return true;
		codes += n + (codes[n] == ' ');
	}
	return false;
}

static bool is_kind(const char *code, TtnnProgramKind kind)
{
	static const char *const codes[TTNN_PROGRAMS] = {
#define TTNN_PROGRAM(id, name, codes, what) [TTNN_RUN_##id] = codes,
#include "ir/ttnn_programs.def"
	};
	static const char device[] = "ttnn::"; /* some versions have the whole name */
	const bool whole = strncmp(code, device, sizeof device - 1) == 0;
	return is_code(whole ? strrchr(code, ':') + 1 : code, codes[kind]);
}

/* All runs of all programs in their order: an op in slices goes slice by slice. */
static void list_runs(Ttnn *x)
{
	const TtnnPlan *p = &x->plan;
	Arena *a = x->c->session->arena;
	for (int i = 0; i < p->nops; i++) {
		const TtnnOp *o = &p->ops[i];
		bool more = true;
		for (int turn = 0; more; turn++) {
			more = false;
			for (int k = o->first; k < o->first + o->n; k++) {
				if (turn >= p->programs[k].times)
					continue;
				more = true;
				x->ran = arena_grow(a, x->ran, x->n, sizeof *x->ran);
				x->ran[x->n++] = (Ran){ .program = k };
			}
		}
	}
}

static int larger(int a, int b) { return a > b ? a : b; }

/* For each row, which of `runs` times the plan's programs it is, or -1: the longest common
 * subsequence. Returns how many match. */
static int align(const Ttnn *x, int runs, int *to)
{
	const Measured *m = &x->c->measured;
	const int rows = m->n, all = x->n * runs;
	Arena *a = arena_create();
	int *best = arena_calloc(a, (size_t)(rows + 1) * (all + 1), sizeof(int));
	int i = 0, k = 0, matched = 0;
#define BEST(i, k) best[(size_t)(i) * (size_t)(all + 1) + (size_t)(k)]
	for (i = rows - 1; i >= 0; i--)
		for (k = all - 1; k >= 0; k--) {
			const TtnnProgram *p = &x->plan.programs[x->ran[k % x->n].program];
			const int both = BEST(i + 1, k + 1) + is_kind(m->rows[i].name, p->kind);
			BEST(i, k) = larger(both, larger(BEST(i + 1, k), BEST(i, k + 1)));
		}
	for (i = k = 0; i < rows; i++) {
		while (k < all && BEST(i, k) == BEST(i, k + 1))
			k++;
		to[i] = -1;
		if (BEST(i, k) == BEST(i + 1, k))
			continue;
		to[i] = k++ % x->n;
		matched++;
	}
#undef BEST
	arena_destroy(a);
	return matched;
}

static double gap_of(const TtnnPlan *p)
{
	double runs = 0;
	for (int i = 0; i < p->nprograms; i++)
		runs += (double)p->programs[i].times;
	return runs > 0 ? (double)p->gap_ps / 1e3 / runs : 0;
}

/* The gap between programs as one row more, if they were traced. */
static void add_gap(Ttnn *x, const int *to)
{
	const Calibration *c = x->c;
	const Measured *m = &c->measured;
	double *gaps = arena_array(c->session->arena, double, m->n + 1);
	int n = 0;
	for (int i = 0; i < m->n; i++)
		if (to[i] >= 0 && m->rows[i].gap > 0)
			gaps[n++] = m->rows[i].gap;
	if (!n)
		return;
	const double gap = fit_median(c->session->arena, gaps, n);
	if (gap > NO_TRACE * gap_of(&x->plan)) {
		diag_note(c->session->diag, (Loc){ .file = m->path }, "%.0f us between programs: "
			  "ttnn_gap stays as it is, it is that of a trace", gap / 1e3);
		return;
	}
	x->row[c->rows] = -1;
	calibration_add(x->c, "gaps", gap, 1);
	x->c->planned++;
	x->c->what = "programs and gaps";
}

static void predict_ttnn(void *context, const int64_t *values, double *to)
{
	const Ttnn *x = context;
	Calibration *c = x->c;
	calibration_set(c, values);
	Arena *a = arena_create();
	const TtnnPlan p = ttnn_price(&x->plan, &c->target, a);
	for (int i = 0; i < c->rows; i++) {
		const int ran = x->row[i];
		const TtnnProgram *r = &p.programs[x->ran[larger(ran, 0)].program];
		to[i] = ran < 0 ? gap_of(&p) : (double)r->ps / 1e3 / (double)r->times;
	}
	arena_destroy(a);
}

static bool match(Ttnn *x, int *to)
{
	Calibration *c = x->c;
	const Measured *m = &c->measured;
	Loc at = { .file = m->path };
	Diag *d = c->session->diag;
	const int runs = m->n / x->n > 1 ? m->n / x->n : 1;
	if (m->n > MOST_ROWS || (int64_t)runs * x->n > MOST_ROWS) {
		diag_error(d, at, "%d rows: at most %d, a few runs of the net are enough", m->n, MOST_ROWS);
		return false;
	}
	const int matched = align(x, runs, to);
	int there = 0;
	for (int i = 0; i < m->n; i++) {
		if (to[i] < 0) {
			at.line = at.line ? at.line : m->rows[i].line;
			at.col = 1;
			continue;
		}
		Ran *r = &x->ran[to[i]];
		there += !r->times++;
		r->sum += m->unit > 0 ? m->rows[i].time * m->unit
			: m->rows[i].time * 1000 / (double)c->base->clock_mhz;
	}
	if (there * 100 < x->n * ENOUGH || matched * 100 < m->n * ENOUGH_ROWS) {
		diag_error(d, at, "%d of the %d programs of the plan are there in their order, in %d of "
			   "%d rows: another plan or net was measured", there, x->n, matched, m->n);
		diag_note(d, (Loc){ .file = m->path }, "--plan names the plan that the module was written from");
		return false;
	}
	if (matched < m->n)
		diag_warning(d, at, "%d row%s of programs that the plan does not run: left out",
			     m->n - matched, m->n - matched > 1 ? "s" : "");
	return true;
}

enum ExitCode calibration_ttnn(Calibration *c, const Graph *g)
{
	Session *s = c->session;
	Ttnn *x = arena_new(s->arena, Ttnn);
	x->c = c;
	const enum ExitCode code = session_ttnn(s, g, option_given(s->opt, OPT_PLAN), &x->plan);
	if (code != EXIT_OK)
		return code;
	calibration_begin(c, x->plan.target, true);
	list_runs(x);
	c->planned = x->n;
	int *to = arena_array(s->arena, int, c->measured.n);
	if (!match(x, to))
		return EXIT_MODEL;
	x->row = arena_array(s->arena, int, x->n + 1);
	for (int k = 0; k < x->n; k++) {
		const TtnnProgram *p = &x->plan.programs[x->ran[k].program];
		if (!x->ran[k].times)
			continue;
		x->row[c->rows] = k;
		calibration_add(c, arena_printf(s->arena, "%s of %s", ttnn_program_names[p->kind],
						x->plan.ops[p->op].op->name),
				x->ran[k].sum, x->ran[k].times);
	}
	add_gap(x, to);
	c->predict = predict_ttnn;
	c->context = x;
	return EXIT_OK;
}
