/*
 * Every field of a plan changes what runs, and as the plan says: a small UNet with one
 * field pinned one way and another (plan_fields.def).
 *
 * Each plan is lowered and run on the emulator. Its output is right. What every op
 * counts on every core is what is predicted of the program, and sums are what the plan
 * alone predicts of all exact counters: bytes of NoC and DRAM, fetches of weights,
 * operations on tiles.
 *
 *     test_plan_fields metal FIRST COUNT   of those settings: the project for TT-Metal leaves
 *                                          the same bytes as the package
 */
#include <stdlib.h>
#include <string.h>

#include "backend/program_text.h"
#include "ir/compare.h"
#include "ir/rng.h"
#include "passes/choice_legal.h"
#include "passes/cost_step.h"
#include "tests/check.h"
#include "tests/counted.h"
#include "tests/metal/project.h"
#include "tests/model_graph.h"
#include "tests/network.h"

enum { CORES = 8, BANDS = 6, MOST_MOVES = 3 };

static const char unet[] =
	"graph \"unet\"\n"
	"%x = input : f32[1,3,24,40]\n"
	"%w1 = constant hash \"0000000000000001\" : f32[32,3,3,3]\n"
	"%c1 = conv %x, %w1 {dilations = [1,1], pads = [1,1,1,1], strides = [1,1]} : f32[1,32,24,40]\n"
	"%r1 = relu %c1 : f32[1,32,24,40]\n"
	"%w2 = constant hash \"0000000000000002\" : f32[64,32,3,3]\n"
	"%c2 = conv %r1, %w2 {dilations = [1,1], pads = [1,1,1,1], strides = [1,1]} : f32[1,64,24,40]\n"
	"%r2 = relu %c2 : f32[1,64,24,40]\n"
	"%p = max_pool %r2 {dilations = [1,1], kernel = [2,2], pads = [0,0,0,0], strides = [2,2]} "
	": f32[1,64,12,20]\n"
	"%w3 = constant hash \"0000000000000003\" : f32[64,64,3,3]\n"
	"%c3 = conv %p, %w3 {dilations = [1,1], pads = [1,1,1,1], strides = [1,1]} : f32[1,64,12,20]\n"
	"%w5 = constant hash \"0000000000000005\" : f32[64,64,1,1]\n"
	"%c5 = conv %c3, %w5 {dilations = [1,1], pads = [0,0,0,0], strides = [1,1]} : f32[1,64,12,20]\n"
	"%wu = constant hash \"0000000000000006\" : f32[64,32,2,2]\n"
	"%u = conv_transpose %c5, %wu {dilations = [1,1], pads = [0,0,0,0], strides = [2,2]} "
	": f32[1,32,24,40]\n"
	"%j = concat %u, %r2 {axis = 1} : f32[1,96,24,40]\n"
	"%w4 = constant hash \"0000000000000004\" : f32[64,96,3,3]\n"
	"%c4 = conv %j, %w4 {dilations = [1,1], pads = [1,1,1,1], strides = [1,1]} : f32[1,64,24,40]\n"
	"%wy = constant hash \"0000000000000007\" : f32[4,64,1,1]\n"
	"%y = conv %c4, %wy {dilations = [1,1], pads = [0,0,0,0], strides = [1,1]} : f32[1,4,24,40]\n"
	"%o = output %y : f32[1,4,24,40]\n";

typedef enum Direction { MOVE_NONE, MOVE_MORE, MOVE_LESS, MOVE_EQUAL, MOVE_MOST_LESS } Direction;

typedef struct Move {
	CounterId id;
	Direction how;
} Move;

typedef enum Bits { SAME, OTHER } Bits;

typedef struct Setting {
	ChoiceField field;
	Bits bits;
	const char *from, *to;
	Move moves[MOST_MOVES];
} Setting;

static const Setting settings[] = {
#define MORE(id) { COUNTER_##id, MOVE_MORE },
#define LESS(id) { COUNTER_##id, MOVE_LESS },
#define EQUAL(id) { COUNTER_##id, MOVE_EQUAL },
#define MOST_LESS(id) { COUNTER_##id, MOVE_MOST_LESS },
#define FIELD(field, bits, from, to, moves) { CHOICE_##field, bits, from, to, { moves } },
#include "tests/plan_fields.def"
};

enum { SETTINGS = sizeof settings / sizeof *settings };

/* What came of a plan. */
typedef struct Ran {
	const char *program;
	float *y;
	int64_t ny;
	Counters total;
	Counters most; /* of any core, counter by counter */
} Ran;

static Compared compared;

/* Height bands, everything in L1, weights that stay: as a file. */
static const char *plain_plan(Fixture *t, const Graph *g)
{
	const PlanRequest none = { .cores = CORES };
	Planned p;
	TextFile f;
	assert_int_equal(planner_pins(g, test_target(t), &none, &p), PLANNED);
	Choice *c = arena_array(t->arena, Choice, p.bare->nsteps);
	for (int i = 0; i < p.bare->nsteps; i++) {
		c[i] = choice_plain(&p.bare->steps[i]);
		c[i].bands = p.bare->steps[i].out ? BANDS : c[i].bands;
	}
	text_open(&f);
	choice_print(f.f, p.bare, c, NULL, NULL, NULL);
	return text_take(&f, t->arena);
}

static Plan *plan_of(Fixture *t, const Graph *g, const char *pins)
{
	const PlanSource file = source_of(plain_plan(t, g)), line = source_of(pins);
	const PlanRequest r = { .cores = CORES, .effort = 1, .file = &file, .whole = true,
				.line = &line };
	Planned p;
	if (planner_run(g, test_target(t), &r, &p) != PLANNED)
		fail_msg("%s%s", pins, fixture_said(t));
	return p.plan;
}

static int64_t *at(Counters *c, int id) { return (int64_t *)(void *)c + id; }

/* The plan's sums are those that were counted, core by core. */
static void check_sums(const Plan *p, const Program *g, const Counters *all, Ran *r)
{
	for (int core = 0; core < p->cores; core++) {
		Counters said = { 0 }, got = counted_without_blocks(g, all, 0, g->nops, core);
		for (int i = 0; i < p->nsteps; i++) {
			Counters one;
			cost_counters(p, i, core, &one);
			counters_add(&said, &one);
		}
		for (int id = 0; id < COUNTER_COUNT; id++) {
			if (counter_info[id].how != COUNTER_EXACT)
				continue;
			if (*at(&said, id) != *at(&got, id))
				fail_msg("core %d, %s: the plan says %lld, %lld were counted", core,
					 counter_info[id].name, (long long)*at(&said, id),
					 (long long)*at(&got, id));
			*at(&r->total, id) += *at(&got, id);
			if (*at(&got, id) > *at(&r->most, id))
				*at(&r->most, id) = *at(&got, id);
		}
	}
}

static const char *program_text(Fixture *t, const Program *p)
{
	TextFile f;
	text_open(&f);
	program_print(p, f.f);
	return text_take(&f, t->arena);
}

static Tensor *as_tensor(Fixture *t, const float *v, int64_t n)
{
	return tensor_of_floats(t->arena, v, n);
}

/* Right by the standard of whole models: with bfp8_b weights and tensors rounding is seen. */
static void check_output(Fixture *t, const Network *n, Ran *r)
{
	const int64_t ins = network_input_count(n);
	float *x = arena_array(t->arena, float, ins), *want;
	Rng rng = { 1 };
	TesseraError e;
	r->ny = network_output_count(n);
	r->y = arena_array(t->arena, float, r->ny);
	want = arena_array(t->arena, float, r->ny);
	for (int64_t i = 0; i < ins; i++)
		x[i] = 2 * rng_float(&rng) - 1;
	if (!network_run(n, "emu", x, r->y, &e))
		fail_msg("%s\n%s", e.text, e.detail);
	network_ref(n, x, want);
	const Closeness c = tensor_compare(as_tensor(t, want, r->ny), as_tensor(t, r->y, r->ny));
	if (c.pcc < 0.999 || c.max_rel > 0.05)
		fail_msg("pcc %g, largest error %g of the range", c.pcc, c.max_rel);
}

static Network *network_with(Fixture *t, const char *pins)
{
	const ModelOptions random = { .random_weights = true, .seed = 1 };
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", unet, strlen(unet), &random);
	if (!g || !passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		fail_msg("%s", fixture_said(t));
	Network *n = network_of_plan(g, plan_of(t, g, pins));
	if (!n)
		fail_msg("%s", fixture_said(t));
	return n;
}

static Ran ran(Fixture *t, const char *pins)
{
	Ran r = { 0 };
	Network *n = network_with(t, pins);
	r.program = program_text(t, n->program);
	check_output(t, n, &r);
	counted_check(t->arena, n->program, &n->emission, &compared);
	check_sums(n->plan, n->program,
		   counted_run(t->arena, n->program, &n->emission,
			       "emu:counters,fast,strict=0,threads=1"), &r);
	network_free(n);
	return r;
}

static bool moved(const Move *m, Ran *from, Ran *to)
{
	const bool most = m->how == MOVE_MOST_LESS;
	const int64_t a = *at(most ? &from->most : &from->total, m->id);
	const int64_t b = *at(most ? &to->most : &to->total, m->id);
	print_message("    %s%s %lld -> %lld\n", counter_info[m->id].name, most ? ", at most" : "",
		      (long long)a, (long long)b);
	switch (m->how) {
	case MOVE_MORE:
		return b > a;
	case MOVE_LESS:
	case MOVE_MOST_LESS:
		return b < a;
	case MOVE_EQUAL:
		return b == a;
	case MOVE_NONE:
		break;
	}
	return true;
}

/* How much of it is not so. */
static int check_setting(const Setting *s)
{
	void *state;
	int wrong = 0;
	fixture_setup(&state);
	print_message("%s\n", choice_info[s->field].key);
	Ran from = ran(state, s->from), to = ran(state, s->to);
	if (strcmp(from.program, to.program) == 0) {
		print_error("the same program with\n%sand\n%s", s->from, s->to);
		wrong++;
	}
	if (s->bits == SAME && memcmp(from.y, to.y, (size_t)from.ny * sizeof(float)) != 0) {
		print_error("other results with\n%sand\n%s", s->from, s->to);
		wrong++;
	}
	for (int k = 0; k < MOST_MOVES && s->moves[k].how != MOVE_NONE; k++)
		if (!moved(&s->moves[k], &from, &to)) {
			print_error("%s does not move so from\n%sto\n%s",
				    counter_info[s->moves[k].id].name, s->from, s->to);
			wrong++;
		}
	fixture_teardown(&state);
	return wrong;
}

static void every_setting_moves_its_counters(void **state)
{
	int wrong = 0;
	(void)state;
	for (int i = 0; i < SETTINGS; i++)
		wrong += check_setting(&settings[i]);
	assert_int_equal(wrong, 0);
}

static void every_field_has_a_setting(void **state)
{
	(void)state;
	bool has[CHOICE_COUNT] = { 0 };
	for (int i = 0; i < SETTINGS; i++)
		has[settings[i].field] = true;
	for (int f = 0; f < CHOICE_COUNT; f++)
		if (!has[f])
			fail_msg("no setting of %s", choice_info[f].key);
}

static bool same_project(int setting, const char *pins, const char *which)
{
	static const char *const ways[] = { "slots=1", "queues=2 slots=2", "trace slots=2" };
	const ProjectTest way = { .options = ways[setting % 3], .runs = 2 };
	void *state;
	fixture_setup(&state);
	Fixture *t = state;
	Network *n = network_with(t, pins);
	const bool same = project_same(n, arena_printf(t->arena, "field_%d_%s", setting, which), 1, &way);
	printf("%s %s: %s\n", choice_info[settings[setting].field].key, which, same ? "same" : "WRONG");
	network_free(n);
	fixture_teardown(&state);
	return same;
}

static int projects(int first, int count)
{
	int wrong = 0;
	for (int i = first; i < SETTINGS && i < first + count; i++) {
		wrong += !same_project(i, settings[i].from, "from");
		wrong += !same_project(i, settings[i].to, "to");
	}
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "metal") == 0)
		return projects(atoi(argv[2]), atoi(argv[3]));
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_has_a_setting),
		cmocka_unit_test(every_setting_moves_its_counters),
	};
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	counted_print(&compared);
	return failed;
}
