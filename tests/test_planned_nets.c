/*
 * Nets through passes and planner onto the emulator, pinned to what was once not
 * possible there: whole numbers in, and out exactly what the plain executor makes of them.
 */
#include <string.h>

#include "frontend/model.h"
#include "passes/pass.h"
#include "passes/planner.h"
#include "tests/check.h"
#include "tests/fixture.h"
#include "tests/network.h"

/* With pins, one a line, on so many cores; 0: all. */
static Network *planned(Fixture *t, const char *text, const char *pins, int cores)
{
	const PlanSource line = { "pins", pins, strlen(pins) };
	const PlanRequest r = { .effort = 1, .cores = cores, .line = *pins ? &line : NULL };
	Planned p;
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", text, strlen(text), &(ModelOptions){ 0 });
	if (!g || !passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 })
	    || planner_run(g, target_load(t->arena, &t->diag, "wormhole_n150"), &r, &p) != PLANNED)
		fail_msg("%s", fixture_said(t));
	Network *n = network_of_plan(g, p.plan);
	if (!n)
		fail_msg("%s", fixture_said(t));
	return n;
}

static void runs_exactly(Fixture *t, const char *text, const char *pins, int cores)
{
	Network *n = planned(t, text, pins, cores);
	const int64_t ins = network_input_count(n), outs = network_output_count(n);
	float *x = arena_array(t->arena, float, ins), *y = arena_array(t->arena, float, outs);
	float *want = arena_array(t->arena, float, outs);
	TesseraError e;
	for (int64_t i = 0; i < ins; i++)
		x[i] = (float)(i * 7 % 11 % 3 - 1);
	if (!network_run(n, "emu", x, y, &e))
		fail_msg("%s\n%s", e.text, e.detail);
	network_ref(n, x, want);
	for (int64_t i = 0; i < outs; i++)
		if (y[i] != want[i])
			fail_msg("element %lld is %g, not %g", (long long)i, (double)y[i], (double)want[i]);
	network_free(n);
}

/* Its taps are 2 apart, the image has one column, and one of them is in it. */
static void a_dilated_window_that_reaches_the_image_may_be_bfp8_b(void **state)
{
	runs_exactly(*state,
		     "graph \"net\"\n"
		     "%x = input : f32[1,16,1,1]\n"
		     "%p = max_pool %x {ceil, dilations = [1,2], hints = [stored = \"bfp8_b\"], "
		     "kernel = [1,3], pads = [0,2,0,2], strides = [1,2]} : f32[1,16,1,1]\n"
		     "%o = output %p : f32[1,16,1,1]\n", "", 0);
}

/* 178 planes in two column phases are more than 255. */
static void a_column_stride_over_many_channels_is_read_in_parts(void **state)
{
	runs_exactly(*state,
		     "graph \"net\"\n"
		     "%x = input : f32[1,2847,1,3]\n"
		     "%w = constant splat 1 : f32[16,2847,1,1]\n"
		     "%c = conv %x, %w {dilations = [1,1], pads = [0,0,0,0], strides = [1,2]} "
		     ": f32[1,16,1,2]\n"
		     "%o = output %c : f32[1,16,1,2]\n", "", 4);
}

/* Of the copy of %r for rows 0, 2, ... core 1 has a row that it does not read. */
static void rows_that_come_to_a_core_that_reads_none_are_waited_for(void **state)
{
	runs_exactly(*state,
		     "graph \"net\"\n"
		     "%x = input : f32[1,16,3,8]\n"
		     "%r = relu %x : f32[1,16,3,8]\n"
		     "%w = constant splat 1 : f32[16,16,2,1]\n"
		     "%t = conv_transpose %r, %w {dilations = [1,1], pads = [0,0,0,0], "
		     "strides = [2,1]} : f32[1,16,6,8]\n"
		     "%o = output %t : f32[1,16,6,8]\n",
		     "tensor r bands=1 splits=1\n"
		     "tensor t bands=6 splits=1\n"
		     "op t reshard=0\n"
		     "op t@2 reshard=0\n", 6);
}

/* Every core sends some planes of four column phases to all others. */
static void what_goes_from_all_cores_to_all_fits_into_parameters(void **state)
{
	runs_exactly(*state,
		     "graph \"net\"\n"
		     "%x = input : f32[1,127,8,28]\n"
		     "%r = relu %x {hints = [stored = \"bfp8_b\"]} : f32[1,127,8,28]\n"
		     "%s = space_to_depth %r {block = 4, hints = [stored = \"bfp8_b\"]} "
		     ": f32[1,2032,2,7]\n"
		     "%a = add %s, %s : f32[1,2032,2,7]\n"
		     "%o = output %a : f32[1,2032,2,7]\n",
		     "tensor s.phased3 bands=8 splits=4\n"
		     "tensor s bands=1 splits=64\n", 64);
}

/* One operand has 7 and 7 channels, the other 14. */
static void parts_that_do_not_line_up_are_joined(void **state)
{
	runs_exactly(*state,
		     "graph \"net\"\n"
		     "%x = input : f32[2,7,4,9]\n"
		     "%r = relu %x : f32[2,7,4,9]\n"
		     "%j = concat %x, %r {axis = 1} : f32[2,14,4,9]\n"
		     "%k = constant splat 0 : f32[1,14,4,9]\n"
		     "%m = min %j, %k : f32[2,14,4,9]\n"
		     "%y = input : f32[2,14,4,9]\n"
		     "%s = sub %y, %j : f32[2,14,4,9]\n"
		     "%o1 = output %m : f32[2,14,4,9]\n"
		     "%o2 = output %s : f32[2,14,4,9]\n", "", 2);
}

static void an_output_may_be_one_element_of_a_tensor(void **state)
{
	runs_exactly(*state,
		     "graph \"net\"\n"
		     "%x = input : f32[1,7,1,9]\n"
		     "%g = global_max_pool %x : f32[1,7,1,1]\n"
		     "%s = slice %g {counts = [1,1,1,1], starts = [0,4,0,0], steps = [1,1,1,1]} "
		     ": f32[1,1,1,1]\n"
		     "%o = output %s : f32[1,1,1,1]\n"
		     "%o2 = output %g : f32[1,7,1,1]\n", "", 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_dilated_window_that_reaches_the_image_may_be_bfp8_b),
		TEST(a_column_stride_over_many_channels_is_read_in_parts),
		TEST(rows_that_come_to_a_core_that_reads_none_are_waited_for),
		TEST(what_goes_from_all_cores_to_all_fits_into_parameters),
		TEST(parts_that_do_not_line_up_are_joined),
		TEST(an_output_may_be_one_element_of_a_tensor),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
