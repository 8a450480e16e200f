#include "frontend/nnef_ast.h"

#include <string.h>

#include "nnef.tab.h"

#define YYSTYPE NNEF_YYSTYPE
#define YYLTYPE NNEF_YYLTYPE
#include "nnef.yy.h"

const NnefOperatorInfo nnef_operator_info[OPERATOR_COUNT] = {
	[OPERATOR_ADD] = { "+", "add" },
	[OPERATOR_SUB] = { "-", "sub" },
	[OPERATOR_MUL] = { "*", "mul" },
	[OPERATOR_DIV] = { "/", "div" },
	[OPERATOR_POW] = { "^", "pow" },
	[OPERATOR_LT] = { "<", "lt" },
	[OPERATOR_GT] = { ">", "gt" },
	[OPERATOR_LE] = { "<=", "le" },
	[OPERATOR_GE] = { ">=", "ge" },
	[OPERATOR_EQ] = { "==", "eq" },
	[OPERATOR_NE] = { "!=", "ne" },
	[OPERATOR_AND] = { "&&", "and" },
	[OPERATOR_OR] = { "||", "or" },
	[OPERATOR_IN] = { "in", NULL },
	[OPERATOR_NEG] = { "-", "neg" },
	[OPERATOR_NOT] = { "!", "not" },
	[OPERATOR_COPY] = { "+", "copy" },
};

const char *const nnef_base_names[] = {
	[BASE_INTEGER] = "integer", [BASE_SCALAR] = "scalar", [BASE_LOGICAL] = "logical",
	[BASE_STRING] = "string",   [BASE_GENERIC] = "?",     [BASE_ANY] = "",
	[BASE_TUPLE] = "tuple",
};

Loc nnef_loc(const NnefParse *p, int line, int col)
{
	return (Loc){ .file = p->file, .line = line, .col = col };
}

void *nnef_grow(Arena *a, void *v, int n, int *cap, size_t size)
{
	if (n < *cap)
		return v;
	*cap = *cap ? *cap * 2 : 8;
	void *more = arena_calloc(a, (size_t)*cap, size);
	if (n)
		memcpy(more, v, (size_t)n * size);
	return more;
}

Expr *expr_new(NnefParse *p, ExprKind kind, Loc at)
{
	Expr *e = arena_new(p->arena, Expr);
	e->kind = kind;
	e->loc = at;
	e->depth = 1;
	return e;
}

static void set_children(NnefParse *p, Expr *e, int n, Expr **item)
{
	e->n = n;
	e->item = item;
	for (int i = 0; i < n; i++)
		if (item[i] && item[i]->depth >= e->depth)
			e->depth = item[i]->depth + 1;
	if (e->depth <= MAX_EXPR_DEPTH)
		return;
	if (!p->too_deep)
		diag_error(p->diag, e->loc, "expression is nested more than %d deep",
			   MAX_EXPR_DEPTH);
	p->too_deep = true;
	*e = (Expr){ .kind = EXPR_TUPLE, .loc = e->loc, .depth = 1 };
}

Expr *expr_of(NnefParse *p, ExprKind kind, Loc at, int n, Expr *const item[])
{
	Expr *e = expr_new(p, kind, at);
	Expr **copy = arena_array(p->arena, Expr *, n);
	memcpy(copy, item, (size_t)n * sizeof *copy);
	set_children(p, e, n, copy);
	return e;
}

Expr *expr_of_list(NnefParse *p, ExprKind kind, Loc at, const ExprList *list)
{
	Expr *e = expr_new(p, kind, at);
	e->names = list->names;
	set_children(p, e, list->n, list->item);
	return e;
}

ExprList *expr_list(NnefParse *p)
{
	return arena_new(p->arena, ExprList);
}

void expr_push(NnefParse *p, ExprList *list, const char *name, Expr *e)
{
	int cap = list->cap;
	list->names = nnef_grow(p->arena, list->names, list->n, &cap, sizeof *list->names);
	list->item = nnef_grow(p->arena, list->item, list->n, &list->cap, sizeof *list->item);
	list->names[list->n] = name;
	list->item[list->n++] = e;
}

NnefType *nnef_type(NnefParse *p, NnefBase base, bool tensor)
{
	NnefType *t = arena_new(p->arena, NnefType);
	t->base = base;
	t->tensor = tensor;
	return t;
}

const char *nnef_type_text(Arena *a, const NnefType *t)
{
	const char *text = nnef_base_names[t->base];
	if (t->tensor)
		text = arena_printf(a, "tensor<%s>", text);
	if (t->base == BASE_TUPLE) {
		text = "(";
		for (int i = 0; i < t->n; i++)
			text = arena_printf(a, "%s%s%s", text, i ? "," : "",
					    nnef_type_text(a, t->item[i]));
		text = arena_printf(a, "%s)", text);
	}
	for (int i = 0; i < t->arrays; i++)
		text = arena_printf(a, "%s[]", text);
	return text;
}

NnefModel *nnef_parse(Arena *a, Diag *d, const char *file, const char *text, size_t size,
		      bool prelude)
{
	NnefParse p = { .arena = a, .diag = d, .file = file };
	int before = d->errors;
	yyscan_t scanner;

	p.start = prelude ? START_PRELUDE : START_MODEL;
	p.model = arena_new(a, NnefModel);
	if (nnef_yylex_init_extra(&p, &scanner))
		die_out_of_memory(size);
	nnef_yy_scan_bytes(text, (int)size, scanner);
	nnef_yyparse(scanner, &p);
	nnef_yylex_destroy(scanner);
	return d->errors == before ? p.model : NULL;
}
