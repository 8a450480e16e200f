/*
 * NumPy arrays: magic, version, and a Python dict literal that describes the
 * elements behind it.
 *
 *     \x93NUMPY 1 0 118  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 */
#include "frontend/weight_formats.h"

#include <ctype.h>
#include <string.h>

#include "ir/file.h"

enum { MAGIC = 6 };
static const char magic[] = "\x93NUMPY";

typedef struct Cursor {
	const char *p, *end;
} Cursor;

typedef struct Header {
	bool has_descr, has_order, has_shape, fortran;
	char descr[16];
	int rank; /* may be above MAX_RANK */
	Shape shape;
} Header;

/* Skips spaces, then takes `word` if it is next. */
static bool take(Cursor *c, const char *word)
{
	size_t n = strlen(word);
	while (c->p < c->end && isspace((unsigned char)*c->p))
		c->p++;
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	return true;
}

/* A quoted string without escapes into `out`, cut to its size. */
static bool take_string(Cursor *c, char *out, size_t size)
{
	const char quote = take(c, "'") ? '\'' : take(c, "\"") ? '"' : 0;
	const char *end = quote ? memchr(c->p, quote, (size_t)(c->end - c->p)) : NULL;
	if (!end)
		return false;
	size_t n = (size_t)(end - c->p);
	n = n < size ? n : size - 1;
	memcpy(out, c->p, n);
	out[n] = '\0';
	c->p = end + 1;
	return true;
}

/* A dim; Python 2 wrote a trailing L. */
static bool take_int(Cursor *c, int64_t *v)
{
	take(c, "");
	const char *from = c->p;
	for (*v = 0; c->p < c->end && isdigit((unsigned char)*c->p); c->p++) {
		if (*v > INT64_MAX / 10 - 1)
			return false;
		*v = *v * 10 + (*c->p - '0');
	}
	return c->p > from && (take(c, "L") || true);
}

static bool take_shape(Cursor *c, Header *h)
{
	if (!take(c, "("))
		return false;
	while (!take(c, ")")) {
		int64_t dim;
		if (!take_int(c, &dim))
			return false;
		if (h->rank < MAX_RANK)
			h->shape.dim[h->rank] = dim;
		h->rank++;
		if (!take(c, ",")) {
			if (!take(c, ")"))
				return false;
			break;
		}
	}
	h->shape.rank = h->rank < MAX_RANK ? h->rank : MAX_RANK;
	return true;
}

static bool take_value(Cursor *c, const char *key, Header *h)
{
	bool *seen = !strcmp(key, "descr") ? &h->has_descr
		: !strcmp(key, "fortran_order") ? &h->has_order
		: !strcmp(key, "shape") ? &h->has_shape : NULL;
	if (!seen || *seen)
		return false;
	*seen = true;
	if (seen == &h->has_descr)
		return take_string(c, h->descr, sizeof h->descr);
	if (seen == &h->has_shape)
		return take_shape(c, h);
	h->fortran = take(c, "True");
	return h->fortran || take(c, "False");
}

static bool parse_header(Cursor c, Header *h)
{
	*h = (Header){ 0 };
	if (!take(&c, "{"))
		return false;
	while (!take(&c, "}")) {
		char key[16];
		if (!take_string(&c, key, sizeof key) || !take(&c, ":") || !take_value(&c, key, h))
			return false;
		if (!take(&c, ",")) {
			if (!take(&c, "}"))
				return false;
			break;
		}
	}
	take(&c, "");
	return c.p == c.end && h->has_descr && h->has_order && h->has_shape;
}

/* The type of a descr such as "<f4"; `swap` if it is big-endian. */
static DType parse_descr(const char *descr, bool *swap)
{
	const char *kinds = "fiub", *sizes = "1248";
	const TypeClass classes[] = { FLOATING, SIGNED, UNSIGNED, LOGICAL };
	if (strlen(descr) != 3 || !strchr("<>|=", descr[0]))
		return TYPE_NONE;
	*swap = descr[0] == '>';
	const char *kind = strchr(kinds, descr[1]);
	if (!kind || !strchr(sizes, descr[2]))
		return TYPE_NONE;
	return weights_type(classes[kind - kinds], (uint64_t)(descr[2] - '0'));
}

/* A row-major copy of column-major elements. */
static const void *transpose(Arena *a, Shape shape, size_t bytes, const char *from)
{
	int64_t n = shape_count(shape), stride[MAX_RANK], index[MAX_RANK] = { 0 }, at = 0;
	char *to = arena_calloc(a, (size_t)n, bytes);
	for (int i = 0; i < shape.rank; i++)
		stride[i] = i ? stride[i - 1] * shape.dim[i - 1] : 1;
	for (int64_t k = 0; k < n; k++) {
		memcpy(to + (size_t)k * bytes, from + (size_t)at * bytes, bytes);
		for (int i = shape.rank - 1; i >= 0; i--) {
			at += stride[i];
			if (++index[i] < shape.dim[i])
				break;
			at -= stride[i] * index[i];
			index[i] = 0;
		}
	}
	return to;
}

static const void *swapped(Arena *a, int64_t n, size_t bytes, const char *from)
{
	char *to = arena_calloc(a, (size_t)n, bytes);
	for (size_t i = 0; i < (size_t)n * bytes; i++)
		to[i] = from[i / bytes * bytes + bytes - 1 - i % bytes];
	return to;
}

static Tensor *parse_elements(Arena *a, Diag *d, Loc at, const Header *h,
			      const char *data, size_t size)
{
	bool swap = false;
	DType type = parse_descr(h->descr, &swap);
	if (type == TYPE_NONE) {
		diag_error(d, at, "elements of type '%s' are not supported", h->descr);
		return NULL;
	}
	if (h->rank > MAX_RANK) {
		diag_error(d, at, "%d dims, at most %d are supported", h->rank, MAX_RANK);
		return NULL;
	}
	const size_t bytes = type_info[type].bytes;
	int64_t n = shape_count(h->shape);
	if (n < 0) {
		diag_error(d, at, "shape %s has too many elements", shape_text(a, h->shape));
		return NULL;
	}
	if ((uint64_t)n * bytes != size) {
		diag_error(d, at, "shape %s of %s wants %llu bytes of data, the file has %zu",
			   shape_text(a, h->shape), type_info[type].name,
			   (unsigned long long)((uint64_t)n * bytes), size);
		return NULL;
	}
	const void *elements = data;
	if (h->fortran && h->rank > 1)
		elements = transpose(a, h->shape, bytes, elements);
	if (swap && bytes > 1)
		elements = swapped(a, n, bytes, elements);
	Tensor *t = weights_tensor(a, type, h->shape, elements);
	t->owned = t->owned || elements != data;
	return t;
}

Tensor *npy_parse_at(Arena *a, Diag *d, Loc at, const char *data, size_t size)
{
	if (size < MAGIC + 2 || memcmp(data, magic, MAGIC) != 0) {
		diag_error(d, at, "not a NumPy array: its first bytes are not \\x93NUMPY");
		return NULL;
	}
	const int major = (unsigned char)data[MAGIC], minor = (unsigned char)data[MAGIC + 1];
	if (major < 1 || major > 3 || minor) {
		diag_error(d, at, ".npy version %d.%d, known are 1.0, 2.0 and 3.0", major, minor);
		return NULL;
	}
	const size_t start = MAGIC + 2 + (major == 1 ? 2 : 4);
	size_t length = 0;
	if (size >= start)
		length = major == 1 ? le16(data + MAGIC + 2) : le32(data + MAGIC + 2);
	if (size < start || length > size - start) {
		diag_error(d, at, "truncated: the header ends at byte %zu, the file at %zu",
			   start + length, size);
		return NULL;
	}
	Header h;
	const char *body = data + start + length;
	if (!parse_header((Cursor){ data + start, body }, &h)) {
		diag_error(d, at, "the header is not a dict of 'descr' (a simple type), "
			   "'fortran_order' and 'shape'");
		return NULL;
	}
	return parse_elements(a, d, at, &h, body, size - start - length);
}

Tensor *npy_parse(Arena *a, Diag *d, const char *file, const char *data, size_t size)
{
	return npy_parse_at(a, d, (Loc){ .file = file }, data, size);
}

Tensor *npy_read(Arena *a, Diag *d, const char *path)
{
	Bytes b = file_map(a, d, (Loc){ 0 }, path);
	return b.data ? npy_parse(a, d, arena_strdup(a, path), b.data, b.size) : NULL;
}

static char kind_letter(DType t)
{
	switch (type_info[t].class) {
	case FLOATING:
		return 'f';
	case SIGNED:
		return 'i';
	case UNSIGNED:
		return 'u';
	case LOGICAL:
	case NO_CLASS:
		break;
	}
	return 'b';
}

bool npy_write(Arena *a, Diag *d, const char *path, const Tensor *t)
{
	OutFile out;
	if (!out_open(&out, a, d, path))
		return false;
	if (t->dtype == TYPE_BF16)
		t = tensor_to_f32(a, (Tensor *)(uintptr_t)t);
	char *shape = arena_strdup(a, "");
	for (int i = 0; i < t->shape.rank; i++)
		shape = arena_printf(a, "%s%lld%s", shape, (long long)t->shape.dim[i],
				     i + 1 < t->shape.rank ? ", " : i ? "" : ",");
	const int bytes = type_info[t->dtype].bytes;
	char *dict = arena_printf(a, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (%s), }",
				  bytes == 1 ? '|' : '<', kind_letter(t->dtype), bytes, shape);
	/* Spaces and a newline end the header on a multiple of 64 bytes. */
	int start = MAGIC + 4, length = (int)strlen(dict) + 1;
	length += 63 - (start + length + 63) % 64;
	fwrite(magic, 1, MAGIC, out.f);
	fwrite((const char[]){ 1, 0, (char)(length & 255), (char)(length >> 8) }, 1, 4, out.f);
	fprintf(out.f, "%-*s\n", length - 1, dict);
	weights_write_elements(out.f, t);
	return out_commit(&out, d);
}
