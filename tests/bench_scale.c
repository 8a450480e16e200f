/*
 * bench_scale: a net takes time in proportion to its layers, to be read and to be compiled.
 *
 * Makes ONNX models (conv, batch norm, relu, a skip every eighth layer). Those of 250 to
 * 2000 layers are read, and every pass is run; fails if a layer of the longest net costs
 * more than 4 times a layer of the shortest: one quadratic step would cost 8 times, and a
 * busy machine has been seen to make 3 of 1.4. Those of 50 to 500 layers are planned,
 * lowered and emitted too, where a layer may cost 1.3 times as much: it is less in long nets,
 * as what is alike is priced once. All by the processor time of this process.
 */
#include <time.h>

#include "backend/emit.h"
#include "backend/lower.h"
#include "passes/pass.h"
#include "passes/planner.h"
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

static void stop(Fixture *t)
{
	fputs(fixture_said(t), stderr);
	exit(1);
}

static void compile(Fixture *t, Graph *g)
{
	const Target *target = target_load(t->arena, &t->diag, TARGET_DEFAULT);
	const PlanRequest r = { 0 };
	const EmitOptions o = { .compiler = "bench" };
	Emission e = { 0 };
	Planned p;
	if (!target || planner_run(g, target, &r, &p) != PLANNED
	    || !emit_program(&e, t->arena, &t->diag, lower(p.plan), target, &o))
		stop(t);
}

/* Seconds for reading the model and running all passes on it, and to compile it. */
static double time_once(Bytes model, bool compiled)
{
	Fixture *t;
	fixture_setup((void **)(void *)&t);
	const double start = cpu_seconds();
	Graph *g = onnx_parse(t->arena, &t->diag, "scale.onnx", model, &(ModelOptions){ 0 });
	if (!g || !passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		stop(t);
	if (compiled)
		compile(t, g);
	const double took = cpu_seconds() - start;
	fixture_teardown((void **)(void *)&t);
	return took;
}

/* What a layer takes: the best of so many times. */
static double layer_time(int layers, int times, bool compiled)
{
	Fixture *t;
	double best = 1e9;
	fixture_setup((void **)(void *)&t);
	Bytes model = make_net(t, layers);
	for (int again = 0; again < times; again++) {
		const double took = time_once(model, compiled);
		best = took < best ? took : best;
	}
	fixture_teardown((void **)(void *)&t);
	printf("%5d layers%s: %8.2f ms, %7.2f us a layer\n", layers,
	       compiled ? " to a package" : "", best * 1e3, best / layers * 1e6);
	return best / layers;
}

int main(void)
{
	const double first = layer_time(250, 7, false);
	layer_time(500, 7, false);
	layer_time(1000, 7, false);
	const double read = layer_time(2000, 7, false) / first;
	layer_time(10, 2, true);
	const double some = layer_time(50, 2, true);
	layer_time(100, 2, true);
	layer_time(200, 2, true);
	const double made = layer_time(500, 2, true) / some;
	printf("a layer of the longest net costs %.2f times one of the shortest to be read, "
	       "%.2f times to be compiled\n", read, made);
	return read > 4 || made > 1.3;
}
