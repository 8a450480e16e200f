/*
 * zoo MODELS GOLDEN NNEF: every real model against its golden.
 *
 * For each MODELS/NAME.onnx with GOLDEN/NAME/{in,out}_K.npy:
 *   - the imported graph on the reference executor is within 1e-4 of the
 *     golden output's range;
 *   - the graph after all passes gives what it gave before, within 1e-5 of the
 *     range;
 *   - NNEF/NAME, if there is one, gives the same output within 1e-6.
 * --small leaves out models above half a billion multiply-accumulates.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/model.h"
#include "frontend/weights.h"
#include "ir/compare.h"
#include "passes/pass.h"
#include "runtime/ref/ref.h"

enum { MOST = 32 };

typedef struct Zoo {
	Arena *arena;
	Diag diag;
	const char *golden, *nnef;
	bool small;
	int passed, failed;
} Zoo;

typedef struct Tensors {
	int n;
	Tensor *v[MOST];
} Tensors;

static void claim(Zoo *z, bool holds, const char *model, const char *what)
{
	printf("%s %s: %s\n", holds ? "ok    " : "FAILED", model, what);
	*(holds ? &z->passed : &z->failed) += 1;
}

static Tensors load(Zoo *z, const char *model, const char *stem)
{
	Tensors t = { 0 };
	for (; t.n < MOST; t.n++) {
		char *path = arena_printf(z->arena, "%s/%s/%s_%d.npy", z->golden, model, stem, t.n);
		if (access(path, R_OK) != 0)
			break;
		t.v[t.n] = npy_read(z->arena, &z->diag, path);
		if (!t.v[t.n])
			break;
	}
	return t;
}

static int count_outputs(const Graph *g)
{
	int n = 0;
	for_each_op(op, g)
		n += op->kind == OP_OUTPUT;
	return n;
}

/* Runs `g`; no tensors if that fails. */
static Tensors run(Zoo *z, const Graph *g, const Tensors *in)
{
	Tensors out = { .n = count_outputs(g) };
	if (out.n > MOST || !ref_run(g, z->arena, in->v, out.v, &(RefOptions){ 0 }))
		out.n = 0;
	return out;
}

static void compare(Zoo *z, const char *model, const char *what, const Tensors *got,
		    const Tensors *want, double limit)
{
	double worst = got->n == want->n && got->n ? 0 : INFINITY;
	for (int i = 0; i < want->n && i < got->n; i++)
		worst = fmax(worst, shape_equal(got->v[i]->shape, want->v[i]->shape)
			? tensor_compare(want->v[i], got->v[i]).max_rel : INFINITY);
	claim(z, worst <= limit, model,
	      arena_printf(z->arena, "%s: %d outputs, error %.2g of range (limit %g)", what, want->n,
			   worst, limit));
}

static void passes_keep_it(Zoo *z, const char *model, Graph *g, const Tensors *in,
			   const Tensors *before)
{
	Tensors after = { 0 };
	if (passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		after = run(z, g, in);
	compare(z, model, "after all passes", &after, before, 1e-5);
}

static void nnef_form_agrees(Zoo *z, const char *model, const Tensors *in, const Tensors *onnx)
{
	char *path = arena_printf(z->arena, "%s/%s", z->nnef, model);
	if (access(path, R_OK) != 0)
		return;
	Graph *g = nnef_read(z->arena, &z->diag, path, &(ModelOptions){ 0 });
	Tensors got = g ? run(z, g, in) : (Tensors){ 0 };
	compare(z, model, "NNEF form", &got, onnx, 1e-6);
}

static void visit(Zoo *z, const char *folder, const char *model)
{
	char *path = arena_printf(z->arena, "%s/%s.onnx", folder, model);
	Tensors in = load(z, model, "in"), want = load(z, model, "out");
	ShapeOption shape = { .shape = in.n ? in.v[0]->shape : (Shape){ 0 } };
	ModelOptions opt = { .nshapes = in.n == 1, .shapes = &shape };
	Graph *g = onnx_read(z->arena, &z->diag, path, &opt);
	if (!g || !in.n || !want.n) {
		claim(z, false, model, "reads");
		return;
	}
	if (z->small && ref_macs(g) > 500000000)
		return;
	Tensors got = run(z, g, &in);
	compare(z, model, "golden", &got, &want, 1e-4);
	nnef_form_agrees(z, model, &in, &got);
	passes_keep_it(z, model, g, &in, &got);
	fflush(stdout);
}

static int is_model(const struct dirent *e)
{
	size_t n = strlen(e->d_name);
	return n > 5 && strcmp(e->d_name + n - 5, ".onnx") == 0;
}

int main(int argc, char **argv)
{
	Zoo z = { .diag = { .to = stdout } };
	if (argc > 1 && strcmp(argv[1], "--small") == 0) {
		z.small = true;
		argv++, argc--;
	}
	struct dirent **list;
	int n = argc == 4 ? scandir(argv[1], &list, is_model, alphasort) : -1;
	if (n < 1) {
		printf("no models found: give MODELS GOLDEN NNEF; skipped\n");
		return 77;
	}
	z.golden = argv[2];
	z.nnef = argv[3];
	for (int i = 0; i < n; i++) {
		z.arena = arena_create();
		list[i]->d_name[strlen(list[i]->d_name) - 5] = '\0';
		visit(&z, argv[1], list[i]->d_name);
		diag_finish(&z.diag);
		arena_destroy(z.arena);
		free(list[i]);
	}
	free(list);
	printf("%d passed, %d failed\n", z.passed, z.failed);
	return z.failed != 0;
}
