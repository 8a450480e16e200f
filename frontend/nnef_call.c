/* Fragments and standard operations: arguments, names, scopes. */
#include "frontend/nnef_frame.h"

#include <string.h>

#include "ir/hint.h"

void frame_init(Nnef *n, Frame *f)
{
	strmap_init(&f->values, n->arena);
	strmap_init(&f->results, n->arena);
	strmap_init(&f->steps, n->arena);
}

void frame_set(Nnef *n, StrMap *map, const char *name, Value v)
{
	Value *copy = arena_new(n->arena, Value);
	*copy = v;
	strmap_put(map, name, copy);
}

Value frame_get(const StrMap *map, const char *name)
{
	const Value *v = strmap_get(map, name);
	return v ? *v : NO_VALUE;
}

/* What a call's result is named: as wanted, else after what it is part of. */
static const char *call_name(Nnef *n, Want w, const char *operation)
{
	return w.names.kind == VALUE_STRING ? w.names.string
		: nnef_name(n, "%s.%s", w.base, operation);
}

static const char *call_ident(Nnef *n, Want w, const char *operation)
{
	return w.names.kind != VALUE_NONE ? w.ident
		: nnef_name(n, "%s.%s", w.ident, operation);
}

Want want_part(Nnef *n, Want w, const char *operation)
{
	return (Want){ .base = call_name(n, w, operation), .ident = call_ident(n, w, operation) };
}

static Value names_of(Nnef *n, Frame *f, const Expr *left)
{
	if (left->kind == EXPR_NAME) {
		Value given = frame_get(&f->results, left->name);
		return given.kind != VALUE_NONE ? given
			: value_string(nnef_name(n, "%s%s", f->path, left->name));
	}
	Value *item = arena_array(n->arena, Value, left->n);
	for (int i = 0; i < left->n; i++)
		item[i] = names_of(n, f, left->item[i]);
	return value_list(left->kind == EXPR_ARRAY ? VALUE_ARRAY : VALUE_TUPLE, left->n, item);
}

static const char *first_name(const Expr *left)
{
	while (left->kind != EXPR_NAME && left->n)
		left = left->item[0];
	return left->kind == EXPR_NAME ? left->name : "";
}

static void add_hints(Nnef *n, Frame *f, const Expr *hints, Value v)
{
	if (v.kind == VALUE_NONE)
		return;
	if (v.kind != VALUE_TENSOR) {
		nnef_error(n, hints->loc, "hints belong to one operation, this is %s",
			   value_type_text(n, v));
		return;
	}
	for (int i = 0; i < hints->n; i++) {
		Want w = { .base = "", .ident = "" };
		Value h = value_cast(n, hints->item[i]->loc, BASE_STRING,
				     eval(n, f, hints->item[i], w));
		if (h.kind == VALUE_STRING)
			op_add_hint(n->g, v.op, hints->item[i]->loc, hints->names[i], h.string);
	}
}

void frame_run(Nnef *n, Frame *f)
{
	for (int i = 0; i < f->f->nbody && !n->stopped; i++) {
		const Assign *a = &f->f->body[i];
		Want w = { .names = names_of(n, f, a->left), .ident = first_name(a->left) };
		w.base = w.names.kind == VALUE_STRING ? w.names.string
			: nnef_name(n, "%s%s", f->path, w.ident);
		Value v = eval(n, f, a->right, w);
		eval_bind(n, f, a->left, v);
		if (a->hints)
			add_hints(n, f, a->hints, v);
	}
}

/* What <?> of `op` stands for in this call. */
static DType bind_generic(const Frame *f, const Fragment *op, const Expr *call, const Value *arg)
{
	if (call && call->typed)
		return call->type == BASE_GENERIC ? f->generic : nnef_dtype(call->type);
	if (op->generic_default)
		return nnef_dtype(op->default_type);
	for (int i = 0; i < op->nparams; i++) {
		Value v = arg[i];
		while (v.kind == VALUE_ARRAY && v.n)
			v = v.item[0];
		if (op->param[i].type->base == BASE_GENERIC && value_dtype(v) != TYPE_NONE)
			return value_dtype(v);
	}
	return TYPE_NONE;
}

static bool check_types(Nnef *n, const Fragment *op, Loc at, DType generic, Value *arg)
{
	bool ok = true;
	for (int i = 0; i < op->nparams; i++) {
		Value given = arg[i];
		if (value_fits(n, op->param[i].type, generic, &arg[i]))
			continue;
		nnef_error(n, at, "%s: '%s' wants %s, is %s", op->name, op->param[i].name,
			   nnef_type_text(n->arena, op->param[i].type), value_type_text(n, given));
		ok = false;
	}
	return ok;
}

/* A scope for an invocation that no other in this frame has. */
static const char *new_step(Nnef *n, Frame *f, const char *ident)
{
	const char *step = ident;
	for (int i = 2; strmap_get(&f->steps, step); i++)
		step = nnef_name(n, "%s_%d", ident, i);
	strmap_put(&f->steps, step, f);
	return nnef_name(n, "%s%s/", f->scope, step);
}

static Value collect_results(Nnef *n, Frame *f)
{
	const Fragment *op = f->f;
	Value *item = arena_array(n->arena, Value, op->nresults);
	for (int i = 0; i < op->nresults; i++) {
		item[i] = frame_get(&f->values, op->result[i].name);
		if (item[i].kind == VALUE_NONE)
			return NO_VALUE;
		if (!value_fits(n, op->result[i].type, f->generic, &item[i]))
			return nnef_error(n, frame_place(f, op->result[i].loc),
					  "%s: result '%s' wants %s, is %s", op->name, op->result[i].name,
					  nnef_type_text(n->arena, op->result[i].type),
					  value_type_text(n, item[i]));
	}
	return op->nresults == 1 ? item[0] : value_list(VALUE_TUPLE, op->nresults, item);
}

/* The names a fragment's results get from its caller. */
static void name_results(Nnef *n, Frame *f, Want w)
{
	const Fragment *op = f->f;
	for (int i = 0; i < op->nresults; i++) {
		Value name = op->nresults == 1 ? w.names
			: w.names.kind == VALUE_TUPLE && i < w.names.n ? w.names.item[i] : NO_VALUE;
		if (name.kind == VALUE_NONE)
			name = value_string(op->nresults == 1 ? call_name(n, w, op->name)
				: nnef_name(n, "%s.%s", w.base, op->result[i].name));
		frame_set(n, &f->results, op->result[i].name, name);
	}
}

static Value invoke(Nnef *n, Frame *caller, const Fragment *op, Loc at, const Value *arg,
		    DType generic, Want w, const char *scope)
{
	Frame f = { .f = op, .at = at, .generic = generic };
	const char *ident = call_ident(n, w, op->name);
	int before = n->diag->errors;

	if (n->calls == MAX_CALL_DEPTH) {
		n->stopped = true;
		return nnef_error(n, at, "fragments are nested more than %d deep", MAX_CALL_DEPTH);
	}
	if (!nnef_step(n, at, OP_STEPS))
		return NO_VALUE;
	frame_init(n, &f);
	f.standard = op->standard >= 0;
	f.path = nnef_name(n, "%s%s.", caller->path, ident);
	f.scope = scope ? nnef_name(n, "%s%s/", caller->scope, scope)
			: new_step(n, caller, ident);
	for (int i = 0; i < op->nparams; i++) {
		frame_set(n, &f.values, op->param[i].name, arg[i]);
		if (strcmp(op->param[i].name, "scope") == 0 && arg[i].kind == VALUE_STRING) {
			f.own_labels = true;
			f.scope = nnef_name(n, "%s/", arg[i].string);
		}
	}
	name_results(n, &f, w);
	n->calls++;
	frame_run(n, &f);
	n->calls--;
	if (n->diag->errors > before && !f.standard && !n->stopped)
		diag_note(n->diag, at, "in '%s', used here", op->name);
	return collect_results(n, &f);
}

static Value run_operation(Nnef *n, Frame *f, const Fragment *op, Loc at, const Value *arg,
			   DType generic, Want w, const char *scope)
{
	if (op->has_body)
		return invoke(n, f, op, at, arg, generic, w, scope);
	Call c = { .n = n, .op = op, .loc = at, .arg = arg, .type = generic, .want = w };
	c.want.base = call_name(n, w, op->name);
	c.label = f->own_labels ? "" : f->scope;
	for (int i = 0; i < op->nparams; i++)
		if (arg[i].kind == VALUE_NONE)
			return NO_VALUE;
	return nnef_lower(&c);
}

Value eval_call(Nnef *n, Frame *f, const Expr *e, Want w)
{
	const Fragment *op = strmap_get(&n->fragments, e->name);
	Value *arg = arena_array(n->arena, Value, op->nparams + 1);
	bool *given = arena_array(n->arena, bool, op->nparams + 1);
	const char *scope = NULL;
	Want part = want_part(n, w, op->name);

	for (int i = 0; i < e->n; i++) {
		int k = nnef_param_of(op, e, i);
		Value v = eval(n, f, e->item[i], part);
		if (k >= 0) {
			arg[k] = v;
			given[k] = true;
		} else if (v.kind == VALUE_STRING) {
			scope = v.string;
		} else if (v.kind != VALUE_NONE) {
			return nnef_error(n, e->item[i]->loc, "%s: 'scope' wants string, is %s", op->name,
					  value_type_text(n, v));
		}
	}
	for (int k = 0; k < op->nparams; k++)
		if (!given[k])
			arg[k] = eval(n, f, op->param[k].value, part);
	DType generic = bind_generic(f, op, e, arg);
	Loc at = frame_place(f, e->loc);
	if (n->stopped || !check_types(n, op, at, generic, arg))
		return NO_VALUE;
	return run_operation(n, f, op, at, arg, generic, w, scope);
}

Value call_operation(Nnef *n, Frame *f, const char *operation, Loc at, Value *arg, Want w)
{
	const Fragment *op = strmap_get(&n->fragments, operation);
	DType generic = bind_generic(f, op, NULL, arg);
	if (!check_types(n, op, at, generic, arg))
		return NO_VALUE;
	return run_operation(n, f, op, at, arg, generic, w, NULL);
}
