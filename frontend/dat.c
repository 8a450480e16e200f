/*
 * NNEF tensor files: a header of 128 bytes, then the elements.
 *
 *     0   4E EF, version 1 0
 *     4   u32 bytes of data
 *     8   u32 rank, then 8 u32 dims
 *     44  u32 bits per element
 *     48  u32 kind of element: 0 float, 1 unsigned, 2 and 3 quantized
 *         unsigned and signed, 4 signed, 5 bool
 *     52  19 u32, zero
 *
 * Two older forms are read too: signed integers as kind 1 with a one in the
 * first reserved word (before NNEF 1.0.3), and headers of 132 bytes, which
 * an early writer made. Bools of one bit start at each byte's highest bit.
 */
#include "frontend/weight_formats.h"

#include <string.h>

#include "ir/file.h"

enum { HEADER = 128, LONG_HEADER = 132, DAT_RANK = 8, RESERVED = 52 };
enum { FLOAT, UINT, QUINT, QINT, INT, BOOL };

static const char magic[] = { 'N', (char)0xef, 1, 0 };

static const TypeClass class_of[] = {
	[FLOAT] = FLOATING, [UINT] = UNSIGNED, [INT] = SIGNED, [BOOL] = LOGICAL,
};

/* The type of the elements, or TYPE_NONE, reported. */
static DType element_type(Diag *d, Loc at, const char *data, uint32_t bits)
{
	uint32_t kind = le32(data + 48);
	if (kind == UINT && le32(data + RESERVED))
		kind = INT;
	if (kind == QUINT || kind == QINT) {
		diag_error(d, at, "quantized elements are not supported");
		return TYPE_NONE;
	}
	DType type = TYPE_NONE;
	if (kind == BOOL && bits == 1)
		type = TYPE_BOOL;
	else if (kind <= BOOL && bits % 8 == 0)
		type = weights_type(class_of[kind], bits / 8);
	if (type == TYPE_NONE)
		diag_error(d, at, "elements of kind %u with %u bits are not supported", kind, bits);
	return type;
}

static Tensor *unpack_bits(Arena *a, Shape shape, const char *data)
{
	Tensor *t = tensor_create(a, TYPE_BOOL, shape);
	for (int64_t i = 0, n = tensor_count(t); i < n; i++)
		tensor_set_i64(t, i, data[i / 8] >> (7 - i % 8) & 1);
	return t;
}

/* Where the elements start: after the header, whose length is either of two.
 * 0 if the file is not as long as it says. */
static size_t elements_start(Diag *d, Loc at, uint32_t length, size_t size)
{
	if (size == (size_t)HEADER + length)
		return HEADER;
	if (size == (size_t)LONG_HEADER + length)
		return LONG_HEADER;
	diag_error(d, at, "the header announces %u bytes of data, the file has %zu", length,
		   size - HEADER);
	return 0;
}

Tensor *dat_parse(Arena *a, Diag *d, const char *file, const char *data, size_t size)
{
	const Loc at = { .file = file };
	if (size < 2 || memcmp(data, magic, 2) != 0) {
		diag_error(d, at, "not an NNEF tensor: its first bytes are not 4E EF");
		return NULL;
	}
	if (size < HEADER) {
		diag_error(d, at, "truncated: %zu bytes, the header alone has %d", size, HEADER);
		return NULL;
	}
	if (memcmp(data, magic, sizeof magic) != 0) {
		diag_error(d, at, "NNEF tensor version %d.%d, known is 1.0",
			   (unsigned char)data[2], (unsigned char)data[3]);
		return NULL;
	}
	const uint32_t length = le32(data + 4), rank = le32(data + 8), bits = le32(data + 44);
	const size_t start = elements_start(d, at, length, size);
	if (!start)
		return NULL;
	if (rank > DAT_RANK) {
		diag_error(d, at, "%u dims, at most %d are possible", rank, DAT_RANK);
		return NULL;
	}
	DType type = element_type(d, at, data, bits);
	if (type == TYPE_NONE)
		return NULL;
	Shape shape = { .rank = (int)rank };
	for (uint32_t i = 0; i < rank; i++)
		shape.dim[i] = le32(data + 12 + 4 * i);
	int64_t n = shape_count(shape);
	if (n < 0) {
		diag_error(d, at, "shape %s has too many elements", shape_text(a, shape));
		return NULL;
	}
	const uint64_t wanted = ((uint64_t)n * bits + 7) / 8;
	if (wanted != length) {
		diag_error(d, at, "shape %s of %u-bit elements wants %llu bytes, the file has %u",
			   shape_text(a, shape), bits, (unsigned long long)wanted, length);
		return NULL;
	}
	return bits == 1 ? unpack_bits(a, shape, data + start)
		: weights_tensor(a, type, shape, data + start);
}

Tensor *dat_read(Arena *a, Diag *d, Loc at, const char *path)
{
	Bytes b = file_map(a, d, at, path);
	return b.data ? dat_parse(a, d, arena_strdup(a, path), b.data, b.size) : NULL;
}

static void put32(FILE *f, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		fputc((int)(v >> 8 * i & 255), f);
}

static uint32_t kind_of(DType t)
{
	uint32_t kind = FLOAT;
	while (class_of[kind] != type_info[t].class)
		kind++;
	return kind;
}

static void write_bits(FILE *f, const Tensor *t)
{
	int byte = 0;
	const int64_t n = tensor_count(t);
	for (int64_t i = 0; i < n; i++) {
		byte |= (tensor_i64(t, i) != 0) << (7 - i % 8);
		if (i % 8 == 7 || i + 1 == n) {
			fputc(byte, f);
			byte = 0;
		}
	}
}

bool dat_write(Arena *a, Diag *d, const char *path, const Tensor *t)
{
	if (t->dtype == TYPE_BF16)
		t = tensor_to_f32(a, (Tensor *)(uintptr_t)t);
	const int bits = t->dtype == TYPE_BOOL ? 1 : 8 * type_info[t->dtype].bytes;
	const int64_t length = (tensor_count(t) * bits + 7) / 8;
	bool fits = length <= UINT32_MAX;
	for (int i = 0; i < t->shape.rank; i++)
		fits = fits && t->shape.dim[i] <= UINT32_MAX;
	if (!fits) {
		diag_error(d, (Loc){ .file = path }, "cannot write: shape %s of %s has %lld bytes, "
			   "an NNEF tensor holds less than 4 GiB", shape_text(a, t->shape),
			   type_info[t->dtype].name, (long long)length);
		return false;
	}
	OutFile out;
	if (!out_open(&out, a, d, path))
		return false;
	fwrite(magic, 1, sizeof magic, out.f);
	put32(out.f, (uint32_t)length);
	put32(out.f, (uint32_t)t->shape.rank);
	for (int i = 0; i < DAT_RANK; i++)
		put32(out.f, i < t->shape.rank ? (uint32_t)t->shape.dim[i] : 0);
	put32(out.f, (uint32_t)bits);
	put32(out.f, kind_of(t->dtype));
	for (int i = RESERVED; i < HEADER; i += 4)
		put32(out.f, 0);
	if (bits == 1)
		write_bits(out.f, t);
	else
		weights_write_elements(out.f, t);
	return out_commit(&out, d);
}
