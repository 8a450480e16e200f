/*
 * Constants by hand, and what ops make of them.
 *
 *     Op *x = TENSOR(t, TYPE_F32, SHAPE(2), 1, -2);
 *     GIVES(t, build_op(t, OP_RELU, x), 1, 0);
 */
#ifndef TESTS_CONSTANTS_H
#define TESTS_CONSTANTS_H

#include <math.h>

#include "ir/eval.h"
#include "tests/build.h"

/* A tensor with these elements. */
#define TENSOR(t, type, shape, ...) \
	const_filled(t, type, shape, (double[]){ __VA_ARGS__ }, \
		     sizeof((double[]){ __VA_ARGS__ }) / sizeof(double))
static inline Op *const_filled(Fixture *t, DType type, Shape shape, const double v[], size_t n)
{
	Tensor *x = tensor_create(t->arena, type, shape);
	assert_int_equal(tensor_count(x), n);
	for (size_t i = 0; i < n; i++)
		tensor_set_f64(x, (int64_t)i, v[i]);
	return graph_constant(t->g, NULL, "c", x);
}

static inline Op *const_splat(Fixture *t, DType type, Shape shape, double v)
{
	return graph_constant(t->g, NULL, "c", tensor_splat(t->arena, type, shape, v, (int64_t)v));
}

/* The value of an op whose inputs are constants. */
static inline Tensor *const_eval(Fixture *t, Op *op)
{
	Tensor *in[8];
	if (!op_infer(t->g, op))
		fail_msg("%s", fixture_said(t));
	for (int i = 0; i < op->nin; i++)
		in[i] = op_value(op_in(op, i));
	assert_true(op_can_eval(op->kind));
	Tensor *r = op_eval(t->arena, op, in);
	if (r) {
		assert_int_equal(r->dtype, op->dtype);
		assert_true(shape_equal(r->shape, op->shape));
	}
	return r;
}

/* The op has these elements, each within 1e-6 of its size. */
#define GIVES(t, op, ...) \
	const_gives(t, op, (double[]){ __VA_ARGS__ }, \
		    sizeof((double[]){ __VA_ARGS__ }) / sizeof(double))
static inline void const_gives(Fixture *t, Op *op, const double want[], size_t n)
{
	Tensor *r = const_eval(t, op);
	assert_non_null(r);
	assert_int_equal(tensor_count(r), n);
	for (size_t i = 0; i < n; i++) {
		double got = tensor_f64(r, (int64_t)i);
		if (!(got == want[i] || fabs(got - want[i]) <= 1e-6 * fabs(want[i]) ||
		      (isnan(got) && isnan(want[i]))))
			fail_msg("%s: element %zu is %.9g, wants %.9g", op_info[op->kind].name, i, got,
				 want[i]);
	}
}

#endif
