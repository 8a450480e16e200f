/*
 * Pins: what hints fix, who is heard when several levels disagree, and that the
 * same level does not contradict itself.
 */
#include "ir/file.h"
#include "passes/choice_check.h"
#include "passes/planner.h"
#include "tests/bare.h"
#include "tests/choice_net.h"

static const char *hints(Fixture *t, const char *list)
{
	return *list ? arena_printf(t->arena, "hints = [%s], ", list) : "";
}

/* A net whose convolution, relu and pool have these hints, each a list as in IR. */
static Plan *hinted(Fixture *t, const char *conv, const char *relu, const char *pool)
{
	return bare_plan(t, arena_printf(t->arena,
		"graph \"net\"\n"
		"%%x = input {stored = bf16} : f32[1,64,60,80]\n"
		"%%w = constant splat 0.5 : f32[128,64,3,3]\n"
		"%%c = conv %%x, %%w {dilations = [1,1], %spads = [1,1,1,1], stored = bf16, "
		"strides = [1,1], weights = bfp8_b} : f32[1,128,60,80]\n"
		"%%r = relu %%c {%sstored = bf16} : f32[1,128,60,80]\n"
		"%%g = global_avg_pool %%r {%sstored = bf16} : f32[1,128,1,1]\n"
		"%%o = output %%g : f32[1,128,1,1]\n", hints(t, conv), hints(t, relu), hints(t, pool)));
}

static const Pins *pins_of(const Plan *p, const Pins *pins, const char *name)
{
	return &pins[bare_step(p, name) - p->steps];
}

/* Pins as a plan file says them. */
static const char *spelt(const Plan *p, const Pins *pins, const char *name)
{
	const Pins *one = pins_of(p, pins, name);
	TextFile t;
	text_open(&t);
	for (int f = 0; f < CHOICE_COUNT; f++)
		if (one->fixed >> f & 1) {
			fprintf(t.f, "%s=", choice_info[f].key);
			choice_write(t.f, f, choice_get(&one->value, f));
			fputc(' ', t.f);
		}
	if (one->shard)
		fprintf(t.f, "shard=%s ", shard_words[one->shard]);
	return text_take(&t, p->graph->arena);
}

static void check_hints(Fixture *t, const char *conv, const char *want)
{
	const Plan *p = hinted(t, conv, "", "");
	const Pins *pins = plan_pins(p);
	if (!pins)
		fail_msg("%s", fixture_said(t));
	assert_string_equal(spelt(p, pins, "c"), want);
	assert_string_equal(spelt(p, pins, "x"), "");
}

static void hints_are_pins(void **state)
{
	Fixture *t = *state;
	check_hints(t, "", "");
	check_hints(t, "bands = \"30\", split = \"2\"", "bands=30 splits=2 ");
	check_hints(t, "shard = \"width\"", "shard=width ");
	check_hints(t, "shard = \"block\", split = \"2\"", "splits=2 shard=block ");
	check_hints(t, "shard = \"dram\"", "place=dram ");
	check_hints(t, "place = \"dram\", act_block_h = \"480\"", "place=dram slice=5 ");
	check_hints(t, "place = \"dram\", double_buffer = \"none\"",
		    "place=dram slice_buffer=single weights_buffer=single ");
	check_hints(t, "place = \"dram\", double_buffer = \"both\"",
		    "place=dram slice_buffer=double weights_buffer=double ");
	check_hints(t, "place = \"l1\", stored = \"bf16\"", "type=bf16 place=l1 ");
	check_hints(t, "cout_block = \"2\", fidelity = \"lofi\"", "cout_block=2 fidelity=lofi ");
	check_hints(t, "fidelity = \"hifi3\"", "fidelity=hifi3 ");
	check_hints(t, "fetchers = \"3\", prefetch = \"no\"", "fetchers=3 prefetch=no ");
	check_hints(t, "k_block = \"4\", act_block_h = \"96\"", "k_block=4 act_block_h=96 ");
	check_hints(t, "double_buffer = \"none\", k_block = \"2\"",
		    "k_block=2 weights_buffer=single ");
	check_hints(t, "residency = \"resident\", double_buffer = \"weights\"",
		    "weights_buffer=all ");
	check_hints(t, "residency = \"streamed\"", "weights_buffer=double ");
	assert_int_equal(t->diag.warnings, 0);
}

static void blocks_that_are_not_whole_were_told(void **state)
{
	Fixture *t = *state;
	check_hints(t, "k_block = \"5\"", "k_block=4 ");
	assert_non_null(strstr(fixture_said(t), "k_block 5 is made whole blocks of 2 tiles"));
}

static void hints_are_for_what_leaves_the_op(void **state)
{
	const Plan *p = hinted(*state, "", "", "bands = \"1\"");
	const Pins *pins = plan_pins(p);
	assert_string_equal(spelt(p, pins, "g"), "bands=1 ");
	assert_string_equal(spelt(p, pins, "g.each.rows"), "");
}

static void hints_that_no_step_can_follow_are_told(void **state)
{
	Fixture *t = *state;
	assert_non_null(plan_pins(hinted(t, "", "act_block_h = \"64\"", "")));
	assert_non_null(strstr(fixture_said(t), "warning: relu 'r': this plan does not follow hint act_block_h\n"));
	assert_non_null(plan_pins(hinted(t, "residency = \"resident\", act_block_h = \"64\"",
					 "", "")));
	assert_non_null(strstr(fixture_said(t), "warning: conv 'c': this plan does not follow hint act_block_h\n"));
}

static void hints_that_contradict_are_told(void **state)
{
	Fixture *t = *state;
	assert_null(plan_pins(hinted(t, "shard = \"height\", split = \"2\"", "", "")));
	assert_non_null(strstr(fixture_said(t), "error: c: pins shard=height and splits=2 contradict each other\n"));
	assert_null(plan_pins(hinted(t, "", "shard = \"dram\", place = \"l1\"", "")));
	assert_non_null(strstr(fixture_said(t),
			       "error: relu 'r': hints place=l1 and shard=dram contradict each other\n"));
}

static ChoiceText *file(Fixture *t, const Plan *p, const char *text)
{
	const char *whole = arena_printf(t->arena, "plan net\n%s", text);
	ChoiceText *c = choice_parse(p, &t->diag, "w.plan", whole, strlen(whole));
	if (!c)
		fail_msg("%s", fixture_said(t));
	return c;
}

static void pins_of_a_level_agree(void **state)
{
	static const char *const wrong[][2] = {
		{ "tensor c shard=width bands=2!\n", "w.plan:2:22: error: c: pins shard=width and bands=2 " },
		{ "tensor c shard=block bands=1!\n", "c: pins shard=block and bands=1 " },
		{ "tensor c shard=height splits=2!\n", "c: pins shard=height and splits=2 " },
		{ "tensor c shard=block splits=1!\n", "c: pins shard=block and splits=1 " },
		{ "tensor c bands=33! splits=2!\n", "w.plan:2:20: error: c: pins bands=33 and splits=2 " },
		{ "op c k_block=4! weights_buffer=all!\n", "c: pins k_block=4 and weights_buffer=all " },
		{ "op c k_block=0! act_block_h=32!\n", "c: pins k_block=0 and act_block_h=32 " },
		{ "op c weights_buffer=all! act_block_h=32!\n",
		  "c: pins weights_buffer=all and act_block_h=32 " },
		{ "op c reshard=0! park=0!\n", "c: pins reshard=0 and park=0 " },
		{ "op c park=none! beside=0!\n", "w.plan:2:17: error: c: pins park=none and beside=0 contradict "
						 "each other\n" },
	};
	const Plan *p = hinted(*state, "", "", "");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		void *inner;
		fixture_setup(&inner);
		Fixture *t = inner;
		const ChoiceText *c = file(t, p, wrong[i][0]);
		assert_false(plan_pins_check(p, c->pins, c->where, &t->diag));
		if (!strstr(fixture_said(t), wrong[i][1]))
			fail_msg("%s\nsays\n%s", wrong[i][0], fixture_said(t));
		fixture_teardown(&inner);
	}
	Fixture *t = *state;
	const ChoiceText *c = file(t, p, "tensor c shard=block bands=32! splits=2!\nop c k_block=4! "
					 "act_block_h=96! weights_buffer=double! park=0! beside=0!\n");
	assert_true(plan_pins_check(p, c->pins, c->where, &t->diag));
}

/* Built-in < target < hints < plan file < command line. */
/* Each image has lines of its own. */
static void pins_of_every_image_agree(void **state)
{
	Fixture *t = *state;
	const Plan *p = bare_plan(t, "graph \"net\"\n%x = input {stored = bf16} : f32[2,64,60,80]\n"
				     "%r = relu %x {stored = bf16} : f32[2,64,60,80]\n"
				     "%o = output %r : f32[2,64,60,80]\n");
	const ChoiceText *c = file(t, p, "tensor r.image1 shard=block bands=1!\n");
	assert_false(plan_pins_check(p, c->pins, c->where, &t->diag));
	assert_non_null(strstr(fixture_said(t), "w.plan:2:29: error: r.image1: pins shard=block and "
						"bands=1 contradict each other\n"));
}

static void the_later_level_is_heard(void **state)
{
	Fixture *t = *state;
	const Plan *p = hinted(t, "bands = \"30\", fidelity = \"lofi\", fetchers = \"2\", "
				  "k_block = \"4\"", "", "");
	const Pins *model = plan_pins(p);
	const ChoiceText *plan = file(t, p, "op c fidelity=hifi2! fetchers=3! k_block=2\n"
					    "tensor c splits=4!\n");
	ChoiceText *line = file(t, p, "op c fidelity=hifi4\ntensor r bands=7\n");
	choice_pin_given(p, line);
	const Pins *two = plan_pins_merge(p, model, plan->pins);
	/* 30 bands and 4 splits are too many cores, so the hint gives way. */
	assert_string_equal(spelt(p, two, "c"), "splits=4 fidelity=hifi2 k_block=4 fetchers=3 ");
	const Pins *all = plan_pins_merge(p, two, line->pins);
	assert_string_equal(spelt(p, all, "c"), "splits=4 fidelity=hifi4 k_block=4 fetchers=3 ");
	assert_string_equal(spelt(p, all, "r"), "bands=7 ");
	assert_string_equal(spelt(p, plan_pins_merge(p, NULL, model), "c"), spelt(p, model, "c"));
	assert_string_equal(spelt(p, plan_pins_merge(p, model, NULL), "c"), spelt(p, model, "c"));
}

static void what_cannot_be_with_a_later_level_gives_way(void **state)
{
	Fixture *t = *state;
	static const char *const cases[][3] = {
		{ "tensor c shard=height\n", "tensor c splits=2!\n", "splits=2 " },
		{ "tensor c splits=2! bands=3!\n", "tensor c shard=height\n", "bands=3 shard=height " },
		{ "tensor c bands=1!\n", "tensor c shard=width\n", "bands=1 shard=width " },
		{ "op c weights_buffer=all!\n", "op c k_block=4!\n", "k_block=4 " },
		{ "op c k_block=4! act_block_h=96!\n", "op c weights_buffer=all!\n", "weights_buffer=all " },
		{ "op c park=0! beside=0!\n", "op c park=none!\n", "park=none " },
	};
	const Plan *p = hinted(t, "", "", "");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const Pins *both = plan_pins_merge(p, file(t, p, cases[i][0])->pins,
						   file(t, p, cases[i][1])->pins);
		assert_string_equal(spelt(p, both, "c"), cases[i][2]);
	}
}

/* A product reads a and b. */
static void a_format_gives_way_to_that_of_a_later_level(void **state)
{
	Fixture *t = *state;
	const Plan *p = bare_plan(t, choice_net);
	const Pins *below = file(t, p, "tensor a type=bf16! bands=3!\ntensor m type=bf16!\n")->pins;
	const Pins *both = plan_pins_merge(p, below, file(t, p, "tensor b type=f32!\n")->pins);
	assert_string_equal(spelt(p, both, "a"), "bands=3 ");
	assert_string_equal(spelt(p, both, "b"), "type=f32 ");
	assert_string_equal(spelt(p, both, "m"), "type=bf16 ");
	both = plan_pins_merge(p, below, file(t, p, "tensor b type=bf16!\n")->pins);
	assert_string_equal(spelt(p, both, "a"), "bands=3 type=bf16 ");
}

static void what_a_search_finds_is_legal_and_has_the_pins(void **state)
{
	Fixture *t = *state;
	Plan *p = hinted(t, "bands = \"15\", split = \"2\", k_block = \"4\"",
			 "shard = \"height\"", "");
	const Pins *pins = plan_pins(p);
	const Found found = search(p, &(SearchOptions){ .pins = pins });
	assert_non_null(found.choices);
	if (!choice_check(p, found.choices, NULL, &t->diag))
		fail_msg("%s", fixture_said(t));
	for (int i = 0; i < p->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (pins[i].fixed >> f & 1)
				assert_int_equal(choice_get(&found.choices[i], f),
						 choice_get(&pins[i].value, f));
	assert_int_equal(found.choices[bare_step(p, "r") - p->steps].splits, 1);
}

static void pins_that_are_not_kept_are_told(void **state)
{
	Fixture *t = *state;
	const Plan *p = hinted(t, "", "", "");
	const ptrdiff_t at = bare_step(p, "c") - p->steps;
	const ChoiceText *c = file(t, p, "tensor c shard=block\nop c fetchers=2!\n");
	Choice *plain = arena_array(t->arena, Choice, p->nsteps);
	plain[at] = (Choice){ .bands = 2, .splits = 2, .fetchers = 2 };
	assert_true(plan_pins_kept(p, c->pins, plain, c->where, &t->diag));
	plain[at] = (Choice){ .bands = 4, .splits = 1, .fetchers = 3 };
	assert_false(plan_pins_kept(p, c->pins, plain, c->where, &t->diag));
	assert_non_null(strstr(fixture_said(t), "w.plan:3:6: error: c: no plan was found with fetchers=2\n"));
	assert_non_null(strstr(fixture_said(t), "w.plan:2:10: error: c: no plan was found with shard=block\n"));
}

/* A request over a net of hints: what came of it. */
static PlanOutcome planned(Fixture *t, const Plan *like, const char *text, const char *line,
			   bool whole, Planned *out)
{
	PlanSource *from = arena_array(t->arena, PlanSource, 2);
	PlanRequest *r = arena_new(t->arena, PlanRequest);
	from[0] = (PlanSource){ "w.plan", text, text ? strlen(text) : 0 };
	from[1] = (PlanSource){ "--pin", line, line ? strlen(line) : 0 };
	*r = (PlanRequest){ .file = text ? &from[0] : NULL, .line = line ? &from[1] : NULL,
			    .whole = whole };
	return planner_run(like->graph, like->target, r, out);
}

static const Choice *choice_of(const Planned *p, const char *name)
{
	return &p->choices[bare_step(p->bare, name) - p->bare->steps];
}

static void a_request_obeys_all_levels(void **state)
{
	Fixture *t = *state;
	const Plan *net = hinted(t, "bands = \"30\", fidelity = \"lofi\", fetchers = \"2\"", "", "");
	Planned p;
	assert_int_equal(planned(t, net, "plan net cores=32\nop c fetchers=3! prefetch=yes\n",
				 "op c fidelity=hifi4\n", false, &p), PLANNED);
	assert_int_equal(p.plan->cores, 32);
	assert_int_equal(choice_of(&p, "c")->bands, 30);
	assert_int_equal(choice_of(&p, "c")->fetchers, 3);
	assert_int_equal(choice_of(&p, "c")->phases, 4);
	assert_string_equal(spelt(p.bare, p.marked, "c"), "fidelity=hifi4 fetchers=3 ");
	assert_string_equal(spelt(p.bare, p.hints, "c"), "bands=30 fidelity=lofi fetchers=2 ");
}

static void who_is_wrong_is_known(void **state)
{
	Fixture *t = *state;
	const Plan *net = hinted(t, "", "", "");
	Planned p;
	assert_int_equal(planned(t, net, "plan net\ntensor c bands=61!\n", NULL, false, &p), PLAN_WRONG);
	assert_false(p.line_wrong);
	assert_int_equal(planned(t, net, "plan net\n", "tensor c bands=61\n", false, &p), PLAN_WRONG);
	assert_true(p.line_wrong);
	assert_non_null(strstr(fixture_said(t), "--pin:1:10: error: c: bands=61 is not from 1 to 60"));
	assert_int_equal(planned(t, hinted(t, "bands = \"61\"", "", ""), NULL, NULL, false, &p),
			 PLAN_WRONG);
	assert_non_null(strstr(fixture_said(t), "net.ir:4:6: error: c: bands=61 is not from 1 to 60"));
}

/* What was found is not looked for again, and costs the same. */
static void a_whole_plan_needs_no_search(void **state)
{
	Fixture *t = *state;
	const Plan *net = hinted(t, "", "", "");
	Planned p, again;
	TextFile text;
	assert_int_equal(planned(t, net, NULL, NULL, false, &p), PLANNED);
	assert_false(p.settled);
	text_open(&text);
	choice_print(text.f, p.bare, p.choices, NULL, NULL, NULL);
	const char *file = text_take(&text, t->arena);
	assert_int_equal(planned(t, net, file, NULL, true, &again), PLANNED);
	assert_true(again.settled);
	assert_int_equal(again.time.all.total, p.time.all.total);
	assert_int_equal(planned(t, net, file, NULL, false, &again), PLANNED);
	assert_false(again.settled);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hints_are_pins),
		TEST(blocks_that_are_not_whole_were_told),
		TEST(hints_are_for_what_leaves_the_op),
		TEST(hints_that_no_step_can_follow_are_told),
		TEST(hints_that_contradict_are_told),
		TEST(pins_of_a_level_agree),
		TEST(pins_of_every_image_agree),
		TEST(the_later_level_is_heard),
		TEST(what_cannot_be_with_a_later_level_gives_way),
		TEST(a_format_gives_way_to_that_of_a_later_level),
		TEST(what_a_search_finds_is_legal_and_has_the_pins),
		TEST(pins_that_are_not_kept_are_told),
		TEST(a_request_obeys_all_levels),
		TEST(who_is_wrong_is_known),
		TEST(a_whole_plan_needs_no_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
