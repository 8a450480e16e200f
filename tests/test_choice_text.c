/*
 * Plan files: what is printed reads back to the same bytes, remarks stay where they
 * stand, and what is wrong is said with its line and field.
 */
#include <string.h>

#include "ir/choice_text.h"
#include "ir/file.h"
#include "tests/bare.h"

/* A name in quotes, a tensor that six steps make, and an output in two pieces. */
static const char net[] =
	"graph \"net\"\n"
	"%x = input {stored = bf16} : f32[1,16,12,20]\n"
	"%w1 = constant splat 0.5 : f32[32,16,3,3]\n"
	"%\"enc/1 @2\" = conv %x, %w1 {dilations = [1,1], pads = [1,1,1,1], stored = bf16, "
	"strides = [1,1], weights = bfp8_b} : f32[1,32,12,20]\n"
	"%w2 = constant splat 0.5 : f32[32,32,3,1]\n"
	"%u = conv_transpose %\"enc/1 @2\", %w2 {dilations = [1,1], pads = [0,0,0,0], "
	"stored = bf16, strides = [3,1], weights = bfp8_b} : f32[1,32,36,20]\n"
	"%r = relu %u {stored = bf16} : f32[1,32,36,20]\n"
	"%j = concat %u, %r {axis = 1, stored = bf16} : f32[1,64,36,20]\n"
	"%o = output %j : f32[1,64,36,20]\n";

static Plan *bare(Fixture *t) { return bare_plan(t, net); }

/* Some value of every field. */
static Choice *some(const Plan *p)
{
	static const int types[] = { DEV_BF16, DEV_BFP8_B }, phases[] = { 1, 2, 3, 4 };
	Choice *c = arena_array(p->graph->arena, Choice, p->nsteps);
	for (int i = 0; i < p->nsteps; i++) {
		c[i] = (Choice){ .bands = 1 + i, .splits = 2, .type = types[i % 2], .place = i % 2,
				 .slice = i, .slice_buffer = i % 2, .cout_block = 4,
				 .weights = types[i % 2], .phases = phases[i % 4], .k_block = i,
				 .ring = i % 3, .act_block = 32 * i, .fetchers = 4,
				 .prefetch = i % 2, .reshard = i % 2, .park = i % 3,
				 .beside = 1 << i % 3 };
		for (int k = 0; k < i; k++)
			if (p->steps[i].out && p->steps[k].out == p->steps[i].out) {
				c[i].bands = c[k].bands;
				c[i].type = c[k].type;
				c[i].place = c[k].place;
			}
	}
	return c;
}

static const char *printed(const Plan *p, const Choice *c, const Pins *pins,
			   const ChoiceNotes *notes, const ChoiceRemarks *remarks)
{
	TextFile f;
	text_open(&f);
	choice_print(f.f, p, c, pins, notes, remarks);
	return text_take(&f, p->graph->arena);
}

static ChoiceText *parsed(Fixture *t, const Plan *p, const char *text)
{
	ChoiceText *c = choice_parse(p, &t->diag, "net.plan", text, strlen(text));
	if (!c)
		fail_msg("%s\nof\n%s", fixture_said(t), text);
	return c;
}

static const char *about(void *with, int step)
{
	return step % 2 ? with : NULL;
}

static void what_is_printed_reads_back(void **state)
{
	const Plan *p = bare(*state);
	const Choice *c = some(p);
	Pins *pins = arena_array(p->graph->arena, Pins, p->nsteps);
	for (int i = 0; i < p->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (choice_has(&p->steps[i], f) && (i + f) % 3 == 0
			    && (f > CHOICE_place || p->steps[i].out->born == i)) {
				pins[i].fixed |= 1u << f;
				pins[i].shard = SHARD_BLOCK;
			}
	const char *text = printed(p, c, pins, NULL, NULL);
	const ChoiceText *back = parsed(*state, p, text);
	assert_int_equal(back->cores, 64);
	assert_string_equal(printed(p, back->choices, back->pins, NULL, &back->remarks), text);
	for (int i = 0; i < p->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++) {
			const int want = choice_get(&c[i], f);
			if (!choice_has(&p->steps[i], f))
				continue;
			assert_true(back->given[i] >> f & 1);
			assert_int_equal(choice_get(&back->choices[i], f), want);
			assert_string_equal(back->where[i].at[f].file, "net.plan");
			if (back->pins[i].fixed >> f & 1)
				assert_int_equal(choice_get(&back->pins[i].value, f), want);
		}
	assert_null(strstr(fixture_said(*state), "warning"));
}

static void a_plan_file_looks_like_this(void **state)
{
	const Plan *p = bare(*state);
	const Choice *c = some(p);
	const char *text = printed(p, c, NULL, NULL, NULL);
	static const char *const lines[] = {
		"plan net target=wormhole_n150 cores=64\nop x edge_in slice=0 slice_buffer=double\n"
		"tensor x bands=1 splits=2 type=bf16 place=l1\n",
		"op \"enc/1 @2\" conv slice=1 slice_buffer=single cout_block=4 weights=bfp8_b "
		"fidelity=hifi2 k_block=1 weights_buffer=single act_block_h=32 fetchers=4 prefetch=yes "
		"reshard=0 park=0 beside=1\ntensor \"enc/1 @2\" bands=2 splits=2 type=bfp8_b place=dram\n",
		"\nop u conv slice=2 slice_buffer=double ",
		"\nop u@2 conv slice=3 slice_buffer=single ",
		"\ntensor u bands=3 splits=2 ",
		"\nop r unary slice=5 slice_buffer=single reshard=0 park=1 beside=2\n",
		"\nop o@1 edge_out slice=6 slice_buffer=double\n"
		"op o@2 edge_out slice=7 slice_buffer=single\n",
	};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (!strstr(text, lines[i]))
			fail_msg("no\n%s\nin\n%s", lines[i], text);
	const char *last = strchr(strstr(text, "\nop u@3") + 1, '\n');
	assert_ptr_equal(strstr(text, "\ntensor u "), last);
}

static void remarks_stay_where_they_stand(void **state)
{
	const Plan *p = bare(*state);
	static const char text[] =
		"# first\n\n"
		"plan net target=wormhole_n150 cores=64 # of the header\n"
		"\n   # about x\t \n"
		"op x edge_in slice=0 # behind\n"
		"tensor x bands=1 splits=1 type=bf16! place=l1\n"
		"# above the second u\n"
		"op u@2 conv k_block=3 ; 74.1 us # kept\n"
		"\n# last\n";
	const ChoiceText *c = parsed(*state, p, text);
	static const char *const kept[] = {
		"# first\n\nplan net target=wormhole_n150 cores=64 # of the header\n",
		"header\n\n   # about x\t \nop x edge_in slice=0 slice_buffer=double # behind\n",
		"# behind\ntensor x bands=1 splits=1 type=bf16! place=l1\n",
		"\n# above the second u\nop u@2 conv slice=0 ",
		" beside=none # kept\n",
		"\n\n# last\n",
	};
	const char *back = printed(p, c->choices, c->pins, NULL, &c->remarks);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (!strstr(back, kept[i]))
			fail_msg("no\n%s\nin\n%s", kept[i], back);
	Choice *any = some(p);
	const ChoiceText *again = parsed(*state, p, printed(p, any, NULL, NULL, &c->remarks));
	assert_string_equal(printed(p, any, NULL, NULL, &again->remarks),
			    printed(p, any, NULL, NULL, &c->remarks));
}

static void notes_are_for_readers(void **state)
{
	Plan *p = bare(*state);
	Choice *c = some(p);
	for (int i = 0; i < p->nsteps; i++)
		c[i] = (Choice){ .bands = 12, .splits = 1, .type = DEV_BF16, .cout_block = 1,
				 .weights = DEV_BFP8_B, .phases = 2, .fetchers = 1 };
	Plan *placed = plan_apply(p, c);
	assert_true(plan_place(placed));
	const ChoiceNotes notes = { placed, about, "74.1 us math" };
	const char *text = printed(p, c, NULL, &notes, NULL);
	assert_non_null(strstr(text, " place=l1 ; at=0x"));
	assert_non_null(strstr(text, " life=0..1 shard=height\n"));
	assert_non_null(strstr(text, " ; 74.1 us math\n"));
	const ChoiceText *back = parsed(*state, p, text);
	assert_string_equal(printed(p, back->choices, back->pins, &notes, &back->remarks), text);
}

static void shard_is_a_pin(void **state)
{
	const Plan *p = bare(*state);
	const ChoiceText *c = parsed(*state, p, "plan net\ntensor u shard=height\n"
						"tensor r shard=block! bands=3!\n");
	for (int i = 0; i < p->nsteps; i++) {
		const PlanTensor *t = p->steps[i].out;
		const bool u = t && strcmp(t->name, "u") == 0, r = t && strcmp(t->name, "r") == 0;
		assert_int_equal(c->pins[i].shard, u ? SHARD_HEIGHT : r ? SHARD_BLOCK : SHARD_ANY);
		assert_int_equal(c->pins[i].fixed, r ? 1u << CHOICE_bands : 0u);
	}
}

#define PLAN "plan net\n"

static const struct {
	const char *text, *said;
} wrong[] = {
	{ "", "w.plan: error: a plan file begins with 'plan', the model's name and target=\n" },
	{ "op x\n", "w.plan:1:1: error: a plan file begins with 'plan', the model's name and "
		    "target=, not 'op'\n" },
	{ "plan other\n", "w.plan:1:6: error: a plan for model 'other', this is 'net'\n" },
	{ "plan /x\n", "w.plan:1:6: error: plan: want the model's name, in quotes" },
	{ "plan\n", "w.plan:1:5: error: plan: want the model's name, in quotes" },
	{ "plan net cores=65\n", "w.plan:1:10: error: plan: cores=65, wormhole_n150 has 64\n" },
	{ "plan net cores=none\n", "error: plan: field cores wants a number, found 'none'\n" },
	{ "plan net core=1\n", "w.plan:1:10: error: plan: no field 'core=1'\n" },
	{ "plan net core=1\n", "note: did you mean 'cores'?\n" },
	{ "plan net cores=1 cores=1\n", "w.plan:1:18: error: plan: field cores is given twice\n" },
	{ "plan net target=\n", "w.plan:1:10: error: plan: field target wants a name" },
	{ PLAN PLAN, "w.plan:2:1: error: plan: it is given twice\n" },
	{ PLAN "\nopp x\n", "w.plan:3:1: error: want a line of op or tensor, found 'opp'\n" },
	{ PLAN "opp x\n", "note: did you mean 'op'?\n" },
	{ PLAN "op\n", "w.plan:2:3: error: op: want a name" },
	{ PLAN "op \"x\n", "w.plan:2:4: error: op: want a name" },
	{ PLAN "op \"x\\q\"\n", "w.plan:2:4: error: op: want a name" },
	{ PLAN "op u@\n", "w.plan:2:4: error: op: want a name" },
	{ PLAN "op u@0\n", "w.plan:2:4: error: op: want a name" },
	{ PLAN "op u@99999999999\n", "w.plan:2:4: error: op: want a name" },
	{ PLAN "op u@7\n", "w.plan:2:4: error: no op 'u@7'\n" },
	{ PLAN "tensor u@2\n", "w.plan:2:8: error: tensor: want a name" },
	{ PLAN "op \"enc/2 @2\"\n", "note: did you mean '\"enc/1 @2\"'?\n" },
	{ PLAN "op \"enc/2 @2\"\n", "w.plan:2:4: error: no op 'enc/2 @2'\n" },
	{ PLAN "tensor xx\n", "w.plan:2:8: error: no tensor 'xx'\n" },
	{ PLAN "tensor xx\n", "note: did you mean 'x'?\n" },
	{ PLAN "op u conv k_blok=1\n", "w.plan:2:11: error: u: no field 'k_blok'\n" },
	{ PLAN "op u conv k_blok=1\n", "note: did you mean 'k_block'?\n" },
	{ PLAN "op u pool\n", "w.plan:2:6: error: op u: it is a conv, not a 'pool'\n" },
	{ PLAN "op u k_block=x\n", "w.plan:2:6: error: u: field k_block wants a number, found 'x'\n" },
	{ PLAN "op u k_block=-1\n", "u: field k_block wants a number, found '-1'\n" },
	{ PLAN "op u k_block=1234567890\n", "u: field k_block wants a number" },
	{ PLAN "op u k_block=\n", "u: field k_block wants a number, found ''\n" },
	{ PLAN "op u k_block\n", "w.plan:2:6: error: op u: it is a conv, not a 'k_block'\n" },
	{ PLAN "op u conv k_block\n", "w.plan:2:11: error: u: want field=value, found 'k_block'\n" },
	{ PLAN "op u fidelity=hifi1\n", "u: field fidelity wants lofi|hifi2|hifi3|hifi4, found 'hifi1'\n" },
	{ PLAN "op u weights_buffer=2\n", "u: field weights_buffer wants all|single|double, found '2'\n" },
	{ PLAN "op u prefetch=1\n", "u: field prefetch wants no|yes, found '1'\n" },
	{ PLAN "op u park=8\n", "u: field park wants none or numbers of inputs as 0,2, found '8'\n" },
	{ PLAN "op u park=0,0\n", "u: field park wants none or numbers of inputs" },
	{ PLAN "op u park=0,\n", "u: field park wants none or numbers of inputs" },
	{ PLAN "tensor u type=f16\n", "u: field type wants bf16|bfp8_b|f32, found 'f16'\n" },
	{ PLAN "tensor u place=l2\n", "u: field place wants l1|dram, found 'l2'\n" },
	{ PLAN "tensor u shard=high\n", "u: field shard wants height|width|block, found 'high'\n" },
	{ PLAN "tensor u shard=height shard=width\n", "w.plan:2:23: error: u: field shard is given twice\n" },
	{ PLAN "op u k_block=1 k_block=1!\n", "w.plan:2:16: error: u: field k_block is given twice\n" },
	{ PLAN "op u bands=1\n", "w.plan:2:6: error: u: field bands belongs to the tensor line\n" },
	{ PLAN "tensor u k_block=1\n", "w.plan:2:10: error: u: field k_block belongs to the op line\n" },
	{ PLAN "op r k_block=1\n", "w.plan:2:6: error: r: a unary has no field k_block\n" },
	{ PLAN "op o@1 bands=1\n", "w.plan:2:8: error: o@1: a edge_out has no field bands\n" },
	{ PLAN "op x\nop x\n", "w.plan:3:1: error: op x is given twice\n" },
	{ PLAN "op x\nop x\n", "w.plan:2:1: note: here before\n" },
	{ PLAN "tensor u\ntensor u\n", "w.plan:3:1: error: tensor u is given twice\n" },
};

static void what_is_wrong_is_said(void **state)
{
	const Plan *p = bare(*state);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		void *inner;
		fixture_setup(&inner);
		Fixture *t = inner;
		assert_null(choice_parse(p, &t->diag, "w.plan", wrong[i].text, strlen(wrong[i].text)));
		if (!strstr(fixture_said(t), wrong[i].said))
			fail_msg("%s\nsays\n%s\nnot\n%s", wrong[i].text, fixture_said(t), wrong[i].said);
		fixture_teardown(&inner);
	}
	static const char zero[] = "plan net\nop x\0\n";
	Fixture *t = *state;
	assert_null(choice_parse(p, &t->diag, "w.plan", zero, sizeof zero - 1));
	assert_non_null(strstr(fixture_said(t), "w.plan:2:1: error: the line has a zero byte\n"));
}

static void another_target_is_told(void **state)
{
	Fixture *t = *state;
	parsed(t, bare(t), "plan net target=\"a/b.ini\" cores=8\r\nop u k_block=1!; 3 us\r\n");
	const char *said = "net.plan:1:10: warning: the plan was made for target a/b.ini, this is "
			   "wormhole_n150\n";
	assert_non_null(strstr(fixture_said(t), said));
}

/* As a command line has them: no first line, an op several times. */
static void lines_alone_are_read(void **state)
{
	static const char right[] = "op u k_block=3\nop u fetchers=2\ntensor u bands=4 shard=height\n";
	static const char twice[] = "op u k_block=3\nop u k_block=6\n", first[] = "plan net\n";
	Fixture *t = *state;
	const Plan *p = bare(t);
	const ChoiceText *c = choice_parse_lines(p, &t->diag, "--pin", right, strlen(right));
	const int at = bare_step(p, "u")->out->born;
	assert_non_null(c);
	assert_int_equal(c->choices[at].k_block, 3);
	assert_int_equal(c->choices[at].fetchers, 2);
	assert_int_equal(c->choices[at].bands, 4);
	assert_int_equal(c->where[at].at[CHOICE_fetchers].line, 2);
	assert_null(choice_parse_lines(p, &t->diag, "--pin", twice, strlen(twice)));
	assert_non_null(strstr(fixture_said(t), "--pin:2:6: error: u: field k_block is given twice\n"));
	assert_null(choice_parse_lines(p, &t->diag, "--pin", first, strlen(first)));
}

/* Text may end where the memory does. */
static void nothing_behind_the_text_is_read(void **state)
{
	const Plan *p = bare(*state);
	static const char text[] = "plan net target=wormhole_n150\nop u@2 conv k_block=3 park=0 # \"";
	for (size_t n = 0; n < sizeof text; n++) {
		void *inner;
		fixture_setup(&inner);
		Fixture *t = inner;
		char *copy = xmalloc(n + 1);
		memcpy(copy, text, n);
		copy = xrealloc(copy, n ? n : 1);
		choice_parse(p, &t->diag, "w.plan", copy, n);
		fixture_teardown(&inner);
		free(copy);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_printed_reads_back),
		TEST(a_plan_file_looks_like_this),
		TEST(remarks_stay_where_they_stand),
		TEST(notes_are_for_readers),
		TEST(shard_is_a_pin),
		TEST(what_is_wrong_is_said),
		TEST(another_target_is_told),
		TEST(lines_alone_are_read),
		TEST(nothing_behind_the_text_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
