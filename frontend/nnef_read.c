/* A folder or text file in, a graph out. */
#include "frontend/model.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/nnef_eval.h"
#include "ir/file.h"

enum { MAX_TEXT = 256 << 20 };

/* What nothing reads, such as the index of a max_pool_with_index. */
static void drop_unread(Graph *g)
{
	for (Op *op = g->last, *prev; op; op = prev) {
		prev = op->prev;
		if (!op->uses && op->kind != OP_INPUT && op->kind != OP_OUTPUT)
			op_remove(g, op);
	}
}

/* NNEF reductions keep their dims; one that is then squeezed, and read by
 * nothing else, is one that does not. */
static void merge_squeezes(Graph *g)
{
	for_each_op(op, g) {
		Op *in = op->kind == OP_RESHAPE ? op_in(op, 0) : op;
		bool arg = in->kind == OP_ARGMAX || in->kind == OP_ARGMIN;
		bool reduce = in->kind >= OP_REDUCE_MEAN && in->kind <= OP_REDUCE_PROD;
		bool *keepdims = arg ? &in->attr.arg.keepdims : &in->attr.reduce.keepdims;
		if (!(arg || reduce) || !*keepdims || !op_has_one_use(in) || in == op || in->nhints)
			continue;
		*keepdims = false;
		op_infer(g, in);
		if (!shape_equal(in->shape, op->shape)) {
			*keepdims = true;
			op_infer(g, in);
			continue;
		}
		const char *name = op->name;
		in->loc = op->loc;
		in->nhints = op->nhints;
		in->hints = op->hints;
		op_replace_uses(op, in);
		op_remove(g, op);
		op_rename(g, in, name);
	}
}

static bool is_input(const Fragment *graph, const char *name)
{
	for (int i = 0; i < graph->nparams; i++)
		if (strcmp(graph->param[i].name, name) == 0)
			return true;
	return false;
}

/* Names --input and --const give must be inputs. */
static void check_options(Nnef *n, const char *file)
{
	const Fragment *graph = &n->model->graph;
	for (int i = 0; i < n->opt->nshapes; i++) {
		const char *name = n->opt->shapes[i].input;
		const bool found = name ? is_input(graph, name) : graph->nparams == 1;
		if (!found && name)
			diag_error(n->diag, (Loc){ .file = file }, "no input '%s' to give a shape", name);
		else if (!found)
			diag_error(n->diag, (Loc){ .file = file },
				   "a shape without a name wants one input, there are %d", graph->nparams);
	}
	for (int i = 0; i < n->opt->nknown; i++)
		if (!is_input(graph, n->opt->known[i].name))
			diag_error(n->diag, (Loc){ .file = file }, "--const: no input '%s'",
				   n->opt->known[i].name);
	if (n->opt->ndims)
		diag_error(n->diag, (Loc){ .file = file }, "no dim '%s': NNEF has no named dims",
			   n->opt->dims[0].name);
}

Graph *nnef_parse_text(Arena *a, Diag *d, const char *file, const char *text, size_t size,
		       const char *dir, const ModelOptions *opt)
{
	int before = d->errors;
	Nnef n = { .arena = a, .diag = d, .opt = opt, .dir = dir };
	diag_add_source(d, file, text, size);
	if (size > MAX_TEXT) {
		diag_error(d, (Loc){ .file = file }, "text of %zu bytes is above %d", size, MAX_TEXT);
		return NULL;
	}
	n.model = nnef_parse(a, d, file, text, size, false);
	if (!n.model)
		return NULL;
	strmap_init(&n.fragments, a);
	strmap_init(&n.variables, a);
	nnef_add_standard(&n);
	nnef_check(&n);
	check_options(&n, file);
	if (d->errors > before)
		return NULL;
	n.g = graph_create(a, d, n.model->graph.name);
	nnef_eval(&n);
	if (d->errors > before)
		return NULL;
	drop_unread(n.g);
	merge_squeezes(n.g);
	return n.g;
}

Graph *nnef_read(Arena *a, Diag *d, const char *path, const ModelOptions *opt)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		path = path_join(a, path, "graph.nnef");
	path = arena_strdup(a, path);
	Bytes text = file_map(a, d, (Loc){ 0 }, path);
	if (!text.data)
		return NULL;
	const char *dir = path_dir(a, path), *quant = path_join(a, dir, "graph.quant");
	if (access(quant, F_OK) == 0)
		diag_warning(d, (Loc){ .file = quant }, "quantization is ignored");
	return nnef_parse_text(a, d, path, text.data, text.size, dir, opt);
}
