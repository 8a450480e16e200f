/*
 * Tensors as the emulator has them in the course of a run, against the plain executor.
 * Numbers are small and whole, so every one of them has to be the same.
 *
 *     test_layers SEED COUNT       so many random networks from a seed on
 */
#include <stdlib.h>
#include <string.h>

#include "backend/device_tensor.h"
#include "frontend/model.h"
#include "runtime/ref/ref.h"
#include "tests/check.h"
#include "tests/fixture.h"
#include "tests/network.h"
#include "tests/random_unet.h"

typedef struct Layers {
	Network *net;
	DeviceWatch watch;
	float **seen;   /* what the device had, by tensor */
	int compared;   /* with the plain executor */
	int *kinds;     /* of interest that were among them: */
} Layers;

enum { IN_DRAM, COPIES, BLOCK_FLOAT, PHASES, OF_AN_IMAGE, STACKED, KINDS };

static void keep(void *context, int i, const Tensor *value)
{
	Layers *l = context;
	assert_null(l->seen[i]);
	l->seen[i] = arena_array(l->net->g->arena, float, tensor_count(value));
	memcpy(l->seen[i], value->data, (size_t)tensor_bytes(value));
}

static void count_kinds(Layers *l, const PlanTensor *t)
{
	l->kinds[IN_DRAM] += t->layout.place == PLACE_DRAM;
	l->kinds[COPIES] += step_moves(&l->net->plan->steps[t->done]);
	l->kinds[BLOCK_FLOAT] += t->layout.type == DEV_BFP8_B;
	l->kinds[OF_AN_IMAGE] += t->image > 0;
	l->kinds[STACKED] += t->images > 1;
}

static void compare(void *context, const Op *op, const Tensor *want)
{
	Layers *l = context;
	for (int k = 0; k < l->watch.n; k++) {
		const PlanTensor *t = l->watch.tensors[k];
		if (t->op != op || !t->result)
			continue;
		assert_int_equal(t->height, op->shape.dim[2]);
		assert_int_equal(t->layout.cols, op->shape.dim[3]);
		const int64_t pixels = (int64_t)t->height * t->layout.cols;
		for (int64_t i = 0; i < t->images * t->channels * pixels; i++) {
			const int64_t image = t->image + i / (t->channels * pixels);
			const int64_t at = image * op->shape.dim[1] * pixels + t->channel * pixels
				+ i % (t->channels * pixels);
			if ((double)l->seen[k][i] != tensor_f64(want, at))
				fail_msg("tensor '%s', element %lld: %g instead of %g", t->name,
					 (long long)i, (double)l->seen[k][i], tensor_f64(want, at));
		}
		count_kinds(l, t);
		l->compared++;
	}
}

static int number_of(const Layers *l, const PlanTensor *t)
{
	int i = 0;
	while (l->watch.tensors[i] != t)
		i++;
	return i;
}

/* Column phases are on the way to a result: the pixels of another tensor. */
static void compare_phases(Layers *l)
{
	const Plan *p = l->net->plan;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (s->kind != STEP_MIX || !strstr(s->out->name, ".phased"))
			continue;
		const PlanTensor *from = s->in[0].tensor;
		if (s->in[0].channels != from->channels)
			continue;
		assert_memory_equal(l->seen[number_of(l, s->out)], l->seen[number_of(l, from)],
				    (size_t)(from->images * from->channels * from->height)
				    * (size_t)from->layout.cols * sizeof(float));
		l->kinds[PHASES]++;
	}
}

static void run_ref(Layers *l, const float *in)
{
	Graph *g = l->net->g;
	Tensor *x[16], *y[16];
	int n = 0;
	for_each_op(op, g)
		if (op->kind == OP_INPUT) {
			x[n] = tensor_create(g->arena, TYPE_F32, op_callers_shape(op));
			memcpy(tensor_f32_data(x[n]), in, (size_t)tensor_bytes(x[n]));
			in += tensor_count(x[n++]);
		}
	assert_true(ref_run(g, g->arena, x, y, &(RefOptions){ .seen = compare, .context = l }));
}

/* The outputs with all those pauses, which are told to be the same as without. */
static void run(Layers *l, const float *in, const char *device)
{
	Network *n = l->net;
	TesseraError e = { 0 };
	const int64_t count = network_output_count(n);
	float *out = arena_array(n->g->arena, float, count);
	float *plain = arena_array(n->g->arena, float, count);
	TesseraDevice *d = tessera_device_open(device, &e);
	TesseraProgram *p = tessera_load(d, n->opened, &e);
	l->watch = (DeviceWatch){ .plan = n->plan, .program = n->program, .device = d,
				  .seen = keep, .context = l };
	l->watch.tensors = device_tensors(n->g->arena, n->plan, &l->watch.n);
	l->seen = arena_array(n->g->arena, float *, l->watch.n + 1);
	if (!p || !device_watch(&l->watch, n->g->arena, p, &e) ||
	    !network_run_loaded(n, p, in, out, &e))
		fail_msg("%s\n%s", e.text, e.detail);
	tessera_unload(p);
	tessera_device_close(d);
	assert_true(network_run(n, device, in, plain, &e));
	assert_memory_equal(out, plain, (size_t)count * sizeof(float));
}

static int check(Network *n, const NetOptions *opt, uint64_t seed, const char *device, int *kinds)
{
	Layers l = { .net = n, .kinds = kinds };
	const int64_t count = network_input_count(n);
	float *in = arena_array(n->g->arena, float, count);
	random_image(in, count, seed, opt);
	run(&l, in, device);
	for (int i = 0; i < l.watch.n; i++)
		assert_non_null(l.seen[i]);
	run_ref(&l, in);
	compare_phases(&l);
	network_free(n);
	return l.compared;
}

static PlanOptions plan_of(uint64_t seed)
{
	return (PlanOptions){
		.cores = 1 + (int)(seed % 8),
		.cut = { seed % 3 ? 0 : 1, seed % 3 ? 0 : 1 + (int)(seed % 2) },
		.park = seed % 4 == 1,
		.slice = seed % 4 == 2 ? 1 + (int)(seed % 5) : 0,
	};
}

/* False: it was refused. */
static bool one(uint64_t seed, int *compared, int *kinds)
{
	Fixture *t;
	fixture_setup((void **)&t);
	NetOptions opt = wild_options(seed);
	opt.integers = true;
	const PlanOptions plan = plan_of(seed);
	Network *n = network_planned(random_wild(t->arena, &t->diag, seed, &opt), &plan);
	if (n)
		*compared += check(n, &opt, seed, "emu", kinds);
	fixture_teardown((void **)&t);
	return n;
}

static void tensors_of_random_nets_are_those_of_the_plain_executor(void **state)
{
	(void)state;
	int compared = 0, refused = 0, kinds[KINDS] = { 0 };
	for (uint64_t seed = 1; seed <= 24; seed++)
		refused += !one(seed, &compared, kinds);
	print_message("%d tensors, %d nets refused; %d in DRAM, %d copies, %d bfp8_b\n", compared,
		      refused, kinds[IN_DRAM], kinds[COPIES], kinds[BLOCK_FLOAT]);
	assert_true(refused <= 2);
	assert_true(kinds[IN_DRAM] > 0 && kinds[COPIES] > 0 && kinds[BLOCK_FLOAT] > 0);
}

static const char batch_text[] =
	"%x = input : f32[3,5,9,21]\n"
	"%a = relu %x : f32[3,5,9,21]\n"
	"%p = max_pool %a {dilations = [1,1], kernel = [2,2], pads = [0,0,0,0], strides = [2,2]} : "
	"f32[3,5,4,10]\n"
	"%j = concat %p, %p {axis = 1} : f32[3,10,4,10]\n"
	"%s = add %j, %j : f32[3,10,4,10]\n"
	"%w = constant [1,0,1,0,0,-1,0,0,0,1,0,0,0,1,0,0,-1,0,0,0] : f32[2,10,1,1]\n"
	"%c = conv %s, %w {dilations = [1,1], pads = [0,0,0,0], strides = [1,2]} : f32[3,2,4,5]\n"
	"%y = output %c : f32[3,2,4,5]\n";

static void images_and_phases_are_seen_one_by_one_or_stacked(void **state)
{
	Fixture *t = *state;
	const NetOptions opt = { .integers = true };
	int kinds[KINDS] = { 0 };
	for (int stacked = 0; stacked < 2; stacked++) {
		Graph *g = text_parse(t->arena, &t->diag, "net.ir", batch_text, strlen(batch_text),
				      &(ModelOptions){ 0 });
		Network *n = network_planned(g, &(PlanOptions){ .cores = 4, .stacked = stacked });
		assert_non_null(n);
		assert_true(check(n, &opt, 3, "emu", kinds) >= (stacked ? 4 : 12));
	}
	assert_true(kinds[OF_AN_IMAGE] >= 8 && kinds[STACKED] >= 4 && kinds[PHASES] == 8);
}

/* More planes than there are banks. */
static void pages_of_all_banks_are_seen(void **state)
{
	Fixture *t = *state;
	static const char text[] = "%x = input : f32[1,420,4,5]\n"
				   "%a = relu %x : f32[1,420,4,5]\n"
				   "%b = add %a, %x : f32[1,420,4,5]\n"
				   "%y = output %b : f32[1,420,4,5]\n";
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", text, strlen(text), &(ModelOptions){ 0 });
	int kinds[KINDS] = { 0 };
	check(network_planned(g, &(PlanOptions){ .cores = 2, .slice = 2 }),
	      &(NetOptions){ .integers = true }, 7, "emu", kinds);
	assert_true(kinds[IN_DRAM] > 0);
}

static bool stop(void *context, size_t op, TesseraError *e)
{
	(void)context;
	e->code = TESSERA_DEVICE;
	snprintf(e->text, sizeof e->text, "stopped before op %zu", op);
	return false;
}

static void pauses_are_in_order_and_may_end_the_run(void **state)
{
	Fixture *t = *state;
	TesseraError e = { 0 };
	Network *n = network_compile(t->arena, &t->diag, batch_text, 2);
	TesseraDevice *d = tessera_device_open("emu", &e);
	TesseraProgram *p = tessera_load(d, n->opened, &e);
	const size_t ops = tessera_op_count(n->opened);
	static const float in[3 * 5 * 9 * 21];
	float out[3 * 2 * 4 * 5];
	const size_t wrong[][2] = { { 0, 1 }, { 2, 2 }, { 3, 2 }, { 1, ops + 1 } };
	for (int i = 0; i < 4; i++) {
		assert_false(tessera_pause(p, (TesseraPauses){ wrong[i], 2, stop, NULL }, &e));
		assert_int_equal(e.code, TESSERA_MISUSE);
	}
	const size_t right[] = { 1, 3, ops };
	assert_true(tessera_pause(p, (TesseraPauses){ right + 1, 2, stop, NULL }, &e));
	assert_false(network_run_loaded(n, p, in, out, &e));
	assert_string_equal(e.text, "stopped before op 3");
	tessera_unload(p);
	p = tessera_load(d, n->opened, &e);
	assert_true(tessera_pause(p, (TesseraPauses){ right + 2, 1, stop, NULL }, &e));
	assert_false(network_run_loaded(n, p, in, out, &e));
	assert_memory_equal(e.text, "stopped before op ", 18);
	tessera_unload(p);
	tessera_device_close(d);
	network_free(n);
}

static void the_simulator_and_races_can_be_watched_too(void **state)
{
	Fixture *t = *state;
	const NetOptions opt = { .integers = true };
	const char *path = getenv("TESSERA_TTSIM");
	int kinds[KINDS] = { 0 };
	check(network_compile(t->arena, &t->diag, batch_text, 2), &opt, 5, "emu:race", kinds);
	if (path)
		check(network_compile(t->arena, &t->diag, batch_text, 2), &opt, 5,
		      arena_printf(t->arena, "ttsim:%s", path), kinds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors_of_random_nets_are_those_of_the_plain_executor),
		cmocka_unit_test_setup_teardown(images_and_phases_are_seen_one_by_one_or_stacked,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(pages_of_all_banks_are_seen, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(pauses_are_in_order_and_may_end_the_run,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_simulator_and_races_can_be_watched_too,
						fixture_setup, fixture_teardown),
	};
	if (argc < 3)
		return cmocka_run_group_tests(tests, NULL, NULL);
	int compared = 0, refused = 0, kinds[KINDS] = { 0 };
	const uint64_t first = strtoull(argv[1], NULL, 10), n = strtoull(argv[2], NULL, 10);
	for (uint64_t seed = first; seed < first + n; seed++)
		refused += !one(seed, &compared, kinds);
	printf("%d tensors, %d nets refused\n", compared, refused);
	return 0;
}
