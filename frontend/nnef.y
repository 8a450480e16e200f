%code top {
/* Grammar of NNEF 1.0 with our two extensions (nnef.h): flat and
 * compositional syntax alike. */
}
%code requires {
#include "frontend/nnef_ast.h"

typedef struct TypedName {
	const char *name;
	NnefBase base;
} TypedName;
}

%define api.pure full
%define api.prefix {nnef_yy}
%define parse.error verbose
%locations
%expect 0
%param {void *scanner}
%parse-param {NnefParse *p}

%union {
	int64_t integer;
	double scalar;
	const char *name;
	TypedName typed;
	NnefBase base;
	Expr *expr;
	ExprList *exprs;
	NnefType *type;
	Param param;
	ParamList *params;
	Assign assign;
	AssignList *assigns;
	Fragment fragment;
}

%token START_MODEL START_PRELUDE
%token VERSION "version" EXTENSION "extension" GRAPH "graph" FRAGMENT "fragment"
%token FOR "for" IN "in" IF "if" ELSE "else" YIELD "yield" ARROW "->"
%token AND "&&" OR "||" LE "<=" GE ">=" EQ "==" NE "!="
%token BAD_BYTE "invalid character" OPEN_STRING "string without an end"
%token <integer> INTEGER "integer literal" LOGICAL "logical literal" MEASURE "built-in function"
%token <scalar> SCALAR "scalar literal"
%token <name> NAME "identifier" STRING "string"
%token <typed> TYPED_NAME "typed operation" TENSOR "tensor type"
%token <base> BASE "type name"

%type <exprs> names inputs iterators arguments expressions lefts
%type <expr> left lhs expr binary primary optional condition hints
%type <type> type types
%type <param> param result
%type <params> params some_params results
%type <assign> assign
%type <assigns> assigns body
%type <fragment> fragment declared

%left OR
%left AND
%nonassoc IN
%nonassoc '<' '>' LE GE EQ NE
%left '+' '-'
%left '*' '/'
%precedence UNARY
%right '^'

%code {
#include <string.h>

int nnef_yylex(NNEF_YYSTYPE *, NNEF_YYLTYPE *, void *scanner);

#define AT(l) nnef_loc(p, (l).first_line, (l).first_column)

static void nnef_yyerror(NNEF_YYLTYPE *at, void *scanner, NnefParse *p, const char *msg)
{
	(void)scanner;
	diag_error(p->diag, AT(*at), "%s",
		   strcmp(msg, "memory exhausted") ? msg : "text is nested too deeply");
}

static Expr *named(NnefParse *p, ExprKind kind, Loc at, const char *name)
{
	Expr *e = expr_new(p, kind, at);
	e->name = name;
	return e;
}

static Expr *unary(NnefParse *p, NnefOperator op, Loc at, Expr *x)
{
	Expr *e = expr_of(p, EXPR_UNARY, at, 1, &x);
	e->op = op;
	return e;
}

static Expr *binary(NnefParse *p, NnefOperator op, Loc at, Expr *x, Expr *y)
{
	Expr *e = expr_of(p, EXPR_BINARY, at, 2, (Expr *[]){ x, y });
	e->op = op;
	return e;
}

static Expr *call(NnefParse *p, Loc at, const char *name, const ExprList *args)
{
	Expr *e = expr_of_list(p, EXPR_CALL, at, args);
	e->name = name;
	return e;
}

/* The names of a graph's parameters or results. */
static Param *params_of_names(NnefParse *p, const ExprList *names)
{
	Param *v = arena_array(p->arena, Param, names->n);
	for (int i = 0; i < names->n; i++)
		v[i] = (Param){ names->item[i]->name, names->item[i]->loc, NULL, NULL };
	return v;
}
}

%%

start:	START_MODEL version extensions fragments graph
	| START_PRELUDE fragments
	;

version: "version" SCALAR ';'	{ p->model->version = $2; p->model->version_loc = AT(@2); } ;

extensions: %empty
	| extensions "extension" names ';'
		{
			for (int i = 0; i < $3->n; i++)
				NNEF_PUSH(p->arena, &p->model->extensions,
					  ((ExtensionUse){ $3->item[i]->name, $3->item[i]->loc }));
		}
	;

names:	NAME			{ $$ = expr_list(p); expr_push(p, $$, NULL, named(p, EXPR_NAME, AT(@1), $1)); }
	| names ',' NAME	{ $$ = $1; expr_push(p, $$, NULL, named(p, EXPR_NAME, AT(@3), $3)); }
	;

graph:	"graph" NAME '(' inputs ')' "->" '(' names ')' '{' assigns '}'
		{
			p->model->graph = (Fragment){
				.name = $2, .loc = AT(@2), .has_body = true, .standard = -1,
				.nparams = $4->n, .param = params_of_names(p, $4),
				.nresults = $8->n, .result = params_of_names(p, $8),
				.nbody = $11->n, .body = $11->v,
			};
		}
	;

inputs:	%empty			{ $$ = expr_list(p); }
	| names
	;

fragments: %empty
	| fragments fragment	{ NNEF_PUSH(p->arena, &p->model->fragments, $2); }
	;

fragment: "fragment" declared '(' params ')' "->" '(' results ')' body
		{
			$$ = $2;
			$$.nparams = $4->n;
			$$.param = $4->v;
			$$.nresults = $8->n;
			$$.result = $8->v;
			$$.standard = -1;
			$$.has_body = $10 != NULL;
			$$.nbody = $10 ? $10->n : 0;
			$$.body = $10 ? $10->v : NULL;
		}
	;

declared: NAME			{ $$ = (Fragment){ .name = $1, .loc = AT(@1) }; }
	| TYPED_NAME
		{
			$$ = (Fragment){ .name = $1.name, .loc = AT(@1), .generic = true };
			if ($1.base != BASE_GENERIC)
				diag_error(p->diag, AT(@1), "fragment %s: only <?> may be declared, not <%s>",
					   $1.name, nnef_base_names[$1.base]);
		}
	| NAME '<' '?' '=' BASE '>'
		{
			$$ = (Fragment){ .name = $1, .loc = AT(@1), .generic = true,
					 .generic_default = true, .default_type = $5 };
		}
	;

params:	%empty			{ $$ = arena_new(p->arena, ParamList); }
	| some_params
	;

some_params: param		{ $$ = arena_new(p->arena, ParamList); NNEF_PUSH(p->arena, $$, $1); }
	| some_params ',' param	{ $$ = $1; NNEF_PUSH(p->arena, $$, $3); }
	;

param:	result
	| result '=' expr	{ $$ = $1; $$.value = $3; }
	;

results: result			{ $$ = arena_new(p->arena, ParamList); NNEF_PUSH(p->arena, $$, $1); }
	| results ',' result	{ $$ = $1; NNEF_PUSH(p->arena, $$, $3); }
	;

result:	NAME ':' type		{ $$ = (Param){ $1, AT(@1), $3, NULL }; } ;

type:	BASE			{ $$ = nnef_type(p, $1, false); }
	| '?'			{ $$ = nnef_type(p, BASE_GENERIC, false); }
	| TENSOR		{ $$ = nnef_type(p, $1.base, true); }
	| '(' types ')'		{ $$ = $2; }
	| type '[' ']'		{ $$ = $1; $$->arrays++; }
	;

types:	type
		{
			$$ = nnef_type(p, BASE_TUPLE, false);
			$$->item = arena_array(p->arena, NnefType *, MAX_TUPLE);
			$$->item[$$->n++] = $1;
		}
	| types ',' type
		{
			$$ = $1;
			if ($$->n == MAX_TUPLE)
				diag_error(p->diag, AT(@3), "tuple has more than %d items", MAX_TUPLE);
			else
				$$->item[$$->n++] = $3;
		}
	;

body:	';'			{ $$ = NULL; }
	| '{' assigns '}'	{ $$ = $2; }
	;

assigns: %empty			{ $$ = arena_new(p->arena, AssignList); }
	| assigns assign	{ $$ = $1; NNEF_PUSH(p->arena, $$, $2); }
	| assigns error ';'	{ $$ = $1; }
	;

assign:	lhs '=' expr hints ';'	{ $$ = (Assign){ AT(@1), $1, $3, $4 }; } ;

hints:	%empty			{ $$ = NULL; }
	| '@' '(' arguments ')'	{ $$ = call(p, AT(@1), "@", $3); }
	;

lhs:	lefts			{ $$ = $1->n == 1 ? $1->item[0] : expr_of_list(p, EXPR_TUPLE, AT(@1), $1); } ;

lefts:	left			{ $$ = expr_list(p); expr_push(p, $$, NULL, $1); }
	| lefts ',' left	{ $$ = $1; expr_push(p, $$, NULL, $3); }
	;

left:	NAME			{ $$ = named(p, EXPR_NAME, AT(@1), $1); }
	| '[' lefts ']'		{ $$ = expr_of_list(p, EXPR_ARRAY, AT(@1), $2); }
	| '(' lefts ')'		{ $$ = $2->n == 1 ? $2->item[0] : expr_of_list(p, EXPR_TUPLE, AT(@1), $2); }
	;

expr:	binary
	| binary "if" expr "else" expr
		{ $$ = expr_of(p, EXPR_SELECT, AT(@1), 3, (Expr *[]){ $3, $1, $5 }); }
	;

binary:	primary
	| binary '+' binary	{ $$ = binary(p, OPERATOR_ADD, AT(@2), $1, $3); }
	| binary '-' binary	{ $$ = binary(p, OPERATOR_SUB, AT(@2), $1, $3); }
	| binary '*' binary	{ $$ = binary(p, OPERATOR_MUL, AT(@2), $1, $3); }
	| binary '/' binary	{ $$ = binary(p, OPERATOR_DIV, AT(@2), $1, $3); }
	| binary '^' binary	{ $$ = binary(p, OPERATOR_POW, AT(@2), $1, $3); }
	| binary '<' binary	{ $$ = binary(p, OPERATOR_LT, AT(@2), $1, $3); }
	| binary '>' binary	{ $$ = binary(p, OPERATOR_GT, AT(@2), $1, $3); }
	| binary "<=" binary	{ $$ = binary(p, OPERATOR_LE, AT(@2), $1, $3); }
	| binary ">=" binary	{ $$ = binary(p, OPERATOR_GE, AT(@2), $1, $3); }
	| binary "==" binary	{ $$ = binary(p, OPERATOR_EQ, AT(@2), $1, $3); }
	| binary "!=" binary	{ $$ = binary(p, OPERATOR_NE, AT(@2), $1, $3); }
	| binary "&&" binary	{ $$ = binary(p, OPERATOR_AND, AT(@2), $1, $3); }
	| binary "||" binary	{ $$ = binary(p, OPERATOR_OR, AT(@2), $1, $3); }
	| binary "in" binary	{ $$ = binary(p, OPERATOR_IN, AT(@2), $1, $3); }
	| '-' binary %prec UNARY	{ $$ = unary(p, OPERATOR_NEG, AT(@1), $2); }
	| '+' binary %prec UNARY	{ $$ = unary(p, OPERATOR_COPY, AT(@1), $2); }
	| '!' binary %prec UNARY	{ $$ = unary(p, OPERATOR_NOT, AT(@1), $2); }
	;

primary: INTEGER		{ $$ = expr_new(p, EXPR_INTEGER, AT(@1)); $$->integer = $1; }
	| SCALAR		{ $$ = expr_new(p, EXPR_SCALAR, AT(@1)); $$->scalar = $1; }
	| LOGICAL		{ $$ = expr_new(p, EXPR_LOGICAL, AT(@1)); $$->integer = $1; }
	| STRING		{ $$ = named(p, EXPR_STRING, AT(@1), $1); }
	| NAME			{ $$ = named(p, EXPR_NAME, AT(@1), $1); }
	| '?'			{ $$ = expr_new(p, EXPR_HOLE, AT(@1)); }
	| '(' expr ')'		{ $$ = $2; }
	| '(' expr ',' expressions ')'
		{
			ExprList *all = expr_list(p);
			expr_push(p, all, NULL, $2);
			for (int i = 0; i < $4->n; i++)
				expr_push(p, all, NULL, $4->item[i]);
			$$ = expr_of_list(p, EXPR_TUPLE, AT(@1), all);
		}
	| '[' ']'		{ $$ = expr_new(p, EXPR_ARRAY, AT(@1)); }
	| '[' expressions ']'	{ $$ = expr_of_list(p, EXPR_ARRAY, AT(@1), $2); }
	| '[' "for" iterators condition "yield" expr ']'
		{
			ExprList *all = expr_list(p);
			expr_push(p, all, NULL, $6);
			expr_push(p, all, NULL, $4);
			for (int i = 0; i < $3->n; i++)
				expr_push(p, all, NULL, $3->item[i]);
			$$ = expr_of_list(p, EXPR_FOR, AT(@1), all);
		}
	| MEASURE '(' expr ')'	{ $$ = expr_of(p, (ExprKind)$1, AT(@1), 1, &$3); }
	| BASE '(' expr ')'	{ $$ = expr_of(p, EXPR_CAST, AT(@1), 1, &$3); $$->type = $1; }
	| NAME '(' ')'		{ $$ = call(p, AT(@1), $1, expr_list(p)); }
	| NAME '(' arguments ')'	{ $$ = call(p, AT(@1), $1, $3); }
	| TYPED_NAME '(' arguments ')'
		{ $$ = call(p, AT(@1), $1.name, $3); $$->typed = true; $$->type = $1.base; }
	| primary '[' expr ']'	{ $$ = expr_of(p, EXPR_INDEX, AT(@2), 2, (Expr *[]){ $1, $3 }); }
	| primary '[' optional ':' optional ']'
		{ $$ = expr_of(p, EXPR_RANGE, AT(@2), 3, (Expr *[]){ $1, $3, $5 }); }
	;

optional: %empty		{ $$ = NULL; }
	| expr
	;

expressions: expr		{ $$ = expr_list(p); expr_push(p, $$, NULL, $1); }
	| expressions ',' expr	{ $$ = $1; expr_push(p, $$, NULL, $3); }
	;

arguments: expr		{ $$ = expr_list(p); expr_push(p, $$, NULL, $1); }
	| NAME '=' expr		{ $$ = expr_list(p); expr_push(p, $$, $1, $3); }
	| arguments ',' expr	{ $$ = $1; expr_push(p, $$, NULL, $3); }
	| arguments ',' NAME '=' expr	{ $$ = $1; expr_push(p, $$, $3, $5); }
	;

iterators: left "in" binary	{ $$ = expr_list(p); expr_push(p, $$, NULL, $1); expr_push(p, $$, NULL, $3); }
	| iterators ',' left "in" binary
		{ $$ = $1; expr_push(p, $$, NULL, $3); expr_push(p, $$, NULL, $5); }
	;

condition: %empty		{ $$ = NULL; }
	| "if" expr		{ $$ = $2; }
	;
