/*
 * Chains of layout moves, spelt in as few ops as can be.
 *
 * Everything between an op and the first tensor above it that is computed is
 * seen as one strided walk (strided.h), which is then written as one of
 *
 *     nothing                              reshape
 *     transpose                            transpose, reshape
 *     slice                                slice, reshape
 *     depth_to_space or space_to_depth     reshape, transpose, reshape
 *
 * That joins reshapes, cancels transposes, makes a pixel shuffle out of
 * reshape / transpose / reshape, and a slice out of a gather in even steps.
 *
 * Not done when that takes as many ops as before, where ops that something
 * else reads as well count as free.
 */
#include "passes/canon.h"

#include "passes/rewrite.h"
#include "passes/strided.h"

enum { FURTHEST = 16, MOST_STEPS = 3 };

/* How a walk is written: ops from the source on. */
typedef struct Spelling {
	int n, cost;
	struct {
		OpKind kind;
		Attrs attr;
	} step[MOST_STEPS];
} Spelling;

static int cost_of(OpKind kind)
{
	switch (kind) {
	case OP_TRANSPOSE:
		return 2;
	case OP_GATHER:
		return 3;
	default:
		return 1;
	}
}

static void add_step(Spelling *sp, OpKind kind, Attrs attr)
{
	sp->step[sp->n].kind = kind;
	sp->step[sp->n++].attr = attr;
	sp->cost += cost_of(kind);
}

static void add_reshape(Graph *g, Spelling *sp, Shape from, Shape to)
{
	if (!shape_equal(from, to))
		add_step(sp, OP_RESHAPE, (Attrs){ .shape.shape = ints_of_shape(g->arena, to) });
}

static void add_transpose(Graph *g, Spelling *sp, const int64_t *perm, int rank)
{
	add_step(sp, OP_TRANSPOSE, (Attrs){ .perm.perm = ints_copy(g->arena, perm, rank) });
}

/* depth_to_space or space_to_depth between these shapes, in some order. */
static bool spell_block(Spelling *sp, const Strided *s, Shape x)
{
	const Shape y = s->shape;
	if (x.rank != 4 || y.rank != 4 || x.dim[0] != y.dim[0])
		return false;
	const bool down = y.dim[2] > x.dim[2];
	const int64_t b = down ? y.dim[2] / x.dim[2] : x.dim[2] / y.dim[2];
	if (b < 2 || (down ? y.dim[1] * b * b != x.dim[1] || y.dim[3] != b * x.dim[3]
			   : x.dim[1] * b * b != y.dim[1] || x.dim[3] != b * y.dim[3]))
		return false;
	for (int order = 0; order < BlockOrder_COUNT; order++) {
		Op op = { .kind = down ? OP_DEPTH_TO_SPACE : OP_SPACE_TO_DEPTH, .shape = y,
			  .attr.block = { .block = b, .order = (BlockOrder)order } };
		Strided t = strided_identity(x);
		if (strided_apply(&t, &op) && strided_same_moves(&t, s)) {
			add_step(sp, op.kind, op.attr);
			return true;
		}
	}
	return false;
}

/* `y` with dims of 1 put in at the places where `dropped` has a bit set;
 * false if it then has not the rank wanted. */
static bool with_ones(Shape y, int rank, unsigned dropped, Shape *full)
{
	int at = 0;
	*full = (Shape){ .rank = rank };
	for (int i = 0; i < rank; i++) {
		if (!(dropped >> i & 1) && at == y.rank)
			return false;
		full->dim[i] = dropped >> i & 1 ? 1 : y.dim[at++];
	}
	return at == y.rank;
}

/* A slice of `x`, and a reshape if that drops dims of which one element is
 * taken. */
static bool spell_slice(Graph *g, Spelling *sp, const Strided *s, Shape x)
{
	int64_t starts[MAX_RANK], steps[MAX_RANK];
	Strided full = *s;
	for (unsigned dropped = 0; dropped < 1u << x.rank; dropped++) {
		if (!with_ones(s->shape, x.rank, dropped, &full.shape)
		    || !strided_is_slice(&full, x, starts, steps))
			continue;
		add_step(sp, OP_SLICE, (Attrs){ .slice = {
			.counts = ints_of_shape(g->arena, full.shape),
			.starts = ints_copy(g->arena, starts, x.rank),
			.steps = ints_copy(g->arena, steps, x.rank) } });
		add_reshape(g, sp, full.shape, s->shape);
		return true;
	}
	return false;
}

/* Any permutation: the source cut into the digits, those reordered. */
static bool spell_permutation(Graph *g, Spelling *sp, const Strided *s, Shape x)
{
	Shape parts = { .rank = s->n }, moved = { .rank = s->n };
	int64_t order[MAX_RANK], perm[MAX_RANK];
	if (s->n > MAX_RANK || s->offset != 0 || shape_count(s->shape) != shape_count(x))
		return false;
	for (int i = 0; i < s->n; i++) {
		int rank = 0; /* of digit i among all, by stride */
		for (int k = 0; k < s->n; k++)
			rank += s->stride[k] > s->stride[i];
		order[rank] = i;
		perm[i] = rank;
		moved.dim[i] = s->dim[i];
	}
	int64_t stride = 1;
	for (int r = s->n - 1; r >= 0; r--) {
		if (s->stride[order[r]] != stride)
			return false;
		parts.dim[r] = s->dim[order[r]];
		stride *= parts.dim[r];
	}
	add_reshape(g, sp, x, parts);
	add_transpose(g, sp, perm, s->n);
	add_reshape(g, sp, moved, s->shape);
	return true;
}

static bool spell(Graph *g, const Strided *s, Shape x, Spelling *sp)
{
	int64_t perm[MAX_RANK];
	*sp = (Spelling){ 0 };
	if (strided_is_reshape(s, x)) {
		add_reshape(g, sp, x, s->shape);
		return true;
	}
	if (strided_is_transpose(s, x, perm)) {
		add_transpose(g, sp, perm, x.rank);
		return true;
	}
	if (spell_block(sp, s, x) || spell_slice(g, sp, s, x))
		return true;
	if (strided_is_transpose_reshape(s, x, perm)) {
		Shape moved = { .rank = x.rank };
		for (int i = 0; i < x.rank; i++)
			moved.dim[i] = x.dim[perm[i]];
		add_transpose(g, sp, perm, x.rank);
		add_reshape(g, sp, moved, s->shape);
		return true;
	}
	return spell_permutation(g, sp, s, x);
}

/* Writes `op` as the spelling over `source`; it stays the last of the ops. */
static void write_out(Graph *g, Op *op, Op *source, const Spelling *sp)
{
	if (sp->n == 0) {
		rewrite_merge(g, source, op);
		return;
	}
	Op *in = source, *old = op_in(op, 0);
	for (int i = 0; i + 1 < sp->n; i++)
		in = rewrite_insert(g, op, sp->step[i].kind,
			arena_printf(g->arena, "%s.%s", op->name, op_info[sp->step[i].kind].name),
			in, sp->step[i].attr);
	rewrite_become(op, sp->step[sp->n - 1].kind, sp->step[sp->n - 1].attr);
	op_set_input(op, 0, in);
	op_drop_inputs(op, 1);
	rewrite_take_in(g, op, old);
	rewrite_infer(g, op);
}

/* The walk from `chain[n-1]`'s input to `chain[0]`. */
static bool walk(Op *const chain[], int n, Strided *s)
{
	*s = strided_identity(op_in(chain[n - 1], 0)->shape);
	for (int i = n - 1; i >= 0; i--)
		if (!strided_apply(s, chain[i]))
			return false;
	return true;
}

bool canon_moves(Graph *g, Op *op)
{
	Op *chain[FURTHEST], *source = NULL;
	Spelling best = { 0 };
	int n = 0, saved = 0, dying = 0;
	bool alone = true; /* nothing else reads the chain so far */

	if (!strided_is_layout_move(op) || shape_count(op->shape) < 1)
		return false;
	for (Op *at = op; n < FURTHEST && strided_is_layout_move(at); at = op_in(at, 0)) {
		Strided s;
		Spelling sp;
		alone &= at == op || op_has_one_use(at);
		dying += alone ? cost_of(at->kind) : 0;
		chain[n++] = at;
		if (!walk(chain, n, &s) || !spell(g, &s, op_in(at, 0)->shape, &sp))
			continue;
		/* reaching further up counts a little, so that transposes meet */
		const int gain = 2 * (dying - sp.cost) + (n > 1 && sp.cost <= cost_of(op->kind));
		if (gain > saved) {
			saved = gain;
			best = sp;
			source = op_in(at, 0);
		}
	}
	if (!source)
		return false;
	write_out(g, op, source, &best);
	return true;
}
