#include "frontend/cmd_calibrate.h"

#include <string.h>

#include "frontend/cmd_device.h"
#include "frontend/cmd_ttnn.h"

/* Times that are so many times off have another unit than they say. */
enum { FAR_OFF = 50, LEAST_ROWS = 4 };
static const double badly = 0.3; /* the model does not meet half of the times */

/* Our own kernels: a step of the plan, or the moves before it, or both. */
typedef struct Item {
	int step;
	bool work, moves;
	double sum; /* measured, in ns */
	int times;
} Item;

typedef struct Own {
	Calibration *c;
	Planned *planned;
	Item *items;
	int n, *item; /* of each row */
} Own;

void calibration_begin(Calibration *c, const Target *t, bool ttnn)
{
	Arena *a = c->session->arena;
	TargetConstant *all;
	c->base = t;
	c->target = *t;
	const int n = target_constants(a, &c->target, &all);
	c->constants = arena_array(a, TargetConstant, n);
	for (int i = 0; i < n; i++)
		if (all[i].of_ttnn == ttnn)
			c->constants[c->n++] = all[i];
}

void calibration_set(Calibration *c, const int64_t *values)
{
	for (int i = 0; i < c->n; i++)
		*c->constants[i].value = values[i];
}

void calibration_add(Calibration *c, const char *name, double sum, int times)
{
	Arena *a = c->session->arena;
	c->names = arena_grow(a, c->names, c->rows, sizeof *c->names);
	c->times = arena_grow(a, c->times, c->rows, sizeof *c->times);
	c->names[c->rows] = name;
	c->times[c->rows++] = sum / times;
}

static double ns_of(const Calibration *c, int64_t cycles)
{
	return (double)cycles * 1000 / (double)c->target.clock_mhz;
}

static void predict_own(void *context, const int64_t *values, double *to)
{
	Own *x = context;
	Planned *p = x->planned;
	calibration_set(x->c, values);
	p->plan->target = &x->c->target;
	const PlanTime time = plan_time(p->plan);
	const PlanRow *rows = plan_rows(p->bare, p->plan, &time);
	p->plan->target = x->c->base;
	for (int i = 0; i < x->c->rows; i++) {
		const Item *item = &x->items[x->item[i]];
		const PlanRow *r = &rows[item->step];
		to[i] = ns_of(x->c, (item->work ? r->work.total : 0)
			      + (item->moves ? r->moves.total : 0));
	}
}

/* What the rows of a table may be about. With a column of kinds a step and its moves have
 * a row each, without one a step is measured with them. */
static void list_items(Own *x, bool kinds)
{
	const Plan *bare = x->planned->bare;
	const PlanRow *rows = plan_rows(bare, x->planned->plan, &x->planned->time);
	x->items = arena_array(x->c->session->arena, Item, 2 * bare->nsteps + 1);
	for (int i = 0; i < bare->nsteps; i++) {
		if (kinds && rows[i].nmoves)
			x->items[x->n++] = (Item){ .step = i, .moves = true };
		x->items[x->n++] = (Item){ .step = i, .work = true, .moves = !kinds };
	}
}

static bool is_about(const Own *x, const Item *item, const MeasuredRow *row)
{
	const Step *s = &x->planned->bare->steps[item->step];
	if (strcmp(row->name, choice_step_spelling(x->planned->bare, item->step)) != 0)
		return false;
	return !*row->kind || strcmp(row->kind, item->work ? step_names[s->kind] : "moves") == 0;
}

/* Says which rows are about nothing; there may be lines of totals among them. */
static void tell_strange(const Own *x, const MeasuredRow *first, int n)
{
	const Measured *m = &x->c->measured;
	Diag *d = x->c->session->diag;
	const Loc at = { .file = m->path, .line = first->line, .col = 1 };
	const int steps = x->planned->bare->nsteps;
	const char **names = arena_array(x->c->session->arena, const char *, steps + 1);
	for (int i = 0; i < steps; i++)
		names[i] = choice_step_spelling(x->planned->bare, i);
	const char *near = diag_nearest(first->name, names, (size_t)steps);
	const char *kind = *first->kind ? arena_printf(x->c->session->arena, " (%s)", first->kind) : "";
	if (n == m->n) {
		diag_error(d, at, "no row names an op of the plan of %s; the first is '%s'%s",
			   x->c->plan, first->name, kind);
		if (near)
			diag_note(d, at, "did you mean '%s'?", near);
		else
			diag_note(d, at, "rows of ttnn's own programs are for --kernels=ttnn");
		return;
	}
	diag_warning(d, at, "%d row%s of ops that the plan of %s does not have, '%s'%s first: left out",
		     n, n > 1 ? "s" : "", x->c->plan, first->name, kind);
}

static void match_own(Own *x)
{
	Calibration *c = x->c;
	const Measured *m = &c->measured;
	const MeasuredRow *first = NULL;
	int strange = 0;
	for (int i = 0; i < m->n; i++) {
		int k = 0;
		while (k < x->n && !is_about(x, &x->items[k], &m->rows[i]))
			k++;
		if (k == x->n) {
			strange++;
			first = first ? first : &m->rows[i];
			continue;
		}
		x->items[k].sum += m->unit > 0 ? m->rows[i].time * m->unit
			: m->rows[i].time * 1000 / (double)c->base->clock_mhz;
		x->items[k].times++;
	}
	if (strange)
		tell_strange(x, first, strange);
	x->item = arena_array(c->session->arena, int, x->n + 1);
	c->planned = x->n;
	for (int k = 0; k < x->n; k++) {
		const Item *item = &x->items[k];
		const char *name = choice_step_spelling(x->planned->bare, item->step);
		if (!item->times)
			continue;
		x->item[c->rows] = k;
		if (!item->work)
			name = arena_printf(c->session->arena, "moves of %s", name);
		calibration_add(c, name, item->sum, item->times);
	}
}

static enum ExitCode calibrate_own(Calibration *c, const Graph *g, Own *x, Asked *a, Planned *p)
{
	Session *s = c->session;
	enum ExitCode code = session_asked(s, a);
	a->request.whole = option_given(s->opt, OPT_PLAN);
	if (code == EXIT_OK)
		code = session_planned(s, g, a, p);
	if (code != EXIT_OK)
		return code;
	if (a->request.whole)
		session_tell_open(s, p);
	*x = (Own){ .c = c, .planned = p };
	calibration_begin(c, a->target, false);
	list_items(x, c->measured.n && *c->measured.rows[0].kind);
	match_own(x);
	c->predict = predict_own;
	c->context = x;
	return s->diag->errors ? EXIT_MODEL : EXIT_OK;
}

/* ---- what comes of it ---- */

/* False, reported, if the times cannot be in the unit they say. */
static bool unit_is_right(const Calibration *c, const Fit *f)
{
	const double ratio = calibration_ratio(c, f);
	if (ratio < FAR_OFF && ratio * FAR_OFF > 1)
		return true;
	diag_error(c->session->diag, (Loc){ .file = c->measured.path },
		   "the times of column '%s' are %.3g times those predicted: what is their unit?",
		   c->measured.column, ratio);
	return false;
}

static bool write_target(Calibration *c, const Fit *f)
{
	Session *s = c->session;
	const char *path = option_text(s->opt, OPT_OUT), *from = option_text(s->opt, OPT_TARGET);
	OutFile out;
	if (!path)
		return true;
	if (!out_open(&out, s->arena, s->diag, path))
		return false;
	fprintf(out.f, "# Fitted to %s: %d rows of %s.\n# Half of them are predicted within %.1f%%; "
		"with %s it was %.1f%%.\n", c->measured.path, c->rows, c->plan,
		100 * fit_median_error(f, f->after), c->base->name,
		100 * fit_median_error(f, f->before));
	if (from && strpbrk(from, "/."))
		target_print(&c->target, out.f);
	else
		target_print_heir(&c->target, c->base, out.f);
	if (!out_commit(&out, s->diag))
		return false;
	session_wrote(s, path);
	return true;
}

static enum ExitCode fit_and_tell(Calibration *c, Format format)
{
	Arena *a = c->session->arena;
	Fit f = { .arena = a, .constants = arena_array(a, FitConstant, c->n), .n = c->n,
		  .measured = c->times, .rows = c->rows, .predict = c->predict,
		  .context = c->context };
	int64_t *values = arena_array(a, int64_t, c->n);
	int agreeing = 0;
	for (int i = 0; i < c->n; i++)
		f.constants[i] = (FitConstant){ .least = c->constants[i].least,
						.most = c->constants[i].most,
						.first = *c->constants[i].value };
	const Loc at = { .file = c->measured.path };
	if (c->rows < LEAST_ROWS) {
		diag_error(c->session->diag, at, "%d of the %s of the plan: at least %d have to be "
			   "measured", c->rows, c->what, LEAST_ROWS);
		return EXIT_MODEL;
	}
	const int fitted = fit_run(&f);
	if (!unit_is_right(c, &f))
		return EXIT_MODEL;
	calibration_print(c, &f, format);
	for (int i = 0; i < c->n; i++)
		agreeing += f.constants[i].state == FIT_SAME;
	if (!fitted && !agreeing) {
		diag_error(c->session->diag, at, "these times tell no constant of the cost model: "
			   "measure ops of other kinds too");
		return EXIT_MODEL;
	}
	const double off = fit_median_error(&f, f.after);
	if (off > badly)
		diag_warning(c->session->diag, at, "half of the times are still predicted %.0f%% wrong "
			     "or worse: was it this plan that was measured?", 100 * off);
	for (int i = 0; i < c->n; i++)
		values[i] = f.constants[i].state == FIT_FITTED ? f.constants[i].value
							       : f.constants[i].first;
	calibration_set(c, values);
	return write_target(c, &f) ? EXIT_OK : EXIT_MODEL;
}

enum ExitCode cmd_calibrate(Session *s)
{
	Calibration c = { .session = s };
	Own own;
	Asked a;
	Planned p;
	const Kernels kernels = session_kernels(s);
	const char *path = s->opt->behind[0], *out = option_text(s->opt, OPT_OUT);
	if (out)
		session_keep_read(s, out, false);
	const Format format = session_format(s);
	if (kernels == KERNELS_UNKNOWN || format == FORMATS || s->diag->errors)
		return EXIT_USAGE;
	if (!measured_read(&c.measured, s->arena, s->diag, path))
		return EXIT_MODEL;
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	c.plan = kernels == KERNELS_TTNN ? arena_printf(s->arena, "%s for ttnn", g->name) : g->name;
	c.what = kernels == KERNELS_TTNN ? "programs" : "ops and moves";
	const enum ExitCode code = kernels == KERNELS_TTNN ? calibration_ttnn(&c, g)
		: calibrate_own(&c, g, &own, &a, &p);
	return code == EXIT_OK ? fit_and_tell(&c, format) : code;
}
