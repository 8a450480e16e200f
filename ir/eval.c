#include "ir/eval.h"

#include <string.h>

#include "ir/eval_parts.h"

typedef Tensor *(*Part)(Arena *a, const Op *op, Tensor *const in[]);

static Part part_of(OpKind kind)
{
	if (op_info[kind].traits & ELTWISE)
		return eval_eltwise;
	if (op_info[kind].traits & MOVES)
		return eval_move;
	if (kind >= OP_REDUCE_MEAN && kind <= OP_REDUCE_PROD)
		return eval_reduce;
	return kind == OP_ARGMAX || kind == OP_ARGMIN ? eval_arg : NULL;
}

bool op_can_eval(OpKind kind)
{
	return part_of(kind) != NULL;
}

Tensor *op_eval(Arena *a, const Op *op, Tensor *const in[])
{
	return part_of(op->kind)(a, op, in);
}

bool eval_is_single(const Tensor *t)
{
	return t->splat || tensor_count(t) == 1;
}

Tensor *eval_room(Arena *a, const Op *op, Tensor *const in[])
{
	const int64_t n = shape_count(op->shape);
	int64_t held = 0;
	for (int i = 0; i < op->nin; i++)
		held += in[i]->splat ? 1 : tensor_count(in[i]);
	if (n > EVAL_COUNT && n / EVAL_GROWTH > held)
		return NULL;
	if (!arena_afford(a, (size_t)n * type_info[op->dtype].bytes))
		return NULL;
	return tensor_create(a, op->dtype, op->shape);
}

Tensor *eval_splat(Arena *a, const Op *op, const Tensor *t)
{
	Tensor *one = tensor_create(a, t->dtype, (Shape){ 0 });
	memcpy(eval_bytes(one), t->data, type_info[t->dtype].bytes);
	one->shape = op->shape;
	one->splat = shape_count(op->shape) != 1;
	one->owned = !one->splat;
	return one;
}

enum { BLOCK = 256, OPERANDS = 3 };

/* Up to BLOCK elements of each operand; the result replaces operand 0. */
typedef struct Lanes {
	int n;
	double f[OPERANDS][BLOCK];
	int64_t i[OPERANDS][BLOCK];
} Lanes;

static void compute_floats(const Op *op, Lanes *l)
{
	Unary unary = eval_unary(op->kind);
	Binary binary = eval_binary(op->kind);
	if (unary)
		for (int k = 0; k < l->n; k++)
			l->f[0][k] = unary(l->f[0][k], &op->attr);
	else if (binary)
		for (int k = 0; k < l->n; k++)
			l->f[0][k] = binary(l->f[0][k], l->f[1][k]);
	else if (op->kind == OP_WHERE)
		for (int k = 0; k < l->n; k++)
			l->f[0][k] = l->f[l->i[0][k] ? 1 : 2][k];
}

/* True if the block asks for a division by zero. */
static bool divides_by_zero(const Op *op, DType type, const Lanes *l)
{
	for (int k = 0; k < l->n; k++) {
		if (op->kind == OP_DIV && !l->i[1][k])
			return true;
		if (op->kind == OP_POW && type != TYPE_U64 && !l->i[0][k] && l->i[1][k] < 0)
			return true;
	}
	return false;
}

static bool compute_ints(const Op *op, DType type, Lanes *l)
{
	IntUnary unary = eval_int_unary(op->kind, type);
	IntBinary binary = eval_int_binary(op->kind, type);
	if (binary && divides_by_zero(op, type, l))
		return false;
	if (unary)
		for (int k = 0; k < l->n; k++)
			l->i[0][k] = unary(l->i[0][k]);
	else if (binary)
		for (int k = 0; k < l->n; k++)
			l->i[0][k] = binary(l->i[0][k], l->i[1][k]);
	else if (op->kind == OP_WHERE)
		for (int k = 0; k < l->n; k++)
			l->i[0][k] = l->i[l->i[0][k] ? 1 : 2][k];
	return true;
}

/* One block: operand k from element at[k] on by step[k]; the result's elements
 * from `to` on. */
static bool compute_block(const Op *op, Tensor *const in[], Lanes *l, const int64_t at[],
			  const int64_t step[], Tensor *out, int64_t to)
{
	const DType type = in[op->nin - 1]->dtype; /* where has bool in front */
	const bool floats = type_is_float(type) ||
			    (op->kind == OP_CAST && type_is_float(out->dtype));
	for (int k = 0; k < op->nin; k++) {
		if (floats && !(op->kind == OP_WHERE && k == 0))
			tensor_read_f64(in[k], at[k], step[k], l->n, l->f[k]);
		else
			tensor_read_i64(in[k], at[k], step[k], l->n, l->i[k]);
	}
	if (floats) {
		compute_floats(op, l);
		tensor_write_f64(out, to, l->n, l->f[0]);
		return true;
	}
	if (!compute_ints(op, type, l))
		return false;
	tensor_write_i64(out, to, l->n, l->i[0]);
	return true;
}

static bool compute(const Op *op, Tensor *const in[], Tensor *out)
{
	Lanes lanes;
	Walk w;
	int64_t done = 0;
	walk_init(&w, out->shape);
	for (int k = 0; k < op->nin; k++)
		walk_add_broadcast(&w, eval_is_single(in[k]) ? (Shape){ 0 } : in[k]->shape);
	walk_start(&w, 1);
	do {
		const int last = w.rank - 1;
		int64_t step[OPERANDS] = { 0 }, at[OPERANDS] = { 0 };
		for (int k = 0; k < op->nin; k++) {
			step[k] = w.step[k][last];
			at[k] = w.at[k];
		}
		for (int64_t left = w.dim[last]; left > 0; left -= lanes.n) {
			lanes.n = left < BLOCK ? (int)left : BLOCK;
			if (!compute_block(op, in, &lanes, at, step, out, done))
				return false;
			done += lanes.n;
			for (int k = 0; k < op->nin; k++)
				at[k] += step[k] * lanes.n;
		}
	} while (walk_next(&w));
	return true;
}

Tensor *eval_eltwise(Arena *a, const Op *op, Tensor *const in[])
{
	bool single = true;
	for (int i = 0; i < op->nin; i++)
		single &= eval_is_single(in[i]);
	if (single) {
		Tensor *one = tensor_create(a, op->dtype, (Shape){ 0 });
		return compute(op, in, one) ? eval_splat(a, op, one) : NULL;
	}
	Tensor *out = eval_room(a, op, in);
	if (!out || !tensor_count(out))
		return out;
	return compute(op, in, out) ? out : NULL;
}
