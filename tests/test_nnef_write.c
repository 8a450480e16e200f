/* The text and the folder the NNEF writer makes. */
#include "frontend/model.h"
#include "tests/weights_fixture.h"

static Graph *parse(Fixture *t, const char *ir)
{
	Graph *g = text_parse(t->arena, &t->diag, "test.ir", ir, strlen(ir), &(ModelOptions){ 0 });
	assert_string_equal(said(t), "");
	return g;
}

static const char *read_text(Fixture *t, const char *name)
{
	Bytes b = file_map(t->arena, &t->diag, (Loc){ 0 }, path_of(t, name));
	assert_non_null(b.data);
	return arena_strndup(t->arena, b.data, b.size);
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static const char small[] = "graph \"small\"\n"
			    "%x = input : f32[1,2]\n"
			    "%w = constant [1, 2] {node = \"a/w\"} : f32[1,2]\n"
			    "%y = linear %x, %w : f32[1,1]\n"
			    "%y.1 = output %y {node = \"y\"} : f32[1,1]\n";

static void the_text_is_flat_and_strict(void **state)
{
	Fixture *t = *state;
	Graph *g = parse(t,
		"graph \"2 nets\"\n"
		"%in = input : f32[1,2,4,4]\n"
		"%0 = constant [1, 2, 3, 4] : f32[2,2,1,1]\n"
		"%b.b = constant [0.5, 1] : f32[2]\n"
		"%\"/c\" = conv %in, %0, %b.b {act = leaky_relu(alpha = 0.1), dilations = [1,1], pads = [0,1,0,1], "
		"strides = [1,1]} : f32[1,2,4,6]\n"
		"%two = constant [2] : f32[]\n"
		"%per = constant [3, 4] : f32[2,1,1]\n"
		"%m = mul %\"/c\", %per : f32[1,2,4,6]\n"
		"%s = add %m, %two : f32[1,2,4,6]\n"
		"%out = output %s {node = \"mask\"} : f32[1,2,4,6]\n"
		"%out2 = output %s {node = \"again\"} : f32[1,2,4,6]\n");
	assert_true(nnef_write(g, &t->diag, path_of(t, "m")));
	assert_string_equal(read_text(t, "m/graph.nnef"),
		"# written by tessera convert\n"
		"version 1.0;\n"
		"\n"
		"graph _2_nets(_in) -> (mask, again)\n"
		"{\n"
		"    _in = external(shape = [1, 2, 4, 4]);  # in\n"
		"    _0 = variable(shape = [2, 2, 1, 1], label = '_0');  # 0\n"
		"    b_b = variable(shape = [1, 2], label = 'b_b');  # b.b\n"
		"    per = variable(shape = [1, 2, 1, 1], label = 'per');\n"
		"    _c_linear = conv(_in, _0, b_b, stride = [1, 1], dilation = [1, 1], "
		"padding = [(0, 0), (1, 1)], groups = 1);\n"
		"    _c = leaky_relu(_c_linear, alpha = 0.1);  # /c\n"
		"    m = mul(_c, per);\n"
		"    mask = add(m, 2.0);  # s\n"
		"    again = copy(mask);\n"
		"}\n");
	assert_int_equal(entries(path_of(t, "m")), 4);
}

static void labels_stay_what_they_were(void **state)
{
	Fixture *t = *state;
	assert_true(nnef_write(parse(t, small), &t->diag, path_of(t, "m")));
	assert_non_null(strstr(read_text(t, "m/graph.nnef"), "label = 'a/w'"));
	Tensor *w = dat_read(t->arena, &t->diag, (Loc){ 0 }, path_of(t, "m/a/w.dat"));
	assert_true(tensor_equal(w, graph_find(parse(t, small), "w")->value));
}

static void every_op_without_a_form_is_named_and_nothing_is_written(void **state)
{
	Fixture *t = *state;
	Graph *g = parse(t, "%x = input : f32[2]\n"
			    "%a = erf %x : f32[2]\n"
			    "%b = reduce_prod %a {axes = [0]} : f32[]\n"
			    "%y = output %b : f32[]\n");
	assert_false(nnef_write(g, &t->diag, path_of(t, "m")));
	assert_string_equal(said(t),
		"test.ir:2:6: error: erf 'a' has no form in strict NNEF: NNEF has no such operation\n"
		"    %a = erf %x : f32[2]\n"
		"         ^\n"
		"test.ir:3:6: error: reduce_prod 'b' has no form in strict NNEF: NNEF has no such operation\n"
		"    %b = reduce_prod %a {axes = [0]} : f32[]\n"
		"         ^\n");
	assert_int_equal(entries(t->dir), 0);
}

static void hints_are_not_lost_silently(void **state)
{
	Fixture *t = *state;
	Graph *g = parse(t, "%x = input : f32[2]\n"
			    "%a = relu %x {hints = [place = \"l1\"]} : f32[2]\n"
			    "%y = output %a : f32[2]\n");
	assert_true(nnef_write(g, &t->diag, path_of(t, "m")));
	assert_string_equal(said(t), arena_printf(t->arena,
		"%s/m: warning: strict NNEF has no hints: those on 1 op are left out\n", t->dir));
}

static void a_constant_without_data_is_refused(void **state)
{
	Fixture *t = *state;
	Graph *g = parse(t, small);
	graph_find(g, "w")->value = &(Tensor){ .dtype = TYPE_F32, .shape = SHAPE(1, 2), .hash = 1 };
	assert_false(nnef_write(g, &t->diag, path_of(t, "m")));
	assert_non_null(strstr(said(t), "constant 'w' has no data\n"));
	assert_int_equal(entries(t->dir), 0);
}

static void a_folder_of_someone_else_is_left_alone(void **state)
{
	Fixture *t = *state;
	write_file(t, "notes", "mine", 4);
	assert_false(nnef_write(parse(t, small), &t->diag, t->dir));
	const char *want = arena_printf(t->arena,
		"%s: error: cannot write: the folder is not empty and holds no model converted before\n", t->dir);
	assert_string_equal(said(t), want);
	assert_false(nnef_write(parse(t, small), &t->diag, path_of(t, "notes")));
	assert_non_null(strstr(said(t), "notes: error: cannot write: it is a file, not a folder\n"));
	assert_int_equal(entries(t->dir), 1);
}

static void a_folder_converted_before_is_replaced(void **state)
{
	Fixture *t = *state;
	assert_true(make_folder(&t->diag, path_of(t, "m/empty")) && rmdir(path_of(t, "m/empty")) == 0);
	assert_true(nnef_write(parse(t, small), &t->diag, path_of(t, "m/")));
	Graph *g = parse(t, "%x = input : f32[2]\n%y = relu %x : f32[2]\n%z = output %y : f32[2]\n");
	assert_true(nnef_write(g, &t->diag, path_of(t, "m")));
	assert_string_equal(said(t), "");
	assert_int_equal(entries(path_of(t, "m")), 1);
	assert_int_equal(entries(t->dir), 1);
}

static void what_was_added_to_a_converted_folder_is_kept(void **state)
{
	Fixture *t = *state;
	assert_true(nnef_write(parse(t, small), &t->diag, path_of(t, "m")));
	write_file(t, "m/notes", "mine", 4);
	assert_true(nnef_write(parse(t, small), &t->diag, path_of(t, "m")));
	assert_non_null(strstr(said(t), "warning: what convert did not write was kept here\n"));
	assert_int_equal(entries(path_of(t, "m")), 2);
	assert_int_equal(entries(t->dir), 2);
}

static void a_place_that_cannot_be_written_is_reported(void **state)
{
	Fixture *t = *state;
	write_file(t, "file", "", 0);
	assert_false(nnef_write(parse(t, small), &t->diag, path_of(t, "file/m")));
	assert_non_null(strstr(said(t), "error: cannot"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_text_is_flat_and_strict),
		TEST(labels_stay_what_they_were),
		TEST(every_op_without_a_form_is_named_and_nothing_is_written),
		TEST(hints_are_not_lost_silently),
		TEST(a_constant_without_data_is_refused),
		TEST(a_folder_of_someone_else_is_left_alone),
		TEST(a_folder_converted_before_is_replaced),
		TEST(what_was_added_to_a_converted_folder_is_kept),
		TEST(a_place_that_cannot_be_written_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
