/*
 * The graph IR: one static single assignment list of tensor ops.
 *
 * An Op yields one tensor. Its inputs are Uses, and each Use is also a link
 * in the list of uses of the op it reads, so "who reads me" and "whom do I
 * read" are both one pointer away. Ops stand in execution order. Every op has
 * a name, unique in its graph, which is the model's own name for the tensor
 * and stays with the op through all passes; an op that takes another one in
 * lists it as absorbed.
 *
 * Textual form (printer: print.c, parser: ../frontend/text.y, reference:
 * IR.md):
 *
 *     %c1 = conv %x, %w, %b {act = relu, pads = [1,1,1,1], strides = [1,1]} : f32[1,8,4,4]
 */
#ifndef IR_GRAPH_H
#define IR_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/arena.h"
#include "ir/devtypes.h"
#include "ir/diag.h"
#include "ir/op.h"
#include "ir/strmap.h"
#include "ir/tensor.h"

typedef struct Graph Graph;
typedef struct Op Op;
typedef struct Use Use;

struct Use {
	Op *def, *user;
	Use *next, **link; /* next use of def; what points at this one */
};

/* A fused activation: `kind` has the trait ACT, or is OP_INPUT for none.
 * param holds the kind's FLOAT attributes in the order of attrs.def. */
typedef struct Act {
	OpKind kind;
	float param[2];
} Act;

/* A plan choice the model's author pins: a key of hints.def and its value. */
typedef struct Hint {
	const char *key, *value;
} Hint;

typedef struct Names {
	int n;
	const char **v;
	int cap; /* room in v, if it may grow in place */
} Names;

struct Op {
	OpKind kind;
	const char *name; /* of the tensor: %name in text, unique in the graph */
	const char *node; /* the model's name for the operation, or NULL */
	Loc loc;
	DType dtype;
	Shape shape;
	Op *prev, *next;
	Use *uses;
	Attrs attr;
	Tensor *value;    /* of a constant */
	Act act;
	Names absorbed;   /* names of ops this one took in, oldest first */
	DevTypes stored;  /* formats allowed for the result on a device */
	DevTypes weights; /* formats allowed for the weights on a device */
	int nhints;
	Hint *hints;
	int64_t mark;     /* scratch for whoever walks the graph */
	int nin, cap;
	Use *in; /* nin of them */
};

struct Graph {
	Arena *arena;
	Diag *diag;
	const char *name;
	const char *weights_file; /* where IR text finds elided constants, or NULL */
	Op *first, *last;
	StrMap names; /* name -> Op */
	int nops;
	bool elided_told; /* a pass has said that it needs an elided constant */
	DevTypes all_stored, all_weights; /* formats asked for where there is a choice; or unset */
};

/* In execution order. The body may remove `op` itself and insert before or
 * after it; ops inserted directly after it are not visited. */
#define for_each_op(op, g) \
	for (Op *op = (g)->first, *op##_next; \
	     op && (op##_next = op->next, true); op = op##_next)

/* Every use of `op`; the body may change or unlink that use. */
#define for_each_use(u, op) \
	for (Use *u = (op)->uses, *u##_next; u && (u##_next = u->next, true); u = u##_next)

Graph *graph_create(Arena *a, Diag *d, const char *name);

/* A new op before `at`, or last if `at` is NULL, with default attributes, the
 * location of `at`, and no type yet: set attributes, then call op_infer. The
 * name is made unique by a suffix if it is taken. */
Op *graph_insert(Graph *g, Op *at, OpKind kind, const char *name, int nin,
		 Op *const in[]);

/* A new constant before `at`, typed. */
Op *graph_constant(Graph *g, Op *at, const char *name, Tensor *value);

/* The op of that name, or NULL. */
Op *graph_find(const Graph *g, const char *name);

/* `wanted`, or `wanted` with the first free suffix ".1", ".2", ... */
const char *graph_unique_name(Graph *g, const char *wanted);

/* Makes every user of `from` read `to` instead. */
void op_replace_uses(Op *from, Op *to);

void op_set_input(Op *op, int i, Op *def);
void op_add_input(Graph *g, Op *op, Op *def);

/* Drops inputs from `n` on. */
void op_drop_inputs(Op *op, int n);

/* Takes `op` out of the graph. It must have no uses left. */
void op_remove(Graph *g, Op *op);

/* Removes `op` and then, going up, the ops this leaves without a reader. */
void op_remove_dead(Graph *g, Op *op);

/* Moves `op` to before `at`. */
void op_move_before(Graph *g, Op *op, Op *at);

void op_rename(Graph *g, Op *op, const char *name);

/* Records that `op` now also does the work of `other` (and of all `other`
 * had absorbed). */
void op_absorb(Graph *g, Op *op, const Op *other);

static inline Op *op_in(const Op *op, int i) { return op->in[i].def; }
static inline bool op_has_one_use(const Op *op) { return op->uses && !op->uses->next; }
static inline bool op_has_act(const Op *op) { return op->act.kind != OP_INPUT; }
static inline bool op_is(const Op *op, unsigned traits)
{
	return (op_info[op->kind].traits & traits) == traits;
}
int op_use_count(const Op *op);

/* The shape the caller's tensor for an input has: before the input's perm. */
Shape op_callers_shape(const Op *input);

/* The value of a constant op that is not elided, else NULL. */
Tensor *op_value(const Op *op);

/* Finds the result's type from inputs and attributes (infer*.c) and stores
 * it. False if the op is wrong, which is then reported at its location; its
 * type is TYPE_NONE, and ops that read it pass that on without a word. */
bool op_infer(Graph *g, Op *op);

/* Prints the graph as IR text. A constant of more than PRINT_INLINE elements
 * that is no splat, or that is elided, appears by hash. */
enum { PRINT_INLINE = 24 };
bool tensor_prints_hash(const Tensor *t);
void graph_print(const Graph *g, FILE *f);
void op_print(const Op *op, FILE *f);

/* True if the graph obeys every rule of ops.def and this header; reports
 * each breach. Run after every reader and after every pass. */
bool graph_verify(const Graph *g);

#endif
