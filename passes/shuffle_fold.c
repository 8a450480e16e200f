/*
 * A selection of channels, folded into weights.
 *
 * Upwards, into the product that makes the channels: its weights are made in
 * the order wanted. Downwards, into all products that read them: their
 * weights are read in the order given. On the way, the selection passes ops
 * that treat every channel alike or by constants of its own; those constants
 * are selected in its stead.
 *
 * A selection with fewer channels than it selects from goes downwards only
 * into products that read it directly, and only if multiplying the channels
 * left out by zero takes no more products than the selection as a 1x1
 * product would: the device's way of doing what stays a select_channels.
 */
#include "passes/shuffle.h"

#include <stdlib.h>
#include <string.h>

#include "passes/product.h"
#include "passes/rewrite.h"

enum { MOST_OPS = 32 };

/* Ops a selection passes, in graph order, and the products it ends in. */
typedef struct Path {
	int n, nends;
	Op *op[MOST_OPS], *end[MOST_OPS];
} Path;

bool shuffle_is_permutation(Ints list, int64_t n)
{
	if (list.n != n)
		return false;
	unsigned char *seen = xmalloc((size_t)n);
	int64_t distinct = 0;
	memset(seen, 0, (size_t)n);
	for (int i = 0; i < list.n; i++)
		distinct += !seen[list.v[i]]++;
	free(seen);
	return distinct == n;
}

static Ints inverse(Graph *g, Ints list)
{
	int64_t *v = arena_array(g->arena, int64_t, list.n);
	for (int i = 0; i < list.n; i++)
		v[list.v[i]] = i;
	return (Ints){ list.n, v };
}

/* The dim of constant `c` that lies along the channels of `shape`, or -1 if
 * it is the same for all channels. */
static int channel_dim(const Op *c, Shape shape)
{
	const int dim = 1 - (shape.rank - c->shape.rank);
	return dim < 0 || c->shape.dim[dim] == 1 ? -1 : dim;
}

/* Slices along `dim` of constant input i, in the order of the list. */
static void select_constant(Graph *g, Op *op, int i, int dim, Ints list)
{
	const Tensor *t = op_value(op_in(op, i));
	Shape shape = t->shape;
	int64_t outer = 1, inner = type_info[t->dtype].bytes;
	for (int d = 0; d < dim; d++)
		outer *= shape.dim[d];
	for (int d = dim + 1; d < shape.rank; d++)
		inner *= shape.dim[d];
	const int64_t old = shape.dim[dim];
	shape.dim[dim] = list.n;
	const char *name = arena_printf(g->arena, "%s.selected", op_in(op, i)->name);
	if (t->splat) {
		Tensor *s = arena_new(g->arena, Tensor);
		*s = *t;
		s->shape = shape;
		rewrite_constant(g, op, i, name, s);
		return;
	}
	Tensor *out = tensor_create(g->arena, t->dtype, shape);
	char *to = (char *)(uintptr_t)out->data;
	const char *from = t->data;
	for (int64_t o = 0; o < outer; o++, from += old * inner)
		for (int64_t k = 0; k < list.n; k++, to += inner)
			memcpy(to, from + list.v[k] * inner, (size_t)inner);
	rewrite_constant(g, op, i, name, out);
}

static bool is_simple_depthwise(Graph *g, const Op *op)
{
	return op->kind != OP_LINEAR && product_is_depthwise(op)
		&& product_outputs(op) == product_inputs(op) && product_is_known(g, op);
}

static bool constants_from(Graph *g, const Op *op, int first)
{
	for (int i = first; i < op->nin; i++)
		if (op_in(op, i)->kind != OP_CONSTANT || !rewrite_value(g, op_in(op, i)))
			return false;
	return true;
}

/* True if a selection of input 0's channels may as well come after `op`. */
static bool passes(Graph *g, const Op *op)
{
	const Shape x = op->nin ? op_in(op, 0)->shape : op->shape;
	if (x.rank < 3 || op->shape.rank != x.rank || op->shape.dim[1] != x.dim[1])
		return false;
	switch (op->kind) {
	case OP_MAX_POOL:
	case OP_AVG_POOL:
	case OP_GLOBAL_AVG_POOL:
	case OP_GLOBAL_MAX_POOL:
		return true;
	case OP_RESIZE:
		return op->attr.resize.coord != COORD_TF_CROP && op->attr.resize.scales.v[1] == 1;
	case OP_PAD:
		return op->attr.pad.pads.v[1] == 0 && op->attr.pad.pads.v[1 + x.rank] == 0;
	case OP_SLICE:
		return op->attr.slice.steps.v[1] == 1;
	case OP_BATCH_NORM:
	case OP_INSTANCE_NORM:
		return constants_from(g, op, 1);
	case OP_CONV:
	case OP_CONV_TRANSPOSE:
		return is_simple_depthwise(g, op);
	default:
		return op_is(op, ELTWISE) && constants_from(g, op, 1) && shape_equal(op->shape, x);
	}
}

/* The op as it is when its input 0 has its channels in the order of the list. */
static void reorder(Graph *g, Op *op, Ints list)
{
	int64_t v[MAX_RANK];
	for (int i = 1; i < op->nin; i++) {
		const int dim = op_is(op, ELTWISE) ? channel_dim(op_in(op, i), op->shape) : 0;
		if (dim >= 0)
			select_constant(g, op, i, dim, list);
	}
	if (op_is_product(op))
		op->attr.conv.groups = list.n;
	if (op->kind == OP_RESIZE || op->kind == OP_SLICE) {
		Ints *sizes = op->kind == OP_RESIZE ? &op->attr.resize.sizes
						    : &op->attr.slice.counts;
		memcpy(v, sizes->v, (size_t)sizes->n * sizeof *v);
		v[1] = list.n;
		*sizes = ints_copy(g->arena, v, sizes->n);
	}
	rewrite_infer(g, op);
}

/* The products' channels out, in the order of the list. */
static void select_outputs(Graph *g, Op *op, Ints list)
{
	select_constant(g, op, 1, op->kind == OP_CONV_TRANSPOSE, list);
	if (op->nin > 2)
		select_constant(g, op, 2, 0, list);
	rewrite_infer(g, op);
}

/* A product whose channels can be given in another order. */
static bool is_open(Graph *g, const Op *op)
{
	return op_is_product(op) && product_groups(op) == 1 && product_is_known(g, op);
}

static bool fold_up(Graph *g, Op *sel)
{
	const Ints list = sel->attr.channels.channels;
	Op *path[MOST_OPS], *op = op_in(sel, 0);
	int n = 0;
	if (list.n > op->shape.dim[1])
		return false;
	for (; n < MOST_OPS && op_has_one_use(op); op = op_in(op, 0)) {
		if (is_open(g, op)) {
			select_outputs(g, op, list);
			while (n)
				reorder(g, path[--n], list);
			rewrite_merge(g, op_in(sel, 0), sel);
			return true;
		}
		if (!passes(g, op))
			return false;
		path[n++] = op;
	}
	return false;
}

/* reshape [N,C,H,W] -> [N,C*H*W], read by linears of known weights alone */
static bool is_flatten(Graph *g, const Op *op)
{
	if (op->kind != OP_RESHAPE || op->shape.rank != 2 || shape_count(op->shape) < 1)
		return false;
	for_each_use(u, op)
		if (u->user->kind != OP_LINEAR || u != &u->user->in[0] || !is_open(g, u->user))
			return false;
	return op->shape.dim[0] == op_in(op, 0)->shape.dim[0];
}

/* Adds what reads `op` to the path. Ops read in two ways are on it twice,
 * so nothing but single-input paths gets in. */
static bool follow(Graph *g, const Op *op, bool directly, Path *path)
{
	if (!op->uses)
		return false;
	for_each_use(u, op) {
		Op *reader = u->user;
		if (path->n == MOST_OPS || path->nends == MOST_OPS || u != &reader->in[0])
			return false;
		if (is_open(g, reader) || (!directly && is_flatten(g, reader))) {
			path->end[path->nends++] = reader;
		} else {
			if (directly || !passes(g, reader))
				return false;
			path->op[path->n++] = reader;
			if (!follow(g, reader, directly, path))
				return false;
		}
	}
	return true;
}

/* The same list for channels of `size` elements each. */
static Ints expanded(Graph *g, Ints list, int64_t size)
{
	int64_t *v = arena_array(g->arena, int64_t, list.n * size);
	for (int i = 0; i < list.n; i++)
		for (int64_t k = 0; k < size; k++)
			v[i * size + k] = list.v[i] * size + k;
	return (Ints){ (int)(list.n * size), v };
}

/* The products' channels in, `from` being how they come now. */
static void reorder_inputs(Graph *g, Op *end, Ints from)
{
	if (end->kind != OP_RESHAPE) {
		select_constant(g, end, 1, end->kind != OP_CONV_TRANSPOSE, from);
		rewrite_infer(g, end);
		return;
	}
	const Ints columns = expanded(g, from, end->shape.dim[1] / from.n);
	rewrite_infer(g, end);
	for_each_use(u, end) {
		select_constant(g, u->user, 1, 1, columns);
		rewrite_infer(g, u->user);
	}
}

/* The weights of a product that reads all `n` channels instead of those in
 * the list, as zeros for the rest. */
static void spread_inputs(Graph *g, Op *op, Ints list, int64_t n)
{
	const Tensor *t = op_value(op_in(op, 1));
	const int dim = op->kind != OP_CONV_TRANSPOSE;
	const int64_t taps = product_taps(op), outer = dim ? t->shape.dim[0] : 1;
	const int64_t inner = dim ? taps : taps * t->shape.dim[1];
	Shape shape = t->shape;
	shape.dim[dim] = n;
	Tensor *out = tensor_create(g->arena, t->dtype, shape);
	for (int64_t o = 0; o < outer; o++)
		for (int64_t k = 0; k < list.n; k++)
			for (int64_t i = 0; i < inner; i++) {
				const int64_t to = (o * n + list.v[k]) * inner + i;
				tensor_set_f64(out, to, tensor_f64(out, to)
					       + tensor_f64(t, (o * list.n + k) * inner + i));
			}
	rewrite_constant(g, op, 1, arena_printf(g->arena, "%s.spread", op_in(op, 1)->name), out);
}

/* Multiplications the zeros cost, and the selection itself. */
static bool is_worth_it(const Op *sel, const Path *path)
{
	const double from = (double)op_in(sel, 0)->shape.dim[1];
	const double left_out = from - (double)sel->shape.dim[1];
	double added = 0;
	for (int i = 0; i < path->nends; i++) {
		const Op *end = path->end[i];
		const Op *spread = end->kind == OP_CONV_TRANSPOSE ? op_in(end, 0) : end;
		added += left_out * (double)product_taps(end)
			* (double)shape_count(spread->shape) / (double)spread->shape.dim[1]
			* (double)product_outputs(end);
	}
	return added <= from * (double)shape_count(sel->shape);
}

static bool fold_down(Graph *g, Op *sel)
{
	const Ints list = sel->attr.channels.channels;
	Op *x = op_in(sel, 0);
	const bool permutes = shuffle_is_permutation(list, x->shape.dim[1]);
	Path path = { 0 };
	if (!follow(g, sel, !permutes, &path) || (!permutes && !is_worth_it(sel, &path)))
		return false;
	const Ints from = permutes ? inverse(g, list) : list;
	for (int i = 0; i < path.nends && !permutes; i++)
		spread_inputs(g, path.end[i], list, x->shape.dim[1]);
	op_replace_uses(sel, x);
	rewrite_take_in(g, path.end[0], sel);
	for (int i = 0; i < path.n; i++)
		reorder(g, path.op[i], from);
	for (int i = 0; i < path.nends && permutes; i++)
		reorder_inputs(g, path.end[i], from);
	return true;
}

bool shuffle_fold(Graph *g, Op *sel)
{
	return fold_up(g, sel) || fold_down(g, sel);
}
