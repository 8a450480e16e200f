/*
 * Activations that exporters spell out, as the one op they are:
 *
 *     x * sigmoid(x), x / (1 + exp -x)                silu
 *     x * hard_sigmoid(x, 1/6, 1/2)                   hard_swish
 *     clip(x + a, 0, b) / b                           hard_sigmoid(x, 1/b, a/b)
 *     x * clip(x + 3, 0, 6) / 6                       hard_swish
 *     x / 2 * (1 + erf(x / sqrt 2))                   gelu
 *     x / 2 * (1 + tanh(sqrt(2/pi) * (x + k x^3)))    gelu_tanh
 *     log(1 + exp x)                                  softplus
 *     x / (1 + abs x)                                 softsign
 *     1 / (1 + exp -x)                                sigmoid
 *
 * Products are seen as sets of factors, so their order does not matter, and
 * the constants in them as one number. What is matched goes when nothing
 * else reads it; the new op keeps the name of the last.
 *
 * Not done where a constant is off by more than 1 in 10^3 (those of gelu's
 * tanh, which are rounded differently everywhere) or 10^6 (all others).
 */
#include "passes/canon.h"

#include <math.h>

#include "passes/rewrite.h"

enum { MOST_FACTORS = 6 };

/* A product of ops and a number. */
typedef struct Factors {
	double number;
	int n;
	Op *op[MOST_FACTORS];
} Factors;

static bool near(double a, double b, double part)
{
	return fabs(a - b) <= part * fabs(b);
}

/* One element, as a number, of a constant that does not change x's shape. */
static bool number(Graph *g, const Op *c, const Op *op, double *v)
{
	return c->shape.rank <= op->shape.rank && shape_count(c->shape) == 1
		&& rewrite_scalar(g, c, v);
}

static bool collect(Graph *g, Op *op, Factors *f, int depth)
{
	double v;
	if (op->kind != OP_MUL || op_has_act(op) || depth == MOST_FACTORS)
		return false;
	for (int i = 0; i < 2; i++) {
		Op *in = op_in(op, i);
		const Factors before = *f;
		if (number(g, in, op, &v)) {
			f->number *= v;
			continue;
		}
		if (!shape_equal(in->shape, op->shape))
			return false;
		if (op_has_one_use(in) && collect(g, in, f, depth + 1))
			continue;
		*f = before;
		if (f->n == MOST_FACTORS)
			return false;
		f->op[f->n++] = in;
	}
	return true;
}

/* The factors of `op`, which has at least two. */
static bool factors_of(Graph *g, Op *op, Factors *f)
{
	*f = (Factors){ .number = 1 };
	return collect(g, op, f, 0);
}

/* x if `op` is x + v. */
static Op *plus(Graph *g, const Op *op, double *v)
{
	if (op->kind != OP_ADD || op_has_act(op) || !number(g, op_in(op, 1), op, v)
	    || !shape_equal(op->shape, op_in(op, 0)->shape))
		return NULL;
	return op_in(op, 0);
}

/* x if `op` is x * v, or `op` with v = 1. */
static Op *times(Graph *g, Op *op, double *v)
{
	Factors f;
	if (factors_of(g, op, &f) && f.n == 1) {
		*v = f.number;
		return f.op[0];
	}
	*v = 1;
	return op;
}

static bool become(Graph *g, Op *op, OpKind kind, Op *x, Attrs attr)
{
	Op *old[2] = { op_in(op, 0), op_in(op, op->nin - 1) };
	rewrite_become(op, kind, attr);
	op_set_input(op, 0, x);
	op_drop_inputs(op, 1);
	rewrite_take_in(g, op, old[0]);
	if (graph_find(g, old[1]->name) == old[1]) /* not gone with old[0] */
		rewrite_take_in(g, op, old[1]);
	rewrite_infer(g, op);
	return true;
}

static bool is_hard_sigmoid(const Op *op, double alpha, double beta)
{
	return op->kind == OP_HARD_SIGMOID
		&& near((double)op->attr.alpha_beta.alpha, alpha, 1e-6)
		&& near((double)op->attr.alpha_beta.beta, beta, 1e-6);
}

/* x and a if `op` is clip(x + a, 0, b). */
static Op *clipped_plus(Graph *g, const Op *op, double *a, double *b)
{
	*a = *b = 0;
	if (op->kind != OP_CLIP || op->attr.clip.min != 0 || !isfinite(op->attr.clip.max))
		return NULL;
	*b = (double)op->attr.clip.max;
	return *b > 0 ? plus(g, op_in(op, 0), a) : NULL;
}

/* The argument of erf or tanh in 1 + f(...). */
static Op *one_plus(Graph *g, const Op *op, OpKind f)
{
	double one;
	const Op *in = plus(g, op, &one);
	return in && one == 1 && in->kind == f ? op_in(in, 0) : NULL;
}

/* True if `op` is v * x^n by mul or pow. */
static bool is_power(Graph *g, Op *op, const Op *x, int n, double v, double part)
{
	Factors f;
	double scale, exponent;
	int found = 0;
	const Op *inner = times(g, op, &scale);
	if (inner->kind == OP_POW && op_in(inner, 0) == x)
		return number(g, op_in(inner, 1), inner, &exponent) && exponent == n
			&& near(scale, v, part);
	if (!factors_of(g, op, &f) || !near(f.number, v, part))
		return false;
	for (int i = 0; i < f.n; i++) {
		const Op *in = f.op[i];
		if (in == x)
			found++;
		else if (in->kind == OP_POW && op_in(in, 0) == x
			 && number(g, op_in(in, 1), in, &exponent))
			found += (int)exponent;
		else if (in->kind == OP_MUL && op_in(in, 0) == x && op_in(in, 1) == x)
			found += 2;
		else
			return false;
	}
	return found == n;
}

/* sqrt(2/pi) * (x + k x^3), or sqrt(2/pi) * x * (1 + k x^2) */
static bool is_gelu_argument(Graph *g, Op *op, const Op *x)
{
	const double k = 0.044715, root = 0.7978845608;
	Factors f;
	double one;
	if (!factors_of(g, op, &f) || !near(f.number, root, 1e-3))
		return false;
	const Op *sum = f.n == 1 && f.op[0]->kind == OP_ADD ? f.op[0] : NULL;
	for (int i = 0; i < 2 && sum; i++)
		if (op_in(sum, i) == x && is_power(g, op_in(sum, !i), x, 3, k, 1e-3))
			return true;
	for (int i = 0; i < 2 && f.n == 2; i++) {
		Op *square = plus(g, f.op[i], &one);
		if (f.op[!i] == x && square && one == 1 && is_power(g, square, x, 2, k, 1e-3))
			return true;
	}
	return false;
}

/* What the product of x, `other` and a number is. */
static bool match_pair(Graph *g, Op *op, Op *x, Op *other, double v)
{
	double a, b;
	Op *in;
	if (v == 1 && other->kind == OP_SIGMOID && op_in(other, 0) == x)
		return become(g, op, OP_SILU, x, attrs_default(OP_SILU));
	if (v == 1 && is_hard_sigmoid(other, 1.0 / 6, 0.5) && op_in(other, 0) == x)
		return become(g, op, OP_HARD_SWISH, x, attrs_default(OP_HARD_SWISH));
	in = clipped_plus(g, other, &a, &b);
	if (in == x && a == 3 && b == 6 && near(v, 1.0 / 6, 1e-6))
		return become(g, op, OP_HARD_SWISH, x, attrs_default(OP_HARD_SWISH));
	in = near(v, 0.5, 1e-6) ? one_plus(g, other, OP_ERF) : NULL;
	if (in && times(g, in, &a) == x && near(a, 0.7071067811865476, 1e-6))
		return become(g, op, OP_GELU, x, attrs_default(OP_GELU));
	in = near(v, 0.5, 1e-6) ? one_plus(g, other, OP_TANH) : NULL;
	if (in && is_gelu_argument(g, in, x))
		return become(g, op, OP_GELU_TANH, x, attrs_default(OP_GELU_TANH));
	return false;
}

static bool match_product(Graph *g, Op *op)
{
	Factors f;
	double a, b;
	if (!factors_of(g, op, &f))
		return false;
	for (int i = 0; i < 2 && f.n == 2; i++)
		if (match_pair(g, op, f.op[i], f.op[!i], f.number))
			return true;
	Op *x = f.n == 1 ? clipped_plus(g, f.op[0], &a, &b) : NULL;
	if (!x || !near(f.number * b, 1, 1e-6))
		return false;
	return become(g, op, OP_HARD_SIGMOID, x, (Attrs){ .alpha_beta = {
		.alpha = (float)(1 / b), .beta = (float)(a / b) } });
}

static bool match_log(Graph *g, Op *op)
{
	double one;
	Op *exp = plus(g, op_in(op, 0), &one);
	if (!exp || one != 1 || exp->kind != OP_EXP)
		return false;
	return become(g, op, OP_SOFTPLUS, op_in(exp, 0), attrs_default(OP_SOFTPLUS));
}

/* x or -1 * x behind a neg. */
static Op *negated(Graph *g, Op *op)
{
	double v;
	if (op->kind == OP_NEG)
		return op_in(op, 0);
	Op *x = times(g, op, &v);
	return x != op && v == -1 ? x : NULL;
}

static bool match_quotient(Graph *g, Op *op, Op *below)
{
	double one, v;
	Op *in = plus(g, below, &one);
	if (!in || one != 1)
		return false;
	if (op->kind == OP_DIV && in->kind == OP_ABS && op_in(in, 0) == op_in(op, 0))
		return become(g, op, OP_SOFTSIGN, op_in(op, 0), attrs_default(OP_SOFTSIGN));
	Op *x = in->kind == OP_EXP && shape_equal(in->shape, op->shape)
		? negated(g, op_in(in, 0)) : NULL;
	if (x && op->kind == OP_DIV && x == op_in(op, 0))
		return become(g, op, OP_SILU, x, attrs_default(OP_SILU));
	if (!x || (op->kind == OP_DIV && (!rewrite_scalar(g, op_in(op, 0), &v) || v != 1)))
		return false;
	return become(g, op, OP_SIGMOID, x, attrs_default(OP_SIGMOID));
}

bool canon_acts(Graph *g, Op *op)
{
	if (!type_is_float(op->dtype) || op_has_act(op))
		return false;
	switch (op->kind) {
	case OP_MUL:
		return match_product(g, op);
	case OP_LOG:
		return match_log(g, op);
	case OP_DIV:
		return match_quotient(g, op, op_in(op, 1));
	case OP_RECIPROCAL:
		return match_quotient(g, op, op_in(op, 0));
	default:
		return false;
	}
}
