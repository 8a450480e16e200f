#include "frontend/cmd_device.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/lower.h"
#include "frontend/cmd_counted.h"
#include "frontend/cmd_verify.h"
#include "ir/clock.h"
#include "ir/file.h"
#include "runtime/host/ttb.h"

/* Why there is no plan, as far as is known. */
static void tell_none(Session *s, const Planned *p)
{
	const Plan *bare = p->bare;
	const long long room = (long long)planner_room(bare->target, p->request);
	const Loc model = { .file = s->opt->model };
	if (p->plan) {
		const Step *at = &p->plan->steps[p->plan->peak_step];
		diag_error(s->diag, at->op->loc, "%s '%s': the plan needs %lld bytes of L1 here%s, there are %lld",
			   op_info[at->op->kind].name, at->op->name, (long long)p->plan->peak,
			   p->plan->peak > room ? "" : ", which no packing of buffers fits into", room);
	} else if (p->found.stuck >= 0) {
		const Step *at = &bare->steps[p->found.stuck];
		diag_error(s->diag, at->op->loc, "%s '%s': no plan was found that gets beyond step %s "
			   "in %lld bytes of L1 on %d cores", op_info[at->op->kind].name,
			   at->op->name, choice_step_spelling(bare, p->found.stuck), room,
			   bare->cores);
	} else {
		diag_error(s->diag, model, "no plan was found in %lld bytes of L1 on %d cores", room,
			   bare->cores);
	}
	diag_note(s->diag, (Loc){ 0 }, "%s; 'tessera explain' tells why and what would help",
		  p->found.open ? "not everything was looked at: more --effort may find one"
				: "there is none");
	const int pins = report_pin_count(p);
	if (pins)
		diag_note(s->diag, (Loc){ 0 }, "%d field%s pinned; --print-effective-config says by whom",
			  pins, pins > 1 ? "s are" : " is");
}

enum ExitCode session_planned(Session *s, const Graph *g, const Asked *a, Planned *p)
{
	const double from = clock_now();
	s->diag->limit = INT_MAX; /* every op that cannot run is named */
	session_progress(s, "planning");
	const PlanOutcome how = planner_run(g, a->target, &a->request, p);
	session_timing(s, "plan", from);
	if (how == PLAN_NONE)
		tell_none(s, p);
	if (how == PLAN_NONE || !p->bare)
		return EXIT_INFEASIBLE;
	if (how == PLAN_WRONG)
		return p->line_wrong ? EXIT_USAGE : EXIT_MODEL;
	session_tell_unkept(s, p);
	return EXIT_OK;
}

enum ExitCode session_plan(Session *s, const Graph *g, Compiled *c)
{
	if (c->planned.plan)
		return EXIT_OK;
	const enum ExitCode code = session_asked(s, &c->asked);
	return code == EXIT_OK ? session_planned(s, g, &c->asked, &c->planned) : code;
}

enum ExitCode session_check_arch(Session *s, const Target *t)
{
	if (strcmp(t->arch, TTB_ARCH) == 0)
		return EXIT_OK;
	usage_error(s->diag, "target '%s' is a %s: the device library is for %s only, so there is a "
		    "plan (--emit=plan) and no program", t->name, t->arch, TTB_ARCH);
	return EXIT_INFEASIBLE;
}

/* The architecture first: planning would be for nothing. */
static enum ExitCode plan_for_program(Session *s, const Graph *g, Compiled *c)
{
	enum ExitCode code = session_asked(s, &c->asked);
	if (code == EXIT_OK)
		code = session_check_arch(s, c->asked.target);
	if (code == EXIT_OK)
		code = session_planned(s, g, &c->asked, &c->planned);
	return code;
}

enum ExitCode session_lower(Session *s, const Graph *g, Compiled *c)
{
	const enum ExitCode code = c->planned.plan ? EXIT_OK : plan_for_program(s, g, c);
	if (code != EXIT_OK || c->program)
		return code;
	const double from = clock_now();
	session_progress(s, "lowering the plan");
	c->program = lower(c->planned.plan);
	c->program->plan = report_plan_file(&c->planned);
	session_timing(s, "lower", from);
	return EXIT_OK;
}

enum ExitCode session_emit(Session *s, const Graph *g, Compiled *c)
{
	const enum ExitCode code = session_lower(s, g, c);
	if (code != EXIT_OK || c->emission.package.data)
		return code;
	const double from = clock_now();
	session_progress(s, "emitting the package");
	const EmitOptions options = { .compiler = "tessera " TESSERA_VERSION };
	const bool ok = emit_program(&c->emission, s->arena, s->diag, c->program,
				     c->asked.target, &options);
	session_timing(s, "emit", from);
	return ok ? EXIT_OK : EXIT_INFEASIBLE;
}

TesseraPackage *session_open_ttb(Session *s)
{
	const char *path = s->opt->model;
	const size_t n = strlen(path);
	TesseraError e;
	TesseraPackage *p = tessera_package_open(path, &e);
	if (p)
		return p;
	/* The library names the file too. */
	const bool named = strncmp(e.text, path, n) == 0 && strncmp(e.text + n, ": ", 2) == 0;
	diag_error(s->diag, (Loc){ .file = path }, "%s", e.text + (named ? n + 2 : 0));
	return NULL;
}

/* The runtime speaks in values; here they become diagnostics. A program we made
 * ourselves that a device finds fault with is our fault. */
static enum ExitCode say(Session *s, const TesseraError *e)
{
	const bool usage = e->code == TESSERA_BAD_DEVICE || e->code == TESSERA_BAD_INPUT;
	const bool ours = e->code == TESSERA_FAULT || e->code == TESSERA_RACE
		|| e->code == TESSERA_MISUSE || e->code == TESSERA_NO_MEMORY;
	if (usage)
		usage_error(s->diag, "%s", e->text);
	else
		diag_error(s->diag, (Loc){ .file = s->opt->model }, "%s", e->text);
	fputs(e->detail, stderr);
	return usage ? EXIT_USAGE : ours && !s->package ? EXIT_INTERNAL : EXIT_MODEL;
}

/* Arrays over the tensors, in the package's order, which is the graph's. They are told as
 * they are: whether that is what the package wants is for the library to see. */
static TesseraArray *arrays(Session *s, const TesseraPackage *p, Tensor *const t[], bool outputs)
{
	const size_t n = outputs ? tessera_output_count(p) : tessera_input_count(p);
	TesseraArray *a = arena_array(s->arena, TesseraArray, n);
	for (size_t i = 0; i < n; i++) {
		const TesseraTensor want = outputs ? tessera_output(p, i) : tessera_input(p, i);
		a[i] = (TesseraArray){ .data = (void *)(uintptr_t)t[i]->data, .type = want.type,
				       .bytes = (size_t)tensor_bytes(t[i]),
				       .rank = t[i]->shape.rank };
		for (int k = 0; k < t[i]->shape.rank; k++)
			a[i].shape[k] = t[i]->shape.dim[k];
	}
	return a;
}

DType session_device_type(TesseraType type)
{
	static const DType types[] = { [TESSERA_F32] = TYPE_F32, [TESSERA_BF16] = TYPE_BF16,
				       [TESSERA_F16] = TYPE_F16, [TESSERA_U8] = TYPE_U8 };
	return types[type];
}

static void make_outputs(Session *s, const Graph *g, const TesseraPackage *p, Tensor *out[])
{
	size_t k = 0;
	for_each_op(op, g)
		if (op->kind == OP_OUTPUT) {
			const DType type = session_device_type(tessera_output(p, k).type);
			out[k++] = tensor_create(s->arena, type, op->shape);
		}
}

/* The inputs in the types that the package takes. */
static Tensor **as_taken(Session *s, const TesseraPackage *p, Tensor *const in[])
{
	const size_t n = tessera_input_count(p);
	Tensor **taken = arena_array(s->arena, Tensor *, n + 1);
	for (size_t i = 0; i < n; i++) {
		const DType type = session_device_type(tessera_input(p, i).type);
		taken[i] = in[i];
		if (in[i]->dtype == type && !in[i]->splat)
			continue;
		taken[i] = tensor_create(s->arena, type, in[i]->shape);
		for (int64_t k = 0; k < tensor_count(in[i]); k++)
			tensor_set_f64(taken[i], k, tensor_f64(in[i], k));
	}
	return taken;
}

static bool run_arrays(Session *s, TesseraProgram *p, const TesseraArray *in, size_t nin,
		       const TesseraArray *out, size_t nout, TesseraError *e)
{
	if (s->counted)
		return counted_run(s->counted, p, in, nin, out, nout, e);
	return tessera_run(p, in, nin, out, nout, e);
}

static bool run(Session *s, const Graph *g, const TesseraPackage *package, TesseraDevice *d,
		Tensor *const in[], Tensor *out[], TesseraError *e)
{
	double from = clock_now();
	session_progress(s, "loading");
	TesseraProgram *p = tessera_load(d, package, e);
	session_timing(s, "load", from);
	from = clock_now();
	session_progress(s, s->layers ? NULL : "running");
	make_outputs(s, g, package, out);
	const bool ok = p && (!s->layers || layers_watch(s->layers, d, p, e)) &&
		run_arrays(s, p, arrays(s, package, as_taken(s, package, in), false),
			   tessera_input_count(package), arrays(s, package, out, true),
			   tessera_output_count(package), e);
	session_timing(s, "run", from);
	session_progress(s, NULL);
	if (ok && !s->counted)
		tessera_counters_print(p, stderr);
	tessera_unload(p);
	return ok;
}

static TesseraPackage *open_memory(const Graph *g, Bytes b)
{
	TesseraError e;
	TesseraPackage *package = tessera_package_memory(b.data, b.size, &e);
	if (!package)
		die("the package for '%s': %s", g->name, e.text);
	return package;
}

/* The model compiled and, if layers are looked at, known what they should be; or the
 * package it came as. */
static enum ExitCode package_of(Session *s, const Graph *g, TesseraPackage **package)
{
	Compiled c = { 0 };
	*package = s->package;
	if (s->package)
		return EXIT_OK;
	enum ExitCode code = session_emit(s, g, &c);
	if (code == EXIT_OK && s->layers)
		code = layers_reference(s->layers, &c);
	if (code == EXIT_OK)
		*package = open_memory(g, c.emission.package);
	return code;
}

enum ExitCode session_run_package(Session *s, const Graph *g, Bytes bytes, const char *device,
				  Tensor *const in[], Tensor *out[])
{
	TesseraError e = { 0 };
	TesseraDevice *d = tessera_device_open(device, &e);
	if (!d)
		return say(s, &e);
	TesseraPackage *package = open_memory(g, bytes);
	const bool ok = run(s, g, package, d, in, out, &e);
	tessera_device_close(d);
	tessera_package_close(package);
	return ok ? EXIT_OK : say(s, &e);
}

enum ExitCode session_run_device(Session *s, const Graph *g, const char *device,
				 Tensor *const in[], Tensor *out[])
{
	TesseraPackage *package;
	TesseraError e = { 0 };
	TesseraDevice *d = tessera_device_open(device, &e);
	if (!d)
		return say(s, &e);
	const enum ExitCode code = package_of(s, g, &package);
	if (code != EXIT_OK) {
		tessera_device_close(d);
		return code;
	}
	const bool ok = run(s, g, package, d, in, out, &e);
	tessera_device_close(d);
	if (package != s->package)
		tessera_package_close(package);
	return ok ? EXIT_OK : say(s, &e);
}
