/*
 * Graph inputs and their types.
 *
 * The graph has static shapes only. A dim the model leaves open is closed by
 * --dim NAME=SIZE, by --input NAME=SHAPE or else by the data given for the
 * input; the second may also change dims the model fixes, and says so.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>
#include <string.h>

typedef Onnx__ValueInfoProto Value;
typedef Onnx__TensorShapeProto__Dimension Dim;

static bool is_open(const Dim *d)
{
	return d->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
}

/* The dim's name, or NULL if it is fixed or nameless. */
static const char *dim_name(const Dim *d)
{
	const bool named = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
	return named && d->dim_param && d->dim_param[0] ? d->dim_param : NULL;
}

/* NULL if the model declares none. */
static const Onnx__TensorShapeProto *shape_of(const Value *v)
{
	const bool tensor = v->type && v->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	return tensor ? v->type->tensor_type->shape : NULL;
}

static const DimOption *find_dim(const ModelOptions *opt, const char *name)
{
	for (int i = 0; i < opt->ndims; i++)
		if (strcmp(opt->dims[i].name, name) == 0)
			return &opt->dims[i];
	return NULL;
}

static const ShapeOption *find_shape(const ModelOptions *opt, const char *name)
{
	for (int i = 0; i < opt->nshapes; i++)
		if (!opt->shapes[i].input || strcmp(opt->shapes[i].input, name) == 0)
			return &opt->shapes[i];
	return NULL;
}

static bool is_graph_input(const Reader *r, size_t i)
{
	const char *name = r->proto->input[i]->name;
	const Def *def = name ? strmap_get(&r->defs, name) : NULL;
	return def && def->by == DEF_INPUT && def->at == i;
}

static bool is_known(const ModelOptions *opt, const char *name)
{
	for (int i = 0; i < opt->nknown; i++)
		if (strcmp(opt->known[i].name, name) == 0)
			return true;
	return false;
}

static const Shape *named_data(const ModelOptions *opt, const char *name)
{
	for (int i = 0; i < opt->ndata; i++)
		if (opt->data[i].input && strcmp(opt->data[i].input, name) == 0)
			return &opt->data[i].shape;
	return NULL;
}

/* The shape of the data for the next input, or NULL. Data without a name goes
 * to the inputs that nothing names, in order: *next counts them. */
static const Shape *data_shape(const ModelOptions *opt, const char *name, int *next)
{
	const Shape *named = named_data(opt, name);
	if (named || is_known(opt, name))
		return named;
	int before = (*next)++;
	for (int i = 0; i < opt->ndata; i++)
		if (!opt->data[i].input && before-- == 0)
			return &opt->data[i].shape;
	return NULL;
}

static bool has_tensor_type(Reader *r, Loc at, const Value *v)
{
	if (!v->type || v->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
	    !v->type->tensor_type) {
		diag_error(r->diag, at, "is not a tensor, which all inputs and outputs have to be");
		return false;
	}
	if (onnx_dtype(v->type->tensor_type->elem_type) != TYPE_NONE)
		return true;
	diag_error(r->diag, at, "elements of type %s are not supported",
		   onnx_type_name(r->arena, v->type->tensor_type->elem_type));
	return false;
}

static void report_open(Reader *r, Loc at, const Value *v)
{
	const Onnx__TensorShapeProto *s = shape_of(v);
	Arena *a = r->arena;
	const char *names = "", *flags = "", *name = onnx_show(a, v->name);
	bool all_named = true;

	for (size_t i = 0; i < s->n_dim; i++) {
		const char *dim = dim_name(s->dim[i]);
		if (!is_open(s->dim[i]) || (dim && find_dim(r->opt, dim)))
			continue;
		all_named &= dim != NULL;
		names = arena_printf(a, "%s%s%s", names, *names ? ", " : "", dim ? onnx_show(a, dim) : "?");
		if (dim)
			flags = arena_printf(a, "%s%s--dim %s=SIZE", flags, *flags ? " " : "",
					     onnx_show(a, dim));
	}
	if (all_named)
		diag_error(r->diag, at, "dims not fixed: %s; give %s, or --input %s=SHAPE", names, flags,
			   name);
	else
		diag_error(r->diag, at, "dims not fixed: %s; give --input %s=SHAPE", names, name);
}

/* The shape the model declares, its open dims closed by --dim or by that of
 * the data, which may be NULL. */
static bool declared_shape(Reader *r, Loc at, const Value *v, const Shape *data, Shape *shape)
{
	const Onnx__TensorShapeProto *s = shape_of(v);

	if (!s && data) {
		*shape = *data;
		return true;
	}
	if (!s) {
		diag_error(r->diag, at, "has no shape; give --input %s=SHAPE", onnx_show(r->arena, v->name));
		return false;
	}
	*shape = (Shape){ .rank = (int)s->n_dim };
	for (int i = 0; i < shape->rank; i++) {
		const char *name = dim_name(s->dim[i]);
		const DimOption *given = name ? find_dim(r->opt, name) : NULL;
		const bool open = is_open(s->dim[i]) && !given;
		if (open && (!data || data->rank != shape->rank)) {
			report_open(r, at, v);
			return false;
		}
		shape->dim[i] = given ? given->size : open ? data->dim[i] : s->dim[i]->dim_value;
		if (shape->dim[i] < 0) {
			diag_error(r->diag, at, "dim %d is negative: %" PRId64, i, shape->dim[i]);
			return false;
		}
	}
	return true;
}

/* --input against what the model fixes. */
static bool given_shape(Reader *r, Loc at, const Value *v, Shape given)
{
	const Onnx__TensorShapeProto *s = shape_of(v);

	if (s && s->n_dim != (size_t)given.rank) {
		diag_error(r->diag, at, "has %zu dims, but --input gives %s", s->n_dim,
			   shape_text(r->arena, given));
		return false;
	}
	for (int i = 0; s && i < given.rank; i++)
		if (!is_open(s->dim[i]) && s->dim[i]->dim_value != given.dim[i]) {
			diag_warning(r->diag, at, "dim %d is %" PRId64 " in the model, %" PRId64
				     " by --input", i, s->dim[i]->dim_value, given.dim[i]);
			break;
		}
	return true;
}

static void make_input(Reader *r, const Value *v, const Shape *data, Def *def)
{
	const ShapeOption *given = find_shape(r->opt, v->name);
	Loc at = { .file = r->file,
		   .node = arena_printf(r->arena, "input '%s'", onnx_show(r->arena, v->name)) };
	Shape shape = { 0 };
	bool ok = has_tensor_type(r, at, v);

	if (ok && shape_of(v) && shape_of(v)->n_dim > MAX_RANK) {
		diag_error(r->diag, at, "has %zu dims, at most %d are supported", shape_of(v)->n_dim,
			   MAX_RANK);
		ok = false;
	}
	if (ok && given) {
		shape = given->shape;
		ok = given_shape(r, at, v, shape);
	} else if (ok) {
		ok = declared_shape(r, at, v, data, &shape);
	}
	if (ok && shape_count(shape) < 0) {
		diag_error(r->diag, at, "has more than %" PRId64 " elements: %s", MAX_ELEMENTS,
			   shape_text(r->arena, shape));
		ok = false;
	}
	def->op = graph_insert(r->g, NULL, OP_INPUT, v->name, 0, NULL);
	def->op->loc = at;
	if (!ok)
		return;
	def->op->dtype = onnx_dtype(v->type->tensor_type->elem_type);
	def->op->shape = shape;
}

static void report_unknown(Reader *r, const char *flag, const char *name, const char *what,
			   const char *const names[], size_t n)
{
	const char *near = diag_nearest(name, names, n);
	diag_error(r->diag, (Loc){ .file = r->file }, "%s %s: the model has no such %s", flag, name, what);
	if (near)
		diag_note(r->diag, (Loc){ .file = r->file }, "did you mean '%s'?",
			  onnx_show(r->arena, near));
}

static bool is_one_of(const char *name, const char *const names[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Every --dim and --input must name something. */
static void check_options(Reader *r)
{
	const ModelOptions *opt = r->opt;
	size_t inputs = 0, dims = 0, room = 0;

	for (size_t i = 0; i < r->proto->n_input; i++)
		if (shape_of(r->proto->input[i]))
			room += shape_of(r->proto->input[i])->n_dim;
	const char **input = arena_array(r->arena, const char *, r->proto->n_input);
	const char **dim = arena_array(r->arena, const char *, room);
	for (size_t i = 0; i < r->proto->n_input; i++) {
		const Value *v = r->proto->input[i];
		if (!is_graph_input(r, i))
			continue;
		input[inputs++] = v->name;
		for (size_t k = 0; shape_of(v) && k < shape_of(v)->n_dim; k++)
			if (dim_name(shape_of(v)->dim[k]))
				dim[dims++] = dim_name(shape_of(v)->dim[k]);
	}
	for (int i = 0; i < opt->ndims; i++)
		if (!is_one_of(opt->dims[i].name, dim, dims))
			report_unknown(r, "--dim", opt->dims[i].name, "dim", dim, dims);
	for (int i = 0; i < opt->nshapes; i++)
		if (opt->shapes[i].input && !is_one_of(opt->shapes[i].input, input, inputs))
			report_unknown(r, "--input", opt->shapes[i].input, "input", input, inputs);
		else if (!opt->shapes[i].input && inputs != 1)
			diag_error(r->diag, (Loc){ .file = r->file },
				   "--input without a name: the model has %zu inputs", inputs);
	for (int i = 0; i < opt->nknown; i++)
		if (!is_one_of(opt->known[i].name, input, inputs))
			report_unknown(r, "--const", opt->known[i].name, "input", input, inputs);
}

void onnx_make_inputs(Reader *r)
{
	check_options(r);
	int next = 0;
	for (size_t i = 0; i < r->proto->n_input; i++) {
		const Value *v = r->proto->input[i];
		if (is_graph_input(r, i))
			make_input(r, v, data_shape(r->opt, v->name, &next),
				   strmap_get(&r->defs, v->name));
	}
}
