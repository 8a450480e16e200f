/* What the ONNX reader says of models it refuses. */
#include <math.h>
#include <unistd.h>

#include "tests/folder.h"
#include "tests/onnx_model.h"

/* x -> Relu -> y, to be spoilt. */
static Model *sound_model(void *state)
{
	static const DimOption height = { "H", 8 };
	Model *m = model_create(state, 13);
	model_input(m, "x", TYPE_F32, "1x3xHx8");
	model_node(m, "Relu", "x", "y");
	model_output(m, "y");
	m->options = (ModelOptions){ .ndims = 1, .dims = &height };
	return m;
}

/* x -> OP -> y with more operands and attributes to come. */
static Model *model_of(void *state, int64_t opset, const char *op, const char *operands)
{
	Model *m = model_create(state, opset);
	model_input(m, "x", TYPE_F32, "1x3x8x8");
	model_node(m, op, operands, "y");
	model_output(m, "y");
	return m;
}

static void every_unsupported_op_is_named_at_once(void **state)
{
	Model *m = sound_model(*state);
	model_node(m, "LSTM", "y", "a");
	model_node(m, "LSTM", "a", "b")->name = NULL;
	model_node(m, "Conv", "b", "c")->domain = (char *)"com.example";
	m->opset.version = 6;
	model_node(m, "Upsample", "c", "d");
	m->graph.output[0]->name = (char *)"d";
	model_fails(m,
		"m.onnx: error: ops not supported: LSTM x2 (first: node \"the_LSTM\" (LSTM)), "
		"com.example.Conv x1 (first: node \"the_Conv\" (Conv)), "
		"Upsample of opset 6 (read from 7 on) x1 (first: node \"the_Upsample\" (Upsample))\n"
		"m.onnx: note: 'tessera ops' lists those that are\n");
}

static void a_node_before_what_it_reads_is_out_of_order(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_F32, "1");
	model_node(m, "Relu", "z", "y");
	model_node(m, "Neg", "x", "z");
	model_output(m, "y");
	model_fails(m, "m.onnx: node \"the_Relu\" (Relu): error: "
		       "reads 'z' before it is made by node \"the_Neg\" (Neg)\n");
}

static void a_cycle_is_called_one(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_F32, "1");
	model_node(m, "Add", "x z", "y");
	model_node(m, "Neg", "y", "z");
	model_output(m, "y");
	model_fails(m, "m.onnx: node \"the_Add\" (Add): error: "
		       "is part of a cycle: 'z' depends on its own value\n");
}

static void open_dims_are_listed_with_their_flags(void **state)
{
	Model *m = sound_model(*state);
	m->options.ndims = 0;
	model_fails(m, "m.onnx: input 'x': error: dims not fixed: H; give --dim H=SIZE, "
		       "or --input x=SHAPE\n");
}

static void nameless_open_dims_want_a_whole_shape(void **state)
{
	Model *m = sound_model(*state);
	m->graph.input[0] = model_value(m, "x", TYPE_F32, "?x3xHx8");
	model_fails(m, "m.onnx: input 'x': error: dims not fixed: ?; give --input x=SHAPE\n");
}

static void options_that_name_nothing_get_a_suggestion(void **state)
{
	Model *m = sound_model(*state);
	const ShapeOption shape = { "xx", SHAPE(1) };
	m->options = (ModelOptions){ .ndims = 2, .dims = (DimOption[]){ { "H", 8 }, { "h", 1 } },
				     .nshapes = 1, .shapes = &shape };
	model_fails(m, "m.onnx: error: --dim h: the model has no such dim\n"
		       "m.onnx: note: did you mean 'H'?\n"
		       "m.onnx: error: --input xx: the model has no such input\n"
		       "m.onnx: note: did you mean 'x'?\n");
}

static void a_nameless_shape_wants_a_single_input(void **state)
{
	Model *m = sound_model(*state);
	const ShapeOption shape = { NULL, SHAPE(1, 3, 8, 8) };
	model_input(m, "z", TYPE_F32, "1x3x8x8");
	m->options = (ModelOptions){ .nshapes = 1, .shapes = &shape };
	model_fails(m, "m.onnx: error: --input without a name: the model has 2 inputs\n");
}

static void attributes_no_one_knows_are_refused(void **state)
{
	Model *m = model_of(*state, 13, "Relu", "x");
	model_float(m, "slope", 1);
	model_fails(m, "m.onnx: node \"the_Relu\" (Relu): error: has no attribute 'slope'\n");
}

static void attributes_given_twice_are_refused(void **state)
{
	Model *m = model_of(*state, 13, "Softmax", "x");
	model_int(m, "axis", 1);
	model_int(m, "axis", 2);
	model_fails(m, "m.onnx: node \"the_Softmax\" (Softmax): error: has twice the attribute 'axis'\n");
}

static void attributes_of_the_wrong_type_are_refused(void **state)
{
	Model *m = model_of(*state, 13, "Softmax", "x");
	model_string(m, "axis", "1");
	model_fails(m, "m.onnx: node \"the_Softmax\" (Softmax): error: "
		       "attribute 'axis' is a string, not an int\n");
}

static void operands_that_must_be_constant_name_the_input(void **state)
{
	Model *m = model_of(*state, 13, "Expand", "x shape");
	model_input(m, "s", TYPE_I64, "4");
	m->graph.n_node = 0;
	model_node(m, "Abs", "s", "shape");
	model_node(m, "Expand", "x shape", "y");
	model_fails(m, "m.onnx: node \"the_Expand\" (Expand): error: "
		       "shape ('shape') must be constant, but depends on input 's': give --const s=F.npy\n");
}

static void one_error_does_not_hide_the_next(void **state)
{
	Fixture *t = *state;
	Model *m = model_of(t, 13, "Softmax", "x");
	model_int(m, "axis", 9);
	model_node(m, "Relu", "y", "after"); /* silent: its input is broken */
	model_node(m, "Transpose", "x", "z");
	model_list(m, "perm", INTS(t->arena, 0, 0));
	model_output(m, "after");
	model_output(m, "z");
	model_fails(m,
		"m.onnx: node \"the_Softmax\" (Softmax): error: axis 9 is out of range for 4 dims\n"
		"m.onnx: node \"the_Transpose\" (Transpose): error: "
		"transpose: perm is not a permutation of 4 dims\n");
}

static void outputs_of_another_type_than_declared_are_refused(void **state)
{
	Model *m = sound_model(*state);
	m->graph.output[0] = model_value(m, "y", TYPE_F16, NULL);
	model_fails(m, "m.onnx: output 'y': error: is declared as f16, but is made as f32\n");
}

static void training_is_refused(void **state)
{
	Fixture *t = *state;
	Model *m = model_of(t, 13, "Dropout", "x - yes");
	Tensor *yes = tensor_create(t->arena, TYPE_BOOL, (Shape){ 0 });
	tensor_set_i64(yes, 0, 1);
	model_initializer(m, "yes", yes);
	model_fails(m, "m.onnx: node \"the_Dropout\" (Dropout): error: "
		       "is in training mode, which is not supported\n");
}

static void weights_that_are_not_numbers_are_refused(void **state)
{
	Fixture *t = *state;
	Model *m = model_of(t, 13, "Conv", "x w");
	Tensor *w = tensor_create(t->arena, TYPE_F32, SHAPE(600, 3, 1, 1));
	tensor_set_f64(w, 1700, HUGE_VAL);
	model_initializer(m, "w", w);
	model_fails(m, "m.onnx: node \"the_Conv\" (Conv): error: "
		       "conv: weights 'w' are inf at element 1700\n");
}

static void a_wrong_output_count_is_refused(void **state)
{
	Model *m = model_of(*state, 13, "Relu", "x");
	m->graph.node[0]->n_output = model_names(m, "y z", &m->graph.node[0]->output);
	model_fails(m, "m.onnx: node \"the_Relu\" (Relu): error: makes at most 1 outputs, has 2\n");
}

static void weights_of_another_size_are_refused(void **state)
{
	Model *m = model_of(*state, 13, "Add", "x w");
	model_weight(m, "w", TYPE_F32, SHAPE(8), 1)->raw_data.len = 31;
	model_fails(m, "m.onnx: initializer 'w': error: needs 32 bytes, but raw_data has 31\n");
}

static void a_sparse_weight_is_called_one(void **state)
{
	Model *m = model_of(*state, 13, "Add", "x w");
	Onnx__SparseTensorProto sparse = ONNX__SPARSE_TENSOR_PROTO__INIT, *list = &sparse;
	sparse.values = model_weight(m, "w", TYPE_F32, SHAPE(8), 1);
	m->graph.n_initializer = 0;
	m->graph.n_sparse_initializer = 1;
	m->graph.sparse_initializer = &list;
	model_fails(m, "m.onnx: node \"the_Add\" (Add): error: "
		       "reads 'w', a sparse tensor, which is not supported\n");
}

static void names_with_control_characters_are_made_printable(void **state)
{
	Model *m = sound_model(*state);
	m->graph.node[0]->name = (char *)"a\033[2Jb\n";
	m->graph.node[0]->op_type = (char *)"No\tOp";
	model_fails(m, "m.onnx: error: ops not supported: No?Op x1 (first: node \"a?[2Jb?\" (No?Op))\n"
		       "m.onnx: note: 'tessera ops' lists those that are\n");
}

static void a_cut_file_is_truncated_everywhere(void **state)
{
	Fixture *t = *state;
	Model *m = sound_model(t);
	Bytes b = model_pack(m);
	t->diag.limit = 100000;
	for (size_t n = 0; n < b.size; n++) {
		const int before = t->diag.errors;
		/* An exact copy, so that a read past its end is seen. */
		char *copy = xmalloc(n);
		memcpy(copy, b.data, n);
		assert_null(onnx_parse(t->arena, &t->diag, "m", (Bytes){ copy, n }, &m->options));
		assert_true(t->diag.errors > before);
		free(copy);
	}
}

static void external_data(void *state, const char *location, const char *said)
{
	Model *m = model_of(state, 13, "Add", "x w");
	model_external(m, model_weight(m, "w", TYPE_F32, SHAPE(8), 1), location);
	model_fails(m, said);
}

static void external_data_may_not_climb_out(void **state)
{
	external_data(*state, "a/../../w.bin",
		"m.onnx: initializer 'w': error: "
		"its external data 'a/../../w.bin' lies outside the model's folder: copy it there\n");
}

static void external_data_may_not_be_linked_out(void **state)
{
	char folder[FOLDER_ROOM], here[4096];
	assert_non_null(getcwd(here, sizeof here));
	folder_make(folder);
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(symlink("/etc/passwd", "w.bin"), 0);
	external_data(*state, "w.bin",
		"m.onnx: initializer 'w': error: "
		"its external data 'w.bin' lies outside the model's folder: copy it there\n");
	assert_int_equal(unlink("w.bin"), 0);
	assert_int_equal(chdir(here), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* Attributes within graphs within attributes, `depth` times. */
static void messages_nested_too_deep_are_refused(void **state)
{
	Fixture *t = *state;
	Model *m = sound_model(t);
	Onnx__GraphProto *inner = NULL;
	for (int depth = 0; depth < 40; depth++) {
		Onnx__GraphProto *g = model_message(m, Onnx__GraphProto, ONNX__GRAPH_PROTO__INIT);
		g->node = arena_array(t->arena, Onnx__NodeProto *, 1);
		model_node(m, "If", "", "z");
		model_attr(m, "then_branch", MODEL_ATTR(GRAPH))->g = inner;
		g->node[g->n_node++] = m->graph.node[--m->graph.n_node];
		inner = g;
	}
	model_attr(m, "g", MODEL_ATTR(GRAPH))->g = inner;
	Graph *g = model_parse(m);
	assert_null(g);
	assert_non_null(strstr(fixture_said(t), "m.onnx: error: messages nest more than 100 deep"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(every_unsupported_op_is_named_at_once),
		T(a_node_before_what_it_reads_is_out_of_order),
		T(a_cycle_is_called_one),
		T(open_dims_are_listed_with_their_flags),
		T(nameless_open_dims_want_a_whole_shape),
		T(options_that_name_nothing_get_a_suggestion),
		T(a_nameless_shape_wants_a_single_input),
		T(attributes_no_one_knows_are_refused),
		T(attributes_given_twice_are_refused),
		T(attributes_of_the_wrong_type_are_refused),
		T(operands_that_must_be_constant_name_the_input),
		T(one_error_does_not_hide_the_next),
		T(outputs_of_another_type_than_declared_are_refused),
		T(training_is_refused),
		T(weights_that_are_not_numbers_are_refused),
		T(a_wrong_output_count_is_refused),
		T(weights_of_another_size_are_refused),
		T(a_sparse_weight_is_called_one),
		T(names_with_control_characters_are_made_printable),
		T(a_cut_file_is_truncated_everywhere),
		T(external_data_may_not_climb_out),
		T(external_data_may_not_be_linked_out),
		T(messages_nested_too_deep_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
