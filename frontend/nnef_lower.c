/* Arguments of standard operations, and the ops they become. */
#include "frontend/nnef_lower.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Value call_error(Call *c, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return nnef_error(c->n, c->loc, "%s: %s", c->op->name, text);
}

Value arg_value(const Call *c, const char *param)
{
	for (int i = 0; i < c->op->nparams; i++)
		if (strcmp(c->op->param[i].name, param) == 0)
			return c->arg[i];
	die("%s has no parameter '%s'", c->op->name, param);
}

int64_t arg_integer(const Call *c, const char *param)
{
	Value v = arg_value(c, param);
	assert(v.kind == VALUE_INTEGER);
	return v.integer;
}

double arg_scalar(const Call *c, const char *param)
{
	Value v = arg_value(c, param);
	assert(v.kind == VALUE_SCALAR);
	return v.scalar;
}

bool arg_logical(const Call *c, const char *param)
{
	Value v = arg_value(c, param);
	assert(v.kind == VALUE_LOGICAL);
	return v.logical;
}

const char *arg_string(const Call *c, const char *param)
{
	Value v = arg_value(c, param);
	assert(v.kind == VALUE_STRING);
	return v.string;
}

Ints arg_ints(Call *c, const char *param)
{
	Value v = arg_value(c, param);
	int64_t *list = arena_array(c->n->arena, int64_t, v.n);
	c->n->steps += v.n;
	for (int i = 0; i < v.n; i++)
		list[i] = v.item[i].integer;
	return (Ints){ v.n, list };
}

bool arg_axis(Call *c, const char *param, int rank, int *out)
{
	int64_t axis = arg_integer(c, param);
	if (axis < 0 || axis >= rank) {
		call_error(c, "axis %" PRId64 " is out of range for %d dims", axis, rank);
		return false;
	}
	*out = (int)axis;
	return true;
}

bool arg_axes(Call *c, const char *param, int rank, Ints *out)
{
	bool seen[2 * MAX_RANK] = { false };
	Ints given = arg_ints(c, param);
	for (int i = 0; i < given.n; i++) {
		if (given.v[i] < 0 || given.v[i] >= rank) {
			call_error(c, "axis %" PRId64 " is out of range for %d dims", given.v[i], rank);
			return false;
		}
		if (seen[given.v[i]]) {
			call_error(c, "axis %" PRId64 " is named twice", given.v[i]);
			return false;
		}
		seen[given.v[i]] = true;
	}
	int64_t sorted[2 * MAX_RANK];
	int n = 0;
	for (int i = 0; i < rank; i++)
		if (seen[i])
			sorted[n++] = i;
	*out = ints_copy(c->n->arena, sorted, n);
	return true;
}

static const char *name_of(const Call *c, const char *suffix)
{
	return suffix ? arena_printf(c->n->arena, "%s.%s", c->want.base, suffix) : c->want.base;
}

Op *emit(Call *c, const char *suffix, OpKind kind, const Attrs *attr, int nin, Op *const in[])
{
	for (int i = 0; i < nin; i++)
		if (!in[i])
			return NULL;
	Op *op = graph_insert(c->n->g, NULL, kind, name_of(c, suffix), nin, in);
	op->loc = c->loc;
	if (attr)
		op->attr = *attr;
	return op_infer(c->n->g, op) ? op : NULL;
}

Op *emit_constant(Call *c, const char *suffix, Tensor *t)
{
	Op *op = graph_constant(c->n->g, NULL, name_of(c, suffix), t);
	op->loc = c->loc;
	return op;
}

Op *emit_reshape(Call *c, const char *suffix, Op *x, Shape shape)
{
	Attrs attr = attrs_default(OP_RESHAPE);
	if (!x || shape_equal(x->shape, shape))
		return x;
	if (x->kind == OP_CONSTANT && shape_count(shape) == shape_count(x->shape))
		return emit_constant(c, suffix, tensor_reshaped(c->n->arena, x->value, shape));
	attr.shape.shape = ints_of_shape(c->n->arena, shape);
	return emit(c, suffix, OP_RESHAPE, &attr, 1, &x);
}

Op *emit_slice(Call *c, const char *suffix, Op *x, const int64_t *start, const int64_t *step,
	       const int64_t *count)
{
	Attrs attr = attrs_default(OP_SLICE);
	int rank = x->shape.rank;
	attr.slice.starts = ints_copy(c->n->arena, start, rank);
	attr.slice.steps = ints_copy(c->n->arena, step, rank);
	attr.slice.counts = ints_copy(c->n->arena, count, rank);
	return emit(c, suffix, OP_SLICE, &attr, 1, &x);
}

static Op *literal_op(Call *c, const char *what, Value v)
{
	Tensor *t = tensor_create(c->n->arena, value_dtype(v), (Shape){ 0 });
	if (v.kind == VALUE_SCALAR)
		tensor_set_f64(t, 0, v.scalar);
	else
		tensor_set_i64(t, 0, v.kind == VALUE_INTEGER ? v.integer : v.logical);
	return emit_constant(c, what, t);
}

Op *value_op(Call *c, const char *what, Value v)
{
	Variable *var;
	switch (v.kind) {
	case VALUE_TENSOR:
		return v.op->dtype == TYPE_NONE ? NULL : v.op;
	case VALUE_VARIABLE:
		var = v.variable;
		if (!variable_close(c, var, var->shape))
			return NULL;
		return variable_op(c->n, var, WEIGHT_BIAS, 0, var->shape);
	case VALUE_INTEGER:
	case VALUE_SCALAR:
	case VALUE_LOGICAL:
		return literal_op(c, what, v);
	case VALUE_NONE:
	case VALUE_STRING:
	case VALUE_HOLE:
	case VALUE_ARRAY:
	case VALUE_TUPLE:
		break;
	}
	return NULL;
}

Op *arg_op(Call *c, const char *param)
{
	return value_op(c, param, arg_value(c, param));
}

static Shape shape_of(Value v)
{
	return v.kind == VALUE_TENSOR ? v.op->shape
		: v.kind == VALUE_VARIABLE ? v.variable->shape : (Shape){ 0 };
}

/* With trailing dims of 1 up to `rank`. */
static Shape lengthened(Shape s, int rank)
{
	while (s.rank && s.rank < rank)
		s.dim[s.rank++] = 1;
	return s;
}

/* `v` against operands of up to `rank` dims, whose dims `known` lists. */
static Op *operand(Call *c, const char *what, Value v, int rank, Shape known, WeightRole role)
{
	if (v.kind != VALUE_VARIABLE) {
		Op *x = value_op(c, what, v);
		return x ? emit_reshape(c, what, x, lengthened(x->shape, rank)) : NULL;
	}
	if (!variable_close(c, v.variable, known))
		return NULL;
	return variable_op(c->n, v.variable, role, 0, lengthened(v.variable->shape, rank));
}

bool arg_operands(Call *c, int n, const char *const params[], WeightRole role, Op *out[])
{
	Shape known = { 0 };
	int rank = 0;
	for (int i = 0; i < n; i++) {
		Value v = arg_value(c, params[i]);
		Shape s = shape_of(v);
		if (v.kind == VALUE_TENSOR && s.rank >= known.rank)
			known = s;
		rank = s.rank > rank ? s.rank : rank;
	}
	for (int i = 0; i < n; i++) {
		out[i] = operand(c, params[i], arg_value(c, params[i]), rank, known, role);
		if (!out[i])
			return false;
	}
	return true;
}

Op *arg_weight(Call *c, const char *param, WeightRole role, Shape want)
{
	Value v = arg_value(c, param);
	if (v.kind != VALUE_VARIABLE)
		return value_op(c, param, v);
	if (!variable_close(c, v.variable, want))
		return NULL;
	Shape s = v.variable->shape;
	int64_t count = shape_count(s), outputs = s.rank ? s.dim[0] : 1;
	return variable_op(c->n, v.variable, role, outputs > 0 ? count / outputs : 0, s);
}

/* The one element of a literal or constant; false if it is neither. */
static bool one_value(Value v, double *out)
{
	if (v.kind == VALUE_SCALAR)
		*out = v.scalar;
	else if (v.kind == VALUE_TENSOR && op_value(v.op) && tensor_count(v.op->value) == 1)
		*out = tensor_f64(v.op->value, 0);
	else
		return false;
	return true;
}

Op *arg_channels(Call *c, const char *param, WeightRole role, int64_t n, bool *absent)
{
	Value v = arg_value(c, param);
	Shape s = shape_of(v), want = SHAPE(n);
	double f;

	if (absent)
		*absent = false;
	if (one_value(v, &f)) {
		if (absent && f == 0) {
			*absent = true;
			return NULL;
		}
		return emit_constant(c, param, tensor_splat(c->n->arena, TYPE_F32, want, f, 0));
	}
	/* [C], [1,C] or [1,C,1,1]: the channels are dim 1, or the only dim. */
	if (v.kind == VALUE_VARIABLE) {
		Shape full = s;
		for (int i = 0; i < s.rank; i++)
			full.dim[i] = s.dim[i] < 0 ? (i == (s.rank > 1) ? n : 1) : s.dim[i];
		if (!variable_close(c, v.variable, full))
			return NULL;
		s = v.variable->shape;
	}
	int axis = s.rank > 1;
	bool vector = s.rank > 0 && s.dim[axis] == n && shape_count(s) == n;
	if (!vector) {
		Op *x = value_op(c, param, v);
		if (x)
			call_error(c, "'%s' wants one value for each of %" PRId64 " channels, is %s", param,
				   n, shape_text(c->n->arena, x->shape));
		return NULL;
	}
	if (v.kind == VALUE_VARIABLE)
		return variable_op(c->n, v.variable, role, 0, want);
	return emit_reshape(c, param, value_op(c, param, v), want);
}
