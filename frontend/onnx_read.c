/*
 * A model file in, a graph out.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What the forms of our ops are known up to. */
enum { LAST_IR_VERSION = 14, LAST_OPSET = 28 };

/* What small files may fold. */
#define FOLD_READ ((int64_t)1 << 30)
#define FOLD_MADE ((int64_t)256 << 20)

static bool read_opset(Reader *r, const Onnx__ModelProto *m)
{
	const Loc at = { .file = r->file };

	r->opset = m->ir_version < 3 ? 1 : 0;
	for (size_t i = 0; i < m->n_opset_import; i++) {
		const Onnx__OperatorSetIdProto *o = m->opset_import[i];
		const char *domain = o->domain ? o->domain : "";
		if ((!domain[0] || strcmp(domain, "ai.onnx") == 0) && o->version > r->opset)
			r->opset = o->version;
	}
	if (r->opset > LAST_OPSET)
		diag_error(r->diag, at, "is of opset %" PRId64 ", known are 1 to %d: export it for "
			   "one of these", r->opset, LAST_OPSET);
	return r->opset <= LAST_OPSET;
}

/* A model may do without if it has no op of ONNX itself. */
static bool needs_opset(const Reader *r)
{
	for (size_t i = 0; i < r->proto->n_node; i++)
		if (r->needed[i] && onnx_find_op(r->proto->node[i], NULL))
			return true;
	return false;
}

/* The versions of a model; false if it is none, or newer than we know. */
static bool read_header(Reader *r, const Onnx__ModelProto *m)
{
	const Loc at = { .file = r->file };

	if (!m->has_ir_version || m->ir_version < 1 || !m->graph) {
		diag_error(r->diag, at, "is not an ONNX model: it has no %s",
			   m->graph ? "IR version" : "graph");
		return false;
	}
	if (m->ir_version > LAST_IR_VERSION) {
		diag_error(r->diag, at, "is of IR version %" PRId64 ", known are 1 to %d: save it "
			   "as one of these", m->ir_version, LAST_IR_VERSION);
		return false;
	}
	r->proto = m->graph;
	return read_opset(r, m);
}

/* Unpacks, checks versions and resolves names. */
static bool open_model(Reader *r, Bytes bytes)
{
	const Onnx__ModelProto *m =
		onnx_unpack(r->arena, r->diag, r->file, &onnx__model_proto__descriptor, bytes);
	if (!m || !read_header(r, m) || !onnx_resolve(r))
		return false;
	const bool open = r->opset < 1 && needs_opset(r);
	if (open)
		diag_error(r->diag, (Loc){ .file = r->file },
			   "does not say which opset of ONNX it uses: export it with an opset_import");
	return !open;
}

typedef struct Missing {
	const char *what, *first; /* the op, and where it is first used */
	int count;
} Missing;

/* What the op of a node is called if we do not read it, else NULL. */
static const char *missing_op(const Reader *r, const Onnx__NodeProto *node)
{
	const OnnxOpRow *row = onnx_find_op(node, NULL);
	const char *type = onnx_show(r->arena, node->op_type ? node->op_type : "");

	if (row && r->opset >= row->since)
		return NULL;
	if (row)
		return arena_printf(r->arena, "%s of opset %" PRId64 " (read from %d on)", type, r->opset,
				    row->since);
	if (node->domain && node->domain[0])
		return arena_printf(r->arena, "%s.%s", onnx_show(r->arena, node->domain), type);
	return type;
}

/* "A x2 (first: node ...), B x1 (first: ...)" */
static const char *list_missing(Arena *a, const Missing *const list[], int n)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die_out_of_memory(1);
	for (int i = 0; i < n; i++)
		fprintf(f, "%s%s x%d (first: %s)", i ? ", " : "", list[i]->what, list[i]->count,
			list[i]->first);
	fclose(f);
	const char *copy = arena_strdup(a, text);
	free(text);
	return copy;
}

const char *onnx_missing_ops(const Reader *r)
{
	StrMap found;
	const Missing **order = arena_array(r->arena, const Missing *, r->proto->n_node);
	int n = 0;

	strmap_init(&found, r->arena);
	for (size_t i = 0; i < r->proto->n_node; i++) {
		const char *what = r->needed[i] ? missing_op(r, r->proto->node[i]) : NULL;
		Missing *m = what ? strmap_get(&found, what) : NULL;
		if (what && !m) {
			m = arena_new(r->arena, Missing);
			*m = (Missing){ what, onnx_node_loc(r, r->proto->node[i]).node, 0 };
			strmap_put(&found, what, m);
			order[n++] = m;
		}
		if (m)
			m->count++;
	}
	return n ? list_missing(r->arena, order, n) : NULL;
}

Graph *onnx_parse(Arena *a, Diag *d, const char *file, Bytes bytes, const ModelOptions *opt)
{
	Reader r = { .arena = a, .diag = d, .file = file, .opt = opt };

	const int64_t size = (int64_t)bytes.size;
	r.fold = (Budget){ FOLD_READ + 32 * size, FOLD_MADE + 4 * size };
	if (!open_model(&r, bytes))
		return NULL;
	const char *missing = onnx_missing_ops(&r);
	if (missing) {
		diag_error(d, (Loc){ .file = file }, "ops not supported: %s", missing);
		diag_note(d, (Loc){ .file = file }, "'tessera ops' lists those that are");
		return NULL;
	}
	r.g = graph_create(a, d, r.proto->name);
	return onnx_import(&r) ? r.g : NULL;
}

Graph *onnx_read(Arena *a, Diag *d, const char *path, const ModelOptions *opt)
{
	const char *file = arena_strdup(a, path);
	Bytes bytes = file_map(a, d, (Loc){ 0 }, file);

	if (!bytes.data)
		return NULL;
	Graph *g = onnx_parse(a, d, file, bytes, opt);
	/* What was looked at costs memory no longer, until it is used. */
	if (bytes.size)
		madvise((void *)(uintptr_t)bytes.data, bytes.size, MADV_DONTNEED);
	return g;
}

static const char *beyond_types(const Reader *r, Onnx__ValueInfoProto **values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const Onnx__TypeProto *t = values[i]->type;
		const char *name = onnx_show(r->arena, values[i]->name ? values[i]->name : "");
		if (t && t->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
		    t->value_case != ONNX__TYPE_PROTO__VALUE__NOT_SET)
			return arena_printf(r->arena, "'%s' is not a tensor", name);
		if (t && t->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
		    onnx_dtype(t->tensor_type->elem_type) == TYPE_NONE)
			return arena_printf(r->arena, "'%s' is of type %s", name,
					    onnx_type_name(r->arena, t->tensor_type->elem_type));
	}
	return NULL;
}

bool onnx_outline(Arena *a, Diag *d, const char *path, OnnxOutline *out)
{
	Reader r = { .arena = a, .diag = d, .file = path };
	Bytes bytes = file_map(a, d, (Loc){ 0 }, path);

	if (!bytes.data || !open_model(&r, bytes))
		return false;
	const char *missing = onnx_missing_ops(&r);
	*out = (OnnxOutline){ .inputs = arena_array(a, const char *, r.proto->n_input) };
	for (size_t i = 0; i < r.proto->n_input; i++) {
		const char *name = r.proto->input[i]->name;
		const Def *def = strmap_get(&r.defs, name);
		if (def->by == DEF_INPUT)
			out->inputs[out->ninputs++] = name;
	}
	out->beyond = missing ? arena_printf(a, "ops not supported: %s", missing)
			      : beyond_types(&r, r.proto->input, r.proto->n_input);
	if (!out->beyond)
		out->beyond = beyond_types(&r, r.proto->output, r.proto->n_output);
	return true;
}

Tensor *onnx_read_tensor(Arena *a, Diag *d, const char *path, const char **name)
{
	const char *file = arena_strdup(a, path);
	Bytes bytes = file_map(a, d, (Loc){ 0 }, file);
	StrMap external;

	if (!bytes.data)
		return NULL;
	const Onnx__TensorProto *t =
		onnx_unpack(a, d, file, &onnx__tensor_proto__descriptor, bytes);
	if (!t)
		return NULL;
	strmap_init(&external, a);
	*name = t->name ? t->name : "";
	return onnx_tensor(a, d, (Loc){ .file = file }, t, &external);
}
