/*
 * What formats lose, where a plan loses it, in which order it is raised, and how far off
 * limits an output is.
 */
#include <math.h>
#include <string.h>

#include "frontend/accuracy_limits.h"
#include "frontend/model.h"
#include "ir/format_loss.h"
#include "passes/choice_legal.h"
#include "passes/pass.h"
#include "passes/raises.h"
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
	assert_true(loss_of(1, 1.5f + 0x1p-9f, LOSS_F32) == 0);
	assert_true(loss_of(1, 1.5f + 0x1p-9f, LOSS_BF16) > 0);
	assert_true(fabs(loss_of(1, 1.5f + 0x1p-7f + 0x1p-12f, LOSS_F32_TOP5) - want) < 1e-3);
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
static void sample_text(Fixture *t, Sampled *x, const char *text, const char *pins)
{
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

static void sample(Fixture *t, Sampled *x, const char *hint, const char *pins)
{
	const char *at = strstr(net_text, "HINT");
	sample_text(t, x, arena_printf(t->arena, "%.*s%s%s", (int)(at - net_text), net_text, hint,
				       at + 4), pins);
}

/* All that can be raised, but for what is held. */
static Raise *whole_path(Sampled *x, const Pins *held, const unsigned *closed, int *n)
{
	const RaiseOptions o = { .held = held, .closed = closed, .noise = -1 };
	return raise_path(x->accuracy, &x->p, &o, n);
}

static int step_of(const Sampled *x, const char *name)
{
	int i = 0;
	while (strcmp(choice_step_spelling(x->p.bare, i), name) != 0)
		i++;
	return i;
}

/* The first of the path that is about this. */
static const Raise *find(const Sampled *x, const Raise *r, int n, const char *name, ChoiceField f)
{
	const int step = step_of(x, name);
	for (int i = 0; i < n; i++)
		if (r[i].field == f && r[i].step == step)
			return &r[i];
	return NULL;
}

static void apply(const Sampled *x, const Raise *r, Choice *choices)
{
	for (int i = 0; i < x->p.bare->nsteps; i++)
		if (r->steps[i])
			choice_set(&choices[i], r->field, r->to);
}

static double gain_of(Sampled *x, const char *name, ChoiceField f)
{
	int n;
	const Raise *path = whole_path(x, NULL, NULL, &n), *r = find(x, path, n, name, f);
	assert_non_null(r);
	return (r == path ? accuracy_noise(x->accuracy, x->p.bare, x->p.choices) : r[-1].noise)
		- r->noise;
}

/* One with a hundredth of the values has a tenthousandth of the energy. */
static void a_branch_that_hardly_counts_has_little_to_raise(void **state)
{
	static const char text[] =
		"version 1.0;\n"
		"graph net(x) -> (y)\n"
		"{\n"
		"    x = external(shape = [1, 16, 16, 32]);\n"
		"    f = variable(shape = [32, 16, 3, 3], label = 'f');\n"
		"    g = variable(shape = [32, 32, 3, 3], label = 'g');\n"
		"    h = variable(shape = [32, 16, 3, 3], label = 'h');\n"
		"    large = conv(x, f);\n"
		"    small = conv(x, h);\n"
		"    scaled = mul(small, 0.01);\n"
		"    both = add(large, scaled);\n"
		"    y = conv(both, g);\n"
		"}\n";
	Fixture *t = *state;
	Sampled x;
	sample_text(t, &x, text, "");
	const double most = gain_of(&x, "large", CHOICE_weights);
	const double least = gain_of(&x, "small", CHOICE_weights);
	assert_true(most > 0 && fabs(least / most - 1e-4) < 2e-5);
}

static void what_is_read_together_is_raised_together(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "shard = 'height'", "");
	Pins *pins = arena_array(t->arena, Pins, x.p.bare->nsteps);
	const Raise *path = whole_path(&x, NULL, NULL, &n);
	const Raise *both = find(&x, path, n, "a", CHOICE_type);
	assert_non_null(both);
	assert_null(find(&x, path, n, "e", CHOICE_type));
	raise_pin(x.p.bare, both, pins);
	const Pins *a = &pins[step_of(&x, "a")], *e = &pins[step_of(&x, "e")];
	assert_true(a->fixed == 1u << CHOICE_type && e->fixed == a->fixed);
	assert_true(a->value.type == DEV_BF16 && e->value.type == DEV_BF16);
	assert_int_equal(pins[step_of(&x, "c")].fixed, 0);
}

/* What is said of a plan behind a raise is so. */
static void each_raise_is_told_with_what_is_behind_it(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "shard = 'height'", "");
	const Raise *path = whole_path(&x, NULL, NULL, &n);
	Choice *c = arena_array(t->arena, Choice, x.p.bare->nsteps);
	memcpy(c, x.p.choices, (size_t)x.p.bare->nsteps * sizeof *c);
	assert_true(n > 3);
	for (int i = 0; i < n; i++) {
		assert_int_equal(choice_get(&c[path[i].step], path[i].field), path[i].was);
		apply(&x, &path[i], c);
		assert_true(fabs(path[i].noise - accuracy_noise(x.accuracy, x.p.bare, c)) < 1e-12);
		assert_true(path[i].time == plan_time(plan_apply(x.p.bare, c)).all.total);
	}
}

/* Whatever is not there any more, no other way to begin was cheaper. */
static void the_cheapest_noise_comes_first(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n, count = 0;
	sample(t, &x, "shard = 'height'", "");
	unsigned *closed = arena_array(t->arena, unsigned, x.p.bare->nsteps);
	const double noise = accuracy_noise(x.accuracy, x.p.bare, x.p.choices);
	const int64_t time = plan_time(plan_apply(x.p.bare, x.p.choices)).all.total;
	double last_gain = 1, last_cost = 0;
	for (const Raise *r; (r = whole_path(&x, NULL, closed, &n), n); count++) {
		const double gain = noise - r->noise;
		const double cost = r->time > time ? (double)(r->time - time) : 0;
		assert_true(last_gain > 0 || gain <= 0);
		if (gain > 0)
			assert_true(last_cost * gain <= cost * last_gain * (1 + 1e-9));
		last_gain = gain;
		last_cost = cost;
		closed[r->step] |= 1u << r->field;
	}
	assert_true(count > 6);
}

static void what_somebody_fixed_is_not_raised(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "weights = 'bfp8_b', fidelity = 'lofi'",
	       "tensor c type=bfp8_b\nop c fidelity=hifi2\n");
	const Raise *r = whole_path(&x, x.p.pins, NULL, &n);
	assert_null(find(&x, r, n, "c", CHOICE_type));
	assert_null(find(&x, r, n, "c", CHOICE_phases));
	assert_null(find(&x, r, n, "e", CHOICE_phases));
	assert_null(find(&x, r, n, "e", CHOICE_weights));
	const Raise *weights = find(&x, r, n, "c", CHOICE_weights);
	assert_non_null(weights);
	assert_int_equal(weights->phases, 0);
	r = whole_path(&x, NULL, NULL, &n);
	assert_non_null(find(&x, r, n, "e", CHOICE_phases));
}

/* One thing again and again on one path, in the order of its levels. */
static void levels_follow_each_other(void **state)
{
	static const int types[] = { DEV_BFP8_B, DEV_BF16, DEV_F32 }, phases[] = { 1, 2, 3, 4 };
	Fixture *t = *state;
	Sampled x;
	int n, weights = 0, fidelity = 0;
	sample(t, &x, "shard = 'height'", "");
	const int step = step_of(&x, "c");
	x.p.choices[step].phases = 1;
	const Raise *r = whole_path(&x, NULL, NULL, &n);
	for (int i = 0; i < n; i++) {
		const int *levels = r[i].field == CHOICE_weights ? types : phases;
		int *at = r[i].field == CHOICE_weights ? &weights : &fidelity;
		if (r[i].step != step || r[i].field == CHOICE_type)
			continue;
		assert_int_equal(r[i].was, levels[*at]);
		assert_int_equal(r[i].to, levels[++*at]);
	}
	assert_int_equal(weights, 2);
	assert_int_equal(fidelity, 3);
}

/* Their format alone would bring other phases. */
static void weights_keep_the_fidelity_there_is(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	sample(t, &x, "shard = 'height'", "");
	Pins *pins = arena_array(t->arena, Pins, x.p.bare->nsteps);
	unsigned *closed = arena_array(t->arena, unsigned, x.p.bare->nsteps);
	closed[step_of(&x, "c")] = 1u << CHOICE_phases;
	const Raise *path = whole_path(&x, NULL, closed, &n);
	const Raise *r = find(&x, path, n, "c", CHOICE_weights);
	const Pins *p = &pins[r->step];
	raise_pin(x.p.bare, r, pins);
	assert_true(p->fixed == (1u << CHOICE_weights | 1u << CHOICE_phases));
	assert_true(p->value.weights == DEV_BF16 && p->value.phases == 2);
}

static void as_much_is_raised_as_it_takes(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n, all;
	sample(t, &x, "shard = 'height'", "");
	const Raise *path = whole_path(&x, NULL, NULL, &all);
	const RaiseOptions o = { .noise = path[2].noise * 1.0001 };
	raise_path(x.accuracy, &x.p, &o, &n);
	assert_int_equal(n, 3);
	const RaiseOptions none = { .noise = 1 };
	raise_path(x.accuracy, &x.p, &none, &n);
	assert_int_equal(n, 0);
}

/* In a room that is just enough, local rules make some, which takes time; in none that
 * would do there is nothing but a raise for a search to try. */
static void a_raise_without_room_is_dearer(void **state)
{
	Fixture *t = *state;
	Sampled x;
	int n;
	int64_t end;
	Range blame;
	sample(t, &x, "shard = 'height'", "");
	Plan *plan = plan_apply(x.p.bare, x.p.choices);
	assert_true(place_buffers(plan, &end, &blame));
	const Raise *there = whole_path(&x, NULL, NULL, &n);
	const int64_t time = there[n - 1].time;
	x.request.room = plan->peak;
	const Raise *full = whole_path(&x, NULL, NULL, &n);
	assert_true(n > 0 && full[n - 1].fits && full[n - 1].time > time);
	x.request.room = 4096;
	const Raise *no = whole_path(&x, NULL, NULL, &n);
	assert_true(n == 1 && !no->fits);
}

/* ---- limits ---- */

/* Twice the error is four times the noise. */
static void an_error_over_its_limit_counts_as_its_square(void **state)
{
	(void)state;
	const Limits l = { -1, 0.05 };
	const Closeness c = { .pcc = 0.1, .max_rel = 0.1 }, on = { .max_rel = 0.05 };
	assert_true(fabs(limits_excess(l, &c, 0.1) - 4) < 1e-12 && !limits_hold(l, &c));
	assert_true(limits_excess(l, &on, 0.05) == 1 && limits_hold(l, &on));
}

/* At 0.999 and less the noise is near 2 * (1 - pcc). */
static void the_limit_that_is_missed_by_more_counts(void **state)
{
	(void)state;
	const Limits l = { 0.999, 0.05 };
	const Closeness pcc = { .pcc = 0.997, .max_rel = 0.06 };
	const Closeness error = { .pcc = 0.9985, .max_rel = 0.1 };
	assert_true(fabs(limits_excess(l, &pcc, 0.06) - 3) < 0.02);
	assert_true(fabs(limits_excess(l, &error, 0.1) - 4) < 1e-12);
	assert_true(limits_excess(l, &(Closeness){ .pcc = 1 }, 0) == 0);
}

/* But they are not within the limit either. */
static void outliers_are_no_noise(void **state)
{
	(void)state;
	const Limits l = { -1, 0.05 };
	const Closeness c = { .pcc = 0.9999, .max_rel = 0.5 };
	assert_true(fabs(limits_excess(l, &c, 0.05) - 4) < 1e-12);
	assert_true(limits_excess(l, &c, 0.01) == 1 && !limits_hold(l, &c));
}

static void no_noise_is_left_by_a_correlation_of_1(void **state)
{
	(void)state;
	const Limits l = { 1, -1 };
	const Closeness near = { .pcc = 0.9999 }, same = { .pcc = 1 };
	assert_true(isinf(limits_excess(l, &near, 0)) && !limits_hold(l, &near));
	assert_true(limits_excess(l, &same, 0) == 0 && limits_hold(l, &same));
}

static void a_constant_has_an_error_for_a_correlation(void **state)
{
	(void)state;
	const Limits l = { 0.99, 0.05 };
	const Closeness c = { .pcc = 0, .max_rel = 0.02, .constant = true };
	assert_true(fabs(limits_excess(l, &c, 0.02) - 4) < 1e-9 && !limits_hold(l, &c));
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
		T(a_branch_that_hardly_counts_has_little_to_raise),
		T(what_is_read_together_is_raised_together),
		T(each_raise_is_told_with_what_is_behind_it),
		T(the_cheapest_noise_comes_first),
		T(what_somebody_fixed_is_not_raised),
		T(levels_follow_each_other),
		T(weights_keep_the_fidelity_there_is),
		T(as_much_is_raised_as_it_takes),
		T(a_raise_without_room_is_dearer),
		T(an_error_over_its_limit_counts_as_its_square),
		T(the_limit_that_is_missed_by_more_counts),
		T(outliers_are_no_noise),
		T(no_noise_is_left_by_a_correlation_of_1),
		T(a_constant_has_an_error_for_a_correlation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
