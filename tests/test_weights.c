/* Weight files: what is written reads back; what others write is read. */
#include <math.h>
#include <sys/stat.h>

#include "tests/weights_fixture.h"

static const DType types[] = {
#define TYPE(id, ...) TYPE_##id,
#include "ir/types.def"
};
enum { NTYPES = sizeof types / sizeof *types };

static const Shape shapes[] = {
	{ 0 }, { 1, { 7 } }, { 2, { 3, 0 } }, { 4, { 2, 3, 1, 5 } },
	{ 8, { 1, 2, 1, 2, 1, 2, 1, 2 } },
};
enum { NSHAPES = sizeof shapes / sizeof *shapes };

static void every_type_and_shape_survives_npy(void **state)
{
	Fixture *t = *state;
	for (int i = 0; i < NTYPES; i++)
		for (int s = 0; s < NSHAPES; s++) {
			Tensor *x = counting(t->arena, types[i], shapes[s]);
			assert_true(npy_write(t->arena, &t->diag, path_of(t, "x.npy"), x));
			Tensor *y = npy_read(t->arena, &t->diag, path_of(t, "x.npy"));
			assert_non_null(y);
			if (types[i] == TYPE_BF16)
				x = tensor_to_f32(t->arena, x);
			assert_true(tensor_equal(x, y));
		}
	assert_string_equal(said(t), "");
}

static void every_type_and_shape_survives_dat(void **state)
{
	Fixture *t = *state;
	for (int i = 0; i < NTYPES; i++)
		for (int s = 0; s < NSHAPES; s++) {
			Tensor *x = counting(t->arena, types[i], shapes[s]);
			assert_true(dat_write(t->arena, &t->diag, path_of(t, "x.dat"), x));
			Tensor *y = dat_read(t->arena, &t->diag, (Loc){ 0 }, path_of(t, "x.dat"));
			assert_non_null(y);
			if (types[i] == TYPE_BF16)
				x = tensor_to_f32(t->arena, x);
			assert_true(tensor_equal(x, y));
		}
	assert_string_equal(said(t), "");
}

static void every_type_and_shape_survives_safetensors(void **state)
{
	Fixture *t = *state;
	const char *names[NTYPES * NSHAPES];
	const Tensor *tensors[NTYPES * NSHAPES];
	int n = 0;
	for (int i = 0; i < NTYPES; i++)
		for (int s = 0; s < NSHAPES; s++) {
			names[n] = arena_printf(t->arena, "a \"%d\"\\\n\xc3\xa4.%d", i, s);
			tensors[n++] = counting(t->arena, types[i], shapes[s]);
		}
	const char *path = path_of(t, "w.safetensors");
	assert_true(safetensors_write(t->arena, &t->diag, path, n, names, tensors));
	WeightFile *w = weights_open(t->arena, &t->diag, path);
	assert_non_null(w);
	assert_int_equal(w->n, n);
	for (int i = 0; i < n; i++)
		assert_true(tensor_equal(weights_find(w, names[i]), tensors[i]));
	assert_null(weights_find(w, "a"));
	assert_string_equal(said(t), "");
}

static void a_splat_is_written_out(void **state)
{
	Fixture *t = *state;
	Tensor *x = tensor_splat(t->arena, TYPE_F32, SHAPE(3, 5), 2.5, 0);
	const char *name = "x";
	assert_true(npy_write(t->arena, &t->diag, path_of(t, "x.npy"), x));
	assert_true(dat_write(t->arena, &t->diag, path_of(t, "x.dat"), x));
	assert_true(safetensors_write(t->arena, &t->diag, path_of(t, "x.safetensors"), 1, &name,
				      (const Tensor *[]){ x }));
	const char *files[] = { "x.npy", "x.dat", "x.safetensors" };
	for (int i = 0; i < 3; i++) {
		WeightFile *w = weights_open(t->arena, &t->diag, path_of(t, files[i]));
		assert_true(tensor_equal(weights_find(w, "x"), x));
		assert_false(weights_find(w, "x")->splat);
	}
}

/* What NumPy 1.24 writes for np.arange(6, dtype='<f4').reshape(2, 3). */
static const char numpy_header[] =
	"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
	"                                                          \n";

static void npy_bytes_are_those_of_numpy(void **state)
{
	Fixture *t = *state;
	assert_int_equal(sizeof numpy_header - 1, 128);
	Tensor *x = counting(t->arena, TYPE_F32, SHAPE(2, 3));
	assert_true(npy_write(t->arena, &t->diag, path_of(t, "x.npy"), x));
	Bytes b = file_map(t->arena, &t->diag, (Loc){ 0 }, path_of(t, "x.npy"));
	assert_int_equal(b.size, 128 + 24);
	assert_memory_equal(b.data, numpy_header, 128);
	assert_memory_equal(b.data + 128, x->data, 24);
}

static Tensor *parse_npy(Fixture *t, const char *dict, const void *data, size_t size)
{
	char *file = arena_alloc(t->arena, 1024);
	int n = snprintf(file, 1024, "\x93NUMPY%c%c%c%c%s", 1, 1, (int)strlen(dict), 1, dict);
	file[7] = file[9] = '\0';
	memcpy(file + n, data, size);
	return npy_parse(t->arena, &t->diag, "x.npy", file, (size_t)n + size);
}

static void column_major_arrays_are_transposed(void **state)
{
	Fixture *t = *state;
	const int8_t columns[] = { 0, 3, 1, 4, 2, 5 };
	Tensor *x = parse_npy(t, "{\"shape\":(2L,3L),'descr':'|i1','fortran_order':True}", columns, 6);
	assert_true(tensor_equal(x, counting(t->arena, TYPE_I8, SHAPE(2, 3))));
	assert_true(x->owned);
}

static void big_endian_arrays_are_swapped(void **state)
{
	Fixture *t = *state;
	const char bytes[] = { 0, 0, 0, 1, 0, 2 };
	Tensor *x = parse_npy(t, "{'descr': '>u2', 'fortran_order': False, 'shape': (3,)}", bytes, 6);
	assert_true(tensor_equal(x, counting(t->arena, TYPE_U16, SHAPE(3))));
}

static void bools_become_zero_or_one(void **state)
{
	Fixture *t = *state;
	Tensor *x = parse_npy(t, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", "\2\0\xff", 3);
	assert_int_equal(tensor_i64(x, 0), 1);
	assert_int_equal(tensor_i64(x, 1), 0);
	assert_int_equal(tensor_i64(x, 2), 1);
}

static void npy_versions_2_and_3_have_a_wide_header_length(void **state)
{
	Fixture *t = *state;
	for (char version = 2; version <= 3; version++) {
		char file[256];
		const char dict[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }";
		int n = snprintf(file, sizeof file, "\x93NUMPY%c0%c000%s", version,
				 (int)sizeof dict - 1, dict);
		file[7] = file[9] = file[10] = file[11] = '\0';
		memcpy(file + n, &(float){ 1.5f }, 4);
		Tensor *x = npy_parse(t->arena, &t->diag, "x.npy", file, (size_t)n + 4);
		assert_non_null(x);
		assert_int_equal(x->shape.rank, 0);
		assert_true(tensor_f64(x, 0) == 1.5);
	}
}

static void old_dat_headers_are_read(void **state)
{
	Fixture *t = *state;
	char file[136] = "N\xef\1\0\4\0\0\0\2\0\0\0\2\0\0\0\2\0\0\0";
	file[44] = 8;
	file[48] = 1; /* unsigned */
	memcpy(file + 132, "\0\1\2\3", 4);
	Tensor *x = dat_parse(t->arena, &t->diag, "x.dat", file, 136);
	assert_true(tensor_equal(x, counting(t->arena, TYPE_U8, SHAPE(2, 2))));
	file[52] = 1; /* no: signed */
	memcpy(file + 128, "\0\1\2\3", 4);
	x = dat_parse(t->arena, &t->diag, "x.dat", file, 132);
	assert_true(tensor_equal(x, counting(t->arena, TYPE_I8, SHAPE(2, 2))));
}

static void bools_of_one_bit_start_at_the_highest(void **state)
{
	Fixture *t = *state;
	Tensor *x = tensor_create(t->arena, TYPE_BOOL, SHAPE(10));
	tensor_set_i64(x, 0, 1);
	tensor_set_i64(x, 9, 1);
	assert_true(dat_write(t->arena, &t->diag, path_of(t, "x.dat"), x));
	Bytes b = file_map(t->arena, &t->diag, (Loc){ 0 }, path_of(t, "x.dat"));
	assert_int_equal(b.size, 130);
	assert_int_equal(b.data[44], 1);
	assert_memory_equal(b.data + 128, "\x80\x40", 2);
	assert_true(tensor_equal(dat_parse(t->arena, &t->diag, "x", b.data, b.size), x));
}

static void elements_stay_in_the_mapping(void **state)
{
	Fixture *t = *state;
	Tensor *x = counting(t->arena, TYPE_F32, SHAPE(1000, 1000));
	const char *name = "x", *files[] = { "x.npy", "x.dat", "x.safetensors" };
	assert_true(npy_write(t->arena, &t->diag, path_of(t, files[0]), x));
	assert_true(dat_write(t->arena, &t->diag, path_of(t, files[1]), x));
	assert_true(safetensors_write(t->arena, &t->diag, path_of(t, files[2]), 1, &name,
				      (const Tensor *[]){ x }));
	size_t before = arena_bytes(t->arena);
	for (int i = 0; i < 3; i++)
		assert_true(tensor_equal(weights_find(weights_open(t->arena, &t->diag,
				path_of(t, files[i])), "x"), x));
	assert_true(arena_bytes(t->arena) - before < 100000);
}

static void a_folder_is_all_weight_files_below_it(void **state)
{
	Fixture *t = *state;
	Tensor *x = counting(t->arena, TYPE_F32, SHAPE(3));
	Tensor *y = counting(t->arena, TYPE_I8, SHAPE(2));
	mkdir(path_of(t, "conv1"), 0777);
	assert_true(dat_write(t->arena, &t->diag, path_of(t, "conv1/filter.dat"), x));
	assert_true(npy_write(t->arena, &t->diag, path_of(t, "bias.npy"), y));
	assert_true(safetensors_write(t->arena, &t->diag, path_of(t, "rest.safetensors"), 1,
				      (const char *[]){ "z" }, (const Tensor *[]){ x }));
	write_file(t, "notes.txt", "hello", 5);
	WeightFile *w = weights_open(t->arena, &t->diag, t->dir);
	assert_non_null(w);
	assert_int_equal(w->n, 3);
	assert_true(tensor_equal(weights_find(w, "conv1/filter"), x));
	assert_true(tensor_equal(weights_find(w, "bias"), y));
	assert_true(tensor_equal(weights_find(w, "z"), x));
	assert_true(npy_write(t->arena, &t->diag, path_of(t, "z.npy"), x));
	assert_null(weights_open(t->arena, &t->diag, t->dir));
	assert_string_equal(said(t), arena_printf(t->arena,
		"%s/z.npy: error: tensor 'z' is also in another file of '%s'\n", t->dir, t->dir));
}

static void the_content_decides_and_not_the_name(void **state)
{
	Fixture *t = *state;
	Tensor *x = counting(t->arena, TYPE_F32, SHAPE(3));
	assert_true(dat_write(t->arena, &t->diag, path_of(t, "x.npy"), x));
	assert_true(tensor_equal(weights_find(weights_open(t->arena, &t->diag, path_of(t, "x.npy")), "x"), x));
	write_file(t, "x.bin", "hello, world", 12);
	assert_null(weights_open(t->arena, &t->diag, path_of(t, "x.bin")));
	assert_string_equal(said(t), arena_printf(t->arena, "%s/x.bin: error: not a weight file: "
		"neither .npy, .npz, .safetensors nor NNEF .dat\n", t->dir));
	write_file(t, "e.npz", "", 0);
	assert_null(weights_open(t->arena, &t->diag, path_of(t, "e.npz")));
	assert_string_equal(said(t), arena_printf(t->arena, "%s/e.npz: error: not a whole zip "
		"archive: it has no end record\n", t->dir));
}

static void a_dump_holds_once_each_constant_that_text_does_not_spell(void **state)
{
	Fixture *t = *state;
	Graph *g = graph_create(t->arena, &t->diag, "g");
	Tensor *large = counting(t->arena, TYPE_F32, SHAPE(PRINT_INLINE + 1));
	graph_constant(g, NULL, "a", large);
	graph_constant(g, NULL, "b", counting(t->arena, TYPE_F32, SHAPE(PRINT_INLINE + 1)));
	graph_constant(g, NULL, "small", counting(t->arena, TYPE_F32, SHAPE(PRINT_INLINE)));
	graph_constant(g, NULL, "splat", tensor_splat(t->arena, TYPE_I8, SHAPE(10, 10), 0, 7));
	Tensor *elided = arena_new(t->arena, Tensor);
	*elided = (Tensor){ .dtype = TYPE_F32, .shape = SHAPE(100), .hash = 1 };
	graph_constant(g, NULL, "elided", elided);
	assert_true(weights_dump(g, &t->diag, path_of(t, "d.safetensors")));
	WeightFile *w = weights_open(t->arena, &t->diag, path_of(t, "d.safetensors"));
	assert_int_equal(w->n, 1);
	const char *name = arena_printf(t->arena, "%016llx", (unsigned long long)tensor_hash(large));
	assert_true(tensor_equal(weights_find(w, name), large));
}

static void random_weights_are_the_same_everywhere(void **state)
{
	Fixture *t = *state;
	Tensor *k = weights_random(t->arena, 7, "conv1/filter", WEIGHT_KERNEL, 27, SHAPE(8, 3, 3, 3));
	Tensor *b = weights_random(t->arena, 7, "conv1/bias", WEIGHT_BIAS, 27, SHAPE(100));
	Tensor *v = weights_random(t->arena, 7, "bn1/variance", WEIGHT_VARIANCE, 1, SHAPE(100));
	/* Computed apart from this code, in Python, from the header of random_weights.c. */
	assert_true(tensor_f64(k, 0) == -0x1.6b5d520000000p-4);
	assert_true(tensor_f64(k, 215) == 0x1.2a2ca80000000p-1);
	assert_true(tensor_f64(b, 0) == -0x1.4455340000000p-6);
	assert_true(tensor_f64(b, 99) == -0x1.cd61740000000p-5);
	assert_true(tensor_f64(v, 0) == 0x1.314dac0000000p-1);
	assert_true(tensor_f64(v, 99) == 0x1.5d46bc0000000p-1);
	Tensor *other = weights_random(t->arena, 8, "conv1/filter", WEIGHT_KERNEL, 27, SHAPE(8, 3, 3, 3));
	assert_false(tensor_equal(k, other));
	other = weights_random(t->arena, 7, "conv2/filter", WEIGHT_KERNEL, 27, SHAPE(8, 3, 3, 3));
	assert_false(tensor_equal(k, other));
}

static void random_weights_have_their_distribution(void **state)
{
	Fixture *t = *state;
	enum { N = 100000 };
	const struct {
		WeightRole role;
		double mean, deviation, low, high;
	} want[] = {
		{ WEIGHT_KERNEL, 0, 0.1, -0.35, 0.35 }, /* fan_in 200 */
		{ WEIGHT_BIAS, 0, 0.1 / sqrt(3), -0.1, 0.1 },
		{ WEIGHT_MEAN, 0, 0.1 / sqrt(3), -0.1, 0.1 },
		{ WEIGHT_SCALE, 1, 0.5 / sqrt(3), 0.5, 1.5 },
		{ WEIGHT_VARIANCE, 1, 0.5 / sqrt(3), 0.5, 1.5 },
	};
	for (size_t r = 0; r < sizeof want / sizeof *want; r++) {
		Tensor *x = weights_random(t->arena, 1, "w", want[r].role, 200, SHAPE(N));
		double sum = 0, squares = 0;
		for (int i = 0; i < N; i++) {
			double v = tensor_f64(x, i), c = v - want[r].mean;
			sum += c;
			squares += c * c;
			assert_true(v >= (float)want[r].low && v <= (float)want[r].high);
		}
		/* Five deviations of the mean and of the variance of N numbers. */
		assert_true(fabs(sum / N) < 5 * want[r].deviation / sqrt(N));
		assert_true(fabs(sqrt(squares / N) / want[r].deviation - 1) < 5 / sqrt(2.0 * N));
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(every_type_and_shape_survives_npy),
		T(every_type_and_shape_survives_dat),
		T(every_type_and_shape_survives_safetensors),
		T(a_splat_is_written_out),
		T(npy_bytes_are_those_of_numpy),
		T(column_major_arrays_are_transposed),
		T(big_endian_arrays_are_swapped),
		T(bools_become_zero_or_one),
		T(npy_versions_2_and_3_have_a_wide_header_length),
		T(old_dat_headers_are_read),
		T(bools_of_one_bit_start_at_the_highest),
		T(elements_stay_in_the_mapping),
		T(a_folder_is_all_weight_files_below_it),
		T(the_content_decides_and_not_the_name),
		T(a_dump_holds_once_each_constant_that_text_does_not_spell),
		T(random_weights_are_the_same_everywhere),
		T(random_weights_have_their_distribution),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
