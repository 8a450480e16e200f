/* What is wrong with a model whatever its values are: unknown extensions,
 * operations, parameters and identifiers, things defined twice or never, and
 * syntax whose extension is not declared. All of it is reported at once. */
#include "frontend/nnef_eval.h"

#include <string.h>

static const struct {
	const char *name;
	unsigned bit;
	const char *what; /* it allows */
} extensions[] = {
	{ "KHR_enable_fragment_definitions", KHR_FRAGMENTS, "fragment definitions" },
	{ "KHR_enable_operator_expressions", KHR_OPERATORS, "operator expressions" },
	{ "TS_scoped_variables", TS_SCOPED_VARIABLES, "variables in fragments and '?' dims" },
	{ "TS_hints", TS_HINTS, "hints after '@'" },
};

enum { EXTENSIONS = sizeof extensions / sizeof extensions[0] };

/* Names visible at a point of a fragment. */
typedef struct Scope {
	Nnef *n;
	const Fragment *f;
	bool graph;
	StrMap names;
	unsigned missing; /* extensions already reported */
} Scope;

static void suggest(Nnef *n, Loc at, const char *word, const char *const names[], int count)
{
	const char *near = diag_nearest(word, names, (size_t)count);
	if (near)
		diag_note(n->diag, at, "did you mean '%s'?", near);
}

static void need(Scope *s, Loc at, unsigned bit)
{
	for (int i = 0; i < EXTENSIONS; i++)
		if (extensions[i].bit == bit && !((s->n->extensions | s->missing) & bit))
			diag_error(s->n->diag, at, "%s need 'extension %s;' after the version",
				   extensions[i].what, extensions[i].name);
	s->missing |= bit;
}

static void check_extensions(Nnef *n)
{
	const char *names[EXTENSIONS];
	for (int i = 0; i < EXTENSIONS; i++)
		names[i] = extensions[i].name;
	for (int i = 0; i < n->model->extensions.n; i++) {
		const ExtensionUse *use = &n->model->extensions.v[i];
		int k = 0;
		while (k < EXTENSIONS && strcmp(use->name, names[k]) != 0)
			k++;
		if (k < EXTENSIONS) {
			n->extensions |= extensions[k].bit;
			continue;
		}
		diag_error(n->diag, use->loc, "no extension '%s'", use->name);
		suggest(n, use->loc, use->name, names, EXTENSIONS);
		const char *known = names[0];
		for (k = 1; k < EXTENSIONS; k++)
			known = arena_printf(n->arena, "%s, %s", known, names[k]);
		diag_note(n->diag, (Loc){ .file = use->loc.file }, "known are %s", known);
	}
}

static bool is_visible(const Scope *s, const char *name)
{
	return strmap_get(&s->names, name) != NULL;
}

static void show(Scope *s, const char *name)
{
	strmap_put(&s->names, name, s);
}

static void suggest_key(Nnef *n, Loc at, const char *word, const StrMap *map)
{
	const char **names = arena_array(n->arena, const char *, map->cap + 1);
	int count = 0;
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].key && map->slots[i].value)
			names[count++] = map->slots[i].key;
	suggest(n, at, word, names, count);
}

static void declare(Scope *s, const Expr *left)
{
	if (left->kind != EXPR_NAME) {
		for (int i = 0; i < left->n; i++)
			declare(s, left->item[i]);
		return;
	}
	if (is_visible(s, left->name))
		diag_error(s->n->diag, left->loc, "'%s' is defined twice", left->name);
	show(s, left->name);
}

static void undeclare(Scope *s, const Expr *left)
{
	if (left->kind == EXPR_NAME)
		strmap_remove(&s->names, left->name);
	for (int i = 0; i < left->n; i++)
		undeclare(s, left->item[i]);
}

int nnef_param_of(const Fragment *f, const Expr *call, int i)
{
	if (!call->names[i])
		return i < f->nparams ? i : -1;
	for (int k = 0; k < f->nparams; k++)
		if (strcmp(f->param[k].name, call->names[i]) == 0)
			return k;
	return -1;
}

static bool has_param(const Fragment *f, const char *name)
{
	for (int k = 0; k < f->nparams; k++)
		if (strcmp(f->param[k].name, name) == 0)
			return true;
	return false;
}

static void wrong_argument(Scope *s, const Fragment *f, const Expr *call, int i)
{
	const char *name = call->names[i], **names;
	Loc at = call->item[i]->loc;
	if (!name) {
		diag_error(s->n->diag, at, "%s takes %d argument%s", f->name, f->nparams,
			   f->nparams == 1 ? "" : "s");
		return;
	}
	diag_error(s->n->diag, at, "%s has no parameter '%s'", f->name, name);
	names = arena_array(s->n->arena, const char *, f->nparams);
	for (int k = 0; k < f->nparams; k++)
		names[k] = f->param[k].name;
	suggest(s->n, at, name, names, f->nparams);
}

static void check_arguments(Scope *s, const Fragment *f, const Expr *call)
{
	bool *given = arena_array(s->n->arena, bool, f->nparams + 1);
	bool named = false;
	for (int i = 0; i < call->n; i++) {
		int k = nnef_param_of(f, call, i);
		/* The scope of a fragment's variables, see nnef.h. */
		if (k < 0 && call->names[i] && f->standard < 0 && strcmp(call->names[i], "scope") == 0) {
			need(s, call->item[i]->loc, TS_SCOPED_VARIABLES);
			continue;
		}
		named = named || call->names[i];
		if (named && !call->names[i])
			diag_error(s->n->diag, call->item[i]->loc,
				   "%s: an argument without a name follows a named one", f->name);
		else if (k < 0)
			wrong_argument(s, f, call, i);
		else if (given[k])
			diag_error(s->n->diag, call->item[i]->loc, "%s: '%s' is given twice", f->name,
				   f->param[k].name);
		else
			given[k] = true;
	}
	for (int k = 0; k < f->nparams; k++)
		if (!given[k] && !f->param[k].value)
			diag_error(s->n->diag, call->loc, "%s: no argument for '%s'", f->name,
				   f->param[k].name);
}

static void check_call(Scope *s, const Expr *call)
{
	const Fragment *f = strmap_get(&s->n->fragments, call->name);
	if (!f) {
		diag_error(s->n->diag, call->loc, "no operation '%s'", call->name);
		suggest_key(s->n, call->loc, call->name, &s->n->fragments);
		return;
	}
	if (nnef_unsupported(f))
		diag_error(s->n->diag, call->loc, "operation '%s' is not supported: %s", f->name,
			   nnef_unsupported(f));
	else if (!f->has_body && f->standard < 0)
		diag_error(s->n->diag, call->loc,
			   "fragment '%s' has no body and is no standard operation", f->name);
	if (call->typed && !f->generic)
		diag_error(s->n->diag, call->loc, "%s is not generic: '<%s>' has no meaning", f->name,
			   nnef_base_names[call->type]);
	check_arguments(s, f, call);
	if (s->graph || f->standard < 0)
		return;
	if (strcmp(f->name, "external") == 0)
		diag_error(s->n->diag, call->loc, "external is for the graph, not for fragments");
	if (strcmp(f->name, "variable") == 0)
		need(s, call->loc, TS_SCOPED_VARIABLES);
}

static void undefined(Scope *s, const Expr *e)
{
	diag_error(s->n->diag, e->loc, "'%s' is not defined", e->name);
	suggest_key(s->n, e->loc, e->name, &s->names);
	show(s, e->name); /* once is enough */
}

static void check_expr(Scope *s, const Expr *e);

static void check_for(Scope *s, const Expr *e)
{
	for (int i = 2; i < e->n; i += 2)
		check_expr(s, e->item[i + 1]);
	for (int i = 2; i < e->n; i += 2)
		declare(s, e->item[i]);
	if (e->item[1])
		check_expr(s, e->item[1]);
	check_expr(s, e->item[0]);
	for (int i = 2; i < e->n; i += 2)
		undeclare(s, e->item[i]);
}

static void check_expr(Scope *s, const Expr *e)
{
	switch (e->kind) {
	case EXPR_NAME:
		if (!is_visible(s, e->name))
			undefined(s, e);
		return;
	case EXPR_HOLE:
		need(s, e->loc, TS_SCOPED_VARIABLES);
		return;
	case EXPR_CALL:
		check_call(s, e);
		break;
	case EXPR_UNARY:
		if (e->op != OPERATOR_NEG || e->item[0]->n)
			need(s, e->loc, KHR_OPERATORS);
		break;
	case EXPR_FOR:
		need(s, e->loc, KHR_OPERATORS);
		check_for(s, e);
		return;
	case EXPR_INDEX:
	case EXPR_RANGE:
	case EXPR_BINARY:
	case EXPR_SELECT:
	case EXPR_CAST:
	case EXPR_LENGTH_OF:
	case EXPR_RANGE_OF:
	case EXPR_SHAPE_OF:
		need(s, e->loc, KHR_OPERATORS);
		break;
	case EXPR_INTEGER:
	case EXPR_SCALAR:
	case EXPR_LOGICAL:
	case EXPR_STRING:
	case EXPR_ARRAY:
	case EXPR_TUPLE:
		break;
	}
	for (int i = 0; i < e->n; i++)
		if (e->item[i])
			check_expr(s, e->item[i]);
}

static void check_hints(Scope *s, const Expr *hints)
{
	need(s, hints->loc, TS_HINTS);
	for (int i = 0; i < hints->n; i++) {
		if (!hints->names[i])
			diag_error(s->n->diag, hints->item[i]->loc, "a hint is written key = value");
		check_expr(s, hints->item[i]);
	}
}

/* Parameters and results of a fragment are its own names. */
static void check_signature(Scope *s)
{
	const Fragment *f = s->f;
	for (int i = 0; i < f->nparams; i++) {
		for (int k = 0; k < i; k++)
			if (strcmp(f->param[k].name, f->param[i].name) == 0)
				diag_error(s->n->diag, f->param[i].loc, "parameter '%s' is declared twice",
					   f->param[i].name);
		if (f->param[i].value)
			check_expr(s, f->param[i].value);
	}
	for (int i = 0; i < f->nresults; i++) {
		for (int k = 0; k < i; k++)
			if (strcmp(f->result[k].name, f->result[i].name) == 0)
				diag_error(s->n->diag, f->result[i].loc, "result '%s' is declared twice",
					   f->result[i].name);
		if (has_param(f, f->result[i].name))
			diag_error(s->n->diag, f->result[i].loc, "'%s' is both parameter and result",
				   f->result[i].name);
	}
}

/* A graph's parameters are its externals and nothing else is. */
static void check_external(Scope *s, const Assign *a)
{
	bool external = a->right->kind == EXPR_CALL && strcmp(a->right->name, "external") == 0;
	if (a->left->kind != EXPR_NAME)
		return;
	if (external && !has_param(s->f, a->left->name))
		diag_error(s->n->diag, a->loc, "external '%s' is no parameter of the graph",
			   a->left->name);
	if (!external && has_param(s->f, a->left->name))
		diag_error(s->n->diag, a->loc, "graph parameter '%s' wants to be an external",
			   a->left->name);
}

static unsigned check_fragment(Nnef *n, const Fragment *f, bool graph, unsigned missing)
{
	Scope s = { .n = n, .f = f, .graph = graph, .missing = missing };
	strmap_init(&s.names, n->arena);
	check_signature(&s);
	for (int i = 0; i < f->nparams && !graph; i++)
		show(&s, f->param[i].name);
	for (int i = 0; i < f->nbody; i++) {
		const Assign *a = &f->body[i];
		check_expr(&s, a->right);
		if (a->right->kind != EXPR_CALL)
			need(&s, a->right->loc, KHR_OPERATORS);
		if (a->hints)
			check_hints(&s, a->hints);
		if (graph)
			check_external(&s, a);
		declare(&s, a->left);
	}
	for (int i = 0; i < f->nparams && graph; i++)
		if (!is_visible(&s, f->param[i].name))
			diag_error(n->diag, f->param[i].loc, "graph parameter '%s' has no external",
				   f->param[i].name);
	for (int i = 0; i < f->nresults && f->has_body; i++)
		if (!is_visible(&s, f->result[i].name))
			diag_error(n->diag, f->result[i].loc, "result '%s' is never assigned",
				   f->result[i].name);
	return s.missing;
}

void nnef_check(Nnef *n)
{
	const NnefModel *m = n->model;
	unsigned missing = 0;
	if (m->version != 1.0)
		diag_error(n->diag, m->version_loc, "version %.1f is not supported, 1.0 is", m->version);
	check_extensions(n);
	if (m->fragments.n) {
		Scope s = { .n = n };
		need(&s, m->fragments.v[0].loc, KHR_FRAGMENTS);
	}
	for (int i = 0; i < m->fragments.n; i++) {
		Fragment *f = &m->fragments.v[i];
		const Fragment *old = strmap_get(&n->fragments, f->name);
		if (old)
			diag_error(n->diag, f->loc, old->standard >= 0 ?
				   "'%s' is a standard operation" : "fragment '%s' is defined twice", f->name);
		else
			strmap_put(&n->fragments, f->name, f);
	}
	for (int i = 0; i < m->fragments.n; i++)
		missing |= check_fragment(n, &m->fragments.v[i], false, missing);
	check_fragment(n, &m->graph, true, missing);
}
