/*
 * Choices that cannot be done are told, each with its line, its field and what
 * could be done instead.
 */
#include "ir/file.h"
#include "passes/choice_check.h"
#include "passes/choice_legal.h"
#include "tests/bare.h"
#include "tests/choice_net.h"

static Plan *bare(Fixture *t) { return bare_plan(t, choice_net); }

static ChoiceText *choices(Fixture *t, const Plan *p, const char *text)
{
	Choice *plain = arena_array(p->graph->arena, Choice, p->nsteps);
	for (int i = 0; i < p->nsteps; i++)
		plain[i] = choice_plain(&p->steps[i]);
	const char *file = arena_printf(p->graph->arena, "plan net\n%s", text);
	ChoiceText *c = choice_parse(p, &t->diag, "w.plan", file, strlen(file));
	if (!c)
		fail_msg("%s\nof\n%s", fixture_said(t), text);
	choice_complete(p, c, plain);
	return c;
}

static const struct {
	const char *text, *said;
} wrong[] = {
	{ "op c cout_block=3\n", "w.plan:2:6: error: c: cout_block=3 is no 1, 2 or 4 that divides 4 "
				 "output tiles; 2 and 4 are\n" },
	{ "op a cout_block=4\n", "a: cout_block=4 is no 1, 2 or 4 that divides 3 output tiles; 1 is\n" },
	{ "op u cout_block=4\n", "u: cout_block=4 is not what a 2x2 transposed convolution has; 2 is\n" },
	{ "op t cout_block=1\ntensor t splits=2\n",
	  "t@2: cout_block=2 is not that of t, which makes the same tensor; 1 is\n" },
	{ "tensor a bands=61\n", "w.plan:2:10: error: a: bands=61 is not from 1 to 60, the units of rows "
				 "there are; 60 is\n" },
	{ "tensor a bands=0\n", "a: bands=0 is not from 1 to 60, the units of rows there are; 1 is\n" },
	{ "tensor u bands=65\n", "u: bands=65 is not within the 64 cores of the plan; 60 is\n" },
	{ "tensor u bands=61\n", "u: bands=61 is not from 1 to 60, the units of rows" },
	{ "tensor g bands=2\n", "g: bands=2 is not from 1 to 1, the units of rows there are; 1 is\n" },
	{ "tensor g.each.rows bands=61\n", "g.each.rows: bands=61 is not from 1 to 60" },
	{ "op c cout_block=2\ntensor c splits=3\n",
	  "w.plan:3:10: error: c: splits=3 is not from 1 to 2, the units of planes there are; 2 is\n" },
	{ "op c cout_block=1\ntensor c bands=17 splits=4\n",
	  "c: splits=4 is not within the 64 cores of the plan, times bands=17; 3 is\n" },
	{ "tensor c type=bfp8_b\n", "w.plan:2:10: error: c: type=bfp8_b is not a format that the op and all "
				    "who make and read the tensor take; bf16 and f32 are\n" },
	{ "tensor b type=bfp8_b\n", "b: type=bfp8_b is not a format" }, /* the host reads it */
	{ "tensor a type=bfp8_b\n", "b: type=bf16 is not that of a, which a product reads with it\n" },
	{ "tensor t place=dram\n",
	  "w.plan:2:10: error: t: place=dram is not possible, t cannot work in slices; l1 is\n" },
	{ "tensor v place=dram\n", "v: place=dram is not possible, t cannot work in slices; l1 is\n" },
	{ "tensor m place=dram\n", "g.each.rows: slice=0 is no multiple of 1 up to the 60 rows of a core" },
	{ "tensor g.each.rows place=dram\n",
	  "g.each.rows: place=dram is not possible, g.each.rows cannot work in slices; l1 is\n" },
	{ "tensor g place=dram\n", "g: place=dram is not possible, g cannot work in slices; l1 is\n" },
	{ "op c slice=4\n", "w.plan:2:6: error: c: slice=4 is not possible for a step without a tensor in "
			    "DRAM; 0 is\n" },
	{ "op c slice_buffer=single\n", "w.plan:2:6: error: c: slice_buffer=single is not possible for a step "
					"without a tensor in DRAM; double is\n" },
	{ "tensor u place=dram\n", "u: slice=0 is no multiple of 2 up to the 120 rows of a core, whose "
				   "tensor lies in DRAM; 2 is\n" },
	{ "tensor u place=dram bands=10\nop u slice=5\nop v slice=13\n",
	  "u: slice=5 is no multiple of 2 up to the 12 rows of a core, whose tensor lies in DRAM; 4 and 6 are\n" },
	{ "tensor v bands=10\ntensor u place=dram bands=10\nop u slice=4\nop v slice=13\n",
	  "v: slice=13 is no multiple of 1 up to the 12 rows of a core, whose tensor lies in DRAM; 12 is\n" },
	{ "tensor x place=dram\nop x slice=1\nop a slice=61\n", "a: slice=61 is no multiple of 1 up to the "
								"60 rows" },
	{ "op c k_block=4 weights_buffer=double\n",
	  "w.plan:2:6: error: c: k_block=4 is no multiple of 3, the tiles of a block, up to 54; 3 and 6 are\n" },
	{ "op c k_block=57 weights_buffer=double\n", "c: k_block=57 is no multiple of 3, the tiles of a "
						     "block, up to 54; 54 is\n" },
	{ "op c k_block=3\n", "c: weights_buffer=all is not for 18 pages a group; single and double are\n" },
	{ "op c act_block_h=32\n", "w.plan:2:6: error: c: act_block_h=32 is not possible without k_block, for "
				   "weights in one page a group; 0 is\n" },
	{ "op u act_block_h=32 k_block=1 weights_buffer=single\n",
	  "u: act_block_h=32 is not possible for a 2x2 transposed convolution, which keeps no sums; 0 is\n" },
	{ "tensor c bands=2\nop c act_block_h=100 k_block=3 weights_buffer=single\n",
	  "w.plan:3:6: error: c: act_block_h=100 is no multiple of 32 that divides the 2880 positions of a "
	  "core; 96 and 160 are\n" },
	{ "tensor c bands=2\nop c cout_block=1 act_block_h=100 k_block=3 weights_buffer=single\n",
	  "c: act_block_h=100 is no multiple of 128 that divides the 3072 positions of a core; 0 and 128 are\n" },
	{ "op t@3 k_block=1 weights_buffer=single act_block_h=9999\n", "t@3: act_block_h=9999 is no multiple of" },
	{ "op c fetchers=5\n", "w.plan:2:6: error: c: fetchers=5 is not from 1 to 4; 4 is\n" },
	{ "op c fetchers=0\n", "c: fetchers=0 is not from 1 to 4; 1 is\n" },
	{ "op c fetchers=2 cout_block=1\ntensor c splits=4\n",
	  "c: fetchers=2 is not possible where cores share no weights: want splits=1, "
	  "or one for each column; 1 is\n" },
	{ "op c prefetch=yes reshard=0\ntensor a bands=3\n",
	  "w.plan:2:6: error: c: prefetch=yes is not possible without a step right before it, behind a "
	  "move or in slices; no is\n" },
	{ "op a reshard=1\n", "w.plan:2:6: error: a: reshard=1 names input 1 of 1; none is legal\n" },
	{ "op c reshard=0,2\n", "c: reshard=0,2 names input 2 of 2; 0 is legal\n" },
	{ "op m reshard=1\n", "m: reshard=1 names input 1, b2, but only what lies in L1" },
	{ "op a reshard=0 slice=1\ntensor x place=dram\nop x slice=1\n", "a: reshard=0 names input 0, x, but" },
	{ "op g reshard=0\n", "g: reshard=0 names input 0, g.each.rows, but" },
	{ "op c reshard=0 park=0\n", "c: reshard=0 names input 0, a, but only what lies in L1 in whole rows "
				     "and was not parked is copied, once; none is legal\n" },
	{ "op b2 park=0\n", "w.plan:2:7: error: b2: park=0 names input 0, b, but only what lies in L1, is no "
			    "constant and was not used by the step before can wait in DRAM; none is legal\n" },
	{ "op v park=1\n", "v: park=1 names input 1, k, but only what lies in L1, is no constant" },
	{ "op m park=0\n", NULL },
	{ "op c park=0 beside=0\n", "c: beside=0 names input 0, a, but only what is parked for four steps "
				    "or more moves beside them; none is legal\n" },
	{ "op m beside=0\n", "m: beside=0 names input 0, b2, but" },
};

static void what_cannot_be_done_is_told(void **state)
{
	const Plan *p = bare(*state);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		void *inner;
		fixture_setup(&inner);
		Fixture *t = inner;
		const ChoiceText *c = choices(t, p, wrong[i].text);
		const bool ok = choice_check(p, c->choices, c->where, &t->diag);
		const char *said = fixture_said(t);
		if (wrong[i].said ? ok || !strstr(said, wrong[i].said) : !ok)
			fail_msg("%s\nsays\n%s\nnot\n%s", wrong[i].text, said, wrong[i].said);
		fixture_teardown(&inner);
	}
}

/* Channels that are moved are multiplied with ones. */
static void ones_have_one_format(void **state)
{
	Fixture *t = *state;
	const Plan *p = bare_plan(t, "graph \"net\"\n%x = input {stored = bf16} : f32[1,16,8,8]\n"
				  "%s = slice %x {counts = [1,9,8,8], starts = [0,3,0,0], "
				  "steps = [1,1,1,1], stored = bf16} : f32[1,9,8,8]\n"
				  "%r = relu %s {stored = bf16} : f32[1,9,8,8]\n"
				  "%o = output %r : f32[1,9,8,8]\n");
	const ChoiceText *c = choices(t, p, "op s.channels1 weights=bfp8_b\n");
	assert_false(choice_check(p, c->choices, c->where, &t->diag));
	assert_non_null(strstr(fixture_said(t), "s.channels1: weights=bfp8_b is no format for ones "
						"that bring channels together; bf16 is\n"));
}

/* x is spilled behind a, for c, and stays in DRAM for e: nothing moves between c and d. */
static void what_was_parked_before_is_not_spilled_again(void **state)
{
	Fixture *t = *state;
	const Plan *p = bare_plan(t, "graph \"net\"\n%x = input {stored = bf16} : f32[1,32,8,8]\n"
				  "%a = relu %x {stored = bf16} : f32[1,32,8,8]\n"
				  "%b = relu %a {stored = bf16} : f32[1,32,8,8]\n"
				  "%c = relu %x {stored = bf16} : f32[1,32,8,8]\n"
				  "%w = constant splat 0.5 : f32[32,32,1,1]\n"
				  "%d = conv %c, %w {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
				  "strides = [1,1], weights = bf16} : f32[1,32,8,8]\n"
				  "%e = add %d, %x {stored = bf16} : f32[1,32,8,8]\n"
				  "%o = output %b : f32[1,32,8,8]\n%p = output %e : f32[1,32,8,8]\n");
	const ChoiceText *once = choices(t, p, "op e park=1\nop d prefetch=yes\n");
	const ChoiceText *twice = choices(t, p, "op c park=0\nop e park=1\nop d prefetch=yes\n");
	if (!choice_check(p, twice->choices, twice->where, &t->diag))
		fail_msg("%s", fixture_said(t));
	assert_false(choice_check(p, once->choices, once->where, &t->diag));
	assert_non_null(strstr(fixture_said(t), "d: prefetch=yes is not possible"));
}

static void what_can_be_done_is_done(void **state)
{
	static const char *const right[] = {
		"",
		"tensor a bands=60\ntensor c bands=60\nop c reshard=0,1 fetchers=4\n",
		"tensor c bands=2\nop c k_block=3 weights_buffer=double act_block_h=96 prefetch=yes\n",
		"op c cout_block=1\ntensor c splits=4 bands=16\n",
		"op u k_block=2 weights_buffer=single\ntensor u bands=60\n",
		"tensor u place=dram bands=10\nop u slice=4\nop v slice=7\ntensor v bands=10\n",
		"tensor u place=dram\nop u slice=4 slice_buffer=single\nop v slice=7\n",
		"tensor x place=dram bands=5\nop x slice=12\nop a slice=60\nop b slice=60\n",
		"op c park=0\ntensor c bands=9\n",
		"op t cout_block=1\n", /* one split has all planes either way */
		"op t cout_block=1\nop t@2 cout_block=1\nop t@3 cout_block=1\ntensor t splits=2 bands=32\n",
		"tensor g.each.rows bands=60\ntensor m bands=60\n",
	};
	const Plan *p = bare(*state);
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		Fixture *t = *state;
		const ChoiceText *c = choices(t, p, right[i]);
		if (!choice_check(p, c->choices, c->where, &t->diag))
			fail_msg("%s\nsays\n%s", right[i], fixture_said(t));
		assert_true(plan_apply(p, c->choices)->nsteps >= p->nsteps);
	}
}

/* 10000 units of positions on a core, for each of which 18 pages come by. */
static void pages_are_numbered_in_16_bits(void **state)
{
	static const char large[] =
		"graph \"net\"\n"
		"%x = input {stored = bf16} : f32[1,64,500,640]\n"
		"%w = constant splat 0.5 : f32[64,64,3,3]\n"
		"%c = conv %x, %w {dilations = [1,1], pads = [1,1,1,1], stored = bf16, "
		"strides = [1,1], weights = bfp8_b} : f32[1,64,500,640]\n"
		"%o = output %c : f32[1,64,500,640]\n";
	Fixture *t = *state;
	const Plan *p = bare_plan(t, large);
	const ChoiceText *c = choices(t, p, "op c k_block=1 weights_buffer=double\n");
	assert_false(choice_check(p, c->choices, c->where, &t->diag));
	assert_non_null(strstr(fixture_said(t), "c: k_block=1 is not possible, 180000 pages would come by "
						"and 65535 can; 0 and 4 are\n"));
	c = choices(t, p, "op c k_block=1 weights_buffer=double act_block_h=128\n");
	assert_true(choice_check(p, c->choices, c->where, &t->diag));
}

static const struct {
	const char *text, *said; /* NULL: it can be */
} pinned[] = {
	{ "op c cout_block=3!\n", "w.plan:2:6: error: c: cout_block=3 is no 1, 2 or 4 that divides 4 "
				  "output tiles; 2 and 4 are\n" },
	{ "tensor a bands=61!\n", "w.plan:2:10: error: a: bands=61 is not from 1 to 60" },
	{ "tensor c splits=4!\n", NULL }, /* with cout_block=1 */
	{ "tensor c splits=4!\nop c cout_block=2!\n", "c: splits=4 is not from 1 to 2" },
	{ "tensor a type=bf16!\n", NULL },
	{ "tensor a type=bfp8_b!\n", "a: type=bfp8_b is not a format" }, /* b cannot be */
	{ "tensor c type=bfp8_b!\n", "c: type=bfp8_b is not a format" },
	{ "tensor a type=f32!\n", NULL }, /* and b, which a product reads with it */
	{ "tensor a type=f32!\ntensor b type=bf16!\n",
	  "w.plan:3:10: error: b: type=bf16 is not that of a, which a product reads with it; f32 is\n" },
	{ "tensor b type=f32!\ntensor a type=bf16!\n",
	  "w.plan:2:10: error: b: type=f32 is not that of a, which a product reads with it; bf16 is\n" },
	{ "tensor a type=bf16!\ntensor b type=bf16!\n", NULL },
	{ "tensor t place=dram!\n", "t: place=dram is not possible, t cannot work in slices" },
	{ "op u slice=4!\n", NULL }, /* with place=dram */
	{ "op u slice_buffer=single!\n", NULL }, /* too */
	{ "tensor u place=dram!\nop u slice=5!\n", "u: slice=5 is no multiple of 2" },
	{ "tensor u place=dram!\nop u slice=60!\n", NULL },
	{ "tensor u place=dram! bands=10!\nop u slice=60!\n", "u: slice=60 is no multiple of 2 up to the 12" },
	{ "op c k_block=4!\n", "c: k_block=4 is no multiple of 3" },
	{ "op c weights_buffer=double!\n", NULL },
	{ "op c act_block_h=96!\n", NULL }, /* with k_block and some bands */
	{ "op c act_block_h=864!\n", NULL }, /* with bands=7 */
	{ "op c act_block_h=33!\n", "c: act_block_h=33 is no multiple of" },
	{ "op c fetchers=5!\n", "c: fetchers=5 is not from 1 to 4; 4 is\n" },
	{ "op c reshard=0! \n", NULL },
	{ "op c reshard=0,2!\n", "c: reshard=0,2 names input 2 of 2; 0 is legal\n" },
	{ "op b2 park=0!\n", "b2: park=0 names input 0, b, but" },
	{ "op x slice=0!\n", NULL },
};

static void pins_that_nothing_makes_legal_are_told(void **state)
{
	const Plan *p = bare(*state);
	for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
		void *inner;
		fixture_setup(&inner);
		Fixture *t = inner;
		const ChoiceText *c = choices(t, p, pinned[i].text);
		const bool ok = choice_check_pins(p, c->pins, c->where, &t->diag);
		const char *said = fixture_said(t);
		if (pinned[i].said ? ok || !strstr(said, pinned[i].said) : !ok)
			fail_msg("%s\nsays\n%s\nnot\n%s", pinned[i].text, said, pinned[i].said);
		fixture_teardown(&inner);
	}
}

/* Without a file errors stand at ops of the model. */
static void choices_need_no_file(void **state)
{
	Fixture *t = *state;
	const Plan *p = bare(t);
	ChoiceText *c = choices(t, p, "");
	c->choices[bare_step(p, "c") - p->steps].k_block = 4;
	assert_false(choice_check(p, c->choices, NULL, &t->diag));
	assert_non_null(strstr(fixture_said(t), "net.ir:9:6: error: c: k_block=4 is no multiple of 3"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_cannot_be_done_is_told),
		TEST(ones_have_one_format),
		TEST(what_was_parked_before_is_not_spilled_again),
		TEST(what_can_be_done_is_done),
		TEST(pages_are_numbered_in_16_bits),
		TEST(choices_need_no_file),
		TEST(pins_that_nothing_makes_legal_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
