/* Tensors from outside, and operations that move elements about. */
#include "frontend/nnef_lower.h"

#include <inttypes.h>
#include <string.h>

/* A shape literal; dims that are `?` give -1. */
static bool arg_shape(Call *c, Shape *out)
{
	Value v = arg_value(c, "shape");
	*out = (Shape){ .rank = v.n };
	if (v.n > MAX_RANK) {
		call_error(c, "shape has %d dims, at most %d are possible", v.n, MAX_RANK);
		return false;
	}
	for (int i = 0; i < v.n; i++) {
		bool hole = v.item[i].kind == VALUE_HOLE;
		out->dim[i] = hole ? -1 : v.item[i].integer;
		if (!hole && out->dim[i] < 1) {
			call_error(c, "shape has a dim of %" PRId64, out->dim[i]);
			return false;
		}
	}
	Shape closed = *out;
	for (int i = 0; i < closed.rank; i++)
		closed.dim[i] = closed.dim[i] < 0 ? 1 : closed.dim[i];
	if (shape_count(closed) >= 0)
		return true;
	call_error(c, "shape has too many elements");
	return false;
}

/* The shape --input gives for an external; false if it gives none. */
static bool override_shape(Call *c, Shape *s)
{
	const ModelOptions *opt = c->n->opt;
	bool only = c->n->model->graph.nparams == 1, found = false;
	for (int i = 0; i < opt->nshapes; i++) {
		const ShapeOption *o = &opt->shapes[i];
		if (o->input ? strcmp(o->input, c->want.base) != 0 : !only)
			continue;
		*s = o->shape;
		found = true;
	}
	int rank = arg_value(c, "shape").n;
	if (found && s->rank != rank)
		call_error(c, "'%s' has %d dims, asked to be %s", c->want.base, rank,
			   shape_text(c->n->arena, *s));
	return found;
}

Value nnef_lower_external(Call *c)
{
	Shape s;
	if (!override_shape(c, &s) && !arg_shape(c, &s))
		return NO_VALUE;
	Op *op = graph_insert(c->n->g, NULL, OP_INPUT, c->want.base, 0, NULL);
	op->loc = c->loc;
	op->dtype = c->type;
	op->shape = s;
	return value_tensor(op);
}

Value nnef_lower_variable(Call *c)
{
	Shape s;
	if (!arg_shape(c, &s))
		return NO_VALUE;
	return nnef_make_variable(c, arg_string(c, "label"), s);
}

Value nnef_lower_constant(Call *c)
{
	Value v = arg_value(c, "value");
	Shape s;
	if (!arg_shape(c, &s))
		return NO_VALUE;
	int64_t count = shape_count(s);
	if (v.n != 1 && v.n != count)
		return call_error(c, "shape %s has %" PRId64 " elements, 'value' has %d",
				  shape_text(c->n->arena, s), count, v.n);
	bool splat = v.n == 1 && count > 1;
	c->n->steps += v.n;
	Tensor *t = tensor_create(c->n->arena, c->type, splat ? (Shape){ 0 } : s);
	for (int i = 0; i < v.n; i++) {
		if (v.item[i].kind == VALUE_SCALAR)
			tensor_set_f64(t, i, v.item[i].scalar);
		else
			tensor_set_i64(t, i, v.item[i].kind == VALUE_INTEGER ? v.item[i].integer
									      : v.item[i].logical);
	}
	if (splat)
		t = tensor_splat(c->n->arena, c->type, s, tensor_f64(t, 0), tensor_i64(t, 0));
	return value_tensor(emit_constant(c, NULL, t));
}

/* A reshape even where the shape stays, so that the result has its name. */
static Value reshape_to(Call *c, Op *x, Shape shape)
{
	if (x && shape_equal(x->shape, shape))
		return value_tensor(emit(c, NULL, OP_IDENTITY, NULL, 1, &x));
	return value_tensor(emit_reshape(c, NULL, x, shape));
}

/* Fills in 0 (as the input) and -1 (what is left) of a reshape. */
static bool close_reshape(Call *c, Shape in, int start, int count, Shape *out)
{
	int64_t total = 1, known = 1;
	int open = -1;
	for (int i = 0; i < count; i++)
		total *= in.dim[start + i];
	for (int i = 0; i < out->rank; i++) {
		if (out->dim[i] == 0 && start + i < in.rank)
			out->dim[i] = in.dim[start + i];
		if (out->dim[i] == -1 && open < 0)
			open = i;
		else if (out->dim[i] < 1 || out->dim[i] > MAX_ELEMENTS / known) {
			call_error(c, "shape[%d] is %" PRId64, i, out->dim[i]);
			return false;
		} else {
			known *= out->dim[i];
		}
	}
	if (open >= 0)
		out->dim[open] = total / known;
	if (open >= 0 ? total % known == 0 : total == known)
		return true;
	call_error(c, "%" PRId64 " elements do not fit %s", total, shape_text(c->n->arena, *out));
	return false;
}

Value nnef_lower_reshape(Call *c)
{
	Op *x = arg_op(c, "input");
	Ints shape = arg_ints(c, "shape");
	if (!x)
		return NO_VALUE;
	int rank = x->shape.rank;
	int64_t start = arg_integer(c, "axis_start"), count = arg_integer(c, "axis_count");
	if (start < 0 || start > rank || count < -1 || (count >= 0 && count > rank - start))
		return call_error(c, "axis_start %" PRId64 " and axis_count %" PRId64
				  " are out of range for %d dims", start, count, rank);
	if (count < 0)
		count = rank - start;
	Shape out = x->shape, middle = { .rank = shape.n };
	if (rank - count + shape.n > MAX_RANK)
		return call_error(c, "result has %d dims, at most %d are possible",
				  (int)(rank - count + shape.n), MAX_RANK);
	memcpy(middle.dim, shape.v, (size_t)shape.n * sizeof *shape.v);
	if (!close_reshape(c, x->shape, (int)start, (int)count, &middle))
		return NO_VALUE;
	out.rank = rank - (int)count + middle.rank;
	for (int i = 0; i < middle.rank; i++)
		out.dim[start + i] = middle.dim[i];
	for (int i = (int)(start + count); i < rank; i++)
		out.dim[i - count + middle.rank] = x->shape.dim[i];
	return reshape_to(c, x, out);
}

Value nnef_lower_squeeze(Call *c)
{
	Op *x = arg_op(c, "input");
	Shape out = { 0 };
	Ints axes;
	if (!x || !arg_axes(c, "axes", x->shape.rank, &axes))
		return NO_VALUE;
	for (int i = 0, k = 0; i < x->shape.rank; i++) {
		bool drop = k < axes.n && axes.v[k] == i;
		k += drop;
		if (drop && x->shape.dim[i] != 1)
			return call_error(c, "dim %d is %" PRId64 ", not 1", i, x->shape.dim[i]);
		if (!drop)
			out.dim[out.rank++] = x->shape.dim[i];
	}
	return reshape_to(c, x, out);
}

Value nnef_lower_unsqueeze(Call *c)
{
	Op *x = arg_op(c, "input");
	Shape out = { 0 };
	Ints axes;
	if (!x)
		return NO_VALUE;
	int rank = x->shape.rank + arg_value(c, "axes").n;
	if (rank > MAX_RANK)
		return call_error(c, "result has %d dims, at most %d are possible", rank, MAX_RANK);
	if (!arg_axes(c, "axes", rank, &axes))
		return NO_VALUE;
	for (int i = 0, k = 0; i < rank; i++) {
		bool one = k < axes.n && axes.v[k] == i;
		out.dim[out.rank++] = one ? 1 : x->shape.dim[i - k];
		k += one;
	}
	return reshape_to(c, x, out);
}

Value nnef_lower_transpose(Call *c)
{
	Attrs attr = attrs_default(OP_TRANSPOSE);
	Op *x = arg_op(c, "input");
	int64_t perm[MAX_RANK];
	Ints axes = arg_ints(c, "axes");
	if (!x)
		return NO_VALUE;
	if (axes.n > x->shape.rank)
		return call_error(c, "'axes' has %d items, input has %d dims", axes.n, x->shape.rank);
	for (int i = 0; i < x->shape.rank; i++)
		perm[i] = i < axes.n ? axes.v[i] : i;
	attr.perm.perm = ints_copy(c->n->arena, perm, x->shape.rank);
	return value_tensor(emit(c, NULL, OP_TRANSPOSE, &attr, 1, &x));
}

/* The tensors of an array argument; NULL if one is missing or there is none. */
static Op **arg_ops(Call *c, const char *param, int *n)
{
	Value list = arg_value(c, param);
	Op **v = arena_array(c->n->arena, Op *, list.n);
	c->n->steps += list.n;
	if (!list.n)
		call_error(c, "'%s' is empty", param);
	for (int i = 0; i < list.n; i++)
		if (!(v[i] = value_op(c, param, list.item[i])))
			return NULL;
	*n = list.n;
	return list.n ? v : NULL;
}

Value nnef_lower_concat(Call *c)
{
	Attrs attr = attrs_default(OP_CONCAT);
	int n, axis;
	Op **in = arg_ops(c, "values", &n);
	if (!in || !arg_axis(c, "axis", in[0]->shape.rank, &axis))
		return NO_VALUE;
	attr.axis.axis = axis;
	return value_tensor(emit(c, NULL, OP_CONCAT, &attr, n, in));
}

Value nnef_lower_stack(Call *c)
{
	Attrs attr = attrs_default(OP_CONCAT);
	int n, axis;
	Op **in = arg_ops(c, "values", &n);
	if (!in || !arg_axis(c, "axis", in[0]->shape.rank + 1, &axis))
		return NO_VALUE;
	Shape s = in[0]->shape, each = s;
	if (s.rank == MAX_RANK)
		return call_error(c, "result has %d dims, at most %d are possible", s.rank + 1, MAX_RANK);
	memmove(&s.dim[axis + 1], &s.dim[axis], (size_t)(s.rank - axis) * sizeof s.dim[0]);
	s.dim[axis] = 1;
	s.rank++;
	for (int i = 0; i < n; i++) {
		if (!shape_equal(in[i]->shape, each))
			return call_error(c, "shapes %s and %s differ", shape_text(c->n->arena, each),
					  shape_text(c->n->arena, in[i]->shape));
		in[i] = emit_reshape(c, "part", in[i], s);
	}
	attr.axis.axis = axis;
	return value_tensor(emit(c, NULL, OP_CONCAT, &attr, n, in));
}

/* A call for result i of a list, named as the model names it. */
static Call part_of(Call *c, int i)
{
	Call part = *c;
	Value names = c->want.names;
	bool named = names.kind == VALUE_ARRAY && i < names.n && names.item[i].kind == VALUE_STRING;
	part.want.base = named ? names.item[i].string
			       : arena_printf(c->n->arena, "%s.%d", c->want.base, i);
	return part;
}

/* Elements `from` to `from + count` along `axis`. */
static Op *band(Call *c, const char *suffix, Op *x, int axis, int64_t from, int64_t count)
{
	int64_t start[MAX_RANK] = { 0 }, step[MAX_RANK], counts[MAX_RANK];
	for (int i = 0; i < x->shape.rank; i++) {
		step[i] = 1;
		counts[i] = x->shape.dim[i];
	}
	start[axis] = from;
	counts[axis] = count;
	return emit_slice(c, suffix, x, start, step, counts);
}

Value nnef_lower_split(Call *c)
{
	Op *x = arg_op(c, "value");
	int64_t total = 0, from = 0;
	Ints ratios = arg_ints(c, "ratios");
	int axis;
	if (!x || !arg_axis(c, "axis", x->shape.rank, &axis))
		return NO_VALUE;
	for (int i = 0; i < ratios.n; i++) {
		if (ratios.v[i] < 1 || ratios.v[i] > MAX_ELEMENTS)
			return call_error(c, "ratios[%d] is %" PRId64, i, ratios.v[i]);
		total += ratios.v[i];
	}
	if (!total || x->shape.dim[axis] % total)
		return call_error(c, "dim %d of %" PRId64 " does not divide into %" PRId64 " parts", axis,
				  x->shape.dim[axis], total);
	if (!nnef_step(c->n, c->loc, (int64_t)OP_STEPS * ratios.n))
		return NO_VALUE;
	Value *item = arena_array(c->n->arena, Value, ratios.n);
	for (int i = 0; i < ratios.n; i++) {
		Call part = part_of(c, i);
		int64_t count = x->shape.dim[axis] / total * ratios.v[i];
		item[i] = value_tensor(band(&part, NULL, x, axis, from, count));
		from += count;
	}
	return value_list(VALUE_ARRAY, ratios.n, item);
}

Value nnef_lower_unstack(Call *c)
{
	Op *x = arg_op(c, "value");
	int axis;
	if (!x || !arg_axis(c, "axis", x->shape.rank, &axis))
		return NO_VALUE;
	int64_t count = x->shape.dim[axis];
	if (!nnef_step(c->n, c->loc, OP_STEPS * (count < MAX_STEPS ? count : MAX_STEPS)))
		return NO_VALUE;
	Shape s = x->shape;
	s.rank--;
	for (int i = axis; i < s.rank; i++)
		s.dim[i] = s.dim[i + 1];
	Value *item = arena_array(c->n->arena, Value, count);
	for (int i = 0; i < count; i++) {
		Call part = part_of(c, i);
		Op *slice = band(&part, "slice", x, axis, i, 1);
		item[i] = value_tensor(emit_reshape(&part, NULL, slice, s));
	}
	return value_list(VALUE_ARRAY, (int)count, item);
}

Value nnef_lower_copy_n(Call *c)
{
	Op *x = arg_op(c, "x");
	int64_t times = arg_integer(c, "times");
	if (!x)
		return NO_VALUE;
	if (times < 1)
		return call_error(c, "'times' is %" PRId64, times);
	if (!nnef_step(c->n, c->loc, OP_STEPS * (times < MAX_STEPS ? times : MAX_STEPS)))
		return NO_VALUE;
	Value *item = arena_array(c->n->arena, Value, times);
	for (int i = 0; i < times; i++) {
		Call part = part_of(c, i);
		item[i] = value_tensor(emit(&part, NULL, OP_IDENTITY, NULL, 1, &x));
	}
	return value_list(VALUE_ARRAY, (int)times, item);
}
