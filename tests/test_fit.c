/* Constants fitted to measurements of a model that is known. */
#include "ir/fit.h"
#include "ir/rng.h"
#include "tests/check.h"
#include "tests/fixture.h"

enum { N = 4, ROWS = 24 };

/* How much of each constant a row takes; the busier of the last two. */
typedef struct Model {
	double part[ROWS][N];
	bool side_by_side;
	int rows;
} Model;

static void predict(void *context, const int64_t *values, double *rows)
{
	const Model *m = context;
	for (int i = 0; i < m->rows; i++) {
		double v[N];
		for (int k = 0; k < N; k++)
			v[k] = m->part[i][k] * (double)values[k];
		rows[i] = 10 + v[0] + v[1] + (m->side_by_side && v[2] > v[3] ? v[2] : v[3])
			+ (m->side_by_side ? 0 : v[2]);
	}
}

static void fill(Model *m)
{
	Rng rng = { 7 };
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < N; k++)
			m->part[i][k] = 1 + (double)(rng_next(&rng) % 100);
}

/* What comes out for times of a model with the constants `true_ones`. */
static Fit fit(Fixture *t, Model *m, const int64_t *true_ones, const double *by, int rows,
	       FitConstant *c)
{
	static double times[ROWS];
	m->rows = rows;
	predict(m, true_ones, times);
	for (int i = 0; by && i < rows; i++)
		times[i] *= by[i];
	for (int k = 0; k < N; k++)
		c[k] = (FitConstant){ .least = 1, .most = 100000, .first = 1000 };
	Fit f = { .arena = t->arena, .constants = c, .n = N, .measured = times, .rows = rows,
		  .predict = predict, .context = m };
	fit_run(&f);
	return f;
}

static void constants_that_all_rows_tell_come_out_as_they_are(void **state)
{
	const int64_t true_ones[N] = { 700, 2500, 1000, 1300 };
	Model m = { .side_by_side = false };
	FitConstant c[N];
	fill(&m);
	const Fit f = fit(*state, &m, true_ones, NULL, ROWS, c);
	for (int k = 0; k < N; k++)
		assert_in_range(c[k].value, true_ones[k] - 2, true_ones[k] + 2);
	assert_int_equal(c[1].state, FIT_FITTED);
	assert_int_equal(c[2].state, FIT_SAME);
	assert_true(fit_median_error(&f, f.before) > 0.1);
	assert_true(fit_median_error(&f, f.after) < 0.002);
}

static void the_busier_of_two_units_is_found(void **state)
{
	const int64_t true_ones[N] = { 1000, 1000, 3000, 600 };
	Model m = { .side_by_side = true };
	FitConstant c[N];
	fill(&m);
	fit(*state, &m, true_ones, NULL, ROWS, c);
	assert_in_range(c[2].value, 2980, 3020);
	assert_in_range(c[3].value, 560, 640);
}

static void what_no_row_depends_on_keeps_its_value(void **state)
{
	const int64_t true_ones[N] = { 2000, 1000, 1000, 4000 };
	Model m = { .side_by_side = false };
	FitConstant c[N];
	fill(&m);
	for (int i = 0; i < ROWS; i++)
		m.part[i][3] = 0;
	fit(*state, &m, true_ones, NULL, ROWS, c);
	assert_int_equal(c[3].state, FIT_UNSEEN);
	assert_int_equal(c[3].value, 1000);
	assert_in_range(c[0].value, 1990, 2010);
}

static void two_that_always_act_together_keep_their_values_and_nothing_stands_in(void **state)
{
	const int64_t true_ones[N] = { 2000, 1000, 1500, 1500 };
	Model m = { .side_by_side = false };
	FitConstant c[N];
	fill(&m);
	for (int i = 0; i < ROWS; i++) {
		m.part[i][3] = m.part[i][2];
		m.part[i][0] *= i % 2; /* half of the rows do without */
		m.part[i][2] *= i % 2 ? 0 : 1;
		m.part[i][3] *= i % 2 ? 0 : 1;
	}
	fit(*state, &m, true_ones, NULL, ROWS, c);
	for (int k = 1; k < N; k++)
		assert_int_equal(c[k].value, 1000);
	const int other = c[3].state == FIT_ALIKE ? 3 : 2;
	assert_int_equal(c[other].state, FIT_ALIKE);
	assert_int_equal(c[other].like, 5 - other);
	assert_int_equal(c[5 - other].state, FIT_UNSURE);
	assert_in_range(c[0].value, 1980, 2020);
}

static void what_would_stand_in_for_them_keeps_its_value_too(void **state)
{
	const int64_t true_ones[N] = { 1300, 1000, 2000, 2000 };
	Model m = { .side_by_side = false };
	FitConstant c[N];
	fill(&m);
	for (int i = 0; i < ROWS; i++)
		m.part[i][3] = m.part[i][2];
	fit(*state, &m, true_ones, NULL, ROWS, c);
	for (int k = 0; k < N; k++)
		assert_int_equal(c[k].value, 1000);
	assert_int_equal(c[0].state, FIT_UNSURE);
}

static void of_one_row_nobody_can_tell_what_makes_it_longer(void **state)
{
	const int64_t true_ones[N] = { 1000, 1000, 1000, 2000 };
	Model m = { .side_by_side = false };
	FitConstant c[N];
	fill(&m);
	for (int i = 0; i < ROWS; i++)
		m.part[i][3] = i == 4 ? 60 : 0;
	fit(*state, &m, true_ones, NULL, ROWS, c);
	for (int k = 0; k < N; k++)
		assert_int_equal(c[k].value, 1000);
	assert_int_equal(c[3].state, FIT_UNSURE);
	m.part[4][0] = m.part[4][1] = m.part[4][2] = 0; /* now it is by itself */
	fit(*state, &m, true_ones, NULL, ROWS, c);
	assert_int_equal(c[3].state, FIT_FITTED);
	assert_in_range(c[3].value, 1980, 2020);
}

static void a_row_far_off_does_not_pull(void **state)
{
	const int64_t true_ones[N] = { 700, 2500, 1000, 1300 };
	double by[ROWS];
	Model m = { .side_by_side = false };
	FitConstant c[N];
	fill(&m);
	for (int i = 0; i < ROWS; i++)
		by[i] = i == 5 ? 8 : 1;
	fit(*state, &m, true_ones, by, ROWS, c);
	for (int k = 0; k < N; k++)
		assert_in_range(c[k].value, true_ones[k] * 95 / 100, true_ones[k] * 105 / 100);
}

static void what_noise_hides_keeps_its_value(void **state)
{
	const int64_t true_ones[N] = { 1000, 2500, 1000, 2000 };
	double by[ROWS];
	Rng rng = { 3 };
	Model m = { .side_by_side = false };
	FitConstant c[N];
	fill(&m);
	for (int i = 0; i < ROWS; i++) {
		by[i] = 0.8 + (double)(rng_next(&rng) % 400) / 1000;
		m.part[i][3] /= 50; /* a few hundredths of the time */
	}
	fit(*state, &m, true_ones, by, ROWS, c);
	assert_int_not_equal(c[3].state, FIT_FITTED);
	assert_int_equal(c[3].value, 1000);
	assert_in_range(c[1].value, 1900, 3100);
}

static void two_rows_tell_one_constant_at_most(void **state)
{
	const int64_t true_ones[N] = { 700, 2500, 1000, 1300 };
	Model m = { .side_by_side = false };
	FitConstant c[N];
	int fitted = 0;
	fill(&m);
	fit(*state, &m, true_ones, NULL, 3, c);
	for (int k = 0; k < N; k++)
		fitted += c[k].state == FIT_FITTED || c[k].state == FIT_SAME
			|| c[k].state == FIT_UNSURE;
	assert_int_equal(fitted, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(constants_that_all_rows_tell_come_out_as_they_are),
		TEST(the_busier_of_two_units_is_found),
		TEST(what_no_row_depends_on_keeps_its_value),
		TEST(two_that_always_act_together_keep_their_values_and_nothing_stands_in),
		TEST(what_would_stand_in_for_them_keeps_its_value_too),
		TEST(of_one_row_nobody_can_tell_what_makes_it_longer),
		TEST(a_row_far_off_does_not_pull),
		TEST(what_noise_hides_keeps_its_value),
		TEST(two_rows_tell_one_constant_at_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
