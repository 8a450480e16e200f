/*
 * Arithmetic element by element, activations, and products of matrices.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void onnx_build_unary(Node *n)
{
	n->out[0] = node_unary(n, n->kind, node_out(n, 0), n->in[0]);
}

/* Before opset 7 the second operand broadcasts only if the node says so, and
 * its dims stand at `axis` of the first's. */
static Op *old_broadcast(Node *n, Op *x, Op *y)
{
	const bool broadcast = attr_int(n, "broadcast", 0) != 0;
	int64_t axis = attr_int(n, "axis", x->shape.rank - y->shape.rank);
	Shape wide = y->shape;

	if (!broadcast && !shape_equal(x->shape, y->shape)) {
		node_error(n, "%s and %s differ, and it does not broadcast",
			   shape_text(n->r->arena, x->shape), shape_text(n->r->arena, y->shape));
		return NULL;
	}
	if (axis < 0)
		axis += x->shape.rank;
	if (axis < 0 || axis + wide.rank > x->shape.rank) {
		node_error(n, "cannot broadcast %s to %s at axis %" PRId64, shape_text(n->r->arena, wide),
			   shape_text(n->r->arena, x->shape), axis);
		return NULL;
	}
	while (axis + wide.rank < x->shape.rank)
		wide.dim[wide.rank++] = 1;
	return wide.rank == y->shape.rank ? y : node_reshape(n, node_part(n, "wide"), y, wide);
}

static Op *second_operand(Node *n)
{
	return n->opset < 7 ? old_broadcast(n, n->in[0], n->in[1]) : n->in[1];
}

void onnx_build_arith(Node *n)
{
	n->out[0] = node_binary(n, n->kind, node_out(n, 0), n->in[0], second_operand(n));
}

void onnx_build_xor(Node *n)
{
	Op *same = node_binary(n, OP_EQUAL, node_part(n, "equal"), n->in[0], second_operand(n));
	if (n->in[0]->dtype != TYPE_BOOL)
		node_error(n, "inputs must be bool, but are %s", type_info[n->in[0]->dtype].name);
	else
		n->out[0] = node_unary(n, OP_NOT, node_out(n, 0), same);
}

void onnx_build_or_equal(Node *n)
{
	Op *strict = node_binary(n, n->kind, node_part(n, "strict"), n->in[0], n->in[1]);
	Op *equal = node_binary(n, OP_EQUAL, node_part(n, "equal"), n->in[0], n->in[1]);
	n->out[0] = node_binary(n, OP_OR, node_out(n, 0), strict, equal);
}

/* A chain over all operands; the last op is called `name`. */
static Op *chain(Node *n, OpKind kind, const char *name)
{
	Op *sum = n->in[0];
	if (n->nin == 1)
		return node_unary(n, OP_IDENTITY, name, sum);
	for (int i = 1; i < n->nin; i++)
		sum = node_binary(n, kind, i + 1 < n->nin ? node_part(n, "part") : name, sum, n->in[i]);
	return sum;
}

void onnx_build_variadic(Node *n)
{
	n->out[0] = chain(n, n->kind, node_out(n, 0));
}

void onnx_build_mean(Node *n)
{
	Op *sum = chain(n, OP_ADD, node_part(n, "sum"));
	n->out[0] = node_binary(n, OP_DIV, node_out(n, 0), sum, node_scalar(n, "count", sum, n->nin));
}

/* The exponent may be of another type than the base, whose type the result
 * has. An integer base takes a fractional exponent in that one's type. */
void onnx_build_pow(Node *n)
{
	Op *x = n->in[0], *y = second_operand(n);
	if (!y)
		return;
	const DType type = x->dtype;
	const bool widen = !type_is_float(type) && type_is_float(y->dtype);
	if (widen)
		x = node_cast(n, node_part(n, "base"), x, y->dtype);
	else if (y->dtype != type)
		y = node_cast(n, node_part(n, "exponent"), y, type);
	Op *power = node_binary(n, OP_POW, widen ? node_part(n, "power") : node_out(n, 0), x, y);
	n->out[0] = widen ? node_cast(n, node_out(n, 0), power, type) : power;
}

void onnx_build_where(Node *n)
{
	n->out[0] = node_op(n, OP_WHERE, node_out(n, 0), NULL, 3, n->in);
}

void onnx_build_cast(Node *n)
{
	const int64_t to = attr_int(n, "to", 0);
	const int32_t number = to < 0 || to > INT32_MAX ? -1 : (int32_t)to;

	attr_ignore(n, "saturate"); /* about float8, which we do not have */
	attr_ignore(n, "round_mode");
	if (onnx_dtype(number) == TYPE_NONE)
		node_error(n, "cannot cast to %s", onnx_type_name(n->r->arena, number));
	else
		n->out[0] = node_cast(n, node_out(n, 0), n->in[0], onnx_dtype(number));
}

void onnx_build_cast_like(Node *n)
{
	attr_ignore(n, "saturate");
	attr_ignore(n, "round_mode");
	n->out[0] = node_cast(n, node_out(n, 0), n->in[0], n->in[1]->dtype);
}

/* --- activations */

static void with_alpha(Node *n, float alpha)
{
	Attrs a = { .alpha.alpha = attr_float(n, "alpha", alpha) };
	n->out[0] = node_op(n, n->kind, node_out(n, 0), &a, 1, n->in);
}

void onnx_build_leaky_relu(Node *n)
{
	with_alpha(n, 0.01f);
}

void onnx_build_elu(Node *n)
{
	with_alpha(n, 1);
}

void onnx_build_hard_sigmoid(Node *n)
{
	Attrs a = { .alpha_beta = { attr_float(n, "alpha", 0.2f), attr_float(n, "beta", 0.5f) } };
	n->out[0] = node_op(n, OP_HARD_SIGMOID, node_out(n, 0), &a, 1, n->in);
}

void onnx_build_selu(Node *n)
{
	const bool old = n->opset < 6;
	Attrs a = { .alpha_beta = { attr_float(n, "alpha", old ? 1.6732f : 1.67326319217681884765625f),
				    attr_float(n, "gamma", old ? 1.0507f : 1.05070102214813232421875f) } };
	n->out[0] = node_op(n, OP_SELU, node_out(n, 0), &a, 1, n->in);
}

void onnx_build_gelu(Node *n)
{
	static const char *const ways[] = { "none", "tanh" };
	const int way = attr_choice(n, "approximate", ways, 2, 0);
	if (way >= 0)
		n->out[0] = node_unary(n, way ? OP_GELU_TANH : OP_GELU, node_out(n, 0), n->in[0]);
}

void onnx_build_mish(Node *n)
{
	Op *plus = node_unary(n, OP_SOFTPLUS, node_part(n, "softplus"), n->in[0]);
	Op *tanh = node_unary(n, OP_TANH, node_part(n, "tanh"), plus);
	n->out[0] = node_binary(n, OP_MUL, node_out(n, 0), n->in[0], tanh);
}

void onnx_build_swish(Node *n)
{
	const float alpha = attr_float(n, "alpha", 1);
	if (alpha == 1) {
		n->out[0] = node_unary(n, OP_SILU, node_out(n, 0), n->in[0]);
		return;
	}
	Op *scale = node_scalar(n, "alpha", n->in[0], (double)alpha);
	Op *steep = node_binary(n, OP_MUL, node_part(n, "scaled"), n->in[0], scale);
	Op *gate = node_unary(n, OP_SIGMOID, node_part(n, "gate"), steep);
	n->out[0] = node_binary(n, OP_MUL, node_out(n, 0), n->in[0], gate);
}

/* Before opset 7 a slope of one dim is per channel, later it broadcasts as
 * everything does. */
void onnx_build_prelu(Node *n)
{
	Op *x = n->in[0], *slope = n->in[1];
	if (n->opset < 7 && slope->shape.rank == 1 && x->shape.rank >= 2) {
		Shape wide = { x->shape.rank - 1, { slope->shape.dim[0], 1, 1, 1, 1, 1, 1, 1 } };
		slope = node_reshape(n, node_part(n, "slope"), slope, wide);
	}
	n->out[0] = node_binary(n, OP_PRELU, node_out(n, 0), x, slope);
}

/* A bound that a clip op can hold: constant, one element, a float. */
static bool simple_bound(const Op *bound, float *value)
{
	const Tensor *t = bound ? op_value(bound) : NULL;
	if (!bound)
		return true;
	if (!t || tensor_count(t) != 1)
		return false;
	*value = (float)tensor_f64(t, 0);
	return (double)*value == tensor_f64(t, 0);
}

void onnx_build_clip(Node *n)
{
	Op *x = n->in[0], *low = n->nin > 1 ? n->in[1] : NULL, *high = n->nin > 2 ? n->in[2] : NULL;
	Attrs a = attrs_default(OP_CLIP);

	if (n->opset < 11) {
		a.clip.min = attr_float(n, "min", -INFINITY);
		a.clip.max = attr_float(n, "max", INFINITY);
	}
	if (!low && !high && a.clip.min == -INFINITY && a.clip.max == INFINITY) {
		n->out[0] = node_unary(n, OP_IDENTITY, node_out(n, 0), x);
	} else if (type_is_float(x->dtype) && simple_bound(low, &a.clip.min) &&
		   simple_bound(high, &a.clip.max)) {
		n->out[0] = node_op(n, OP_CLIP, node_out(n, 0), &a, 1, &x);
	} else {
		if (low)
			x = node_binary(n, OP_MAX, high ? node_part(n, "low") : node_out(n, 0), x, low);
		n->out[0] = high ? node_binary(n, OP_MIN, node_out(n, 0), x, high) : x;
	}
}

/* --- products */

static Op *flipped(Node *n, const char *what, Op *x)
{
	return node_transpose(n, node_part(n, what), x, INTS(n->r->arena, 1, 0));
}

void onnx_build_matmul(Node *n)
{
	Op *x = n->in[0], *w = n->in[1];
	if (x->shape.rank == 2 && w->shape.rank == 2 && op_value(w) && type_is_float(x->dtype))
		n->out[0] = node_binary(n, OP_LINEAR, node_out(n, 0), x, flipped(n, "weights", w));
	else
		n->out[0] = node_binary(n, OP_MATMUL, node_out(n, 0), x, w);
}

/* C of Gemm as the bias of a linear op, if it is one value per column. */
static Op *gemm_bias(Node *n, const Op *w)
{
	Op *c = n->in[2];
	const int64_t columns = w->shape.dim[0];
	if (c->shape.rank < 1 || c->shape.dim[c->shape.rank - 1] != columns ||
	    shape_count(c->shape) != columns)
		return NULL;
	return c->shape.rank == 1 ? c : node_reshape(n, node_part(n, "bias"), c, SHAPE(columns));
}

static Op *scaled(Node *n, const char *name, Op *x, float by)
{
	return by == 1 || !x ? x : node_binary(n, OP_MUL, name, x, node_scalar(n, "factor", x, (double)by));
}

/* alpha * A B + beta * C */
void onnx_build_gemm(Node *n)
{
	Op *x = n->in[0], *w = n->in[1], *bias = NULL;
	const float alpha = attr_float(n, "alpha", 1), beta = attr_float(n, "beta", 1);
	const bool add = node_has(n, 2) && beta != 0;

	attr_ignore(n, "broadcast"); /* before opset 7; C always fits then */
	if (x->shape.rank != 2 || w->shape.rank != 2) {
		node_error(n, "A and B must be matrices, but are %s and %s",
			   shape_text(n->r->arena, x->shape), shape_text(n->r->arena, w->shape));
		return;
	}
	if (attr_int(n, "transA", 0))
		x = flipped(n, "a", x);
	if (!attr_int(n, "transB", 0))
		w = flipped(n, "b", w);
	if (!w)
		return;
	const bool early = op_value(w) != NULL; /* alpha folds into the weights */
	if (early)
		w = scaled(n, node_part(n, "weights"), w, alpha);
	const bool late = !early && alpha != 1;
	if (add && !late && w)
		bias = scaled(n, node_part(n, "scaled_bias"), gemm_bias(n, w), beta);
	const bool more = add && !bias;
	Op *product = node_op(n, OP_LINEAR, more || late ? node_part(n, "product") : node_out(n, 0), NULL,
			      bias ? 3 : 2, (Op *[]){ x, w, bias });
	if (late)
		product = scaled(n, more ? node_part(n, "scaled") : node_out(n, 0), product, alpha);
	if (more)
		product = node_binary(n, OP_ADD, node_out(n, 0), product,
				      scaled(n, node_part(n, "c"), n->in[2], beta));
	n->out[0] = product;
}
