/* Values that are no tensors: their types and their arithmetic. */
#include "frontend/nnef_eval.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

DType nnef_dtype(NnefBase base)
{
	switch (base) {
	case BASE_INTEGER:
		return TYPE_I64;
	case BASE_SCALAR:
		return TYPE_F32;
	case BASE_LOGICAL:
		return TYPE_BOOL;
	case BASE_STRING:
	case BASE_GENERIC:
	case BASE_ANY:
	case BASE_TUPLE:
		break;
	}
	return TYPE_NONE;
}

DType value_dtype(Value v)
{
	switch (v.kind) {
	case VALUE_INTEGER:
		return TYPE_I64;
	case VALUE_SCALAR:
		return TYPE_F32;
	case VALUE_LOGICAL:
		return TYPE_BOOL;
	case VALUE_TENSOR:
		return v.op->dtype;
	case VALUE_VARIABLE:
		return v.variable->dtype;
	case VALUE_NONE:
	case VALUE_STRING:
	case VALUE_HOLE:
	case VALUE_ARRAY:
	case VALUE_TUPLE:
		break;
	}
	return TYPE_NONE;
}

static const char *dtype_text(DType t)
{
	return t == TYPE_F32 ? "scalar" : t == TYPE_I64 ? "integer" : t == TYPE_BOOL ? "logical" : "?";
}

const char *value_type_text(Nnef *n, Value v)
{
	const char *text;
	switch (v.kind) {
	case VALUE_INTEGER:
	case VALUE_SCALAR:
	case VALUE_LOGICAL:
		return dtype_text(value_dtype(v));
	case VALUE_TENSOR:
	case VALUE_VARIABLE:
		return arena_printf(n->arena, "tensor<%s>", dtype_text(value_dtype(v)));
	case VALUE_ARRAY:
		if (!v.n)
			return "[]";
		text = value_type_text(n, v.item[0]);
		for (int i = 1; i < v.n; i++)
			if (strcmp(text, value_type_text(n, v.item[i])) != 0)
				return arena_printf(n->arena, "array of %s and %s", text,
						    value_type_text(n, v.item[i]));
		return arena_printf(n->arena, "%s[]", text);
	case VALUE_TUPLE:
		text = "(";
		for (int i = 0; i < v.n && i < MAX_TUPLE; i++)
			text = arena_printf(n->arena, "%s%s%s", text, i ? "," : "",
					    value_type_text(n, v.item[i]));
		return arena_printf(n->arena, "%s)", text);
	case VALUE_STRING:
		return "string";
	case VALUE_HOLE:
		return "'?'";
	case VALUE_NONE:
		break;
	}
	return "nothing";
}

/* A literal or tensor where one element of type `t` is wanted. */
static bool fits_dtype(DType t, Value *v)
{
	if (t == TYPE_F32 && v->kind == VALUE_INTEGER)
		*v = value_scalar((double)v->integer);
	return t == TYPE_NONE || t == value_dtype(*v);
}

static bool fits_items(Nnef *n, const NnefType *t, DType generic, Value *v)
{
	NnefType item = *t;
	Value *copy = NULL;
	if (t->arrays)
		item.arrays--;
	n->steps += v->n;
	for (int i = 0; i < v->n; i++) {
		Value fitted = v->item[i];
		if (!value_fits(n, t->arrays ? &item : t->item[i], generic, &fitted))
			return false;
		bool list = fitted.kind == VALUE_ARRAY || fitted.kind == VALUE_TUPLE;
		bool changed = fitted.kind != v->item[i].kind ||
			       (list && fitted.item != v->item[i].item);
		if (changed && !copy) {
			copy = arena_array(n->arena, Value, v->n);
			memcpy(copy, v->item, (size_t)v->n * sizeof *copy);
		}
		if (copy)
			copy[i] = fitted;
	}
	v->item = copy ? copy : v->item;
	return true;
}

bool value_fits(Nnef *n, const NnefType *t, DType generic, Value *v)
{
	DType want = t->base == BASE_GENERIC ? generic : nnef_dtype(t->base);
	if (v->kind == VALUE_NONE)
		return true;
	if (t->arrays)
		return v->kind == VALUE_ARRAY && fits_items(n, t, generic, v);
	if (t->base == BASE_TUPLE)
		return v->kind == VALUE_TUPLE && v->n == t->n && fits_items(n, t, generic, v);
	if (t->base == BASE_STRING)
		return v->kind == VALUE_STRING;
	if (t->tensor && value_is_tensor(*v) && value_dtype(*v) == TYPE_NONE)
		return true; /* its op is wrong, which was reported */
	if (value_is_tensor(*v) && !t->tensor)
		return false;
	if (v->kind == VALUE_HOLE)
		return t->base == BASE_INTEGER && !t->tensor;
	return value_dtype(*v) != TYPE_NONE && fits_dtype(want, v);
}

Value value_cast(Nnef *n, Loc at, NnefBase to, Value x)
{
	char *end;
	if (x.kind == VALUE_NONE)
		return x;
	if (x.kind == VALUE_STRING && (to == BASE_INTEGER || to == BASE_SCALAR)) {
		errno = 0;
		Value v = to == BASE_INTEGER ? value_integer(strtoll(x.string, &end, 10))
					     : value_scalar(strtod(x.string, &end));
		if (end == x.string || *end || errno)
			return nnef_error(n, at, "'%s' is no %s", x.string, nnef_base_names[to]);
		return v;
	}
	if (x.kind == VALUE_STRING)
		return to == BASE_LOGICAL ? value_logical(x.string[0]) : x;
	if (x.kind != VALUE_INTEGER && x.kind != VALUE_SCALAR && x.kind != VALUE_LOGICAL)
		return nnef_error(n, at, "%s() takes a literal, not %s", nnef_base_names[to],
				  value_type_text(n, x));
	double f = x.kind == VALUE_SCALAR ? x.scalar
		: x.kind == VALUE_INTEGER ? (double)x.integer : x.logical;
	switch (to) {
	case BASE_INTEGER:
		if (x.kind == VALUE_INTEGER)
			return x;
		if (!(fabs(f) < 0x1p63))
			return nnef_error(n, at, "%g is outside the integers", f);
		return value_integer((int64_t)f);
	case BASE_SCALAR:
		return value_scalar(f);
	case BASE_LOGICAL:
		return value_logical(f != 0);
	default:
		break;
	}
	if (x.kind == VALUE_SCALAR)
		return value_string(arena_printf(n->arena, "%f", f));
	return value_string(arena_printf(n->arena, "%" PRId64,
					 x.kind == VALUE_INTEGER ? x.integer : x.logical));
}

static Value mismatch(Nnef *n, Loc at, NnefOperator op, Value x, Value y)
{
	return nnef_error(n, at, "'%s' does not apply to %s and %s",
			  nnef_operator_info[op].spelling, value_type_text(n, x),
			  value_type_text(n, y));
}

static Value join(Nnef *n, Loc at, Value x, Value y)
{
	if (!nnef_step(n, at, (int64_t)x.n + y.n))
		return NO_VALUE;
	Value *item = arena_array(n->arena, Value, x.n + y.n);
	for (int i = 0; i < x.n + y.n; i++)
		item[i] = i < x.n ? x.item[i] : y.item[i - x.n];
	return value_list(VALUE_ARRAY, x.n + y.n, item);
}

static Value repeat(Nnef *n, Loc at, Value x, int64_t times)
{
	if (times < 0)
		return nnef_error(n, at, "an array cannot be repeated %" PRId64 " times", times);
	if (x.n && times > MAX_STEPS / x.n)
		times = MAX_STEPS / x.n + 1;
	if (!x.n || !nnef_step(n, at, x.n * times))
		return value_list(VALUE_ARRAY, 0, NULL);
	Value *item = arena_array(n->arena, Value, x.n * times);
	for (int i = 0; i < x.n * times; i++)
		item[i] = x.item[i % x.n];
	return value_list(VALUE_ARRAY, x.n * (int)times, item);
}

static Value integer_arithmetic(Nnef *n, Loc at, NnefOperator op, int64_t x, int64_t y)
{
	int64_t r = 0;
	bool over = false;
	switch (op) {
	case OPERATOR_ADD:
		over = __builtin_add_overflow(x, y, &r);
		break;
	case OPERATOR_SUB:
		over = __builtin_sub_overflow(x, y, &r);
		break;
	case OPERATOR_MUL:
		over = __builtin_mul_overflow(x, y, &r);
		break;
	case OPERATOR_DIV:
		if (!y)
			return nnef_error(n, at, "%" PRId64 " is divided by 0", x);
		over = x == INT64_MIN && y == -1;
		r = over ? 0 : x / y;
		break;
	default: /* OPERATOR_POW */
		if (y < 0)
			return nnef_error(n, at, "integer exponent %" PRId64 " is below 0", y);
		if (x >= -1 && x <= 1) /* else 64 rounds are enough to overflow */
			return value_integer(!y ? 1 : x < 0 && y % 2 == 0 ? 1 : x);
		for (r = 1; y > 0 && !over; y--)
			over = __builtin_mul_overflow(r, x, &r);
	}
	if (over)
		return nnef_error(n, at, "'%s' does not fit 64 bits", nnef_operator_info[op].spelling);
	return value_integer(r);
}

static Value scalar_arithmetic(NnefOperator op, double x, double y)
{
	switch (op) {
	case OPERATOR_ADD:
		return value_scalar(x + y);
	case OPERATOR_SUB:
		return value_scalar(x - y);
	case OPERATOR_MUL:
		return value_scalar(x * y);
	case OPERATOR_DIV:
		return value_scalar(x / y);
	default:
		return value_scalar(pow(x, y));
	}
}

/* -1, 0 or 1; 2 if they do not compare. */
static int compare(Value x, Value y)
{
	if (x.kind == VALUE_STRING && y.kind == VALUE_STRING) {
		int c = strcmp(x.string, y.string);
		return (c > 0) - (c < 0);
	}
	if (x.kind == VALUE_LOGICAL && y.kind == VALUE_LOGICAL)
		return x.logical - y.logical;
	if (x.kind == VALUE_INTEGER && y.kind == VALUE_INTEGER)
		return (x.integer > y.integer) - (x.integer < y.integer);
	bool numbers = (x.kind == VALUE_INTEGER || x.kind == VALUE_SCALAR) &&
		       (y.kind == VALUE_INTEGER || y.kind == VALUE_SCALAR);
	if (!numbers)
		return 2;
	double a = x.kind == VALUE_SCALAR ? x.scalar : (double)x.integer;
	double b = y.kind == VALUE_SCALAR ? y.scalar : (double)y.integer;
	return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

static Value comparison(Nnef *n, Loc at, NnefOperator op, Value x, Value y)
{
	int c = compare(x, y);
	if (c == 2)
		return mismatch(n, at, op, x, y);
	switch (op) {
	case OPERATOR_LT:
		return value_logical(c < 0);
	case OPERATOR_GT:
		return value_logical(c > 0);
	case OPERATOR_LE:
		return value_logical(c <= 0);
	case OPERATOR_GE:
		return value_logical(c >= 0);
	case OPERATOR_EQ:
		return value_logical(c == 0);
	default:
		return value_logical(c != 0);
	}
}

static Value arithmetic(Nnef *n, Loc at, NnefOperator op, Value x, Value y)
{
	if (op == OPERATOR_ADD && x.kind == VALUE_ARRAY && y.kind == VALUE_ARRAY)
		return join(n, at, x, y);
	if (op == OPERATOR_ADD && x.kind == VALUE_STRING && y.kind == VALUE_STRING) {
		if (strlen(x.string) + strlen(y.string) > MAX_STRING)
			return nnef_error(n, at, "string is longer than %d", MAX_STRING);
		return value_string(arena_printf(n->arena, "%s%s", x.string, y.string));
	}
	if (op == OPERATOR_MUL && x.kind == VALUE_ARRAY && y.kind == VALUE_INTEGER)
		return repeat(n, at, x, y.integer);
	if (op == OPERATOR_MUL && x.kind == VALUE_INTEGER && y.kind == VALUE_ARRAY)
		return repeat(n, at, y, x.integer);
	if (x.kind == VALUE_INTEGER && y.kind == VALUE_INTEGER)
		return integer_arithmetic(n, at, op, x.integer, y.integer);
	Value a = x, b = y;
	if (!fits_dtype(TYPE_F32, &a) || !fits_dtype(TYPE_F32, &b))
		return mismatch(n, at, op, x, y);
	return scalar_arithmetic(op, a.scalar, b.scalar);
}

Value value_binary(Nnef *n, Loc at, NnefOperator op, Value x, Value y)
{
	if (x.kind == VALUE_NONE || y.kind == VALUE_NONE)
		return NO_VALUE;
	switch (op) {
	case OPERATOR_LT:
	case OPERATOR_GT:
	case OPERATOR_LE:
	case OPERATOR_GE:
	case OPERATOR_EQ:
	case OPERATOR_NE:
		return comparison(n, at, op, x, y);
	case OPERATOR_AND:
	case OPERATOR_OR:
		if (x.kind != VALUE_LOGICAL || y.kind != VALUE_LOGICAL)
			return mismatch(n, at, op, x, y);
		return value_logical(op == OPERATOR_AND ? x.logical && y.logical
							: x.logical || y.logical);
	case OPERATOR_IN:
		if (y.kind != VALUE_ARRAY)
			return mismatch(n, at, op, x, y);
		n->steps += y.n;
		for (int i = 0; i < y.n; i++)
			if (compare(x, y.item[i]) == 0)
				return value_logical(true);
		return value_logical(false);
	default:
		return arithmetic(n, at, op, x, y);
	}
}

Value value_unary(Nnef *n, Loc at, NnefOperator op, Value x)
{
	if (x.kind == VALUE_NONE)
		return x;
	if (op == OPERATOR_NOT && x.kind == VALUE_LOGICAL)
		return value_logical(!x.logical);
	if (op != OPERATOR_NOT && x.kind == VALUE_SCALAR)
		return value_scalar(op == OPERATOR_NEG ? -x.scalar : x.scalar);
	if (op != OPERATOR_NOT && x.kind == VALUE_INTEGER)
		return op == OPERATOR_COPY ? x
			: integer_arithmetic(n, at, OPERATOR_SUB, 0, x.integer);
	return nnef_error(n, at, "'%s' does not apply to %s", nnef_operator_info[op].spelling,
			  value_type_text(n, x));
}

static bool is_list(Value v)
{
	return v.kind == VALUE_ARRAY || v.kind == VALUE_TUPLE || v.kind == VALUE_STRING;
}

/* *at = the place `index` means in a list of `size`, or false. */
static bool place(Nnef *n, Loc loc, Value index, int64_t size, int64_t most, int64_t *at)
{
	if (index.kind != VALUE_INTEGER) {
		if (index.kind != VALUE_NONE)
			nnef_error(n, loc, "index is %s, not integer", value_type_text(n, index));
		return false;
	}
	*at = index.integer < 0 ? index.integer + size : index.integer;
	if (*at >= 0 && *at <= most)
		return true;
	nnef_error(n, loc, "index %" PRId64 " is out of range for %" PRId64 " items", index.integer,
		   size);
	return false;
}

Value value_index(Nnef *n, Loc at, Value list, Value index)
{
	int64_t i;
	if (list.kind == VALUE_NONE)
		return list;
	if (!is_list(list))
		return nnef_error(n, at, "%s has no items", value_type_text(n, list));
	int64_t size = list.kind == VALUE_STRING ? (int64_t)strlen(list.string) : list.n;
	if (!place(n, at, index, size, size - 1, &i))
		return NO_VALUE;
	if (list.kind == VALUE_STRING)
		return value_string(arena_strndup(n->arena, list.string + i, 1));
	return list.item[i];
}

Value value_range(Nnef *n, Loc at, Value list, const Value *begin, const Value *end)
{
	if (list.kind == VALUE_NONE)
		return list;
	if (!is_list(list))
		return nnef_error(n, at, "%s has no items", value_type_text(n, list));
	int64_t size = list.kind == VALUE_STRING ? (int64_t)strlen(list.string) : list.n;
	int64_t from = 0, to = size;
	if ((begin && !place(n, at, *begin, size, size, &from)) ||
	    (end && !place(n, at, *end, size, size, &to)))
		return NO_VALUE;
	if (to < from)
		return nnef_error(n, at, "range %" PRId64 ":%" PRId64 " runs backwards", from, to);
	if (list.kind == VALUE_STRING)
		return value_string(arena_strndup(n->arena, list.string + from,
						  (size_t)(to - from)));
	return value_list(list.kind, (int)(to - from), list.item + from);
}
