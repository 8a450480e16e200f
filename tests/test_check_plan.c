/*
 * The checker of plans: what the planner makes passes, and each of many things
 * done to a plan is found and named.
 */
#include <string.h>

#include "frontend/model.h"
#include "passes/check_plan.h"
#include "passes/pass.h"
#include "passes/plan.h"
#include "tests/check.h"
#include "tests/fixture.h"
#include "tests/ops.h"
#include "tests/random_unet.h"

/* A halo, a skip, pairs. */
static const char unet[] =
	"graph \"unet\"\n"
	"%x = input {stored = bf16} : f32[1,3,24,40]\n"
	"%w1 = constant splat 0.5 : f32[64,3,3,3]\n"
	"%c1 = conv %x, %w1 {act = relu, dilations = [1,1], hints = [cout_block = \"1\"], "
	"pads = [1,1,1,1], "
	"stored = bf16, strides = [1,1], weights = bf16} : f32[1,64,24,40]\n"
	"%p = max_pool %c1 {dilations = [1,1], kernel = [2,2], pads = [0,0,0,0], stored = bf16, "
	"strides = [2,2]} : f32[1,64,12,20]\n"
	"%w2 = constant splat 0.5 : f32[64,64,2,2]\n"
	"%u = conv_transpose %p, %w2 {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
	"strides = [2,2], weights = bfp8_b} : f32[1,64,24,40]\n"
	"%j = concat %u, %c1 {axis = 1, stored = bf16} : f32[1,128,24,40]\n"
	"%w3 = constant splat 0.5 : f32[2,128,5,5]\n"
	"%y = conv %j, %w3 {dilations = [1,1], pads = [2,2,2,2], stored = bf16, "
	"strides = [1,1], weights = bf16} : f32[1,2,24,40]\n"
	"%o = output %y : f32[1,2,24,40]\n";

/* Column phases, a transposed convolution by phases, reductions, a spread operand. */
static const char phased[] =
	"graph \"phased\"\n"
	"%x = input {stored = bf16} : f32[1,16,24,40]\n"
	"%w1 = constant splat 0.5 : f32[32,16,3,3]\n"
	"%c = conv %x, %w1 {dilations = [1,1], pads = [1,1,1,1], stored = bf16, strides = [2,2], "
	"weights = bf16} : f32[1,32,12,20]\n"
	"%s = constant splat 1 : f32[32]\n"
	"%b = constant splat 0 : f32[32]\n"
	"%n = instance_norm %c, %s, %b {epsilon = 1, stored = bf16} : f32[1,32,12,20]\n"
	"%w2 = constant splat 0.5 : f32[32,16,3,3]\n"
	"%d = conv_transpose %n, %w2 {dilations = [1,1], output_padding = [1,1], pads = [1,1,1,1], "
	"stored = bf16, strides = [2,2], weights = bf16} : f32[1,16,24,40]\n"
	"%g = global_avg_pool %d {stored = bf16} : f32[1,16,1,1]\n"
	"%m = mul %d, %g {stored = bf16} : f32[1,16,24,40]\n"
	"%o = output %m : f32[1,16,24,40]\n";

typedef enum Sample { PLAIN, SPLIT, PARKED, SLICED, PHASED } Sample;

static Plan *sample(Fixture *t, Sample which)
{
	static const PlanOptions options[] = {
		[PLAIN] = { .cores = 8 },
		[SPLIT] = { .cores = 4, .cut = { 2, 2 } },
		[PARKED] = { .cores = 4, .park = true },
		[SLICED] = { .cores = 4, .slice = 2 },
		[PHASED] = { .cores = 4 },
	};
	const char *text = which == PHASED ? phased : unet;
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", text, strlen(text), &(ModelOptions){ 0 });
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	Plan *p = g ? plan_bands(g, target, &options[which]) : NULL;
	if (!p)
		fail_msg("%s", fixture_said(t));
	return p;
}

/* ---- what mutations take hold of ---- */

static PlanTensor *tensor(const Plan *p, const char *name)
{
	for (int i = 0; i < p->ntensors; i++)
		if (strcmp(p->tensors[i]->name, name) == 0)
			return p->tensors[i];
	plan_print(p, stderr);
	fail_msg("no tensor %s", name);
	return NULL;
}

/* The n-th step of a kind. */
static Step *step(const Plan *p, StepKind kind, int n)
{
	for (int i = 0; i < p->nsteps; i++)
		if (p->steps[i].kind == kind && n-- == 0)
			return &p->steps[i];
	fail_msg("no step %s", step_names[kind]);
	return NULL;
}

static int index_of(const Plan *p, StepKind kind) { return (int)(step(p, kind, 0) - p->steps); }

static PlanTensor *waits(const Plan *p) { return step(p, STEP_SPILL, 0)->in[0].tensor; }

/* The second, or last, of several steps that make a tensor. */
static Step *next_of(const Plan *p, const char *name)
{
	return &p->steps[tensor(p, name)->born + 1];
}

static Step *last_of(const Plan *p, const char *name)
{
	return &p->steps[tensor(p, name)->done];
}

static void swap(Plan *p, int i, int k)
{
	const Step s = p->steps[i];
	p->steps[i] = p->steps[k];
	p->steps[k] = s;
}

static Target *l1_of(Plan *p)
{
	Target *t = arena_new(p->graph->arena, Target);
	*t = *p->target;
	p->target = t;
	return t;
}

static PlanTensor *none[MAX_STEP_PARTS + 1];

#define MUTATION(name, plan, said, ...) \
	static void mutate_##name(Plan *p) { __VA_ARGS__; }
#include "tests/check_mutations.def"

typedef struct Mutation {
	const char *name, *said;
	Sample plan;
	void (*apply)(Plan *);
} Mutation;

static const Mutation mutations[] = {
#define MUTATION(name, plan, said, ...) { #name, said, plan, mutate_##name },
#include "tests/check_mutations.def"
};

static bool is_found(const Mutation *m)
{
	void *state;
	fixture_setup(&state);
	Fixture *t = state;
	Plan *p = sample(t, m->plan);
	m->apply(p);
	t->diag.limit = 1000;
	const bool passed = check_plan(p, &t->diag);
	const bool found = !passed && strstr(fixture_said(t), m->said);
	if (!found)
		printf("%s: not '%s' but '%s'\n", m->name, m->said, fixture_said(t));
	fixture_teardown(&state);
	return found;
}

static void every_mutation_is_found(void **state)
{
	int missed = 0;
	(void)state;
	for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++)
		missed += !is_found(&mutations[i]);
	assert_int_equal(missed, 0);
}

static void samples_pass(void **state)
{
	Fixture *t = *state;
	for (Sample s = PLAIN; s <= PHASED; s++)
		if (!check_plan(sample(t, s), &t->diag))
			fail_msg("%s", fixture_said(t));
}

/* ---- what the planner makes ---- */

enum { SEEDS = 12, WAYS = 5 };

/* In L1, waiting in DRAM, in slices, both, or in little L1. */
static Target way(PlanOptions *o, const Target *t, int which, uint64_t seed)
{
	Target own = *t;
	o->park = which == 1 || which == 3;
	o->single = seed % 2;
	o->slice = which == 2 || which == 3 ? 1 + (int)(seed % 7) : 0;
	if (which == 4)
		own.l1_end = own.l1_first + 20000 + (int64_t)(seed * 7919 % 100) * 3000;
	return own;
}

/* False if there is no plan. */
static bool passes(Fixture *t, Graph *g, const Target *target, const PlanOptions *o, uint64_t seed)
{
	if (!passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		fail_msg("seed %llu: %s", (unsigned long long)seed, fixture_said(t));
	const Plan *p = plan_bands(g, target, o);
	if (p && !check_plan(p, &t->diag))
		fail_msg("seed %llu: %s", (unsigned long long)seed, fixture_said(t));
	t->diag.errors = 0; /* of want of room */
	return p != NULL;
}

static Graph *of_family(Fixture *t, OpFamily *make, uint64_t seed, PlanOptions *o)
{
	OpNet n = { .g = graph_create(t->arena, &t->diag, "op"), .rng = { seed * 1000003 } };
	n.choice = (OpChoice){ .stored = seed % 3 ? DEV_BF16 : DEV_BFP8_B,
			       .weights = seed % 2 ? DEV_BF16 : DEV_BFP8_B,
			       .batch = seed % 4 ? 1 : 3 };
	o->cores = 1 + (int)(seed % 8);
	o->cut.splits = o->cores > 3 ? 1 + (int)(seed % 3) : 1;
	o->stacked = seed % 5 > 2;
	Op *last = make(&n);
	assert_true(op_infer(n.g, graph_insert(n.g, NULL, OP_OUTPUT, "out", 1, &last)));
	return n.g;
}

static void plans_of_every_family_pass(void **state)
{
	static OpFamily *const families[] = {
#define FAMILY(name, what) ops_##name,
#include "tests/ops_families.def"
	};
	Fixture *t = *state;
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	int planned = 0;
	for (size_t f = 0; f < sizeof families / sizeof *families; f++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			for (int w = 0; w < WAYS; w++) {
				PlanOptions o = { 0 };
				Graph *g = of_family(t, families[f], seed, &o);
				const Target own = way(&o, target, w, seed);
				planned += passes(t, g, &own, &o, seed);
			}
	assert_in_range(planned, 500, 5000);
}

static void plans_of_networks_pass(void **state)
{
	Fixture *t = *state;
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	int planned = 0;
	for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++)
		for (int w = 0; w < 2 * WAYS; w++) {
			const NetOptions wild = wild_options(seed);
			const NetOptions plain = { .stored = seed % 3 ? DEV_BFP8_B : DEV_BF16,
						   .levels = seed % 3 ? 0 : 2 };
			PlanOptions o = { .cores = (int)(seed % 6) };
			const Target own = way(&o, target, w / 2, seed);
			Graph *g = w % 2 ? random_wild(t->arena, &t->diag, seed, &wild)
					 : random_unet(t->arena, &t->diag, seed, &plain);
			planned += passes(t, g, &own, &o, seed);
		}
	assert_in_range(planned, 150, 5000);
}

static void plans_of_models_pass(void **state)
{
	static const char *const models[] = { "models/resnet_block.nnef", "models/shallow_unet.nnef",
					      "models/tiny_unet.nnef" };
	Fixture *t = *state;
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		for (int w = 0; w < WAYS - 1; w++) {
			PlanOptions o = { 0 };
			const Target own = way(&o, target, w, 7);
			Graph *g = model_read(t->arena, &t->diag, models[i],
					      &(ModelOptions){ .random_weights = true });
			if (!g || !passes(t, g, &own, &o, (uint64_t)w))
				fail_msg("%s, way %d: %s", models[i], w, fixture_said(t));
		}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(samples_pass),
		T(every_mutation_is_found),
		T(plans_of_every_family_pass),
		T(plans_of_networks_pass),
		T(plans_of_models_pass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
