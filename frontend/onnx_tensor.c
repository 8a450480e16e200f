/*
 * TensorProto to Tensor.
 *
 * Elements may lie in raw_data, in a field for their type, or in another
 * file. Wherever they are stored as we store them, the Tensor points at them.
 */
#include "frontend/onnx_import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KIND(id) ONNX__TENSOR_PROTO__DATA_TYPE__##id

/* The values of TensorProto.DataType, by number: those after BFLOAT16 are
 * newer than some onnx.proto we are built with. */
static const struct {
	const char *name;
	DType dtype;
} types[] = {
	{ "undefined", TYPE_NONE }, { "float", TYPE_F32 },       { "uint8", TYPE_U8 },
	{ "int8", TYPE_I8 },        { "uint16", TYPE_U16 },      { "int16", TYPE_I16 },
	{ "int32", TYPE_I32 },      { "int64", TYPE_I64 },       { "string", TYPE_NONE },
	{ "bool", TYPE_BOOL },      { "float16", TYPE_F16 },     { "double", TYPE_F64 },
	{ "uint32", TYPE_U32 },     { "uint64", TYPE_U64 },      { "complex64", TYPE_NONE },
	{ "complex128", TYPE_NONE },{ "bfloat16", TYPE_BF16 },   { "float8e4m3fn", TYPE_NONE },
	{ "float8e4m3fnuz", TYPE_NONE }, { "float8e5m2", TYPE_NONE }, { "float8e5m2fnuz", TYPE_NONE },
	{ "uint4", TYPE_NONE },     { "int4", TYPE_NONE },       { "float4e2m1", TYPE_NONE },
};
enum { NTYPES = sizeof types / sizeof *types };

_Static_assert(KIND(FLOAT) == 1 && KIND(BOOL) == 9 && KIND(BFLOAT16) == 16, "as in the table");

DType onnx_dtype(int32_t data_type)
{
	return data_type >= 0 && data_type < NTYPES ? types[data_type].dtype : TYPE_NONE;
}

const char *onnx_type_name(Arena *a, int32_t data_type)
{
	return data_type >= 0 && data_type < NTYPES ? types[data_type].name
		: arena_printf(a, "%d, which ONNX does not have,", (int)data_type);
}

bool onnx_type(Arena *a, Diag *d, Loc at, const Onnx__TensorProto *t, Shape *shape)
{
	if (onnx_dtype(t->data_type) == TYPE_NONE) {
		diag_error(d, at, "elements of type %s are not supported", onnx_type_name(a, t->data_type));
		return false;
	}
	if (t->n_dims > MAX_RANK) {
		diag_error(d, at, "has %zu dims, at most %d are supported", t->n_dims, MAX_RANK);
		return false;
	}
	*shape = (Shape){ .rank = (int)t->n_dims };
	for (int i = 0; i < shape->rank; i++) {
		shape->dim[i] = t->dims[i];
		if (t->dims[i] < 0) {
			diag_error(d, at, "dim %d is negative: %" PRId64, i, t->dims[i]);
			return false;
		}
	}
	if (shape_count(*shape) >= 0)
		return true;
	diag_error(d, at, "has more than %" PRId64 " elements", MAX_ELEMENTS);
	return false;
}

/* What holds the elements of one type: where, how many, how wide. */
typedef struct Field {
	const char *name;
	const void *data;
	size_t n, bytes;
} Field;

static Field typed_field(const Onnx__TensorProto *t)
{
	const Field floats = { "float_data", t->float_data, t->n_float_data, 4 };
	const Field doubles = { "double_data", t->double_data, t->n_double_data, 8 };
	const Field int32s = { "int32_data", t->int32_data, t->n_int32_data, 4 };
	const Field int64s = { "int64_data", t->int64_data, t->n_int64_data, 8 };
	const Field uint64s = { "uint64_data", t->uint64_data, t->n_uint64_data, 8 };

	switch (t->data_type) {
	case KIND(FLOAT):
		return floats;
	case KIND(DOUBLE):
		return doubles;
	case KIND(INT64):
		return int64s;
	case KIND(UINT32):
	case KIND(UINT64):
		return uint64s;
	default:
		return int32s;
	}
}

/* Elements wider in the message than in the tensor: halves as their bits in
 * an int32, small integers, u32 in u64. */
static int64_t wide_element(const Field *f, size_t i)
{
	return f->bytes == 4 ? ((const int32_t *)f->data)[i] : ((const int64_t *)f->data)[i];
}

static bool narrow(Arena *a, Diag *d, Loc at, const Field *f, Tensor *t)
{
	Tensor *copy = tensor_create(a, t->dtype, t->shape);
	const bool bits = type_is_float(t->dtype);
	const size_t bytes = type_info[t->dtype].bytes;
	char *to = (char *)(uintptr_t)copy->data;

	for (size_t i = 0; i < f->n; i++) {
		const int64_t v = wide_element(f, i);
		bool fits = v >> 16 == 0;
		if (bits) {
			uint16_t half = (uint16_t)v;
			memcpy(to + i * bytes, &half, bytes);
		} else {
			tensor_set_i64(copy, (int64_t)i, v);
			fits = t->dtype == TYPE_BOOL || tensor_i64(copy, (int64_t)i) == v;
		}
		if (!fits) {
			diag_error(d, at, "element %zu of %s is %" PRId64 ", which %s does not hold", i,
				   f->name, v, type_info[t->dtype].name);
			return false;
		}
	}
	t->data = copy->data;
	return true;
}

static bool from_field(Arena *a, Diag *d, Loc at, const Onnx__TensorProto *p, Tensor *t)
{
	const Field f = typed_field(p);
	const int64_t count = tensor_count(t);

	if (f.n != (size_t)count) {
		diag_error(d, at, "has %" PRId64 " elements, but %s holds %zu", count, f.name, f.n);
		return false;
	}
	if (f.bytes != type_info[t->dtype].bytes)
		return narrow(a, d, at, &f, t);
	t->data = f.data;
	return true;
}

/* Bools in bytes other than 0 and 1 are made so. */
static void normalize_bools(Arena *a, Tensor *t)
{
	const uint8_t *from = t->data;
	const int64_t count = tensor_count(t);
	uint8_t any = 0;

	for (int64_t i = 0; i < count; i++)
		any |= from[i];
	if (any <= 1)
		return;
	Tensor *copy = tensor_create(a, TYPE_BOOL, t->shape);
	for (int64_t i = 0; i < count; i++)
		tensor_set_i64(copy, i, from[i]);
	t->data = copy->data;
}

/* A decimal number with nothing before or behind it. */
static bool read_number(const char *s, int64_t *v)
{
	errno = 0;
	*v = strtoll(s, NULL, 10);
	return *s && strspn(s, "0123456789") == strlen(s) && errno == 0;
}

typedef struct External {
	const char *location;
	int64_t offset, length; /* -1: not given */
} External;

static bool read_external(Diag *d, Loc at, const Onnx__TensorProto *t, External *e)
{
	*e = (External){ .length = -1 };
	for (size_t i = 0; i < t->n_external_data; i++) {
		const char *key = t->external_data[i]->key, *value = t->external_data[i]->value;
		if (!key || !value)
			continue;
		int64_t *number = strcmp(key, "offset") == 0 ? &e->offset
				: strcmp(key, "length") == 0 ? &e->length : NULL;
		if (strcmp(key, "location") == 0)
			e->location = value;
		if (number && !read_number(value, number)) {
			diag_error(d, at, "%s of its external data is no number: '%s'", key, value);
			return false;
		}
	}
	if (!e->location)
		diag_error(d, at, "its external data has no location");
	return e->location != NULL;
}

/* Follows symbolic links too. */
static bool is_inside(const char *folder, const char *path)
{
	char *outer = realpath(folder, NULL), *inner = realpath(path, NULL);
	size_t n = outer ? strlen(outer) : 0;
	bool inside = !inner || (outer && strncmp(outer, inner, n) == 0 &&
				 (inner[n] == '/' || strcmp(outer, "/") == 0));
	free(outer);
	free(inner);
	return inside; /* what does not exist is reported when it is opened */
}

static const Bytes *map_external(Arena *a, Diag *d, Loc at, const char *location, StrMap *files)
{
	const char *folder = path_dir(a, at.file), *path = path_join(a, folder, location);
	Bytes *known = strmap_get(files, path);

	if (known)
		return known;
	if (!path_stays_inside(location) || !is_inside(folder, path)) {
		diag_error(d, at, "its external data '%s' lies outside the model's folder: copy it "
			   "there", onnx_show(a, location));
		return NULL;
	}
	known = arena_new(a, Bytes);
	*known = file_map(a, d, at, path);
	if (known->data)
		strmap_put(files, path, known);
	return known->data ? known : NULL;
}

static bool from_file(Arena *a, Diag *d, Loc at, const Onnx__TensorProto *p, StrMap *files,
		      Tensor *t)
{
	const int64_t wanted = tensor_bytes(t);
	External e;

	if (!read_external(d, at, p, &e))
		return false;
	const Bytes *file = map_external(a, d, at, e.location, files);
	if (!file)
		return false;
	if (e.length >= 0 && e.length != wanted) {
		diag_error(d, at, "needs %" PRId64 " bytes, but its external data has %" PRId64,
			   wanted, e.length);
		return false;
	}
	if (e.offset > (int64_t)file->size || wanted > (int64_t)file->size - e.offset) {
		diag_error(d, at, "needs %" PRId64 " bytes at %" PRId64 " of '%s', which has %zu",
			   wanted, e.offset, onnx_show(a, e.location), file->size);
		return false;
	}
	t->data = file->data + e.offset;
	return true;
}

static bool from_raw(Diag *d, Loc at, OnnxRaw raw, Tensor *t)
{
	if (raw.size != (uint64_t)tensor_bytes(t)) {
		diag_error(d, at, "needs %" PRId64 " bytes, but raw_data has %zu", tensor_bytes(t),
			   raw.size);
		return false;
	}
	t->data = raw.data;
	return true;
}

Tensor *onnx_tensor(Arena *a, Diag *d, Loc at, const Onnx__TensorProto *p, StrMap *external)
{
	Tensor *t = arena_new(a, Tensor);
	OnnxRaw raw;
	bool ok;

	t->dtype = onnx_dtype(p->data_type);
	if (!onnx_type(a, d, at, p, &t->shape))
		return NULL;
	if (p->segment) {
		diag_error(d, at, "tensors in segments are not supported");
		return NULL;
	}
	if (p->has_data_location && p->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
		ok = from_file(a, d, at, p, external, t);
	else if (onnx_raw(p, &raw))
		ok = from_raw(d, at, raw, t);
	else
		ok = from_field(a, d, at, p, t);
	if (!ok)
		return NULL;
	if (!t->data) /* no elements */
		t->data = "";
	if (t->dtype == TYPE_BOOL)
		normalize_bools(a, t);
	return t;
}
