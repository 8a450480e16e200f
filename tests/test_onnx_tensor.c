/* Tensors of ONNX files: every way their elements may be stored. */
#include <unistd.h>

#include "tests/folder.h"
#include "tests/onnx_model.h"

/* A folder of our own, left and removed at the end. */
typedef struct Place {
	char folder[FOLDER_ROOM], before[4096];
} Place;

static Place enter_folder(void)
{
	Place p;
	assert_non_null(getcwd(p.before, sizeof p.before));
	folder_make(p.folder);
	assert_int_equal(chdir(p.folder), 0);
	return p;
}

static void leave_folder(const Place *p, const char *const files[], int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(unlink(files[i]), 0);
	assert_int_equal(chdir(p->before), 0);
	assert_int_equal(rmdir(p->folder), 0);
}

static void write_file(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* What onnx_read_tensor makes of a .pb with this message. */
static Tensor *read_back(Fixture *t, const Onnx__TensorProto *p, const char **name)
{
	const Place place = enter_folder();
	const size_t n = onnx__tensor_proto__get_packed_size(p);
	uint8_t *data = arena_alloc(t->arena, n);
	onnx__tensor_proto__pack(p, data);
	write_file("t.pb", data, n);
	Tensor *value = onnx_read_tensor(t->arena, &t->diag, "t.pb", name);
	leave_folder(&place, (const char *[]){ "t.pb" }, 1);
	return value;
}

/* A tensor of two elements with nothing in it yet. */
static Onnx__TensorProto *pair(Model *m, DType type)
{
	Onnx__TensorProto *p = model_tensor(m, "pair", tensor_create(m->t->arena, type, SHAPE(2)));
	p->has_raw_data = 0;
	return p;
}

static void a_pb_file_keeps_its_tensors_name(void **state)
{
	Fixture *t = *state;
	Model *m = model_create(t, 13);
	const char *name = NULL;
	Tensor *v = tensor_of_floats(t->arena, (float[]){ 1.5f, -2 }, 2);
	assert_true(tensor_equal(read_back(t, model_tensor(m, "w", v), &name), v));
	assert_string_equal(name, "w");
}

static void halves_in_int32_data_are_bits(void **state)
{
	Fixture *t = *state;
	Onnx__TensorProto *p = pair(model_create(t, 13), TYPE_F16);
	const char *name;
	p->n_int32_data = 2;
	p->int32_data = (int32_t[]){ 0x3c00, 0xc000 };
	Tensor *v = read_back(t, p, &name);
	assert_non_null(v);
	assert_int_equal(v->dtype, TYPE_F16);
	assert_true(tensor_f64(v, 0) == 1 && tensor_f64(v, 1) == -2);
}

static void u32_comes_in_uint64_data(void **state)
{
	Fixture *t = *state;
	Onnx__TensorProto *p = pair(model_create(t, 13), TYPE_U32);
	const char *name;
	p->n_uint64_data = 2;
	p->uint64_data = (uint64_t[]){ 7, UINT32_MAX };
	Tensor *v = read_back(t, p, &name);
	assert_non_null(v);
	assert_int_equal(v->dtype, TYPE_U32);
	assert_int_equal(tensor_i64(v, 1), UINT32_MAX);
}

static void an_element_that_its_type_does_not_hold_is_refused(void **state)
{
	Fixture *t = *state;
	Onnx__TensorProto *p = pair(model_create(t, 13), TYPE_I8);
	const char *name;
	p->n_int32_data = 2;
	p->int32_data = (int32_t[]){ -128, 128 };
	assert_null(read_back(t, p, &name));
	assert_string_equal(fixture_said(t),
		"t.pb: error: element 1 of int32_data is 128, which i8 does not hold\n");
}

static void a_count_that_differs_is_refused(void **state)
{
	Fixture *t = *state;
	Onnx__TensorProto *p = pair(model_create(t, 13), TYPE_F64);
	const char *name;
	p->n_double_data = 1;
	p->double_data = (double[]){ 1 };
	assert_null(read_back(t, p, &name));
	assert_string_equal(fixture_said(t),
		"t.pb: error: has 2 elements, but double_data holds 1\n");
}

static void bools_are_zero_or_one(void **state)
{
	Fixture *t = *state;
	Onnx__TensorProto *p = pair(model_create(t, 13), TYPE_BOOL);
	const char *name;
	p->has_raw_data = 1;
	p->raw_data = (ProtobufCBinaryData){ 2, (uint8_t[]){ 0, 200 } };
	Tensor *v = read_back(t, p, &name);
	assert_non_null(v);
	assert_int_equal(tensor_i64(v, 0), 0);
	assert_int_equal(tensor_i64(v, 1), 1);
}

static void external_data_is_used_where_it_lies(void **state)
{
	Fixture *t = *state;
	const Place place = enter_folder();
	Model *m = model_create(t, 13);
	const float w[] = { 9, 1, 2, 9 };
	write_file("w.bin", w, sizeof w);
	model_input(m, "x", TYPE_F32, "2");
	Onnx__TensorProto *p = model_weight(m, "w", TYPE_F32, SHAPE(2), 0);
	model_external(m, p, "w.bin");
	Onnx__StringStringEntryProto offset = *p->external_data[0], *entries[2];
	offset.key = (char *)"offset";
	offset.value = (char *)"4";
	entries[0] = &offset;
	entries[1] = p->external_data[0];
	p->external_data = entries;
	p->n_external_data = 2;
	model_node(m, "Add", "x w", "y");
	model_output(m, "y");
	const char *text = model_text(m);
	leave_folder(&place, (const char *[]){ "w.bin" }, 1);
	int nfiles;
	const char *const *files = arena_files_read(t->arena, &nfiles);
	assert_int_equal(nfiles, 1);
	assert_string_equal(files[0], "./w.bin");
	assert_string_equal(text,
		"%x = input : f32[2]\n"
		"%w = constant [0x1p+0, 0x1p+1] : f32[2]\n"
		"%y = add %x, %w {node = \"the_Add\"} : f32[2]\n"
		"%y.1 = output %y {node = \"y\"} : f32[2]\n");
}

static void weights_keep_their_type(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_BF16, "1x1x1x1");
	model_weight(m, "w", TYPE_BF16, SHAPE(1, 1, 1, 1), 0.5);
	model_node(m, "Conv", "x w", "y");
	model_output(m, "y");
	model_gives(m,
		"%x = input : bf16[1,1,1,1]\n"
		"%w = constant [0x1p-1] : bf16[1,1,1,1]\n"
		"%y = conv %x, %w {dilations = [1,1], node = \"the_Conv\", pads = [0,0,0,0], "
		"strides = [1,1]} : bf16[1,1,1,1]\n"
		"%y.1 = output %y {node = \"y\"} : bf16[1,1,1,1]\n");
}

static void large_weights_stay_where_the_file_has_them(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_F32, "100");
	model_weight(m, "w", TYPE_F32, SHAPE(100), 0.5);
	model_node(m, "Add", "x w", "y");
	model_output(m, "y");
	Graph *g = model_parse(m);
	assert_non_null(g);
	const Tensor *w = op_value(graph_find(g, "w"));
	const char *data = w->data;
	assert_true(data > m->bytes.data && data + 400 <= m->bytes.data + m->bytes.size);
	assert_true(tensor_f64(w, 99) == 0.5);
}

static void fields_no_one_knows_are_passed_over(void **state)
{
	Model *m = model_create(*state, 13);
	/* The field under which the reader notes where raw_data lies. */
	ProtobufCMessageUnknownField field = { 1000, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, 17,
					       (uint8_t *)"\020abcdefghijklmnop" };
	model_input(m, "x", TYPE_F32, "2");
	Onnx__TensorProto *w = model_weight(m, "w", TYPE_F32, SHAPE(2), 0.5);
	w->base.n_unknown_fields = 1;
	w->base.unknown_fields = &field;
	model_node(m, "Add", "x w", "y");
	model_output(m, "y");
	Graph *g = model_parse(m);
	assert_non_null(g);
	assert_true(tensor_f64(op_value(graph_find(g, "w")), 1) == 0.5);
}

static void mixed_types_are_refused(void **state)
{
	Model *m = model_create(*state, 13);
	model_input(m, "x", TYPE_F32, "1x1x1x1");
	model_weight(m, "w", TYPE_F16, SHAPE(1, 1, 1, 1), 0.5);
	model_node(m, "Conv", "x w", "y");
	model_output(m, "y");
	model_fails(m, "m.onnx: node \"the_Conv\" (Conv): error: conv: input 0 is f32, input 1 is f16\n");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(a_pb_file_keeps_its_tensors_name),
		T(halves_in_int32_data_are_bits),
		T(u32_comes_in_uint64_data),
		T(an_element_that_its_type_does_not_hold_is_refused),
		T(a_count_that_differs_is_refused),
		T(bools_are_zero_or_one),
		T(external_data_is_used_where_it_lies),
		T(weights_keep_their_type),
		T(large_weights_stay_where_the_file_has_them),
		T(fields_no_one_knows_are_passed_over),
		T(mixed_types_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
