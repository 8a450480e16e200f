/*
 * The walk over the model's graph.
 *
 * First every name is resolved and the nodes an output depends on are found;
 * the rest of the model does not matter. Then those nodes are built in order.
 * An initializer becomes a constant when the first node reads it.
 */
#include "frontend/onnx_import.h"

#include <string.h>

typedef struct Row {
	OnnxOpRow row;
	OnnxBuild build;
} Row;

static const Row rows[] = {
#define ONNX_OP(name, since, min_in, max_in, max_out, build, kind, note) \
	{ { #name, since, min_in, max_in, max_out, OP_##kind, note }, onnx_build_##build },
#include "frontend/onnx_ops.def"
};
enum { NROWS = sizeof rows / sizeof *rows };

const OnnxOpRow *onnx_op_row(int i)
{
	return i < NROWS ? &rows[i].row : NULL;
}

static bool in_default_domain(const Onnx__NodeProto *node)
{
	return !node->domain || !node->domain[0] || strcmp(node->domain, "ai.onnx") == 0;
}

const OnnxOpRow *onnx_find_op(const Onnx__NodeProto *node, OnnxBuild *build)
{
	int low = 0, high = NROWS - 1;

	while (low <= high && node->op_type && in_default_domain(node)) {
		int middle = (low + high) / 2, order = strcmp(node->op_type, rows[middle].row.name);
		if (order == 0) {
			if (build)
				*build = rows[middle].build;
			return &rows[middle].row;
		}
		if (order < 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return NULL;
}

const char *onnx_show(Arena *a, const char *name)
{
	enum { LONGEST = 120 };
	size_t n = strlen(name);
	char *s = arena_strndup(a, name, n < LONGEST ? n : LONGEST);

	for (char *p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return n < LONGEST ? s : arena_printf(a, "%s...", s);
}

Loc onnx_node_loc(const Reader *r, const Onnx__NodeProto *node)
{
	const char *type = onnx_show(r->arena, node->op_type ? node->op_type : "");
	const char *name = node->name ? node->name : "";
	Loc at = { .file = r->file };

	if (!name[0] && node->n_output)
		at.node = arena_printf(r->arena, "node of \"%s\" (%s)",
				       onnx_show(r->arena, node->output[0]), type);
	else
		at.node = arena_printf(r->arena, "node \"%s\" (%s)", onnx_show(r->arena, name), type);
	return at;
}

static void define(Reader *r, const char *name, int by, size_t at)
{
	Def *def = arena_new(r->arena, Def);
	*def = (Def){ .by = by, .at = at };
	if (strmap_get(&r->defs, name))
		diag_error(r->diag, (Loc){ .file = r->file }, "'%s' is defined twice",
			   onnx_show(r->arena, name));
	else
		strmap_put(&r->defs, name, def);
}

static void define_all(Reader *r)
{
	const Onnx__GraphProto *g = r->proto;

	for (size_t i = 0; i < g->n_initializer; i++)
		if (g->initializer[i]->name && g->initializer[i]->name[0])
			define(r, g->initializer[i]->name, DEF_INITIALIZER, i);
		else
			diag_error(r->diag, (Loc){ .file = r->file }, "initializer %zu has no name", i);
	for (size_t i = 0; i < g->n_sparse_initializer; i++) {
		const Onnx__TensorProto *values = g->sparse_initializer[i]->values;
		if (values && values->name)
			define(r, values->name, DEF_SPARSE, i);
	}
	for (size_t i = 0; i < g->n_input; i++) {
		const char *name = g->input[i]->name ? g->input[i]->name : "";
		const Def *def = strmap_get(&r->defs, name);
		if (!name[0])
			diag_error(r->diag, (Loc){ .file = r->file }, "input %zu has no name", i);
		else if (!def || (def->by != DEF_INITIALIZER && def->by != DEF_SPARSE))
			define(r, name, DEF_INPUT, i);
	}
	for (size_t i = 0; i < g->n_node; i++)
		for (size_t k = 0; k < g->node[i]->n_output; k++)
			if (g->node[i]->output[k][0])
				define(r, g->node[i]->output[k], DEF_NODE, i);
}

/* Nodes still to be visited; each is entered once. */
typedef struct Todo {
	size_t *v, n;
} Todo;

static void need(Reader *r, Todo *todo, size_t node)
{
	if (r->needed[node])
		return;
	r->needed[node] = true;
	todo->v[todo->n++] = node;
}

static const Def *find_def(const Reader *r, const char *name)
{
	return strmap_get(&r->defs, name);
}

static void need_inputs(Reader *r, Todo *todo, const Onnx__NodeProto *node)
{
	for (size_t i = 0; i < node->n_input; i++) {
		const Def *def = find_def(r, node->input[i]);
		if (def && def->by == DEF_NODE)
			need(r, todo, def->at);
		else if ((!def && node->input[i][0]) || (def && def->by == DEF_SPARSE))
			diag_error(r->diag, onnx_node_loc(r, node), "reads '%s', %s",
				   onnx_show(r->arena, node->input[i]),
				   def ? "a sparse tensor, which is not supported"
				       : "which nothing defines");
	}
}

static void find_needed(Reader *r)
{
	const Onnx__GraphProto *g = r->proto;
	Todo todo = { arena_array(r->arena, size_t, g->n_node + 1), 0 };

	r->needed = arena_array(r->arena, bool, g->n_node + 1);
	if (!g->n_output)
		diag_error(r->diag, (Loc){ .file = r->file },
			   "the graph has no outputs, so there is nothing to compute: export it with one");
	for (size_t i = 0; i < g->n_output; i++) {
		const char *name = g->output[i]->name ? g->output[i]->name : "";
		const Def *def = find_def(r, name);
		if (!def || def->by == DEF_SPARSE)
			diag_error(r->diag, (Loc){ .file = r->file }, "output '%s' is not made by any node",
				   onnx_show(r->arena, name));
		else if (def->by == DEF_NODE)
			need(r, &todo, def->at);
	}
	while (todo.n)
		need_inputs(r, &todo, g->node[todo.v[--todo.n]]);
}

/* True if node `to` needs, directly or not, what node `from` makes. */
static bool depends(Reader *r, size_t to, size_t from)
{
	bool *needed = r->needed;
	Todo todo = { arena_array(r->arena, size_t, r->proto->n_node + 1), 0 };

	r->needed = arena_array(r->arena, bool, r->proto->n_node + 1);
	need(r, &todo, to);
	while (todo.n)
		need_inputs(r, &todo, r->proto->node[todo.v[--todo.n]]);
	bool found = r->needed[from];
	r->needed = needed;
	return found;
}

/* Nodes must stand in the order in which they can run. Reports the first
 * that does not. */
static void check_order(Reader *r)
{
	for (size_t i = 0; i < r->proto->n_node; i++) {
		const Onnx__NodeProto *node = r->proto->node[i];
		for (size_t k = 0; r->needed[i] && k < node->n_input; k++) {
			const Def *def = find_def(r, node->input[k]);
			if (!def || def->by != DEF_NODE || def->at < i)
				continue;
			const char *name = onnx_show(r->arena, node->input[k]);
			if (depends(r, def->at, i))
				diag_error(r->diag, onnx_node_loc(r, node),
					   "is part of a cycle: '%s' depends on its own value", name);
			else
				diag_error(r->diag, onnx_node_loc(r, node),
					   "reads '%s' before it is made by %s", name,
					   onnx_node_loc(r, r->proto->node[def->at]).node);
			return;
		}
	}
}

bool onnx_resolve(Reader *r)
{
	const int before = r->diag->errors;

	strmap_init(&r->defs, r->arena);
	define_all(r);
	find_needed(r);
	if (r->diag->errors == before)
		check_order(r);
	return r->diag->errors == before;
}

/* The op that makes the value of that name; NULL for the empty name. */
static Op *op_of(Reader *r, const char *name)
{
	Def *def = strmap_get(&r->defs, name);
	if (def && !def->op && def->by == DEF_INITIALIZER)
		def->op = onnx_make_initializer(r, r->proto->initializer[def->at]);
	return def ? def->op : NULL;
}

static bool counts_fit(Node *n, const OnnxOpRow *row)
{
	int given = n->nin, least = row->min_in;

	while (given && !n->in[given - 1])
		given--;
	bool all = given >= least;
	for (int i = 0; i < least && all; i++)
		all = n->in[i] != NULL;
	if (!all)
		node_error(n, "needs at least %d inputs, has %d", least, given);
	else if (given > row->max_in)
		node_error(n, "takes at most %d inputs, has %d", row->max_in, given);
	else if (n->nout > row->max_out)
		node_error(n, "makes at most %d outputs, has %d", row->max_out, n->nout);
	else
		return true;
	return false;
}

static bool reads_broken(const Node *n)
{
	for (int i = 0; i < n->nin; i++)
		if (n->in[i] && n->in[i]->dtype == TYPE_NONE)
			return true;
	return false;
}

static void build_node(Reader *r, const Onnx__NodeProto *node)
{
	Node n = { .r = r, .proto = node, .loc = onnx_node_loc(r, node), .opset = r->opset };
	const int before = r->diag->errors;
	OnnxBuild build = NULL;
	const OnnxOpRow *row = onnx_find_op(node, &build);

	n.kind = row->kind;
	n.nin = (int)node->n_input;
	n.nout = (int)node->n_output;
	n.in = arena_array(r->arena, Op *, node->n_input);
	n.out = arena_array(r->arena, Op *, node->n_output + 1);
	n.attr_read = arena_array(r->arena, bool, node->n_attribute);
	for (int i = 0; i < n.nin; i++)
		n.in[i] = op_of(r, node->input[i]);
	if (!reads_broken(&n) && counts_fit(&n, row)) {
		build(&n);
		if (r->diag->errors == before)
			attr_check_unread(&n);
	}
	for (int i = 0; i < n.nout; i++) {
		if (!node_wants(&n, i))
			continue;
		if (!n.out[i] && r->diag->errors == before && !reads_broken(&n))
			node_error(&n, "output %d is not supported", i);
		Def *def = strmap_get(&r->defs, node->output[i]);
		def->op = n.out[i] && n.out[i]->dtype != TYPE_NONE ? n.out[i] : r->broken;
	}
}

static void make_output(Reader *r, const Onnx__ValueInfoProto *v)
{
	Op *op = op_of(r, v->name);
	Loc at = { .file = r->file,
		   .node = arena_printf(r->arena, "output '%s'", onnx_show(r->arena, v->name)) };

	if (op->dtype == TYPE_NONE)
		return;
	Op *out = graph_insert(r->g, NULL, OP_OUTPUT, v->name, 1, &op);
	out->loc = at;
	out->node = v->name;
	op_infer(r->g, out);
	if (!v->type || v->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
		return;
	DType declared = onnx_dtype(v->type->tensor_type->elem_type);
	if (declared != TYPE_NONE && declared != out->dtype)
		diag_error(r->diag, at, "is declared as %s, but is made as %s", type_info[declared].name,
			   type_info[out->dtype].name);
}

bool onnx_import(Reader *r)
{
	const int before = r->diag->errors;

	strmap_init(&r->external, r->arena);
	r->broken = arena_new(r->arena, Op);
	r->broken->name = "";
	onnx_make_inputs(r);
	for (size_t i = 0; i < r->proto->n_node; i++)
		if (r->needed[i])
			build_node(r, r->proto->node[i]);
	for (size_t i = 0; i < r->proto->n_output; i++)
		make_output(r, r->proto->output[i]);
	if (r->diag->errors == before)
		onnx_clean_up(r);
	if (r->diag->errors == before && r->opt->random_weights)
		weights_fill(r->g, r->opt->seed);
	return r->diag->errors == before;
}
