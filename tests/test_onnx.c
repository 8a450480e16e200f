/* What graph the ONNX reader makes of a model: forms and traps. */
#include "frontend/weights.h"
#include "tests/onnx_model.h"

static void conv_padded(Fixture *t, const char *auto_pad, const char *graph)
{
	Model *m = model_create(t, 13);
	model_input(m, "x", TYPE_F32, "1x1x8x7");
	model_weight(m, "w", TYPE_F32, SHAPE(1, 1, 3, 3), 0.5);
	model_node(m, "Conv", "x w", "y");
	model_string(m, "auto_pad", auto_pad);
	model_list(m, "strides", INTS(t->arena, 2, 2));
	model_output(m, "y");
	model_gives(m, graph);
}

#define X_AND_W \
	"%x = input : f32[1,1,8,7]\n" \
	"%w = constant [0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1] : " \
	"f32[1,1,3,3]\n"

static void same_upper_puts_the_odd_padding_at_the_end(void **state)
{
	conv_padded(*state, "SAME_UPPER",
		X_AND_W
		"%y = conv %x, %w {dilations = [1,1], node = \"the_Conv\", pads = [0,1,1,1], "
		"strides = [2,2]} : f32[1,1,4,4]\n"
		"%y.1 = output %y {node = \"y\"} : f32[1,1,4,4]\n");
}

static void same_lower_puts_the_odd_padding_at_the_start(void **state)
{
	conv_padded(*state, "SAME_LOWER",
		X_AND_W
		"%y = conv %x, %w {dilations = [1,1], node = \"the_Conv\", pads = [1,1,0,1], "
		"strides = [2,2]} : f32[1,1,4,4]\n"
		"%y.1 = output %y {node = \"y\"} : f32[1,1,4,4]\n");
}

static void valid_pads_nothing(void **state)
{
	conv_padded(*state, "VALID",
		X_AND_W
		"%y = conv %x, %w {dilations = [1,1], node = \"the_Conv\", pads = [0,0,0,0], "
		"strides = [2,2]} : f32[1,1,3,3]\n"
		"%y.1 = output %y {node = \"y\"} : f32[1,1,3,3]\n");
}

static void conv_transposed(Fixture *t, Ints output_shape, const char *conv)
{
	Model *m = model_create(t, 13);
	model_input(m, "x", TYPE_F32, "1x1x3x3");
	model_weight(m, "w", TYPE_F32, SHAPE(1, 1, 2, 2), 1);
	model_node(m, "ConvTranspose", "x w", "y");
	model_list(m, "strides", INTS(t->arena, 3, 3));
	model_list(m, "output_shape", output_shape);
	model_output(m, "y");
	assert_non_null(strstr(model_text(m), conv));
}

static void output_shape_takes_padding_away_first_at_the_start(void **state)
{
	Fixture *t = *state;
	conv_transposed(t, INTS(t->arena, 7, 6),
		"{dilations = [1,1], node = \"the_ConvTranspose\", pads = [1,1,0,1], "
		"strides = [3,3]} : f32[1,1,7,6]\n");
}

static void output_shape_beyond_the_windows_becomes_output_padding(void **state)
{
	Fixture *t = *state;
	conv_transposed(t, INTS(t->arena, 10, 8),
		"{dilations = [1,1], node = \"the_ConvTranspose\", output_padding = [2,0], "
		"pads = [0,0,0,0], strides = [3,3]} : f32[1,1,10,8]\n");
}

static void weights_behind_constant_and_identity_are_constants(void **state)
{
	Fixture *t = *state;
	Model *m = model_create(t, 13);
	model_input(m, "x", TYPE_F32, "2x1");
	model_node(m, "Constant", "", "c");
	model_attr(m, "value", MODEL_ATTR(TENSOR))->t =
		model_tensor(m, "", tensor_of_floats(t->arena, (float[]){ 1, 2 }, 2));
	model_node(m, "Identity", "c", "w");
	model_node(m, "Mul", "x w", "y");
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[2,1]\n"
		"%w = constant [0x1p+0, 0x1p+1] {node = \"the_Identity\"} : f32[2]\n"
		"%y = mul %x, %w {node = \"the_Mul\"} : f32[2,2]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2,2]\n");
}

static void an_initializer_among_the_inputs_is_no_input(void **state)
{
	Model *m = model_create(*state, 7);
	model_input(m, "w", TYPE_F32, "1");
	model_input(m, "x", TYPE_F32, "2");
	model_input(m, "unused", TYPE_I64, "3");
	model_weight(m, "w", TYPE_F32, SHAPE(1), 1);
	model_weight(m, "not_read", TYPE_F32, SHAPE(1), 1);
	model_node(m, "Add", "x w", "y");
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[2]\n"
		"%unused = input : i64[3]\n"
		"%w = constant [0x1p+0] : f32[1]\n"
		"%y = add %x, %w {node = \"the_Add\"} : f32[2]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2]\n");
}

static void shape_sub_graphs_fold_away(void **state)
{
	Fixture *t = *state;
	Model *m = model_create(t, 11);
	model_input(m, "x", TYPE_F32, "2x3x4x5");
	model_initializer(m, "zero", tensor_splat(t->arena, TYPE_I64, (Shape){ 0 }, 0, 0));
	model_ints(m, "rest", INTS(t->arena, -1));
	model_node(m, "Shape", "x", "shape");
	model_node(m, "Gather", "shape zero", "n");
	model_node(m, "Unsqueeze", "n", "n1");
	model_list(m, "axes", INTS(t->arena, 0));
	model_node(m, "Concat", "n1 rest", "to");
	model_int(m, "axis", 0);
	model_node(m, "Reshape", "x to", "y");
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[2,3,4,5]\n"
		"%y = reshape %x {node = \"the_Reshape\", shape = [2,60]} : f32[2,60]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2,60]\n");
}

static void dead_nodes_do_not_matter(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_F32, "2");
	model_weight(m, "wrong", TYPE_F32, SHAPE(1), 1)->raw_data.len = 3;
	model_node(m, "NoSuchOp", "x wrong", "z");
	model_node(m, "Relu", "x", "y");
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[2]\n"
		"%y = relu %x {node = \"the_Relu\"} : f32[2]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2]\n");
}

static void upsample_is_asymmetric(void **state)
{
	Fixture *t = *state;
	Model *m = model_create(t, 9);
	model_input(m, "x", TYPE_F32, "1x1x2x3");
	model_initializer(m, "s", tensor_of_floats(t->arena, (float[]){ 1, 1, 2, 2 }, 4));
	model_node(m, "Upsample", "x s", "y");
	model_string(m, "mode", "linear");
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[1,1,2,3]\n"
		"%y = resize %x {coord = asymmetric, mode = linear, nearest = floor, node = \"the_Upsample\", "
		"scales = [1,1,2,2], sizes = [1,1,4,6]} : f32[1,1,4,6]\n"
		"%y.1 = output %y {node = \"y\"} : f32[1,1,4,6]\n");
}

static void resize_keeps_the_aspect_of_the_named_axes(void **state)
{
	Fixture *t = *state;
	Model *m = model_create(t, 18);
	model_input(m, "x", TYPE_F32, "1x1x4x6");
	model_ints(m, "sizes", INTS(t->arena, 9, 8));
	model_node(m, "Resize", "x - - sizes", "y");
	model_list(m, "axes", INTS(t->arena, -1, 2));
	model_string(m, "keep_aspect_ratio_policy", "not_larger");
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[1,1,4,6]\n"
		"%y = resize %x {node = \"the_Resize\", scales = [1,1,1.5,1.5], sizes = [1,1,6,9]} : "
		"f32[1,1,6,9]\n"
		"%y.1 = output %y {node = \"y\"} : f32[1,1,6,9]\n");
}

static void old_softmax_joins_the_dims_from_its_axis_on(void **state)
{
	Model *m = model_create(*state, 12);
	model_input(m, "x", TYPE_F32, "2x3x4");
	model_node(m, "Softmax", "x", "y");
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[2,3,4]\n"
		"%y.rows = reshape %x {node = \"the_Softmax\", shape = [2,12]} : f32[2,12]\n"
		"%y.softmax = softmax %y.rows {axis = 1, node = \"the_Softmax\"} : f32[2,12]\n"
		"%y = reshape %y.softmax {node = \"the_Softmax\", shape = [2,3,4]} : f32[2,3,4]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2,3,4]\n");
}

static void old_softmax_over_one_real_dim_stays_one_op(void **state)
{
	Model *m = model_create(*state, 12);
	model_input(m, "x", TYPE_F32, "2x3x1x1");
	model_node(m, "Softmax", "x", "y");
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[2,3,1,1]\n"
		"%y = softmax %x {axis = 1, node = \"the_Softmax\"} : f32[2,3,1,1]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2,3,1,1]\n");
}

static void before_opset_7_operands_are_aligned_at_an_axis(void **state)
{
	Model *m = model_create(*state, 6);
	model_input(m, "x", TYPE_F32, "2x3x4x5");
	model_weight(m, "b", TYPE_F32, SHAPE(3), 1);
	model_weight(m, "s", TYPE_F32, SHAPE(3), 2);
	model_node(m, "Add", "x b", "sum");
	model_int(m, "broadcast", 1);
	model_int(m, "axis", 1);
	model_node(m, "PRelu", "sum s", "y");
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[2,3,4,5]\n"
		"%sum.wide = constant [0x1p+0, 0x1p+0, 0x1p+0] {node = \"the_Add\"} : f32[3,1,1]\n"
		"%sum = add %x, %sum.wide {node = \"the_Add\"} : f32[2,3,4,5]\n"
		"%y.slope = constant [0x1p+1, 0x1p+1, 0x1p+1] {node = \"the_PRelu\"} : f32[3,1,1]\n"
		"%y = prelu %sum, %y.slope {node = \"the_PRelu\"} : f32[2,3,4,5]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2,3,4,5]\n");
}

static void split_becomes_slices_named_after_its_outputs(void **state)
{
	Model *m = model_create(*state, 18);
	model_input(m, "x", TYPE_F32, "1x5");
	model_node(m, "Split", "x", "a b");
	model_int(m, "axis", -1);
	model_int(m, "num_outputs", 2);
	model_output(m, "b");
	model_output(m, "a");
	model_gives(m,
		"%x = input : f32[1,5]\n"
		"%a = slice %x {counts = [1,3], node = \"the_Split\", starts = [0,0], steps = [1,1]} : f32[1,3]\n"
		"%b = slice %x {counts = [1,2], node = \"the_Split\", starts = [0,3], steps = [1,1]} : f32[1,2]\n"
		"%b.1 = output %b {node = \"b\"} : f32[1,2]\n"
		"%a.1 = output %a {node = \"a\"} : f32[1,3]\n");
}

static void gemm_as_exporters_write_it_is_one_linear(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_F32, "1x3");
	model_weight(m, "w", TYPE_F32, SHAPE(2, 3), 1);
	model_weight(m, "b", TYPE_F32, SHAPE(2), 4);
	model_node(m, "Gemm", "x w b", "y");
	model_int(m, "transB", 1);
	model_float(m, "alpha", 0.5);
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[1,3]\n"
		"%b = constant [0x1p+2, 0x1p+2] : f32[2]\n"
		"%y.weights = constant [0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1] "
		"{node = \"the_Gemm\"} : f32[2,3]\n"
		"%y = linear %x, %y.weights, %b {node = \"the_Gemm\"} : f32[1,2]\n"
		"%y.1 = output %y {node = \"y\"} : f32[1,2]\n");
}

static void gemm_of_variables_scales_and_adds_afterwards(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_F32, "2x3");
	model_input(m, "w", TYPE_F32, "3x2");
	model_input(m, "c", TYPE_F32, "2x2");
	model_node(m, "Gemm", "x w c", "y");
	model_float(m, "alpha", 2);
	model_output(m, "y");
	model_gives(m,
		"%x = input : f32[2,3]\n"
		"%w = input : f32[3,2]\n"
		"%c = input : f32[2,2]\n"
		"%y.b = transpose %w {node = \"the_Gemm\", perm = [1,0]} : f32[2,3]\n"
		"%y.product = linear %x, %y.b {node = \"the_Gemm\"} : f32[2,2]\n"
		"%y.factor = constant splat 0x1p+1 {node = \"the_Gemm\"} : f32[]\n"
		"%y.scaled = mul %y.product, %y.factor {node = \"the_Gemm\"} : f32[2,2]\n"
		"%y = add %y.scaled, %c {node = \"the_Gemm\"} : f32[2,2]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2,2]\n");
}

static void clip_with_bounds_that_vary_is_max_and_min(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_I32, "2");
	model_input(m, "low", TYPE_I32, "");
	model_weight(m, "high", TYPE_I32, (Shape){ 0 }, 6);
	model_node(m, "Clip", "x low high", "y");
	model_output(m, "y");
	model_gives(m,
		"%x = input : i32[2]\n"
		"%low = input : i32[]\n"
		"%high = constant [6] : i32[]\n"
		"%y.low = max %x, %low {node = \"the_Clip\"} : i32[2]\n"
		"%y = min %y.low, %high {node = \"the_Clip\"} : i32[2]\n"
		"%y.1 = output %y {node = \"y\"} : i32[2]\n");
}

static void a_known_input_used_for_its_value_is_gone(void **state)
{
	Fixture *t = *state;
	Model *m = model_create(t, 13);
	model_input(m, "x", TYPE_F32, "2x6");
	model_input(m, "to", TYPE_I64, "2");
	model_node(m, "Neg", "to", "back");
	model_node(m, "Abs", "back", "shape");
	model_node(m, "Reshape", "x shape", "y");
	model_output(m, "y");
	m->options = (ModelOptions){ .nknown = 1, .known = &(KnownInput){
		"to", tensor_of_ints(t->arena, (int64_t[]){ 3, 4 }, 2) } };
	model_gives(m,
		"%x = input : f32[2,6]\n"
		"%y = reshape %x {node = \"the_Reshape\", shape = [3,4]} : f32[3,4]\n"
		"%y.1 = output %y {node = \"y\"} : f32[3,4]\n");
}

static void open_dims_are_closed_by_name(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_F32, "Nx3xH");
	model_node(m, "Relu", "x", "y");
	model_output(m, "y");
	m->options = (ModelOptions){ .ndims = 2, .dims = (DimOption[]){ { "H", 7 }, { "N", 2 } } };
	model_gives(m,
		"%x = input : f32[2,3,7]\n"
		"%y = relu %x {node = \"the_Relu\"} : f32[2,3,7]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2,3,7]\n");
}

static void data_closes_open_dims_and_no_others(void **state)
{
	Fixture *t = *state;
	Model *m = model_create(t, 13);
	model_input(m, "x", TYPE_F32, "Nx3");
	model_input(m, "k", TYPE_F32, "Nx3");
	model_input(m, "y", TYPE_F32, "Nx?");
	model_input(m, "z", TYPE_F32, NULL);
	for (const char *name = "xkyz"; *name; name++) {
		const char *in = arena_strndup(t->arena, name, 1);
		model_node(m, "Relu", in, arena_printf(t->arena, "%s_out", in));
		model_output(m, arena_printf(t->arena, "%s_out", in));
	}
	m->options = (ModelOptions){
		.nknown = 1, .known = &(KnownInput){ "k", tensor_create(t->arena, TYPE_F32, SHAPE(1, 3)) },
		.ndims = 1, .dims = &(DimOption){ "N", 1 },
		.ndata = 3, .data = (ShapeOption[]){ { NULL, SHAPE(7, 9) }, { "z", SHAPE(4) },
						     { NULL, SHAPE(6, 5) } },
	};
	const Graph *g = model_parse(m);
	assert_non_null(g);
	assert_true(shape_equal(graph_find(g, "x")->shape, SHAPE(1, 3)));
	assert_true(shape_equal(graph_find(g, "y")->shape, SHAPE(1, 5)));
	assert_true(shape_equal(graph_find(g, "z")->shape, SHAPE(4)));
}

static void a_given_shape_replaces_the_models_with_a_warning(void **state)
{
	Fixture *t = *state;
	Model *m = model_create(t, 13);
	model_input(m, "x", TYPE_F32, "?x3x8");
	model_node(m, "Relu", "x", "y");
	model_output(m, "y");
	const ShapeOption given = { NULL, SHAPE(2, 3, 9) };
	m->options = (ModelOptions){ .nshapes = 1, .shapes = &given };
	model_gives(m,
		"%x = input : f32[2,3,9]\n"
		"%y = relu %x {node = \"the_Relu\"} : f32[2,3,9]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2,3,9]\n");
	assert_string_equal(fixture_said(t),
		"m.onnx: input 'x': warning: dim 2 is 8 in the model, 9 by --input\n");
}

static void helpers_do_not_take_the_models_names(void **state)
{
	Model *m = model_create(*state, 18);
	model_input(m, "x", TYPE_F32, "2");
	model_node(m, "Mish", "x", "y");
	model_node(m, "Relu", "y", "y.tanh");
	model_output(m, "y.tanh");
	model_gives(m,
		"%x = input : f32[2]\n"
		"%y.softplus = softplus %x {node = \"the_Mish\"} : f32[2]\n"
		"%y.tanh1 = tanh %y.softplus {node = \"the_Mish\"} : f32[2]\n"
		"%y = mul %x, %y.tanh1 {node = \"the_Mish\"} : f32[2]\n"
		"%y.tanh = relu %y {node = \"the_Relu\"} : f32[2]\n"
		"%y.tanh.1 = output %y.tanh {node = \"y.tanh\"} : f32[2]\n");
}

/* A conv whose weights are in a file that does not exist. */
static Model *without_weights(Fixture *t)
{
	Model *m = model_create(t, 13);
	model_input(m, "x", TYPE_F32, "1x1x2x2");
	model_external(m, model_weight(m, "w", TYPE_F32, SHAPE(65, 1, 1, 1), 0), "nowhere.bin");
	model_node(m, "Conv", "x w", "y");
	model_output(m, "y");
	return m;
}

static void missing_weights_are_made_up_if_asked_for(void **state)
{
	Model *m = without_weights(*state);
	m->options = (ModelOptions){ .random_weights = true, .seed = 7 };
	Graph *g = model_parse(m);
	assert_non_null(g);
	assert_true(tensor_equal(op_value(graph_find(g, "w")),
		weights_random(m->t->arena, 7, "w", WEIGHT_KERNEL, 1, SHAPE(65, 1, 1, 1))));
}

static void missing_weights_stay_away_if_asked_for(void **state)
{
	Model *m = without_weights(*state);
	m->options = (ModelOptions){ .no_weights = true };
	Graph *g = model_parse(m);
	assert_non_null(g);
	assert_true(graph_verify(g));
	assert_null(op_value(graph_find(g, "w")));
}

static void the_table_of_ops_is_sorted(void **state)
{
	(void)state;
	for (int i = 1; onnx_op_row(i); i++)
		assert_true(strcmp(onnx_op_row(i - 1)->name, onnx_op_row(i)->name) < 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(same_upper_puts_the_odd_padding_at_the_end),
		T(same_lower_puts_the_odd_padding_at_the_start),
		T(valid_pads_nothing),
		T(output_shape_takes_padding_away_first_at_the_start),
		T(output_shape_beyond_the_windows_becomes_output_padding),
		T(weights_behind_constant_and_identity_are_constants),
		T(an_initializer_among_the_inputs_is_no_input),
		T(shape_sub_graphs_fold_away),
		T(dead_nodes_do_not_matter),
		T(upsample_is_asymmetric),
		T(resize_keeps_the_aspect_of_the_named_axes),
		T(old_softmax_joins_the_dims_from_its_axis_on),
		T(old_softmax_over_one_real_dim_stays_one_op),
		T(before_opset_7_operands_are_aligned_at_an_axis),
		T(split_becomes_slices_named_after_its_outputs),
		T(gemm_as_exporters_write_it_is_one_linear),
		T(gemm_of_variables_scales_and_adds_afterwards),
		T(clip_with_bounds_that_vary_is_max_and_min),
		T(a_known_input_used_for_its_value_is_gone),
		T(open_dims_are_closed_by_name),
		T(data_closes_open_dims_and_no_others),
		T(a_given_shape_replaces_the_models_with_a_warning),
		T(helpers_do_not_take_the_models_names),
		T(missing_weights_are_made_up_if_asked_for),
		T(missing_weights_stay_away_if_asked_for),
		T(the_table_of_ops_is_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
