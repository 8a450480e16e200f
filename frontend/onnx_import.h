/*
 * Inside the ONNX reader: what its files share.
 *
 *     onnx_wire.c     bytes -> protobuf message, within limits
 *     onnx_read.c     the model's versions, what it needs that we lack
 *     onnx_tensor.c   TensorProto -> Tensor
 *     onnx_weights.c  initializers, and weights that are not there
 *     onnx_import.c   the walk over the nodes: names, order, what is needed
 *     onnx_input.c    the types of graph inputs, --dim and --input
 *     onnx_attr.c     attributes of nodes
 *     onnx_node.c     how builders make ops and read operands
 *     onnx_conv.c ... builders, one function per row of onnx_ops.def
 *
 * A builder reads n->in and the attributes and fills n->out:
 *
 *     void onnx_build_neg(Node *n)
 *     {
 *             n->out[0] = node_op(n, OP_NEG, node_out(n, 0), NULL, 1, n->in);
 *     }
 *
 * What is wrong is reported where it is found and then yields NULL; what is
 * made from NULL is NULL, so builders do not check what they only pass on.
 */
#ifndef FRONTEND_ONNX_IMPORT_H
#define FRONTEND_ONNX_IMPORT_H

#include "frontend/onnx.h"
#include "frontend/weights.h"
#include "ir/strmap.h"

#include "onnx.pb-c.h"

typedef struct Def Def;
typedef struct Node Node;
typedef struct Reader Reader;

/* What defines a value of the model's graph. */
struct Def {
	enum { DEF_INPUT, DEF_INITIALIZER, DEF_SPARSE, DEF_NODE } by;
	size_t at; /* its place in that list of the GraphProto */
	Op *op;    /* once it is made */
};

/* Bytes that folding constants may still read and make: a small file can ask
 * for much work and for large constants. */
typedef struct Budget {
	int64_t read, made;
} Budget;

struct Reader {
	Arena *arena;
	Diag *diag;
	Graph *g;
	const char *file;
	const ModelOptions *opt;
	const Onnx__GraphProto *proto;
	int64_t opset;
	bool *needed;         /* per node: an output depends on it */
	StrMap defs;          /* value name -> Def */
	StrMap external;      /* path -> Bytes, of external data */
	Op *broken;           /* stands for what could not be made */
	Budget fold;
	bool too_large;      /* what to do about it was said */
	WeightFile *weights; /* --weights, once tried */
	bool weights_tried;
};

struct Node {
	Reader *r;
	const Onnx__NodeProto *proto;
	Loc loc;
	OpKind kind;     /* of its row */
	int64_t opset;
	int nin, nout;
	Op **in;         /* NULL where an operand is left out */
	Op **out;        /* NULL until made */
	bool *attr_read; /* per attribute */
};

typedef void (*OnnxBuild)(Node *n);

/* --- onnx_wire.c */

/* The message in `bytes`, in arena memory, but for large raw_data, which stays
 * where it is; NULL if it is malformed, nests too deeply or unpacks to far
 * more than its size, which is reported. */
void *onnx_unpack(Arena *a, Diag *d, const char *file, const ProtobufCMessageDescriptor *type,
		  Bytes bytes);

typedef struct OnnxRaw {
	const void *data;
	size_t size;
} OnnxRaw;

/* The raw_data of a tensor; false if it has none. */
bool onnx_raw(const Onnx__TensorProto *t, OnnxRaw *raw);

/* --- onnx_tensor.c */

/* TYPE_NONE if we have no such element type. */
DType onnx_dtype(int32_t data_type);
const char *onnx_type_name(Arena *a, int32_t data_type);

/* Its type; false if that is wrong, which is reported. */
bool onnx_type(Arena *a, Diag *d, Loc at, const Onnx__TensorProto *t, Shape *shape);

/* The value of a TensorProto, in place where possible; NULL if it is wrong,
 * which is reported. `external` maps paths to mapped files. */
Tensor *onnx_tensor(Arena *a, Diag *d, Loc at, const Onnx__TensorProto *t, StrMap *external);

/* --- onnx_import.c */

/* Builds r->g; false if the model is wrong, which was reported. */
bool onnx_import(Reader *r);

/* Fills r->defs and r->needed; false if names, order or edges are wrong. */
bool onnx_resolve(Reader *r);

/* The row and builder of a node's op type; NULL if it is not in the table. */
const OnnxOpRow *onnx_find_op(const Onnx__NodeProto *node, OnnxBuild *build);

/* Ops outside the table, or older than their row, that outputs depend on: a
 * text that lists each once, or NULL. */
const char *onnx_missing_ops(const Reader *r);

Loc onnx_node_loc(const Reader *r, const Onnx__NodeProto *node);

/* A name of the model fit to print: no control characters, not too long. */
const char *onnx_show(Arena *a, const char *name);

/* --- onnx_weights.c */

/* The constant an initializer is; r->broken if it is wrong. */
Op *onnx_make_initializer(Reader *r, const Onnx__TensorProto *p);

/* --- onnx_input.c */

/* Makes the graph's inputs. */
void onnx_make_inputs(Reader *r);

/* --- onnx_attr.c: the attribute, or `def` if the node does not have it */
int64_t attr_int(Node *n, const char *name, int64_t def);
float attr_float(Node *n, const char *name, float def);
const char *attr_string(Node *n, const char *name, const char *def);

/* True if the node has it. */
bool attr_ints(Node *n, const char *name, Ints *out);
bool attr_floats(Node *n, const char *name, Floats *out);
const Onnx__TensorProto *attr_tensor(Node *n, const char *name);
bool attr_has(Node *n, const char *name);

/* Notes that an attribute does not matter here. */
void attr_ignore(Node *n, const char *name);

/* The place of a string attribute in `names`; -1 if it is none of them, which
 * is reported. */
int attr_choice(Node *n, const char *name, const char *const names[], int count, int def);

/* The same among the spellings of an attribute of ours. */
int attr_enum(Node *n, const char *name, OpKind kind, const char *field);

/* Reports attributes no builder asked for. */
void attr_check_unread(Node *n);

/* --- onnx_node.c */

#define node_error(n, ...) diag_error((n)->r->diag, (n)->loc, __VA_ARGS__)

/* Reports that a constant of this type is more than may be folded, and once what to do. */
void node_too_large(Node *n, Shape shape, DType dtype);

/* True if an output of that number exists and is used or named. */
bool node_wants(const Node *n, int out);

/* The model's name of output i. */
const char *node_out(const Node *n, int i);

/* A free name for a helper op: that of the first output, and `what`. */
const char *node_part(const Node *n, const char *what);

/* A typed op, or the constant it folds to. `attrs` NULL: the defaults. */
Op *node_op(Node *n, OpKind kind, const char *name, const Attrs *attrs, int nin, Op *const in[]);
Op *node_unary(Node *n, OpKind kind, const char *name, Op *x);
Op *node_binary(Node *n, OpKind kind, const char *name, Op *x, Op *y);

Op *node_constant(Node *n, const char *name, Tensor *value);

/* A one-element constant of the type of `like`. */
Op *node_scalar(Node *n, const char *what, const Op *like, double value);

Op *node_reshape(Node *n, const char *name, Op *x, Shape shape);
Op *node_transpose(Node *n, const char *name, Op *x, Ints perm);
Op *node_cast(Node *n, const char *name, Op *x, DType to);
Op *node_expand(Node *n, const char *name, Op *x, Shape shape);

/* Operand i's value. It must be known: constant, or computed from constants
 * and from inputs the caller knows; else that is reported. `what` is the
 * operand's name in the ONNX documents. */
Tensor *node_value(Node *n, int i, const char *what);
bool node_ints(Node *n, int i, const char *what, Ints *out);
bool node_floats(Node *n, int i, const char *what, Floats *out);

/* True if operand i was given. */
static inline bool node_has(const Node *n, int i) { return i < n->nin && n->in[i]; }

/* Makes an axis non-negative; false if it is out of range, which is
 * reported. */
bool node_axis(Node *n, int64_t *axis, int rank);

/* Non-negative, ascending, without doubles. */
bool node_axes(Node *n, Ints *axes, int rank);

/* Turns inputs known to the caller and used for their value into constants,
 * and removes what nothing reads. */
void onnx_clean_up(Reader *r);

/* --- builders, one per row of onnx_ops.def */
#define ONNX_OP(name, since, min_in, max_in, max_out, build, kind, note) \
	void onnx_build_##build(Node *n);
#include "frontend/onnx_ops.def"

#endif
