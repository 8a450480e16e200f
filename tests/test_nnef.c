/* NNEF models with their weights, and the models this project ships. */
#include "frontend/model.h"
#include "frontend/nnef.h"
#include "runtime/ref/ref.h"
#include "tests/weights_fixture.h"

static const char text[] = "version 1.0;\n"
			   "graph g(x) -> (y)\n"
			   "{\n"
			   "    x = external(shape = [1, 2]);\n"
			   "    w = variable(shape = [3, 2], label = 'a/w');\n"
			   "    b = variable(shape = [1, 3], label = 'b');\n"
			   "    y = linear(x, w, b);\n"
			   "}\n";

static void write_model(Fixture *t)
{
	write_file(t, "graph.nnef", text, sizeof text - 1);
	assert_true(make_folder(&t->diag, path_of(t, "a")));
}

static Graph *read_model(Fixture *t, ModelOptions opt)
{
	return nnef_read(t->arena, &t->diag, t->dir, &opt);
}

static Graph *read_shapes(Fixture *t, const ShapeOption *shape)
{
	return read_model(t, (ModelOptions){ .no_weights = true, .nshapes = 1, .shapes = shape });
}

static void write_weight(Fixture *t, const char *name, Shape shape)
{
	const Tensor *w = counting(t->arena, TYPE_F32, shape);
	assert_true(dat_write(t->arena, &t->diag, path_of(t, name), w));
}

static void weights_lie_beside_the_graph_under_their_labels(void **state)
{
	Fixture *t = *state;
	write_model(t);
	write_weight(t, "a/w.dat", SHAPE(3, 2));
	write_weight(t, "b.dat", SHAPE(1, 3));
	Graph *g = read_model(t, (ModelOptions){ 0 });
	assert_string_equal(said(t), "");
	assert_true(tensor_equal(graph_find(g, "w")->value, counting(t->arena, TYPE_F32, SHAPE(3, 2))));
	assert_true(tensor_equal(graph_find(g, "b")->value, counting(t->arena, TYPE_F32, SHAPE(3))));
	assert_false(graph_find(g, "w")->value->owned); /* mapped, not copied */
}

static void missing_weights_are_all_named(void **state)
{
	Fixture *t = *state;
	write_model(t);
	assert_null(read_model(t, (ModelOptions){ 0 }));
	const char *want = arena_printf(t->arena,
		"%s/graph.nnef:5:9: error: no weight 'a/w': there is no '%s/a/w.dat'\n"
		"        w = variable(shape = [3, 2], label = 'a/w');\n"
		"            ^\n"
		"%s/graph.nnef: note: " WEIGHTS_HELP "\n"
		"%s/graph.nnef:6:9: error: no weight 'b': there is no '%s/b.dat'\n"
		"        b = variable(shape = [1, 3], label = 'b');\n"
		"            ^\n", t->dir, t->dir, t->dir, t->dir, t->dir);
	assert_string_equal(said(t), want);
}

static void a_weight_of_another_shape_is_refused(void **state)
{
	Fixture *t = *state;
	write_model(t);
	write_weight(t, "a/w.dat", SHAPE(2, 3));
	write_weight(t, "b.dat", SHAPE(1, 3));
	assert_null(read_model(t, (ModelOptions){ 0 }));
	const char *want = arena_printf(t->arena,
		"%s/graph.nnef:5:9: error: weight 'a/w' is 2x3, the variable is 3x2\n"
		"        w = variable(shape = [3, 2], label = 'a/w');\n"
		"            ^\n", t->dir);
	assert_string_equal(said(t), want);
}

static void weights_come_from_a_file_of_another_format(void **state)
{
	Fixture *t = *state;
	const char *names[] = { "a/w", "b" };
	const Tensor *weights[] = { counting(t->arena, TYPE_F16, SHAPE(3, 2)),
				    counting(t->arena, TYPE_F32, SHAPE(3)) };
	write_model(t);
	assert_true(safetensors_write(t->arena, &t->diag, path_of(t, "w.safetensors"), 2, names,
				      weights));
	Graph *g = read_model(t, (ModelOptions){ .weights = path_of(t, "w.safetensors") });
	assert_string_equal(said(t), "");
	assert_true(tensor_equal(graph_find(g, "w")->value, counting(t->arena, TYPE_F32, SHAPE(3, 2))));
	assert_true(tensor_equal(graph_find(g, "b")->value, counting(t->arena, TYPE_F32, SHAPE(3))));
}

static void a_weight_missing_there_too_is_named(void **state)
{
	Fixture *t = *state;
	const char *name = "b";
	const Tensor *weight = counting(t->arena, TYPE_F32, SHAPE(3));
	write_model(t);
	assert_true(safetensors_write(t->arena, &t->diag, path_of(t, "w.safetensors"), 1, &name,
				      &weight));
	assert_null(read_model(t, (ModelOptions){ .weights = path_of(t, "w.safetensors") }));
	assert_non_null(strstr(said(t), arena_printf(t->arena,
		"5:9: error: no weight 'a/w': there is no '%s/a/w.dat', and none in '%s/w.safetensors'\n",
		t->dir, t->dir)));
}

static void random_weights_follow_seed_and_use(void **state)
{
	Fixture *t = *state;
	write_model(t);
	Graph *g = read_model(t, (ModelOptions){ .random_weights = true, .seed = 7 });
	assert_non_null(g);
	assert_true(tensor_equal(graph_find(g, "w")->value,
				 weights_random(t->arena, 7, "a/w", WEIGHT_KERNEL, 2, SHAPE(3, 2))));
	assert_int_equal(tensor_hash(graph_find(g, "b")->value),
			 tensor_hash(tensor_reshaped(t->arena, weights_random(t->arena, 7, "b", WEIGHT_BIAS,
			 0, SHAPE(1, 3)), SHAPE(3))));
}

static void without_weights_the_shapes_are_still_found(void **state)
{
	Fixture *t = *state;
	write_model(t);
	Graph *g = read_model(t, (ModelOptions){ .no_weights = true });
	assert_string_equal(said(t), "");
	assert_null(graph_find(g, "w")->value->data);
	assert_true(shape_equal(graph_find(g, "y")->shape, SHAPE(1, 3)));
}

static void an_external_takes_the_shape_asked_for(void **state)
{
	Fixture *t = *state;
	const ShapeOption five = { NULL, SHAPE(5, 2) }, cube = { "x", SHAPE(5, 2, 1) };
	const ShapeOption other = { "z", SHAPE(1) };
	write_model(t);
	Graph *g = read_shapes(t, &five);
	assert_string_equal(said(t), "");
	assert_true(shape_equal(graph_find(g, "y")->shape, SHAPE(5, 3)));
	assert_null(read_shapes(t, &cube));
	assert_non_null(strstr(said(t), "error: external: 'x' has 2 dims, asked to be 5x2x1\n"));
	assert_null(read_shapes(t, &other));
	assert_non_null(strstr(said(t), "graph.nnef: error: no input 'z' to give a shape\n"));
}

static void a_known_input_is_a_constant(void **state)
{
	Fixture *t = *state;
	const KnownInput known = { "x", counting(t->arena, TYPE_F32, SHAPE(1, 2)) };
	write_model(t);
	ModelOptions opt = { .no_weights = true, .nknown = 1, .known = &known };
	Graph *g = model_read(t->arena, &t->diag, t->dir, &opt);
	assert_int_equal(graph_find(g, "x")->kind, OP_CONSTANT);
}

static void quantization_is_not_ignored_silently(void **state)
{
	Fixture *t = *state;
	write_model(t);
	write_file(t, "graph.quant", "", 0);
	assert_non_null(read_model(t, (ModelOptions){ .no_weights = true }));
	assert_string_equal(said(t), arena_printf(t->arena, "%s/graph.quant: warning: quantization is ignored\n",
						  t->dir));
}

static void the_table_of_operations_can_be_listed(void **state)
{
	(void)state;
	const char *name, *prototype, *why;
	int n = 0, missing = 0;
	for (; nnef_op_row(n, &name, &prototype, &why); n++)
		missing += why != NULL;
	assert_true(n > 110);
	assert_true(missing < 20);
	assert_false(nnef_op_row(-1, &name, &prototype, &why));
}

/* Multiply-accumulates as counted by hand from the layers' sizes. */
static void our_models_are_what_they_say(void **state)
{
	Fixture *t = *state;
	static const struct {
		const char *path;
		int convs, norms;
		int64_t macs;
	} models[] = {
		{ "models/vanilla_unet.nnef", 19, 18, 56583782400 },
		{ "models/shallow_unet.nnef", 23, 22, 3469762560 },
		{ "models/vgg_unet.nnef", 22, 21, 0 },
		{ "models/resnet_block.nnef", 15, 15, 0 },
	};
	for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
		ModelOptions opt = { .no_weights = true };
		int convs = 0, norms = 0;
		Graph *g = nnef_read(t->arena, &t->diag, models[i].path, &opt);
		assert_string_equal(said(t), "");
		assert_true(graph_verify(g));
		for_each_op(op, g) {
			convs += op->kind == OP_CONV;
			norms += op->kind == OP_BATCH_NORM;
		}
		assert_int_equal(convs, models[i].convs);
		assert_int_equal(norms, models[i].norms);
		if (models[i].macs)
			assert_int_equal(ref_macs(g), models[i].macs);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(weights_lie_beside_the_graph_under_their_labels),
		TEST(missing_weights_are_all_named),
		TEST(a_weight_of_another_shape_is_refused),
		TEST(weights_come_from_a_file_of_another_format),
		TEST(a_weight_missing_there_too_is_named),
		TEST(random_weights_follow_seed_and_use),
		TEST(without_weights_the_shapes_are_still_found),
		TEST(an_external_takes_the_shape_asked_for),
		TEST(a_known_input_is_a_constant),
		TEST(quantization_is_not_ignored_silently),
		TEST(the_table_of_operations_can_be_listed),
		TEST(our_models_are_what_they_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
