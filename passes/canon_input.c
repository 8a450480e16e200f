/*
 * Transposes at the start of a graph become part of the input:
 *
 *     %x = input : f32[1,4,4,3]                 %x = input {perm = [0,3,1,2]}
 *     %d = mul %x, %c                     ->             : f32[1,3,4,4]
 *     %t = transpose %d {perm = [0,3,1,2]}      %d = mul %x, %c'
 *
 * They rise past element-wise ops with constants, pads, slices and resizes.
 * Not done for an input that something reads untransposed. Transposes that
 * do not put channels first are left to sink (canon_transpose.c), unless all
 * that reads them looks at windows.
 */
#include "passes/canon.h"

#include "passes/rewrite.h"

/* True if the last dim goes further front and the others keep their order:
 * NHWC to NCHW. */
static bool is_channels_first(Ints perm)
{
	int64_t last = -1;
	if (perm.n < 3 || perm.v[perm.n - 1] == perm.n - 1)
		return false;
	for (int i = 0; i < perm.n; i++) {
		if (perm.v[i] == perm.n - 1)
			continue;
		if (perm.v[i] < last)
			return false;
		last = perm.v[i];
	}
	return true;
}

/* True if `t` cannot sink: all its readers look at windows. */
static bool is_stuck(const Op *t)
{
	for_each_use(u, t) {
		switch (u->user->kind) {
		case OP_CONV:
		case OP_CONV_TRANSPOSE:
		case OP_MAX_POOL:
		case OP_AVG_POOL:
		case OP_GLOBAL_AVG_POOL:
		case OP_GLOBAL_MAX_POOL:
		case OP_BATCH_NORM:
		case OP_INSTANCE_NORM:
			continue;
		default:
			return false;
		}
	}
	return true;
}

static bool fold_into_input(Graph *g, Op *t, Ints perm)
{
	Op *x = op_in(t, 0);
	const Ints own = x->attr.input.perm;
	int64_t both[MAX_RANK];
	bool moved = false;
	for_each_use(u, x)
		if (!canon_moves_by(u->user, perm))
			return false;
	for (int i = 0; i < perm.n; i++) {
		both[i] = own.n ? own.v[perm.v[i]] : perm.v[i];
		moved |= both[i] != i;
	}
	x->shape = t->shape;
	x->attr.input.perm = ints_copy(g->arena, both, moved ? perm.n : 0);
	for_each_use(u, x) /* those further down are still to be visited */
		rewrite_become(u->user, OP_IDENTITY, attrs_default(OP_IDENTITY));
	rewrite_merge(g, x, t);
	return true;
}

static bool is_passed(const Op *op)
{
	return op_is(op, ELTWISE) || op->kind == OP_PAD || op->kind == OP_SLICE
		|| op->kind == OP_RESIZE;
}

/* The ops from `op` up to an input, if a transpose may pass each of them,
 * each has one reader and reads constants otherwise: their number with the
 * input, or 0. */
static int chain_to_input(Graph *g, Op *op, Op *chain[], int room)
{
	for (int n = 0; n < room; n++) {
		Op *next = NULL;
		chain[n] = op;
		if (!op_has_one_use(op) || (op->kind != OP_INPUT && !is_passed(op)))
			return 0;
		if (op->kind == OP_INPUT)
			return n + 1;
		for (int i = 0; i < op->nin; i++) {
			Op *in = op_in(op, i);
			if (in->kind == OP_CONSTANT && rewrite_value(g, in))
				continue;
			if (next || (op->nin > 1 && !shape_equal(in->shape, op->shape)))
				return 0;
			next = in;
		}
		if (!next)
			return 0;
		op = next;
	}
	return 0;
}

/* `op`, whose data now comes transposed by perm. */
static void transpose_around(Graph *g, Op *op, Ints inverse)
{
	for (int i = 0; i < op->nin; i++) {
		Op *in = op_in(op, i);
		if (in->kind == OP_CONSTANT)
			op_set_input(op, i, canon_untranspose(g, op, in, inverse.v, inverse.n));
	}
	canon_permute_attrs(g, op, inverse);
	rewrite_infer(g, op);
}

/* input, ops, transpose -> input, transpose, ops */
static bool rise_to_input(Graph *g, Op *t, Ints perm)
{
	enum { FURTHEST = 16 };
	Op *chain[FURTHEST];
	int64_t v[MAX_RANK];
	const int n = chain_to_input(g, op_in(t, 0), chain, FURTHEST);
	if (n < 2)
		return false;
	for (int i = 0; i < perm.n; i++)
		v[perm.v[i]] = i;
	const Ints inverse = ints_copy(g->arena, v, perm.n);
	Op *input = chain[n - 1], *first = chain[n - 2];
	op_replace_uses(t, chain[0]);
	rewrite_become(t, OP_TRANSPOSE, (Attrs){ .perm.perm = perm });
	for (int i = 0; i < first->nin; i++)
		if (op_in(first, i) == input)
			op_set_input(first, i, t);
	op_set_input(t, 0, input);
	op_move_before(g, t, input->next);
	rewrite_infer(g, t);
	for (int k = n - 2; k >= 0; k--)
		transpose_around(g, chain[k], inverse);
	return fold_into_input(g, t, perm);
}

bool canon_input(Graph *g, Op *op)
{
	int64_t v[MAX_RANK];
	if ((op->kind != OP_TRANSPOSE && op->kind != OP_RESHAPE) || !canon_perm_of(op, v))
		return false;
	const Ints perm = ints_copy(g->arena, v, op->shape.rank);
	if (!is_channels_first(perm) && !is_stuck(op))
		return false;
	return op_in(op, 0)->kind == OP_INPUT ? fold_into_input(g, op, perm)
					      : rise_to_input(g, op, perm);
}
