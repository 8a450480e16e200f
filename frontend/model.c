#include "frontend/model.h"

#include <string.h>
#include <sys/stat.h>

#include "ir/compare.h"
#include "ir/file.h"

typedef Graph *Reader(Arena *a, Diag *d, const char *path, const ModelOptions *opt);

/* What a file's name says it is, and the words its text begins with. */
static const struct Format {
	const char *suffix;
	const char *words[5];
	Reader *read;
} formats[] = {
	{ ".ir", { "graph \"", "weights \"", "%" }, text_read },
	{ ".nnef", { "version", "graph", "extension", "fragment" }, nnef_read },
	{ ".onnx", { "\b" }, onnx_read }, /* field 1: ir_version */
};
enum { NFORMATS = sizeof formats / sizeof *formats };

static bool ends_with(const char *s, const char *end)
{
	const size_t n = strlen(s), m = strlen(end);
	return n >= m && strcmp(s + n - m, end) == 0;
}

/* Past spaces and comments, which start with '#' or '//'. */
static const char *skip_comments(const char *p, const char *end)
{
	while (p < end) {
		if (*p == '#' || (*p == '/' && end - p > 1 && p[1] == '/')) {
			const char *line = memchr(p, '\n', (size_t)(end - p));
			p = line ? line + 1 : end;
		} else if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') {
			p++;
		} else {
			break;
		}
	}
	return p;
}

static bool starts_with(const char *p, const char *end, const char *word)
{
	const size_t n = strlen(word);
	return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

static Reader *find_reader(Bytes b, const char *path)
{
	for (int i = 0; i < NFORMATS; i++)
		if (ends_with(path, formats[i].suffix))
			return formats[i].read;
	const char *end = b.data + b.size, *p = skip_comments(b.data, end);
	for (int i = 0; i < NFORMATS; i++)
		for (int k = 0; formats[i].words[k]; k++)
			if (starts_with(p, end, formats[i].words[k]))
				return formats[i].read;
	return NULL;
}

/* --const: what is known of an input and the reader had no need of. */
static void make_constant(Graph *g, const KnownInput *known)
{
	char is[TYPE_TEXT], given[TYPE_TEXT];
	Op *op = graph_find(g, known->name);
	if (!op || op->kind != OP_INPUT)
		return;
	const Tensor *v = known->value;
	if (v->dtype != op->dtype || !shape_equal(v->shape, op->shape)) {
		diag_error(g->diag, op->loc, "input '%s' is %s, --const gives %s", op->name,
			   type_text(is, op->dtype, op->shape),
			   type_text(given, v->dtype, v->shape));
		return;
	}
	Op *constant = graph_constant(g, op, "", known->value);
	op_replace_uses(op, constant);
	op_remove(g, op);
	op_rename(g, constant, known->name);
}

/* A NaN in a constant makes all that depends on it NaN: never meant. */
static void check_numbers(const Graph *g)
{
	for_each_op(op, g) {
		const Tensor *t = op_value(op);
		const int64_t at = t ? tensor_find_nan(t) : -1;
		if (at >= 0)
			diag_error(g->diag, op->loc, "constant '%s': element %lld is NaN", op->name,
				   (long long)at);
	}
}

Graph *model_read(Arena *a, Diag *d, const char *path, const ModelOptions *opt)
{
	const int errors = d->errors;
	struct stat st;
	Reader *read = nnef_read; /* of a folder: graph.nnef and its weights */
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		Bytes b = file_map(a, d, (Loc){ 0 }, path);
		if (!b.data)
			return NULL;
		read = find_reader(b, path);
	}
	if (!read) {
		diag_error(d, (Loc){ .file = path }, "not a model: neither ONNX, NNEF nor IR text");
		return NULL;
	}
	Graph *g = read(a, d, path, opt);
	for (int i = 0; g && i < opt->nknown; i++)
		make_constant(g, &opt->known[i]);
	if (g)
		check_numbers(g);
	return g && d->errors == errors ? g : NULL;
}
