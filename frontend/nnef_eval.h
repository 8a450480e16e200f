/*
 * NNEF on its way from tree to graph.
 *
 * Evaluation runs the graph's assignments in order. Literals, arrays and tuples
 * are Values; an operation on tensors appends ops to the IR graph and its
 * Value is the last of them. Fragments are run at each invocation, in a Frame
 * of their own. A Value of kind VALUE_NONE stands for something already
 * reported: whoever meets it yields VALUE_NONE without a word.
 *
 *     nnef_check.c    names, extensions, arguments: what needs no values
 *     nnef_eval.c     expressions
 *     nnef_call.c     fragments, arguments, names
 *     nnef_value.c    arithmetic on literals, types
 *     nnef_weights.c  variables
 *     nnef_ops.c      the table of standard operations
 *     nnef_lower*.c   what each of them becomes in the IR
 */
#ifndef FRONTEND_NNEF_EVAL_H
#define FRONTEND_NNEF_EVAL_H

#include "frontend/model.h"
#include "frontend/nnef_ast.h"
#include "frontend/weights.h"
#include "ir/graph.h"

/* Limits that keep a hostile text from running for ever. */
enum {
	MAX_CALL_DEPTH = 100,     /* fragments inside fragments */
	MAX_EVAL_DEPTH = 1000,    /* expressions inside expressions, over all calls */
	MAX_STEPS = 4000000,      /* expressions evaluated, array elements made */
	MAX_NNEF_OPS = 200000,
	OP_STEPS = 50,            /* what making an op counts for */
};

typedef struct Value Value;
typedef struct Variable Variable;

typedef enum ValueKind {
	VALUE_NONE,
	VALUE_INTEGER,
	VALUE_SCALAR,
	VALUE_LOGICAL,
	VALUE_STRING,
	VALUE_HOLE,
	VALUE_ARRAY,
	VALUE_TUPLE,
	VALUE_TENSOR,   /* an op of the graph */
	VALUE_VARIABLE, /* becomes an op where it is first used */
} ValueKind;

struct Value {
	ValueKind kind;
	int n; /* of array and tuple */
	union {
		int64_t integer;
		double scalar;
		bool logical;
		const char *string;
		const Value *item;
		Op *op;
		Variable *variable;
	};
};

/* A weight. Its op is made at its first use, because the use may supply dims
 * the text leaves open, says what the weight is for, and may want it under
 * another shape (a bias is [1,C] in NNEF, [C] in the IR). */
struct Variable {
	const char *label, *name;
	Loc loc;
	DType dtype;
	Shape shape; /* -1: `?`, still open */
	Tensor *value; /* once loaded */
	int nmade, cap;
	Op **made; /* its ops, one per shape */
};

/* Extensions a model may declare: rows of the table in nnef_check.c. */
enum Extension {
	KHR_FRAGMENTS = 1 << 0,
	KHR_OPERATORS = 1 << 1,
	TS_SCOPED_VARIABLES = 1 << 2,
	TS_HINTS = 1 << 3,
};

typedef struct Nnef {
	Arena *arena;
	Diag *diag;
	const ModelOptions *opt;
	const char *dir; /* where .dat files lie */
	Graph *g;
	const NnefModel *model;
	StrMap fragments; /* name -> Fragment, standard ones too */
	StrMap variables; /* label -> Variable */
	WeightFile *weights;
	bool weights_tried, weights_missed;
	unsigned extensions;
	int64_t steps;
	int64_t made_up; /* elements of random weights */
	int depth, calls;
	bool stopped; /* a limit was reached and reported */
} Nnef;

/* What to call the ops an expression makes. */
typedef struct Want {
	Value names;       /* string, or arrays and tuples of them; NONE: nothing */
	const char *base;  /* full name of what is being assigned */
	const char *ident; /* the same as written in this fragment */
} Want;

/* One invocation of a standard operation, arguments bound and checked. */
typedef struct Call {
	Nnef *n;
	const Fragment *op;
	OpKind kind; /* of the table row */
	Loc loc;
	const Value *arg; /* in the order of op->param */
	DType type;       /* what <?> stands for */
	Want want;
	const char *label; /* what a variable's label starts with: "" or "a/b/" */
} Call;

typedef Value (*Lower)(Call *c);

#define NO_VALUE ((Value){ .kind = VALUE_NONE })

static inline Value value_integer(int64_t i)
{
	return (Value){ .kind = VALUE_INTEGER, .integer = i };
}

static inline Value value_scalar(double f)
{
	return (Value){ .kind = VALUE_SCALAR, .scalar = f };
}

static inline Value value_logical(bool b)
{
	return (Value){ .kind = VALUE_LOGICAL, .logical = b };
}

static inline Value value_string(const char *s)
{
	return (Value){ .kind = VALUE_STRING, .string = s };
}

static inline Value value_list(ValueKind kind, int n, const Value *item)
{
	return (Value){ .kind = kind, .n = n, .item = item };
}

static inline Value value_variable(Variable *v)
{
	return (Value){ .kind = VALUE_VARIABLE, .variable = v };
}

/* Nothing if `op` is NULL. */
static inline Value value_tensor(Op *op)
{
	return (Value){ .kind = op ? VALUE_TENSOR : VALUE_NONE, .op = op };
}

static inline bool value_is_tensor(Value v)
{
	return v.kind == VALUE_TENSOR || v.kind == VALUE_VARIABLE;
}

/* Reports; always yields VALUE_NONE. */
Value nnef_error(Nnef *n, Loc at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Counts work; false once too much was done, which is reported once. */
bool nnef_step(Nnef *n, Loc at, int64_t work);

/* A name put together; long ones count as work. */
const char *nnef_name(Nnef *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* --- nnef_value.c --- */

/* "integer[]", for messages. */
const char *value_type_text(Nnef *n, Value v);

/* True if `v` may be given for a parameter of type `t`, with <?> bound to
 * `generic` (TYPE_NONE: unbound, fits all). Converts what converts: integer
 * to scalar, literals stay literals where a tensor is wanted. */
bool value_fits(Nnef *n, const NnefType *t, DType generic, Value *v);

/* The element type in the IR of a base type. */
DType nnef_dtype(NnefBase base);

/* Element type of a literal or tensor; TYPE_NONE if it has none. */
DType value_dtype(Value v);

/* On values that are not tensors. */
Value value_unary(Nnef *n, Loc at, NnefOperator op, Value x);
Value value_binary(Nnef *n, Loc at, NnefOperator op, Value x, Value y);
Value value_cast(Nnef *n, Loc at, NnefBase to, Value x);
Value value_index(Nnef *n, Loc at, Value list, Value index);

/* NULL ends are open. */
Value value_range(Nnef *n, Loc at, Value list, const Value *begin, const Value *end);

/* --- nnef_check.c --- */

/* Everything that is wrong whatever the values are; sets n->extensions. */
void nnef_check(Nnef *n);

/* The parameter that argument i of a call is for, or -1. */
int nnef_param_of(const Fragment *f, const Expr *call, int i);

/* --- nnef_eval.c --- */

/* Runs the graph's assignments and makes inputs and outputs. */
void nnef_eval(Nnef *n);

/* --- nnef_weights.c --- */

Value nnef_make_variable(Call *c, const char *label, Shape shape);

/* Closes open dims of `v` from a use that needs `want` (dims of -1 say
 * nothing); reports what stays open. */
bool variable_close(Call *c, Variable *v, Shape want);

/* The op of `v` under `shape`, which has as many elements; loads it if need
 * be. `fan_in` counts for kernels alone. */
Op *variable_op(Nnef *n, Variable *v, WeightRole role, int64_t fan_in, Shape shape);

/* --- nnef_ops.c --- */

/* Adds every standard operation to n->fragments. */
void nnef_add_standard(Nnef *n);

/* Why a standard operation is not supported, or NULL. */
const char *nnef_unsupported(const Fragment *f);

/* Runs a standard operation that has no body. */
Value nnef_lower(Call *c);

#endif
