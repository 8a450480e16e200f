/*
 * fuse_bias: fold a per-channel add into the bias before it.
 *
 *     %c = conv %x, %w {...}
 *     %a = add %c, %b               // %b : f32[8,1,1], constant
 * becomes
 *     %c = conv %x, %w, %c.bias {absorbed = ["a"], ...}
 *
 * A subtracted constant goes in with its sign turned, a scalar as one value
 * per channel; a bias already there is added to.
 *
 * Not done when the constant differs within a channel or is elided, when the
 * product has another reader, a fused activation, or a bias that is no
 * constant, or when the product itself is subtracted.
 */
#include "passes/pass.h"

#include "passes/product.h"
#include "passes/rewrite.h"

static bool bias_is_known(Graph *g, const Op *op)
{
	return op->nin < 3 || rewrite_value(g, op_in(op, 2));
}

bool pass_fuse_bias(Graph *g)
{
	bool changed = false;

	for_each_op(op, g) {
		Op *product;
		Affine a;
		if ((op->kind != OP_ADD && op->kind != OP_SUB) || !affine_of(g, op, &product, &a))
			continue;
		if (a.scales || !op_is_product(product) || !op_has_one_use(product))
			continue;
		if (op_has_act(product) || !bias_is_known(g, product))
			continue;
		product_add_bias(g, product, a.shift);
		product->act = op->act;
		rewrite_merge(g, product, op);
		changed = true;
	}
	return changed;
}
