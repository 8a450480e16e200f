#include "frontend/weights.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/weight_formats.h"
#include "ir/file.h"

WeightFile *weights_create(Arena *a)
{
	WeightFile *w = arena_new(a, WeightFile);
	strmap_init(&w->by_name, a);
	return w;
}

bool weights_add(Arena *a, WeightFile *w, const char *name, Tensor *t)
{
	if (strmap_get(&w->by_name, name))
		return false;
	/* Room doubles whenever n is a power of two. */
	if ((w->n & (w->n - 1)) == 0) {
		const char **names = arena_array(a, const char *, w->n ? 2 * w->n : 1);
		Tensor **tensors = arena_array(a, Tensor *, w->n ? 2 * w->n : 1);
		for (int i = 0; i < w->n; i++) {
			names[i] = w->names[i];
			tensors[i] = w->tensors[i];
		}
		w->names = names;
		w->tensors = tensors;
	}
	w->names[w->n] = name;
	w->tensors[w->n++] = t;
	strmap_put(&w->by_name, name, t);
	return true;
}

Tensor *weights_find(const WeightFile *w, const char *name)
{
	return strmap_get(&w->by_name, name);
}

Tensor *weights_tensor(Arena *a, DType dtype, Shape shape, const void *data)
{
	const unsigned char *bytes = data;
	Tensor *t = arena_new(a, Tensor);
	*t = (Tensor){ .dtype = dtype, .shape = shape, .data = data };
	const int64_t n = dtype == TYPE_BOOL ? tensor_count(t) : 0;
	int64_t i = 0;
	while (i < n && bytes[i] <= 1)
		i++;
	if (i == n)
		return t;
	t = tensor_create(a, dtype, shape);
	for (i = 0; i < n; i++)
		tensor_set_i64(t, i, bytes[i]);
	return t;
}

DType weights_type(TypeClass class, uint64_t bytes)
{
	for (int t = TYPE_NONE + 1; t < TYPE_COUNT; t++)
		if (type_info[t].class == class && type_info[t].bytes == bytes)
			return (DType)t;
	return TYPE_NONE;
}

void weights_write_elements(FILE *f, const Tensor *t)
{
	const size_t bytes = type_info[t->dtype].bytes;
	const int64_t n = tensor_count(t);
	assert(t->data);
	if (!t->splat)
		fwrite(t->data, bytes, (size_t)n, f);
	else
		for (int64_t i = 0; i < n; i++)
			fwrite(t->data, bytes, 1, f);
}

/* "dir/conv1.npy" and "conv1.npy" give "conv1". */
static const char *stem(Arena *a, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	return arena_strndup(a, name, dot ? (size_t)(dot - name) : strlen(name));
}

static WeightFile *one_tensor(Arena *a, const char *name, Tensor *t)
{
	if (!t)
		return NULL;
	WeightFile *w = weights_create(a);
	weights_add(a, w, name, t);
	return w;
}

typedef enum Format { NPY, NPZ, SAFETENSORS, DAT, FORMAT_COUNT } Format;

static const char *const suffix[FORMAT_COUNT] = {
	[NPY] = ".npy", [NPZ] = ".npz", [SAFETENSORS] = ".safetensors", [DAT] = ".dat",
};

static Format format_by_name(const char *path)
{
	const char *dot = strrchr(path, '.');
	int f = NPY;
	while (f < FORMAT_COUNT && (!dot || strcmp(dot, suffix[f]) != 0))
		f++;
	return (Format)f;
}

/* By the first bytes; by the name only if they are of no format, so that the
 * reader the name asks for says what is missing. */
static Format format_of(Bytes b, const char *path)
{
	if (b.size >= 6 && memcmp(b.data, "\x93NUMPY", 6) == 0)
		return NPY;
	if (b.size >= 4 && (memcmp(b.data, "PK\3\4", 4) == 0 || memcmp(b.data, "PK\5\6", 4) == 0))
		return NPZ;
	if (b.size >= 2 && memcmp(b.data, "N\xef", 2) == 0)
		return DAT;
	if (b.size > 8 && b.data[8] == '{' && le64(b.data) <= b.size - 8)
		return SAFETENSORS;
	return format_by_name(path);
}

static WeightFile *open_file(Arena *a, Diag *d, const char *path)
{
	Bytes b = file_map(a, d, (Loc){ 0 }, path);
	if (!b.data)
		return NULL;
	path = arena_strdup(a, path);
	switch (format_of(b, path)) {
	case NPY:
		return one_tensor(a, stem(a, path), npy_parse(a, d, path, b.data, b.size));
	case NPZ:
		return npz_parse(a, d, path, b.data, b.size);
	case SAFETENSORS:
		return safetensors_parse(a, d, path, b.data, b.size);
	case DAT:
		return one_tensor(a, stem(a, path), dat_parse(a, d, path, b.data, b.size));
	case FORMAT_COUNT:
		break;
	}
	diag_error(d, (Loc){ .file = path },
		   "not a weight file: neither .npy, .npz, .safetensors nor NNEF .dat");
	return NULL;
}

typedef struct Folder {
	Arena *a;
	Diag *d;
	const char *root;
	WeightFile *all;
} Folder;

/* Adds the tensors of the file at root/name. */
static bool add_file(Folder *f, const char *name)
{
	const char *path = path_join(f->a, f->root, name);
	WeightFile *w = open_file(f->a, f->d, path);
	if (!w)
		return false;
	const Format format = format_by_name(name);
	for (int i = 0; i < w->n; i++) {
		const char *tensor = w->names[i];
		if (format == NPY || format == DAT)
			tensor = arena_strndup(f->a, name, strlen(name) - strlen(suffix[format]));
		if (weights_add(f->a, f->all, tensor, w->tensors[i]))
			continue;
		diag_error(f->d, (Loc){ .file = path }, "tensor '%s' is also in another file of '%s'",
			   tensor, f->root);
		return false;
	}
	return true;
}

/* Adds every weight file below root/name, which is a folder. Links to folders
 * are not followed: they may go round in circles. */
static bool add_folder(Folder *f, const char *name)
{
	struct dirent **entries;
	const char *path = *name ? path_join(f->a, f->root, name) : f->root;
	const int n = scandir(path, &entries, NULL, alphasort);
	if (n < 0) {
		diag_error(f->d, (Loc){ .file = path }, "cannot read the folder");
		return false;
	}
	bool ok = true;
	for (int i = 0; i < n; i++) {
		const char *entry = arena_strdup(f->a, entries[i]->d_name);
		free(entries[i]);
		struct stat st;
		const char *inside = path_join(f->a, name, entry);
		if (!ok || entry[0] == '.' || lstat(path_join(f->a, f->root, inside), &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			ok = add_folder(f, inside);
		else if (format_by_name(entry) != FORMAT_COUNT)
			ok = add_file(f, inside);
	}
	free(entries);
	return ok;
}

WeightFile *weights_open(Arena *a, Diag *d, const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return open_file(a, d, path);
	Folder f = { a, d, arena_strdup(a, path), weights_create(a) };
	return add_folder(&f, "") ? f.all : NULL;
}

const char *weights_hash_name(Arena *a, const Tensor *t)
{
	return arena_printf(a, "%016llx", (unsigned long long)tensor_hash(t));
}

bool weights_dump(const Graph *g, Diag *d, const char *path)
{
	int n = 0;
	StrMap seen;
	strmap_init(&seen, g->arena);
	const char **names = arena_array(g->arena, const char *, g->nops);
	const Tensor **tensors = arena_array(g->arena, const Tensor *, g->nops);
	for_each_op(op, g) {
		Tensor *t = op_value(op);
		if (!t || !tensor_prints_hash(t))
			continue;
		const char *name = weights_hash_name(g->arena, t);
		if (strmap_get(&seen, name))
			continue;
		strmap_put(&seen, name, t);
		names[n] = name;
		tensors[n++] = t;
	}
	return safetensors_write(g->arena, d, path, n, names, tensors);
}
