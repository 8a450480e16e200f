/*
 * .safetensors: the header's size in 8 bytes, the header as JSON, then the
 * elements of all tensors without gap or overlap.
 *
 *     {"conv1.weight":{"dtype":"F32","shape":[8,3,3,3],"data_offsets":[0,864]}}
 */
#include "frontend/weight_formats.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/json.h"
#include "ir/file.h"

static const char *const type_names[TYPE_COUNT] = {
#define TYPE(id, ...) [TYPE_##id] = #id,
#include "ir/types.def"
};

typedef struct Entry {
	const char *name, *dtype;
	int rank; /* may be above MAX_RANK */
	Shape shape;
	bool has_dtype, has_shape, has_offsets, huge;
	uint64_t from, to;
} Entry;

typedef struct Reader {
	Arena *a;
	Diag *d;
	const char *file, *data; /* the elements */
	uint64_t size;
	int n, cap;
	Entry *entries;
} Reader;

static void read_shape(Json *j, Entry *e)
{
	json_open(j, '[');
	while (json_more(j, ']')) {
		uint64_t dim = json_uint(j);
		e->huge = e->huge || dim > INT64_MAX;
		if (e->rank < MAX_RANK)
			e->shape.dim[e->rank] = (int64_t)(dim & INT64_MAX);
		e->rank++;
	}
	e->shape.rank = e->rank < MAX_RANK ? e->rank : MAX_RANK;
}

static void read_offsets(Json *j, Entry *e)
{
	json_open(j, '[');
	int n = 0;
	while (json_more(j, ']')) {
		uint64_t v = json_uint(j);
		if (n < 2)
			*(n ? &e->to : &e->from) = v;
		n++;
	}
	if (n != 2 && !j->wrong)
		j->wrong = "two data_offsets";
}

static void read_entry(Json *j, Entry *e)
{
	json_open(j, '{');
	while (json_more(j, '}')) {
		const char *key = json_key(j);
		bool *seen = !strcmp(key, "dtype") ? &e->has_dtype
			: !strcmp(key, "shape") ? &e->has_shape
			: !strcmp(key, "data_offsets") ? &e->has_offsets : NULL;
		if (!seen || *seen) {
			j->wrong = j->wrong ? j->wrong : "dtype, shape and data_offsets, once each";
			return;
		}
		*seen = true;
		if (seen == &e->has_dtype)
			e->dtype = json_string(j);
		else if (seen == &e->has_shape)
			read_shape(j, e);
		else
			read_offsets(j, e);
	}
	if (!(e->has_dtype && e->has_shape && e->has_offsets) && !j->wrong)
		j->wrong = "dtype, shape and data_offsets, once each";
}

static void read_metadata(Json *j)
{
	json_open(j, '{');
	while (json_more(j, '}')) {
		json_key(j);
		json_string(j);
	}
}

static bool read_header(Reader *r, const char *text, size_t size)
{
	Json j = { .p = text, .end = text + size, .arena = r->a };
	json_open(&j, '{');
	while (json_more(&j, '}')) {
		const char *name = json_key(&j);
		if (strcmp(name, "__metadata__") == 0) {
			read_metadata(&j);
			continue;
		}
		if (r->n == r->cap) {
			r->cap = r->cap ? 2 * r->cap : 64;
			Entry *grown = arena_array(r->a, Entry, r->cap);
			if (r->n)
				memcpy(grown, r->entries, (size_t)r->n * sizeof *grown);
			r->entries = grown;
		}
		r->entries[r->n].name = name;
		read_entry(&j, &r->entries[r->n++]);
	}
	json_finish(&j);
	if (j.wrong)
		diag_error(r->d, (Loc){ .file = r->file }, "header, byte %td: expected %s",
			   j.p - text, j.wrong);
	return !j.wrong;
}

/* The tensor of an entry, or NULL, reported. */
static Tensor *make_tensor(Reader *r, const Entry *e)
{
	const Loc at = { .file = r->file, .node = arena_printf(r->a, "tensor '%s'", e->name) };
	int type = TYPE_NONE + 1;
	while (type < TYPE_COUNT && strcmp(type_names[type], e->dtype) != 0)
		type++;
	if (type == TYPE_COUNT) {
		diag_error(r->d, at, "elements of type '%s' are not supported", e->dtype);
		return NULL;
	}
	if (e->rank > MAX_RANK) {
		diag_error(r->d, at, "%d dims, at most %d are supported", e->rank, MAX_RANK);
		return NULL;
	}
	const int64_t n = e->huge ? -1 : shape_count(e->shape);
	if (n < 0) {
		diag_error(r->d, at, "the shape has too many elements");
		return NULL;
	}
	if (e->from > e->to || e->to > r->size) {
		diag_error(r->d, at, "data_offsets %llu to %llu do not fit the file's %llu bytes of data",
			   (unsigned long long)e->from, (unsigned long long)e->to,
			   (unsigned long long)r->size);
		return NULL;
	}
	if (e->to - e->from != (uint64_t)n * type_info[type].bytes) {
		diag_error(r->d, at, "shape %s of %s wants %llu bytes, data_offsets give %llu",
			   shape_text(r->a, e->shape), type_info[type].name,
			   (unsigned long long)((uint64_t)n * type_info[type].bytes),
			   (unsigned long long)(e->to - e->from));
		return NULL;
	}
	return weights_tensor(r->a, (DType)type, e->shape, r->data + e->from);
}

static int by_offset(const void *pa, const void *pb)
{
	const Entry *a = pa, *b = pb;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* Every byte of data belongs to one tensor. */
static bool check_cover(Reader *r)
{
	uint64_t end = 0;
	if (r->n)
		qsort(r->entries, (size_t)r->n, sizeof *r->entries, by_offset);
	for (int i = 0; i < r->n; i++) {
		const Entry *e = &r->entries[i];
		if (e->from != end) {
			diag_error(r->d, (Loc){ .file = r->file }, "tensor '%s' starts at byte %llu, "
				   "the one before it ends at %llu", e->name,
				   (unsigned long long)e->from, (unsigned long long)end);
			return false;
		}
		end = e->to;
	}
	if (end != r->size)
		diag_error(r->d, (Loc){ .file = r->file }, "tensors end at byte %llu of %llu bytes of data",
			   (unsigned long long)end, (unsigned long long)r->size);
	return end == r->size;
}

WeightFile *safetensors_parse(Arena *a, Diag *d, const char *file, const char *data, size_t size)
{
	const Loc at = { .file = file };
	const uint64_t header = size < 8 ? 0 : le64(data);
	if (size < 8 || header > size - 8) {
		diag_error(d, at, "truncated: the header wants %llu bytes, the file has %zu",
			   (unsigned long long)header, size);
		return NULL;
	}
	const char *elements = data + 8 + header;
	Reader r = { .a = a, .d = d, .file = file, .data = elements, .size = size - 8 - header };
	if (!read_header(&r, data + 8, header))
		return NULL;
	WeightFile *w = weights_create(a);
	bool ok = true;
	for (int i = 0; i < r.n; i++) {
		Tensor *t = make_tensor(&r, &r.entries[i]);
		if (t && !weights_add(a, w, r.entries[i].name, t)) {
			diag_error(d, at, "there are two tensors named '%s'", r.entries[i].name);
			ok = false;
		}
		ok = ok && t;
	}
	return ok && check_cover(&r) ? w : NULL;
}

static void write_entry(FILE *f, const char *name, const Tensor *t, uint64_t from)
{
	json_print_string(f, name);
	fprintf(f, ":{\"dtype\":\"%s\",\"shape\":[", type_names[t->dtype]);
	for (int i = 0; i < t->shape.rank; i++)
		fprintf(f, "%s%lld", i ? "," : "", (long long)t->shape.dim[i]);
	fprintf(f, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)from,
		(unsigned long long)(from + (uint64_t)tensor_bytes(t)));
}

bool safetensors_write(Arena *a, Diag *d, const char *path, int n,
		       const char *const names[], const Tensor *const tensors[])
{
	/* Wide types first, which aligns all of them. */
	int *order = arena_array(a, int, n), k = 0;
	for (int bytes = 8; bytes; bytes /= 2)
		for (int i = 0; i < n; i++)
			if (type_info[tensors[i]->dtype].bytes == bytes)
				order[k++] = i;
	char *header = NULL;
	size_t length = 0;
	FILE *text = open_memstream(&header, &length);
	if (!text)
		die_out_of_memory(0);
	uint64_t offset = 0;
	fputc('{', text);
	for (int i = 0; i < n; i++) {
		const Tensor *t = tensors[order[i]];
		if (i)
			fputc(',', text);
		write_entry(text, names[order[i]], t, offset);
		offset += (uint64_t)tensor_bytes(t);
	}
	fputc('}', text);
	while (ftell(text) % 8)
		fputc(' ', text);
	if (fclose(text) != 0)
		die_out_of_memory(length);
	OutFile out;
	bool ok = out_open(&out, a, d, path);
	if (ok) {
		for (int i = 0; i < 8; i++)
			fputc((int)(length >> 8 * i & 255), out.f);
		fwrite(header, 1, length, out.f);
		for (int i = 0; i < n; i++)
			weights_write_elements(out.f, tensors[order[i]]);
		ok = out_commit(&out, d);
	}
	free(header);
	return ok;
}
