/*
 * models/vanilla_unet.hand.plan: what people chose by hand, as a plan of ours. It can
 * be carried out, it is priced as it stands, and ours is no slower.
 */
#include "ir/file.h"
#include "tests/model_graph.h"

static PlanSource hand(Fixture *t)
{
	static const char path[] = "models/vanilla_unet.hand.plan";
	const Bytes b = file_map(t->arena, &t->diag, (Loc){ 0 }, path);
	if (!b.data)
		fail_msg("%s", fixture_said(t));
	return (PlanSource){ path, b.data, b.size };
}

static void score(Fixture *t, const Graph *g, Planned *p)
{
	static PlanSource file;
	static PlanRequest r;
	file = hand(t);
	r = (PlanRequest){ .file = &file, .whole = true };
	if (planner_run(g, test_target(t), &r, p) != PLANNED)
		fail_msg("%s", fixture_said(t));
}

static void it_says_everything_and_is_priced_as_it_stands(void **state)
{
	Fixture *t = *state;
	Planned p;
	score(t, model_graph(t, "models/vanilla_unet.nnef"), &p);
	assert_string_equal(fixture_said(t), "");
	assert_int_equal(p.found.states, 0);
	for (int i = 0; i < p.bare->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (choice_has(&p.bare->steps[i], f)) {
				assert_true(p.file->given[i] >> f & 1);
				assert_int_equal(choice_get(&p.choices[i], f),
						 choice_get(&p.file->choices[i], f));
			}
	assert_int_equal(p.found.time, p.time.all.total);
}

static void all_of_it_is_in_bands_and_every_skip_waits_in_dram(void **state)
{
	Fixture *t = *state;
	Planned p;
	int parked = 0;
	score(t, model_graph(t, "models/vanilla_unet.nnef"), &p);
	for (int i = 0; i < p.bare->nsteps; i++) {
		assert_true(!p.bare->steps[i].out || p.choices[i].splits == 1);
		parked += p.choices[i].park != 0;
	}
	assert_int_equal(parked, 4);
}

static void ours_is_no_slower(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/vanilla_unet.nnef");
	Planned ours, theirs;
	score(t, g, &theirs);
	const PlanRequest r = { .effort = 1 };
	assert_int_equal(planner_run(g, test_target(t), &r, &ours), PLANNED);
	assert_true(ours.time.all.total <= theirs.time.all.total);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_says_everything_and_is_priced_as_it_stands),
		TEST(all_of_it_is_in_bands_and_every_skip_waits_in_dram),
		TEST(ours_is_no_slower),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
