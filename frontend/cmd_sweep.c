#include "frontend/cmd_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "ir/file.h"
#include "passes/pressure.h"

enum { MOST_VALUES = 32 };

typedef struct Sweep {
	Session *s;
	bool batch; /* else the size of images */
	int64_t value[MOST_VALUES];
	int n;
	const Graph *model; /* as read, for the shapes of its inputs */
} Sweep;

/* What came of one value. */
typedef struct Swept {
	const char *why; /* there is no plan; NULL: there is */
	int64_t cycles, images, peak, room, dram;
	int spills, in_dram, steps;
	Pressure net;
} Swept;

/* "batch=1,2,4" */
static bool parse(Sweep *w)
{
	const char *text = option_text(w->s->opt, OPT_SWEEP), *at = strchr(text, '=');
	const size_t n = at ? (size_t)(at - text) : 0;
	bool ok = at && ((n == 5 && memcmp(text, "batch", n) == 0)
			 || (n == 4 && memcmp(text, "size", n) == 0));
	w->batch = n == 5;
	while (ok) {
		char *end;
		const char *digits = at + 1;
		const int64_t value = strtoll(digits, &end, 10);
		ok = *digits >= '0' && *digits <= '9' && value > 0 && value <= 1 << 20
			&& w->n < MOST_VALUES && (!*end || *end == ',');
		if (ok)
			w->value[w->n++] = value;
		at = end;
		if (!*end)
			break;
	}
	if (!ok)
		usage_error(w->s->diag, "'--sweep' wants batch=N,N,... or size=N,N,... of at most %d "
			    "numbers from 1 to 1048576, not '%s'", MOST_VALUES, text);
	return ok;
}

/* Shapes of all inputs with a value in place. */
static void set_shapes(const Sweep *w, Session *t, int64_t value)
{
	ShapeOption *v = arena_array(t->arena, ShapeOption, inputs_count(w->model, OP_INPUT) + 1);
	int n = 0;
	for_each_op(op, w->model) {
		if (op->kind != OP_INPUT)
			continue;
		v[n] = (ShapeOption){ .input = inputs_edge_name(op), .shape = op->shape };
		int64_t *dim = v[n].shape.dim;
		if (w->batch && v[n].shape.rank > 0)
			dim[0] = value;
		else if (!w->batch && v[n].shape.rank == 4)
			dim[2] = dim[3] = value;
		n++;
	}
	t->inputs.model.shapes = v;
	t->inputs.model.nshapes = n;
}

static void measure(Swept *x, const Planned *p)
{
	const PlanFacts f = plan_facts(p->bare, p->plan, &p->time);
	x->cycles = p->time.all.total;
	x->steps = p->plan->nsteps;
	x->peak = p->plan->peak;
	x->room = planner_room(p->plan->target, p->request);
	x->dram = f.weights_read + f.tensors_read + f.tensors_written;
	x->spills = f.spills;
	x->in_dram = f.in_dram;
	plan_pressure(p->plan, &p->time, x->room, &x->net);
	for_each_op(op, p->bare->graph)
		if (op->kind == OP_INPUT && op->shape.rank == 4)
			x->images = op->shape.dim[0];
}

/* The first line of what was reported, without where. */
static const char *reason(Arena *a, const char *said)
{
	const char *error = strstr(said, "error: ");
	error = error ? error + strlen("error: ") : said;
	return arena_strndup(a, error, strcspn(error, "\n"));
}

/* Plans it in memory of its own; what is wrong is told in the table. */
static Swept plan_value(const Sweep *w, int64_t value)
{
	Swept x = { .images = 1 };
	Session t;
	Compiled c = { 0 };
	TextFile said;
	Arena *a = arena_create();
	text_open(&said);
	Diag d = { .to = said.f };
	bool ok = session_begin(&t, a, &d, w->s->opt) == EXIT_OK;
	if (ok)
		set_shapes(w, &t, value);
	Graph *g = ok ? session_compile(&t) : NULL;
	ok = g && session_plan(&t, g, &c) == EXIT_OK;
	session_progress(&t, NULL);
	if (ok)
		measure(&x, &c.planned);
	diag_finish(&d);
	const char *text = text_take(&said, a);
	if (!ok)
		x.why = reason(w->s->arena, text);
	arena_destroy(a);
	return x;
}

static bool is_critical(const Swept *x)
{
	return x->why || x->net.risk == LEVEL_HIGH || x->in_dram;
}

static void print_row(const Sweep *w, int64_t value, const Swept *x, const Target *t)
{
	Arena *a = w->s->arena;
	printf("%8lld", (long long)value);
	if (x->why) {
		printf("  no plan: %s\n", x->why);
		return;
	}
	printf(" %12s %12s %6s%% %14lld %7d %7d %6d %6s%% %6s%%  %s\n",
	       report_us(a, t, x->cycles), report_us(a, t, x->cycles / x->images),
	       report_percent(a, x->peak, x->room), (long long)x->dram, x->spills, x->in_dram,
	       x->net.score, report_percent(a, x->net.miss, 1000),
	       report_percent(a, x->net.utilisation, 1000), level_names[x->net.risk]);
}

static void print_verdict(const Sweep *w, const Swept *v)
{
	const char *what = w->batch ? "batch" : "size";
	int i = 0;
	while (i < w->n && !is_critical(&v[i]))
		i++;
	if (i == w->n) {
		printf("pressure is not critical at any of these\n");
		return;
	}
	printf("pressure becomes critical at %s=%lld: %s\n", what, (long long)w->value[i],
	       v[i].why ? "there is no plan"
	       : v[i].in_dram ? "tensors lie in DRAM, as L1 has no room for them"
			      : "the risk of thrashing is high");
}

/* Nothing else is written: there is no one plan. */
static bool stands_alone(Session *s)
{
	static const OptionId others[] = { OPT_OUT, OPT_MEMORY, OPT_TRACE, OPT_DEVICE };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (option_given(s->opt, others[i])) {
			usage_error(s->diag, "'--sweep' prints a table and nothing else: no '%s'",
				    option_spelling(others[i]));
			return false;
		}
	return true;
}

enum ExitCode sweep_print(Session *s)
{
	Sweep w = { .s = s };
	Swept v[MOST_VALUES];
	if (!parse(&w) || !stands_alone(s))
		return EXIT_USAGE;
	const Target *t = session_target(s);
	if (!t)
		return EXIT_USAGE;
	w.model = session_read(s);
	if (!w.model)
		return EXIT_MODEL;
	session_progress(s, NULL);
	printf("%8s %12s %12s %7s %14s %7s %7s %6s %7s %7s  %s\n", w.batch ? "batch" : "size",
	       "predicted us", "us an image", "L1", "DRAM bytes", "spills", "in DRAM", "score",
	       "misses", "busy", "risk");
	for (int i = 0; i < w.n; i++) {
		v[i] = plan_value(&w, w.value[i]);
		print_row(&w, w.value[i], &v[i], t);
	}
	print_verdict(&w, v);
	return EXIT_OK;
}
