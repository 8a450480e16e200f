#include "frontend/cmd_counted.h"

#include <assert.h>
#include <string.h>

#include "backend/predict.h"
#include "frontend/inputs.h"

static int64_t *values(Counters *c) { return (int64_t *)c; }

static_assert(sizeof(Counters) == COUNTER_COUNT * sizeof(int64_t), "counters are numbers");

/* Adds what an op and core counts to its step: times -1 before the run, 1 after it. */
static void add_ops(Counted *n, const TesseraProgram *p, int step, int first, int last,
		    int64_t times)
{
	for (int op = first; op <= last; op++)
		for (int core = 0; core < n->cores; core++)
			for (size_t id = 0; id < COUNTER_COUNT; id++)
				values(&n->ran[step * n->cores + core])[id] += times
					* tessera_op_counter(p, (size_t)op, (size_t)core, id);
}

/* The first op of a step; one that goes beside another has none of its own. */
static int first_op(const Counted *n, int step)
{
	while (--step >= 0)
		if (!n->plan->steps[step].beside)
			return n->program->last_op[step] + 1;
	return 0;
}

static void add_all(Counted *n, const TesseraProgram *p, int64_t times)
{
	for (int i = 0; i < n->plan->nsteps; i++)
		if (!n->plan->steps[i].beside)
			add_ops(n, p, i, first_op(n, i), n->program->last_op[i], times);
}

bool counted_run(Counted *n, TesseraProgram *p, const TesseraArray *in, size_t nin,
		 const TesseraArray *out, size_t nout, TesseraError *e)
{
	if (!tessera_run(p, in, nin, out, nout, e))
		return false;
	add_all(n, p, -1);
	if (!tessera_run(p, in, nin, out, nout, e))
		return false;
	add_all(n, p, 1);
	return true;
}

static void predict(Counted *n, Arena *a)
{
	const Counters *all = predict_program(a, n->program);
	for (int i = 0; i < n->plan->nsteps; i++) {
		if (n->plan->steps[i].beside)
			continue;
		for (int op = first_op(n, i); op <= n->program->last_op[i]; op++)
			for (int core = 0; core < n->cores; core++)
				counters_add(&n->predicted[i * n->cores + core],
					     &all[op * n->cores + core]);
	}
}

/* The emulator with its counters on; NULL, reported, if it is another device. */
static const char *device_of(Session *s)
{
	const char *device = option_text(s->opt, OPT_DEVICE);
	if (strncmp(device, "emu", 3) != 0 || (device[3] && device[3] != ':')) {
		usage_error(s->diag, "'--device': only the emulator counts (emu, emu:fast), not '%s'",
			    device);
		return NULL;
	}
	device = session_with_threads(s, device);
	return arena_printf(s->arena, "%s%ccounters", device, device[3] ? ',' : ':');
}

enum ExitCode counted_steps(Session *s, const Graph *g, Compiled *c, Tensor *const in[],
			    Counted *n)
{
	*n = (Counted){ .device = device_of(s) };
	if (!n->device)
		return EXIT_USAGE;
	enum ExitCode code = session_emit(s, g, c);
	if (code != EXIT_OK)
		return code;
	n->plan = c->planned.plan;
	n->program = c->program;
	n->cores = c->program->ncores;
	n->ran = arena_array(s->arena, Counters, n->plan->nsteps * n->cores + 1);
	n->predicted = arena_array(s->arena, Counters, n->plan->nsteps * n->cores + 1);
	predict(n, s->arena);
	s->counted = n;
	Tensor **out = arena_array(s->arena, Tensor *, inputs_count(g, OP_OUTPUT) + 1);
	code = session_run_package(s, g, c->emission.package, n->device, in, out);
	s->counted = NULL;
	return code;
}

StepSpan *counted_spans(const Counted *n)
{
	StepSpan *v = arena_array(n->plan->graph->arena, StepSpan, n->plan->nsteps + 1);
	int64_t at = 0;
	for (int i = 0; i < n->plan->nsteps; i++) {
		v[i].start = at;
		units_busy(n->plan->target, &n->ran[i * n->cores], NULL, n->cores, v[i].busy);
		for (int u = 0; u < UNIT_COUNT; u++)
			v[i].cycles = v[i].busy[u] > v[i].cycles ? v[i].busy[u] : v[i].cycles;
		at += v[i].cycles;
	}
	return v;
}

/* Weights of a step that are early are asked for while the one before runs, whatever goes
 * beside it. */
static bool shares(const Counted *n, int step)
{
	const Plan *p = n->plan;
	if (p->steps[step].beside)
		return true;
	do
		step++;
	while (step < p->nsteps && p->steps[step].beside);
	return step < p->nsteps && p->steps[step].stream.early;
}

int counted_differing(const Counted *n)
{
	int differing = 0;
	for (int core = 0; core < n->cores; core++) {
		Counters ran = { 0 }, predicted = { 0 };
		for (int i = 0; i < n->plan->nsteps; i++) {
			counters_add(&ran, &n->ran[i * n->cores + core]);
			counters_add(&predicted, &n->predicted[i * n->cores + core]);
			if (shares(n, i))
				continue;
			for (int id = 0; id < COUNTER_COUNT; id++)
				differing += counter_info[id].how == COUNTER_EXACT
					&& counter_get(&ran, id) != counter_get(&predicted, id);
			ran = predicted = (Counters){ 0 };
		}
	}
	return differing;
}
