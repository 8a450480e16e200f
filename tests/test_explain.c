/*
 * Why a plan is as it is: prices of what else could be are those of plans that can be
 * asked for, what is in L1 is all of it, and fixes that are named work.
 */
#include "passes/explain.h"

#include "passes/explain_none.h"
#include "tests/model_graph.h"

/* A convolution that reads the input, another, and a sum with what the first made. */
static const char skip_net[] =
	"graph \"net\"\n"
	"%x = input {stored = bf16} : f32[1,16,16,32]\n"
	"%w = constant splat 0.5 : f32[64,16,3,3]\n"
	"%a = conv %x, %w {dilations = [1,1], pads = [1,1,1,1], stored = bf16, "
	"strides = [1,1], weights = bfp8_b} : f32[1,64,16,32]\n"
	"%w2 = constant splat 0.5 : f32[64,64,3,3]\n"
	"%b = conv %a, %w2 {dilations = [1,1], pads = [1,1,1,1], stored = bf16, "
	"strides = [1,1], weights = bfp8_b} : f32[1,64,16,32]\n"
	"%c = relu %b {stored = bf16} : f32[1,64,16,32]\n"
	"%d = add %c, %a {stored = bf16} : f32[1,64,16,32]\n"
	"%o = output %d : f32[1,64,16,32]\n";

/* For few cores: the search is through soon, and exact. */
enum { CORES = 4 };

static void plan(Fixture *t, const Graph *g, const PlanRequest *r, Planned *p)
{
	if (planner_run(g, test_target(t), r, p) != PLANNED)
		fail_msg("no plan: %s", fixture_said(t));
}

static const ExplainField *field_of(const Explained *e, ChoiceField f)
{
	for (int i = 0; i < e->nfields; i++)
		if (e->fields[i].field == f)
			return &e->fields[i];
	fail_msg("no field %s", choice_info[f].key);
	return NULL;
}

/* The runner-up is the best with another value of the result, in L1; f32 is not looked for. */
static bool is_no_more_than_others(const Explained *e)
{
	for (int k = 0; k < e->nfields; k++)
		for (int n = 0; n < e->fields[k].n; n++) {
			const Trial *x = &e->fields[k].trials[n];
			const ChoiceField f = e->fields[k].field;
			if ((f == CHOICE_bands || f == CHOICE_splits || f == CHOICE_type)
			    && x->how == PLANNED && strcmp(x->what, "type=f32") != 0
			    && x->time < e->runner_up.time)
				return false;
		}
	return true;
}

static void nothing_else_is_better_than_what_is_proved_best(void **state)
{
	Fixture *t = *state;
	const PlanRequest r = { .cores = CORES };
	Planned p;
	plan(t, text_graph(t, skip_net), &r, &p);
	assert_int_equal(p.found.bound, p.found.time);
	for (int i = 0; i < p.bare->nsteps; i++) {
		Explained e;
		explain_step(&p, i, &e);
		assert_true(e.searches > 0);
		for (int k = 0; k < e.nfields; k++)
			for (int n = 0; n < e.fields[k].n; n++)
				if (e.fields[k].trials[n].how == PLANNED
				    && e.fields[k].field != CHOICE_phases)
					assert_true(e.fields[k].trials[n].time
						    >= p.time.all.total);
		if (!p.bare->steps[i].out)
			continue;
		assert_non_null(e.runner_up.what);
		assert_true(e.runner_up.time >= p.time.all.total);
		assert_true(is_no_more_than_others(&e));
	}
	assert_string_equal(fixture_said(t), "");
}

/* What is told of a value is what comes of asking for it. */
static void prices_are_those_of_plans_with_that_pin(void **state)
{
	Fixture *t = *state;
	const Graph *g = text_graph(t, skip_net);
	const PlanRequest r = { .cores = CORES };
	Planned p;
	Explained e;
	plan(t, g, &r, &p);
	explain_step(&p, explain_find(&p, "b"), &e);
	static const ChoiceField fields[] = { CHOICE_bands, CHOICE_k_block, CHOICE_prefetch,
					      CHOICE_splits };
	int told = 0;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		const ExplainField *x = field_of(&e, fields[i]);
		const bool tensor = choice_info[x->field].who == CHOICE_RESULT;
		for (int k = 0; k < x->n; k++) {
			const char *text = arena_printf(t->arena,
				"plan net target=wormhole_n150 cores=4\n%s b %s!\n",
				tensor ? "tensor" : "op", x->trials[k].what);
			const PlanSource file = source_of(text);
			const PlanRequest with = { .cores = CORES, .file = &file };
			Planned other;
			const PlanOutcome how = planner_run(g, test_target(t), &with, &other);
			if (how != x->trials[k].how)
				fail_msg("%s: %s", text, fixture_said(t));
			if (how == PLANNED)
				assert_int_equal(other.time.all.total, x->trials[k].time);
			told++;
		}
	}
	assert_true(told >= 4);
	const ExplainField *place = field_of(&e, CHOICE_place);
	assert_int_equal(place->n, 1);
	assert_string_equal(place->trials[0].what, "place=dram");
	assert_int_equal(place->trials[0].how, PLANNED);
}

static void the_plan_stays_as_it_is(void **state)
{
	Fixture *t = *state;
	const PlanRequest r = { .cores = CORES };
	Planned p;
	Explained e;
	plan(t, text_graph(t, skip_net), &r, &p);
	const size_t size = (size_t)p.bare->nsteps * sizeof(Choice);
	Choice *before = arena_array(t->arena, Choice, p.bare->nsteps);
	memcpy(before, p.choices, size);
	explain_step(&p, explain_find(&p, "b"), &e);
	assert_memory_equal(before, p.choices, size);
	assert_int_equal(plan_time(plan_apply(p.bare, p.choices)).all.total, p.time.all.total);
}

/* The step that is named is the fullest, and has buffers of these kinds. */
static void check_l1(const Planned *p, const char *fullest, const char *kinds)
{
	for (int i = 0; i < p->bare->nsteps; i++) {
		Explained e = { .p = p, .step = i, .at = explain_step_of(p->plan, i) };
		explain_l1(&e);
		int64_t sum = 0;
		for (int k = 0; k < e.nresidents; k++) {
			sum += e.residents[k].bytes;
			assert_true(!k || e.residents[k].bytes <= e.residents[k - 1].bytes);
			if (e.at == p->plan->peak_step && strstr(kinds, e.residents[k].why))
				kinds = "";
		}
		assert_int_equal(sum, e.used);
		assert_true(e.used <= p->plan->peak);
		assert_true(p->plan->peak <= e.limit);
		if (e.at != p->plan->peak_step)
			continue;
		assert_int_equal(e.used, p->plan->peak);
		assert_string_equal(choice_step_spelling(p->bare, i), fullest);
		assert_string_equal(kinds, "");
	}
}

static void all_that_is_in_l1_is_told_largest_first(void **state)
{
	Fixture *t = *state;
	const Graph *g = text_graph(t, skip_net);
	const PlanSource file = source_of("plan net target=wormhole_n150 cores=4\n"
		"op b conv k_block=2! weights_buffer=double! act_block_h=128! cout_block=2!\n"
		"tensor b bands=4! splits=1!\n");
	const PlanRequest sums = { .cores = CORES, .file = &file }, edge = { .cores = 1 };
	Planned p;
	plan(t, g, &sums, &p);
	check_l1(&p, "b", "partial sums");
	plan(t, g, &edge, &p);
	check_l1(&p, "c", "waits for d");
}

static void a_reshard_pays_for_itself(void **state)
{
	Fixture *t = *state;
	Planned p;
	Explained e;
	const PlanRequest r = { .effort = 1 };
	plan(t, model_graph(t, "models/tiny_unet.nnef"), &r, &p);
	int step = 0;
	while (step < p.bare->nsteps && !p.choices[step].reshard)
		step++;
	assert_true(step < p.bare->nsteps);
	Trials trials = { .p = &p };
	e = (Explained){ .p = &p, .step = step, .at = explain_step_of(p.plan, step) };
	explain_edges(&trials, &e);
	int copies = 0;
	for (int k = 0; k < e.nedges; k++) {
		if (e.edges[k].way != EDGE_RESHARDED)
			continue;
		copies++;
		assert_true(e.edges[k].move_time > 0);
		assert_non_null(e.edges[k].other.what);
		assert_true(e.edges[k].other.how != PLANNED
			    || e.edges[k].other.time >= p.time.all.total);
	}
	assert_true(copies > 0);
	assert_int_equal(trials.count, e.nedges);
}

static void rows_of_other_cores_are_counted(void **state)
{
	Fixture *t = *state;
	static const char bands[] = "plan net target=wormhole_n150 cores=4\n"
		"tensor a bands=4! splits=1!\ntensor b bands=4! splits=1!\nop b conv reshard=none!\n";
	const PlanSource file = source_of(bands);
	const PlanRequest r = { .cores = CORES, .file = &file };
	Planned p;
	Explained e = { .p = &p };
	plan(t, text_graph(t, skip_net), &r, &p);
	Trials trials = { .p = &p };
	e.step = explain_find(&p, "b");
	e.at = explain_step_of(p.plan, e.step);
	explain_edges(&trials, &e);
	/* A row above and one below each of 4 bands, but for the two at the edge of the
	 * image; 4 planes, 16 + 32 pixels. */
	assert_int_equal(e.edges[0].way, EDGE_WHERE_IT_LIES);
	assert_int_equal(e.edges[0].halo_bytes, 6 * 4 * (16 + 32) * 32);
	assert_true(e.edges[0].halo_time > 0);
}

static void every_skip_is_priced_wherever_it_waits(void **state)
{
	Fixture *t = *state;
	const Graph *g = text_graph(t, skip_net);
	static const char park[] = "plan net target=wormhole_n150 cores=4\nop d binary park=1!\n";
	const PlanSource file = source_of(park);
	for (int parked = 0; parked < 2; parked++) {
		const PlanRequest r = { .cores = CORES, .file = parked ? &file : NULL };
		Planned p;
		plan(t, g, &r, &p);
		for (const char *const *name = (const char *const[]){ "a", "b", "c", "d", NULL };
		     *name; name++) {
			Trials trials = { .p = &p };
			Explained e = { .p = &p, .step = explain_find(&p, *name) };
			explain_skips(&trials, &e);
			assert_int_equal(e.nskips, 1);
			assert_string_equal(e.skips[0].name, "a");
			assert_string_equal(e.skips[0].reader, "d");
			assert_int_equal(e.skips[0].parked, parked);
			assert_non_null(e.skips[0].other.what);
			assert_int_equal(e.skips[0].other.how, PLANNED);
			assert_true(parked ? e.skips[0].other.time < p.time.all.total
					   : e.skips[0].other.time > p.time.all.total);
		}
	}
}

static void more_room_helps_if_there_was_too_little(void **state)
{
	Fixture *t = *state;
	const Graph *g = text_graph(t, skip_net);
	Planned all, less;
	Explained e;
	plan(t, g, &(PlanRequest){ .cores = CORES }, &all);
	explain_step(&all, explain_find(&all, "b"), &e);
	assert_int_equal(e.more_room.time, all.time.all.total);
	const PlanRequest tight = { .cores = CORES,
				    .room = (all.plan->peak - 32) / 32 * 32 };
	plan(t, g, &tight, &less);
	explain_step(&less, explain_find(&less, "b"), &e);
	assert_int_equal(e.limit, tight.room);
	assert_true(less.time.all.total > all.time.all.total);
	assert_int_equal(e.more_room.time, all.time.all.total);
}

static void ops_are_found_by_the_names_of_either(void **state)
{
	Fixture *t = *state;
	Planned p;
	plan(t, model_graph(t, "models/tiny_unet.nnef"), &(PlanRequest){ .effort = 1 }, &p);
	const char **names = arena_array(t->arena, const char *, p.bare->nsteps + 1);
	const int n = explain_names(&p, names);
	for (int i = 0; i < n; i++)
		assert_int_equal(explain_find(&p, names[i]), i);
	assert_int_equal(explain_find(&p, "nothing"), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_else_is_better_than_what_is_proved_best),
		TEST(prices_are_those_of_plans_with_that_pin),
		TEST(the_plan_stays_as_it_is),
		TEST(all_that_is_in_l1_is_told_largest_first),
		TEST(a_reshard_pays_for_itself),
		TEST(rows_of_other_cores_are_counted),
		TEST(every_skip_is_priced_wherever_it_waits),
		TEST(more_room_helps_if_there_was_too_little),
		TEST(ops_are_found_by_the_names_of_either),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
