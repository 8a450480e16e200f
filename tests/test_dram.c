/*
 * Networks whose tensors wait in DRAM between any two uses, or lie there and are
 * taken in slices, because they are told to or because L1 is too small: the same
 * bits as with everything in L1.
 *
 *     test_dram FIRST COUNT DEVICE    random UNets from a seed on
 *     test_dram FIRST COUNT ttsim     on the simulator TESSERA_TTSIM names
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/program_verify.h"
#include "frontend/model.h"
#include "tests/check.h"
#include "tests/fixture.h"
#include "tests/network.h"
#include "tests/random_unet.h"

static uint64_t first_seed;
static int seeds;
static const char *device;

/* Pools read bf16, so bfp8_b nets have none. */
static NetOptions options_of(uint64_t seed)
{
	return (NetOptions){ .stored = seed % 3 ? DEV_BFP8_B : DEV_BF16, .most_width = 40,
			     .levels = seed % 3 ? 0 : 1 + (int)(seed % 2) };
}

static Graph *graph_of(Fixture *t, uint64_t seed)
{
	const NetOptions opt = options_of(seed);
	return random_unet(t->arena, &t->diag, seed, &opt);
}

static float *image(Fixture *t, const Network *net, uint64_t seed)
{
	const NetOptions opt = options_of(seed);
	float *in = arena_array(t->arena, float, network_input_count(net));
	random_image(in, network_input_count(net), seed, &opt);
	return in;
}

static float *result(Fixture *t, uint64_t seed, const Network *net, int64_t *n)
{
	TesseraError e;
	if (!net)
		fail_msg("seed %llu: %s", (unsigned long long)seed, fixture_said(t));
	const float *in = image(t, net, seed);
	*n = network_output_count(net);
	float *out = arena_array(t->arena, float, *n);
	if (!network_run(net, device, in, out, &e))
		fail_msg("%s\n%s", e.text, e.detail);
	return out;
}

static void compare(Fixture *t, uint64_t seed, Network *net, const float *want, int64_t n)
{
	int64_t count;
	const float *got = result(t, seed, net, &count);
	assert_int_equal(n, count);
	if (memcmp(got, want, (size_t)n * sizeof *got) != 0)
		fail_msg("seed %llu: other results", (unsigned long long)seed);
	network_free(net);
}

/* Cores and cuts by seed. */
static PlanOptions plan_of(uint64_t seed)
{
	const int cores = 1 + (int)(seed % 5);
	return (PlanOptions){ .cores = cores,
			      .cut = { 0, seed % 4 == 3 && cores > 1 ? 2 : 0 } };
}

static void parked_and_sliced_tensors_are_the_same(void **state)
{
	Fixture *t = *state;
	for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)seeds; seed++) {
		PlanOptions o = plan_of(seed);
		int64_t n;
		Network *whole = network_planned(graph_of(t, seed), &o);
		const float *want = result(t, seed, whole, &n);
		network_free(whole);
		for (int way = 0; way < 5; way++) {
			o.park = way % 2 == 0;
			o.slice = way ? 1 + (int)(seed % 7) : 0;
			o.single = way > 2;
			compare(t, seed, network_planned(graph_of(t, seed), &o), want, n);
		}
	}
}

enum { RUNS = 2 };

/* All at once; each image by itself gave `want`. */
static void run_at_once(const Network *net, const TesseraArray *in, const TesseraArray *out,
			float *const *want, uint64_t bytes)
{
	TesseraError e;
	TesseraDevice *d = tessera_device_open(device, &e);
	TesseraProgram *p = d ? tessera_load(d, net->opened, &e) : NULL;
	bool ok = p != NULL;
	for (int i = 0; i < RUNS; i++)
		ok = ok && tessera_submit(p, &in[i], 1, &e);
	for (int i = 0; i < RUNS; i++)
		ok = ok && tessera_wait(p, &out[i], 1, &e);
	if (!ok)
		fail_msg("%s\n%s", e.text, e.detail);
	for (int i = 0; i < RUNS; i++)
		assert_memory_equal(out[i].data, want[i], bytes);
	tessera_unload(p);
	tessera_device_close(d);
}

/* Cores may be a run apart. */
static void two_runs_under_way_do_not_meet(void **state)
{
	Fixture *t = *state;
	PlanOptions o = { .cores = 4, .park = true };
	for (; o.slice < 3; o.slice += 2) {
		Network *net = network_planned(graph_of(t, first_seed), &o);
		float *want[RUNS];
		TesseraArray in[RUNS], out[RUNS];
		TesseraError e;
		if (!net)
			fail_msg("%s", fixture_said(t));
		const TesseraTensor x = tessera_input(net->opened, 0);
		const TesseraTensor y = tessera_output(net->opened, 0);
		for (int i = 0; i < RUNS; i++) {
			float *values = image(t, net, first_seed + (uint64_t)i);
			want[i] = arena_array(t->arena, float, network_output_count(net));
			in[i] = tessera_array(&x, values);
			out[i] = tessera_array(&y, arena_alloc(t->arena, y.bytes));
			if (!network_run(net, device, values, want[i], &e))
				fail_msg("%s\n%s", e.text, e.detail);
		}
		run_at_once(net, in, out, want, y.bytes);
		network_free(net);
	}
}

static int sliced_steps(const Plan *p)
{
	int n = 0;
	for (int i = 0; i < p->nsteps; i++)
		n += p->steps[i].slice > 0;
	return n;
}

/* From all L1 it wants on, with an eighth less each time until it is refused. */
static void less_l1_takes_to_dram(void **state)
{
	Fixture *t = *state;
	int sliced = 0;
	for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)seeds; seed++) {
		const PlanOptions o = plan_of(seed);
		Target small = *target_load(t->arena, &t->diag, "wormhole_n150");
		Network *net = network_on(graph_of(t, seed), &small, &o);
		int64_t n;
		const float *want = result(t, seed, net, &n);
		const int64_t peak = net->plan->peak;
		network_free(net);
		for (int eighths = 7; eighths > 0; eighths--) {
			small.l1_end = small.l1_first + peak * eighths / 8;
			net = network_on(graph_of(t, seed), &small, &o);
			if (!net)
				break;
			sliced += sliced_steps(net->plan);
			compare(t, seed, net, want, n);
		}
		t->diag.errors = 0;
	}
	assert_true(sliced > 0 || seeds < 3);
}

#define CONV(name, in, out, from, hints)                                                           \
	"%w" name " = constant splat 0.0625 : f32[" out "," in ",1,1]\n%" name " = conv %" from ", %w" name \
	" {dilations = [1,1], pads = [0,0,0,0], stored = bf16, strides = [1,1], weights = bf16" hints \
	"} : f32[1," out ",24,40]\n"

/* While c and d are computed, a waits for j. */
#define WAITING(hints)                                                                             \
	"graph \"waiting\"\n%x = input {stored = bf16} : f32[1,16,24,40]\n"                           \
	CONV("a", "16", "64", "x", hints) CONV("b", "64", "16", "a", "")                           \
	CONV("c", "16", "128", "b", "") CONV("d", "128", "128", "c", "") CONV("e", "128", "16", "d", "") \
	"%j = concat %a, %e {axis = 1, stored = bf16} : f32[1,80,24,40]\n"                         \
	CONV("y", "80", "16", "j", "") "%o = output %y : f32[1,16,24,40]\n"

static Network *waiting(Fixture *t, const char *text, int64_t l1_bytes)
{
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", text, strlen(text), &(ModelOptions){ 0 });
	Target *small = arena_new(t->arena, Target);
	*small = *target_load(t->arena, &t->diag, "wormhole_n150");
	small->l1_end = l1_bytes ? small->l1_first + l1_bytes : small->l1_end;
	return g ? network_on(g, small, &(PlanOptions){ .cores = 1 }) : NULL;
}

static const Step *step_of(const Plan *p, StepKind kind)
{
	for (int i = 0; i < p->nsteps; i++)
		if (p->steps[i].kind == kind)
			return &p->steps[i];
	return NULL;
}

/* Beside the steps before and behind those that need the room. */
static void what_waits_is_spilled_beside_other_steps(void **state)
{
	Fixture *t = *state;
	int64_t n;
	Network *whole = waiting(t, WAITING(""), 0), *net = waiting(t, WAITING(""), 900000);
	const float *want = result(t, 0, whole, &n);
	assert_null(step_of(whole->plan, STEP_SPILL));
	if (!net)
		fail_msg("%s", fixture_said(t));
	const Step *out = step_of(net->plan, STEP_SPILL), *in = step_of(net->plan, STEP_REFILL);
	assert_non_null(out);
	assert_non_null(in);
	assert_string_equal(out->op->name, "a");
	assert_true(out->beside && in->beside);
	assert_int_equal(sliced_steps(net->plan), 0);
	compare(t, 0, net, want, n);
	network_free(whole);
}

static void hints_place_tensors_and_slice_steps(void **state)
{
	Fixture *t = *state;
	int64_t n;
	Network *whole = waiting(t, WAITING(""), 0);
	Network *net = waiting(t, WAITING(", hints = [act_block_h = \"192\", place = \"dram\"]"), 0);
	const float *want = result(t, 0, whole, &n);
	if (!net)
		fail_msg("%s", fixture_said(t));
	/* 40 columns are two tiles: 3 rows. Who reads a takes slices too. */
	assert_int_equal(step_of(net->plan, STEP_CONV)->slice, 3);
	assert_int_equal(sliced_steps(net->plan), 3);
	assert_false(step_of(net->plan, STEP_CONV)->single);
	compare(t, 0, net, want, n);
	net = waiting(t, WAITING(", hints = [double_buffer = \"none\", place = \"dram\"]"), 0);
	if (!net)
		fail_msg("%s", fixture_said(t));
	assert_true(step_of(net->plan, STEP_CONV)->single);
	compare(t, 0, net, want, n);
	network_free(whole);
}

/* Of two slices the first op reads one alone; of single ones each is read so. */
static void single_slices_take_half_the_room(void **state)
{
	Fixture *t = *state;
	Network *net[2];
	int64_t bytes[2] = { 0, 0 };
	int reads[2] = { 0, 0 };
	for (int single = 0; single < 2; single++) {
		const PlanOptions o = { .cores = 2, .slice = 2, .single = single };
		net[single] = network_planned(graph_of(t, 1), &o);
		if (!net[single])
			fail_msg("%s", fixture_said(t));
		for (int i = 0; i < net[single]->plan->ntensors; i++)
			bytes[single] += net[single]->plan->tensors[i]->bytes;
		for (int i = 0; i < net[single]->program->nops; i++)
			reads[single] += strcmp(net[single]->program->ops[i].kind, "slice") == 0;
		network_free(net[single]);
	}
	assert_int_equal(bytes[0], 2 * bytes[1]);
	assert_true(reads[1] > reads[0]);
}

/* The buffer of weights that stay, in two pieces of time: not there in the op between,
 * which reads a slice. */
static void weights_stay_only_where_they_have_their_place(void **state)
{
	Fixture *t = *state;
	const PlanOptions o = { .cores = 1, .slice = 2, .single = true };
	Network *net = network_planned(graph_of(t, 1), &o);
	if (!net)
		fail_msg("%s", fixture_said(t));
	Program *p = net->program;
	assert_true(program_verify(p, net->target, &t->diag));
	for (int i = 0; i < p->nbuffers; i++) {
		const ProgramBuffer was = p->buffers[i];
		if (!strstr(was.name, ".weights") || was.last - was.first < 2)
			continue;
		p->buffers[i].last = was.first + 1;
		ProgramBuffer *rest = program_buffer(p, "rest");
		const char *name = rest->name;
		*rest = was;
		rest->name = name;
		rest->first = was.first + 3;
		break;
	}
	assert_false(program_verify(p, net->target, &t->diag));
	assert_non_null(strstr(fixture_said(t), "weights_stay: the op before has none"));
	network_free(net);
}

/* An image larger than L1, to one pixel a channel; and channels by those. */
#define LARGE "f32[1,32,240,256]"
#define POOLED(pool)                                                                               \
	"graph \"large\"\n%x = input {stored = bf16} : " LARGE "\n%y = " pool                       \
	" %x {stored = bf16} : f32[1,32,1,1]\n%o = output %y : f32[1,32,1,1]\n"
#define NORMED                                                                                     \
	"graph \"large\"\n%x = input {stored = bf16} : " LARGE                                     \
	"\n%s = constant splat 1.0 : f32[32]\n%b = constant splat 0.0 : f32[32]\n%y = instance_norm " \
	"%x, %s, %b {epsilon = 0.00001, stored = bf16} : " LARGE "\n%o = output %y : " LARGE "\n"

static void reductions_take_their_input_in_slices(void **state)
{
	Fixture *t = *state;
	const char *text[] = { POOLED("global_max_pool"), POOLED("global_avg_pool"), NORMED };
	for (int k = 0; k < 3; k++) {
		Network *net = waiting(t, text[k], 0);
		int64_t n;
		const float *got = result(t, 1, net, &n);
		float *want = arena_array(t->arena, float, n);
		double most = 0;
		assert_true(step_of(net->plan, STEP_REDUCE)->slice > 0);
		network_ref(net, image(t, net, 1), want);
		for (int64_t i = 0; i < n; i++)
			most = fmax(most, fabs((double)got[i] - want[i]) / fmax(1, fabs(want[i])));
		assert_true(most <= 0x1p-7); /* input and result are bf16 */
		network_free(net);
	}
}

/* Six tensors of a plane of 3.6 MB each: two pages. All lie in DRAM, and two at a time
 * have something in them. */
#define HIGH "f32[1,16,400,256]"
#define HIGH_CONV(name, from)                                                                      \
	"%w" name " = constant splat 0.03125 : f32[16,16,3,3]\n%" name " = conv %" from ", %w" name \
	" {act = relu, dilations = [1,1], hints = [stored = \"bf16\"], pads = [1,1,1,1], "             \
	"stored = bf16, strides = [1,1], weights = bf16} : " HIGH "\n"
#define CHAIN                                                                                      \
	"graph \"chain\"\n%x = input {stored = bf16} : " HIGH "\n" HIGH_CONV("a", "x")            \
	HIGH_CONV("b", "a") HIGH_CONV("c", "b") HIGH_CONV("d", "c") HIGH_CONV("y", "d")           \
	"%o = output %y : " HIGH "\n"

enum { CHAIN_CORES = 4, CHAIN_PAGE = 200 * 272 * 32, CHAIN_TENSORS = 6 };

static Network *chain(Fixture *t, int64_t bank_bytes)
{
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", CHAIN, strlen(CHAIN), &(ModelOptions){ 0 });
	Target *small = arena_new(t->arena, Target);
	*small = *target_load(t->arena, &t->diag, "wormhole_n150");
	small->dram_bank_bytes = bank_bytes;
	return g ? network_on(g, small, &(PlanOptions){ .cores = CHAIN_CORES, .slice = 32 }) : NULL;
}

/* Pages of a tensor lie in two banks, and tensors where others were: a bank has room for a
 * page of each of three, and for the host's tensors. The last two may be in use when the
 * next run writes the first. */
static void banks_are_used_evenly_and_again(void **state)
{
	Fixture *t = *state;
	const int64_t room = 3 * CHAIN_PAGE + CHAIN_PAGE * 9 / 10;
	int64_t n, tensors = 0;
	TesseraError e;
	Network *net = chain(t, room);
	const float *got = result(t, 1, net, &n);
	for (int i = 0; i < net->program->nbuffers; i++)
		tensors += net->program->buffers[i].place == PLACE_DRAM;
	assert_int_equal(tensors, CHAIN_TENSORS);
	float *want = arena_array(t->arena, float, n), most = 0;
	network_ref(net, image(t, net, 1), want);
	for (int64_t i = 0; i < n; i++)
		most = fmaxf(most, fabsf(got[i] - want[i]) / fmaxf(1, fabsf(want[i])));
	assert_true(most <= 0x1p-5F);
	if (!network_run(net, "emu", image(t, net, 1), want, &e))
		fail_msg("%s\n%s", e.text, e.detail);
	assert_memory_equal(got, want, (size_t)n * sizeof *got);
	network_free(net);
}

static void what_dram_has_no_room_for_is_told(void **state)
{
	Fixture *t = *state;
	assert_null(chain(t, 2 * (int64_t)CHAIN_PAGE));
	assert_non_null(strstr(fixture_said(t), "bytes of each of 12 banks of DRAM, which have 3481600; "
			       "the largest: 'x' 1740800, "));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(int argc, char **argv)
{
	static char name[4096];
	const struct CMUnitTest tests[] = {
		CASE(parked_and_sliced_tensors_are_the_same),
		CASE(two_runs_under_way_do_not_meet),
		CASE(less_l1_takes_to_dram),
		CASE(what_waits_is_spilled_beside_other_steps),
		CASE(hints_place_tensors_and_slice_steps),
		CASE(reductions_take_their_input_in_slices),
		CASE(banks_are_used_evenly_and_again),
		CASE(what_dram_has_no_room_for_is_told),
		CASE(single_slices_take_half_the_room),
		CASE(weights_stay_only_where_they_have_their_place),
	};
	if (argc < 4)
		return EXIT_FAILURE;
	first_seed = strtoull(argv[1], NULL, 10);
	seeds = atoi(argv[2]);
	device = argv[3];
	if (strcmp(device, "ttsim") == 0) {
		const char *library = getenv("TESSERA_TTSIM");
		if (!library || !*library)
			return 77;
		snprintf(name, sizeof name, "ttsim:%s", library);
		device = name;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
