/*
 * NNEF text as a tree: what nnef.y builds and nnef_check.c, nnef_eval.c read.
 *
 * Nothing here knows what an operation means; the tree says what was written
 * and where. It lives in an arena.
 *
 *     c1 = conv(x, w, stride = [2,2]) @ (shard = 'height');
 *
 * is an Assign whose left side is the name c1, whose right side is a call with
 * three arguments (the first two without a name), with one hint.
 */
#ifndef FRONTEND_NNEF_AST_H
#define FRONTEND_NNEF_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"
#include "ir/diag.h"

/* Types of values; BASE_GENERIC is the `?` of a generic fragment, BASE_ANY the
 * element of `tensor<>`. */
typedef enum NnefBase {
	BASE_INTEGER,
	BASE_SCALAR,
	BASE_LOGICAL,
	BASE_STRING,
	BASE_GENERIC,
	BASE_ANY,
	BASE_TUPLE,
} NnefBase;

typedef struct NnefType NnefType;

enum { MAX_TUPLE = 16, MAX_NAME = 200, MAX_STRING = 1000 };

struct NnefType {
	NnefBase base;
	bool tensor;
	int arrays; /* how many [] follow */
	int n;      /* of a tuple */
	NnefType **item;
};

typedef enum ExprKind {
	EXPR_INTEGER,
	EXPR_SCALAR,
	EXPR_LOGICAL,
	EXPR_STRING,
	EXPR_NAME,
	EXPR_HOLE,   /* ? as a dim */
	EXPR_ARRAY,  /* item[] */
	EXPR_TUPLE,  /* item[] */
	EXPR_INDEX,  /* item[0] [ item[1] ] */
	EXPR_RANGE,  /* item[0] [ item[1] : item[2] ], either may be NULL */
	EXPR_UNARY,  /* op item[0] */
	EXPR_BINARY, /* item[0] op item[1] */
	EXPR_SELECT, /* item[1] if item[0] else item[2] */
	EXPR_FOR,    /* yield item[0] if item[1] (or NULL) for item[2] in item[3], ... */
	EXPR_CAST,   /* integer(), scalar(), logical(), string(); `type` says which */
	EXPR_LENGTH_OF,
	EXPR_RANGE_OF,
	EXPR_SHAPE_OF,
	EXPR_CALL,   /* name<type>(names[i] = item[i], ...), names[i] may be NULL */
} ExprKind;

/* Operators, by the standard operation each becomes between tensors. */
typedef enum NnefOperator {
	OPERATOR_ADD,
	OPERATOR_SUB,
	OPERATOR_MUL,
	OPERATOR_DIV,
	OPERATOR_POW,
	OPERATOR_LT,
	OPERATOR_GT,
	OPERATOR_LE,
	OPERATOR_GE,
	OPERATOR_EQ,
	OPERATOR_NE,
	OPERATOR_AND,
	OPERATOR_OR,
	OPERATOR_IN,
	OPERATOR_NEG,
	OPERATOR_NOT,
	OPERATOR_COPY, /* unary + */
	OPERATOR_COUNT
} NnefOperator;

typedef struct NnefOperatorInfo {
	const char *spelling;
	const char *operation; /* between tensors, or NULL */
} NnefOperatorInfo;

extern const NnefOperatorInfo nnef_operator_info[OPERATOR_COUNT];

typedef struct Expr Expr;

struct Expr {
	ExprKind kind;
	Loc loc;
	int depth; /* of the tree under it */
	NnefOperator op;
	NnefBase type;   /* of a cast; of a call's <type>, if typed */
	bool typed;
	int64_t integer; /* also of a logical */
	double scalar;
	const char *name; /* also of a string */
	int n;
	Expr **item;
	const char **names;
};

typedef struct Assign {
	Loc loc;
	Expr *left, *right;
	Expr *hints; /* an EXPR_CALL with only named arguments, or NULL */
} Assign;

typedef struct Param {
	const char *name;
	Loc loc;
	NnefType *type;
	Expr *value; /* default, or NULL */
} Param;

/* A fragment, standard operation or graph. */
typedef struct Fragment {
	const char *name;
	Loc loc;
	bool generic;          /* declared <?> */
	bool generic_default;  /* declared <? = default_type> */
	NnefBase default_type;
	int nparams, nresults;
	Param *param, *result; /* results have no value; a graph's have no type */
	bool has_body;
	int nbody;
	Assign *body;
	int standard; /* row of nnef_ops.def, or -1 */
} Fragment;

typedef struct ExtensionUse {
	const char *name;
	Loc loc;
} ExtensionUse;

/* Deepest tree of an expression; also bounds the work of walking it. */
enum { MAX_EXPR_DEPTH = 200 };

/* A list under construction. */
typedef struct ExprList {
	int n, cap;
	Expr **item;
	const char **names;
} ExprList;

#define NNEF_LIST(T) \
	typedef struct T##List { \
		int n, cap; \
		T *v; \
	} T##List

NNEF_LIST(Assign);
NNEF_LIST(Param);
NNEF_LIST(Fragment);
NNEF_LIST(ExtensionUse);

typedef struct NnefModel {
	Loc version_loc;
	double version;
	ExtensionUseList extensions;
	FragmentList fragments;
	Fragment graph;
} NnefModel;

/* A copy of v[0..n) with room for one more, doubled as needed. */
void *nnef_grow(Arena *a, void *v, int n, int *cap, size_t size);

#define NNEF_PUSH(a, list, x) \
	((list)->v = nnef_grow((a), (list)->v, (list)->n, &(list)->cap, sizeof *(list)->v), \
	 (list)->v[(list)->n++] = (x))

/* What lexer and parser share. */
typedef struct NnefParse {
	Arena *arena;
	Diag *diag;
	const char *file;
	int start; /* token to hand out first, then 0 */
	bool too_deep; /* an expression was, which is said once */
	NnefModel *model;
} NnefParse;

Loc nnef_loc(const NnefParse *p, int line, int col);

/* The model in `text`; NULL if it is wrong, which was reported. `prelude`:
 * the text is fragments alone, with no version and no graph. */
NnefModel *nnef_parse(Arena *a, Diag *d, const char *file, const char *text, size_t size,
		      bool prelude);

Expr *expr_new(NnefParse *p, ExprKind kind, Loc at);

/* With n children, which set the depth; reports a tree that is too deep and
 * then drops the children. */
Expr *expr_of(NnefParse *p, ExprKind kind, Loc at, int n, Expr *const item[]);
Expr *expr_of_list(NnefParse *p, ExprKind kind, Loc at, const ExprList *list);

ExprList *expr_list(NnefParse *p);
void expr_push(NnefParse *p, ExprList *list, const char *name, Expr *e);

NnefType *nnef_type(NnefParse *p, NnefBase base, bool tensor);

/* "tensor<scalar>[]" */
const char *nnef_type_text(Arena *a, const NnefType *t);
extern const char *const nnef_base_names[];

#endif
