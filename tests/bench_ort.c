#include "tests/bench_ort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.pb-c.h"

enum { FLOAT = 1, OPSET = 13, IR_VERSION = 8, MOST_ATTRIBUTES = 8 };

typedef struct Writer {
	Arena *a;
	Onnx__GraphProto graph;
	bool known; /* every op so far */
} Writer;

#define NEW(w, Type, INIT) (Type *)memcpy(arena_new((w)->a, Type), &(Type)INIT, sizeof(Type))

static char *text(const char *s) { return (char *)(uintptr_t)s; }

static Onnx__NodeProto *add_node(Writer *w, const char *kind, const char *out)
{
	Onnx__NodeProto *n = NEW(w, Onnx__NodeProto, ONNX__NODE_PROTO__INIT);
	n->op_type = text(kind);
	n->output = arena_new(w->a, char *);
	n->output[n->n_output++] = text(out);
	n->attribute = arena_array(w->a, Onnx__AttributeProto *, MOST_ATTRIBUTES);
	w->graph.node[w->graph.n_node++] = n;
	return n;
}

static void add_ints(Writer *w, Onnx__NodeProto *n, const char *name, Ints v)
{
	Onnx__AttributeProto *a = NEW(w, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT);
	a->name = text(name);
	a->has_type = 1;
	a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
	a->n_ints = (size_t)v.n;
	a->ints = (int64_t *)(uintptr_t)v.v;
	n->attribute[n->n_attribute++] = a;
}

static void add_int(Writer *w, Onnx__NodeProto *n, const char *name, int64_t v)
{
	Onnx__AttributeProto *a = NEW(w, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT);
	a->name = text(name);
	a->has_type = a->has_i = 1;
	a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
	a->i = v;
	n->attribute[n->n_attribute++] = a;
}

static void add_constant(Writer *w, const Op *op)
{
	Onnx__TensorProto *t = NEW(w, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT);
	Tensor *v = tensor_to_f32(w->a, op->value);
	t->name = text(op->name);
	t->n_dims = (size_t)op->shape.rank;
	t->dims = arena_array(w->a, int64_t, t->n_dims);
	memcpy(t->dims, op->shape.dim, t->n_dims * sizeof *t->dims);
	t->has_data_type = t->has_raw_data = 1;
	t->data_type = FLOAT;
	t->raw_data.len = (size_t)tensor_bytes(v);
	t->raw_data.data = (uint8_t *)(uintptr_t)v->data;
	w->graph.initializer[w->graph.n_initializer++] = t;
}

static Onnx__ValueInfoProto *edge(Writer *w, const char *name, Shape shape)
{
	Onnx__ValueInfoProto *v = NEW(w, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT);
	Onnx__TypeProto *type = NEW(w, Onnx__TypeProto, ONNX__TYPE_PROTO__INIT);
	Onnx__TypeProto__Tensor *t =
		NEW(w, Onnx__TypeProto__Tensor, ONNX__TYPE_PROTO__TENSOR__INIT);
	t->shape = NEW(w, Onnx__TensorShapeProto, ONNX__TENSOR_SHAPE_PROTO__INIT);
	t->shape->dim = arena_array(w->a, Onnx__TensorShapeProto__Dimension *, shape.rank);
	for (int i = 0; i < shape.rank; i++) {
		Onnx__TensorShapeProto__Dimension *d =
			NEW(w, Onnx__TensorShapeProto__Dimension,
			    ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT);
		d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		d->dim_value = shape.dim[i];
		t->shape->dim[t->shape->n_dim++] = d;
	}
	t->has_elem_type = 1;
	t->elem_type = FLOAT;
	type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	type->tensor_type = t;
	v->name = text(name);
	v->type = type;
	return v;
}

static const char *onnx_kind(OpKind kind)
{
	switch (kind) {
	case OP_CONV: return "Conv";
	case OP_CONV_TRANSPOSE: return "ConvTranspose";
	case OP_MAX_POOL: return "MaxPool";
	case OP_CONCAT: return "Concat";
	case OP_RELU: return "Relu";
	case OP_SIGMOID: return "Sigmoid";
	default: return NULL;
	}
}

static void add_attributes(Writer *w, Onnx__NodeProto *n, const Op *op)
{
	switch (op->kind) {
	case OP_CONV:
	case OP_CONV_TRANSPOSE:
		add_ints(w, n, "strides", op->attr.conv.strides);
		add_ints(w, n, "pads", op->attr.conv.pads);
		add_ints(w, n, "dilations", op->attr.conv.dilations);
		add_int(w, n, "group", op->attr.conv.groups);
		break;
	case OP_MAX_POOL:
		add_ints(w, n, "kernel_shape", op->attr.pool.kernel);
		add_ints(w, n, "strides", op->attr.pool.strides);
		add_ints(w, n, "pads", op->attr.pool.pads);
		break;
	case OP_CONCAT:
		add_int(w, n, "axis", 1);
		break;
	default:
		break;
	}
}

static void add_op(Writer *w, const Op *op)
{
	const char *kind = onnx_kind(op->kind);
	const char *act = op_has_act(op) ? onnx_kind(op->act.kind) : "";
	if (op->kind == OP_CONSTANT) {
		add_constant(w, op);
		return;
	}
	if (op->kind == OP_INPUT) {
		w->graph.input[w->graph.n_input++] = edge(w, op->name, op->shape);
		return;
	}
	if (op->kind == OP_OUTPUT) {
		const Op *from = op_in(op, 0);
		w->graph.output[w->graph.n_output++] = edge(w, from->name, from->shape);
		return;
	}
	w->known = w->known && kind && act;
	if (!w->known)
		return;
	Onnx__NodeProto *n =
		add_node(w, kind, *act ? arena_printf(w->a, "%s.linear", op->name) : op->name);
	n->input = arena_array(w->a, char *, op->nin);
	for (int i = 0; i < op->nin; i++)
		n->input[n->n_input++] = text(op_in(op, i)->name);
	add_attributes(w, n, op);
	if (*act) {
		Onnx__NodeProto *then = add_node(w, act, op->name);
		then->input = n->output;
		then->n_input = 1;
	}
}

static bool write_model(const Graph *g, FILE *f)
{
	Writer w = { .a = g->arena, .graph = ONNX__GRAPH_PROTO__INIT, .known = true };
	Onnx__ModelProto m = ONNX__MODEL_PROTO__INIT;
	Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = { &opset };
	opset.has_version = m.has_ir_version = 1;
	opset.version = OPSET;
	m.ir_version = IR_VERSION;
	m.n_opset_import = 1;
	m.opset_import = opsets;
	m.graph = &w.graph;
	w.graph.name = text("bench");
	w.graph.node = arena_array(w.a, Onnx__NodeProto *, 2 * g->nops);
	w.graph.input = arena_array(w.a, Onnx__ValueInfoProto *, g->nops);
	w.graph.output = arena_array(w.a, Onnx__ValueInfoProto *, g->nops);
	w.graph.initializer = arena_array(w.a, Onnx__TensorProto *, g->nops);
	for_each_op(op, g)
		add_op(&w, op);
	const size_t n = onnx__model_proto__get_packed_size(&m);
	uint8_t *bytes = arena_array(w.a, uint8_t, n);
	onnx__model_proto__pack(&m, bytes);
	return w.known && fwrite(bytes, 1, n, f) == n && fflush(f) == 0;
}

/* Prints the seconds of the fastest run. */
static const char script[] =
	"const ort = require(process.argv[1] + '/node_modules/onnxruntime-node');"
	"const model = require('fs').readFileSync(3);"
	"const [, , threads, repeats, ...dims] = process.argv;"
	"(async () => {"
	"  const s = await ort.InferenceSession.create(model,"
	"    { intraOpNumThreads: +threads, interOpNumThreads: 1 });"
	"  const shape = dims.map(Number), n = shape.reduce((a, b) => a * b);"
	"  const x = new ort.Tensor('float32', Float32Array.from({ length: n }, (_, i) => Math.sin(i)), shape);"
	"  let best = 1e9;"
	"  for (let i = 0; i < +repeats; i++) {"
	"    const t = process.hrtime.bigint();"
	"    await s.run({ [s.inputNames[0]]: x });"
	"    best = Math.min(best, Number(process.hrtime.bigint() - t) / 1e9);"
	"  }"
	"  console.log(best);"
	"})();";

double ort_run(const Graph *g, int threads, int repeats)
{
	const char *folder = getenv("TESSERA_ORT");
	double seconds = -1;
	if (!folder || !*folder) {
		puts("TESSERA_ORT is not set: not compared with ONNX Runtime");
		return -1;
	}
	FILE *model = tmpfile();
	const Shape x = g->first->shape;
	FILE *node = NULL;
	if (model && write_model(g, model)) {
		rewind(model);
		fflush(NULL);
		node = popen(arena_printf(g->arena, "node -e \"%s\" '%s' %d %d %d %d %d %d 3<&%d", script,
					  folder, threads, repeats, (int)x.dim[0], (int)x.dim[1],
					  (int)x.dim[2], (int)x.dim[3], fileno(model)), "r");
	}
	if (!node || fscanf(node, "%lf", &seconds) != 1)
		puts("ONNX Runtime could not run it");
	if (node)
		pclose(node);
	if (model)
		fclose(model);
	return seconds;
}
