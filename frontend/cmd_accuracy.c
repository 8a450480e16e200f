/*
 * --min-pcc and --max-err of compile and plan: accuracy as a constraint.
 *
 * The graph runs on the plain executor with a sample input, which is --calibrate's or
 * random; that is what outputs should be, and what passes/accuracy.h learns from. The
 * program made of the plan then runs on the emulator, as the device would compute. While
 * an output is farther off than it may be, formats and fidelity are raised along a path
 * (passes/raises.h) to where the model has as much less noise as is too much, and all is
 * planned anew with these pinned. A greatest error that is missed says how much that is,
 * as a correlation does (accuracy_limits.h): it falls with the noise, though not with
 * every raise. Each round aims farther beyond what is wanted than the one before, so there
 * are few; in the end what the last seems to have raised too much is given back, if it is
 * worth the time and the limits hold.
 */
#include <math.h>
#include <string.h>

#include "frontend/accuracy_limits.h"
#include "frontend/cmd_device.h"
#include "ir/compare.h"
#include "ir/file.h"
#include "ir/quote.h"
#include "passes/raises.h"
#include "runtime/ref/ref.h"

enum {
	MOST_PATHS = 4, /* in a round */
	MOST_OUTLIERS = 2, /* rounds on, if outliers alone are too far off, */
	FEW = 10000,    /* and they are but one value in so many */
	MOST_FEWER = 2, /* programs run to see whether fewer raises would do, */
	LEAST_SHARE = 100, /* for a hundredth of the time or more */
};

/* Of the noise that is wanted: how far the first round aims beyond it, and what a last try
 * aims at. */
static const double LEAST_BEYOND = 0.05, NEARLY = 0.97;

/* How near all outputs are. */
typedef struct Reached {
	bool holds;
	bool most_hold;     /* but for one value in FEW */
	double pcc, error;  /* the least and the greatest of them */
	double usual;       /* the greatest error that is no outlier */
	double excess;      /* of the output with most of it, as limits have it */
	const char *worst;  /* that output */
} Reached;

/* Noise by the model, and what was measured with it. */
typedef struct Point {
	double noise, excess;
} Point;

/* What the last round raised, on one path or on several. */
typedef struct Round {
	const Pins *pins;  /* before it */
	double excess, noise; /* likewise, the first as measured */
	Raise *raises;
	int n;
} Round;

typedef struct Quest {
	Session *s;
	const Graph *g;
	Compiled *c;
	Accuracy *accuracy;
	Tensor **in, **want, **got;
	Limits limits;
	Reached is, best;
	Planned first;    /* the plan with nothing raised */
	Pins *pins;       /* what is raised, of each step of the bare plan */
	unsigned *closed; /* fields of each that there is no plan with: nclosed in all */
	int nclosed;
	Round last;
	int given_back;   /* of the last round */
} Quest;

bool session_accuracy_asked(Session *s)
{
	const bool can_be = option_real(s->opt, OPT_MIN_PCC, 0) <= 1;
	if (!can_be)
		usage_error(s->diag, "'--min-pcc': a correlation is at most 1, not %s",
			    option_text(s->opt, OPT_MIN_PCC));
	return can_be;
}

static int step_count(const Quest *q) { return q->first.bare->nsteps; }

static double noise_now(const Quest *q)
{
	const Planned *p = &q->c->planned;
	return accuracy_noise(q->accuracy, p->bare, p->choices);
}

/* Noise is not the reason, though other noise may have other outliers. */
static bool outliers_miss(const Reached *r) { return !r->holds && r->excess <= 1; }

/* What outputs should be, and what every layer has to round. */
static enum ExitCode run_reference(Quest *q)
{
	const RefOptions opt = { .seen = accuracy_seen, .context = q->accuracy };
	session_progress(q->s, "running the reference");
	return ref_run(q->g, q->s->arena, q->in, q->want, &opt) ? EXIT_OK : EXIT_MODEL;
}

/* Of an output that should be constant, how near it is stands for the correlation. */
static void look(Quest *q)
{
	int k = 0;
	q->is = (Reached){ .holds = true, .most_hold = true, .pcc = 1, .excess = -1 };
	for_each_op(op, q->g) {
		if (op->kind != OP_OUTPUT)
			continue;
		const Closeness c = tensor_compare(q->want[k], q->got[k]);
		const double usual = tensor_usual_error(q->want[k], q->got[k], &c, 1000);
		Closeness most = c;
		most.max_rel = tensor_usual_error(q->want[k], q->got[k], &c, FEW);
		const double excess = limits_excess(q->limits, &c, usual);
		q->is.holds &= limits_hold(q->limits, &c);
		q->is.most_hold &= limits_hold(q->limits, &most);
		q->is.pcc = fmin(q->is.pcc, c.constant ? 1 - c.max_rel : c.pcc);
		q->is.error = fmax(q->is.error, c.max_rel);
		q->is.usual = fmax(q->is.usual, usual);
		if (excess > q->is.excess) {
			q->is.worst = inputs_edge_name(op);
			q->is.excess = excess;
		}
		k++;
	}
}

static enum ExitCode measure(Quest *q)
{
	enum ExitCode code = session_emit(q->s, q->g, q->c);
	if (code == EXIT_OK)
		code = session_run_package(q->s, q->g, q->c->emission.package, "emu", q->in, q->got);
	if (code != EXIT_OK)
		return code;
	look(q);
	if (!q->best.worst || q->is.excess < q->best.excess
	    || (q->is.excess == q->best.excess && q->is.pcc > q->best.pcc))
		q->best = q->is;
	return EXIT_OK;
}

/* ---- plans ---- */

static void subject_print(FILE *f, const Plan *bare, int step, ChoiceField field)
{
	const bool tensor = choice_info[field].who == CHOICE_RESULT;
	fputs(tensor ? "tensor " : "op ", f);
	if (tensor)
		name_print(f, bare->steps[step].out->name);
	else
		fputs(choice_step_spelling(bare, step), f);
}

/* The command line's pins, and those of what is raised. */
static void add_pins(const Quest *q, const Pins *pins, Asked *a)
{
	TextFile t;
	text_open(&t);
	if (a->request.line)
		fputs(a->line.text, t.f);
	for (int i = 0; i < step_count(q); i++)
		for (int f = 0; f < CHOICE_COUNT; f++) {
			if (!(pins[i].fixed >> f & 1))
				continue;
			subject_print(t.f, q->first.bare, i, (ChoiceField)f);
			fputc(' ', t.f);
			pin_print(t.f, &pins[i], f);
			fputc('\n', t.f);
		}
	const char *text = text_take(&t, q->s->arena);
	a->line = (PlanSource){ "accuracy", text, strlen(text) };
	a->request.line = *text ? &a->line : NULL;
}

/* If there is no plan with these, all stays as it was. */
static enum ExitCode plan_with(Quest *q, Pins *pins)
{
	Compiled *c = arena_new(q->s->arena, Compiled);
	const enum ExitCode code = session_asked(q->s, &c->asked);
	if (code != EXIT_OK)
		return code;
	add_pins(q, pins, &c->asked);
	switch (planner_run(q->g, c->asked.target, &c->asked.request, &c->planned)) {
	case PLANNED:
		q->c = c;
		q->pins = pins;
		return EXIT_OK;
	case PLAN_WRONG:
		die("what was raised in '%s' is not legal", q->g->name);
	case PLAN_NONE:
		break;
	}
	return EXIT_INFEASIBLE;
}

static Pins *with_raises(const Quest *q, const Pins *pins, const Raise *r, int n)
{
	Pins *all = arena_array(q->s->arena, Pins, step_count(q) + 1);
	memcpy(all, pins, (size_t)step_count(q) * sizeof *all);
	for (int i = 0; i < n; i++)
		raise_pin(q->first.bare, &r[i], all);
	return all;
}

/* ---- rounds ---- */

static void add_to_round(Quest *q, const Raise *r, int n)
{
	Round *last = &q->last;
	Raise *all = arena_array(q->s->arena, Raise, last->n + n + 1);
	for (int i = 0; i < last->n; i++)
		all[i] = last->raises[i];
	memcpy(all + last->n, r, (size_t)n * sizeof *all);
	last->raises = all;
	last->n += n;
}

/* The path to where the noise is what is wanted, or half of it if there is no plan with
 * that. False: nothing is left. */
static bool raise_along(Quest *q, double noise)
{
	const RaiseOptions o = { .held = q->first.pins, .closed = q->closed, .noise = noise,
				 .most_phases = q->limits.max_err >= 0 ? 3 : 0 };
	for (;;) {
		int n;
		const Raise *r = raise_path(q->accuracy, &q->c->planned, &o, &n);
		for (int count = n; count; count /= 2)
			if (plan_with(q, with_raises(q, q->pins, r, count)) == EXIT_OK) {
				add_to_round(q, r, count);
				return true;
			}
		if (!n)
			return false;
		q->closed[r->step] |= 1u << r->field;
		q->nclosed++;
	}
}

/* Sums that the matrix unit loses (DEVICE.md) are those of four phases, mostly, and what
 * three leave out is little. False: there is no fourth to do without. */
static bool do_without_fourth(Quest *q)
{
	const Planned *p = &q->c->planned;
	Pins *pins = with_raises(q, q->pins, NULL, 0);
	bool any = false;
	for (int i = 0; i < step_count(q); i++) {
		if (!choice_has(&p->bare->steps[i], CHOICE_phases) || p->choices[i].phases != 4
		    || q->first.pins[i].fixed >> CHOICE_phases & 1)
			continue;
		pins[i].value.phases = 3;
		pins[i].fixed |= 1u << CHOICE_phases;
		any = true;
	}
	q->last = (Round){ .pins = q->pins };
	return any && plan_with(q, pins) == EXIT_OK;
}

/* A search may store in less what nobody told it to: then some more is raised. */
static bool raise_some(Quest *q, double beyond)
{
	q->last = (Round){ .pins = q->pins, .excess = q->is.excess, .noise = noise_now(q) };
	const double wanted = q->last.noise / q->last.excess / (1 + beyond);
	for (int i = 0; i < MOST_PATHS && (!q->last.n || noise_now(q) > wanted); i++)
		if (!raise_along(q, wanted))
			return q->last.n > 0;
	return true;
}

/* How many of the last raises it seems to take, more than `few`: the excess is taken to
 * go with the noise of the model. */
static int needed(const Quest *q, Point lacks, Point holds, int few)
{
	const double share = (lacks.excess - NEARLY) / (lacks.excess - holds.excess);
	const double enough = lacks.noise - share * (lacks.noise - holds.noise);
	int n = few + 1;
	while (n < q->last.n && q->last.raises[n - 1].noise > enough)
		n++;
	return n;
}

/* Of what the last round raised so many alone, if the limits hold then, in less time. */
static enum ExitCode try_fewer(Quest *q, int n, Reached *got)
{
	Compiled *const c = q->c;
	Pins *const pins = q->pins;
	const Reached was = q->is;
	*got = (Reached){ .excess = INFINITY };
	if (plan_with(q, with_raises(q, q->last.pins, q->last.raises, n)) != EXIT_OK)
		return EXIT_OK;
	const enum ExitCode code = measure(q);
	*got = q->is;
	got->holds &= q->c->planned.time.all.total < c->planned.time.all.total;
	if (code == EXIT_OK && !got->holds) {
		q->c = c;
		q->pins = pins;
		q->is = was;
	}
	return code;
}

static enum ExitCode give_back(Quest *q)
{
	const Raise *r = q->last.raises;
	Point lacks = { q->last.noise, q->last.excess };
	enum ExitCode code = EXIT_OK;
	int few = 0, enough = q->last.n;
	for (int i = 0; i < MOST_FEWER && code == EXIT_OK && isfinite(lacks.excess); i++) {
		const Point holds = { r[enough - 1].noise, q->is.excess };
		const int n = needed(q, lacks, holds, few);
		const int64_t less = r[enough - 1].time - r[n - 1].time;
		Reached got;
		if (n >= enough || less * LEAST_SHARE < r[n - 1].time)
			break;
		code = try_fewer(q, n, &got);
		if (got.holds) {
			q->given_back = q->last.n - n;
			enough = n;
		} else {
			few = n;
			lacks = (Point){ r[n - 1].noise, got.excess };
		}
	}
	return code;
}

/* ---- what is told ---- */

static const char *reached_text(const Quest *q, const Reached *r)
{
	return arena_printf(q->s->arena, "pcc %.7f, max error %.3g of the range", r->pcc, r->error);
}

static const char *raised_text(const Quest *q, int step, ChoiceField f)
{
	TextFile t;
	text_open(&t);
	subject_print(t.f, q->first.bare, step, f);
	fputc(' ', t.f);
	pin_print(t.f, &q->pins[step], f);
	fputs(" (was ", t.f);
	choice_write(t.f, f, choice_get(&q->first.choices[step], f));
	fputc(')', t.f);
	return text_take(&t, q->s->arena);
}

static bool is_raised(const Quest *q, int step, int f)
{
	const Pins *p = &q->pins[step];
	return p->fixed >> f & 1
		&& choice_get(&p->value, f) != choice_get(&q->first.choices[step], f);
}

/* From four phases to three. */
static bool is_lower(const Quest *q, int step, int f)
{
	return f == CHOICE_phases && q->pins[step].value.phases < q->first.choices[step].phases;
}

static int raised_count(const Quest *q)
{
	int n = 0;
	for (int i = 0; i < step_count(q) * CHOICE_COUNT; i++)
		n += is_raised(q, i / CHOICE_COUNT, i % CHOICE_COUNT);
	return n;
}

static void tell(const Quest *q, const Reached *first)
{
	Session *s = q->s;
	const Loc model = { .file = s->opt->model };
	const Target *t = q->first.bare->target;
	const char *sample = s->inputs.ncalibrate ? "the input of --calibrate" : "a random input";
	const char *is = reached_text(q, &q->is);
	const int n = raised_count(q);
	if (!n) {
		diag_note(s->diag, model, "%s on %s, nothing had to be raised", is, sample);
		return;
	}
	diag_note(s->diag, model, "%s on %s; %s before %d thing%s raised; predicted %s us, %s us before",
		  is, sample, reached_text(q, first), n, n > 1 ? "s were" : " was",
		  report_us(s->arena, t, q->c->planned.time.all.total),
		  report_us(s->arena, t, q->first.time.all.total));
	for (int i = 0; i < step_count(q); i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (is_raised(q, i, f))
				diag_note(s->diag, model, "%s %s", is_lower(q, i, f) ? "lowered" : "raised",
					  raised_text(q, i, (ChoiceField)f));
	if (q->given_back)
		diag_note(s->diag, model, "%d more raise%s given back", q->given_back,
			  q->given_back > 1 ? "s were" : " was");
}

/* As on the command line. */
static const char *limits_text(const Quest *q)
{
	const char *pcc = option_text(q->s->opt, OPT_MIN_PCC);
	const char *error = option_text(q->s->opt, OPT_MAX_ERR);
	return arena_printf(q->s->arena, "%s%s%s%s%s", pcc ? "--min-pcc=" : "", pcc ? pcc : "",
			    pcc && error ? " " : "", error ? "--max-err=" : "", error ? error : "");
}

static enum ExitCode tell_best(const Quest *q)
{
	const Loc model = { .file = q->s->opt->model };
	diag_error(q->s->diag, model, "%s: %s at output '%s' is the nearest that was reached%s",
		   limits_text(q), reached_text(q, &q->best), q->best.worst,
		   outliers_miss(&q->best) ? "" : ", with all raised that can be");
	if (outliers_miss(&q->best))
		diag_note(q->s->diag, model, "outliers alone are that far off: all but a thousandth of "
			  "the values are within %.3g of the range", q->best.usual);
	if (q->nclosed)
		diag_note(q->s->diag, model, "%d more could be with more L1", q->nclosed);
	return EXIT_INFEASIBLE;
}

/* With another plan others are too far off, but hardly none if they are many. */
static bool is_hopeless(const Quest *q, int by_outliers)
{
	return outliers_miss(&q->is) && (by_outliers > MOST_OUTLIERS || !q->is.most_hold);
}

static void remember_first(Quest *q)
{
	const int n = q->c->planned.bare->nsteps;
	q->first = q->c->planned;
	q->pins = arena_array(q->s->arena, Pins, n + 1);
	q->closed = arena_array(q->s->arena, unsigned, n + 1);
}

static enum ExitCode seek(Quest *q)
{
	enum ExitCode code = session_lower(q->s, q->g, q->c);
	if (code != EXIT_OK)
		return code;
	remember_first(q);
	code = measure(q);
	const Reached first = q->is;
	int by_outliers = outliers_miss(&first);
	for (double beyond = LEAST_BEYOND; code == EXIT_OK && !q->is.holds; beyond *= 2) {
		if (!(outliers_miss(&q->is) && do_without_fourth(q))
		    && (is_hopeless(q, by_outliers) || !raise_some(q, beyond)))
			return tell_best(q);
		code = measure(q);
		by_outliers += outliers_miss(&q->is);
	}
	if (code == EXIT_OK && q->last.n)
		code = give_back(q);
	if (code == EXIT_OK)
		tell(q, &first);
	return code;
}

enum ExitCode session_accurate(Session *s, const Graph *g, Compiled *c)
{
	const int n = inputs_count(g, OP_OUTPUT);
	if (!option_given(s->opt, OPT_MIN_PCC) && !option_given(s->opt, OPT_MAX_ERR))
		return EXIT_OK;
	Quest q = { .s = s, .g = g, .c = c, .accuracy = accuracy_create(s->arena),
		    .limits = limits_asked(s->opt) };
	q.want = arena_array(s->arena, Tensor *, n);
	q.got = arena_array(s->arena, Tensor *, n);
	q.in = inputs_sample(g, s->arena, &s->inputs);
	if (!q.in)
		return EXIT_USAGE;
	enum ExitCode code = run_reference(&q);
	if (code == EXIT_OK)
		code = seek(&q);
	*c = *q.c;
	return code;
}
