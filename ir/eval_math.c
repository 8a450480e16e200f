/* The arithmetic of every element-wise op on one element. */
#include "ir/eval_parts.h"

#include <math.h>

static double relu(double x, const Attrs *attr)
{
	(void)attr;
	return x < 0 ? 0 : x;
}

static double leaky_relu(double x, const Attrs *attr)
{
	return x < 0 ? x * (double)attr->alpha.alpha : x;
}

static double clip(double x, const Attrs *attr)
{
	double least = (double)attr->clip.min, most = (double)attr->clip.max;
	x = x < least ? least : x;
	return x > most ? most : x;
}

static double logistic(double x)
{
	return 1 / (1 + exp(-x));
}

static double sigmoid(double x, const Attrs *attr)
{
	(void)attr;
	return logistic(x);
}

static double silu(double x, const Attrs *attr)
{
	(void)attr;
	return x * logistic(x);
}

static double between_0_and_1(double x)
{
	x = x < 0 ? 0 : x;
	return x > 1 ? 1 : x;
}

static double hard_swish(double x, const Attrs *attr)
{
	(void)attr;
	return x * between_0_and_1(x / 6 + 0.5);
}

static double hard_sigmoid(double x, const Attrs *attr)
{
	return between_0_and_1((double)attr->alpha_beta.alpha * x + (double)attr->alpha_beta.beta);
}

static double gelu(double x, const Attrs *attr)
{
	(void)attr;
	return 0.5 * x * (1 + erf(x * 0.70710678118654752440)); /* 1/sqrt(2) */
}

static double gelu_tanh(double x, const Attrs *attr)
{
	(void)attr;
	/* sqrt(2/pi) */
	return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static double elu(double x, const Attrs *attr)
{
	return x < 0 ? (double)attr->alpha.alpha * expm1(x) : x;
}

static double selu(double x, const Attrs *attr)
{
	double inside = x < 0 ? (double)attr->alpha_beta.alpha * expm1(x) : x;
	return (double)attr->alpha_beta.beta * inside;
}

static double softplus(double x, const Attrs *attr)
{
	(void)attr;
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double softsign(double x, const Attrs *attr)
{
	(void)attr;
	return x / (1 + fabs(x));
}

static double reciprocal(double x, const Attrs *attr)
{
	(void)attr;
	return 1 / x;
}

static double negate(double x, const Attrs *attr)
{
	(void)attr;
	return -x;
}

static double sign(double x, const Attrs *attr)
{
	(void)attr;
	return x > 0 ? 1 : x < 0 ? -1 : x;
}

/* Functions of the C library, which want no attributes. rint rounds half to
 * even. */
#define PLAIN(name) \
	static double plain_##name(double x, const Attrs *attr) \
	{ \
		(void)attr; \
		return name(x); \
	}
PLAIN(tanh)
PLAIN(exp)
PLAIN(log)
PLAIN(sqrt)
PLAIN(erf)
PLAIN(floor)
PLAIN(ceil)
PLAIN(rint)
PLAIN(fabs)

Unary eval_unary(OpKind kind)
{
	static const Unary table[OP_COUNT] = {
		[OP_RELU] = relu,
		[OP_LEAKY_RELU] = leaky_relu,
		[OP_CLIP] = clip,
		[OP_SIGMOID] = sigmoid,
		[OP_TANH] = plain_tanh,
		[OP_SILU] = silu,
		[OP_HARD_SWISH] = hard_swish,
		[OP_HARD_SIGMOID] = hard_sigmoid,
		[OP_GELU] = gelu,
		[OP_GELU_TANH] = gelu_tanh,
		[OP_ELU] = elu,
		[OP_SELU] = selu,
		[OP_SOFTPLUS] = softplus,
		[OP_SOFTSIGN] = softsign,
		[OP_EXP] = plain_exp,
		[OP_LOG] = plain_log,
		[OP_SQRT] = plain_sqrt,
		[OP_ERF] = plain_erf,
		[OP_RECIPROCAL] = reciprocal,
		[OP_FLOOR] = plain_floor,
		[OP_CEIL] = plain_ceil,
		[OP_ROUND] = plain_rint,
		[OP_NEG] = negate,
		[OP_ABS] = plain_fabs,
		[OP_SIGN] = sign,
	};
	return table[kind];
}

static double add(double x, double y) { return x + y; }
static double sub(double x, double y) { return x - y; }
static double mul(double x, double y) { return x * y; }
static double divide(double x, double y) { return x / y; }
static double equal(double x, double y) { return x == y; }
static double less(double x, double y) { return x < y; }
static double greater(double x, double y) { return x > y; }
static double prelu(double x, double y) { return x < 0 ? x * y : x; }

/* Not a number wins, as in numpy. */
static double min(double x, double y) { return x < y || isnan(x) ? x : y; }
static double max(double x, double y) { return x > y || isnan(x) ? x : y; }

Binary eval_binary(OpKind kind)
{
	static const Binary table[OP_COUNT] = {
		[OP_ADD] = add,
		[OP_SUB] = sub,
		[OP_MUL] = mul,
		[OP_DIV] = divide,
		[OP_POW] = pow,
		[OP_MIN] = min,
		[OP_MAX] = max,
		[OP_EQUAL] = equal,
		[OP_LESS] = less,
		[OP_GREATER] = greater,
		[OP_PRELU] = prelu,
	};
	return table[kind];
}

/* Integers wrap, which is defined for unsigned arithmetic alone. */
static int64_t int_add(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
static int64_t int_sub(int64_t x, int64_t y) { return (int64_t)((uint64_t)x - (uint64_t)y); }
static int64_t int_mul(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }
static int64_t int_neg(int64_t x) { return int_sub(0, x); }
static int64_t int_abs(int64_t x) { return x < 0 ? int_neg(x) : x; }
static int64_t int_relu(int64_t x) { return x < 0 ? 0 : x; }
static int64_t int_sign(int64_t x) { return (x > 0) - (x < 0); }
static int64_t int_not(int64_t x) { return !x; }
static int64_t int_div(int64_t x, int64_t y) { return y == -1 ? int_neg(x) : x / y; }
static int64_t int_min(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t int_max(int64_t x, int64_t y) { return x > y ? x : y; }
static int64_t int_equal(int64_t x, int64_t y) { return x == y; }
static int64_t int_less(int64_t x, int64_t y) { return x < y; }
static int64_t int_greater(int64_t x, int64_t y) { return x > y; }
static int64_t int_and(int64_t x, int64_t y) { return x && y; }
static int64_t int_or(int64_t x, int64_t y) { return x || y; }
static int64_t int_prelu(int64_t x, int64_t y) { return x < 0 ? int_mul(x, y) : x; }

static int64_t u64_same(int64_t x) { return x; }
static int64_t u64_sign(int64_t x) { return x != 0; }
static int64_t u64_first(int64_t x, int64_t y) { return (void)y, x; }
static int64_t u64_div(int64_t x, int64_t y) { return (int64_t)((uint64_t)x / (uint64_t)y); }
static int64_t u64_min(int64_t x, int64_t y) { return (uint64_t)x < (uint64_t)y ? x : y; }
static int64_t u64_max(int64_t x, int64_t y) { return (uint64_t)x > (uint64_t)y ? x : y; }
static int64_t u64_less(int64_t x, int64_t y) { return (uint64_t)x < (uint64_t)y; }
static int64_t u64_greater(int64_t x, int64_t y) { return (uint64_t)x > (uint64_t)y; }

static int64_t u64_pow(int64_t x, int64_t y)
{
	int64_t power = 1;
	for (uint64_t left = (uint64_t)y; left; left >>= 1) {
		if (left & 1)
			power = int_mul(power, x);
		x = int_mul(x, x);
	}
	return power;
}

/* 1/x towards zero, if the exponent is negative. */
static int64_t int_pow(int64_t x, int64_t y)
{
	if (y >= 0 || x == 1)
		return u64_pow(x, y);
	return x == -1 ? (y & 1 ? -1 : 1) : 0;
}

IntUnary eval_int_unary(OpKind kind, DType type)
{
	static const IntUnary table[OP_COUNT] = {
		[OP_RELU] = int_relu,
		[OP_NEG] = int_neg,
		[OP_ABS] = int_abs,
		[OP_SIGN] = int_sign,
		[OP_NOT] = int_not,
	};
	static const IntUnary u64_table[OP_COUNT] = {
		[OP_RELU] = u64_same,
		[OP_ABS] = u64_same,
		[OP_SIGN] = u64_sign,
	};
	return type == TYPE_U64 && u64_table[kind] ? u64_table[kind] : table[kind];
}

IntBinary eval_int_binary(OpKind kind, DType type)
{
	static const IntBinary table[OP_COUNT] = {
		[OP_ADD] = int_add,
		[OP_SUB] = int_sub,
		[OP_MUL] = int_mul,
		[OP_DIV] = int_div,
		[OP_POW] = int_pow,
		[OP_MIN] = int_min,
		[OP_MAX] = int_max,
		[OP_EQUAL] = int_equal,
		[OP_LESS] = int_less,
		[OP_GREATER] = int_greater,
		[OP_AND] = int_and,
		[OP_OR] = int_or,
		[OP_PRELU] = int_prelu,
	};
	static const IntBinary u64_table[OP_COUNT] = {
		[OP_DIV] = u64_div,
		[OP_POW] = u64_pow,
		[OP_MIN] = u64_min,
		[OP_MAX] = u64_max,
		[OP_LESS] = u64_less,
		[OP_GREATER] = u64_greater,
		[OP_PRELU] = u64_first,
	};
	return type == TYPE_U64 && u64_table[kind] ? u64_table[kind] : table[kind];
}
