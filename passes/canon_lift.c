/*
 * Softmax and activations rise above the layout moves at a detector's
 * outputs, to where they are over channels again:
 *
 *     %t = transpose %c {perm = [0,2,3,1]}        // %c : f32[1,6,8,8]
 *     %r = reshape %t {shape = [1,192,2]}
 *     %s = softmax %r {axis = 2}
 * becomes
 *     softmax {axis = 1} of channels 0-1, 2-3 and 4-5 of %c, joined, and then
 *     the transpose and the reshape
 *
 *     %j = concat %r1, %r2 {axis = 1}             // both made by moves
 *     %s = sigmoid %j
 * becomes
 *     %s = concat %s.0, %s.1 {axis = 1}           // sigmoids of %r1 and %r2
 *
 * Not done when something else reads one of the moves, when the softmax is
 * not over neighbouring channels, or over more than MOST_GROUPS groups.
 */
#include "passes/canon.h"

#include <string.h>

#include "passes/rewrite.h"
#include "passes/strided.h"

enum { FURTHEST = 8, MOST_GROUPS = 64, MOST_JOINED = 64 };

static bool is_layout(const Op *op)
{
	return (op->kind == OP_RESHAPE || op->kind == OP_TRANSPOSE) && op_has_one_use(op);
}

static bool is_softmax(const Op *op)
{
	return op->kind == OP_SOFTMAX || op->kind == OP_LOG_SOFTMAX;
}

/* The channels in each group the softmax runs over, if x's layout and the
 * walk put them side by side; else 0. */
static int64_t group_size(const Op *softmax, const Strided *walk, Shape x)
{
	const int axis = (int)softmax->attr.axis.axis;
	const int64_t plane = x.dim[2] * x.dim[3];
	Strided s = *walk;
	int from[MAX_RANK + 1];
	if (shape_count(s.shape) != shape_count(x) || !strided_align(&s, from))
		return 0;
	if (from[axis + 1] - from[axis] != 1 || s.stride[from[axis]] != plane)
		return 0;
	const int64_t size = s.dim[from[axis]];
	for (int i = 0; i < s.n; i++)
		if (i != from[axis] && s.stride[i] * s.dim[i] > plane
		    && s.stride[i] % (size * plane) != 0)
			return 0;
	return x.dim[1] % size == 0 ? size : 0;
}

static Op *softmax_part(Graph *g, Op *softmax, Op *x, int64_t k, int64_t size)
{
	int64_t starts[4] = { 0, k * size, 0, 0 };
	int64_t counts[4] = { x->shape.dim[0], size, x->shape.dim[2], x->shape.dim[3] };
	Op *part = rewrite_insert(g, softmax, OP_SLICE,
		arena_printf(g->arena, "%s.x%lld", softmax->name, (long long)k), x,
		(Attrs){ .slice = { .counts = ints_copy(g->arena, counts, 4),
				    .starts = ints_copy(g->arena, starts, 4),
				    .steps = ints_fill(g->arena, 1, 4) } });
	return rewrite_insert(g, softmax, OP_SOFTMAX,
		arena_printf(g->arena, "%s.%lld", softmax->name, (long long)k), part,
		(Attrs){ .axis.axis = 1 });
}

/* The op reads x; the moves between stand after it. */
static void raise_above(Graph *g, Op *op, Op *const moves[], int n)
{
	Op *x = op_in(moves[n - 1], 0);
	const int64_t size = op->shape.dim[op->attr.axis.axis];
	if (size == x->shape.dim[1]) {
		op_set_input(op, 0, x);
	} else {
		op_set_input(op, 0, softmax_part(g, op, x, 0, size));
		for (int64_t k = 1; k < x->shape.dim[1] / size; k++)
			op_add_input(g, op, softmax_part(g, op, x, k, size));
		rewrite_become(op, OP_CONCAT, op->attr);
	}
	op->attr.axis.axis = 1;
	op_replace_uses(op, moves[0]);
	op_set_input(moves[n - 1], 0, op);
	for (int i = 0; i < n; i++)
		op_move_before(g, moves[i], i ? moves[i - 1] : op->next);
	rewrite_infer(g, op);
	for (int i = n - 1; i >= 0; i--)
		rewrite_infer(g, moves[i]);
}

static bool lift_softmax(Graph *g, Op *op)
{
	Op *moves[FURTHEST], *x = op_in(op, 0);
	int n = 0;
	while (n < FURTHEST && is_layout(x)) {
		moves[n++] = x;
		x = op_in(x, 0);
	}
	if (!n || x->shape.rank != 4 || shape_count(x->shape) < 1)
		return false;
	Strided walk = strided_identity(x->shape);
	for (int i = n - 1; i >= 0; i--)
		if (!strided_apply(&walk, moves[i]))
			return false;
	const int64_t size = group_size(op, &walk, x->shape);
	if (!size || x->shape.dim[1] / size > MOST_GROUPS)
		return false;
	if (op->kind == OP_LOG_SOFTMAX && size != x->shape.dim[1])
		return false;
	raise_above(g, op, moves, n);
	return true;
}

/* f(concat(a, b)) -> concat(f(a), f(b)) */
static bool lift_above_concat(Graph *g, Op *op)
{
	Op *joined = op_in(op, 0);
	const int64_t axis = joined->attr.axis.axis;
	const OpKind kind = op->kind;
	const Attrs attr = op->attr;
	if (joined->kind != OP_CONCAT || !op_has_one_use(joined) || joined->nin > MOST_JOINED
	    || (is_softmax(op) && attr.axis.axis == axis))
		return false;
	for (int i = 0; i < joined->nin; i++)
		if (!is_layout(op_in(joined, i)))
			return false;
	for (int i = 0; i < joined->nin; i++) {
		Op *part = rewrite_insert(g, op, kind,
			arena_printf(g->arena, "%s.%d", op->name, i), op_in(joined, i), attr);
		if (i == 0)
			op_set_input(op, 0, part);
		else
			op_add_input(g, op, part);
	}
	rewrite_become(op, OP_CONCAT, (Attrs){ .axis.axis = axis });
	rewrite_take_in(g, op, joined);
	rewrite_infer(g, op);
	return true;
}

bool canon_lift(Graph *g, Op *op)
{
	if (!is_softmax(op) && !(op_is(op, ELTWISE) && op->nin == 1))
		return false;
	return lift_above_concat(g, op) || (is_softmax(op) && lift_softmax(g, op));
}
