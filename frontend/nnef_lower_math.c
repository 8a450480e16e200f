/* Arithmetic, activations, norms, reductions, products without windows. */
#include "frontend/nnef_lower.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

Value nnef_lower_unary(Call *c)
{
	Op *x = arg_op(c, "x");
	return value_tensor(emit(c, NULL, c->kind, NULL, 1, &x));
}

Value nnef_lower_binary(Call *c)
{
	WeightRole role = c->kind == OP_MUL || c->kind == OP_DIV ? WEIGHT_SCALE : WEIGHT_BIAS;
	Op *in[2];
	if (!arg_operands(c, 2, (const char *[]){ "x", "y" }, role, in))
		return NO_VALUE;
	return value_tensor(emit(c, NULL, c->kind, NULL, 2, in));
}

Value nnef_lower_select(Call *c)
{
	static const char *const params[] = { "condition", "true_value", "false_value" };
	Op *in[3];
	if (!arg_operands(c, 3, params, WEIGHT_BIAS, in))
		return NO_VALUE;
	return value_tensor(emit(c, NULL, OP_WHERE, NULL, 3, in));
}

/* A clip if both bounds are constants of one element, else max(min(x, b), a). */
Value nnef_lower_clamp(Call *c)
{
	Value a = arg_value(c, "a"), b = arg_value(c, "b");
	Attrs attr = attrs_default(OP_CLIP);
	Op *in[3];
	if (a.kind == VALUE_SCALAR && b.kind == VALUE_SCALAR) {
		Op *x = arg_op(c, "x");
		attr.clip.min = (float)a.scalar;
		attr.clip.max = (float)b.scalar;
		return value_tensor(emit(c, NULL, OP_CLIP, &attr, 1, &x));
	}
	if (!arg_operands(c, 3, (const char *[]){ "x", "a", "b" }, WEIGHT_BIAS, in))
		return NO_VALUE;
	Op *low = emit(c, "min", OP_MIN, NULL, 2, (Op *[]){ in[0], in[2] });
	return value_tensor(emit(c, NULL, OP_MAX, NULL, 2, (Op *[]){ low, in[1] }));
}

Value nnef_lower_alpha(Call *c)
{
	Attrs attr = attrs_default(c->kind);
	Op *x = arg_op(c, "x");
	attr.alpha.alpha = (float)arg_scalar(c, "alpha");
	return value_tensor(emit(c, NULL, c->kind, &attr, 1, &x));
}

Value nnef_lower_selu(Call *c)
{
	Attrs attr = attrs_default(OP_SELU);
	Op *x = arg_op(c, "x");
	attr.alpha_beta.alpha = (float)arg_scalar(c, "alpha");
	attr.alpha_beta.beta = (float)arg_scalar(c, "lambda");
	return value_tensor(emit(c, NULL, OP_SELU, &attr, 1, &x));
}

Value nnef_lower_prelu(Call *c)
{
	Value alpha = arg_value(c, "alpha");
	Attrs attr = attrs_default(OP_LEAKY_RELU);
	Op *in[2];
	if (alpha.kind == VALUE_SCALAR) {
		Op *x = arg_op(c, "x");
		attr.alpha.alpha = (float)alpha.scalar;
		return value_tensor(emit(c, NULL, OP_LEAKY_RELU, &attr, 1, &x));
	}
	if (!arg_operands(c, 2, (const char *[]){ "x", "alpha" }, WEIGHT_BIAS, in))
		return NO_VALUE;
	return value_tensor(emit(c, NULL, OP_PRELU, NULL, 2, in));
}

/* The dims of `axes` as one, if they stand side by side. */
static bool merged(Shape s, Ints axes, Shape *out)
{
	*out = (Shape){ 0 };
	for (int i = 1; i < axes.n; i++)
		if (axes.v[i] != axes.v[i - 1] + 1)
			return false;
	for (int i = 0; i < s.rank; i++) {
		bool more = axes.n && i > axes.v[0] && i <= axes.v[axes.n - 1];
		if (more)
			out->dim[out->rank - 1] *= s.dim[i];
		else
			out->dim[out->rank++] = s.dim[i];
	}
	return true;
}

static Op *emit_reduce(Call *c, const char *suffix, OpKind kind, Op *x, Ints axes)
{
	Attrs attr = attrs_default(kind);
	attr.reduce.axes = axes;
	attr.reduce.keepdims = true;
	return emit(c, suffix, kind, &attr, 1, &x);
}

Value nnef_lower_softmax(Call *c)
{
	Attrs attr = attrs_default(OP_SOFTMAX);
	Op *x = arg_op(c, "x");
	Shape flat;
	Ints axes;
	if (!x || !arg_axes(c, "axes", x->shape.rank, &axes))
		return NO_VALUE;
	if (!axes.n)
		return value_tensor(emit(c, NULL, OP_IDENTITY, NULL, 1, &x));
	attr.axis.axis = axes.v[0];
	if (axes.n == 1)
		return value_tensor(emit(c, NULL, OP_SOFTMAX, &attr, 1, &x));
	if (merged(x->shape, axes, &flat)) {
		Op *y = emit_reshape(c, "flat", x, flat);
		y = emit(c, "softmax", OP_SOFTMAX, &attr, 1, &y);
		return value_tensor(emit_reshape(c, NULL, y, x->shape));
	}
	Op *top = emit_reduce(c, "max", OP_REDUCE_MAX, x, axes);
	Op *e = emit(c, "shifted", OP_SUB, NULL, 2, (Op *[]){ x, top });
	e = emit(c, "exp", OP_EXP, NULL, 1, &e);
	Op *sum = e ? emit_reduce(c, "sum", OP_REDUCE_SUM, e, axes) : NULL;
	return value_tensor(emit(c, NULL, OP_DIV, NULL, 2, (Op *[]){ e, sum }));
}

/* A mean or maximum over all positions is a global pool, which devices run;
 * sum_reduce with `normalize` stays what it is. */
static OpKind global_kind(const Call *c, const Op *x, Ints axes)
{
	bool all = x->shape.rank > 2 && type_is_float(x->dtype) && axes.n == x->shape.rank - 2 &&
		   axes.v[0] == 2;
	return !all ? OP_COUNT : c->kind == OP_REDUCE_MEAN ? OP_GLOBAL_AVG_POOL
		: c->kind == OP_REDUCE_MAX ? OP_GLOBAL_MAX_POOL : OP_COUNT;
}

Value nnef_lower_reduce(Call *c)
{
	Op *x = arg_op(c, "input");
	Ints axes;
	OpKind kind = c->kind;
	if (!x || !arg_axes(c, "axes", x->shape.rank, &axes))
		return NO_VALUE;
	if (kind == OP_REDUCE_SUM && arg_logical(c, "normalize"))
		kind = OP_REDUCE_MEAN;
	if (!axes.n) /* to the IR an empty list means all of them */
		return value_tensor(emit(c, NULL, OP_IDENTITY, NULL, 1, &x));
	if (global_kind(c, x, axes) != OP_COUNT)
		return value_tensor(emit(c, NULL, global_kind(c, x, axes), NULL, 1, &x));
	return value_tensor(emit_reduce(c, NULL, kind, x, axes));
}

Value nnef_lower_arg_reduce(Call *c)
{
	Attrs attr = attrs_default(c->kind);
	Op *x = arg_op(c, "input");
	Shape flat, out;
	Ints axes;
	if (!x || !arg_axes(c, "axes", x->shape.rank, &axes))
		return NO_VALUE;
	if (!axes.n || !merged(x->shape, axes, &flat))
		return call_error(c, "axes want to be dims side by side");
	out = x->shape;
	for (int i = 0; i < axes.n; i++)
		out.dim[axes.v[i]] = 1;
	attr.arg.axis = axes.v[0];
	attr.arg.keepdims = true;
	if (axes.n == 1)
		return value_tensor(emit(c, NULL, c->kind, &attr, 1, &x));
	Op *y = emit_reshape(c, "flat", x, flat);
	y = emit(c, "index", c->kind, &attr, 1, &y);
	return value_tensor(emit_reshape(c, NULL, y, out));
}

Value nnef_lower_batch_norm(Call *c)
{
	Attrs attr = attrs_default(OP_BATCH_NORM);
	Op *x = arg_op(c, "input"), *in[5];
	if (!x)
		return NO_VALUE;
	if (x->shape.rank < 2)
		return call_error(c, "input wants at least 2 dims, has %d", x->shape.rank);
	int64_t n = x->shape.dim[1];
	in[0] = x;
	in[1] = arg_channels(c, "scale", WEIGHT_SCALE, n, NULL);
	in[2] = arg_channels(c, "offset", WEIGHT_BIAS, n, NULL);
	in[3] = arg_channels(c, "mean", WEIGHT_MEAN, n, NULL);
	in[4] = arg_channels(c, "variance", WEIGHT_VARIANCE, n, NULL);
	attr.norm.epsilon = (float)arg_scalar(c, "epsilon");
	return value_tensor(emit(c, NULL, OP_BATCH_NORM, &attr, 5, in));
}

static Op *scalar_constant(Call *c, const char *suffix, double v)
{
	Tensor *t = tensor_create(c->n->arena, TYPE_F32, (Shape){ 0 });
	tensor_set_f64(t, 0, v);
	return emit_constant(c, suffix, t);
}

/* Across channels it is the IR's lrn; else
 * input / (bias + alpha * box(input * input))^beta */
Value nnef_lower_lrn(Call *c)
{
	Attrs attr = attrs_default(OP_LRN);
	Op *x = arg_op(c, "input");
	Window w[MAX_RANK];
	Ints size = arg_ints(c, "size");
	bool channels = true;
	if (!x)
		return NO_VALUE;
	if (size.n != x->shape.rank || size.n < 2)
		return call_error(c, "'size' has %d items, input has %d dims", size.n, x->shape.rank);
	for (int i = 0; i < size.n; i++) {
		if (size.v[i] < 1 || size.v[i] > MAX_WINDOW)
			return call_error(c, "size[%d] is %" PRId64 ", not 1 to %d", i, size.v[i],
					  MAX_WINDOW);
		channels = channels && (i == 1 || size.v[i] == 1);
		w[i] = (Window){ size.v[i], 1, 1, 0, 0 };
		window_same(&w[i], x->shape.dim[i]);
	}
	attr.lrn.alpha = (float)arg_scalar(c, "alpha");
	attr.lrn.beta = (float)arg_scalar(c, "beta");
	attr.lrn.bias = (float)arg_scalar(c, "bias");
	attr.lrn.size = size.v[1];
	if (channels)
		return value_tensor(emit(c, NULL, OP_LRN, &attr, 1, &x));
	Op *y = emit(c, "square", OP_MUL, NULL, 2, (Op *[]){ x, x });
	y = y ? emit_box(c, "box", y, w, "constant", true) : NULL;
	y = emit(c, "scaled", OP_MUL, NULL, 2, (Op *[]){ y, scalar_constant(c, "alpha", attr.lrn.alpha) });
	y = emit(c, "sigma", OP_ADD, NULL, 2, (Op *[]){ y, scalar_constant(c, "bias", attr.lrn.bias) });
	y = emit(c, "power", OP_POW, NULL, 2, (Op *[]){ y, scalar_constant(c, "beta", attr.lrn.beta) });
	return value_tensor(emit(c, NULL, OP_DIV, NULL, 2, (Op *[]){ x, y }));
}

Value nnef_lower_linear(Call *c)
{
	Op *x = arg_op(c, "input"), *in[3] = { x };
	bool no_bias;
	if (!x)
		return NO_VALUE;
	if (x->shape.rank != 2)
		return call_error(c, "input wants 2 dims, has %d", x->shape.rank);
	in[1] = arg_weight(c, "filter", WEIGHT_KERNEL, SHAPE(-1, x->shape.dim[1]));
	if (!in[1])
		return NO_VALUE;
	if (in[1]->shape.rank != 2)
		return call_error(c, "filter wants 2 dims, has %d", in[1]->shape.rank);
	in[2] = arg_channels(c, "bias", WEIGHT_BIAS, in[1]->shape.dim[0], &no_bias);
	return value_tensor(emit(c, NULL, OP_LINEAR, NULL, no_bias ? 2 : 3, in));
}

static Op *transposed(Call *c, const char *suffix, Op *x)
{
	Attrs attr = attrs_default(OP_TRANSPOSE);
	int64_t perm[MAX_RANK];
	int rank = x->shape.rank;
	for (int i = 0; i < rank; i++)
		perm[i] = i < rank - 2 ? i : i == rank - 2 ? rank - 1 : rank - 2;
	attr.perm.perm = ints_copy(c->n->arena, perm, rank);
	return emit(c, suffix, OP_TRANSPOSE, &attr, 1, &x);
}

Value nnef_lower_matmul(Call *c)
{
	Op *in[2] = { arg_op(c, "A"), NULL };
	if (!in[0])
		return NO_VALUE;
	Value b = arg_value(c, "B");
	bool turn_a = arg_logical(c, "transposeA"), turn_b = arg_logical(c, "transposeB");
	int rank = in[0]->shape.rank;
	if (rank < 2)
		return call_error(c, "A wants at least 2 dims, has %d", rank);
	int64_t inner = in[0]->shape.dim[turn_a ? rank - 2 : rank - 1];
	if (b.kind == VALUE_VARIABLE) {
		Shape want = { .rank = b.variable->shape.rank };
		for (int i = 0; i < want.rank; i++)
			want.dim[i] = i == want.rank - (turn_b ? 1 : 2) ? inner : -1;
		if (!variable_close(c, b.variable, want))
			return NO_VALUE;
		in[1] = variable_op(c->n, b.variable, WEIGHT_KERNEL, inner, b.variable->shape);
	} else {
		in[1] = arg_op(c, "B");
	}
	if (!in[1])
		return NO_VALUE;
	if (in[1]->shape.rank != rank)
		return call_error(c, "A has %d dims, B has %d", rank, in[1]->shape.rank);
	if (turn_a)
		in[0] = transposed(c, "A", in[0]);
	if (turn_b)
		in[1] = transposed(c, "B", in[1]);
	return value_tensor(emit(c, NULL, OP_MATMUL, NULL, 2, in));
}

Value nnef_lower_add_n(Call *c)
{
	Value list = arg_value(c, "x");
	Op *sum = list.n ? value_op(c, "x", list.item[0]) : NULL;
	if (!list.n)
		return call_error(c, "'x' is empty");
	if (list.n == 1)
		return value_tensor(emit(c, NULL, OP_IDENTITY, NULL, 1, &sum));
	if (!nnef_step(c->n, c->loc, (int64_t)OP_STEPS * list.n))
		return NO_VALUE;
	for (int i = 1; i < list.n; i++)
		sum = emit(c, i + 1 < list.n ? "part" : NULL, OP_ADD, NULL, 2,
			   (Op *[]){ sum, value_op(c, "x", list.item[i]) });
	return value_tensor(sum);
}
