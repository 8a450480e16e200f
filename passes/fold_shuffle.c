/*
 * fold_shuffle: fold channel permutations into neighbouring weights.
 *
 *     %r = reshape %x {shape = [1,2,8,4,4]}       // %x : f32[1,16,4,4]
 *     %t = transpose %r {perm = [0,2,1,3,4]}
 *     %s = reshape %t {shape = [1,16,4,4]}
 *     %c = conv %s, %w {...}
 * becomes
 *     %c = conv %x, %w' {...}
 *
 * First every way to write a selection of channels becomes select_channels:
 * such chains, strided slices and gathers along channels, a concat of parts
 * of one tensor, and selections or slices of selections; one that also puts
 * channels last is taken apart. Then each goes into
 * the weights of a conv, conv_transpose or linear above or below it, past
 * element-wise ops with constants, pools, resizes, pads, norms and depthwise
 * convolutions.
 *
 * Not done when there is no such product, when something else reads what
 * would change, and for grouped convolutions, whose channels cannot change
 * places: the select_channels then stays and runs as a 1x1 product. Slices
 * of neighbouring channels, and concats of such slices that are whole
 * planes, cost nothing and stay what they are.
 */
#include "passes/pass.h"

#include "passes/rewrite.h"
#include "passes/shuffle.h"
#include "passes/strided.h"

enum { FURTHEST = 16, PLANE = 16, MOST_JOINED = 64 };

static bool is_move(const Op *op)
{
	switch (op->kind) {
	case OP_RESHAPE:
	case OP_TRANSPOSE:
	case OP_SLICE:
	case OP_GATHER:
	case OP_SELECT_CHANNELS:
		return true;
	default:
		return false;
	}
}

/* True if the list counts up by one. */
static bool is_run(Ints list)
{
	for (int i = 1; i < list.n; i++)
		if (list.v[i] != list.v[i - 1] + 1)
			return false;
	return true;
}

static Attrs run_of(Graph *g, Shape x, Ints list)
{
	const int64_t starts[MAX_RANK] = { 0, list.v[0] };
	x.dim[1] = list.n;
	return (Attrs){ .slice = { .counts = ints_of_shape(g->arena, x),
				   .starts = ints_copy(g->arena, starts, x.rank),
				   .steps = ints_fill(g->arena, 1, x.rank) } };
}

/* Selects these channels of `x`, in place of `op`: the select_channels it is
 * now, or NULL if a slice or nothing does it. */
static Op *become_selection(Graph *g, Op *op, Op *x, Ints list)
{
	enum { FEW = 4 };
	Op *old[FEW];
	const int n = op->nin < FEW ? op->nin : FEW;
	for (int i = 0; i < n; i++)
		old[i] = op_in(op, i);
	if (list.n == x->shape.dim[1] && list.v[0] == 0 && is_run(list)) {
		rewrite_merge(g, x, op);
		return NULL;
	}
	if (is_run(list))
		rewrite_become(op, OP_SLICE, run_of(g, x->shape, list));
	else
		rewrite_become(op, OP_SELECT_CHANNELS, (Attrs){ .channels.channels = list });
	op_set_input(op, 0, x);
	op_drop_inputs(op, 1);
	for (int i = 0; i < n; i++)
		if (graph_find(g, old[i]->name) == old[i])
			rewrite_take_in(g, op, old[i]);
	rewrite_infer(g, op);
	return op->kind == OP_SELECT_CHANNELS ? op : NULL;
}

/* The channels of input 0 that a single op selects. */
static bool channels_of(Graph *g, const Op *op, Ints *list)
{
	const Shape x = op->nin ? op_in(op, 0)->shape : op->shape;
	if (x.rank < 3 || x.dim[1] > MAX_CHANNELS || shape_count(op->shape) < 1)
		return false;
	if (op->kind == OP_SELECT_CHANNELS) {
		*list = op->attr.channels.channels;
		return true;
	}
	if (op->kind == OP_GATHER && op->attr.axis.axis == 1 && op_in(op, 1)->shape.rank == 1) {
		const Tensor *t = rewrite_value(g, op_in(op, 1));
		const int64_t n = t ? tensor_count(t) : 0;
		int64_t *v = arena_array(g->arena, int64_t, n);
		for (int64_t i = 0; i < n; i++)
			v[i] = strided_index(t, i, x.dim[1]);
		*list = (Ints){ (int)n, v };
		return n > 0;
	}
	Strided s = strided_identity(x);
	return op->kind == OP_SLICE && strided_apply(&s, op)
		&& strided_is_channels(&s, x, g->arena, list);
}

/* The furthest op above `op` of whose channels it is a selection. */
static Op *selected_from(Graph *g, Op *op, Ints *list)
{
	Op *chain[FURTHEST], *found = NULL, *at = op;
	for (int n = 0; n < FURTHEST && is_move(at); n++) {
		chain[n] = at;
		at = op_in(at, 0);
		Strided s = strided_identity(at->shape);
		bool said = shape_count(at->shape) > 0 && at->shape.rank > 2;
		for (int i = n; i >= 0 && said; i--)
			said = strided_apply(&s, chain[i]);
		if (said && strided_is_channels(&s, at->shape, g->arena, list))
			found = at;
	}
	if (found) { /* the last list tried need not be the one found */
		Strided s = strided_identity(found->shape);
		int n = 0;
		while (op_in(chain[n], 0) != found)
			n++;
		for (int i = n; i >= 0; i--)
			strided_apply(&s, chain[i]);
		strided_is_channels(&s, found->shape, g->arena, list);
	}
	return found;
}

/* A walk to N,H,W,C of selected channels: the same to N,C,H,W. */
static bool is_channels_last(Graph *g, const Strided *walk, Shape x, Ints *list)
{
	const int64_t perm[] = { 0, 3, 1, 2 }, area = x.dim[0] * x.dim[2] * x.dim[3];
	Strided s = *walk;
	if (shape_count(s.shape) % area != 0)
		return false;
	s.shape = SHAPE(x.dim[0], x.dim[2], x.dim[3], shape_count(s.shape) / area);
	return strided_transpose(&s, perm) && strided_is_channels(&s, x, g->arena, list)
		&& !is_run(*list);
}

/* A selection with its channels put last, and perhaps reshaped: the
 * select_channels, with a transpose and perhaps a reshape after it, or NULL. */
static Op *recognise_channels_last(Graph *g, Op *op)
{
	Op *chain[FURTHEST], *found = NULL, *at = op;
	Ints list, wanted = { 0 };
	for (int n = 0; n < FURTHEST && is_move(at) && at->kind != OP_SELECT_CHANNELS; n++) {
		chain[n] = at;
		at = op_in(at, 0);
		Strided s = strided_identity(at->shape);
		bool said = shape_count(at->shape) > 0 && at->shape.rank == 4;
		for (int i = n; i >= 0 && said; i--)
			said = strided_apply(&s, chain[i]);
		if (said && is_channels_last(g, &s, at->shape, &list)) {
			found = at;
			wanted = list;
		}
	}
	if (!found)
		return NULL;
	Op *old = op_in(op, 0);
	Op *sel = rewrite_insert(g, op, OP_SELECT_CHANNELS,
		arena_printf(g->arena, "%s.channels", op->name), found,
		(Attrs){ .channels.channels = wanted });
	Op *last = rewrite_insert(g, op, OP_TRANSPOSE,
		arena_printf(g->arena, "%s.transpose", op->name), sel,
		(Attrs){ .perm.perm = INTS(g->arena, 0, 2, 3, 1) });
	rewrite_become(op, OP_RESHAPE,
		       (Attrs){ .shape.shape = ints_of_shape(g->arena, op->shape) });
	op_set_input(op, 0, last);
	op_drop_inputs(op, 1);
	rewrite_take_in(g, sel, old);
	return sel;
}

static Ints composed(Graph *g, Ints outer, Ints inner)
{
	int64_t *v = arena_array(g->arena, int64_t, outer.n);
	for (int i = 0; i < outer.n; i++)
		v[i] = inner.v[outer.v[i]];
	return (Ints){ outer.n, v };
}

/* Recognises `op`, if it is the end of a selection: the select_channels it
 * now is, or NULL. */
static Op *recognise_chain(Graph *g, Op *op, bool *changed)
{
	Ints list, inner;
	if (!is_move(op))
		return NULL;
	Op *x = selected_from(g, op, &list);
	if (!x && channels_of(g, op, &list))
		x = op_in(op, 0);
	if (!x) {
		Op *sel = op->kind == OP_SELECT_CHANNELS ? NULL : recognise_channels_last(g, op);
		*changed |= sel != NULL;
		return sel;
	}
	while (x->kind == OP_SELECT_CHANNELS && channels_of(g, x, &inner)) {
		list = composed(g, list, inner);
		x = op_in(x, 0);
	}
	const bool same = x == op_in(op, 0);
	if (same && (op->kind == OP_SELECT_CHANNELS || (op->kind == OP_SLICE && is_run(list))))
		return op->kind == OP_SELECT_CHANNELS ? op : NULL;
	*changed = true;
	return become_selection(g, op, x, list);
}

/* The channels that part of a concat takes, and of what. */
static Op *part_of(Graph *g, Op *part, Ints *list)
{
	return channels_of(g, part, list) ? op_in(part, 0) : NULL;
}

/* concat of parts of one tensor */
static Op *recognise_concat(Graph *g, Op *op, bool *changed)
{
	Ints lists[MOST_JOINED];
	int total = 0;
	bool planes = true;
	if (op->attr.axis.axis != 1 || op->nin > MOST_JOINED || op->nin < 2)
		return NULL;
	Op *x = part_of(g, op_in(op, 0), &lists[0]);
	for (int i = 0; i < op->nin; i++) {
		if (!x || part_of(g, op_in(op, i), &lists[i]) != x)
			return NULL;
		total += lists[i].n;
		planes &= is_run(lists[i]) && lists[i].v[0] % PLANE == 0 && lists[i].n % PLANE == 0;
	}
	if (planes)
		return NULL;
	int64_t *v = arena_array(g->arena, int64_t, total);
	int n = 0;
	for (int i = 0; i < op->nin; i++)
		for (int k = 0; k < lists[i].n; k++)
			v[n++] = lists[i].v[k];
	*changed = true;
	return become_selection(g, op, x, (Ints){ total, v });
}

static bool sweep(Graph *g)
{
	bool changed = false;
	for_each_op(op, g) {
		Op *sel = op->kind == OP_CONCAT ? recognise_concat(g, op, &changed)
						: recognise_chain(g, op, &changed);
		if (sel && shuffle_fold(g, sel))
			changed = true;
	}
	return changed;
}

/* Again, because one selection may stand in the way of another. */
bool pass_fold_shuffle(Graph *g)
{
	return rewrite_repeat(g, sweep);
}
