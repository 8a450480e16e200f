/* What ops yield on constants: arithmetic and reductions. */
#include <math.h>

#include "tests/constants.h"

static Op *unary(Fixture *t, OpKind kind)
{
	return build_op(t, kind, TENSOR(t, TYPE_F32, SHAPE(5), -2, -0.5, 0, 0.5, 4));
}

static void activations_follow_their_formulas(void **state)
{
	Fixture *t = *state;
	GIVES(t, unary(t, OP_RELU), 0, 0, 0, 0.5, 4);
	GIVES(t, unary(t, OP_SIGMOID), 0.119202922, 0.377540669, 0.5, 0.622459331, 0.98201379);
	GIVES(t, unary(t, OP_TANH), -0.96402758, -0.462117157, 0, 0.462117157, 0.999329300);
	GIVES(t, unary(t, OP_SILU), -0.238405844, -0.188770334, 0, 0.311229666, 3.92805516);
	GIVES(t, unary(t, OP_HARD_SWISH), -2.0 / 6, -0.5 * (0.5 - 0.5 / 6), 0,
	      0.5 * (0.5 + 0.5 / 6), 4);
	GIVES(t, unary(t, OP_GELU), -0.0455002639, -0.154268769, 0, 0.345731231, 3.99987331);
	GIVES(t, unary(t, OP_GELU_TANH), -0.0454023059, -0.154285990, 0, 0.34571401, 3.99992975);
	GIVES(t, unary(t, OP_SOFTPLUS), 0.126928011, 0.474076984, 0.693147181, 0.974076984,
	      4.01814993);
	GIVES(t, unary(t, OP_SOFTSIGN), -2.0 / 3, -1.0 / 3, 0, 1.0 / 3, 0.8);
	Op *op = unary(t, OP_LEAKY_RELU);
	op->attr.alpha.alpha = 0.25f;
	GIVES(t, op, -0.5, -0.125, 0, 0.5, 4);
	op = unary(t, OP_CLIP);
	op->attr.clip.min = -1;
	GIVES(t, op, -1, -0.5, 0, 0.5, 4);
	op->attr.clip.max = -2;
	GIVES(t, op, -2, -2, -2, -2, -2);
	op = unary(t, OP_ELU);
	op->attr.alpha.alpha = 2;
	GIVES(t, op, -1.72932943, -0.786938681, 0, 0.5, 4);
	op = unary(t, OP_SELU);
	op->attr.alpha_beta.alpha = 2;
	op->attr.alpha_beta.beta = 3;
	GIVES(t, op, -5.18798830, -2.36081604, 0, 1.5, 12);
	op = unary(t, OP_HARD_SIGMOID);
	op->attr.alpha_beta.alpha = 0.5f;
	op->attr.alpha_beta.beta = 0.75f;
	GIVES(t, op, 0, 0.5, 0.75, 1, 1);
}

static void unary_ops_follow_their_formulas(void **state)
{
	Fixture *t = *state;
	GIVES(t, unary(t, OP_EXP), 0.135335283, 0.60653066, 1, 1.64872127, 54.59815);
	GIVES(t, unary(t, OP_LOG), NAN, NAN, -INFINITY, -0.693147181, 1.38629436);
	GIVES(t, unary(t, OP_SQRT), NAN, NAN, 0, 0.707106781, 2);
	GIVES(t, unary(t, OP_ERF), -0.995322265, -0.520499878, 0, 0.520499878, 0.999999985);
	GIVES(t, unary(t, OP_RECIPROCAL), -0.5, -2, INFINITY, 2, 0.25);
	GIVES(t, unary(t, OP_FLOOR), -2, -1, 0, 0, 4);
	GIVES(t, unary(t, OP_CEIL), -2, 0, 0, 1, 4);
	GIVES(t, unary(t, OP_NEG), 2, 0.5, 0, -0.5, -4);
	GIVES(t, unary(t, OP_ABS), 2, 0.5, 0, 0.5, 4);
	GIVES(t, unary(t, OP_SIGN), -1, -1, 0, 1, 1);
	GIVES(t, build_op(t, OP_ROUND, TENSOR(t, TYPE_F32, SHAPE(4), 0.5, 1.5, -2.5, 2.6)),
	      0, 2, -2, 3);
	GIVES(t, build_op(t, OP_NOT, TENSOR(t, TYPE_BOOL, SHAPE(2), 0, 1)), 1, 0);
	GIVES(t, build_op(t, OP_RELU, TENSOR(t, TYPE_I8, SHAPE(2), -3, 3)), 0, 3);
	GIVES(t, build_op(t, OP_NEG, TENSOR(t, TYPE_I8, SHAPE(2), -128, 3)), -128, -3);
	GIVES(t, build_op(t, OP_SIGN, TENSOR(t, TYPE_I64, SHAPE(3), -9, 0, 9)), -1, 0, 1);
}

static void operands_are_broadcast(void **state)
{
	Fixture *t = *state;
	Op *x = TENSOR(t, TYPE_F32, SHAPE(2, 1, 3), 1, 2, 3, 4, 5, 6);
	Op *y = TENSOR(t, TYPE_F32, SHAPE(2, 1), 10, 20);
	GIVES(t, build_op(t, OP_SUB, x, y), -9, -8, -7, -19, -18, -17, -6, -5, -4, -16, -15, -14);
	GIVES(t, build_op(t, OP_DIV, y, x),
	      10, 5, 10.0 / 3, 20, 10, 20.0 / 3, 2.5, 2, 10.0 / 6, 5, 4, 20.0 / 6);
	GIVES(t, build_op(t, OP_MUL, x, const_splat(t, TYPE_F32, SHAPE(1, 3), 2)),
	      2, 4, 6, 8, 10, 12);
	Op *flag = TENSOR(t, TYPE_BOOL, SHAPE(3), 1, 0, 1);
	GIVES(t, build_op(t, OP_WHERE, flag, x, const_splat(t, TYPE_F32, (Shape){ 0 }, -1)),
	      1, -1, 3, 4, -1, 6);
	GIVES(t, build_op(t, OP_PRELU, TENSOR(t, TYPE_F32, SHAPE(2, 2), -1, 2, -3, 4), y), -10, 2,
	      -60, 4);
	GIVES(t, build_op(t, OP_LESS, x, const_splat(t, TYPE_F32, SHAPE(3), 3)), 1, 1, 0, 0, 0, 0);
	GIVES(t, build_op(t, OP_AND, flag, TENSOR(t, TYPE_BOOL, SHAPE(3), 1, 1, 0)), 1, 0, 0);
	GIVES(t, build_op(t, OP_OR, flag, TENSOR(t, TYPE_BOOL, SHAPE(3), 0, 0, 0)), 1, 0, 1);
}

static void not_a_number_wins(void **state)
{
	Fixture *t = *state;
	Op *x = TENSOR(t, TYPE_F32, SHAPE(3), 1, NAN, 3);
	Op *y = TENSOR(t, TYPE_F32, SHAPE(3), 2, 2, NAN);
	GIVES(t, build_op(t, OP_MIN, x, y), 1, NAN, NAN);
	GIVES(t, build_op(t, OP_MAX, x, y), 2, NAN, NAN);
	GIVES(t, build_op(t, OP_EQUAL, x, x), 1, 0, 1);
	GIVES(t, build_op(t, OP_ARGMAX, x), 1);
	GIVES(t, build_op(t, OP_REDUCE_MAX, x), NAN);
}

static void integers_wrap_and_divide_towards_zero(void **state)
{
	Fixture *t = *state;
	Op *x = TENSOR(t, TYPE_I8, SHAPE(3), -7, 100, 7);
	Op *y = TENSOR(t, TYPE_I8, SHAPE(3), 2, 100, -2);
	GIVES(t, build_op(t, OP_DIV, x, y), -3, 1, -3);
	GIVES(t, build_op(t, OP_ADD, x, y), -5, -56, 5);
	GIVES(t, build_op(t, OP_MUL, x, y), -14, 16, -14);
	GIVES(t, build_op(t, OP_POW, TENSOR(t, TYPE_I32, SHAPE(4), 3, -1, 2, 5),
			  TENSOR(t, TYPE_I32, SHAPE(4), 4, -3, -1, 0)), 81, -1, 0, 1);
	assert_null(const_eval(t, build_op(t, OP_DIV, x, TENSOR(t, TYPE_I8, SHAPE(3), 1, 0, 1))));
	assert_null(const_eval(t, build_op(t, OP_POW, const_splat(t, TYPE_I8, SHAPE(3), 0),
				     const_splat(t, TYPE_I8, SHAPE(3), -1))));
	Tensor *low = tensor_splat(t->arena, TYPE_I64, SHAPE(2), 0, INT64_MIN);
	Op *least = graph_constant(t->g, NULL, "c", low);
	Op *minus = const_splat(t, TYPE_I64, SHAPE(2), -1);
	Tensor *r = const_eval(t, build_op(t, OP_DIV, least, minus));
	assert_int_equal(tensor_i64(r, 0), INT64_MIN);
}

static void u64_has_no_sign(void **state)
{
	Fixture *t = *state;
	Op *x = TENSOR(t, TYPE_U64, SHAPE(2), 0x1p63, 6);
	Op *y = TENSOR(t, TYPE_U64, SHAPE(2), 3, 0x1p63);
	GIVES(t, build_op(t, OP_DIV, x, TENSOR(t, TYPE_U64, SHAPE(1), 2)), 0x1p62, 3);
	GIVES(t, build_op(t, OP_MAX, x, y), 0x1p63, 0x1p63);
	GIVES(t, build_op(t, OP_LESS, x, y), 0, 1);
	GIVES(t, build_op(t, OP_RELU, x), 0x1p63, 6);
	GIVES(t, build_op(t, OP_REDUCE_MAX, x), 0x1p63);
	GIVES(t, build_op(t, OP_REDUCE_MIN, x), 6);
	GIVES(t, build_op(t, OP_ARGMIN, x), 1);
	Op *cast = build_op(t, OP_CAST, x);
	cast->attr.cast.to = TYPE_F32;
	GIVES(t, cast, 0x1p63, 6);
}

static void casts_know_every_type(void **state)
{
	Fixture *t = *state;
	static const double value[] = { 0, 1.5, -2.75, 300 };
	static const struct {
		DType to;
		double want[4];
	} rows[] = {
		{ TYPE_F32, { 0, 1.5, -2.75, 300 } }, { TYPE_F16, { 0, 1.5, -2.75, 300 } },
		{ TYPE_BF16, { 0, 1.5, -2.75, 300 } }, { TYPE_F64, { 0, 1.5, -2.75, 300 } },
		{ TYPE_I8, { 0, 1, -2, 44 } }, { TYPE_I16, { 0, 1, -2, 300 } },
		{ TYPE_I32, { 0, 1, -2, 300 } }, { TYPE_I64, { 0, 1, -2, 300 } },
		{ TYPE_U8, { 0, 1, 254, 44 } }, { TYPE_U16, { 0, 1, 65534, 300 } },
		{ TYPE_U32, { 0, 1, 4294967294.0, 300 } }, { TYPE_BOOL, { 0, 1, 1, 1 } },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (DType from = TYPE_F32; from <= TYPE_F64; from++) {
			Op *cast = build_op(t, OP_CAST, const_filled(t, from, SHAPE(4), value, 4));
			cast->attr.cast.to = rows[i].to;
			const_gives(t, cast, rows[i].want, 4);
		}
		Op *there = const_filled(t, rows[i].to, SHAPE(4), rows[i].want, 4);
		Op *back = build_op(t, OP_CAST, there);
		back->attr.cast.to = TYPE_F64;
		const_gives(t, back, rows[i].want, 4);
	}
	Op *half = build_op(t, OP_CAST, TENSOR(t, TYPE_F32, SHAPE(2), 0.25, NAN));
	half->attr.cast.to = TYPE_BOOL;
	GIVES(t, half, 1, 1);
}

static void reductions_take_the_axes_they_are_given(void **state)
{
	Fixture *t = *state;
	Op *x = TENSOR(t, TYPE_F32, SHAPE(2, 3, 2), 1, 2, 3, 4, 5, 6, -7, 8, 9, 10, 11, 12);
	Op *r = build_op(t, OP_REDUCE_SUM, x);
	GIVES(t, r, 64);
	r->attr.reduce.axes = INTS(t->arena, 1);
	GIVES(t, r, 9, 12, 13, 30);
	r->attr.reduce.axes = INTS(t->arena, 0, 2);
	r->attr.reduce.keepdims = true;
	GIVES(t, r, 4, 26, 34);
	r->kind = OP_REDUCE_MEAN;
	GIVES(t, r, 1, 6.5, 8.5);
	r->kind = OP_REDUCE_MAX;
	GIVES(t, r, 8, 10, 12);
	r->kind = OP_REDUCE_MIN;
	GIVES(t, r, -7, 3, 5);
	r->kind = OP_REDUCE_PROD;
	GIVES(t, r, -112, 1080, 3960);
	GIVES(t, build_op(t, OP_REDUCE_MEAN, TENSOR(t, TYPE_I32, SHAPE(2), -4, -3)), -3);
	GIVES(t, build_op(t, OP_REDUCE_MIN, TENSOR(t, TYPE_BOOL, SHAPE(2), 1, 0)), 0);
}

static void a_reduction_of_nothing_is_neutral(void **state)
{
	Fixture *t = *state;
	Tensor *none = tensor_create(t->arena, TYPE_I8, SHAPE(0, 2));
	Op *x = graph_constant(t->g, NULL, "c", none);
	Op *r = build_op(t, OP_REDUCE_MAX, x);
	r->attr.reduce.axes = INTS(t->arena, 0);
	GIVES(t, r, -128, -128);
	r->kind = OP_REDUCE_MIN;
	GIVES(t, r, 127, 127);
	r->kind = OP_REDUCE_PROD;
	GIVES(t, r, 1, 1);
	r->kind = OP_REDUCE_MEAN;
	assert_null(const_eval(t, r));
	none->dtype = TYPE_F32;
	op_infer(t->g, x);
	GIVES(t, r, NAN, NAN);
	r->kind = OP_REDUCE_MAX;
	GIVES(t, r, -INFINITY, -INFINITY);
}

static void the_place_of_the_extreme_is_found(void **state)
{
	Fixture *t = *state;
	Op *arg = build_op(t, OP_ARGMAX, TENSOR(t, TYPE_F32, SHAPE(3, 2), 4, 1, 5, 2, 5, 2));
	GIVES(t, arg, 1, 1);
	arg->attr.arg.last = true;
	GIVES(t, arg, 2, 2);
	arg->attr.arg.axis = 1;
	GIVES(t, arg, 0, 0, 0);
	arg->kind = OP_ARGMIN;
	GIVES(t, arg, 1, 1, 1);
}

static void splats_stay_splats(void **state)
{
	Fixture *t = *state;
	const Shape huge = SHAPE(1 << 20, 1 << 20);
	Op *two = const_splat(t, TYPE_F32, huge, 2);
	Op *row = const_splat(t, TYPE_F32, SHAPE(1, 1 << 20), 3);
	Op *ints = const_splat(t, TYPE_I32, huge, 3), *yes = const_splat(t, TYPE_BOOL, huge, 1);
	Op *power = build_op(t, OP_POW, const_splat(t, TYPE_I32, SHAPE(1), 3),
			     const_splat(t, TYPE_I32, SHAPE(1), 1 << 20));
	Op *cast = build_op(t, OP_CAST, two);
	cast->attr.cast.to = TYPE_I8;
	Op *sum = build_op(t, OP_REDUCE_SUM, two), *product = build_op(t, OP_REDUCE_PROD, ints);
	sum->attr.reduce.axes = product->attr.reduce.axes = INTS(t->arena, 0);
	struct {
		Op *op;
		double want;
	} rows[] = {
		{ build_op(t, OP_MUL, two, row), 6 },
		{ cast, 2 },
		{ sum, 0x1p21 },
		{ build_op(t, OP_REDUCE_MEAN, two), 2 },
		{ product, tensor_f64(const_eval(t, power), 0) },
		{ build_op(t, OP_ARGMAX, two), 0 },
		{ build_op(t, OP_WHERE, yes, two, row), 2 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		Tensor *r = const_eval(t, rows[i].op);
		assert_non_null(r);
		assert_true(r->splat);
		assert_true(tensor_f64(r, 0) == rows[i].want);
	}
}

static void a_large_result_needs_large_inputs(void **state)
{
	Fixture *t = *state;
	Op *column = TENSOR(t, TYPE_F32, SHAPE(2, 1), 1, 2);
	Op *wide = const_splat(t, TYPE_F32, SHAPE(1, EVAL_COUNT), 1);
	assert_null(const_eval(t, build_op(t, OP_ADD, column, wide)));
	wide->value->shape = wide->shape = SHAPE(1, 1 << 12);
	assert_non_null(const_eval(t, build_op(t, OP_ADD, column, wide)));
}

static void one_element_is_never_spread_out(void **state)
{
	Fixture *t = *state;
	Op *one = TENSOR(t, TYPE_F32, SHAPE(1, 1), 2);
	Op *many = const_splat(t, TYPE_F32, SHAPE(1 << 30), 1);
	Tensor *r = const_eval(t, build_op(t, OP_ADD, one, many));
	assert_true(r->splat);
	assert_true(tensor_f64(r, 0) == 3);
	r = const_eval(t, build_op(t, OP_ADD, one, const_splat(t, TYPE_F32, SHAPE(1), 1)));
	assert_false(r->splat);
	assert_true(r->owned);
	Op *wide = build_op(t, OP_EXPAND, one);
	wide->attr.shape.shape = INTS(t->arena, 1 << 20, 1 << 20);
	assert_true(const_eval(t, wide)->splat);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(activations_follow_their_formulas),
		T(unary_ops_follow_their_formulas),
		T(operands_are_broadcast),
		T(not_a_number_wins),
		T(integers_wrap_and_divide_towards_zero),
		T(u64_has_no_sign),
		T(casts_know_every_type),
		T(reductions_take_the_axes_they_are_given),
		T(a_reduction_of_nothing_is_neutral),
		T(the_place_of_the_extreme_is_found),
		T(splats_stay_splats),
		T(one_element_is_never_spread_out),
		T(a_large_result_needs_large_inputs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
