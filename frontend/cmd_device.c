#include "frontend/cmd_device.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/lower.h"
#include "ir/clock.h"
#include "ir/file.h"
#include "runtime/host/tessera_rt.h"

static char *plan_text(Session *s, const Plan *p)
{
	TextFile text;
	text_open(&text);
	plan_print(p, text.f);
	return text_take(&text, s->arena);
}

enum ExitCode session_lower(Session *s, const Graph *g, Compiled *c)
{
	const double from = clock_now();
	const char *name = option_text(s->opt, OPT_TARGET);
	c->target = target_load(s->arena, s->diag, name ? name : "wormhole_n150");
	if (!c->target)
		return EXIT_USAGE;
	s->diag->limit = INT_MAX; /* every op that cannot run is named */
	c->plan = plan_bands(g, c->target, NULL);
	if (!c->plan)
		return EXIT_INFEASIBLE;
	session_timing(s, "plan", from);
	const double then = clock_now();
	c->program = lower(c->plan);
	c->program->plan = plan_text(s, c->plan);
	session_timing(s, "lower", then);
	return EXIT_OK;
}

enum ExitCode session_emit(Session *s, const Graph *g, Compiled *c)
{
	const enum ExitCode code = session_lower(s, g, c);
	if (code != EXIT_OK)
		return code;
	const double from = clock_now();
	const EmitOptions options = { .compiler = "tessera " TESSERA_VERSION };
	const bool ok = emit_program(&c->emission, s->arena, s->diag, c->program, c->target,
				     &options);
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

/* Arrays over the tensors, in the package's order, which is the graph's. */
static TesseraArray *arrays(Session *s, const TesseraPackage *p, Tensor *const t[], bool outputs)
{
	const size_t n = outputs ? tessera_output_count(p) : tessera_input_count(p);
	TesseraArray *a = arena_array(s->arena, TesseraArray, n);
	for (size_t i = 0; i < n; i++) {
		const TesseraTensor want = outputs ? tessera_output(p, i) : tessera_input(p, i);
		a[i] = tessera_array(&want, (void *)(uintptr_t)t[i]->data);
	}
	return a;
}

static void make_outputs(Session *s, const Graph *g, Tensor *out[])
{
	int k = 0;
	for_each_op(op, g)
		if (op->kind == OP_OUTPUT)
			out[k++] = tensor_create(s->arena, TYPE_F32, op->shape);
}

static Tensor **as_f32(Session *s, const Graph *g, Tensor *const in[])
{
	const int n = inputs_count(g, OP_INPUT);
	Tensor **f = arena_array(s->arena, Tensor *, n);
	for (int i = 0; i < n; i++)
		f[i] = tensor_to_f32(s->arena, in[i]);
	return f;
}

static bool run(Session *s, const Graph *g, const TesseraPackage *package, TesseraDevice *d,
		Tensor *const in[], Tensor *out[], TesseraError *e)
{
	double from = clock_now();
	TesseraProgram *p = tessera_load(d, package, e);
	session_timing(s, "load", from);
	from = clock_now();
	make_outputs(s, g, out);
	const bool ok = p && tessera_run(p, arrays(s, package, as_f32(s, g, in), false),
					 tessera_input_count(package),
					 arrays(s, package, out, true),
					 tessera_output_count(package), e);
	session_timing(s, "run", from);
	if (ok)
		tessera_counters_print(p, stderr);
	tessera_unload(p);
	return ok;
}

/* The model compiled, or the package it came as. */
static enum ExitCode package_of(Session *s, const Graph *g, TesseraPackage **package)
{
	Compiled c = { 0 };
	*package = s->package;
	if (s->package)
		return EXIT_OK;
	const enum ExitCode code = session_emit(s, g, &c);
	if (code != EXIT_OK)
		return code;
	TesseraError e;
	*package = tessera_package_memory(c.emission.package.data, c.emission.package.size, &e);
	if (!*package)
		die("the package for '%s': %s", g->name, e.text);
	return EXIT_OK;
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
