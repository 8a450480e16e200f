/*
 * One spelling for arithmetic with constants:
 *
 *     add c, x; mul c, x; min, max, equal likewise   -> constant to the right
 *     sub x, c                                       -> add x, -c
 *     div x, c                                       -> mul x, 1/c
 *     neg x                                          -> mul x, -1
 *     min, max with one number                       -> clip
 *     max(x, 0), clip from 0 to infinity             -> relu
 *     clip of a clip                                 -> one clip
 *     max(x, a*x) with 0 <= a <= 1                   -> leaky_relu
 *     prelu with one slope                           -> leaky_relu
 *     relu of what is never negative                 -> nothing
 *     abs, sqrt, ... are left alone
 *
 * A quotient by a rounded reciprocal differs in the last bit; that is done
 * where the reciprocal is a normal number. All this is for floating point
 * only, and the device has no neg.
 */
#include "passes/canon.h"

#include <float.h>
#include <math.h>

#include "passes/rewrite.h"

static bool constant_right(Op *op)
{
	if (op->nin != 2 || !op_is(op, COMMUTES) || op_in(op, 0)->kind != OP_CONSTANT
	    || op_in(op, 1)->kind == OP_CONSTANT)
		return false;
	Op *c = op_in(op, 0), *x = op_in(op, 1);
	op_set_input(op, 0, x);
	op_set_input(op, 1, c);
	return true;
}

/* True if 1/v is a normal number, of f16 or f32, for every element. */
static bool has_reciprocals(const Tensor *t)
{
	const bool half = t->dtype == TYPE_F16;
	const double least = half ? 0x1p-14 : (double)FLT_MIN;
	const double most = half ? 65504 : (double)FLT_MAX;
	for (int64_t i = 0, n = t->splat ? 1 : tensor_count(t); i < n; i++) {
		const double r = fabs(1 / tensor_f64(t, i));
		if (!(r >= least && r <= most))
			return false;
	}
	return true;
}

/* -c or 1/c as a new tensor. */
static Tensor *turned(Graph *g, const Tensor *t, bool reciprocal)
{
	const int64_t n = t->splat ? 1 : tensor_count(t);
	Tensor *out = tensor_create(g->arena, t->dtype, t->splat ? (Shape){ 0 } : t->shape);
	for (int64_t i = 0; i < n; i++)
		tensor_set_f64(out, i, reciprocal ? 1 / tensor_f64(t, i) : -tensor_f64(t, i));
	if (t->splat)
		return tensor_splat(g->arena, t->dtype, t->shape, tensor_f64(out, 0), 0);
	return out;
}

static bool sub_or_div(Graph *g, Op *op)
{
	const bool div = op->kind == OP_DIV;
	if ((op->kind != OP_SUB && !div) || op_in(op, 1)->kind != OP_CONSTANT
	    || !type_is_float(op->dtype) || op_in(op, 0)->kind == OP_CONSTANT)
		return false;
	const Tensor *t = rewrite_value(g, op_in(op, 1));
	if (!t || (div && !has_reciprocals(t)))
		return false;
	rewrite_constant(g, op, 1, arena_printf(g->arena, "%s.%s", op->name,
			 div ? "reciprocal" : "negative"), turned(g, t, div));
	rewrite_become(op, div ? OP_MUL : OP_ADD, op->attr);
	return true;
}

static bool neg(Graph *g, Op *op)
{
	if (op->kind != OP_NEG || !type_is_float(op->dtype))
		return false;
	Tensor *minus = tensor_splat(g->arena, op->dtype, (Shape){ 0 }, -1, 0);
	op_add_input(g, op, graph_constant(g, op,
		arena_printf(g->arena, "%s.factor", op->name), minus));
	rewrite_become(op, OP_MUL, attrs_default(OP_MUL));
	return true;
}

static void become_clip(Graph *g, Op *op, float least, float most)
{
	Op *constant = op->nin > 1 ? op_in(op, 1) : NULL;
	op_drop_inputs(op, 1);
	if (constant && !constant->uses)
		op_remove(g, constant);
	if (least == 0 && most == INFINITY)
		rewrite_become(op, OP_RELU, attrs_default(OP_RELU));
	else
		rewrite_become(op, OP_CLIP, (Attrs){ .clip = { .max = most, .min = least } });
}

/* The interval an op clips its input to, if that is all it does. */
static bool clips_to(Graph *g, const Op *op, float *least, float *most)
{
	double v;
	*least = -INFINITY;
	*most = INFINITY;
	switch (op->kind) {
	case OP_RELU:
		*least = 0;
		return type_is_float(op->dtype);
	case OP_CLIP:
		*least = op->attr.clip.min;
		*most = op->attr.clip.max;
		return *least <= *most;
	case OP_MIN:
	case OP_MAX:
		if (!rewrite_scalar(g, op_in(op, 1), &v) || isnan(v)
		    || !shape_equal(op->shape, op_in(op, 0)->shape))
			return false;
		*(op->kind == OP_MIN ? most : least) = (float)v;
		return true;
	default:
		return false;
	}
}

static float limited(float v, float least, float most)
{
	return v < least ? least : v > most ? most : v;
}

static bool clip(Graph *g, Op *op)
{
	float least, most, low, high;
	if (!clips_to(g, op, &least, &most))
		return false;
	Op *x = op_in(op, 0);
	if (op_has_one_use(x) && clips_to(g, x, &low, &high)) {
		become_clip(g, op, limited(low, least, most), limited(high, least, most));
		op_set_input(op, 0, op_in(x, 0));
		rewrite_take_in(g, op, x);
		return true;
	}
	if (op->kind == OP_MIN || op->kind == OP_MAX
	    || (op->kind == OP_CLIP && least == 0 && most == INFINITY)) {
		become_clip(g, op, least, most);
		return true;
	}
	if (op->kind == OP_RELU && rewrite_not_negative(x)) {
		rewrite_merge(g, x, op);
		return true;
	}
	return false;
}

static bool become_leaky(Op *op, Op *x, double alpha)
{
	op_drop_inputs(op, 1);
	op_set_input(op, 0, x);
	rewrite_become(op, OP_LEAKY_RELU, (Attrs){ .alpha.alpha = (float)alpha });
	return true;
}

static bool leaky(Graph *g, Op *op)
{
	double alpha;
	if (op->kind == OP_PRELU && rewrite_scalar(g, op_in(op, 1), &alpha))
		return become_leaky(op, op_in(op, 0), alpha);
	if (op->kind != OP_MAX || !type_is_float(op->dtype))
		return false;
	for (int i = 0; i < 2; i++) {
		Op *x = op_in(op, i), *mul = op_in(op, !i);
		if (mul->kind == OP_MUL && op_in(mul, 0) == x && !op_has_act(mul)
		    && shape_equal(mul->shape, x->shape)
		    && rewrite_scalar(g, op_in(mul, 1), &alpha) && alpha >= 0 && alpha <= 1)
			return become_leaky(op, x, alpha);
	}
	return false;
}

bool canon_arith(Graph *g, Op *op)
{
	return constant_right(op) || sub_or_div(g, op) || neg(g, op) || clip(g, op)
		|| leaky(g, op);
}
