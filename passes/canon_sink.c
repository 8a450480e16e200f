/*
 * Layout moves sink below element-wise ops, which rise above them:
 *
 *     %t = transpose %x {...}          %s = sigmoid %x
 *     %s = sigmoid %t           ->     %t = transpose %s {...}
 *
 *     %r = reshape %x {...}            %a = add %x, %c'
 *     %a = add %r, %c           ->     %r = reshape %a {...}
 *
 * So transposes around the NHWC parts of a graph meet and cancel, an
 * activation gets to stand behind its convolution, and what cannot cancel
 * ends at an output. Every operand must have come through the same move, or
 * be a constant, or be moved by a mere reshape.
 *
 * An expand before an op that broadcasts goes.
 *
 * A transpose or reshape that something else reads too is copied, since each
 * copy may cancel. Not done for a depth_to_space or space_to_depth that
 * something else reads.
 */
#include "passes/canon.h"

#include <string.h>

#include "passes/rewrite.h"
#include "passes/strided.h"

void canon_put_below(Graph *g, Op *move, Op *op)
{
	rewrite_infer(g, op);
	if (move->uses) {
		rewrite_after(g, op, move->kind,
			arena_printf(g->arena, "%s.%s", op->name, op_info[move->kind].name),
			move->attr);
		return;
	}
	op_move_before(g, move, op->next);
	op_replace_uses(op, move);
	op_set_input(move, 0, op);
	rewrite_infer(g, move);
}

/* The result's dims of `s`, padded to rank n by leading ones, before perm. */
static Shape untransposed(Shape s, const int64_t *perm, int n)
{
	Shape before = { .rank = n };
	for (int i = 0; i < n; i++) {
		const int from = i - (n - s.rank);
		before.dim[perm[i]] = from < 0 ? 1 : s.dim[from];
	}
	return before;
}

static void invert(const int64_t *perm, int n, int64_t inverse[MAX_RANK])
{
	for (int i = 0; i < n; i++)
		inverse[perm[i]] = i;
}

/* True if moving by perm keeps the dims of `before` other than 1 in order. */
static bool moves_ones_only(Shape before, const int64_t *perm)
{
	int64_t last = -1;
	for (int i = 0; i < before.rank; i++) {
		if (before.dim[perm[i]] == 1)
			continue;
		if (perm[i] < last)
			return false;
		last = perm[i];
	}
	return true;
}

bool canon_perm_of(const Op *op, int64_t perm[MAX_RANK])
{
	if (op->kind == OP_TRANSPOSE) {
		memcpy(perm, op->attr.perm.perm.v, (size_t)op->shape.rank * sizeof *perm);
		return true;
	}
	if (op->kind != OP_RESHAPE || shape_count(op->shape) < 1)
		return false;
	const Strided same = strided_identity(op->shape);
	return strided_is_transpose(&same, op_in(op, 0)->shape, perm);
}

bool canon_moves_by(const Op *op, Ints perm)
{
	if (op->kind == OP_TRANSPOSE)
		return ints_equal(op->attr.perm.perm, perm);
	if (op->kind != OP_RESHAPE || op->shape.rank != perm.n)
		return false;
	const Shape x = op_in(op, 0)->shape;
	return x.rank == perm.n && moves_ones_only(x, perm.v)
		&& shape_equal(x, untransposed(op->shape, perm.v, perm.n));
}

void canon_put_transpose_below(Graph *g, Op *move, Ints perm, Op *op)
{
	if (move->kind == OP_TRANSPOSE) {
		canon_put_below(g, move, op);
		return;
	}
	rewrite_infer(g, op);
	Op *below = rewrite_after(g, op, OP_TRANSPOSE,
		arena_printf(g->arena, "%s.transpose", op->name), (Attrs){ .perm.perm = perm });
	rewrite_take_in(g, below, move);
}

Op *canon_untranspose(Graph *g, Op *at, Op *operand, const int64_t *perm, int n)
{
	if (shape_count(operand->shape) == 1 && operand->kind == OP_CONSTANT)
		return operand;
	if (operand->shape.rank > n)
		return NULL;
	const Shape before = untransposed(operand->shape, perm, n);
	if (operand->kind != OP_CONSTANT)
		return moves_ones_only(before, perm)
			? rewrite_reshape(g, at, arena_printf(g->arena, "%s.reshape", operand->name),
					  operand, before)
			: NULL;
	Tensor *t = rewrite_value(g, operand);
	if (!t)
		return NULL;
	int64_t inverse[MAX_RANK];
	Shape padded = { .rank = n };
	for (int i = 0; i < n; i++)
		padded.dim[i] = before.dim[perm[i]];
	invert(perm, n, inverse);
	t = rewrite_transposed(g, rewrite_reshaped(g, t, padded), inverse);
	return graph_constant(g, at, arena_printf(g->arena, "%s.transposed", operand->name), t);
}

/* Can every operand be had without the transpose? Cheaper than trying. */
static bool all_untranspose(Graph *g, const Op *op, const Op *t)
{
	const Ints perm = t->attr.perm.perm;
	for (int i = 0; i < op->nin; i++) {
		const Op *in = op_in(op, i);
		if (canon_moves_by(in, perm))
			continue;
		if (in->kind == OP_CONSTANT ? !rewrite_value(g, in)
		    : in->shape.rank > perm.n
		      || !moves_ones_only(untransposed(in->shape, perm.v, perm.n), perm.v))
			return false;
	}
	return true;
}

static bool sink_transpose(Graph *g, Op *op)
{
	Op *t = NULL;
	for (int i = 0; i < op->nin && !t; i++)
		if (op_in(op, i)->kind == OP_TRANSPOSE)
			t = op_in(op, i);
	if (!t || t->shape.rank != op->shape.rank || !all_untranspose(g, op, t))
		return false;
	const Ints perm = t->attr.perm.perm;
	for (int i = 0; i < op->nin; i++) {
		Op *in = op_in(op, i);
		op_set_input(op, i, canon_moves_by(in, perm) ? op_in(in, 0)
			     : canon_untranspose(g, op, in, perm.v, perm.n));
		if (!in->uses && in != t)
			op_remove_dead(g, in);
	}
	canon_put_below(g, t, op);
	return true;
}

/*
 * `c`, which broadcasts to `after`, under the dims of `before`, a reshape of
 * it: dims that multiply to the same number on both sides form a group, and
 * in each group `c` has all of them or none.
 */
static bool unreshaped(Shape c, Shape after, Shape before, Shape *out)
{
	const int lead = after.rank - c.rank;
	int i = 0, k = 0;
	*out = (Shape){ .rank = before.rank };
	while (i < before.rank || k < after.rank) {
		const int i0 = i, k0 = k;
		int64_t b = i < before.rank ? before.dim[i++] : 1;
		int64_t a = k < after.rank ? after.dim[k++] : 1;
		while (a != b) {
			if (b < a && i < before.rank)
				b *= before.dim[i++];
			else if (k < after.rank)
				a *= after.dim[k++];
			else
				return false;
		}
		int64_t held = 1;
		for (int d = k0; d < k; d++)
			held *= d < lead ? 1 : c.dim[d - lead];
		if (held != 1 && held != a)
			return false;
		for (int d = i0; d < i; d++)
			out->dim[d] = held == 1 ? 1 : before.dim[d];
	}
	return true;
}

static bool unreshapes(Graph *g, const Op *in, const Op *r, Shape *shape)
{
	const Op *x = op_in(r, 0);
	if (in->kind == OP_RESHAPE)
		return shape_equal(in->shape, r->shape)
			&& shape_equal(op_in(in, 0)->shape, x->shape);
	return in->kind == OP_CONSTANT && in->shape.rank <= r->shape.rank
		&& unreshaped(in->shape, r->shape, x->shape, shape) && rewrite_value(g, in);
}

static bool sink_reshape(Graph *g, Op *op)
{
	Op *r = NULL;
	Shape shapes[3];
	for (int i = 0; i < op->nin && !r; i++)
		if (op_in(op, i)->kind == OP_RESHAPE)
			r = op_in(op, i);
	if (!r || op->nin > 3 || !shape_equal(r->shape, op->shape) || shape_count(r->shape) < 1)
		return false;
	for (int i = 0; i < op->nin; i++)
		if (!unreshapes(g, op_in(op, i), r, &shapes[i]))
			return false;
	for (int i = 0; i < op->nin; i++) {
		Op *in = op_in(op, i);
		if (in->kind == OP_RESHAPE) {
			op_set_input(op, i, op_in(in, 0));
			if (in != r && !in->uses)
				op_remove(g, in);
		} else if (shape_count(in->shape) != 1 || in->shape.rank > shapes[i].rank) {
			Tensor *t = rewrite_reshaped(g, op_value(in), shapes[i]);
			rewrite_constant(g, op, i,
				arena_printf(g->arena, "%s.reshaped", in->name), t);
		}
	}
	canon_put_below(g, r, op);
	return true;
}

static bool sink_block(Graph *g, Op *op)
{
	Op *move = op_in(op, 0);
	if ((move->kind != OP_DEPTH_TO_SPACE && move->kind != OP_SPACE_TO_DEPTH)
	    || op->nin != 1 || !op_has_one_use(move))
		return false;
	op_set_input(op, 0, op_in(move, 0));
	canon_put_below(g, move, op);
	return true;
}

/* An operand that is expanded to what it would be broadcast to anyway. */
static bool drop_expand(Graph *g, Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		Op *in = op_in(op, i);
		Shape all = { 0 };
		if (in->kind != OP_EXPAND || op->nin < 2 || (op->kind == OP_PRELU && i == 0))
			continue;
		for (int k = 0; k < op->nin; k++) {
			const Op *other = k == i ? op_in(in, 0) : op_in(op, k);
			shape_broadcast(all, other->shape, &all);
		}
		if (!shape_equal(all, op->shape))
			continue;
		op_set_input(op, i, op_in(in, 0));
		rewrite_take_in(g, op, in);
		return true;
	}
	return false;
}

bool canon_sink(Graph *g, Op *op)
{
	bool changed = false;
	if (!op_is(op, ELTWISE))
		return false;
	while (drop_expand(g, op) || sink_transpose(g, op) || sink_reshape(g, op)
	       || sink_block(g, op))
		changed = true;
	return changed;
}
