/*
 * bench_scale: reading and passes take time in proportion to the net.
 *
 * Makes ONNX models of 250 to 2000 layers (conv, batch norm, relu, a skip
 * every eighth layer), reads them and runs every pass. Prints the processor
 * time of each and fails if a layer of the longest net costs more than 4 times
 * a layer of the shortest: one quadratic step would cost 8 times, and a busy
 * machine has been seen to make 3 of 1.4.
 */
#include <time.h>

#include "passes/pass.h"
#include "tests/onnx_model.h"

static double cpu_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_layer(Model *m, int i)
{
	static const char *const parts[] = { "scale", "shift", "mean", "var" };
	Arena *a = m->t->arena;
	model_weight(m, arena_printf(a, "w%d", i), TYPE_F32, SHAPE(16, 16, 3, 3), 0.01);
	model_node(m, "Conv", arena_printf(a, "x%d w%d", i, i), arena_printf(a, "c%d", i));
	model_list(m, "pads", ints_fill(a, 1, 4));
	for (int k = 0; k < 4; k++)
		model_weight(m, arena_printf(a, "%s%d", parts[k], i), TYPE_F32, SHAPE(16), 1);
	model_node(m, "BatchNormalization",
		   arena_printf(a, "c%d scale%d shift%d mean%d var%d", i, i, i, i, i),
		   arena_printf(a, "n%d", i));
	if (i % 8 != 7) {
		model_node(m, "Relu", arena_printf(a, "n%d", i), arena_printf(a, "x%d", i + 1));
		return;
	}
	model_node(m, "Relu", arena_printf(a, "n%d", i), arena_printf(a, "r%d", i));
	model_node(m, "Add", arena_printf(a, "r%d x%d", i, i - 7), arena_printf(a, "x%d", i + 1));
}

static Bytes make_net(Fixture *t, int layers)
{
	Model *m = model_create(t, 13);
	m->graph.node = arena_array(t->arena, Onnx__NodeProto *, 4 * layers);
	m->graph.initializer = arena_array(t->arena, Onnx__TensorProto *, 5 * layers);
	model_input(m, "x0", TYPE_F32, "1x16x32x32");
	for (int i = 0; i < layers; i++)
		add_layer(m, i);
	model_output(m, arena_printf(t->arena, "x%d", layers));
	return model_pack(m);
}

/* Seconds for reading the model and running all passes on it. */
static double time_once(Bytes model)
{
	Fixture *t;
	fixture_setup((void **)(void *)&t);
	const double start = cpu_seconds();
	Graph *g = onnx_parse(t->arena, &t->diag, "scale.onnx", model, &(ModelOptions){ 0 });
	if (!g || !passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 })) {
		fputs(fixture_said(t), stderr);
		exit(1);
	}
	const double took = cpu_seconds() - start;
	fixture_teardown((void **)(void *)&t);
	return took;
}

int main(void)
{
	double first = 0, last = 0;
	for (int layers = 250; layers <= 2000; layers *= 2) {
		Fixture *t;
		double best = 1e9;
		fixture_setup((void **)(void *)&t);
		Bytes model = make_net(t, layers);
		for (int again = 0; again < 7; again++) {
			const double took = time_once(model);
			best = took < best ? took : best;
		}
		fixture_teardown((void **)(void *)&t);
		last = best / layers;
		first = first ? first : last;
		printf("%5d layers: %8.2f ms, %6.2f us a layer\n", layers, best * 1e3, last * 1e6);
	}
	printf("a layer of the longest net costs %.2f times one of the shortest\n", last / first);
	return last > 4 * first;
}
