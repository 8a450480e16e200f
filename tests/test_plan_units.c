/*
 * What reports are made of: buffers of a plan with their contents, spans of units, and
 * what else ops could do.
 */
#include "passes/plan_buffers.h"
#include "passes/plan_units.h"
#include "passes/what_if.h"
#include "tests/model_graph.h"

static const PlanRequest few = { .cores = 4 };

static Planned planned_on(Fixture *t, const Target *target)
{
	Planned p;
	if (planner_run(model_graph(t, "models/tiny_unet.nnef"), target, &few, &p) != PLANNED)
		fail_msg("no plan: %s", fixture_said(t));
	return p;
}

static Planned planned(Fixture *t) { return planned_on(t, test_target(t)); }

static void the_fullest_step_is_as_full_as_the_plan_says(void **state)
{
	const Planned p = planned(*state);
	PlanBuffer *v;
	const int n = plan_buffers(p.plan, &v);
	int64_t most = 0;
	for (int step = 0; step < p.plan->nsteps; step++) {
		int64_t sum = 0;
		for (int i = 0; i < n; i++)
			if (v[i].born <= step && step <= v[i].dies)
				sum += v[i].bytes;
		most = sum > most ? sum : most;
	}
	assert_int_equal(most, p.plan->peak);
}

static void buffers_that_meet_lie_apart(void **state)
{
	const Planned p = planned(*state);
	PlanBuffer *v;
	const int n = plan_buffers(p.plan, &v);
	int kinds[BUFFER_KINDS] = { 0 };
	for (int i = 0; i < n; i++) {
		kinds[v[i].kind]++;
		for (int k = 0; k < i; k++)
			if (v[i].born <= v[k].dies && v[k].born <= v[i].dies)
				assert_true(v[i].address >= v[k].address + (uint64_t)v[k].bytes
					    || v[k].address >= v[i].address + (uint64_t)v[i].bytes);
	}
	assert_true(kinds[BUFFER_TENSOR] > 0 && kinds[BUFFER_WEIGHTS] > 0);
	assert_true(kinds[BUFFER_HOST] > 0);
}

/* The shards of a tensor are the tensor, and no core has more than its buffer. */
static void cores_hold_what_the_tensor_is(void **state)
{
	const Planned p = planned(*state);
	PlanBuffer *v;
	const int n = plan_buffers(p.plan, &v);
	int64_t halo = 0;
	for (int i = 0; i < n; i++) {
		const PlanTensor *t = v[i].tensor;
		int64_t own = 0;
		for (int core = 0; core < p.plan->cores; core++) {
			const Held h = plan_held_bytes(p.plan, &v[i], core);
			assert_true(h.own >= 0 && h.halo >= 0 && h.own + h.halo <= v[i].bytes);
			own += h.own;
			halo += h.halo;
		}
		if (!t || t->partial)
			continue;
		const int planes = (t->channels + PLANE - 1) / PLANE;
		const int64_t rows = (int64_t)t->height * planes * t->layout.phases * t->images;
		const int pixel = t->layout.type == DEV_BFP8_B ? 17
				: t->layout.type == DEV_F32 ? 64 : 32;
		assert_int_equal(own, rows * t->layout.pitch * pixel);
	}
	assert_true(halo > 0);
}

static void spans_follow_each_other_and_units_are_busy_within(void **state)
{
	const Planned p = planned(*state);
	const StepSpan *v = plan_spans(p.plan, &p.time);
	int64_t at = 0, busy[UNIT_COUNT] = { 0 };
	for (int i = 0; i < p.plan->nsteps; i++) {
		assert_int_equal(v[i].start, at);
		at += v[i].cycles;
		for (int u = 0; u < UNIT_COUNT; u++) {
			assert_in_range(v[i].busy[u], 0, v[i].cycles);
			busy[u] += v[i].busy[u];
		}
	}
	assert_int_equal(at, p.time.all.total);
	for (int u = 0; u < UNIT_COUNT; u++)
		assert_true(busy[u] > 0);
}

/* Counted by hand: a mover without weights starts what is left. */
static void movers_share_what_a_core_transfers(void **state)
{
	const Target *target = test_target(*state);
	const Counters all = { .noc_transfers = 10, .noc_read_bytes = 6000, .noc_waits = 3 };
	const Counters weights = { .noc_transfers = 4, .noc_read_bytes = 6000, .noc_waits = 1 };
	const Counters rest = { .noc_transfers = 6, .noc_waits = 2 };
	int64_t busy[UNIT_COUNT];
	units_busy(target, &all, &weights, 1, busy);
	assert_int_equal(busy[UNIT_ncrisc], cost_predict(target, &weights).cycles[COST_noc]);
	assert_int_equal(busy[UNIT_brisc], cost_predict(target, &rest).cycles[COST_noc]);
	const Counters ran = { .brisc_instructions = 70, .trisc1_instructions = 50 };
	units_busy(target, &ran, NULL, 1, busy);
	assert_int_equal(busy[UNIT_brisc], 70);
	assert_int_equal(busy[UNIT_ncrisc], 0);
	assert_int_equal(busy[UNIT_trisc1], 50);
}

static int64_t time_with(const Planned *p, int step, const WhatIf *w)
{
	Trials t = { .p = p };
	Choice *c = arena_array(p->bare->graph->arena, Choice, p->bare->nsteps);
	for (int i = 0; i < p->bare->nsteps; i++) {
		c[i] = p->choices[i];
		if (i == step || (choice_info[w->field].who == CHOICE_RESULT
				  && p->bare->steps[i].out == p->bare->steps[step].out))
			choice_set(&c[i], w->field, w->value);
	}
	const Trial x = trial_choices(&t, c, true);
	assert_int_equal(x.how, PLANNED);
	return x.time;
}

/* Of L1 there is no more than the plan would like to have. */
static void what_else_an_op_could_do_fits_and_costs_what_is_said(void **state)
{
	const Planned free = planned(*state);
	Target target = *test_target(*state);
	target.l1_end = target.l1_first + free.plan->peak;
	const Planned p = planned_on(*state, &target);
	int tried, told = 0;
	const WhatIf *w = what_if(&p, &tried);
	for (int i = 0; i < p.bare->nsteps; i++) {
		if (!w[i].what)
			continue;
		told++;
		assert_int_not_equal(w[i].field, CHOICE_phases);
		assert_int_not_equal(w[i].value, choice_get(&p.choices[i], w[i].field));
		assert_int_equal(time_with(&p, i, &w[i]), w[i].time);
	}
	assert_true(told > p.bare->nsteps / 2);
	assert_true(tried > told);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_fullest_step_is_as_full_as_the_plan_says),
		TEST(buffers_that_meet_lie_apart),
		TEST(cores_hold_what_the_tensor_is),
		TEST(spans_follow_each_other_and_units_are_busy_within),
		TEST(movers_share_what_a_core_transfers),
		TEST(what_else_an_op_could_do_fits_and_costs_what_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
