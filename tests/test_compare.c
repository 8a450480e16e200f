/* How near a result is to what it should be. */
#include <math.h>

#include "ir/compare.h"
#include "tests/check.h"
#include "tests/fixture.h"

#define FLOATS(t, ...) \
	tensor_of_floats((t)->arena, (float[]){ __VA_ARGS__ }, \
			 sizeof((float[]){ __VA_ARGS__ }) / sizeof(float))

static void equal_tensors_have_no_error(void **state)
{
	Fixture *t = *state;
	const Closeness c = tensor_compare(FLOATS(t, 1, 2, 4), FLOATS(t, 1, 2, 4));
	assert_true(c.pcc == 1 && c.max_abs == 0 && c.max_rel == 0 && c.range == 3 && !c.constant);
}

static void the_error_is_relative_to_the_expected_range(void **state)
{
	Fixture *t = *state;
	const Closeness c = tensor_compare(FLOATS(t, -2, 0, 6), FLOATS(t, -2, 1, 6));
	assert_true(c.max_abs == 1 && c.range == 8 && c.max_rel == 0.125 && c.worst == 1);
}

/* e = 1,2,3,4 and a = 2,4,6,9: 11.5 / sqrt(5 * 26.75). */
static void the_correlation_is_pearsons(void **state)
{
	Fixture *t = *state;
	assert_true(fabs(tensor_compare(FLOATS(t, 1, 2, 3, 4), FLOATS(t, 2, 4, 6, 9)).pcc -
			 11.5 / sqrt(5 * 26.75)) < 1e-15);
	assert_true(fabs(tensor_compare(FLOATS(t, 1, 2, 3), FLOATS(t, 3, 2, 1)).pcc + 1) < 1e-15);
}

static void a_constant_is_judged_by_its_magnitude(void **state)
{
	Fixture *t = *state;
	Closeness c = tensor_compare(FLOATS(t, 4, 4), FLOATS(t, 4, 5));
	assert_true(c.constant && c.range == 4 && c.max_rel == 0.25 && c.pcc == 0);
	c = tensor_compare(FLOATS(t, 0, 0), FLOATS(t, 0, 0.5f));
	assert_true(c.constant && c.range == 1 && c.max_rel == 0.5);
	c = tensor_compare(FLOATS(t, 7, 7), FLOATS(t, 7, 7));
	assert_true(c.constant && c.pcc == 1);
}

static void what_is_not_finite_must_be_the_same(void **state)
{
	Fixture *t = *state;
	const Tensor *odd = FLOATS(t, 1, NAN, INFINITY, 3);
	Closeness c = tensor_compare(odd, odd);
	assert_true(c.max_abs == 0 && c.pcc == 1 && c.range == 2);
	c = tensor_compare(FLOATS(t, 1, 2, 3), FLOATS(t, 1, NAN, 3));
	assert_true(isinf(c.max_rel) && c.pcc == 0 && c.worst == 1);
	c = tensor_compare(FLOATS(t, 1, INFINITY, 3), FLOATS(t, 1, -INFINITY, 3));
	assert_true(isinf(c.max_rel) && c.pcc == 0);
}

static void nothing_equals_nothing(void **state)
{
	Fixture *t = *state;
	Tensor *empty = tensor_create(t->arena, TYPE_F32, SHAPE(0, 3));
	const Closeness c = tensor_compare(empty, empty);
	assert_true(c.max_abs == 0 && c.max_rel == 0 && c.pcc == 1);
}

static void the_first_nan_is_found_wherever_it_is(void **state)
{
	Fixture *t = *state;
	static const DType types[] = { TYPE_F32, TYPE_F16, TYPE_BF16, TYPE_F64 };
	static const int64_t places[] = { 0, 1, 4095, 4096, 8999 };
	for (int k = 0; k < 4; k++)
		for (int p = 0; p < 5; p++) {
			Tensor *x = tensor_create(t->arena, types[k], SHAPE(9000));
			tensor_set_f64(x, 8999, INFINITY);
			assert_int_equal(tensor_find_nan(x), -1);
			tensor_set_f64(x, 8999, NAN);
			tensor_set_f64(x, places[p], NAN);
			assert_int_equal(tensor_find_nan(x), places[p]);
		}
	assert_int_equal(tensor_find_nan(tensor_splat(t->arena, TYPE_F32, SHAPE(5), NAN, 0)), 0);
	assert_int_equal(tensor_find_nan(tensor_create(t->arena, TYPE_F32, SHAPE(0))), -1);
	assert_int_equal(tensor_find_nan(tensor_splat(t->arena, TYPE_I8, SHAPE(5), 0, 1)), -1);
}

/* 4000 values of 0 .. 3999: `usual` off all of them, `more` off the first `n` of them. */
static double usual_error(Fixture *t, double usual, int n, double more)
{
	const Shape shape = { .rank = 1, .dim = { 4000 } };
	Tensor *e = tensor_create(t->arena, TYPE_F32, shape);
	Tensor *a = tensor_create(t->arena, TYPE_F32, shape);
	for (int i = 0; i < 4000; i++) {
		tensor_set_f64(e, i, i);
		tensor_set_f64(a, i, i + (i < n ? more : usual));
	}
	const Closeness c = tensor_compare(e, a);
	return tensor_usual_error(e, a, &c, 1000) * c.range;
}

static void an_error_of_a_thousandth_is_not_usual(void **state)
{
	Fixture *t = *state;
	assert_true(fabs(usual_error(t, 1, 4, 1000) - 1) < 0.01);
	assert_true(fabs(usual_error(t, 1, 5, 1000) - 1000) < 10);
	assert_true(fabs(usual_error(t, 1, 4, INFINITY) - 1) < 0.01);
	assert_true(usual_error(t, 0, 4, 1000) < 1e-30);
	const Tensor *e = FLOATS(t, 0, 1), *a = FLOATS(t, 0, 1.25f);
	const Closeness c = tensor_compare(e, a);
	assert_true(tensor_usual_error(e, a, &c, 1000) == 0.25);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(equal_tensors_have_no_error),
		T(the_error_is_relative_to_the_expected_range),
		T(the_correlation_is_pearsons),
		T(a_constant_is_judged_by_its_magnitude),
		T(what_is_not_finite_must_be_the_same),
		T(nothing_equals_nothing),
		T(an_error_of_a_thousandth_is_not_usual),
		T(the_first_nan_is_found_wherever_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
