/*
 * conform [--passes | --device=NAME] [--open=NAME]... DIR...: ONNX's backend
 * tests against the reference executor; with --passes, also after every pass has
 * run; with --device, those that are for devices on that one (conform_device.h).
 *
 * A DIR is a test (model.onnx, test_data_set_K/input_K.pb, output_K.pb), or
 * holds tests, or is or holds light_NAME.onnx with light_NAME_output_K.pb,
 * whose inputs are 0/n, 1/n, ... as in ONNX's own runner.
 *
 * A float passes within 1e-7 + 1e-3 * |expected| (ONNX's own tolerance),
 * anything else only if it is equal. A test is skipped only for what the
 * reader does not cover (OnnxOutline.beyond). A test named by --open may fail
 * without making the whole fail.
 */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/onnx.h"
#include "passes/pass.h"
#include "runtime/ref/ref.h"
#include "tests/conform_device.h"

enum { MOST = 64 };

typedef struct Tensors {
	int n;
	Tensor *v[MOST];
} Tensors;

typedef struct Case {
	bool passes;
	const char *device; /* or NULL */
	const char *beyond; /* why it is not for the device, or NULL */
	Arena *arena;
	Diag diag;
	const char *name, *model;
	OnnxOutline outline;
	const char *why; /* it fails, or NULL */
} Case;

typedef struct Counts {
	bool passes;
	const char *device;
	int passed, failed, skipped;
	int nopen;        /* tests that may fail, */
	char **open;      /* as --open=NAME */
	int open_failed;  /* and do */
} Counts;

static bool is_open(const Counts *n, const char *name)
{
	for (int i = 0; i < n->nopen; i++)
		if (strcmp(n->open[i] + strlen("--open="), name) == 0)
			return true;
	return false;
}

/* PREFIX0.pb, PREFIX1.pb, ... */
static Tensors load(Case *c, const char *prefix)
{
	Tensors t = { 0 };
	for (; t.n < MOST; t.n++) {
		const char *name, *path = arena_printf(c->arena, "%s%d.pb", prefix, t.n);
		if (access(path, R_OK) != 0)
			break;
		t.v[t.n] = onnx_read_tensor(c->arena, &c->diag, path, &name);
		if (!t.v[t.n]) {
			c->why = "its data cannot be read";
			break;
		}
	}
	return t;
}

static bool close_enough(double got, double want)
{
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got);
	return got == want || fabs(got - want) <= 1e-7 + 1e-3 * fabs(want);
}

static bool element_fits(const Tensor *got, const Tensor *want, int64_t i)
{
	if (type_is_float(want->dtype))
		return close_enough(tensor_f64(got, i), tensor_f64(want, i));
	return tensor_i64(got, i) == tensor_i64(want, i);
}

static void compare(Case *c, int k, const Tensor *got, const Tensor *want)
{
	int64_t wrong = 0, first = 0;

	if (got->dtype != want->dtype || !shape_equal(got->shape, want->shape)) {
		c->why = arena_printf(c->arena, "output %d is %s %s, expected %s %s", k,
				      type_info[got->dtype].name, shape_text(c->arena, got->shape),
				      type_info[want->dtype].name,
				      shape_text(c->arena, want->shape));
		return;
	}
	for (int64_t i = 0; i < tensor_count(want); i++)
		if (!element_fits(got, want, i) && !wrong++)
			first = i;
	if (wrong)
		c->why = arena_printf(c->arena,
			"output %d: %" PRId64 " of %" PRId64 " elements differ, %" PRId64 " first"
			": %.9g, expected %.9g",
			k, wrong, tensor_count(want), first, tensor_f64(got, first),
			tensor_f64(want, first));
}

static void run_graph(Case *c, const Graph *g, const Tensors *in, const Tensors *want)
{
	Tensors out = { 0 };
	for_each_op(op, g)
		out.n += op->kind == OP_OUTPUT;
	if (out.n != want->n) {
		c->why = arena_printf(c->arena, "has %d outputs, expected %d", out.n, want->n);
		return;
	}
	if (!ref_run(g, c->arena, in->v, out.v, &(RefOptions){ 0 })) {
		c->why = "does not run";
		return;
	}
	for (int i = 0; i < want->n && !c->why; i++)
		compare(c, i, out.v[i], want->v[i]);
}

static void run_on_device(Case *c, Graph *g, const Tensors *given, const Tensors *want)
{
	Tensors baked = *given, *in = &baked;
	in->n = device_bake(g, in->v);
	if (!passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		c->why = "does not pass the passes";
	else
		c->beyond = device_beyond(g);
	if (!c->why && !c->beyond)
		c->why = device_run(g, c->device, in->v, want->v);
}

static void run_both_ways(Case *c, Graph *g, const Tensors *in, const Tensors *want)
{
	if (c->device) {
		run_on_device(c, g, in, want);
		return;
	}
	run_graph(c, g, in, want);
	if (c->why || !c->passes)
		return;
	if (!passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		c->why = "does not pass the passes";
	else
		run_graph(c, g, in, want);
	if (c->why)
		c->why = arena_printf(c->arena, "after the passes: %s", c->why);
}

/* Reads the model; the caller's inputs are known where it needs a constant,
 * and give the dims the model leaves open. */
static Graph *import(Case *c, const Tensors *in)
{
	KnownInput known[MOST];
	ShapeOption shapes[MOST];
	ModelOptions opt = { .known = known, .shapes = shapes };

	for (int i = 0; i < in->n && i < c->outline.ninputs; i++) {
		known[opt.nknown++] = (KnownInput){ c->outline.inputs[i], in->v[i] };
		shapes[opt.nshapes++] = (ShapeOption){ c->outline.inputs[i], in->v[i]->shape };
	}
	Graph *g = onnx_read(c->arena, &c->diag, c->model, &opt);
	if (!g)
		c->why = "is not imported";
	else if (!graph_verify(g))
		c->why = "gives a wrong graph";
	return c->why ? NULL : g;
}

/* The given inputs that are inputs of the graph, in its order. */
static Tensors still_inputs(const Case *c, const Graph *g, const Tensors *given)
{
	Tensors in = { 0 };
	for_each_op(op, g)
		for (int i = 0; op->kind == OP_INPUT && i < given->n; i++)
			if (strcmp(op->name, c->outline.inputs[i]) == 0)
				in.v[in.n++] = given->v[i];
	return in;
}

static void run_data_set(Case *c, const char *folder)
{
	Tensors given = load(c, arena_printf(c->arena, "%s/input_", folder));
	Tensors want = load(c, arena_printf(c->arena, "%s/output_", folder));

	if (!c->why && given.n != c->outline.ninputs)
		c->why = arena_printf(c->arena, "has %d inputs, data for %d", c->outline.ninputs, given.n);
	Graph *g = c->why ? NULL : import(c, &given);
	if (!g)
		return;
	Tensors in = still_inputs(c, g, &given);
	run_both_ways(c, g, &in, &want);
}

static void run_data_sets(Case *c)
{
	const char *folder = path_dir(c->arena, c->model);
	int sets = 0;

	for (; !c->why; sets++) {
		const char *set = arena_printf(c->arena, "%s/test_data_set_%d", folder, sets);
		if (access(set, R_OK) != 0)
			break;
		run_data_set(c, set);
	}
	if (!sets)
		c->why = "has no data";
}

static void run_light(Case *c)
{
	const char *stem = arena_strndup(c->arena, c->model, strlen(c->model) - strlen(".onnx"));
	Tensors in = { 0 }, want = load(c, arena_printf(c->arena, "%s_output_", stem));
	Graph *g = c->why ? NULL : import(c, &in);

	if (!g)
		return;
	for_each_op(op, g) {
		if (op->kind != OP_INPUT || in.n == MOST)
			continue;
		Tensor *t = tensor_create(c->arena, op->dtype, op->shape);
		for (int64_t i = 0, n = tensor_count(t); i < n; i++)
			tensor_set_f64(t, i, (double)i / (double)n);
		in.v[in.n++] = t;
	}
	run_both_ways(c, g, &in, &want);
}

static void run_case(Counts *n, const char *name, const char *model, bool light)
{
	char *said;
	size_t size;
	Case c = { .passes = n->passes, .device = n->device, .arena = arena_create(),
		   .name = name, .model = model };

	c.diag.to = open_memstream(&said, &size);
	if (!onnx_outline(c.arena, &c.diag, model, &c.outline))
		c.why = "is not a model";
	if (!c.why && c.outline.beyond) {
		printf("skipped %s: %s\n", name, c.outline.beyond);
		n->skipped++;
	} else {
		if (!c.why)
			(light ? run_light : run_data_sets)(&c);
		*(c.beyond ? &n->skipped : c.why ? &n->failed : &n->passed) += 1;
		n->open_failed += c.why && is_open(n, name);
	}
	fclose(c.diag.to);
	if (c.why)
		printf("FAILED %s: %s\n%s", name, c.why, said);
	fflush(stdout);
	free(said);
	diag_finish(&c.diag);
	arena_destroy(c.arena);
}

static int is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static bool is_model(const char *name)
{
	const size_t n = strlen(name);
	return n > 5 && strcmp(name + n - 5, ".onnx") == 0;
}

static void run_folder(Counts *n, Arena *a, const char *dir)
{
	const char *model = arena_printf(a, "%s/model.onnx", dir);
	struct dirent **list;
	int count;

	if (access(model, R_OK) == 0) {
		run_case(n, dir, model, false);
		return;
	}
	if (is_model(dir)) {
		run_case(n, dir, dir, true);
		return;
	}
	count = scandir(dir, &list, is_visible, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = list[i]->d_name, *path = arena_printf(a, "%s/%s", dir, name);
		const char *inside = arena_printf(a, "%s/model.onnx", path);
		if (access(inside, R_OK) == 0)
			run_case(n, name, inside, false);
		else if (is_model(name))
			run_case(n, name, path, true);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
	else
		printf("FAILED %s: cannot be read\n", dir), n->failed++;
}

int main(int argc, char **argv)
{
	const bool passes = argc > 1 && strcmp(argv[1], "--passes") == 0;
	const bool device = argc > 1 && strncmp(argv[1], "--device=", strlen("--device=")) == 0;
	Counts n = { .passes = passes, .device = device ? argv[1] + strlen("--device=") : NULL };
	argc -= passes || device;
	argv += passes || device;
	n.open = argv + 1;

	while (n.nopen + 1 < argc && strncmp(n.open[n.nopen], "--open=", strlen("--open=")) == 0)
		n.nopen++;
	if (n.nopen + 1 == argc) {
		fputs("usage: conform [--passes | --device=NAME] [--open=NAME]... DIR...\n", stderr);
		return EXIT_USAGE;
	}
	Arena *a = arena_create();
	for (int i = n.nopen + 1; i < argc; i++)
		run_folder(&n, a, argv[i]);
	arena_destroy(a);
	printf("%d passed, %d failed, %d skipped\n", n.passed, n.failed, n.skipped);
	return n.failed > n.open_failed ? EXIT_MODEL : EXIT_OK;
}
