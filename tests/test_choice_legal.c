/*
 * What fields of a choice may be: lists have legal values alone, and one for every
 * plan that legal values make.
 */
#include "passes/choice_legal.h"
#include "tests/bare.h"

static const char net[] =
	"graph \"net\"\n"
	"%x = input {stored = bf16} : f32[1,64,60,80]\n"
	"%w1 = constant splat 0.5 : f32[96,64,3,3]\n"
	"%a = conv %x, %w1 {dilations = [1,1], pads = [1,1,1,1], stored = bf16|bfp8_b, "
	"strides = [1,1], weights = bfp8_b} : f32[1,96,60,80]\n"
	"%b = relu %x {stored = bf16|bfp8_b} : f32[1,64,60,80]\n"
	"%j = concat %a, %b {axis = 1, stored = bf16} : f32[1,160,60,80]\n"
	"%w2 = constant splat 0.5 : f32[128,160,3,3]\n"
	"%c = conv %j, %w2 {dilations = [1,1], pads = [1,1,1,1], stored = bf16|f32, "
	"strides = [1,1], weights = bfp8_b} : f32[1,128,60,80]\n"
	"%w3 = constant splat 0.5 : f32[128,32,2,2]\n"
	"%u = conv_transpose %c, %w3 {dilations = [1,1], pads = [0,0,0,0], stored = bf16|f32, "
	"strides = [2,2], weights = bfp8_b} : f32[1,32,120,160]\n"
	"%o = output %u : f32[1,32,120,160]\n";

enum { ROOM = 512 };

static Plan *bare(Fixture *t) { return bare_plan(t, net); }

static bool has(const int *values, int n, int value)
{
	bool any = false;
	for (int i = 0; i < n; i++)
		any |= values[i] == value;
	return any;
}

static void a_k_block_is_whole_blocks(void **state)
{
	const Step *s = bare_step(bare(*state), "c");
	for (int held = 1; held <= 4; held *= 2) {
		int values[ROOM];
		const Choice c = { .bands = 60, .splits = 1, .cout_block = held,
				   .weights = DEV_BF16 };
		const int n = choice_k_blocks(s, &c, values, ROOM);
		assert_in_range(n, 4, ROOM - 1);
		int found[100] = { 0 }, listed[100] = { 0 };
		for (int k = 0; k <= 60; k++) {
			Choice with = c;
			with.k_block = k;
			const Step x = choice_product(s, &with);
			assert_true(!has(values, n, k) || choice_k_block_ok(s, &c, k));
			if (choice_k_block_ok(s, &c, k))
				found[x.stream.chunks] = 1;
			if (has(values, n, k))
				listed[x.stream.chunks] = 1;
		}
		assert_memory_equal(found, listed, sizeof found);
	}
}

/* 3 and 2 tiles of input: blocks are 3 and 2 tiles deep, or one. */
static void parts_of_other_depth_share_pages(void **state)
{
	const Step *s = bare_step(bare(*state), "c");
	const Choice c = { .bands = 60, .splits = 1, .cout_block = 4, .weights = DEV_BF16 };
	assert_true(choice_k_block_ok(s, &c, 1));
	assert_true(choice_k_block_ok(s, &c, 3));
	assert_false(choice_k_block_ok(s, &c, 4));
	assert_true(choice_k_block_ok(s, &c, 27));
	assert_true(choice_k_block_ok(s, &c, 54));
	assert_false(choice_k_block_ok(s, &c, 57));
}

static void a_block_of_positions_divides_those_of_a_core(void **state)
{
	const Step *s = bare_step(bare(*state), "c");
	int values[ROOM];
	Choice c = { .bands = 10, .splits = 1, .cout_block = 4, .weights = DEV_BF16,
		     .k_block = 3 };
	assert_int_equal(choice_units(s, &c).count, 18);
	int n = choice_act_blocks(s, &c, values, ROOM);
	assert_int_equal(n, 6); /* 0, 2, 3, 6, 9, 18 units */
	for (int i = 0; i < n; i++)
		assert_true(choice_act_block_ok(s, &c, values[i]));
	assert_false(choice_act_block_ok(s, &c, 4 * 32));
	c.cout_block = 1; /* four rows at a time */
	assert_int_equal(choice_units(s, &c).count, 6);
	assert_true(choice_act_block_ok(s, &c, 128));
	assert_false(choice_act_block_ok(s, &c, 96));
	c.k_block = 0;
	assert_false(choice_act_block_ok(s, &c, 128));
	assert_int_equal(choice_act_blocks(s, &c, values, ROOM), 1);
}

static void pages_are_what_the_plan_makes(void **state)
{
	Plan *p = bare(*state);
	const Step *s = bare_step(p, "c");
	Choice *choices = arena_array(p->graph->arena, Choice, p->nsteps);
	for (int i = 0; i < p->nsteps; i++)
		choices[i] = (Choice){ .bands = 10, .splits = 1, .type = DEV_BF16, .ring = 2,
				       .cout_block = 2, .weights = DEV_BFP8_B, .phases = 2,
				       .fetchers = 1 };
	Choice *c = &choices[s - p->steps];
	for (int k = 1; k < 10; k++)
		for (int splits = 1; splits <= 2; splits++) {
			c->k_block = k;
			c->act_block = k % 2 ? 0 : 96;
			c->splits = splits;
			const Plan *made = plan_apply(p, choices);
			const Step *m = &made->steps[s - p->steps];
			assert_int_equal(choice_pages(s, c),
					 m->groups / splits * m->stream.chunks * m->stream.passes);
		}
}

static void cuts_are_bound_by_units_and_cores(void **state)
{
	const Plan *p = bare(*state);
	const Step *c = bare_step(p, "c"), *u = bare_step(p, "u");
	assert_true(choice_cut_ok(p, c, (Cut){ 60, 1 }, 4));
	assert_false(choice_cut_ok(p, c, (Cut){ 61, 1 }, 4));
	assert_true(choice_cut_ok(p, c, (Cut){ 16, 4 }, 1));
	assert_false(choice_cut_ok(p, c, (Cut){ 17, 4 }, 1)); /* cores */
	assert_false(choice_cut_ok(p, c, (Cut){ 16, 2 }, 4)); /* one group of 4 tiles */
	assert_true(choice_cut_ok(p, u, (Cut){ 60, 1 }, 2));
	assert_false(choice_cut_ok(p, u, (Cut){ 61, 1 }, 2)); /* rows come in pairs */
	assert_false(choice_cut_ok(p, u, (Cut){ 0, 1 }, 2));
}

static void slices_are_whole_units(void **state)
{
	const PlanTensor *u = bare_step(bare(*state), "u")->out;
	int values[ROOM];
	const int n = choice_slices(u, 5, values, ROOM); /* 12 pairs of rows */
	assert_int_equal(n, 12);
	for (int i = 0; i < n; i++)
		assert_int_equal(values[i], 2 * (i + 1));
	/* 60 pairs of rows on one core: the least for each number of slices. */
	const int many = choice_slices(u, 1, values, ROOM);
	assert_true(many < 30);
	for (int i = 1; i < many; i++)
		assert_true((60 + values[i - 1] / 2 - 1) / (values[i - 1] / 2)
			    > (60 + values[i] / 2 - 1) / (values[i] / 2));
	assert_true(choice_slice_ok(u, 5, 10));
	assert_false(choice_slice_ok(u, 5, 11));
	assert_false(choice_slice_ok(u, 5, 26));
}

static void fetchers_need_cores_that_share(void **state)
{
	const Plan *p = bare(*state);
	assert_int_equal(choice_most_fetchers(p, &(Choice){ .bands = 60, .splits = 1 }), 4);
	assert_int_equal(choice_most_fetchers(p, &(Choice){ .bands = 8, .splits = 8 }), 4);
	assert_int_equal(choice_most_fetchers(p, &(Choice){ .bands = 7, .splits = 8 }), 1);
	assert_int_equal(choice_most_fetchers(p, &(Choice){ .bands = 16, .splits = 4 }), 1);
}

static void types_are_those_that_all_take(void **state)
{
	const Plan *p = bare(*state);
	assert_int_equal(choice_types(p, bare_step(p, "a")->out), DEV_BF16 | DEV_BFP8_B | DEV_F32);
	assert_int_equal(choice_types(p, bare_step(p, "b")->out), DEV_BF16 | DEV_BFP8_B | DEV_F32);
	assert_int_equal(choice_types(p, bare_step(p, "x")->out), DEV_BF16); /* from the host */
	assert_int_equal(choice_types(p, bare_step(p, "c")->out), DEV_BF16 | DEV_F32);
	assert_int_equal(choice_types(p, bare_step(p, "u")->out), DEV_BF16 | DEV_F32);
}

static void f32_is_tried_where_it_may_be_unless_pinned(void **state)
{
	const Plan *p = bare(*state);
	const PlanTensor *a = bare_step(p, "a")->out, *u = bare_step(p, "u")->out;
	Pins pins[ROOM] = { 0 };
	assert_in_range(p->nsteps, 1, ROOM);
	assert_int_equal(choice_tried(p, u, NULL), DEV_F32);
	assert_int_equal(choice_tried(p, a, NULL), DEV_BF16 | DEV_BFP8_B);
	pins[u->born] = (Pins){ .fixed = 1u << CHOICE_bands, .value.bands = 2 };
	assert_int_equal(choice_tried(p, u, pins), DEV_F32);
	pins[u->born] = (Pins){ .fixed = 1u << CHOICE_type, .value.type = DEV_BF16 };
	assert_int_equal(choice_tried(p, u, pins), DEV_BF16);
}

/* A product reads a and b. */
static void what_a_product_reads_is_f32_together(void **state)
{
	const Plan *p = bare(*state);
	const PlanTensor *a = bare_step(p, "a")->out, *b = bare_step(p, "b")->out;
	Pins pins[ROOM] = { 0 };
	assert_int_equal(a->wide, b->wide);
	assert_int_not_equal(a->wide, bare_step(p, "c")->out->wide);
	pins[a->born] = (Pins){ .fixed = 1u << CHOICE_type, .value.type = DEV_F32 };
	assert_int_equal(choice_tried(p, a, pins), DEV_F32);
	assert_int_equal(choice_tried(p, b, pins), DEV_F32);
	pins[b->born] = (Pins){ .fixed = 1u << CHOICE_type, .value.type = DEV_BF16 };
	assert_int_equal(choice_tried(p, a, pins), DEV_UNSET);
	pins[a->born].value.type = DEV_BF16;
	assert_int_equal(choice_tried(p, a, pins), DEV_BF16);
}

/* One product reads a and b, another b and x, which comes from the host in bf16. */
static void what_is_read_with_others_has_their_format(void **state)
{
	static const char chain[] =
		"graph \"net\"\n"
		"%x = input {stored = bf16} : f32[1,64,60,80]\n"
		"%a = relu %x {stored = bf16|bfp8_b} : f32[1,64,60,80]\n"
		"%b = relu %x {stored = bf16|bfp8_b} : f32[1,64,60,80]\n"
		"%w = constant splat 0.5 : f32[64,128,1,1]\n"
		"%i = concat %a, %b {axis = 1, stored = bf16} : f32[1,128,60,80]\n"
		"%c = conv %i, %w {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
		"strides = [1,1], weights = bf16} : f32[1,64,60,80]\n"
		"%j = concat %b, %x {axis = 1, stored = bf16} : f32[1,128,60,80]\n"
		"%d = conv %j, %w {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
		"strides = [1,1], weights = bf16} : f32[1,64,60,80]\n"
		"%o = output %c : f32[1,64,60,80]\n%p = output %d : f32[1,64,60,80]\n";
	const Plan *p = bare_plan(*state, chain);
	assert_int_equal(choice_types(p, bare_step(p, "b")->out), DEV_BF16);
	assert_int_equal(choice_types(p, bare_step(p, "a")->out), DEV_BF16);
}

/* A sigmoid has 0.5 where there is no channel, and a pool carries that on. */
static void what_would_spoil_blocks_is_carried_on(void **state)
{
	static const char pooled[] =
		"graph \"net\"\n"
		"%x = input {stored = bf16} : f32[1,64,60,80]\n"
		"%w = constant splat 0.5 : f32[3,64,1,1]\n"
		"%a = conv %x, %w {act = sigmoid, dilations = [1,1], pads = [0,0,0,0], "
		"stored = bf16|bfp8_b, strides = [1,1], weights = bfp8_b} : f32[1,3,60,80]\n"
		"%p = max_pool %a {dilations = [1,1], kernel = [2,2], pads = [0,0,0,0], "
		"stored = bf16|bfp8_b, strides = [2,2]} : f32[1,3,30,40]\n"
		"%v = constant splat 0.5 : f32[3,3,1,1]\n"
		"%c = conv %p, %v {dilations = [1,1], pads = [0,0,0,0], stored = bf16|bfp8_b, "
		"strides = [1,1], weights = bfp8_b} : f32[1,3,30,40]\n"
		"%r = relu %c {stored = bf16|bfp8_b} : f32[1,3,30,40]\n"
		"%u = constant splat 0.5 : f32[3,3,1,1]\n"
		"%y = conv %r, %u {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
		"strides = [1,1], weights = bf16} : f32[1,3,30,40]\n"
		"%o = output %y : f32[1,3,30,40]\n";
	const Plan *p = bare_plan(*state, pooled);
	assert_int_equal(choice_types(p, bare_step(p, "p")->out), DEV_BF16 | DEV_F32);
	assert_int_equal(choice_types(p, bare_step(p, "r")->out), DEV_BF16 | DEV_BFP8_B | DEV_F32);
}

/* r and t read parts of a concat and of a slice, whose other channels stand behind them. */
static void what_would_spoil_blocks_comes_by_parts_too(void **state)
{
	static const char parts[] =
		"graph \"net\"\n"
		"%x = input {stored = bf16} : f32[1,48,60,80]\n"
		"%w = constant splat 0.5 : f32[3,48,1,1]\n"
		"%a = conv %x, %w {act = sigmoid, dilations = [1,1], pads = [0,0,0,0], "
		"stored = bf16, strides = [1,1], weights = bfp8_b} : f32[1,3,60,80]\n"
		"%k = concat %a, %x {axis = 1, stored = bf16} : f32[1,51,60,80]\n"
		"%r = relu %k {stored = bf16|bfp8_b} : f32[1,51,60,80]\n"
		"%v = constant splat 0.5 : f32[3,51,1,1]\n"
		"%y = conv %r, %v {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
		"strides = [1,1], weights = bf16} : f32[1,3,60,80]\n"
		"%s = slice %x {counts = [1,19,60,80], starts = [0,16,0,0], steps = [1,1,1,1], "
		"stored = bf16} : f32[1,19,60,80]\n"
		"%q = relu %s {stored = bf16} : f32[1,19,60,80]\n"
		"%t = relu %q {stored = bf16|bfp8_b} : f32[1,19,60,80]\n"
		"%u = constant splat 0.5 : f32[3,19,1,1]\n"
		"%z = conv %t, %u {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
		"strides = [1,1], weights = bf16} : f32[1,3,60,80]\n"
		"%o = output %y : f32[1,3,60,80]\n%p = output %z : f32[1,3,60,80]\n";
	const Plan *p = bare_plan(*state, parts);
	assert_int_equal(choice_types(p, bare_step(p, "r.part0")->out), DEV_BF16 | DEV_F32);
	assert_int_equal(choice_types(p, bare_step(p, "t")->out), DEV_BF16 | DEV_F32);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_k_block_is_whole_blocks),
		TEST(parts_of_other_depth_share_pages),
		TEST(a_block_of_positions_divides_those_of_a_core),
		TEST(pages_are_what_the_plan_makes),
		TEST(cuts_are_bound_by_units_and_cores),
		TEST(slices_are_whole_units),
		TEST(fetchers_need_cores_that_share),
		TEST(types_are_those_that_all_take),
		TEST(f32_is_tried_where_it_may_be_unless_pinned),
		TEST(what_a_product_reads_is_f32_together),
		TEST(what_is_read_with_others_has_their_format),
		TEST(what_would_spoil_blocks_is_carried_on),
		TEST(what_would_spoil_blocks_comes_by_parts_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
