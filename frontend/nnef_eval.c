/* Expressions. */
#include "frontend/nnef_frame.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Value nnef_error(Nnef *n, Loc at, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_error(n->diag, at, "%s", text);
	return NO_VALUE;
}

bool nnef_step(Nnef *n, Loc at, int64_t work)
{
	if (n->stopped)
		return false;
	n->steps += work;
	if (n->steps <= MAX_STEPS && n->g->nops <= MAX_NNEF_OPS)
		return true;
	n->stopped = true;
	if (n->steps > MAX_STEPS)
		nnef_error(n, at, "model takes more than %d steps to evaluate", MAX_STEPS);
	else
		nnef_error(n, at, "model has more than %d operations", MAX_NNEF_OPS);
	return false;
}

const char *nnef_name(Nnef *n, const char *fmt, ...)
{
	char text[MAX_NAME * (MAX_CALL_DEPTH + MAX_EXPR_DEPTH)];
	va_list ap;
	va_start(ap, fmt);
	int length = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	n->steps += length / 8;
	return arena_strdup(n->arena, text);
}

/* The name of item i of what is wanted: the caller's, else numbered. */
static Want want_item(Nnef *n, Want w, int i)
{
	Value names = w.names;
	if (names.kind == VALUE_ARRAY || names.kind == VALUE_TUPLE)
		w.names = i < names.n ? names.item[i] : NO_VALUE;
	else if (names.kind == VALUE_STRING)
		w.names.string = nnef_name(n, "%s.%d", names.string, i);
	w.base = w.names.kind == VALUE_STRING ? w.names.string
		: nnef_name(n, "%s.%d", w.base, i);
	w.ident = nnef_name(n, "%s.%d", w.ident, i);
	return w;
}

void eval_bind(Nnef *n, Frame *f, const Expr *left, Value v)
{
	if (left->kind == EXPR_NAME) {
		frame_set(n, &f->values, left->name, v);
		return;
	}
	bool list = v.kind == VALUE_ARRAY || v.kind == VALUE_TUPLE;
	if (v.kind != VALUE_NONE && (!list || v.n != left->n)) {
		Loc at = frame_place(f, left->loc);
		v = list ? nnef_error(n, at, "%d names on the left, %d values on the right", left->n, v.n)
			 : nnef_error(n, at, "%d names on the left, one %s on the right", left->n,
				      value_type_text(n, v));
	}
	for (int i = 0; i < left->n; i++)
		eval_bind(n, f, left->item[i], v.kind == VALUE_NONE ? v : v.item[i]);
}

static Value eval_items(Nnef *n, Frame *f, const Expr *e, ValueKind kind, Want w)
{
	Value *item = arena_array(n->arena, Value, e->n);
	for (int i = 0; i < e->n; i++) {
		item[i] = eval(n, f, e->item[i], want_item(n, w, i));
		if (item[i].kind == VALUE_NONE)
			return NO_VALUE;
	}
	return value_list(kind, e->n, item);
}

/* The lists of a comprehension; their length, or -1. */
static int eval_iterables(Nnef *n, Frame *f, const Expr *e, Want w, Value *list)
{
	for (int i = 0; i < (e->n - 2) / 2; i++) {
		const Expr *from = e->item[3 + 2 * i];
		list[i] = eval(n, f, from, w);
		if (list[i].kind == VALUE_NONE)
			return -1;
		if (list[i].kind != VALUE_ARRAY) {
			nnef_error(n, frame_place(f, from->loc), "%s is no array to go through",
				   value_type_text(n, list[i]));
			return -1;
		}
		if (list[i].n != list[0].n) {
			nnef_error(n, frame_place(f, from->loc), "arrays of %d and %d items side by side",
				   list[0].n, list[i].n);
			return -1;
		}
	}
	return list[0].n;
}

/* True or false; -1 if it is neither, which was reported. */
static int eval_condition(Nnef *n, Frame *f, const Expr *e, Want w)
{
	Value v = eval(n, f, e, w);
	if (v.kind == VALUE_LOGICAL)
		return v.logical;
	if (v.kind != VALUE_NONE)
		nnef_error(n, frame_place(f, e->loc), "condition is %s, not logical", value_type_text(n, v));
	return -1;
}

static Value eval_for(Nnef *n, Frame *f, const Expr *e, Want w)
{
	Value *list = arena_array(n->arena, Value, e->n);
	int length = eval_iterables(n, f, e, w, list), made = 0;
	if (length < 0)
		return NO_VALUE;
	Value *item = arena_array(n->arena, Value, length);
	for (int i = 0; i < length; i++) {
		int wanted = 1;
		for (int k = 2; k < e->n; k += 2)
			eval_bind(n, f, e->item[k], list[k / 2 - 1].item[i]);
		if (e->item[1])
			wanted = eval_condition(n, f, e->item[1], w);
		if (wanted == 0)
			continue;
		Value v = wanted < 0 ? NO_VALUE : eval(n, f, e->item[0], want_item(n, w, made));
		if (v.kind == VALUE_NONE)
			return v;
		item[made++] = v;
	}
	return value_list(VALUE_ARRAY, made, item);
}

static Value eval_measure(Nnef *n, Loc at, ExprKind kind, Value v)
{
	Shape s = v.kind == VALUE_TENSOR ? v.op->shape
		: v.kind == VALUE_VARIABLE ? v.variable->shape : (Shape){ 0 };
	bool shape = kind == EXPR_SHAPE_OF;
	int64_t count = shape ? s.rank : v.kind == VALUE_STRING ? (int64_t)strlen(v.string) : v.n;
	if (v.kind == VALUE_NONE || (v.kind == VALUE_TENSOR && v.op->dtype == TYPE_NONE))
		return NO_VALUE;
	if (shape ? !value_is_tensor(v) && value_dtype(v) == TYPE_NONE
		  : v.kind != VALUE_ARRAY && v.kind != VALUE_STRING)
		return nnef_error(n, at, "%s has no %s", value_type_text(n, v), shape ? "shape" : "length");
	if (kind == EXPR_LENGTH_OF)
		return value_integer(count);
	if (!nnef_step(n, at, count))
		return NO_VALUE;
	Value *item = arena_array(n->arena, Value, count);
	for (int i = 0; i < count; i++) {
		item[i] = value_integer(shape ? s.dim[i] : i);
		if (item[i].integer < 0)
			item[i] = (Value){ .kind = VALUE_HOLE };
	}
	return value_list(VALUE_ARRAY, (int)count, item);
}

/* An operator: on tensors the standard operation behind it. */
static Value apply(Nnef *n, Frame *f, const Expr *e, int count, Value *arg, Want w)
{
	const char *operation = nnef_operator_info[e->op].operation;
	Loc at = frame_place(f, e->loc);
	bool tensor = false;
	for (int i = 0; i < count; i++) {
		if (arg[i].kind == VALUE_NONE)
			return NO_VALUE;
		tensor = tensor || value_is_tensor(arg[i]);
	}
	if (!tensor || !operation)
		return count == 1 ? value_unary(n, at, e->op, arg[0])
				  : value_binary(n, at, e->op, arg[0], arg[1]);
	return call_operation(n, f, operation, at, arg, w);
}

static Value eval_operator(Nnef *n, Frame *f, const Expr *e, Want w)
{
	const char *operation = nnef_operator_info[e->op].operation;
	Want part = operation ? want_part(n, w, operation) : w;
	Value arg[2];
	part.names = NO_VALUE;
	for (int i = 0; i < e->n; i++) {
		arg[i] = eval(n, f, e->item[i], part);
		/* && and || need not look at their right side. */
		if (i == 0 && arg[0].kind == VALUE_LOGICAL &&
		    ((e->op == OPERATOR_AND && !arg[0].logical) ||
		     (e->op == OPERATOR_OR && arg[0].logical)))
			return arg[0];
	}
	return apply(n, f, e, e->n, arg, w);
}

static Value eval_subscript(Nnef *n, Frame *f, const Expr *e, Want w)
{
	Want part = { .base = w.base, .ident = w.ident };
	Value at[3] = { NO_VALUE, NO_VALUE, NO_VALUE };
	for (int i = 0; i < e->n; i++) {
		if (e->item[i])
			at[i] = eval(n, f, e->item[i], part);
		if (e->item[i] && at[i].kind == VALUE_NONE)
			return NO_VALUE;
	}
	if (e->kind == EXPR_INDEX)
		return value_index(n, frame_place(f, e->loc), at[0], at[1]);
	return value_range(n, frame_place(f, e->loc), at[0], e->item[1] ? &at[1] : NULL,
			   e->item[2] ? &at[2] : NULL);
}

static Value eval_node(Nnef *n, Frame *f, const Expr *e, Want w)
{
	Want part = { .base = w.base, .ident = w.ident };
	int chosen;
	switch (e->kind) {
	case EXPR_INTEGER:
		return value_integer(e->integer);
	case EXPR_SCALAR:
		return value_scalar(e->scalar);
	case EXPR_LOGICAL:
		return value_logical(e->integer);
	case EXPR_STRING:
		return value_string(e->name);
	case EXPR_NAME:
		return frame_get(&f->values, e->name);
	case EXPR_HOLE:
		return (Value){ .kind = VALUE_HOLE };
	case EXPR_ARRAY:
		return eval_items(n, f, e, VALUE_ARRAY, w);
	case EXPR_TUPLE:
		return eval_items(n, f, e, VALUE_TUPLE, w);
	case EXPR_INDEX:
	case EXPR_RANGE:
		return eval_subscript(n, f, e, w);
	case EXPR_UNARY:
	case EXPR_BINARY:
		return eval_operator(n, f, e, w);
	case EXPR_SELECT:
		chosen = eval_condition(n, f, e->item[0], part);
		return chosen < 0 ? NO_VALUE : eval(n, f, e->item[chosen ? 1 : 2], w);
	case EXPR_FOR:
		return eval_for(n, f, e, w);
	case EXPR_CAST:
		return value_cast(n, frame_place(f, e->loc), e->type, eval(n, f, e->item[0], part));
	case EXPR_LENGTH_OF:
	case EXPR_RANGE_OF:
	case EXPR_SHAPE_OF:
		return eval_measure(n, frame_place(f, e->loc), e->kind,
				    eval(n, f, e->item[0], part));
	case EXPR_CALL:
		return eval_call(n, f, e, w);
	}
	return NO_VALUE;
}

Value eval(Nnef *n, Frame *f, const Expr *e, Want w)
{
	if (!nnef_step(n, e->loc, 1))
		return NO_VALUE;
	if (n->depth == MAX_EVAL_DEPTH) {
		n->stopped = true;
		return nnef_error(n, frame_place(f, e->loc), "evaluation is nested more than %d deep",
				  MAX_EVAL_DEPTH);
	}
	n->depth++;
	Value v = eval_node(n, f, e, w);
	n->depth--;
	return v;
}

/* Inputs come first, in the order of the graph's parameters. */
static void order_inputs(Nnef *n, Frame *f)
{
	for (int i = f->f->nparams - 1; i >= 0; i--) {
		Value v = frame_get(&f->values, f->f->param[i].name);
		if (v.kind == VALUE_TENSOR && v.op != n->g->first)
			op_move_before(n->g, v.op, n->g->first);
	}
}

static void make_output(Nnef *n, const Param *result, Value v)
{
	if (v.kind == VALUE_VARIABLE && shape_count(v.variable->shape) < 0)
		v = nnef_error(n, v.variable->loc, "a dim of variable '%s' stays open", v.variable->name);
	if (v.kind == VALUE_VARIABLE)
		v = value_tensor(variable_op(n, v.variable, WEIGHT_BIAS, 0, v.variable->shape));
	if (v.kind == VALUE_NONE)
		return;
	if (v.kind != VALUE_TENSOR) {
		nnef_error(n, result->loc, "graph result '%s' wants a tensor, is %s", result->name,
			   value_type_text(n, v));
		return;
	}
	Op *out = graph_insert(n->g, NULL, OP_OUTPUT, result->name, 1, &v.op);
	out->loc = result->loc;
	out->node = result->name;
	op_infer(n->g, out);
}

void nnef_eval(Nnef *n)
{
	const Fragment *graph = &n->model->graph;
	Frame f = { .f = graph, .path = "", .scope = "", .own_labels = true };
	frame_init(n, &f);
	frame_run(n, &f);
	order_inputs(n, &f);
	for (int i = 0; i < graph->nresults; i++)
		make_output(n, &graph->result[i], frame_get(&f.values, graph->result[i].name));
}
