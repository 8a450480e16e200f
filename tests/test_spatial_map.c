/*
 * The maps of rows and columns that the compiler makes of an op, and the
 * reference executor, which shares no code with it, agree.
 */
#include <math.h>

#include "ir/mix.h"
#include "passes/spatial_map.h"
#include "runtime/ref/ref.h"
#include "tests/build.h"
#include "tests/spatial_ops.h"

static Rng rng;

/* The sum over both maps, of channel c. */
static double mapped(const AxisMap m[2], const Tensor *x, int64_t c, int64_t row, int64_t col)
{
	double sum = 0;
	for (int i = 0; i < m[0].sums[row].nterms; i++)
		for (int k = 0; k < m[1].sums[col].nterms; k++) {
			const AxisTerm *y = &m[0].sums[row].terms[i], *z = &m[1].sums[col].terms[k];
			sum += y->coef * z->coef *
			       tensor_f64(x, (c * m[0].in + y->in) * m[1].in + z->in);
		}
	return sum;
}

/* The same by the tables the device walks; what they hold is rounded to bf16. */
static double by_tables(const Mix *m, const Tensor *x, int64_t c, int64_t row, int64_t col)
{
	double sum = 0;
	for (int i = 0; i < m->row_terms; i++)
		for (int k = 0; k < m->col_terms; k++) {
			const MixRow *y = &m->rows[row * m->row_terms + i];
			const MixCol *z = &m->cols[col / MIX_RUN * m->col_terms + k];
			const int matrix = z->tile / m->ncoefs, out = (int)(col % MIX_RUN);
			for (int p = 0; p < z->pixels; p++) {
				const int at = (z->start + p) * m->in_phases + z->phase;
				const double w =
					m->across ? m->matrices[(matrix * MIX_RUN + out) * MIX_RUN +
								p]
						  : p == out;
				assert_true(at < m->in_cols);
				sum += w * m->coefs[y->coef] *
				       tensor_f64(x, (c * m->in_rows + y->row) * m->in_cols + at);
			}
		}
	return sum;
}

static bool agrees(OpKind kind)
{
	void *state;
	fixture_setup(&state);
	Fixture *t = state;
	const Shape s = SHAPE(1, 2, spatial_pick(&rng, 1, 20), spatial_pick(&rng, 1, 90));
	Tensor *x = tensor_create(t->arena, TYPE_F32, s), *want;
	for (int64_t i = 0; i < tensor_count(x); i++)
		tensor_set_f64(x, i, (double)rng_float(&rng) * 4 - 2);
	Op *op = spatial_op(t->arena, t->g, &rng, kind, build_f32(t, s), 100);
	AxisMap m[2];
	const char *why;
	const bool made = op && spatial_maps(t->arena, op, m, &why);
	if (made) {
		const Mix *mix = mix_make(t->arena, &m[0], &m[1], (int)spatial_pick(&rng, 1, 3));
		assert_true(op_infer(t->g, build_op(t, OP_OUTPUT, op)));
		if (!ref_run(t->g, t->arena, &x, &want, &(RefOptions){ .threads = 1 }))
			fail_msg("%s", fixture_said(t));
		for (int64_t i = 0; i < tensor_count(want); i++) {
			const int64_t cols = m[1].out, rows = m[0].out, c = i / cols / rows;
			const double got = mapped(m, x, c, i / cols % rows, i % cols);
			const double again = by_tables(mix, x, c, i / cols % rows, i % cols);
			if (!(fabs(got - tensor_f64(want, i)) <= 1e-6) ||
			    !(fabs(got - again) <= 1e-9))
				fail_msg("%s %d: %g, by the tables %g, by the reference %g",
					 op_info[kind].name, (int)i, got, again,
					 tensor_f64(want, i));
		}
	}
	fixture_teardown(&state);
	return made;
}

static void maps_and_the_reference_agree(void **state)
{
	static const OpKind kinds[] = { OP_RESIZE, OP_AVG_POOL, OP_PAD, OP_SLICE };
	enum { TRIALS = 150 };
	(void)state;
	rng = (Rng){ 8 };
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		int n = 0;
		for (int i = 0; i < TRIALS; i++)
			n += agrees(kinds[k]);
		if (n < TRIALS / 3)
			fail_msg("%s: only %d trials were sound", op_info[kinds[k]].name, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_and_the_reference_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
