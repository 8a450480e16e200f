#include "passes/product.h"

#include <math.h>

#include "passes/rewrite.h"

bool op_is_product(const Op *op)
{
	return op->kind == OP_CONV || op->kind == OP_CONV_TRANSPOSE || op->kind == OP_LINEAR;
}

int64_t product_inputs(const Op *op)
{
	return op_in(op, 0)->shape.dim[1];
}

int64_t product_outputs(const Op *op)
{
	return op->shape.dim[1];
}

int64_t product_groups(const Op *op)
{
	return op->kind == OP_LINEAR ? 1 : op->attr.conv.groups;
}

bool product_is_depthwise(const Op *op)
{
	return product_groups(op) > 1 && product_groups(op) == product_inputs(op);
}

bool product_is_known(Graph *g, const Op *op)
{
	for (int i = 1; i < op->nin; i++)
		if (!rewrite_value(g, op_in(op, i)))
			return false;
	return shape_count(op_in(op, 1)->shape) > 0;
}

int64_t product_taps(const Op *op)
{
	const Shape w = op_in(op, 1)->shape;
	int64_t taps = 1;
	for (int i = 2; i < w.rank; i++)
		taps *= w.dim[i];
	return taps;
}

int64_t product_row_input(const Op *op, int64_t row)
{
	const int64_t second = op_in(op, 1)->shape.dim[1];
	if (op->kind == OP_CONV_TRANSPOSE)
		return row / second;
	const int64_t per_group = product_outputs(op) / product_groups(op);
	return row / second / per_group * second + row % second;
}

int64_t product_row_output(const Op *op, int64_t row)
{
	const int64_t second = op_in(op, 1)->shape.dim[1];
	if (op->kind != OP_CONV_TRANSPOSE)
		return row / second;
	const int64_t per_group = product_inputs(op) / product_groups(op);
	return row / second / per_group * second + row % second;
}

static void scale_run(Tensor *t, int64_t from, int64_t n, double scale)
{
	if (scale == 1)
		return;
	if (t->dtype == TYPE_F32) {
		float *p = tensor_f32_data(t) + from;
		for (int64_t i = 0; i < n; i++)
			p[i] = (float)(p[i] * scale);
	} else {
		for (int64_t i = from; i < from + n; i++)
			tensor_set_f64(t, i, tensor_f64(t, i) * scale);
	}
}

static Tensor *own_weights(Graph *g, Op *op)
{
	return rewrite_writable(g, op, 1, arena_printf(g->arena, "%s.weights", op->name));
}

static void set_bias(Graph *g, Op *op, const double *v)
{
	const int64_t n = product_outputs(op);
	const char *name = arena_printf(g->arena, "%s.bias", op->name);
	Tensor *t = tensor_create(g->arena, op_in(op, 1)->dtype, SHAPE(n));
	for (int64_t i = 0; i < n; i++)
		tensor_set_f64(t, i, v[i]);
	if (op->nin > 2)
		rewrite_constant(g, op, 2, name, t);
	else
		op_add_input(g, op, graph_constant(g, op, name, t));
}

/* The bias in double, or zeros. */
static double *bias_of(Graph *g, const Op *op)
{
	const int64_t n = product_outputs(op);
	double *v = arena_array(g->arena, double, n);
	const Tensor *t = op->nin > 2 ? op_value(op_in(op, 2)) : NULL;
	for (int64_t i = 0; t && i < n; i++)
		v[i] = tensor_f64(t, i);
	return v;
}

void product_add_bias(Graph *g, Op *op, const double *shift)
{
	double *bias = bias_of(g, op);
	for (int64_t i = 0, n = product_outputs(op); i < n; i++)
		bias[i] += shift[i];
	set_bias(g, op, bias);
}

void product_scale_outputs(Graph *g, Op *op, const Affine *a)
{
	if (a->scales) {
		Tensor *w = own_weights(g, op);
		const int64_t taps = product_taps(op), rows = tensor_count(w) / taps;
		for (int64_t r = 0; r < rows; r++)
			scale_run(w, r * taps, taps, a->scale[product_row_output(op, r)]);
	}
	if (op->nin <= 2 && !a->shifts)
		return;
	double *bias = bias_of(g, op);
	for (int64_t i = 0, n = product_outputs(op); i < n; i++)
		bias[i] = bias[i] * a->scale[i] + a->shift[i];
	set_bias(g, op, bias);
}

bool product_takes_inputs(const Op *op, const Affine *a)
{
	if (!a->shifts || op->kind == OP_LINEAR)
		return true;
	return op->kind == OP_CONV && ints_all(op->attr.conv.pads, 0);
}

static double sum_run(const Tensor *t, int64_t from, int64_t n)
{
	double sum = 0;
	for (int64_t i = from; i < from + n; i++)
		sum += tensor_f64(t, i);
	return sum;
}

void product_scale_inputs(Graph *g, Op *op, const Affine *a)
{
	const int64_t taps = product_taps(op);
	const Tensor *old = op_value(op_in(op, 1));
	const int64_t rows = tensor_count(old) / taps;
	if (a->shifts) {
		double *bias = bias_of(g, op);
		for (int64_t r = 0; r < rows; r++)
			bias[product_row_output(op, r)] +=
				sum_run(old, r * taps, taps) * a->shift[product_row_input(op, r)];
		set_bias(g, op, bias);
	}
	if (!a->scales)
		return;
	Tensor *w = own_weights(g, op);
	for (int64_t r = 0; r < rows; r++)
		scale_run(w, r * taps, taps, a->scale[product_row_input(op, r)]);
}

bool channel_values(Graph *g, const Op *c, Shape shape, double **v)
{
	enum { MOST = 1 << 20 };
	if (c->kind != OP_CONSTANT || shape.rank < 2 || c->shape.rank > shape.rank)
		return false;
	if (shape.dim[1] > MOST || shape_count(shape) < 1)
		return false;
	const int lead = shape.rank - c->shape.rank;
	for (int i = 0; i < c->shape.rank; i++)
		if (c->shape.dim[i] != 1 && i + lead != 1)
			return false;
	const Tensor *t = rewrite_value(g, c);
	if (!t)
		return false;
	const int64_t n = shape.dim[1], step = tensor_count(t) == n;
	*v = arena_array(g->arena, double, n);
	for (int64_t i = 0; i < n; i++)
		(*v)[i] = tensor_f64(t, i * step);
	return true;
}

Tensor *channel_tensor(Graph *g, DType dtype, int rank, const double *v, int64_t n)
{
	Shape shape = { .rank = rank };
	for (int i = 0; i < rank; i++)
		shape.dim[i] = i == 1 ? n : 1;
	Tensor *t = tensor_create(g->arena, dtype, shape);
	for (int64_t i = 0; i < n; i++)
		tensor_set_f64(t, i, v[i]);
	return t;
}

static Affine affine_new(Graph *g, int64_t n)
{
	Affine a = { .n = n, .scale = arena_array(g->arena, double, n),
		     .shift = arena_array(g->arena, double, n) };
	for (int64_t i = 0; i < n; i++)
		a.scale[i] = 1;
	return a;
}

static bool affine_of_norm(Graph *g, const Op *op, Affine *a)
{
	Tensor *p[5];
	for (int i = 1; i < 5; i++)
		if (!(p[i] = rewrite_value(g, op_in(op, i))))
			return false;
	*a = affine_new(g, op->shape.dim[1]);
	for (int64_t c = 0; c < a->n; c++) {
		a->scale[c] = tensor_f64(p[1], c)
			/ sqrt(tensor_f64(p[4], c) + (double)op->attr.norm.epsilon);
		a->shift[c] = tensor_f64(p[2], c) - tensor_f64(p[3], c) * a->scale[c];
	}
	return true;
}

static bool affine_of_arith(Graph *g, const Op *op, Op **data, Affine *a)
{
	const int which = op_in(op, 1)->kind == OP_CONSTANT; /* the constant operand */
	double *v;
	*data = op_in(op, !which);
	if (!shape_equal((*data)->shape, op->shape))
		return false;
	if (!channel_values(g, op_in(op, which), op->shape, &v))
		return false;
	if (op->kind == OP_DIV && which == 0)
		return false;
	*a = affine_new(g, op->shape.dim[1]);
	for (int64_t c = 0; c < a->n; c++) {
		if (op->kind == OP_MUL)
			a->scale[c] = v[c];
		else if (op->kind == OP_DIV)
			a->scale[c] = 1 / v[c];
		else
			a->shift[c] = op->kind == OP_SUB && which == 1 ? -v[c] : v[c];
		if (op->kind == OP_SUB && which == 0)
			a->scale[c] = -1;
	}
	return true;
}

bool affine_of(Graph *g, const Op *op, Op **data, Affine *a)
{
	if (op->shape.rank < 2 || !type_is_float(op->dtype))
		return false;
	switch (op->kind) {
	case OP_BATCH_NORM:
		*data = op_in(op, 0);
		if (!affine_of_norm(g, op, a))
			return false;
		break;
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
		if (!affine_of_arith(g, op, data, a))
			return false;
		break;
	default:
		return false;
	}
	for (int64_t c = 0; c < a->n; c++) {
		a->scales |= a->scale[c] != 1;
		a->shifts |= a->shift[c] != 0;
	}
	return true;
}
