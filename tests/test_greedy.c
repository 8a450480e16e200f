/*
 * Plans by local rules: they are plans, whatever the room and the pins; they are no
 * better than can be.
 */
#include "passes/greedy.h"
#include "tests/choice_net.h"
#include "tests/model_graph.h"

static PlanOutcome plan(Fixture *t, const Graph *g, const PlanRequest *r, Planned *p)
{
	const PlanOutcome how = planner_run(g, test_target(t), r, p);
	if (how == PLAN_WRONG)
		fail_msg("%s", fixture_said(t));
	return how;
}

static int64_t percent(Fixture *t, int of)
{
	return planner_room(test_target(t), &(PlanRequest){ 0 }) / 100 * of / 32 * 32;
}

/* planner_run has the checker look at every plan. */
static void any_room_that_is_enough_gives_a_plan(void **state)
{
	static const struct {
		const char *model;
		int percent;
	} cases[] = {
		{ "models/tiny_unet.nnef", 100 },     { "models/tiny_unet.nnef", 10 },
		{ "models/vanilla_unet.nnef", 100 },  { "models/vanilla_unet.nnef", 80 },
		{ "models/vanilla_unet.nnef", 60 },   { "models/vanilla_unet.nnef", 40 },
		{ "models/vanilla_unet.nnef", 25 },   { "models/vgg_unet.nnef", 60 },
		{ "models/shallow_unet.nnef", 100 },  { "models/resnet_block.nnef", 100 },
	};
	Fixture *t = *state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Planned p;
		const PlanRequest r = { .objective = OBJECTIVE_GREEDY,
					.room = percent(t, cases[i].percent) };
		if (plan(t, model_graph(t, cases[i].model), &r, &p) != PLANNED)
			fail_msg("%s in %d %%", cases[i].model, cases[i].percent);
		assert_true(p.plan->peak <= r.room);
		assert_int_equal(p.found.time, p.time.all.total);
		assert_int_equal(p.found.bound, 0);
	}
}

static void skips_wait_in_dram_and_tensors_lie_there_only_in_need(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/vanilla_unet.nnef");
	int moves[2] = { 0, 0 }, sliced[2] = { 0, 0 };
	for (int need = 0; need < 2; need++) {
		Planned p;
		const PlanRequest r = { .objective = OBJECTIVE_GREEDY,
					.room = percent(t, need ? 60 : 100) };
		assert_int_equal(plan(t, g, &r, &p), PLANNED);
		for (int i = 0; i < p.bare->nsteps; i++) {
			moves[need] += p.choices[i].park != 0;
			sliced[need] += p.choices[i].slice != 0;
		}
	}
	assert_int_equal(moves[0], 0);
	assert_int_equal(sliced[0], 0);
	assert_true(moves[1] > 0);
	assert_true(sliced[1] > 0);
}

/* Two slices at a time of everything. */
static PlanOutcome plan_double(Fixture *t, const Planned *p, const PlanRequest *r, Planned *out)
{
	Pins *pins = arena_array(t->arena, Pins, p->bare->nsteps);
	for (int i = 0; i < p->bare->nsteps; i++)
		if (choice_has(&p->bare->steps[i], CHOICE_slice_buffer))
			pins[i] = (Pins){ .fixed = 1u << CHOICE_slice_buffer,
					  .value.slice_buffer = SLICE_DOUBLE };
	return planner_again(p->bare, pins, r, out);
}

static void slices_come_one_at_a_time_in_need(void **state)
{
	Fixture *t = *state;
	Planned p, other;
	const PlanRequest r = { .objective = OBJECTIVE_GREEDY, .room = percent(t, 25) };
	assert_int_equal(plan(t, model_graph(t, "models/vanilla_unet.nnef"), &r, &p), PLANNED);
	assert_int_equal(plan_double(t, &p, &r, &other), PLAN_NONE);
}

/* One slice leaves room for all weights, which two would have to read again and again. */
static void slices_come_one_at_a_time_where_that_is_faster(void **state)
{
	static const char text[] =
		"graph \"large\"\n%x = input : f32[1,3,2048,2048]\n"
		"%w = constant splat 0.5 : f32[16,3,9,9]\n%y = conv %x, %w {dilations = [1,1], "
		"pads = [4,4,4,4], strides = [1,1]} : f32[1,16,2048,2048]\n"
		"%o = output %y : f32[1,16,2048,2048]\n";
	Fixture *t = *state;
	Planned p, other;
	const PlanRequest r = { .objective = OBJECTIVE_GREEDY };
	assert_int_equal(plan(t, text_graph(t, text), &r, &p), PLANNED);
	assert_int_equal(plan_double(t, &p, &r, &other), PLANNED);
	assert_true(2 * p.time.all.total < other.time.all.total);
}

static void no_room_gives_no_plan(void **state)
{
	Fixture *t = *state;
	Planned p;
	const PlanRequest r = { .objective = OBJECTIVE_GREEDY, .room = 4096 };
	assert_int_equal(plan(t, model_graph(t, "models/tiny_unet.nnef"), &r, &p), PLAN_NONE);
	assert_string_equal(fixture_said(t), "");
}

static void it_is_no_better_than_can_be(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/tiny_unet.nnef");
	Planned near, best;
	const PlanRequest r = { .objective = OBJECTIVE_GREEDY };
	assert_int_equal(plan(t, g, &r, &near), PLANNED);
	assert_int_equal(plan(t, g, &(PlanRequest){ 0 }, &best), PLANNED);
	assert_true(near.time.all.total >= best.time.all.total);
	assert_true(near.time.all.total < 2 * best.time.all.total);
}

static void the_same_twice(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/vanilla_unet.nnef");
	Planned a, b;
	const PlanRequest r = { .objective = OBJECTIVE_GREEDY, .room = percent(t, 60) };
	assert_int_equal(plan(t, g, &r, &a), PLANNED);
	assert_int_equal(plan(t, g, &r, &b), PLANNED);
	assert_memory_equal(a.choices, b.choices, (size_t)a.bare->nsteps * sizeof(Choice));
}

/* In bf16 tensors of bfp8_b take up to twice the room: where that is too much something
 * else changes, what is larger stays so. */
static void choices_from_elsewhere_are_repaired(void **state)
{
	Fixture *t = *state;
	Planned p;
	int64_t end;
	Range blame;
	const PlanRequest r = { .room = percent(t, 60) };
	assert_int_equal(plan(t, model_graph(t, "models/vanilla_unet.nnef"), &r, &p), PLANNED);
	const size_t bytes = (size_t)p.bare->nsteps * sizeof(Choice);
	Choice *c = arena_array(t->arena, Choice, p.bare->nsteps);
	memcpy(c, p.choices, bytes);
	assert_true(greedy_repair(p.bare, NULL, r.room, c));
	assert_memory_equal(c, p.choices, bytes);
	for (int i = 0; i < p.bare->nsteps; i++)
		if (c[i].type == DEV_BFP8_B)
			c[i].type = DEV_BF16;
	place_buffers(p.plan = plan_apply(p.bare, c), &end, &blame);
	assert_true(p.plan->peak > r.room);
	assert_true(greedy_repair(p.bare, NULL, r.room, c));
	assert_true(place_buffers(p.plan = plan_apply(p.bare, c), &end, &blame));
	assert_true(p.plan->peak <= r.room);
	for (int i = 0; i < p.bare->nsteps; i++)
		assert_int_not_equal(c[i].type, DEV_BFP8_B);
}

static void pins_are_followed(void **state)
{
	static const char pins[] =
		"plan net target=wormhole_n150 cores=64\n"
		"op a conv cout_block=1! fidelity=hifi4! k_block=2! weights_buffer=single!\n"
		"tensor a bands=30!\n"
		"tensor b bands=20! shard=height\n"
		"op c conv reshard=0!\n"
		"tensor c bands=5! splits=4!\n"
		"op m binary park=0! beside=none! reshard=none!\n"
		"tensor u place=dram!\n"
		"op u deconv2 slice=2! slice_buffer=single!\n";
	Fixture *t = *state;
	Planned p;
	const PlanSource file = source_of(pins);
	const PlanRequest r = { .objective = OBJECTIVE_GREEDY, .file = &file };
	assert_int_equal(plan(t, text_graph(t, choice_net), &r, &p), PLANNED);
	int fixed = 0;
	for (int i = 0; i < p.bare->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (p.pins[i].fixed >> f & 1) {
				fixed++;
				assert_int_equal(choice_get(&p.choices[i], f),
						 choice_get(&p.pins[i].value, f));
			}
	assert_int_equal(fixed, 15);
}

/* A product reads a and b. */
static void what_is_of_one_format_follows_a_pin(void **state)
{
	static const char *const lines[] = { "tensor a type=f32\n", "tensor b type=f32\n",
					     "tensor b type=bfp8_b\n" };
	static const DevTypes want[] = { DEV_F32, DEV_F32, DEV_BFP8_B };
	static const char net[] =
		"graph \"net\"\n"
		"%x = input {stored = bf16} : f32[1,64,60,80]\n"
		"%a = relu %x {stored = bf16|bfp8_b} : f32[1,64,60,80]\n"
		"%b = relu %x {stored = bf16|bfp8_b} : f32[1,64,60,80]\n"
		"%w = constant splat 0.5 : f32[64,128,1,1]\n"
		"%i = concat %a, %b {axis = 1, stored = bf16} : f32[1,128,60,80]\n"
		"%c = conv %i, %w {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
		"strides = [1,1], weights = bf16} : f32[1,64,60,80]\n"
		"%o = output %c : f32[1,64,60,80]\n";
	Fixture *t = *state;
	for (int i = 0; i < 3; i++) {
		Planned p;
		const PlanSource line = source_of(lines[i]);
		const PlanRequest r = { .objective = OBJECTIVE_GREEDY, .line = &line };
		assert_int_equal(plan(t, text_graph(t, net), &r, &p), PLANNED);
		assert_int_equal(p.choices[1].type, want[i]);
		assert_int_equal(p.choices[2].type, want[i]);
	}
}

/* Every field of another plan. */
static void what_is_pinned_as_a_whole_is_that_plan(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/tiny_unet.nnef");
	Planned best;
	assert_int_equal(plan(t, g, &(PlanRequest){ 0 }, &best), PLANNED);
	Pins *pins = arena_array(t->arena, Pins, best.bare->nsteps);
	Choice *c = arena_array(t->arena, Choice, best.bare->nsteps);
	for (int i = 0; i < best.bare->nsteps; i++)
		pins[i] = (Pins){ .fixed = (1u << CHOICE_COUNT) - 1, .value = best.choices[i] };
	assert_true(greedy_choices(best.bare, pins, 0, c));
	for (int i = 0; i < best.bare->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (choice_has(&best.bare->steps[i], f))
				assert_int_equal(choice_get(&c[i], f),
						 choice_get(&best.choices[i], f));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_room_that_is_enough_gives_a_plan),
		TEST(skips_wait_in_dram_and_tensors_lie_there_only_in_need),
		TEST(slices_come_one_at_a_time_in_need),
		TEST(slices_come_one_at_a_time_where_that_is_faster),
		TEST(no_room_gives_no_plan),
		TEST(it_is_no_better_than_can_be),
		TEST(the_same_twice),
		TEST(choices_from_elsewhere_are_repaired),
		TEST(pins_are_followed),
		TEST(what_is_of_one_format_follows_a_pin),
		TEST(what_is_pinned_as_a_whole_is_that_plan),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
