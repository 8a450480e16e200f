/*
 * How builders make ops and read operands.
 *
 * An op whose inputs are all constant is evaluated as soon as it is typed, so
 * the shape sub-graphs that exporters emit never reach the graph. Folding
 * stops at a budget, because a small file can ask for a large constant.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval.h"

/* op->mark while the model is read. Of a constant: whether it holds what no
 * weight should. Of other ops: whether evaluate() found a value. */
enum { ALL_FINITE = 0, HAS_INFINITY = 1, HAS_NAN = 2 };
enum { NOT_EVALUATED = 0, NO_VALUE = 1, HAS_VALUE = 2 };

bool node_wants(const Node *n, int out)
{
	return out < n->nout && n->proto->output[out][0];
}

const char *node_out(const Node *n, int i)
{
	return node_wants(n, i) ? n->proto->output[i] : node_part(n, "unused");
}

const char *node_part(const Node *n, const char *what)
{
	const char *stem = "";
	for (int i = 0; i < n->nout && !stem[0]; i++)
		stem = n->proto->output[i];
	const char *name = arena_printf(n->r->arena, "%s.%s", stem, what);
	for (int i = 1; strmap_get(&n->r->defs, name) || graph_find(n->r->g, name); i++)
		name = arena_printf(n->r->arena, "%s.%s%d", stem, what, i);
	return name;
}

static void place(const Node *n, Op *op)
{
	op->loc = n->loc;
	if (n->proto->name && n->proto->name[0])
		op->node = n->proto->name;
}

static bool is_strange(const char *f32)
{
	uint32_t bits;
	memcpy(&bits, f32, sizeof bits);
	return (bits & 0x7f800000) == 0x7f800000;
}

/* The first element that is not finite, or -1. Every weight passes here, so
 * f32 is looked at in blocks, which the compiler makes wide. */
static int64_t first_strange(const Tensor *t)
{
	enum { BLOCK = 1024 };
	const int64_t n = t->splat && tensor_count(t) ? 1 : tensor_count(t);
	const char *p = t->data;

	if (!type_is_float(t->dtype) || !p)
		return -1;
	for (int64_t i = 0; t->dtype == TYPE_F32 && i + BLOCK <= n; i += BLOCK, p += 4 * BLOCK) {
		bool any = false;
		for (int k = 0; k < BLOCK; k++)
			any |= is_strange(p + 4 * k);
		for (int k = 0; any && k < BLOCK; k++)
			if (is_strange(p + 4 * k))
				return i + k;
	}
	for (int64_t i = t->dtype == TYPE_F32 ? n / BLOCK * BLOCK : 0; i < n; i++)
		if (!isfinite(tensor_f64(t, i)))
			return i;
	return -1;
}

Op *node_constant(Node *n, const char *name, Tensor *value)
{
	Op *op = graph_constant(n->r->g, NULL, name, value);
	int64_t at = first_strange(value);
	place(n, op);
	if (at >= 0)
		op->mark = isnan(tensor_f64(value, at)) ? HAS_NAN : HAS_INFINITY;
	return op;
}

Op *node_scalar(Node *n, const char *what, const Op *like, double value)
{
	if (!like)
		return NULL;
	Tensor *t = tensor_splat(n->r->arena, like->dtype, (Shape){ 0 }, value, (int64_t)value);
	return node_constant(n, node_part(n, what), t);
}

/* Infinities are fine in a mask or a bound, but not in a product. */
static bool weights_are_sound(const Node *n, const Op *op)
{
	const bool product = op_is(op, WEIGHTS) || op->kind == OP_MATMUL ||
		op->kind == OP_BATCH_NORM || op->kind == OP_INSTANCE_NORM ||
		op->kind == OP_GROUP_NORM || op->kind == OP_LAYER_NORM;
	const bool sum = op->kind == OP_ADD || op->kind == OP_SUB || op->kind == OP_MUL ||
		op->kind == OP_DIV;

	for (int i = 0; i < op->nin; i++) {
		const Op *in = op_in(op, i);
		const bool bad = in->kind == OP_CONSTANT && in->mark &&
			(product || (sum && in->mark == HAS_NAN));
		if (!bad)
			continue;
		int64_t at = first_strange(in->value);
		node_error(n, "%s: weights '%s' are %f at element %" PRId64, op_info[op->kind].name,
			   onnx_show(n->r->arena, in->name), tensor_f64(in->value, at), at);
		return false;
	}
	return true;
}

/* The value of an op whose inputs' values are in[]; NULL if it has none, or
 * one that is beyond the budget. */
static Tensor *fold(Node *n, const Op *op, Tensor *const in[])
{
	const bool shares = op->kind == OP_RESHAPE || op->kind == OP_IDENTITY ||
		op->kind == OP_DROPOUT;
	Budget *left = &n->r->fold;
	int64_t read = 0, made = shape_count(op->shape) * type_info[op->dtype].bytes;
	bool splats = true;

	for (int i = 0; i < op->nin; i++) {
		read += in[i]->splat ? 0 : tensor_bytes(in[i]);
		splats &= in[i]->splat;
	}
	if (shares)
		read = 0;
	if (shares || splats)
		made = 0;
	if (read > left->read || made > left->made)
		return NULL;
	left->read -= read;
	left->made -= made;
	return op_eval(n->r->arena, op, in);
}

void node_too_large(Node *n, Shape shape, DType dtype)
{
	char type[TYPE_TEXT];
	node_error(n, "its constant value, %s, is more than may still be folded",
		   type_text(type, dtype, shape));
	if (!n->r->too_large)
		diag_note(n->r->diag, n->loc, "values known from constants alone may come to 256 MiB "
			  "and four times the file: make one an input, or store it as a weight");
	n->r->too_large = true;
}

static Op *fold_constants(Node *n, Op *op)
{
	if (!op_can_eval(op->kind))
		return op;
	Tensor **in = arena_array(n->r->arena, Tensor *, op->nin);
	for (int i = 0; i < op->nin; i++) {
		in[i] = op_value(op_in(op, i));
		if (!in[i])
			return op;
	}
	Tensor *value = fold(n, op, in);
	if (!value && op->kind == OP_DIV && !type_is_float(op->dtype)) {
		node_error(n, "%s: its constants divide by zero", op_info[op->kind].name);
		return NULL;
	}
	if (!value) {
		node_too_large(n, op->shape, op->dtype);
		return NULL;
	}
	const char *name = op->name;
	op_remove(n->r->g, op);
	return node_constant(n, name, value);
}

Op *node_op(Node *n, OpKind kind, const char *name, const Attrs *attrs, int nin, Op *const in[])
{
	for (int i = 0; i < nin; i++)
		if (!in[i])
			return NULL;
	Op *op = graph_insert(n->r->g, NULL, kind, name, nin, in);
	place(n, op);
	if (attrs)
		op->attr = *attrs;
	if (!op_infer(n->r->g, op) || !weights_are_sound(n, op))
		return NULL;
	return fold_constants(n, op);
}

Op *node_unary(Node *n, OpKind kind, const char *name, Op *x)
{
	return node_op(n, kind, name, NULL, 1, &x);
}

Op *node_binary(Node *n, OpKind kind, const char *name, Op *x, Op *y)
{
	return node_op(n, kind, name, NULL, 2, (Op *[]){ x, y });
}

Op *node_reshape(Node *n, const char *name, Op *x, Shape shape)
{
	Attrs a = { .shape.shape = ints_of_shape(n->r->arena, shape) };
	return node_op(n, OP_RESHAPE, name, &a, 1, &x);
}

Op *node_transpose(Node *n, const char *name, Op *x, Ints perm)
{
	Attrs a = { .perm.perm = perm };
	return node_op(n, OP_TRANSPOSE, name, &a, 1, &x);
}

Op *node_cast(Node *n, const char *name, Op *x, DType to)
{
	Attrs a = { .cast.to = to };
	return node_op(n, OP_CAST, name, &a, 1, &x);
}

Op *node_expand(Node *n, const char *name, Op *x, Shape shape)
{
	Attrs a = { .shape.shape = ints_of_shape(n->r->arena, shape) };
	return node_op(n, OP_EXPAND, name, &a, 1, &x);
}

static const KnownInput *known_input(const Reader *r, const Op *op)
{
	for (int i = 0; i < r->opt->nknown; i++)
		if (strcmp(r->opt->known[i].name, op->name) == 0)
			return &r->opt->known[i];
	return NULL;
}

/* Settles a leaf: a constant has its value, an input the caller's. */
static void settle_input(Node *n, Op *op)
{
	const KnownInput *k = known_input(n->r, op);
	op->mark = NO_VALUE;
	if (!k)
		return;
	if (k->value->dtype != op->dtype || !shape_equal(k->value->shape, op->shape)) {
		diag_error(n->r->diag, op->loc, "is %s %s, but the value given is %s %s",
			   type_info[op->dtype].name, shape_text(n->r->arena, op->shape),
			   type_info[k->value->dtype].name,
			   shape_text(n->r->arena, k->value->shape));
		return;
	}
	op->value = k->value;
	op->mark = HAS_VALUE;
}

/* What is known of an op that is settled, or NULL. */
static Tensor *value_of(const Op *op)
{
	return op->kind == OP_CONSTANT ? op_value(op) : op->value;
}

static bool settled(const Op *op)
{
	return op->kind == OP_CONSTANT || op->mark != NOT_EVALUATED;
}

static void settle(Node *n, Op *op)
{
	Tensor **in = arena_array(n->r->arena, Tensor *, op->nin);
	op->mark = NO_VALUE;
	for (int i = 0; i < op->nin; i++) {
		in[i] = value_of(op_in(op, i));
		if (!in[i])
			return;
	}
	op->value = fold(n, op, in);
	if (op->value)
		op->mark = HAS_VALUE;
}

/* The value `root` has if the caller's inputs do, or NULL. Keeps the path
 * down to the op in hand in a list, for graphs may be deep. */
static Tensor *evaluate(Node *n, Op *root)
{
	Op **path = xmalloc(sizeof *path);
	size_t depth = 1, room = 1;

	path[0] = root;
	while (depth) {
		Op *op = path[depth - 1], *next = NULL;
		for (int i = 0; i < op->nin && !next && !settled(op) && op_can_eval(op->kind); i++)
			if (!settled(op_in(op, i)))
				next = op_in(op, i);
		if (!next) {
			if (op->kind == OP_INPUT && !settled(op))
				settle_input(n, op);
			else if (!settled(op) && op_can_eval(op->kind))
				settle(n, op);
			else if (!settled(op))
				op->mark = NO_VALUE;
			depth--;
			continue;
		}
		if (depth == room)
			path = xrealloc(path, (room *= 2) * sizeof *path);
		path[depth++] = next;
	}
	free(path);
	return value_of(root);
}

/* An op above `op`, or itself, that keeps its value from being known. */
static const Op *culprit(const Op *op)
{
	enum { FAR = 1000 }; /* a hostile model has many such operands */
	for (int steps = 0; steps < FAR && op->nin && op_can_eval(op->kind); steps++) {
		const Op *above = NULL;
		for (int i = 0; i < op->nin && !above; i++)
			if (!value_of(op_in(op, i)))
				above = op_in(op, i);
		if (!above)
			return op;
		op = above;
	}
	return op;
}

Tensor *node_value(Node *n, int i, const char *what)
{
	Op *op = n->in[i];
	Tensor *value = op_value(op);
	if (!value)
		value = evaluate(n, op);
	if (value)
		return value;
	const Op *why = culprit(op);
	const char *name = onnx_show(n->r->arena, why->name);
	if (why->kind == OP_INPUT)
		node_error(n, "%s ('%s') must be constant, but depends on input '%s': give --const "
			   "%s=F.npy", what, onnx_show(n->r->arena, op->name), name, name);
	else
		node_error(n, "%s ('%s') must be constant, but depends on %s '%s'", what,
			   onnx_show(n->r->arena, op->name), op_info[why->kind].name, name);
	return NULL;
}

/* A list operand: one dim, or a scalar for a list of one. */
static Tensor *list_value(Node *n, int i, const char *what, bool floats)
{
	Tensor *t = node_value(n, i, what);
	if (!t)
		return NULL;
	if (t->shape.rank > 1 || tensor_count(t) > 1 << 20) {
		node_error(n, "%s must be a list, but has shape %s", what,
			   shape_text(n->r->arena, t->shape));
		return NULL;
	}
	if (type_is_float(t->dtype) != floats) {
		node_error(n, "%s must be of %s type, but is %s", what, floats ? "floating" : "integer",
			   type_info[t->dtype].name);
		return NULL;
	}
	return t;
}

bool node_ints(Node *n, int i, const char *what, Ints *out)
{
	Tensor *t = list_value(n, i, what, false);
	if (!t)
		return false;
	int64_t *v = arena_array(n->r->arena, int64_t, tensor_count(t));
	for (int64_t k = 0; k < tensor_count(t); k++)
		v[k] = tensor_i64(t, k);
	*out = (Ints){ (int)tensor_count(t), v };
	return true;
}

bool node_floats(Node *n, int i, const char *what, Floats *out)
{
	Tensor *t = list_value(n, i, what, true);
	if (!t)
		return false;
	float *v = arena_array(n->r->arena, float, tensor_count(t));
	for (int64_t k = 0; k < tensor_count(t); k++)
		v[k] = (float)tensor_f64(t, k);
	*out = (Floats){ (int)tensor_count(t), v };
	return true;
}

bool node_axis(Node *n, int64_t *axis, int rank)
{
	if (*axis < -rank || *axis >= rank) {
		node_error(n, "axis %" PRId64 " is out of range for %d dims", *axis, rank);
		return false;
	}
	if (*axis < 0)
		*axis += rank;
	return true;
}

bool node_axes(Node *n, Ints *axes, int rank)
{
	int64_t sorted[MAX_RANK];
	bool seen[MAX_RANK] = { false };
	int count = 0;

	for (int i = 0; i < axes->n; i++) {
		int64_t axis = axes->v[i];
		if (!node_axis(n, &axis, rank))
			return false;
		if (seen[axis]) {
			node_error(n, "axis %" PRId64 " is given twice", axis);
			return false;
		}
		seen[axis] = true;
	}
	for (int i = 0; i < rank; i++)
		if (seen[i])
			sorted[count++] = i;
	*axes = ints_copy(n->r->arena, sorted, count);
	return true;
}

void onnx_clean_up(Reader *r)
{
	for_each_op(op, r->g) {
		Tensor *value = op->value;
		const bool used = op->kind == OP_INPUT && op->mark == HAS_VALUE;
		op->mark = 0;
		if (op->kind == OP_CONSTANT)
			continue;
		op->value = NULL;
		if (!used)
			continue;
		Op *c = graph_constant(r->g, op, "", value);
		const char *name = op->name;
		op_replace_uses(op, c);
		op_remove(r->g, op);
		op_rename(r->g, c, name);
	}
	for (Op *op = r->g->last, *prev; op; op = prev) {
		prev = op->prev;
		if (!op->uses && op->kind != OP_INPUT && op->kind != OP_OUTPUT)
			op_remove(r->g, op);
	}
}
