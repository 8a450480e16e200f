/*
 * output_views: turn layout moves at graph outputs into views the host
 * applies.
 *
 *     %t = transpose %c {perm = [0,2,3,1]}        // %c : f32[1,4,3,3]
 *     %r = reshape %t {shape = [1,9,4]}
 *     %boxes = output %r
 * becomes
 *     %r = view %c {absorbed = ["t"], dims = [9,4], shape = [1,9,4], strides = [1,9]}
 *     %boxes = output %r
 *
 * Moves are reshape, transpose, slice, depth_to_space, space_to_depth and
 * gather in even steps. If they lead to a concat at the output, with more
 * moves below it or not, the output reads the parts and joins them:
 *
 *     %boxes = output %r1, %r2 {axis = 1}
 *
 * Not done when something other than outputs reads one of the moves, when a
 * chain cannot be said in strides (as much of it as can be is taken), and
 * for a concat of tensors none of which is moved: that is the device's.
 */
#include "passes/pass.h"

#include "passes/rewrite.h"
#include "passes/strided.h"

enum { FURTHEST = 16, MOST_JOINED = 256 };

/* A chain of moves from the op an output reads upwards. */
typedef struct Chain {
	int n;
	Op *op[FURTHEST];
	Op *source; /* what the last of them reads */
} Chain;

static bool is_move(const Op *op)
{
	return strided_is_layout_move(op) && shape_count(op->shape) > 0;
}

/* op->mark: everything that reads the op leads to outputs by moves alone; or
 * by moves and at most one concat. */
enum { BY_MOVES = 1, BY_CONCAT = 2 };

static void mark(Graph *g)
{
	for (Op *op = g->last; op; op = op->prev) {
		op->mark = op->uses ? BY_MOVES | BY_CONCAT : 0;
		for_each_use(u, op) {
			const Op *reader = u->user;
			const bool moved = is_move(reader) && u == &reader->in[0];
			if (reader->kind == OP_CONCAT)
				op->mark &= reader->mark & BY_MOVES ? BY_CONCAT : 0;
			else if (reader->kind != OP_OUTPUT)
				op->mark &= moved ? reader->mark : 0;
		}
	}
}

/* Climbs moves from `op` up, as far as they lead to outputs in the way
 * `wanted` and strides can say them: one walk. */
static Strided climb(Op *op, int64_t wanted, Chain *chain)
{
	Strided best = strided_identity(op->shape);
	*chain = (Chain){ .source = op };
	for (int n = 0; n < FURTHEST && is_move(op) && op->mark & wanted; n++) {
		chain->op[n] = op;
		op = op_in(op, 0);
		Strided s = strided_identity(op->shape);
		bool said = true;
		for (int i = n; i >= 0 && said; i--)
			said = strided_apply(&s, chain->op[i]);
		if (!said || s.n > MAX_RANK)
			break;
		best = s;
		chain->n = n + 1;
		chain->source = op;
	}
	return best;
}

static Op *insert_view(Graph *g, Op *at, const char *name, Op *source, const Strided *s)
{
	return rewrite_insert(g, at, OP_VIEW, name, source, (Attrs){ .view = {
		.dims = ints_copy(g->arena, s->dim, s->n), .offset = s->offset,
		.shape = ints_of_shape(g->arena, s->shape),
		.strides = ints_copy(g->arena, s->stride, s->n) } });
}

/*
 * What is joined along `axis` of `whole` becomes, under a move, something
 * joined along another axis. The move for a part that has `size` there is
 * stored in *part, and *axis set to the new axis; false if the move takes
 * the parts apart.
 */
static bool move_for_part(Graph *g, const Op *move, int *axis, int64_t size, Op *part)
{
	const Shape from = op_in(move, 0)->shape;
	int64_t outer = 1, inner = 1, counts[MAX_RANK];
	int to = 0;
	*part = (Op){ .kind = move->kind, .attr = move->attr, .shape = move->shape };
	switch (move->kind) {
	case OP_TRANSPOSE:
		while (move->attr.perm.perm.v[to] != *axis)
			to++;
		part->shape.dim[to] = size;
		break;
	case OP_SLICE:
		to = *axis;
		if (move->shape.dim[to] != from.dim[to] || move->attr.slice.steps.v[to] != 1)
			return false;
		for (int i = 0; i < from.rank; i++)
			counts[i] = i == to ? size : move->shape.dim[i];
		part->attr.slice.counts = ints_copy(g->arena, counts, from.rank);
		part->shape.dim[to] = size;
		break;
	case OP_RESHAPE:
		for (int i = 0; i < *axis; i++)
			outer *= from.dim[i];
		for (int i = *axis + 1; i < from.rank; i++)
			inner *= from.dim[i];
		while (outer > 1 && to < move->shape.rank && outer % move->shape.dim[to] == 0)
			outer /= move->shape.dim[to++];
		while (to + 1 < move->shape.rank && move->shape.dim[to] == 1)
			to++;
		if (outer != 1 || to == move->shape.rank)
			return false;
		int64_t below = 1;
		for (int i = to + 1; i < move->shape.rank; i++)
			below *= move->shape.dim[i];
		if (size * inner % below != 0)
			return false;
		part->shape.dim[to] = size * inner / below;
		break;
	default:
		return false;
	}
	*axis = to;
	return true;
}

/* The walk of one part through the moves below the concat. */
static bool walk_part(Graph *g, const Op *concat, const Op *in, const Chain *below, Strided *s,
		      int *axis)
{
	int64_t size = in->shape.dim[concat->attr.axis.axis];
	*axis = (int)concat->attr.axis.axis;
	for (int i = below->n - 1; i >= 0; i--) {
		Op part;
		if (!move_for_part(g, below->op[i], axis, size, &part) || !strided_apply(s, &part))
			return false;
		s->shape = part.shape;
		size = part.shape.dim[*axis];
	}
	return s->n <= MAX_RANK;
}

static bool is_joined_by_host(const Op *concat, const Chain parts[])
{
	if (concat->shape.rank != 4 || concat->attr.axis.axis != 1)
		return true;
	for (int i = 0; i < concat->nin; i++)
		if (parts[i].n)
			return true;
	return false;
}

/* True if nothing but `output` reads the concat and the moves below it. */
static bool is_alone(const Op *concat, const Chain *below)
{
	for (int i = 0; i < below->n; i++)
		if (!op_has_one_use(below->op[i]))
			return false;
	return op_has_one_use(concat);
}

/* What `output` reads instead of input i of the concat. */
static Op *insert_part(Graph *g, Op *output, Op *concat, int i, Op *source,
		       const Strided *walk, bool alone)
{
	Op *in = op_in(concat, i);
	Op *view = insert_view(g, output, in->name, source, walk);
	if (alone) { /* so that the view can have the name of what it replaces */
		op_set_input(concat, i, view);
		if (!in->uses)
			rewrite_succeed(g, view, in);
	}
	return view;
}

/* output(moves(concat(moves(a), moves(b)))) -> output(view(a), view(b)) */
static bool view_joined(Graph *g, Op *output, Op *concat, const Chain *below)
{
	if (concat->kind != OP_CONCAT || !(concat->mark & BY_MOVES) || concat->nin > MOST_JOINED
	    || shape_count(concat->shape) < 1)
		return false;
	const int n = concat->nin;
	Chain *parts = arena_array(g->arena, Chain, n);
	Strided *walks = arena_array(g->arena, Strided, n);
	int axis = 0;
	for (int i = 0; i < n; i++) {
		walks[i] = climb(op_in(concat, i), BY_CONCAT, &parts[i]);
		if (!walk_part(g, concat, op_in(concat, i), below, &walks[i], &axis))
			return false;
	}
	if (!is_joined_by_host(concat, parts))
		return false;
	Op *top = op_in(output, 0);
	const bool alone = is_alone(concat, below);
	for (int i = 0; i < n; i++) {
		Op *part = op_in(concat, i);
		if (parts[i].n || below->n)
			part = insert_part(g, output, concat, i, parts[i].source, &walks[i], alone);
		if (i == 0)
			op_set_input(output, 0, part);
		else
			op_add_input(g, output, part);
	}
	output->attr.axis.axis = n > 1 ? axis : 0;
	rewrite_infer(g, output);
	rewrite_take_in(g, output, top);
	return true;
}

static bool view_output(Graph *g, Op *output)
{
	Chain chain;
	Op *top = op_in(output, 0);
	const Strided s = climb(top, BY_MOVES, &chain);
	if (view_joined(g, output, chain.source, &chain))
		return true;
	if (!chain.n)
		return false;
	Op *view = insert_view(g, output, top->name, chain.source, &s);
	op_set_input(output, 0, view);
	if (!top->uses)
		rewrite_succeed(g, view, top);
	return true;
}

static bool sweep(Graph *g)
{
	bool changed = false;
	mark(g);
	for_each_op(op, g)
		if (op->kind == OP_OUTPUT && op->nin == 1)
			changed |= view_output(g, op);
	return changed;
}

/* Again, because what one output read may have kept another from its view. */
bool pass_output_views(Graph *g)
{
	return rewrite_repeat(g, sweep);
}
