/*
 * --min-pcc and --max-err of compile and plan: accuracy as a constraint.
 *
 * The graph runs on the plain executor with a sample input, which is --calibrate's or
 * random; that is what outputs should be, and what passes/accuracy.h learns from. The
 * program made of the plan then runs on the emulator, as the device would compute. While
 * an output is farther off than it may be, formats and fidelity are raised where the
 * least predicted time is paid for the noise it takes away, and all is planned anew with
 * these pinned. A greatest error that is missed says how much noise is too much, as a
 * correlation does (accuracy_limits.h): it falls with the noise, though not with every
 * raise. A round raises at least twice as many as the one before had to, so there
 * are few; the last gives back what it seems to have raised too much, if that holds. What
 * does not fit is not raised.
 */
#include <math.h>
#include <string.h>

#include "frontend/accuracy_limits.h"
#include "frontend/cmd_device.h"
#include "ir/compare.h"
#include "ir/file.h"
#include "passes/accuracy.h"
#include "runtime/ref/ref.h"

/* How near all outputs are. */
typedef struct Reached {
	bool holds;
	double pcc, error;  /* the least and the greatest of them */
	double excess;      /* of the output with most of it, as limits have it */
	const char *worst;  /* that output */
} Reached;

typedef struct Quest {
	Session *s;
	Graph *g;
	Compiled *c;
	Accuracy *accuracy;
	Tensor **in, **want, **got;
	Limits limits;
	Reached is, best;
	Raise *raised; /* so far, in that order */
	int nraised;
	Raise *last;   /* those of the last round, nlast of them */
	int nlast;
	double before; /* the excess before it */
	StrMap refused; /* what there is no plan with, nrefused of it */
	int nrefused;
} Quest;

bool session_accuracy_asked(Session *s)
{
	const bool can_be = option_real(s->opt, OPT_MIN_PCC, 0) <= 1;
	if (!can_be)
		usage_error(s->diag, "'--min-pcc': a correlation is at most 1, not %s",
			    option_text(s->opt, OPT_MIN_PCC));
	return can_be;
}

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
	q->is = (Reached){ .holds = true, .pcc = 1, .excess = -1 };
	for_each_op(op, q->g) {
		if (op->kind != OP_OUTPUT)
			continue;
		const Closeness c = tensor_compare(q->want[k], q->got[k]);
		const double excess = limits_excess(q->limits, &c);
		q->is.holds &= limits_hold(q->limits, &c);
		q->is.pcc = fmin(q->is.pcc, c.constant ? 1 - c.max_rel : c.pcc);
		q->is.error = fmax(q->is.error, c.max_rel);
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

static bool raised_again(const Quest *q, int i)
{
	const char *field = q->raised[i].field;
	for (int k = i + 1; field && k < q->nraised; k++)
		if (q->raised[k].field && strcmp(q->raised[k].field, field) == 0)
			return true;
	return false;
}

/* The command line's pins, and those of what was raised. */
static void add_pins(Quest *q, Asked *a)
{
	TextFile t;
	text_open(&t);
	if (a->request.line)
		fputs(a->line.text, t.f);
	for (int i = 0; i < q->nraised; i++)
		if (!raised_again(q, i))
			fputs(q->raised[i].pins, t.f);
	const char *text = text_take(&t, q->s->arena);
	a->line = (PlanSource){ "accuracy", text, strlen(text) };
	a->request.line = *text ? &a->line : NULL;
}

static void set_weights(Quest *q, const Raise *r, DevTypes type)
{
	if (r->kind == RAISE_WEIGHTS)
		graph_find(q->g, r->op->name)->weights = type;
}

static void lower_again(Quest *q, int n)
{
	while (n--)
		set_weights(q, &q->raised[--q->nraised], DEV_BFP8_B);
}

/* A plan with `n` more raised; if there is none, all is as before. */
static enum ExitCode plan_raised(Quest *q, const Raise *r, int n)
{
	Compiled *c = q->c;
	for (int i = 0; i < n; i++) {
		q->raised[q->nraised++] = r[i];
		set_weights(q, &r[i], DEV_BF16);
	}
	*c = (Compiled){ 0 };
	const enum ExitCode code = session_asked(q->s, &c->asked);
	if (code != EXIT_OK)
		return code;
	add_pins(q, &c->asked);
	switch (planner_run(q->g, c->asked.target, &c->asked.request, &c->planned)) {
	case PLANNED:
		return EXIT_OK;
	case PLAN_WRONG:
		die("what was raised in '%s' is not legal", q->g->name);
	case PLAN_NONE:
		break;
	}
	lower_again(q, n);
	return EXIT_INFEASIBLE;
}

/* Those of the list that were not found to be too much, in its order. */
static int still_open(const Quest *q, Raise *r, int n)
{
	int left = 0;
	for (int i = 0; i < n; i++)
		if (!strmap_get(&q->refused, r[i].what))
			r[left++] = r[i];
	return left;
}

/* As much as it takes, or half as much as there is room for. False: nothing is left. */
static bool raise_some(Quest *q, int least)
{
	int n;
	const Planned was = q->c->planned;
	Raise *r = accuracy_raises(q->accuracy, &was, q->raised, q->nraised, &n);
	n = still_open(q, r, n);
	int count = accuracy_enough(q->accuracy, &was, r, n, q->is.excess, 1, least);
	Raise *all = arena_array(q->s->arena, Raise, q->nraised + n + 1);
	for (int i = 0; i < q->nraised; i++)
		all[i] = q->raised[i];
	q->raised = all;
	q->before = q->is.excess;
	while (n) {
		q->last = r;
		q->nlast = count;
		if (plan_raised(q, r, count) == EXIT_OK)
			return true;
		if (count == 1) {
			strmap_put(&q->refused, r->what, r);
			q->nrefused++;
			r++;
			n--;
		}
		count = count > 1 ? count / 2 : 1;
	}
	return false;
}

/* How many of the last raises it would have taken, if all bring what the model says in
 * proportion to what they did bring. */
static int needed(const Quest *q)
{
	double gains = 0, sum = 0;
	int n = 0;
	for (int i = 0; i < q->nlast; i++)
		gains += q->last[i].gain;
	const double wanted = (q->before - 1) / (q->before - q->is.excess);
	while (n < q->nlast && sum < wanted * gains)
		sum += q->last[n++].gain;
	return n;
}

static enum ExitCode give_back(Quest *q)
{
	const int all = q->nlast, some = needed(q);
	if (!isfinite(q->before) || some == all)
		return EXIT_OK;
	lower_again(q, all);
	if (plan_raised(q, q->last, some) == EXIT_OK) {
		const enum ExitCode code = measure(q);
		if (code != EXIT_OK || q->is.holds)
			return code;
		lower_again(q, some);
	}
	if (plan_raised(q, q->last, all) != EXIT_OK)
		die("a plan of '%s' is not there again", q->g->name);
	return measure(q);
}

static const char *reached_text(const Quest *q, const Reached *r)
{
	return arena_printf(q->s->arena, "pcc %.7f, max error %.3g of the range", r->pcc, r->error);
}

static void tell(const Quest *q, const Reached *first, int64_t first_time)
{
	Session *s = q->s;
	const Loc model = { .file = s->opt->model };
	const Planned *p = &q->c->planned;
	const char *sample = s->inputs.ncalibrate ? "the input of --calibrate" : "a random input";
	const char *is = reached_text(q, &q->is);
	if (!q->nraised) {
		diag_note(s->diag, model, "%s on %s, nothing had to be raised", is, sample);
		return;
	}
	diag_note(s->diag, model, "%s on %s; %s before %d thing%s raised; predicted %s us, %s us before",
		  is, sample, reached_text(q, first), q->nraised, q->nraised > 1 ? "s were" : " was",
		  report_us(s->arena, p->bare->target, p->time.all.total),
		  report_us(s->arena, p->bare->target, first_time));
	for (int i = 0; i < q->nraised; i++)
		diag_note(s->diag, model, "raised %s%s", q->raised[i].what,
			  q->raised[i].kind == RAISE_WEIGHTS && s->opt->command == CMD_plan
				  ? ", which no plan file says: hint it in the model, or --weight-dtype"
				  : "");
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
	diag_error(q->s->diag, model, "%s: %s at output '%s' is the nearest that was reached, with "
		   "all raised that can be", limits_text(q), reached_text(q, &q->best),
		   q->best.worst);
	if (q->nrefused)
		diag_note(q->s->diag, model, "%d more could be with more L1", q->nrefused);
	return EXIT_INFEASIBLE;
}

static enum ExitCode seek(Quest *q)
{
	enum ExitCode code = session_lower(q->s, q->g, q->c);
	if (code == EXIT_OK)
		code = measure(q);
	const Reached first = q->is;
	const int64_t first_time = code == EXIT_OK ? q->c->planned.time.all.total : 0;
	for (int least = 1; code == EXIT_OK && !q->is.holds; least *= 2) {
		if (!raise_some(q, least))
			return tell_best(q);
		code = measure(q);
	}
	if (code == EXIT_OK && q->nlast)
		code = give_back(q);
	if (code == EXIT_OK)
		tell(q, &first, first_time);
	return code;
}

enum ExitCode session_accurate(Session *s, Graph *g, Compiled *c)
{
	const int n = inputs_count(g, OP_OUTPUT);
	if (!option_given(s->opt, OPT_MIN_PCC) && !option_given(s->opt, OPT_MAX_ERR))
		return EXIT_OK;
	Quest q = { .s = s, .g = g, .c = c, .accuracy = accuracy_create(s->arena),
		    .limits = limits_asked(s->opt) };
	strmap_init(&q.refused, s->arena);
	q.want = arena_array(s->arena, Tensor *, n);
	q.got = arena_array(s->arena, Tensor *, n);
	q.in = inputs_sample(g, s->arena, &s->inputs);
	if (!q.in)
		return EXIT_USAGE;
	const enum ExitCode code = run_reference(&q);
	return code == EXIT_OK ? seek(&q) : code;
}
