/*
 * fold_constants: compute what depends on constants alone.
 *
 *     %a = constant : i64[2] [3, 4]
 *     %b = constant : i64[2] [1, 2]
 *     %c = mul %a, %b : i64[2]
 * becomes
 *     %c = constant : i64[2] [3, 8]
 *
 * The constants read are left for canonicalize to remove.
 *
 * Not done when an input is elided, when the op is none that eval.h knows or
 * carries a fused activation, or when the result would need far more memory
 * than what it is made of (a mask spread over a whole image, say). Division
 * of integers by zero is an error of the model.
 */
#include "passes/pass.h"

#include "ir/eval.h"
#include "passes/rewrite.h"

enum { SMALL = 1 << 16, GROWTH = 4 };

static bool grows_too_much(const Op *op)
{
	int64_t held = 0;
	bool all_splat = true;
	for (int i = 0; i < op->nin; i++) {
		const Tensor *t = op_in(op, i)->value;
		held += t->splat ? 1 : tensor_count(t);
		all_splat &= t->splat || tensor_count(t) == 1;
	}
	if (all_splat && op->kind != OP_PAD && op->kind != OP_CONCAT)
		return false; /* stays one element, see op_eval */
	return shape_count(op->shape) > SMALL && shape_count(op->shape) / GROWTH > held;
}

static bool is_foldable(Graph *g, const Op *op)
{
	if (!op->nin || !op_can_eval(op->kind) || op_has_act(op) || op->dtype == TYPE_NONE)
		return false;
	for (int i = 0; i < op->nin; i++)
		if (op_in(op, i)->kind != OP_CONSTANT)
			return false;
	for (int i = 0; i < op->nin; i++)
		if (!rewrite_value(g, op_in(op, i)))
			return false;
	return !grows_too_much(op);
}

static Tensor *compute(Graph *g, const Op *op)
{
	enum { FEW = 8 };
	Tensor *few[FEW];
	Tensor **in = op->nin <= FEW ? few : arena_array(g->arena, Tensor *, op->nin);
	for (int i = 0; i < op->nin; i++)
		in[i] = op_value(op_in(op, i));
	Tensor *t = op_eval(g->arena, op, in);
	for (int i = 0; t && i < op->nin; i++)
		if (in[i]->data == t->data)
			in[i]->owned = t->owned = false;
	return t;
}

bool pass_fold_constants(Graph *g)
{
	bool changed = false;

	for_each_op(op, g) {
		if (!is_foldable(g, op))
			continue;
		Tensor *t = compute(g, op);
		if (!t) {
			/* The type rule reports a gather with a wrong index. */
			if (op_infer(g, op))
				diag_error(g->diag, op->loc, "%s: '%s' divides an integer by zero",
					   op_info[op->kind].name, op->name);
			continue;
		}
		op_drop_inputs(op, 0);
		rewrite_become(op, OP_CONSTANT, attrs_default(OP_CONSTANT));
		op->value = t;
		changed = true;
	}
	return changed;
}
