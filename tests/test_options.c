/* The command line: what is understood, and what is said when it is not. */
#include <string.h>

#include "frontend/inputs.h"
#include "frontend/weights.h"
#include "tests/check.h"
#include "tests/fixture.h"

enum { MOST = 16 };

/* Parses "tessera" and these words. */
#define PARSE(t, o, ...) parse(t, o, (char *[MOST]){ (char *)"tessera", __VA_ARGS__ })
static bool parse(Fixture *t, Options *o, char *argv[MOST])
{
	int argc = 0;
	while (argc < MOST && argv[argc])
		argc++;
	return options_parse(o, t->arena, &t->diag, argc, argv);
}

static void a_value_follows_after_a_space_or_an_equals_sign(void **state)
{
	Fixture *t = *state;
	Options o;
	assert_true(PARSE(t, &o, "run", "m.onnx", "--output=out", "--input", "a.npy", "--input=b=c.npy",
			  "--threads", "3", "--timing"));
	assert_int_equal(o.command, CMD_run);
	assert_string_equal(o.model, "m.onnx");
	assert_string_equal(option_text(&o, OPT_OUTPUT), "out");
	assert_int_equal(o.count[OPT_INPUT], 2);
	assert_string_equal(o.values[OPT_INPUT][0], "a.npy");
	assert_string_equal(o.values[OPT_INPUT][1], "b=c.npy");
	assert_int_equal(option_number(&o, OPT_THREADS, 0), 3);
	assert_true(option_given(&o, OPT_TIMING));
	assert_false(option_given(&o, OPT_WEIGHTS));
	assert_int_equal(option_number(&o, OPT_MAX_MACS, 7), 7);
	assert_string_equal(fixture_said(t), "");
}

static void an_empty_value_is_a_value(void **state)
{
	Fixture *t = *state;
	Options o;
	assert_true(PARSE(t, &o, "opt", "--passes=", "m.ir"));
	assert_string_equal(option_text(&o, OPT_PASSES), "");
}

static void two_dashes_end_the_options(void **state)
{
	Fixture *t = *state;
	Options o;
	assert_true(PARSE(t, &o, "opt", "--", "--odd.ir"));
	assert_string_equal(o.model, "--odd.ir");
}

static void every_64_bit_seed_is_taken(void **state)
{
	Fixture *t = *state;
	Options o;
	assert_true(PARSE(t, &o, "opt", "m", "--random-weights=18446744073709551615"));
	assert_true(option_seed(&o, OPT_RANDOM_WEIGHTS, 0) == UINT64_MAX);
}

static void help_needs_no_model(void **state)
{
	Fixture *t = *state;
	Options o;
	assert_true(PARSE(t, &o, "run", "--help") && o.help && o.command == CMD_run);
	assert_true(PARSE(t, &o, "opt", "-h") && o.help && o.command == CMD_opt);
	assert_true(PARSE(t, &o, "--help") && o.help && o.command == COMMAND_COUNT);
	assert_true(PARSE(t, &o, "--version") && o.version);
}

#define REFUSED(t, message, ...) refused(t, message, (char *[MOST]){ (char *)"tessera", __VA_ARGS__ })
static void refused(Fixture *t, const char *message, char *argv[MOST])
{
	Options o;
	fixture_said(t);
	const size_t before = t->nsaid;
	assert_false(parse(t, &o, argv));
	assert_string_equal(fixture_said(t) + before, message);
}

static void wrong_command_lines_are_explained(void **state)
{
	Fixture *t = *state;
	t->diag.limit = 1000;
	REFUSED(t, "tessera: error: no command; 'tessera --help' lists them\n", NULL);
	REFUSED(t, "tessera: error: no command 'verfy'\n"
		   "tessera: note: did you mean 'verify'?\n", "verfy", "m");
	REFUSED(t, "tessera: error: no command 'm.onnx'\n"
		   "tessera: note: 'tessera --help' lists them\n", "m.onnx");
	REFUSED(t, "tessera: error: '--version' stands alone\n", "--version", "x");
	REFUSED(t, "tessera: error: 'opt' wants a model\n", "opt");
	REFUSED(t, "tessera: error: one model only: 'a' and 'b'\n", "opt", "a", "b");
	REFUSED(t, "tessera: error: 'ops' takes no model: 'a'\n", "ops", "a");
	REFUSED(t, "tessera: error: 'run' has no option '--imput'\n"
		   "tessera: note: did you mean '--input'?\n", "run", "m", "--imput=x.npy");
	REFUSED(t, "tessera: error: 'run' has no option '--expect'\n"
		   "tessera: note: '--expect' is an option of verify\n", "run", "m", "--expect", "x.npy");
	REFUSED(t, "tessera: error: 'run' has no option '-x'\n"
		   "tessera: note: 'tessera run --help' lists them\n", "run", "m", "-x");
	REFUSED(t, "tessera: error: 'opt' has no option '-ofile'\n"
		   "tessera: note: 'tessera opt --help' lists them\n", "opt", "m", "-ofile");
	REFUSED(t, "tessera: error: '--timing' takes no value\n", "opt", "m", "--timing=yes");
	REFUSED(t, "tessera: error: '--dim' wants a value: --dim NAME=SIZE\n", "opt", "m", "--dim");
	REFUSED(t, "tessera: error: '--dim' wants a value: --dim NAME=SIZE\n", "opt", "m", "--dim",
		"--timing");
	REFUSED(t, "tessera: error: '--passes' is given twice\n", "opt", "m", "--passes=", "--passes=");
	REFUSED(t, "tessera: error: '--threads' wants a whole number, not '-1'\n", "run", "m",
		"--threads", "-1");
	REFUSED(t, "tessera: error: '--threads' wants a whole number, not '2x'\n", "run", "m",
		"--threads=2x");
	REFUSED(t, "tessera: error: '--threads' wants a whole number, not ''\n", "run", "m",
		"--threads=");
	REFUSED(t, "tessera: error: '--max-macs' wants a whole number, not '9223372036854775808'\n",
		"run", "m", "--max-macs=9223372036854775808");
	REFUSED(t, "tessera: error: '--random-input' wants a whole number of 64 bits, not "
		   "'18446744073709551616'\n", "run", "m", "--random-input=18446744073709551616");
	REFUSED(t, "tessera: error: '--min-pcc' wants a number that is not negative, not 'nan'\n",
		"verify", "m", "--min-pcc=nan");
	REFUSED(t, "tessera: error: '--max-err' wants a number that is not negative, not '1e-4x'\n",
		"verify", "m", "--max-err=1e-4x");
	REFUSED(t, "tessera: error: 'opt' has no option '--q'\n"
		   "tessera: note: 'tessera opt --help' lists them\n"
		   "tessera: error: 'opt' has no option '--y'\n"
		   "tessera: note: 'tessera opt --help' lists them\n", "opt", "--q", "--y");
}

static enum ExitCode read_inputs(Fixture *t, Inputs *in, const char *option, const char *value)
{
	Options o;
	assert_true(PARSE(t, &o, "verify", "m", (char *)(uintptr_t)option, (char *)(uintptr_t)value));
	return inputs_read(in, t->arena, &t->diag, &o);
}

static void dims_joined_by_x_are_a_shape(void **state)
{
	Fixture *t = *state;
	Inputs in;
	assert_int_equal(read_inputs(t, &in, "--input", "x=1x3x480x640"), EXIT_OK);
	assert_int_equal(in.ndata, 0);
	assert_string_equal(in.model.shapes[0].input, "x");
	assert_true(shape_equal(in.model.shapes[0].shape, SHAPE(1, 3, 480, 640)));
	assert_int_equal(read_inputs(t, &in, "--input", "7"), EXIT_OK);
	assert_null(in.model.shapes[0].input);
	assert_true(shape_equal(in.model.shapes[0].shape, SHAPE(7)));
}

static void anything_else_is_a_file(void **state)
{
	Fixture *t = *state;
	Inputs in;
	assert_int_equal(read_inputs(t, &in, "--input", "x=./1x3"), EXIT_MODEL);
	assert_int_equal(in.model.nshapes, 0);
	assert_string_equal(in.data[0].name, "x");
	assert_string_equal(fixture_said(t), "./1x3: error: cannot read: No such file or directory\n");
}

static void wrong_forms_are_usage_errors(void **state)
{
	static const struct {
		const char *option, *value, *said;
	} cases[] = {
		{ "--dim", "N", "'--dim' wants NAME=SIZE, not 'N'" },
		{ "--dim", "N=", "'--dim' wants NAME=SIZE, not 'N='" },
		{ "--dim", "=1", "'--dim' wants NAME=SIZE, not '=1'" },
		{ "--dim", "N=0", "'--dim' wants NAME=SIZE, not 'N=0'" },
		{ "--dim", "N=1x2", "'--dim' wants NAME=SIZE, not 'N=1x2'" },
		{ "--input", "x=", "'--input' wants [NAME=]F.npy or [NAME=]SHAPE, not 'x='" },
		{ "--input", "=1x2", "'--input' wants [NAME=]F.npy or [NAME=]SHAPE, not '=1x2'" },
		{ "--input", "1x0", "'--input 1x0': not a possible shape" },
		{ "--input", "999999999x999999999", "'--input 999999999x999999999': not a possible shape" },
		{ "--const", "x.npy", "'--const' wants NAME=F.npy, not 'x.npy'" },
		{ "--expect", "y=", "'--expect' wants [NAME=]F.npy, not 'y='" },
	};
	Fixture *t = *state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Inputs in;
		fixture_said(t);
		const size_t before = t->nsaid;
		assert_int_equal(read_inputs(t, &in, cases[i].option, cases[i].value), EXIT_USAGE);
		assert_string_equal(fixture_said(t) + before,
				    arena_printf(t->arena, "tessera: error: %s\n", cases[i].said));
	}
}

static void what_is_given_twice_is_refused(void **state)
{
	Fixture *t = *state;
	Options o;
	Inputs in;
	assert_true(PARSE(t, &o, "run", "m", "--dim=N=1", "--dim=N=2", "--input=x=1x2", "--input=x=3",
			  "--input=1", "--input=2", "--input=y=a", "--input=y=b", "--random-weights=1",
			  "--no-weights"));
	assert_int_equal(inputs_read(&in, t->arena, &t->diag, &o), EXIT_USAGE);
	assert_string_equal(fixture_said(t),
		"tessera: error: '--random-weights' and '--no-weights' exclude each other\n"
		"tessera: error: '--dim' gives 'N' twice\n"
		"tessera: error: '--input x=3': that input is given twice\n"
		"tessera: error: '--input 2': that input is given twice\n"
		"tessera: error: '--input y=b': that input is given twice\n");
}

static void data_is_for_commands_that_run(void **state)
{
	Fixture *t = *state;
	Options o;
	Inputs in;
	assert_true(PARSE(t, &o, "opt", "m", "--input=x=a.npy"));
	assert_int_equal(inputs_read(&in, t->arena, &t->diag, &o), EXIT_USAGE);
	assert_string_equal(fixture_said(t), "tessera: error: '--input a.npy': 'opt' takes shapes only, "
			    "such as 1x3x480x640\n");
}

/* A graph with inputs a, b, c. */
static void make_inputs(Fixture *t)
{
	for (char name[2] = "a"; *name <= 'c'; ++*name) {
		Op *x = graph_insert(t->g, NULL, OP_INPUT, name, 0, NULL);
		x->dtype = *name == 'b' ? TYPE_I8 : TYPE_F32;
		x->shape = SHAPE(2, 3);
	}
}

static void data_goes_to_inputs_by_name_and_then_in_order(void **state)
{
	Fixture *t = *state;
	Tensor one, two, three, *out[3];
	const NamedData data[] = { { NULL, "1", &one }, { "a", "2", &two }, { NULL, "3", &three } };
	make_inputs(t);
	assert_true(inputs_match(t->g, OP_INPUT, data, 3, OPT_INPUT, out));
	assert_ptr_equal(out[0], &two);
	assert_ptr_equal(out[1], &one);
	assert_ptr_equal(out[2], &three);
	const NamedData wrong[] = { { "d", "f.npy", &one }, { NULL, "1", &one }, { NULL, "2", &one },
				    { NULL, "3", &one }, { NULL, "4", &one } };
	assert_false(inputs_match(t->g, OP_INPUT, wrong, 5, OPT_INPUT, out));
	assert_string_equal(fixture_said(t),
		"tessera: error: '--input d=f.npy': the model has no such input, only 'a', 'b', 'c'\n"
		"tessera: error: '--input 4': the model has no more inputs, only 'a', 'b', 'c'\n");
}

static void inputs_without_data_are_named(void **state)
{
	Fixture *t = *state;
	make_inputs(t);
	assert_null(inputs_data(t->g, t->arena, &(Inputs){ 0 }));
	assert_string_equal(fixture_said(t),
		"tessera: error: input 'a' (f32 2x3) has no data: give --input a=F.npy or --random-input=SEED\n"
		"tessera: error: input 'b' (i8 2x3) has no data: give --input b=F.npy or --random-input=SEED\n"
		"tessera: error: input 'c' (f32 2x3) has no data: give --input c=F.npy or --random-input=SEED\n");
}

static void random_inputs_follow_the_seed(void **state)
{
	Fixture *t = *state;
	make_inputs(t);
	Tensor **a = inputs_data(t->g, t->arena, &(Inputs){ .random = true, .seed = 5 });
	Tensor **b = inputs_data(t->g, t->arena, &(Inputs){ .random = true, .seed = 5 });
	Tensor **c = inputs_data(t->g, t->arena, &(Inputs){ .random = true, .seed = 6 });
	for (int i = 0; i < 3; i++) {
		assert_true(tensor_equal(a[i], b[i]));
		assert_false(tensor_equal(a[i], c[i]));
		for (int k = 0; k < 6; k++)
			assert_true(i == 1 ? tensor_i64(a[i], k) >= 0 && tensor_i64(a[i], k) < 10
					   : tensor_f64(a[i], k) >= -1 && tensor_f64(a[i], k) < 1);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(a_value_follows_after_a_space_or_an_equals_sign),
		T(an_empty_value_is_a_value),
		T(two_dashes_end_the_options),
		T(every_64_bit_seed_is_taken),
		T(help_needs_no_model),
		T(wrong_command_lines_are_explained),
		T(dims_joined_by_x_are_a_shape),
		T(anything_else_is_a_file),
		T(wrong_forms_are_usage_errors),
		T(what_is_given_twice_is_refused),
		T(data_is_for_commands_that_run),
		T(data_goes_to_inputs_by_name_and_then_in_order),
		T(inputs_without_data_are_named),
		T(random_inputs_follow_the_seed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
