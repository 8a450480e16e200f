/*
 * What formats lose, where a plan loses it, in which order it is raised, and how far off
 * limits an output is.
 */
#include <math.h>
#include <string.h>

#include "frontend/accuracy_limits.h"
#include "frontend/model.h"
#include "ir/format_loss.h"
#include "passes/accuracy.h"
#include "passes/choice_legal.h"
#include "passes/pass.h"
#include "runtime/ref/ref.h"
#include "tests/check.h"
#include "tests/fixture.h"

/* ---- formats ---- */

static double loss_of(float first, float second, FormatLoss how)
{
	LossSums s = { 0 };
	loss_add(&s, (const float[BLOCKFLOAT]){ first, second });
	return loss_noise(&s, how);
}

/* 1.5 + 2^-7 has 8 bits: bf16 keeps them; the upper 7, and steps of 2^-6, make 1.5. */
static void bits_that_do_not_fit_are_noise(void **state)
{
	(void)state;
	const double v = 1.5 + 0x1p-7, both = 1 + 1.5 * v;
	const double want = (1 + v * v) * (1 + 2.25) / (both * both) - 1;
	assert_true(loss_of(1, (float)v, LOSS_BF16) == 0);
	assert_true(fabs(loss_of(1, (float)v, LOSS_BF16_TOP7) - want) < 1e-15);
	assert_true(fabs(loss_of(1, (float)v, LOSS_BFP8_B) - want) < 1e-15);
	assert_true(loss_of(1, 1.5f + 0x1p-6f, LOSS_BF16_TOP7) == 0);
	assert_true(loss_of(1, 1.5f + 0x1p-6f, LOSS_BF16_TOP5) > want);
}

/* A correlation does not see it. */
static void a_common_factor_is_no_noise(void **state)
{
	(void)state;
	assert_true(loss_of(1 + 0x1p-6f, 1 + 0x1p-6f, LOSS_BF16_TOP5) == 0);
	assert_true(loss_of(1 + 0x1p-6f, -1 - 0x1p-6f, LOSS_BFP8_B_TOP5) == 0);
}

static void small_values_beside_large_ones_are_lost_in_blocks(void **state)
{
	(void)state;
	assert_true(loss_of(1, 0x1p-9f, LOSS_BF16) == 0);
	assert_true(fabs(loss_of(1, 0x1p-9f, LOSS_BFP8_B) - 0x1p-18) < 1e-12);
	assert_true(loss_of(0, 0, LOSS_BFP8_B) == 0);
	assert_true(loss_of(INFINITY, 1, LOSS_BFP8_B) == 0);
}

/* ---- plans ---- */

static const char net_text[] =
	"version 1.0;\n"
	"extension TS_hints;\n"
	"graph net(x) -> (y)\n"
	"{\n"
	"    x = external(shape = [1, 16, 16, 32]);\n"
	"    f = variable(shape = [32, 16, 3, 3], label = 'f');\n"
	"    g = variable(shape = [32, 32, 3, 3], label = 'g');\n"
	"    h = variable(shape = [32, 64, 3, 3], label = 'h');\n"
	"    a = conv(x, f);\n"
	"    e = conv(a, g) @ (HINT);\n"
	"    b = relu(e);\n"
	"    j = concat([a, b], axis = 1);\n"
	"    c = conv(j, h);\n"
	"    y = conv(c, g);\n"
	"}\n";

typedef struct Sampled {
	Graph *g;
	Accuracy *accuracy;
	PlanSource line;
	PlanRequest request;
	Planned p;
} Sampled;

/* A plan in which every tensor that may be and that nobody pinned is bfp8_b. */
static void sample(Fixture *t, Sampled *x, const char *hint, const char *pins)
{
	const char *at = strstr(net_text, "HINT");
	const char *text = arena_printf(t->arena, "%.*s%s%s", (int)(at - net_text), net_text, hint,
					at + 4);
	const ModelOptions opt = { .random_weights = true, .seed = 1 };
	Tensor *in, *out;
	x->g = nnef_parse_text(t->arena, &t->diag, "net.nnef", text, strlen(text), "", &opt);
	const PassOptions none = { 0 };
	assert_true(x->g && passes_run(x->g, pass_pipeline, pass_pipeline_length, &none));
	x->accuracy = accuracy_create(t->arena);
	in = tensor_create(t->arena, TYPE_F32, x->g->first->shape);
	for (int64_t i = 0; i < tensor_count(in); i++)
		tensor_set_f64(in, i, sin((double)i));
	const RefOptions ref = { .seen = accuracy_seen, .context = x->accuracy };
	assert_true(ref_run(x->g, t->arena, &in, &out, &ref));
	x->line = (PlanSource){ "pins", pins, strlen(pins) };
	x->request = (PlanRequest){ .objective = OBJECTIVE_GREEDY,
				    .line = *pins ? &x->line : NULL };
	const Target *target = target_load(t->arena, &t->diag, TARGET_DEFAULT);
	if (planner_run(x->g, target, &x->request, &x->p) != PLANNED)
		fail_msg("%s", fixture_said(t));
	for (int i = 0; i < x->p.bare->nsteps; i++) {
		const PlanTensor *made = x->p.bare->steps[i].out;
		if (made && choice_types(x->p.bare, made) & DEV_BFP8_B
		    && !(x->p.pins[made->born].fixed >> CHOICE_type & 1))
			x->p.choices[i].type = DEV_BFP8_B;
	}
}

/* The raise that says so, or NULL. */
static const Raise *find(const Raise *r, int n, const char *what)
{
	for (int i = 0; i < n; i++)
		if (strstr(r[i].what, what))
			return &r[i];
	return NULL;
}

static void what_is_read_together_is_raised_together(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "shard = 'height'", "");
	const Raise *r = accuracy_raises(x.accuracy, &x.p, NULL, 0, &n);
	const Raise *both = find(r, n, "tensor a, e type=bf16 (was bfp8_b)");
	assert_non_null(both);
	assert_string_equal(both->pins, "tensor a type=bf16\ntensor e type=bf16\n");
	assert_null(find(r, n, "tensor e "));
}

static void each_raise_takes_its_noise_away(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "shard = 'height'", "");
	const double noise = accuracy_noise(x.accuracy, &x.p);
	const Raise *r = accuracy_raises(x.accuracy, &x.p, NULL, 0, &n);
	const Raise *c = find(r, n, "tensor c type=bf16");
	assert_non_null(c);
	for (int i = 0; i < x.p.bare->nsteps; i++)
		if (x.p.bare->steps[i].out && strcmp(x.p.bare->steps[i].out->name, "c") == 0)
			x.p.choices[i].type = DEV_BF16;
	assert_true(c->gain > 0);
	assert_true(fabs(noise - accuracy_noise(x.accuracy, &x.p) - c->gain) < 1e-12);
	assert_string_equal(c->pins, "tensor c type=bf16\n");
}

static void the_cheapest_noise_comes_first(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "shard = 'height'", "");
	const Raise *r = accuracy_raises(x.accuracy, &x.p, NULL, 0, &n);
	assert_true(n > 3);
	for (int i = 1; i < n; i++) {
		const double before = fmax(0, (double)r[i - 1].cost);
		const double here = fmax(0, (double)r[i].cost);
		assert_true(r[i - 1].gain > 0 || r[i].gain <= 0);
		if (r[i].gain > 0)
			assert_true(before * r[i].gain <= here * r[i - 1].gain);
	}
}

static void what_somebody_fixed_is_not_raised(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "weights = 'bfp8_b', fidelity = 'lofi'", "tensor c type=bfp8_b\nop c fidelity=hifi2\n");
	const Raise *r = accuracy_raises(x.accuracy, &x.p, NULL, 0, &n);
	assert_null(find(r, n, "tensor c "));
	assert_null(find(r, n, "op c fidelity"));
	assert_non_null(find(r, n, "op c weights"));
	assert_null(find(r, n, "op e "));
}

/* Of y, which reads c: bf16, so that all phases see more than those before. */
static void fidelity_is_raised_phase_by_phase(void **state)
{
	static const char *const pins[] = { NULL, "op y fidelity=hifi2\n", "op y fidelity=hifi3\n",
					    "op y fidelity=hifi4\n" };
	static const double least[] = { 0, 1e-4, 1e-6, 1e-11, 0 };
	Fixture *t = *state;
	for (int phases = 1; phases <= 4; phases++) {
		Sampled x;
		int n;
		sample(t, &x, "shard = 'height'", "tensor c type=bf16\n");
		for (int i = 0; i < x.p.bare->nsteps; i++)
			if (strcmp(x.p.bare->steps[i].op->name, "y") == 0)
				x.p.choices[i].phases = phases;
		const Raise *all = accuracy_raises(x.accuracy, &x.p, NULL, 0, &n);
		const Raise *r = find(all, n, "op y fidelity");
		if (phases == 4) {
			assert_null(r);
			continue;
		}
		assert_non_null(r);
		assert_string_equal(r->pins, pins[phases]);
		assert_true(r->gain > least[phases] && r->cost > 0);
		assert_true(phases == 1 || r->gain < least[phases - 1]);
	}
}

/* A pin stays, unless it is of what was raised before. */
static void what_was_raised_goes_on(void **state)
{
	const Raise before = { .kind = RAISE_FIDELITY, .field = "op y fidelity=" };
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "shard = 'height'", "op y fidelity=hifi3\nop c fidelity=hifi3\n");
	const Raise *none = accuracy_raises(x.accuracy, &x.p, NULL, 0, &n);
	assert_null(find(none, n, "op y fidelity"));
	const Raise *all = accuracy_raises(x.accuracy, &x.p, &before, 1, &n);
	assert_non_null(find(all, n, "op y fidelity=hifi4 (was hifi3)"));
	assert_null(find(all, n, "op c fidelity"));
}

static void as_much_is_raised_as_it_takes(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "shard = 'height'", "");
	const Raise *r = accuracy_raises(x.accuracy, &x.p, NULL, 0, &n);
	const double noise = accuracy_noise(x.accuracy, &x.p);
	/* Measured noise may be another: shares count. */
	const double after = 3 * (noise - r[0].gain - r[1].gain);
	assert_int_equal(accuracy_enough(x.accuracy, &x.p, r, n, 3 * noise, after * 1.0001, 1), 2);
	assert_int_equal(accuracy_enough(x.accuracy, &x.p, r, n, 3 * noise, 2.9999 * noise, 1), 1);
	assert_int_equal(accuracy_enough(x.accuracy, &x.p, r, n, 3 * noise, 3 * noise, 3), 3);
	assert_int_equal(accuracy_enough(x.accuracy, &x.p, r, n, 3 * noise, 0, 1), n);
}

/* ---- limits ---- */

/* Twice the error is four times the noise. */
static void an_error_over_its_limit_counts_as_its_square(void **state)
{
	(void)state;
	const Limits l = { -1, 0.05 };
	const Closeness c = { .pcc = 0.1, .max_rel = 0.1 }, on = { .max_rel = 0.05 };
	assert_true(fabs(limits_excess(l, &c) - 4) < 1e-12 && !limits_hold(l, &c));
	assert_true(limits_excess(l, &on) == 1 && limits_hold(l, &on));
}

/* At 0.999 and less the noise is near 2 * (1 - pcc). */
static void the_limit_that_is_missed_by_more_counts(void **state)
{
	(void)state;
	const Limits l = { 0.999, 0.05 };
	const Closeness pcc = { .pcc = 0.997, .max_rel = 0.06 };
	const Closeness error = { .pcc = 0.9985, .max_rel = 0.1 };
	assert_true(fabs(limits_excess(l, &pcc) - 3) < 0.02);
	assert_true(fabs(limits_excess(l, &error) - 4) < 1e-12);
	assert_true(limits_excess(l, &(Closeness){ .pcc = 1 }) == 0);
}

static void no_noise_is_left_by_a_correlation_of_1(void **state)
{
	(void)state;
	const Limits l = { 1, -1 };
	const Closeness near = { .pcc = 0.9999 }, same = { .pcc = 1 };
	assert_true(isinf(limits_excess(l, &near)) && !limits_hold(l, &near));
	assert_true(limits_excess(l, &same) == 0 && limits_hold(l, &same));
}

static void a_constant_has_an_error_for_a_correlation(void **state)
{
	(void)state;
	const Limits l = { 0.99, 0.05 };
	const Closeness c = { .pcc = 0, .max_rel = 0.02, .constant = true };
	assert_true(fabs(limits_excess(l, &c) - 4) < 1e-9 && !limits_hold(l, &c));
	assert_true(limits_hold((Limits){ 0.97, 0.05 }, &c));
	assert_false(limits_hold((Limits){ 0.97, 0.01 }, &c));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(bits_that_do_not_fit_are_noise),
		T(a_common_factor_is_no_noise),
		T(small_values_beside_large_ones_are_lost_in_blocks),
		T(what_is_read_together_is_raised_together),
		T(each_raise_takes_its_noise_away),
		T(the_cheapest_noise_comes_first),
		T(what_somebody_fixed_is_not_raised),
		T(fidelity_is_raised_phase_by_phase),
		T(what_was_raised_goes_on),
		T(as_much_is_raised_as_it_takes),
		T(an_error_over_its_limit_counts_as_its_square),
		T(the_limit_that_is_missed_by_more_counts),
		T(no_noise_is_left_by_a_correlation_of_1),
		T(a_constant_has_an_error_for_a_correlation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
