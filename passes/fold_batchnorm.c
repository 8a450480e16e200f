/*
 * fold_batchnorm: fold batch norms into the weights before or after them.
 *
 *     %c = conv %x, %w {...}
 *     %n = batch_norm %c, %scale, %bias, %mean, %variance {epsilon = ...}
 * becomes
 *     %c = conv %x, %w, %c.bias {absorbed = ["n"], ...}
 *
 * with w scaled per output channel. The same is done for conv_transpose and
 * linear, for a per-channel mul or div by constants, and for an add that
 * stands between a product and one of these. What cannot go into the weights
 * before it goes into those of every reader, scaled per input channel, if
 * all of them are products:
 *
 *     conv(s * x + t)   =   conv'(x) + conv(t)
 *
 * Not done when the product before has another reader or a fused activation,
 * when its weights are no constants or elided; and after it, when a shift
 * would have to be applied to padding too (pads, or any conv_transpose).
 * A batch_norm that is left over becomes mul and add with constants of shape
 * [1,C,1,1]; with elided or computed statistics it stays.
 */
#include "passes/pass.h"

#include <stdlib.h>

#include "passes/product.h"
#include "passes/rewrite.h"

/* c - x multiplies by -1. */
static bool multiplies(const Op *op)
{
	return op->kind == OP_BATCH_NORM || op->kind == OP_MUL || op->kind == OP_DIV
		|| (op->kind == OP_SUB && op_in(op, 0)->kind == OP_CONSTANT);
}

/* An add is fuse_bias's, unless it stands before something that multiplies:
 * that could then not reach the product. */
static bool is_ours(Graph *g, const Op *op)
{
	Op *data;
	Affine a;
	if (multiplies(op))
		return true;
	if (!op_has_one_use(op) || op_has_act(op))
		return false;
	const Op *reader = op->uses->user;
	return multiplies(reader) && affine_of(g, reader, &data, &a) && data == op;
}

static bool is_open_product(const Op *op)
{
	return op_is_product(op) && op_has_one_use(op) && !op_has_act(op);
}

static bool fold_into_producer(Graph *g, Op *op, Op *product, const Affine *a)
{
	if (!is_open_product(product) || !is_ours(g, op) || !product_is_known(g, product))
		return false;
	product_scale_outputs(g, product, a);
	product->act = op->act;
	rewrite_merge(g, product, op);
	return true;
}

static bool reader_takes(Graph *g, const Use *u, const Affine *a)
{
	const Op *reader = u->user;
	return op_is_product(reader) && u == &reader->in[0]
		&& product_takes_inputs(reader, a) && product_is_known(g, reader);
}

static bool fold_into_readers(Graph *g, Op *op, Op *data, const Affine *a)
{
	if (op_has_act(op) || !op->uses || (!multiplies(op) && is_open_product(data)))
		return false;
	for_each_use(u, op)
		if (!reader_takes(g, u, a))
			return false;
	Op *first = op->uses->user;
	for_each_use(u, op) {
		Op *reader = u->user;
		product_scale_inputs(g, reader, a);
		op_set_input(reader, 0, data);
		/* use-lists run from the newest: the last seen reads it first */
		first = reader;
	}
	op_absorb(g, first, op);
	op_remove_dead(g, op);
	return true;
}

/* batch_norm -> mul, add; the add takes the norm's place and name. */
static void split(Graph *g, Op *norm, Op *data, const Affine *a)
{
	Tensor *scale = channel_tensor(g, norm->dtype, norm->shape.rank, a->scale, a->n);
	Tensor *shift = channel_tensor(g, norm->dtype, norm->shape.rank, a->shift, a->n);
	Op *in[] = { data, graph_constant(g, norm,
		arena_printf(g->arena, "%s.factor", norm->name), scale) };
	Op *mul = graph_insert(g, norm, OP_MUL, arena_printf(g->arena, "%s.scaled", norm->name), 2, in);
	Op *c = graph_constant(g, norm, arena_printf(g->arena, "%s.shift", norm->name), shift);
	rewrite_infer(g, mul);
	for (int i = 1; i < 5; i++) {
		Op *statistic = op_in(norm, i);
		op_set_input(norm, i, mul);
		if (!statistic->uses)
			op_remove(g, statistic);
	}
	op_drop_inputs(norm, 2);
	op_set_input(norm, 0, mul);
	op_set_input(norm, 1, c);
	rewrite_become(norm, OP_ADD, attrs_default(OP_ADD));
	rewrite_infer(g, norm);
}

static bool fold_forwards(Graph *g)
{
	bool changed = false;
	for_each_op(op, g) {
		Op *data;
		Affine a;
		if (affine_of(g, op, &data, &a))
			changed |= fold_into_producer(g, op, data, &a);
	}
	return changed;
}

/* From the last op on, so that of a mul and an add both reach a reader. */
static bool fold_backwards(Graph *g)
{
	bool changed = false;
	Op **ops = xmalloc((size_t)g->nops * sizeof *ops);
	int n = 0;
	for_each_op(op, g)
		if (op->kind != OP_CONSTANT) /* those may go with their reader */
			ops[n++] = op;
	while (n--) {
		Op *data;
		Affine a;
		if (affine_of(g, ops[n], &data, &a))
			changed |= fold_into_readers(g, ops[n], data, &a);
	}
	free(ops);
	return changed;
}

static bool split_others(Graph *g)
{
	bool changed = false;
	for_each_op(op, g) {
		Op *data;
		Affine a;
		if (op->kind != OP_BATCH_NORM || !affine_of(g, op, &data, &a))
			continue;
		split(g, op, data, &a);
		changed = true;
	}
	return changed;
}

bool pass_fold_batchnorm(Graph *g)
{
	bool changed = fold_forwards(g);

	changed |= fold_backwards(g);
	changed |= split_others(g);
	return changed;
}
