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

/* Names --input and --known give must be inputs. */
static void check_options(Nnef *n, const char *file)
{
	const Fragment *graph = &n->model->graph;
	for (int i = 0; i < n->opt->nshapes; i++) {
		const char *name = n->opt->shapes[i].input;
		bool found = !name && graph->nparams == 1;
		for (int k = 0; k < graph->nparams; k++)
			found = found || (name && strcmp(graph->param[k].name, name) == 0);
		if (!found && name)
			diag_error(n->diag, (Loc){ .file = file }, "no input '%s' to give a shape", name);
		else if (!found)
			diag_error(n->diag, (Loc){ .file = file },
				   "a shape without a name wants one input, there are %d", graph->nparams);
	}
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
