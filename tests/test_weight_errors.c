/* Weight files that are wrong: one clear error each, and nothing else. */
#include <sys/stat.h>

#include "tests/weights_fixture.h"

/* Copies to memory of just that size, so that a byte too far is seen. */
static const char *exactly(Fixture *t, const void *data, size_t size)
{
	char *exact = malloc(size ? size : 1);
	memcpy(exact, data, size);
	arena_on_destroy(t->arena, free, exact);
	return exact;
}

static void expect_npy(Fixture *t, const char *dict, size_t data, const char *message)
{
	char file[1024] = "\x93NUMPY\1\0";
	size_t n = strlen(dict);
	file[8] = (char)(n & 255);
	file[9] = (char)(n >> 8);
	memcpy(file + 10, dict, n);
	assert_null(npy_parse(t->arena, &t->diag, "x.npy", exactly(t, file, 10 + n + data), 10 + n + data));
	assert_string_equal(said(t), message);
}

static void wrong_npy_headers_are_named(void **state)
{
	Fixture *t = *state;
	const char *not_a_dict = "x.npy: error: the header is not a dict of 'descr' (a simple type), "
		"'fortran_order' and 'shape'\n";
#define D(descr, shape) "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }"
	expect_npy(t, "", 0, not_a_dict);
	expect_npy(t, "{", 0, not_a_dict);
	expect_npy(t, "{}", 0, not_a_dict);
	expect_npy(t, "{'descr': '<f4'}", 0, not_a_dict);
	expect_npy(t, D("'<f4'", "(2, 3)") "x", 24, not_a_dict);
	expect_npy(t, D("'<f4'", "(2, -3)"), 24, not_a_dict);
	expect_npy(t, D("'<f4'", "(2 3)"), 24, not_a_dict);
	expect_npy(t, D("'<f4'", "(2, 3"), 24, not_a_dict);
	expect_npy(t, D("'<f4", "(2, 3)"), 24, not_a_dict);
	expect_npy(t, D("[('a', '<f4')]", "(2, 3)"), 24, not_a_dict);
	expect_npy(t, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, not_a_dict);
	expect_npy(t, "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}", 4, not_a_dict);
	expect_npy(t, D("'<f4'", "(99999999999999999999,)"), 4, not_a_dict);
	expect_npy(t, D("'|V2'", "(2, 3)"), 12, "x.npy: error: elements of type '|V2' are not supported\n");
	expect_npy(t, D("'<c8'", "(2,)"), 16, "x.npy: error: elements of type '<c8' are not supported\n");
	expect_npy(t, D("'<f3'", "(2,)"), 16, "x.npy: error: elements of type '<f3' are not supported\n");
	expect_npy(t, D("'|O'", "(2,)"), 16, "x.npy: error: elements of type '|O' are not supported\n");
	expect_npy(t, D("'<f4'", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4,
		   "x.npy: error: 9 dims, at most 8 are supported\n");
	expect_npy(t, D("'<f4'", "(3037000500, 3037000500)"), 4,
		   "x.npy: error: shape 3037000500x3037000500 has too many elements\n");
	expect_npy(t, D("'<f4'", "(2, 3)"), 23,
		   "x.npy: error: shape 2x3 of f32 wants 24 bytes of data, the file has 23\n");
	expect_npy(t, D("'<f4'", "(2, 3)"), 25,
		   "x.npy: error: shape 2x3 of f32 wants 24 bytes of data, the file has 25\n");
}

static void a_file_that_is_no_npy_is_refused(void **state)
{
	Fixture *t = *state;
	const char whole[] = "\x93NUMPY\1\0\3\0{}\n";
	for (size_t n = 0; n < sizeof whole; n++) {
		assert_null(npy_parse(t->arena, &t->diag, "x.npy", exactly(t, whole, n), n));
		const char *message = said(t);
		if (n < 8)
			assert_string_equal(message, "x.npy: error: not a NumPy array: its first bytes "
					    "are not \\x93NUMPY\n");
		else if (n < 13)
			assert_string_equal(message, arena_printf(t->arena, "x.npy: error: truncated: the "
				"header ends at byte %d, the file at %zu\n", n < 10 ? 10 : 13, n));
	}
	assert_null(npy_parse(t->arena, &t->diag, "x.npy", "\x93NUMPY\4\0......", 14));
	assert_string_equal(said(t), "x.npy: error: .npy version 4.0, known are 1.0, 2.0 and 3.0\n");
}

/* A 2x2 f32 .dat with one byte changed, or cut. */
static void expect_dat(Fixture *t, size_t at, char to, size_t size, const char *message)
{
	char file[256] = "N\xef\1\0\20\0\0\0\2\0\0\0\2\0\0\0\2\0\0\0";
	file[44] = 32;
	file[at] = to;
	Tensor *x = dat_parse(t->arena, &t->diag, "x.dat", exactly(t, file, size), size);
	assert_string_equal(said(t), message);
	assert_true(!x == (*message != '\0'));
}

static void wrong_dat_headers_are_named(void **state)
{
	Fixture *t = *state;
	expect_dat(t, 0, 'N', 144, "");
	expect_dat(t, 0, 'M', 144, "x.dat: error: not an NNEF tensor: its first bytes are not 4E EF\n");
	expect_dat(t, 0, 'N', 1, "x.dat: error: not an NNEF tensor: its first bytes are not 4E EF\n");
	expect_dat(t, 0, 'N', 127, "x.dat: error: truncated: 127 bytes, the header alone has 128\n");
	expect_dat(t, 2, 2, 144, "x.dat: error: NNEF tensor version 2.0, known is 1.0\n");
	expect_dat(t, 0, 'N', 143, "x.dat: error: the header announces 16 bytes of data, the file has 15\n");
	expect_dat(t, 0, 'N', 145, "x.dat: error: the header announces 16 bytes of data, the file has 17\n");
	expect_dat(t, 8, 9, 144, "x.dat: error: 9 dims, at most 8 are possible\n");
	expect_dat(t, 8, 3, 144, "x.dat: error: shape 2x2x0 of 32-bit elements wants 0 bytes, the file has 16\n");
	expect_dat(t, 15, 127, 144, "x.dat: error: shape 2130706434x2 of 32-bit elements wants "
		   "17045651472 bytes, the file has 16\n");
	expect_dat(t, 44, 31, 144, "x.dat: error: elements of kind 0 with 31 bits are not supported\n");
	expect_dat(t, 44, 0, 144, "x.dat: error: elements of kind 0 with 0 bits are not supported\n");
	expect_dat(t, 48, 3, 144, "x.dat: error: quantized elements are not supported\n");
	expect_dat(t, 48, 6, 144, "x.dat: error: elements of kind 6 with 32 bits are not supported\n");
	expect_dat(t, 51, 'T', 144, "x.dat: error: elements of kind 1409286144 with 32 bits are not supported\n");
}

static void an_absurd_dat_shape_is_refused(void **state)
{
	Fixture *t = *state;
	char file[144];
	memset(file, 0xff, sizeof file);
	memcpy(file, "N\xef\1\0\20\0\0\0\10\0\0\0", 12);
	memcpy(file + 44, "\40\0\0\0\0\0\0\0", 8);
	assert_null(dat_parse(t->arena, &t->diag, "x.dat", file, sizeof file));
	assert_non_null(strstr(said(t), "x4294967295 has too many elements\n"));
}

static void expect_safetensors(Fixture *t, const char *json, size_t data, const char *message)
{
	char file[1024] = { 0 };
	const size_t n = strlen(json), size = 8 + n + data;
	file[0] = (char)(n & 255);
	file[1] = (char)(n >> 8);
	memcpy(file + 8, json, n);
	assert_null(safetensors_parse(t->arena, &t->diag, "w", exactly(t, file, size), size));
	assert_string_equal(said(t), message);
}

static void wrong_safetensors_headers_are_named(void **state)
{
	Fixture *t = *state;
	expect_safetensors(t, "", 0, "w: error: header, byte 0: expected an object\n");
	expect_safetensors(t, "[]", 0, "w: error: header, byte 0: expected an object\n");
	expect_safetensors(t, "{", 0, "w: error: header, byte 1: expected a string\n");
	expect_safetensors(t, "{} {}", 0, "w: error: header, byte 3: expected the end of the header\n");
	expect_safetensors(t, "{\"a\"", 0, "w: error: header, byte 4: expected ':'\n");
	expect_safetensors(t, "{\"a", 0, "w: error: header, byte 2: expected the end of a string\n");
	expect_safetensors(t, "{\"a\\u12\":1}", 0, "w: error: header, byte 7: expected a string "
			   "without NUL, bare control characters or unknown escapes\n");
	expect_safetensors(t, "{\"\\u0000\":1}", 0, "w: error: header, byte 8: expected a string "
			   "without NUL, bare control characters or unknown escapes\n");
	expect_safetensors(t, "{\"\\ud83d\":1}", 0, "w: error: header, byte 8: expected a string "
			   "without NUL, bare control characters or unknown escapes\n");
	expect_safetensors(t, "{\"a\":1}", 0, "w: error: header, byte 5: expected an object\n");
	expect_safetensors(t, "{\"a\":{\"dtype\":\"F32\"}}", 0,
			   "w: error: header, byte 20: expected dtype, shape and data_offsets, once each\n");
	expect_safetensors(t, "{\"a\":{\"what\":\"F32\"}}", 0,
			   "w: error: header, byte 13: expected dtype, shape and data_offsets, once each\n");
	expect_safetensors(t, "{\"a\":{\"shape\":[1.5]}}", 0,
			   "w: error: header, byte 16: expected a whole number\n");
	expect_safetensors(t, "{\"a\":{\"shape\":[-1]}}", 0,
			   "w: error: header, byte 15: expected a whole number\n");
	expect_safetensors(t, "{\"a\":{\"shape\":[01]}}", 0,
			   "w: error: header, byte 17: expected a whole number\n");
	expect_safetensors(t, "{\"a\":{\"shape\":[99999999999999999999]}}", 0,
			   "w: error: header, byte 34: expected a whole number\n");
	expect_safetensors(t, "{\"a\":{\"shape\":[1 2]}}", 0,
			   "w: error: header, byte 17: expected ',' or ']'\n");
	expect_safetensors(t, "{\"a\":{\"data_offsets\":[1]}}", 0,
			   "w: error: header, byte 24: expected two data_offsets\n");
	expect_safetensors(t, "{\"__metadata__\":{\"a\":1}}", 0,
			   "w: error: header, byte 21: expected a string\n");
	assert_null(safetensors_parse(t->arena, &t->diag, "w", "\377\0\0\0\0\0\0\0{}", 10));
	assert_string_equal(said(t), "w: error: truncated: the header wants 255 bytes, the file has 10\n");
	assert_null(safetensors_parse(t->arena, &t->diag, "w", "\2\0\0", 3));
	assert_string_equal(said(t), "w: error: truncated: the header wants 0 bytes, the file has 3\n");
}

static void deep_nesting_is_refused_at_once(void **state)
{
	Fixture *t = *state;
	char json[1001] = "{\"a\":{\"shape\":";
	memset(json + strlen(json), '[', 900);
	expect_safetensors(t, json, 0, "w: error: header, byte 15: expected a whole number\n");
}

#define E(name, dtype, shape, from, to) \
	"\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #from "," #to "]}"

static void wrong_safetensors_entries_are_named(void **state)
{
	Fixture *t = *state;
	expect_safetensors(t, "{" E("a", "F8_E4M3", "2", 0, 2) "}", 2,
			   "w: tensor 'a': error: elements of type 'F8_E4M3' are not supported\n");
	expect_safetensors(t, "{" E("a", "f32", "2", 0, 2) "}", 2,
			   "w: tensor 'a': error: elements of type 'f32' are not supported\n");
	expect_safetensors(t, "{" E("a", "U8", "1,1,1,1,1,1,1,1,2", 0, 2) "}", 2,
			   "w: tensor 'a': error: 9 dims, at most 8 are supported\n");
	expect_safetensors(t, "{" E("a", "U8", "18446744073709551615", 0, 2) "}", 2,
			   "w: tensor 'a': error: the shape has too many elements\n");
	expect_safetensors(t, "{" E("a", "U8", "4294967296,4294967296", 0, 0) "}", 0,
			   "w: tensor 'a': error: the shape has too many elements\n");
	expect_safetensors(t, "{" E("a", "U8", "3", 0, 3) "}", 2, "w: tensor 'a': error: data_offsets "
			   "0 to 3 do not fit the file's 2 bytes of data\n");
	expect_safetensors(t, "{" E("a", "U8", "3", 2, 1) "}", 2, "w: tensor 'a': error: data_offsets "
			   "2 to 1 do not fit the file's 2 bytes of data\n");
	expect_safetensors(t, "{" E("a", "F32", "3", 0, 8) "}", 8, "w: tensor 'a': error: shape 3 of "
			   "f32 wants 12 bytes, data_offsets give 8\n");
	expect_safetensors(t, "{" E("a", "U8", "3", 0, 3) "," E("a", "U8", "1", 3, 4) "}", 4,
			   "w: error: there are two tensors named 'a'\n");
	expect_safetensors(t, "{" E("a", "U8", "3", 0, 3) "," E("b", "U8", "3", 2, 5) "}", 5,
			   "w: error: tensor 'b' starts at byte 2, the one before it ends at 3\n");
	expect_safetensors(t, "{" E("a", "U8", "3", 0, 3) "," E("b", "U8", "3", 4, 7) "}", 7,
			   "w: error: tensor 'b' starts at byte 4, the one before it ends at 3\n");
	expect_safetensors(t, "{" E("a", "U8", "3", 0, 3) "}", 4,
			   "w: error: tensors end at byte 3 of 4 bytes of data\n");
}

static void what_cannot_be_opened_is_named(void **state)
{
	Fixture *t = *state;
	assert_null(npy_read(t->arena, &t->diag, path_of(t, "no.npy")));
	assert_string_equal(said(t), arena_printf(t->arena,
		"%s/no.npy: error: cannot read: No such file or directory\n", t->dir));
	assert_null(dat_read(t->arena, &t->diag, (Loc){ .file = "graph.nnef", .line = 3, .col = 5 },
			     path_of(t, "no.dat")));
	assert_string_equal(said(t), arena_printf(t->arena,
		"graph.nnef:3:5: error: cannot read '%s/no.dat': No such file or directory\n", t->dir));
}

static void what_cannot_be_written_leaves_nothing(void **state)
{
	Fixture *t = *state;
	Tensor *x = counting(t->arena, TYPE_U8, SHAPE(3));
	mkdir(path_of(t, "x.npy"), 0777);
	assert_false(npy_write(t->arena, &t->diag, path_of(t, "x.npy"), x));
	assert_false(npy_write(t->arena, &t->diag, path_of(t, "no/x.npy"), x));
	Tensor *huge = tensor_splat(t->arena, TYPE_U8, SHAPE(65536, 65536), 0, 0);
	assert_false(dat_write(t->arena, &t->diag, path_of(t, "x.dat"), huge));
	assert_string_equal(said(t), arena_printf(t->arena,
		"%s/x.npy: error: cannot write: Is a directory\n"
		"%s/no/x.npy: error: cannot write: No such file or directory\n"
		"%s/x.dat: error: cannot write: shape 65536x65536 of u8 has 4294967296 bytes, an NNEF "
		"tensor holds less than 4 GiB\n", t->dir, t->dir, t->dir));
	rmdir(path_of(t, "x.npy"));
	assert_int_equal(rmdir(t->dir), 0);
	mkdir(t->dir, 0777);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(wrong_npy_headers_are_named),
		T(a_file_that_is_no_npy_is_refused),
		T(wrong_dat_headers_are_named),
		T(an_absurd_dat_shape_is_refused),
		T(wrong_safetensors_headers_are_named),
		T(deep_nesting_is_refused_at_once),
		T(wrong_safetensors_entries_are_named),
		T(what_cannot_be_opened_is_named),
		T(what_cannot_be_written_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
