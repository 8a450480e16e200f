/*
 * choose_dtypes: set the device formats each tensor and weight may have.
 *
 *     %c = conv %x, %w {...} : f32[1,64,8,8]
 * becomes
 *     %c = conv %x, %w {stored = bf16|bfp8_b, weights = bfp8_b, ...} : ...
 *
 * What is set is the allowed set; the plan chooses from it.
 *
 *   stored   of every floating-point result on the device: bf16 or bfp8_b if
 *            it has planes of channels (rank 4), else bf16; bf16 alone where
 *            the host reads or writes it, that is for graph inputs and for
 *            what an output or its views read. bf16 or f32 if nobody else
 *            reads that, the host's tensor is f32 and the op computes what
 *            bf16 would round
 *   weights  of every product with weights: bf16 if it is depthwise (too few
 *            products to hide the rounding), reads no other product's result
 *            even from afar (first layer), or has its result read by no
 *            other (last layer); else bfp8_b. prelu slopes are bf16. Where each channel
 *            has weights of its own bf16 means no blocks: they come in fp32
 *
 * What layers round adds up. With more than DEEP products on some way from input to
 * output, bf16 alone is allowed where bfp8_b saves little: for results of less than
 * SMALL bytes, and for weights of which FEW or less make a value.
 *
 * Graph.all_stored and all_weights say what all results that may be either are stored
 * in (f32 where all that make and read it take it: plan_f32.c), and the weights of all
 * products but depthwise ones, wherever they stand.
 *
 * A hint `stored` or `weights` on the op overrides any of it. Ops that do not
 * run on a device, constants, outputs and views are left alone.
 */
#include "passes/pass.h"

#include <string.h>

#include "ir/hint.h"
#include "passes/product.h"

enum { AFTER_PRODUCT = 1, BEFORE_PRODUCT = 2, AT_OUTPUT = 4, INSIDE = 8 };

enum { DEEP = 24, SMALL = 8 << 20, FEW = 256 };

/* Products on the longest way through the graph; leaves it in the marks. */
static int64_t depth(const Graph *g)
{
	int64_t deepest = 0;
	for_each_op(op, g) {
		op->mark = 0;
		for (int i = 0; i < op->nin; i++)
			op->mark = op_in(op, i)->mark > op->mark ? op_in(op, i)->mark : op->mark;
		op->mark += op_is_product(op);
		deepest = op->mark > deepest ? op->mark : deepest;
	}
	return deepest;
}

/* Marks every op with what lies above and below it. */
static void mark(Graph *g)
{
	for_each_op(op, g) {
		op->mark = 0;
		for (int i = 0; i < op->nin; i++)
			if (op_is_product(op_in(op, i)) || op_in(op, i)->mark & AFTER_PRODUCT)
				op->mark |= AFTER_PRODUCT;
	}
	for (Op *op = g->last; op; op = op->prev) {
		for (int i = 0; i < op->nin; i++) {
			Op *in = op_in(op, i);
			if (op_is_product(op) || op->mark & BEFORE_PRODUCT)
				in->mark |= BEFORE_PRODUCT;
			const bool out = op->kind == OP_OUTPUT || op->kind == OP_VIEW;
			in->mark |= out ? AT_OUTPUT : INSIDE;
		}
	}
}

static DevTypes hinted(const Op *op, const char *key, DevTypes otherwise)
{
	const char *value = op_hint(op, key);
	if (!value)
		return otherwise;
	if (strcmp(value, "bf16") == 0)
		return DEV_BF16;
	return strcmp(value, "f32") == 0 ? DEV_F32 : DEV_BFP8_B;
}

static bool keeps_values(OpKind kind) { return kind == OP_RELU || kind == OP_CLIP; }

/* Are results other than what it reads, so that storing them rounds them? */
static bool rounds(const Op *op)
{
	const bool picks = op->kind == OP_MAX_POOL || op->kind == OP_GLOBAL_MAX_POOL
		|| op->kind == OP_MAX || op->kind == OP_MIN
		|| (op->kind == OP_RESIZE && op->attr.resize.mode == RESIZE_NEAREST);
	if (op_has_act(op) && !keeps_values(op->act.kind))
		return true;
	return !picks && !op_is(op, MOVES) && !keeps_values(op->kind) && op->kind != OP_CAST
		&& op->kind != OP_INPUT;
}

static bool has_result_on_device(const Op *op)
{
	return op_is(op, DEVICE) && type_is_float(op->dtype) && op->kind != OP_CONSTANT
		&& op->kind != OP_OUTPUT && op->kind != OP_VIEW;
}

static DevTypes stored(const Graph *g, const Op *op, bool deep)
{
	if (!has_result_on_device(op))
		return DEV_UNSET;
	const bool edge = op->kind == OP_INPUT || op->mark & AT_OUTPUT;
	const bool small = deep && 2 * shape_count(op->shape) < SMALL;
	if (op->mark & AT_OUTPUT && !(op->mark & INSIDE) && op->dtype == TYPE_F32
	    && op->shape.rank == 4 && rounds(op))
		return hinted(op, "stored", DEV_BF16 | DEV_F32);
	if (g->all_stored == DEV_F32 && op->kind != OP_INPUT && op->shape.rank == 4)
		return hinted(op, "stored", DEV_BF16 | DEV_F32);
	if (edge || op->shape.rank != 4)
		return hinted(op, "stored", DEV_BF16);
	if (g->all_stored)
		return hinted(op, "stored", g->all_stored);
	return hinted(op, "stored", small ? DEV_BF16 : DEV_BF16 | DEV_BFP8_B);
}

/* Products that make a value of the result. */
static int64_t products(const Op *op)
{
	return product_inputs(op) / product_groups(op) * product_taps(op);
}

static DevTypes weights(const Graph *g, const Op *op, bool deep)
{
	const int64_t inner = AFTER_PRODUCT | BEFORE_PRODUCT;
	if (!op_is(op, DEVICE | WEIGHTS))
		return DEV_UNSET;
	if (!op_is_product(op) || product_is_depthwise(op))
		return hinted(op, "weights", DEV_BF16);
	if (g->all_weights)
		return hinted(op, "weights", g->all_weights);
	if ((op->mark & inner) != inner || (deep && products(op) <= FEW))
		return hinted(op, "weights", DEV_BF16);
	return hinted(op, "weights", DEV_BFP8_B);
}

bool pass_choose_dtypes(Graph *g)
{
	bool changed = false;

	const bool deep = depth(g) > DEEP;
	mark(g);
	for_each_op(op, g) {
		const DevTypes s = stored(g, op, deep), w = weights(g, op, deep);
		changed |= s != op->stored || w != op->weights;
		op->stored = s;
		op->weights = w;
	}
	return changed;
}
