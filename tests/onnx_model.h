/*
 * ONNX models by hand, for tests of the reader.
 *
 *     Model *m = model_create(t, 13);
 *     model_input(m, "x", TYPE_F32, "1x3xHx8");
 *     model_weight(m, "w", TYPE_F32, SHAPE(4, 3, 1, 1), 0.5);
 *     model_node(m, "Conv", "x w", "y");
 *     model_list(m, "pads", INTS(t->arena, 1, 1, 1, 1));
 *     model_output(m, "y");
 *     model_gives(m, "text of the graph");
 */
#ifndef TESTS_ONNX_MODEL_H
#define TESTS_ONNX_MODEL_H

#include <string.h>

#include "frontend/onnx.h"
#include "tests/check.h"
#include "tests/fixture.h"

#include "onnx.pb-c.h"

enum { MODEL_ROOM = 32 }; /* of each list */

typedef struct Model {
	Fixture *t;
	Onnx__ModelProto proto;
	Onnx__GraphProto graph;
	Onnx__OperatorSetIdProto opset, *opsets[1];
	ModelOptions options;
	Bytes bytes; /* once packed */
} Model;

/* What lists hold: an initialised message in arena memory. */
#define model_message(m, Type, INIT) \
	(Type *)memcpy(arena_new((m)->t->arena, Type), &(Type)INIT, sizeof(Type))

#define model_append(list, n, element) ((list)[(n)++] = (element))

static inline Model *model_create(Fixture *t, int64_t opset)
{
	Model *m = arena_new(t->arena, Model);
	*m = (Model){ .t = t, .proto = ONNX__MODEL_PROTO__INIT, .graph = ONNX__GRAPH_PROTO__INIT,
		      .opset = ONNX__OPERATOR_SET_ID_PROTO__INIT };
	m->opset.has_version = m->proto.has_ir_version = 1;
	m->opset.version = opset;
	m->opsets[0] = &m->opset;
	m->proto.ir_version = 8;
	m->proto.n_opset_import = 1;
	m->proto.opset_import = m->opsets;
	m->proto.graph = &m->graph;
	m->graph.name = (char *)"m";
	m->graph.node = arena_array(t->arena, Onnx__NodeProto *, MODEL_ROOM);
	m->graph.input = arena_array(t->arena, Onnx__ValueInfoProto *, MODEL_ROOM);
	m->graph.output = arena_array(t->arena, Onnx__ValueInfoProto *, MODEL_ROOM);
	m->graph.initializer = arena_array(t->arena, Onnx__TensorProto *, MODEL_ROOM);
	return m;
}

/* The numbers of TensorProto.DataType. */
static inline int32_t model_type(DType type)
{
	static const uint8_t number[TYPE_COUNT] = {
		[TYPE_F32] = 1, [TYPE_U8] = 2,   [TYPE_I8] = 3,   [TYPE_U16] = 4, [TYPE_I16] = 5,
		[TYPE_I32] = 6, [TYPE_I64] = 7,  [TYPE_BOOL] = 9, [TYPE_F16] = 10, [TYPE_F64] = 11,
		[TYPE_U32] = 12, [TYPE_U64] = 13, [TYPE_BF16] = 16,
	};
	return number[type];
}

/* One dim of a shape text: a number, a name, or '?'. */
static inline Onnx__TensorShapeProto__Dimension *model_dim(Model *m, const char *text, size_t n)
{
	Onnx__TensorShapeProto__Dimension *d =
		model_message(m, Onnx__TensorShapeProto__Dimension,
			      ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT);
	if (strchr("-0123456789", *text)) {
		d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		d->dim_value = strtoll(text, NULL, 10);
	} else if (*text != '?') {
		d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
		d->dim_param = arena_strndup(m->t->arena, text, n);
	}
	return d;
}

/* "1x3xHx?"; "" is a scalar, NULL no shape at all. */
static inline Onnx__ValueInfoProto *model_value(Model *m, const char *name, DType type,
						const char *shape)
{
	Onnx__ValueInfoProto *v =
		model_message(m, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT);
	v->name = (char *)(uintptr_t)name;
	v->type = model_message(m, Onnx__TypeProto, ONNX__TYPE_PROTO__INIT);
	v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	v->type->tensor_type =
		model_message(m, Onnx__TypeProto__Tensor, ONNX__TYPE_PROTO__TENSOR__INIT);
	v->type->tensor_type->has_elem_type = 1;
	v->type->tensor_type->elem_type = model_type(type);
	if (!shape)
		return v;
	Onnx__TensorShapeProto *s =
		model_message(m, Onnx__TensorShapeProto, ONNX__TENSOR_SHAPE_PROTO__INIT);
	v->type->tensor_type->shape = s;
	s->dim = arena_array(m->t->arena, Onnx__TensorShapeProto__Dimension *, MODEL_ROOM);
	while (*shape) {
		size_t n = strcspn(shape, "x");
		model_append(s->dim, s->n_dim, model_dim(m, shape, n));
		shape += n + (shape[n] == 'x');
	}
	return v;
}

static inline Onnx__ValueInfoProto *model_input(Model *m, const char *name, DType type,
						const char *shape)
{
	return model_append(m->graph.input, m->graph.n_input, model_value(m, name, type, shape));
}

/* An output whose type the model leaves open. */
static inline Onnx__ValueInfoProto *model_output(Model *m, const char *name)
{
	Onnx__ValueInfoProto *v = model_value(m, name, TYPE_F32, NULL);
	v->type = NULL;
	return model_append(m->graph.output, m->graph.n_output, v);
}

/* A tensor in raw_data. */
static inline Onnx__TensorProto *model_tensor(Model *m, const char *name, const Tensor *value)
{
	Onnx__TensorProto *p = model_message(m, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT);
	p->name = (char *)(uintptr_t)name;
	p->has_data_type = p->has_raw_data = 1;
	p->data_type = model_type(value->dtype);
	p->n_dims = (size_t)value->shape.rank;
	p->dims = arena_array(m->t->arena, int64_t, MAX_RANK);
	memcpy(p->dims, value->shape.dim, sizeof value->shape.dim);
	p->raw_data.len = (size_t)tensor_bytes(value);
	p->raw_data.data = (uint8_t *)(uintptr_t)value->data;
	return p;
}

static inline Onnx__TensorProto *model_initializer(Model *m, const char *name, const Tensor *value)
{
	return model_append(m->graph.initializer, m->graph.n_initializer,
			    model_tensor(m, name, value));
}

/* An initializer of one value, spelt out. */
static inline Onnx__TensorProto *model_weight(Model *m, const char *name, DType type, Shape shape,
					      double value)
{
	Tensor *t = tensor_create(m->t->arena, type, shape);
	for (int64_t i = 0; i < tensor_count(t); i++)
		tensor_set_f64(t, i, value);
	return model_initializer(m, name, t);
}

/* Says that the data of `p` is in another file. */
static inline void model_external(Model *m, Onnx__TensorProto *p, const char *location)
{
	Onnx__StringStringEntryProto *e = model_message(
		m, Onnx__StringStringEntryProto, ONNX__STRING_STRING_ENTRY_PROTO__INIT);
	e->key = (char *)"location";
	e->value = (char *)(uintptr_t)location;
	p->has_raw_data = 0;
	p->has_data_location = 1;
	p->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
	p->external_data = arena_array(m->t->arena, Onnx__StringStringEntryProto *, 1);
	model_append(p->external_data, p->n_external_data, e);
}

static inline Onnx__TensorProto *model_ints(Model *m, const char *name, Ints list)
{
	return model_initializer(m, name, tensor_of_ints(m->t->arena, list.v, list.n));
}

static inline size_t model_names(Model *m, const char *text, char ***names)
{
	size_t n = 0;
	*names = arena_array(m->t->arena, char *, MODEL_ROOM);
	while (*text) {
		size_t length = strcspn(text, " ");
		/* '-' is an operand left out */
		const bool left_out = length == 1 && *text == '-';
		(*names)[n++] = arena_strndup(m->t->arena, text, left_out ? 0 : length);
		text += length + (text[length] == ' ');
	}
	return n;
}

/* A node named after its type; operands and results separated by spaces. */
static inline Onnx__NodeProto *model_node(Model *m, const char *type, const char *in,
					  const char *out)
{
	Onnx__NodeProto *n = model_message(m, Onnx__NodeProto, ONNX__NODE_PROTO__INIT);
	n->op_type = (char *)(uintptr_t)type;
	n->name = arena_printf(m->t->arena, "the_%s", type);
	n->n_input = model_names(m, in, &n->input);
	n->n_output = model_names(m, out, &n->output);
	n->attribute = arena_array(m->t->arena, Onnx__AttributeProto *, MODEL_ROOM);
	return model_append(m->graph.node, m->graph.n_node, n);
}

#define MODEL_ATTR(id) ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##id

static inline Onnx__AttributeProto *model_attr(Model *m, const char *name, int type)
{
	Onnx__NodeProto *n = m->graph.node[m->graph.n_node - 1];
	Onnx__AttributeProto *a =
		model_message(m, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT);
	a->name = (char *)(uintptr_t)name;
	a->has_type = 1;
	a->type = (Onnx__AttributeProto__AttributeType)type;
	return model_append(n->attribute, n->n_attribute, a);
}

/* Attributes of the last node. */
static inline void model_int(Model *m, const char *name, int64_t value)
{
	Onnx__AttributeProto *a = model_attr(m, name, MODEL_ATTR(INT));
	a->has_i = 1;
	a->i = value;
}

static inline void model_float(Model *m, const char *name, float value)
{
	Onnx__AttributeProto *a = model_attr(m, name, MODEL_ATTR(FLOAT));
	a->has_f = 1;
	a->f = value;
}

static inline void model_string(Model *m, const char *name, const char *value)
{
	Onnx__AttributeProto *a = model_attr(m, name, MODEL_ATTR(STRING));
	a->has_s = 1;
	a->s = (ProtobufCBinaryData){ strlen(value), (uint8_t *)(uintptr_t)value };
}

static inline void model_list(Model *m, const char *name, Ints list)
{
	Onnx__AttributeProto *a = model_attr(m, name, MODEL_ATTR(INTS));
	a->n_ints = (size_t)list.n;
	a->ints = (int64_t *)(uintptr_t)list.v;
}

/* The file. */
static inline Bytes model_pack(Model *m)
{
	const size_t n = onnx__model_proto__get_packed_size(&m->proto);
	uint8_t *data = arena_alloc(m->t->arena, n);
	onnx__model_proto__pack(&m->proto, data);
	return m->bytes = (Bytes){ (const char *)data, n };
}

static inline Graph *model_parse(Model *m)
{
	Bytes b = model_pack(m);
	return onnx_parse(m->t->arena, &m->t->diag, "m.onnx", b, &m->options);
}

/* The graph's text without its first line; what reading said, if it fails. */
static inline const char *model_text(Model *m)
{
	Graph *g = model_parse(m);
	char *text;
	size_t n;
	if (!g || !graph_verify(g))
		return fixture_said(m->t);
	FILE *f = open_memstream(&text, &n);
	graph_print(g, f);
	fclose(f);
	char *line = strchr(text, '\n');
	const char *copy = arena_strdup(m->t->arena, line ? line + 1 : text);
	free(text);
	return copy;
}

/* The graph has this text. */
static inline void model_gives(Model *m, const char *text)
{
	assert_string_equal(model_text(m), text);
}

/* The model is refused with these words. */
static inline void model_fails(Model *m, const char *said)
{
	assert_null(model_parse(m));
	assert_string_equal(fixture_said(m->t), said);
}

#endif
