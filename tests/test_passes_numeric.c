/*
 * Passes must not change what a graph computes.
 *
 * Each of a number of random graphs goes through every pass alone, through
 * random sequences of passes and through the whole pipeline, and is then run
 * by the reference executor. Outputs may differ by 1e-5 of their range: one
 * rounding of weights to f32 is 6e-8 of a value, and a graph here has at
 * most a dozen layers whose weights are rewritten a few times each. Graphs
 * that make no sense also add up large values that cancel, up to sixty times
 * over: they may differ by 1e-4.
 *
 *     test_passes_numeric [FIRST_SEED [COUNT]]
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/pass.h"
#include "runtime/ref/ref.h"
#include "tests/cases.h"
#include "tests/check.h"
#include "tests/random_graph.h"

enum { MOST = 64, MOST_PASSES = 32 };

static uint64_t first_seed = 1;
static int seed_count = 60;

/* The same values whatever layout the graph has given its inputs. */
static void run(const Graph *g, Tensor *out[MOST])
{
	Tensor *in[MOST];
	int n = 0;
	Rng rng = { 12345 };
	for (const Op *op = g->first; op; op = op->next) {
		if (op->kind != OP_INPUT)
			continue;
		const Ints perm = op->attr.input.perm;
		Shape shape = op->shape;
		for (int i = 0; i < perm.n; i++)
			shape.dim[perm.v[i]] = op->shape.dim[i];
		in[n] = tensor_create(g->arena, op->dtype, shape);
		for (int64_t i = 0; i < tensor_count(in[n]); i++)
			tensor_set_f64(in[n], i, 2 * (double)rng_float(&rng) - 1);
		n++;
	}
	if (!ref_run(g, g->arena, in, out, &(RefOptions){ .threads = 1 }))
		fail_msg("the reference executor refuses the graph");
}

/* The largest difference, as a part of the range of the values wanted. */
static double difference(const Tensor *want, const Tensor *got)
{
	double least = INFINITY, most = -INFINITY, worst = 0;
	for (int64_t i = 0; i < tensor_count(want); i++) {
		const double w = tensor_f64(want, i), v = tensor_f64(got, i);
		least = fmin(least, w);
		most = fmax(most, w);
		worst = isnan(v) != isnan(w) ? INFINITY : fmax(worst, fabs(v - w));
	}
	const double range = fmax(most - least, fmax(fabs(most), fabs(least)));
	return range > 0 ? worst / range : worst;
}

/* Where the graphs come from, and how far off their outputs may be. */
typedef struct Source {
	Graph *(*make)(Arena *a, Diag *d, uint64_t seed);
	double tolerance;
} Source;

static Graph *smooth_graph(Arena *a, Diag *d, uint64_t seed)
{
	return wild_graph(a, d, seed, true);
}

static Graph *rough_graph(Arena *a, Diag *d, uint64_t seed)
{
	return wild_graph(a, d, seed, false);
}

static const Source sensible = { random_graph, 1e-5 }, wild = { smooth_graph, 1e-4 };

static void check(const Source *from, uint64_t seed, const PassId ids[], int n,
		  Tensor *const want[], int noutputs)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	Graph *g = from->make(a, &d, seed);
	Tensor *got[MOST];
	char list[512] = "";
	for (int i = 0; i < n; i++) {
		strcat(list, i ? "," : "");
		strcat(list, pass_info[ids[i]].name);
	}
	if (!passes_run(g, ids, n, &(PassOptions){ 0 }))
		fail_msg("seed %llu, %s: reported an error", (unsigned long long)seed, list);
	cases_print(g);
	run(g, got);
	for (int i = 0; i < noutputs; i++) {
		if (!shape_equal(got[i]->shape, want[i]->shape))
			fail_msg("seed %llu, %s: output %d has another shape",
				 (unsigned long long)seed, list, i);
		if (difference(want[i], got[i]) > from->tolerance)
			fail_msg("seed %llu, %s: output %d is off by %g of its range",
				 (unsigned long long)seed, list, i, difference(want[i], got[i]));
	}
	arena_destroy(a);
}

static int outputs_of(const Graph *g)
{
	int n = 0;
	for (const Op *op = g->first; op; op = op->next)
		n += op->kind == OP_OUTPUT;
	return n;
}

/* Calls `each` for every seed with what the graph computes unchanged. */
static void for_seeds(const Source *from, void (*each)(const Source *from, uint64_t seed,
						       Tensor *const want[], int noutputs))
{
	for (int i = 0; i < seed_count; i++) {
		const uint64_t seed = first_seed + (uint64_t)i;
		Arena *a = arena_create();
		Diag d = { .to = stderr };
		Tensor *want[MOST];
		Graph *g = from->make(a, &d, seed);
		run(g, want);
		each(from, seed, want, outputs_of(g));
		arena_destroy(a);
	}
}

static void alone(const Source *from, uint64_t seed, Tensor *const want[], int noutputs)
{
	for (PassId id = 0; id < PASS_COUNT; id++)
		check(from, seed, &id, 1, want, noutputs);
}

static void in_any_order(const Source *from, uint64_t seed, Tensor *const want[], int noutputs)
{
	PassId ids[MOST_PASSES];
	Rng rng = { seed };
	for (int i = 0; i < 12; i++)
		ids[i] = (PassId)rng_below(&rng, PASS_COUNT);
	check(from, seed, ids, 12, want, noutputs);
}

static void together(const Source *from, uint64_t seed, Tensor *const want[], int noutputs)
{
	check(from, seed, pass_pipeline, pass_pipeline_length, want, noutputs);
}

static void no_pass_alone_changes_what_is_computed(void **state)
{
	(void)state;
	for_seeds(&sensible, alone);
}

static void passes_in_any_order_change_nothing(void **state)
{
	(void)state;
	for_seeds(&sensible, in_any_order);
}

static void the_pipeline_changes_nothing(void **state)
{
	(void)state;
	for_seeds(&sensible, together);
}

static void graphs_without_sense_compute_the_same(void **state)
{
	(void)state;
	for_seeds(&wild, alone);
	for_seeds(&wild, in_any_order);
	for_seeds(&wild, together);
}

static void any_right_graph_comes_through_all_passes(void **state)
{
	(void)state;
	for (int i = 0; i < seed_count; i++) {
		Arena *a = arena_create();
		Diag d = { .to = stderr };
		Graph *g = rough_graph(a, &d, first_seed + (uint64_t)i);
		passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 });
		cases_print(g);
		arena_destroy(a);
	}
}

static void a_pass_run_again_finds_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < seed_count; i++) {
		for (PassId id = 0; id < PASS_COUNT; id++) {
			Arena *a = arena_create();
			Diag d = { .to = stderr };
			Graph *g = random_graph(a, &d, first_seed + (uint64_t)i);
			pass_info[id].run(g);
			if (pass_info[id].run(g))
				fail_msg("seed %llu: %s changes the graph again",
					 (unsigned long long)first_seed + (unsigned)i,
					 pass_info[id].name);
			arena_destroy(a);
		}
	}
}

static Op *twice(Builder *b, Op *x, int64_t channels)
{
	for (int i = 0; i < 2; i++) {
		const Attrs pad = { .pad.pads = INTS(b->g->arena, 0, 0, 1, 1, 0, 0, 1, 1) };
		x = build(b, OP_PAD, pad, 1, &x);
		x = build_conv(b, x, channels, 3, 1, 1, false);
		x = build_unary(b, OP_RELU, build_batch_norm(b, x));
	}
	return x;
}

static void a_unet_keeps_no_norm_pad_or_relu(void **state)
{
	(void)state;
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	Builder b = builder_create(a, &d, 1);
	Op *x = build_random_input(&b, SHAPE(1, 3, 16, 16)), *skips[2];
	for (int i = 0; i < 2; i++) {
		skips[i] = twice(&b, x, 4 << i);
		x = build_pool(&b, OP_MAX_POOL, skips[i], 2, 2, 0);
	}
	x = twice(&b, x, 16);
	for (int i = 1; i >= 0; i--) {
		const Shape s = skips[i]->shape;
		x = build_conv_transpose(&b, x, 4 << i, 1);
		x = build(&b, OP_SLICE, (Attrs){ .slice = {
			.counts = INTS(a, 1, 4 << i, s.dim[2], s.dim[3]),
			.starts = ints_fill(a, 0, 4), .steps = ints_fill(a, 1, 4) } }, 1, &x);
		x = build(&b, OP_CONCAT, (Attrs){ .axis.axis = 1 }, 2, (Op *[]){ skips[i], x });
		x = twice(&b, x, 4 << i);
	}
	build_output(&b, build_unary(&b, OP_SIGMOID, build_conv(&b, x, 1, 1, 1, 1, true)));
	assert_true(passes_run(b.g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }));
	for_each_op(op, b.g) {
		assert_int_not_equal(op->kind, OP_BATCH_NORM);
		assert_int_not_equal(op->kind, OP_PAD);
		assert_int_not_equal(op->kind, OP_RELU);
		assert_int_not_equal(op->kind, OP_SIGMOID);
	}
	arena_destroy(a);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_pass_alone_changes_what_is_computed),
		cmocka_unit_test(passes_in_any_order_change_nothing),
		cmocka_unit_test(the_pipeline_changes_nothing),
		cmocka_unit_test(graphs_without_sense_compute_the_same),
		cmocka_unit_test(any_right_graph_comes_through_all_passes),
		cmocka_unit_test(a_pass_run_again_finds_nothing),
		cmocka_unit_test(a_unet_keeps_no_norm_pad_or_relu),
	};
	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		seed_count = atoi(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
