/*
 * Networks on the emulator against the plain executor.
 *
 *     test_networks SEED COUNT             so many random networks from a seed on
 *     test_networks wild SEED COUNT DEVICE likewise, of any shape
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/compare.h"
#include "tests/model_graph.h"
#include "tests/network.h"
#include "tests/random_unet.h"

typedef struct Run {
	float *in, *got, *want;
	int64_t n;
} Run;

/* Three images through one loaded program, two at a time: the first again as the
 * third. Tells what came of the first, if the third came out the same. */
static bool run_thrice(const Network *net, const char *device, const float *in, float *out,
		       TesseraError *e)
{
	const TesseraTensor x = tessera_input(net->opened, 0), y = tessera_output(net->opened, 0);
	float *other = xmalloc(x.bytes), *again = xmalloc(y.bytes);
	for (size_t i = 0; i < x.bytes / sizeof(float); i++)
		other[i] = 3 - in[i];
	const TesseraArray a = tessera_array(&x, (void *)(uintptr_t)in);
	const TesseraArray b = tessera_array(&x, other);
	const TesseraArray to = tessera_array(&y, out), rest = tessera_array(&y, again);
	TesseraDevice *d = tessera_device_open(device, e);
	TesseraProgram *p = d ? tessera_load(d, net->opened, e) : NULL;
	const bool ok = p && tessera_submit(p, &a, 1, e) && tessera_submit(p, &b, 1, e) &&
		tessera_wait(p, &to, 1, e) && tessera_submit(p, &a, 1, e) &&
		tessera_wait(p, &rest, 1, e) && tessera_wait(p, &rest, 1, e);
	if (ok && memcmp(out, again, y.bytes) != 0)
		fail_msg("the same image, another result");
	tessera_unload(p);
	tessera_device_close(d);
	free(other);
	free(again);
	return ok;
}

typedef bool RunBy(const Network *, const char *device, const float *in, float *out,
		   TesseraError *);

static Run run(Fixture *t, Network *net, RunBy *by, const char *device, uint64_t seed,
	       const NetOptions *opt)
{
	if (!net)
		fail_msg("seed %llu: %s", (unsigned long long)seed, fixture_said(t));
	Run r = { .n = network_output_count(net) };
	TesseraError e;
	r.in = arena_array(t->arena, float, network_input_count(net));
	r.got = arena_array(t->arena, float, r.n);
	r.want = arena_array(t->arena, float, r.n);
	random_image(r.in, network_input_count(net), seed, opt);
	if (!by(net, device, r.in, r.got, &e))
		fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, e.text, e.detail);
	network_ref(net, r.in, r.want);
	return r;
}

/* Worst error over the greatest magnitude wanted. */
static double worst(const Run *r)
{
	double error = 0, range = 0;
	for (int64_t i = 0; i < r->n; i++) {
		error = fmax(error, fabs((double)r->got[i] - (double)r->want[i]));
		range = fmax(range, fabs((double)r->want[i]));
	}
	return range > 0 ? error / range : error;
}

static void one_net(uint64_t seed, const NetOptions *opt, int cores, double most)
{
	Fixture *t;
	fixture_setup((void **)&t);
	Network *net = network_of(random_unet(t->arena, &t->diag, seed, opt), cores);
	const Run r = run(t, net, network_run, "emu", seed, opt);
	if (!(worst(&r) <= most))
		fail_msg("seed %llu: error %g of the range", (unsigned long long)seed, worst(&r));
	network_free(net);
	fixture_teardown((void **)&t);
}

/* Whole numbers below 128 have the 7 bits that two phases of fidelity see of an
 * activation, so every sum of them is exact. */
static void integers_come_out_exactly(void **state)
{
	(void)state;
	const NetOptions opt = { .integers = true, .levels = 2 };
	for (uint64_t seed = 1; seed <= 6; seed++)
		one_net(seed, &opt, 0, 0);
}

/* Each layer rounds its result to 8 bits, and bfp8_b weights to 7. */
static void bf16_nets_are_near(void **state)
{
	(void)state;
	const NetOptions opt = { .levels = 2 };
	for (uint64_t seed = 1; seed <= 6; seed++)
		one_net(seed, &opt, 0, 0.05);
}

/* 64 input tiles for 4 output tiles are more than a block holds, in two; 65 of an
 * odd number of planes, in five. */
static void deep_inputs_come_in_several_blocks(void **state)
{
	Fixture *t = *state;
	const NetOptions opt = { 0 };
	for (int cin = 2048; cin <= 2064; cin += 16) {
		const ConvShape c = { cin, 100, 1, 5, 1, 1, OP_RELU };
		Network *net = network_of(random_conv(t->arena, &t->diag, 1, &c, &opt), 0);
		const Run r = run(t, net, network_run, "emu", 1, &opt);
		assert_true(worst(&r) < 0.01);
		network_free(net);
	}
}

static void one_core_does_what_many_do(void **state)
{
	Fixture *t = *state;
	const NetOptions opt = { .levels = 2 };
	const uint64_t seed = 4;
	Network *one = network_of(random_unet(t->arena, &t->diag, seed, &opt), 1);
	Network *many = network_of(random_unet(t->arena, &t->diag, seed, &opt), 0);
	const Run a = run(t, one, network_run, "emu", seed, &opt);
	const Run b = run(t, many, network_run, "emu", seed, &opt);
	assert_memory_equal(a.got, b.got, (size_t)a.n * sizeof(float));
	network_free(one);
	network_free(many);
}

/* Every phase of the transposed conv reads a copy of its own, in as many bands as the
 * result has; half of the cores have no row of the phase. */
static void copies_are_waited_for_where_nobody_reads_them(void **state)
{
	Fixture *t = *state;
	static const char text[] =
		"%x = input : f32[1,32,8,8]\n"
		"%w = constant splat 0.5 : f32[32,32,1,1]\n"
		"%v = constant splat 0.25 : f32[32,32,3,3]\n"
		"%a = conv %x, %w {dilations = [1,1], pads = [0,0,0,0], strides = [1,1]} : "
		"f32[1,32,8,8]\n"
		"%b = conv_transpose %a, %v {dilations = [1,1], output_padding = [1,1], "
		"pads = [1,1,1,1], strides = [2,2]} : f32[1,32,16,16]\n"
		"%y = output %b : f32[1,32,16,16]\n";
	static const char pins[] = "tensor a bands=8\ntensor b.phases bands=16\n"
		"op b.phases reshard=0\nop b.phases@2 reshard=0\nop b.phases@3 reshard=0\n"
		"op b.phases@4 reshard=0\n";
	const PlanSource line = { "pins", pins, sizeof pins - 1 };
	const PlanRequest request = { .objective = OBJECTIVE_GREEDY, .line = &line };
	Graph *g = text_graph(t, text);
	Planned p;
	assert_true(passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }));
	if (planner_run(g, test_target(t), &request, &p) != PLANNED)
		fail_msg("%s", fixture_said(t));
	Network *net = network_of_plan(g, p.plan);
	const Run r = run(t, net, run_thrice, "emu:race", 1, &(NetOptions){ 0 });
	assert_true(worst(&r) < 0.01);
	network_free(net);
}

/* The format of the result of a conv on one core with so much L1. */
static DevTypes result_in(Fixture *t, int64_t room)
{
	static const char text[] =
		"%x = input : f32[1,16,64,64]\n"
		"%w = constant splat 0.5 : f32[16,16,1,1]\n"
		"%y = conv %x, %w {dilations = [1,1], pads = [0,0,0,0], strides = [1,1]} : "
		"f32[1,16,64,64]\n"
		"%o = output %y : f32[1,16,64,64]\n";
	const PlanRequest request = { .cores = 1, .room = room };
	Graph *g = text_graph(t, text);
	Planned p;
	assert_true(passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }));
	assert_int_equal(planner_run(g, test_target(t), &request, &p), PLANNED);
	return p.plan->steps[1].out->layout.type;
}

static void a_result_is_bf16_where_f32_does_not_fit(void **state)
{
	assert_int_equal(result_in(*state, 0), DEV_F32);
	assert_int_equal(result_in(*state, 350000), DEV_BF16);
}

/* Of 1 + 2^-9, less an input of 1, bf16 leaves nothing; a weight of 1 - 2^-11 for a channel
 * by itself would be 1. */
static void biases_have_more_bits_than_bf16(void **state)
{
	Fixture *t = *state;
	static const char text[] =
		"%x = input : f32[1,2,1,3]\n"
		"%w = constant [-1,0,0,-1] : f32[2,2,1,1]\n"
		"%b = constant [0x1.008p+0,0x1.018p+0] : f32[2]\n"
		"%v = constant [-0x1.ffcp-1,-0x1.ffcp-1] : f32[2,1,1,1]\n"
		"%a = conv %x, %w, %b {dilations = [1,1], pads = [0,0,0,0], strides = [1,1]} : "
		"f32[1,2,1,3]\n"
		"%d = conv %x, %v, %b {dilations = [1,1], groups = 2, pads = [0,0,0,0], "
		"strides = [1,1]} : f32[1,2,1,3]\n"
		"%ya = output %a : f32[1,2,1,3]\n"
		"%yd = output %d : f32[1,2,1,3]\n";
	static const float ones[] = { 1, 1, 1, 1, 1, 1 };
	float got[12];
	TesseraError e;
	Network *net = network_compile(t->arena, &t->diag, text, 1);
	if (!net)
		fail_msg("%s", fixture_said(t));
	assert_true(network_run(net, "emu", ones, got, &e));
	for (int i = 0; i < 12; i++) {
		const float bias = (i / 3 & 1 ? 0x1.018p+0f : 0x1.008p+0f);
		assert_float_equal(got[i], bias - (i < 6 ? 1 : 0x1.ffcp-1f), 0);
	}
	network_free(net);
}

/* Whether the device takes it; then it must be right. */
static bool one_wild_net(uint64_t seed, const char *device, bool told)
{
	Fixture *t;
	const NetOptions opt = wild_options(seed);
	fixture_setup((void **)&t);
	Network *net = network_of(random_wild(t->arena, &t->diag, seed, &opt), 0);
	if (net) {
		const Run r = run(t, net, run_thrice, device, seed, &opt);
		const double error = worst(&r);
		if (told)
			printf("seed %llu: %d ops, %d cores, error %g\n", (unsigned long long)seed,
			       net->program->nops, net->program->ncores, error);
		if (!(error <= (opt.integers ? 0 : 0.05)))
			fail_msg("seed %llu: error %g of the range", (unsigned long long)seed, error);
		network_free(net);
	} else if (told) {
		printf("seed %llu: refused, %s", (unsigned long long)seed, fixture_said(t));
	}
	fixture_teardown((void **)&t);
	return net;
}

static void any_shape_is_right_or_refused(void **state)
{
	(void)state;
	int taken = 0;
	for (uint64_t seed = 1; seed <= 5; seed++)
		taken += one_wild_net(seed, "emu", false);
	assert_in_range(taken, 4, 5);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		const uint64_t from = strtoull(argv[1], NULL, 10), n = strtoull(argv[2], NULL, 10);
		for (uint64_t seed = from; seed < from + n; seed++) {
			printf("seed %llu\n", (unsigned long long)seed);
			fflush(stdout);
			one_net(seed, &(NetOptions){ .levels = 2 }, 0, 0.05);
			one_net(seed, &(NetOptions){ .integers = true, .levels = 2 }, 0, 0);
		}
		return 0;
	}
	if (argc == 5) {
		const uint64_t from = strtoull(argv[2], NULL, 10), n = strtoull(argv[3], NULL, 10);
		for (uint64_t seed = from; seed < from + n; seed++) {
			one_wild_net(seed, argv[4], true);
			fflush(stdout);
		}
		return 0;
	}
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(integers_come_out_exactly),
		T(bf16_nets_are_near),
		T(any_shape_is_right_or_refused),
		T(deep_inputs_come_in_several_blocks),
		T(one_core_does_what_many_do),
		T(copies_are_waited_for_where_nobody_reads_them),
		T(biases_have_more_bits_than_bf16),
		T(a_result_is_bf16_where_f32_does_not_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
