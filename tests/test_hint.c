/* The plan choices a model's author pins. */
#include <string.h>

#include "ir/hint.h"
#include "tests/build.h"

static const Loc nowhere = { 0 };

static void every_key_takes_a_value_of_its_form(void **state)
{
	Fixture *t = *state;
	Op *op = build_op(t, OP_RELU, build_f32(t, SHAPE(1)));
	const char *key, *form, *what;
	int rows = 0;
	for (; hint_row(rows, &key, &form, &what); rows++) {
		const char *value = strcmp(form, "number") == 0 ? "32"
			: form[0] == '(' ? "(0,0)-(7,7)"
			: arena_strndup(t->arena, form, strcspn(form, "|"));
		assert_null(op_hint(op, key));
		op_add_hint(t->g, op, nowhere, key, value);
		assert_string_equal(op_hint(op, key), value);
		assert_true(*what);
	}
	assert_int_equal(op->nhints, rows);
	assert_false(hint_row(-1, &key, &form, &what));
	assert_string_equal(fixture_said(t), "");
}

static void the_last_of_several_words_is_a_choice_too(void **state)
{
	Fixture *t = *state;
	Op *op = build_op(t, OP_RELU, build_f32(t, SHAPE(1)));
	op_add_hint(t->g, op, nowhere, "double_buffer", "both");
	assert_string_equal(op_hint(op, "double_buffer"), "both");
}

static void a_value_of_the_wrong_form_is_refused(void **state)
{
	static const char *const wrong[][3] = {
		{ "bands", "", "number" },
		{ "bands", "0", "number" },
		{ "bands", "-1", "number" },
		{ "bands", "3x", "number" },
		{ "bands", "1000000000", "number" },
		{ "place", "l", "l1|dram" },
		{ "place", "l1|dram", "l1|dram" },
		{ "place", "", "l1|dram" },
		{ "cores", "(0,0)-(7,7) ", "(x,y)-(x,y)" },
		{ "cores", "(0,0)-(7,)", "(x,y)-(x,y)" },
		{ "cores", "(0,0)", "(x,y)-(x,y)" },
	};
	Fixture *t = *state;
	Op *op = build_op(t, OP_RELU, build_f32(t, SHAPE(1)));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		fixture_said(t);
		size_t before = t->nsaid;
		op_add_hint(t->g, op, nowhere, wrong[i][0], wrong[i][1]);
		assert_string_equal(fixture_said(t) + before,
				    arena_printf(t->arena, "error: relu: hint %s wants %s, found '%s'\n",
						 wrong[i][0], wrong[i][2], wrong[i][1]));
	}
	assert_int_equal(op->nhints, 0);
}

static void a_core_range_has_cores(void **state)
{
	Fixture *t = *state;
	Op *op = build_op(t, OP_RELU, build_f32(t, SHAPE(1)));
	op_add_hint(t->g, op, nowhere, "cores", "(3,0)-(2,7)");
	op_add_hint(t->g, op, nowhere, "cores", "(0,4)-(2,3)");
	op_add_hint(t->g, op, nowhere, "cores", "(3,3)-(3,3)");
	assert_string_equal(fixture_said(t),
			    "error: relu: hint cores: (3,0)-(2,7) ends before it starts\n"
			    "error: relu: hint cores: (0,4)-(2,3) ends before it starts\n");
	assert_string_equal(op_hint(op, "cores"), "(3,3)-(3,3)");
}

static void an_unknown_key_gets_a_suggestion(void **state)
{
	Fixture *t = *state;
	Op *op = build_op(t, OP_RELU, build_f32(t, SHAPE(1)));
	op_add_hint(t->g, op, nowhere, "act_blok_h", "32");
	op_add_hint(t->g, op, nowhere, "zzzzzzzz", "32");
	assert_string_equal(fixture_said(t), "error: relu: no hint 'act_blok_h'\n"
					     "note: did you mean 'act_block_h'?\n"
					     "error: relu: no hint 'zzzzzzzz'\n");
}

static void a_key_is_given_once(void **state)
{
	Fixture *t = *state;
	Op *op = build_op(t, OP_RELU, build_f32(t, SHAPE(1)));
	op_add_hint(t->g, op, nowhere, "stored", "bf16");
	op_add_hint(t->g, op, nowhere, "stored", "bfp8_b");
	assert_string_equal(fixture_said(t), "error: relu: hint stored is given twice\n");
	assert_string_equal(op_hint(op, "stored"), "bf16");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(every_key_takes_a_value_of_its_form),
		T(the_last_of_several_words_is_a_choice_too),
		T(a_value_of_the_wrong_form_is_refused),
		T(a_core_range_has_cores),
		T(an_unknown_key_gets_a_suggestion),
		T(a_key_is_given_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
