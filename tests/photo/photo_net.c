/*
 * How near a net with random weights comes to the plain executor, on a photograph.
 *
 *     photo_net FILE SHAPE PHOTO.npy DEVICE either|bf16|bfp8_b|f32 either|bf16|f32 LEAST
 *
 * Batch norms have the statistics of one run of the reference on it; what goes into a
 * sigmoid at the end is compared (photo.h). Formats, of the tensors between the edges and of
 * weights, are what the planner takes, or all the same; products then have all phases.
 * Fails if an output correlates less than LEAST. On device `same` the emulator and the
 * simulator that TESSERA_TTSIM names are compared byte by byte instead; without one, or
 * without the photograph, the test is skipped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/inputs.h"
#include "ir/compare.h"
#include "passes/pass.h"
#include "runtime/ref/ref.h"
#include "tests/model_plan.h"
#include "tests/network.h"
#include "tests/photo/photo.h"
#include "tests/same.h"

enum { SKIPPED = 77, MOST = 16 };

typedef struct Case {
	const char *file, *shape, *photo, *device;
	const char *formats, *weights;
	double least;
} Case;

static Graph *read_net(Arena *a, Diag *d, const Case *c)
{
	char *words[] = { "photo_net", "plan", (char *)(uintptr_t)c->file, "--random-weights=1",
			  "--input", (char *)(uintptr_t)c->shape };
	Options o;
	Inputs inputs;
	if (!options_parse(&o, a, d, 6, words) || inputs_read(&inputs, a, d, &o) != EXIT_OK)
		exit(2);
	return model_read(a, d, c->file, &inputs.model);
}

static const Op *input_of(const Graph *g)
{
	for_each_op(op, g)
		if (op->kind == OP_INPUT)
			return op;
	return NULL;
}

/* Tensors that may be either are what is asked for; false if none may. */
static bool store_as(Graph *g, const char *formats)
{
	const DevTypes to = strcmp(formats, "bf16") == 0 ? DEV_BF16
			  : strcmp(formats, "f32") == 0 ? DEV_BF16 | DEV_F32 : DEV_BFP8_B;
	int count = 0, all = 0;
	for_each_op(op, g) {
		all += op->stored != DEV_UNSET;
		if (op->stored != (DEV_BF16 | DEV_BFP8_B))
			continue;
		count++;
		if (strcmp(formats, "either") != 0)
			op->stored = to;
	}
	printf("%d of %d tensors are %s\n", count, all, formats);
	return count > 0;
}

/* Every output of the device against what it should be. */
static bool near(const Case *c, const Network *n, Tensor *image, Tensor *const want[])
{
	TesseraError e;
	float *out = xmalloc((size_t)network_output_count(n) * sizeof *out);
	const float *at = out;
	bool ok = network_run(n, c->device, tensor_f32_data(image), out, &e);
	if (!ok)
		fprintf(stderr, "%s\n%s\n", e.text, e.detail);
	for (int k = 0; ok && want[k]; at += tensor_count(want[k++])) {
		const Tensor got = { .dtype = TYPE_F32, .shape = want[k]->shape, .data = at };
		const Closeness x = tensor_compare(want[k], &got);
		printf("%s %s %s %s, weights %s: pcc %.6f, greatest error %.4f of the range\n",
		       c->file, c->shape, c->device, c->formats, c->weights, x.pcc, x.max_rel);
		if (!(x.pcc >= c->least)) {
			printf("less than %g\n", c->least);
			ok = false;
		}
	}
	free(out);
	return ok;
}

static bool check(Arena *a, Diag *d, const Case *c, const char *library)
{
	Graph *g = read_net(a, d, c);
	const Op *input = g ? input_of(g) : NULL;
	Tensor *image = input ? photo_read(a, d, c->photo, input->shape) : NULL;
	Tensor *want[MOST] = { 0 };
	if (!image || !photo_settle(g, image))
		return false;
	photo_before_sigmoid(g);
	if (strcmp(c->weights, "either") != 0)
		photo_exact_weights(g, c->weights);
	if (!ref_run(g, a, &image, want, NULL)
	    || !passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		return false;
	if (!store_as(g, c->formats))
		return false;
	Plan *plan = model_plan(g, OBJECTIVE_TIME, false);
	Network *n = plan ? network_of_plan(g, plan) : NULL;
	const bool ok = n && (strcmp(c->device, "same") != 0 ? near(c, n, image, want)
			      : same_memory(n, arena_printf(a, "ttsim:%s", library),
					    tensor_f32_data(image), g->name));
	network_free(n);
	return ok;
}

int main(int argc, char **argv)
{
	if (argc != 8) {
		fprintf(stderr, "usage: photo_net FILE SHAPE PHOTO.npy DEVICE either|bf16|bfp8_b|f32 "
			"either|bf16|f32 LEAST\n");
		return 2;
	}
	const Case c = { argv[1], argv[2], argv[3], argv[4], argv[5],
			 argv[6], atof(argv[7]) };
	const char *library = getenv("TESSERA_TTSIM");
	if (access(c.photo, R_OK) != 0
	    || (strcmp(c.device, "same") == 0 && !(library && *library))) {
		puts("no photograph, or TESSERA_TTSIM is not set: skipped");
		return SKIPPED;
	}
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	const bool ok = check(a, &d, &c, library);
	diag_finish(&d);
	arena_destroy(a);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
