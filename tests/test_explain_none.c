/*
 * Models without a plan: the reasons are reasons, the fixes work when they are applied,
 * and that takes a bounded number of searches.
 */
#include "passes/explain_none.h"
#include "tests/model_graph.h"

static const char net[] =
	"graph \"net\"\n"
	"%x = input {stored = bf16} : f32[1,64,64,64]\n"
	"%w = constant splat 0.5 : f32[64,64,3,3]\n"
	"%a = conv %x, %w {dilations = [1,1], pads = [1,1,1,1], stored = bf16, "
	"strides = [1,1], weights = bfp8_b} : f32[1,64,64,64]\n"
	"%b = relu %a {stored = bf16} : f32[1,64,64,64]\n"
	"%c = sigmoid %b {stored = bf16} : f32[1,64,64,64]\n"
	"%d = add %c, %a {stored = bf16} : f32[1,64,64,64]\n"
	"%o = output %d : f32[1,64,64,64]\n";

enum { CORES = 4 };

static void explain(Fixture *t, const Graph *g, const PlanRequest *r, Planned *p,
		    ExplainedNone *e)
{
	if (planner_run(g, test_target(t), r, p) != PLAN_NONE)
		fail_msg("there is a plan, or something is wrong: %s", fixture_said(t));
	explain_none(p, e);
	assert_true(e->nreasons > 0);
	assert_true(e->searches <= MOST_SEARCHES);
	assert_string_equal(fixture_said(t), "");
}

/* What a fix says comes of it, on a target of which the user sees to that. */
static void check_room(Fixture *t, const Graph *g, const PlanRequest *r, const NoneFix *f)
{
	Target target = *test_target(t);
	const int64_t all = planner_room(&target, &(PlanRequest){ 0 });
	PlanRequest with = *r;
	Planned p;
	if (f->room > all)
		target.l1_end += f->room - all;
	with.room = f->room;
	assert_int_equal(planner_run(g, &target, &with, &p), PLANNED);
	assert_int_equal(p.time.all.total, f->trial.time);
	assert_true(p.plan->peak <= f->room);
}

static const NoneFix *room_fix(const ExplainedNone *e)
{
	for (int i = 0; i < e->nfixes; i++)
		if (e->fixes[i].room)
			return &e->fixes[i];
	fail_msg("more L1 is no fix");
	return NULL;
}

static void steps_that_do_not_fit_alone_are_named(void **state)
{
	Fixture *t = *state;
	const Graph *g = text_graph(t, net);
	const PlanRequest r = { .cores = CORES, .room = 16384 };
	Planned p;
	ExplainedNone e;
	explain(t, g, &r, &p, &e);
	for (int i = 0; i < e.nreasons; i++) {
		assert_int_equal(e.reasons[i].kind, NONE_STEP);
		assert_true(e.reasons[i].least > r.room);
	}
	assert_true(room_fix(&e)->room > e.reasons[0].least);
	check_room(t, g, &r, room_fix(&e));
}

/* No step of a plan takes less than is said of it. */
static void the_least_is_no_more_than_what_plans_take(void **state)
{
	Fixture *t = *state;
	static const int cores[] = { 1, 4, 64 };
	for (size_t n = 0; n < 3; n++) {
		Planned p;
		const PlanRequest r = { .cores = cores[n], .objective = OBJECTIVE_GREEDY };
		if (planner_run(model_graph(t, "models/tiny_unet.nnef"), test_target(t), &r, &p)
		    != PLANNED)
			fail_msg("no plan: %s", fixture_said(t));
		for (int i = 0; i < p.bare->nsteps; i++)
			assert_true(explain_least_bytes(p.bare, i, NULL) <= p.plan->peak);
	}
}

static void pins_that_take_too_much_are_named_and_dropping_them_helps(void **state)
{
	Fixture *t = *state;
	const Graph *g = text_graph(t, net);
	static const char pins[] = "plan net target=wormhole_n150 cores=4\n"
		"tensor a bands=1! splits=1! place=l1!\ntensor c bands=4!\n";
	const PlanSource file = source_of(pins);
	const PlanRequest r = { .cores = CORES, .file = &file, .room = 500000 };
	Planned p, other;
	ExplainedNone e;
	explain(t, g, &r, &p, &e);
	assert_int_equal(e.nreasons, 1);
	assert_true(e.fewest);
	assert_int_equal(e.reasons[0].kind, NONE_PINS);
	assert_string_equal(choice_step_spelling(p.bare, e.reasons[0].step), "a");
	assert_true(e.reasons[0].least > r.room);
	int dropped = 0;
	for (int i = 0; i < e.nfixes; i++) {
		if (e.fixes[i].step < 0)
			continue;
		const PlanSource less = source_of("plan net target=wormhole_n150 cores=4\n"
						  "tensor c bands=4!\n");
		const PlanRequest with = { .cores = CORES, .file = &less, .room = r.room };
		assert_int_equal(e.fixes[i].step, e.reasons[0].step);
		assert_int_equal(planner_run(g, test_target(t), &with, &other), PLANNED);
		assert_int_equal(other.time.all.total, e.fixes[i].trial.time);
		dropped++;
	}
	assert_int_equal(dropped, 1);
	check_room(t, g, &r, room_fix(&e));
}

/* Two tensors that are held in L1 at once; a third pin has nothing to do with it. */
static void pins_that_are_too_much_together_are_told_apart_from_others(void **state)
{
	Fixture *t = *state;
	const Graph *g = text_graph(t, net);
	static const char pins[] = "plan net target=wormhole_n150 cores=4\n"
		"tensor a bands=4! splits=1! place=l1!\nop d binary park=none!\n"
		"tensor b place=l1!\nop x edge_in slice=0!\ntensor c bands=4! place=l1!\n";
	const PlanSource file = source_of(pins);
	const PlanRequest r = { .cores = CORES, .file = &file, .room = 390016 };
	Planned p;
	ExplainedNone e;
	explain(t, g, &r, &p, &e);
	assert_true(e.nreasons < 5);
	for (int i = 0; i < e.nreasons; i++) {
		assert_int_equal(e.reasons[i].kind, NONE_PINS);
		assert_string_not_equal(choice_step_spelling(p.bare, e.reasons[i].step), "x");
	}
	assert_true(e.nfixes > 0);
	for (int i = 1; i < e.nfixes; i++)
		assert_true(e.fixes[i].trial.time >= e.fixes[i - 1].trial.time);
}

static void more_cores_are_a_fix(void **state)
{
	Fixture *t = *state;
	const Graph *g = text_graph(t, net);
	const PlanSource file = source_of("plan net target=wormhole_n150 cores=1\n"
					  "tensor a place=l1!\ntensor b place=l1!\n");
	const PlanRequest r = { .cores = 1, .file = &file, .room = 1000000 };
	Planned p, other;
	ExplainedNone e;
	explain(t, g, &r, &p, &e);
	int cores = 0;
	for (int i = 0; i < e.nfixes; i++)
		if (e.fixes[i].cores) {
			const PlanRequest with = { .cores = e.fixes[i].cores, .file = &file,
						    .room = r.room };
			assert_int_equal(planner_run(g, test_target(t), &with, &other), PLANNED);
			assert_int_equal(other.time.all.total, e.fixes[i].trial.time);
			cores++;
		}
	assert_int_equal(cores, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(steps_that_do_not_fit_alone_are_named),
		TEST(the_least_is_no_more_than_what_plans_take),
		TEST(pins_that_take_too_much_are_named_and_dropping_them_helps),
		TEST(pins_that_are_too_much_together_are_told_apart_from_others),
		TEST(more_cores_are_a_fix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
