/*
 * Writes graphs as NNEF and reads them back: the same ops, attributes, types
 * and weights must come out, or, where an op has no equal in NNEF and was put
 * together from others, the same values.
 *
 *     convert cases F.ir         each case of the file, as a test of its own
 *     convert models PATH...     each model, as read and after all passes; PATH may
 *                                end in @DIM=SIZE
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/rng.h"
#include "passes/pass.h"
#include "runtime/ref/ref.h"
#include "tests/cases.h"
#include "tests/weights_fixture.h"

typedef enum Outcome { REFUSED, SAME, EQUAL, WRONG } Outcome;

/* True if a constant holds the same elements, whatever ones are in its shape. */
static bool same_constant(const Op *a, const Op *b)
{
	int64_t n = shape_count(a->shape);
	if (b->kind != OP_CONSTANT || a->dtype != b->dtype || shape_count(b->shape) != n)
		return false;
	for (int64_t i = 0; i < n; i++)
		if (tensor_f64(a->value, i) != tensor_f64(b->value, i))
			return false;
	return true;
}

/* Ops paired in order, constants where they are read; op->mark counts. */
static bool same_graph(const Graph *a, const Graph *b)
{
	Op *x = a->first, *y = b->first;
	for (int64_t n = 0;; n++, x = x->next, y = y->next) {
		while (x && x->kind == OP_CONSTANT)
			x = x->next;
		while (y && y->kind == OP_CONSTANT)
			y = y->next;
		if (!x || !y)
			return !x && !y;
		x->mark = y->mark = n;
		if (x->kind != y->kind || !attrs_equal(x->kind, &x->attr, &y->attr) ||
		    x->dtype != y->dtype || !shape_equal(x->shape, y->shape) || x->nin != y->nin ||
		    op_has_act(x))
			return false;
		for (int i = 0; i < x->nin; i++) {
			const Op *p = op_in(x, i), *q = op_in(y, i);
			if (p->kind == OP_CONSTANT ? !same_constant(p, q)
						   : p->kind != q->kind || p->mark != q->mark)
				return false;
		}
	}
}

static Tensor **random_inputs(const Graph *g, Arena *a)
{
	Rng rng = { 1 };
	Tensor **in = arena_array(a, Tensor *, 64);
	int n = 0;
	for_each_op(op, g) {
		if (op->kind != OP_INPUT)
			continue;
		in[n] = tensor_create(a, op->dtype, op->shape);
		for (int64_t i = 0; i < tensor_count(in[n]); i++)
			tensor_set_f64(in[n], i,
				       type_is_float(op->dtype) ? 2 * rng_float(&rng) - 1 : i % 2);
		n++;
	}
	return in;
}

/* Greatest difference over the range of `a`; infinite if they do not compare. */
static double distance(const Tensor *a, const Tensor *b)
{
	double low = INFINITY, high = -INFINITY, most = 0;
	if (a->dtype != b->dtype || !shape_equal(a->shape, b->shape))
		return INFINITY;
	for (int64_t i = 0; i < tensor_count(a); i++) {
		double x = tensor_f64(a, i), y = tensor_f64(b, i);
		if ((isnan(x) && isnan(y)) || x == y)
			continue;
		low = fmin(low, x);
		high = fmax(high, x);
		most = fmax(most, fabs(x - y));
		if (isnan(x - y) || isinf(x - y))
			return INFINITY;
	}
	return most / fmax(1, high - low);
}

static bool equal_values(const Graph *g, const Graph *h, Arena *a)
{
	Tensor **in = random_inputs(g, a), *x[64], *y[64];
	const RefOptions opt = { .threads = 2, .max_macs = 10000000000 };
	int n = 0;
	if (!ref_run(g, a, in, x, &opt) || !ref_run(h, a, in, y, &opt))
		return false;
	for_each_op(op, g)
		n += op->kind == OP_OUTPUT;
	for (int i = 0; i < n; i++) {
		double far = distance(x[i], y[i]);
		if (far > 1e-5) {
			fprintf(stderr, "output %d is off by %g of its range\n", i, far);
			return false;
		}
	}
	return true;
}

static Outcome through_nnef(const Graph *g, Fixture *t)
{
	const char *dir = path_of(t, "model");
	if (!nnef_write(g, &t->diag, dir))
		return REFUSED;
	Graph *h = nnef_read(t->arena, &t->diag, dir, &(ModelOptions){ 0 });
	Outcome outcome = WRONG;
	if (h && graph_verify(h))
		outcome = same_graph(g, h) ? SAME : equal_values(g, h, t->arena) ? EQUAL : WRONG;
	return outcome;
}

static void convert_case(void **state)
{
	const Case *c = *state;
	void *fixture;
	setup(&fixture);
	Fixture *t = fixture;
	const ModelOptions opt = { .random_weights = true, .seed = 3 };
	Graph *g = cases_read(t->arena, &t->diag, c->file, c->in, &opt);
	Outcome outcome = g ? through_nnef(g, t) : REFUSED;
	const char *why = said(t);
	bool wrong = outcome == WRONG || (g && outcome == REFUSED && !strstr(why, "no form in strict NNEF"));
	char *text = strdup(why);
	teardown(&fixture);
	if (wrong)
		fail_msg("%s", text);
	if (outcome == REFUSED && g)
		print_message("%s", text);
	free(text);
}

/* Reads MODEL or MODEL@DIM=SIZE. */
static Graph *read_path(Fixture *t, const char *path)
{
	char *copy = arena_strdup(t->arena, path), *at = strchr(copy, '@');
	char *equals = at ? strchr(at, '=') : NULL;
	DimOption dim = { 0 };
	ModelOptions opt = { .random_weights = true, .dims = &dim, .ndims = equals != NULL };
	if (equals) {
		*at = *equals = '\0';
		dim = (DimOption){ at + 1, atoll(equals + 1) };
	}
	return model_read(t->arena, &t->diag, copy, &opt);
}

static Outcome convert_model(const char *path, bool optimized)
{
	static const char *const words[] = { "refused", "same graph", "same values", "WRONG" };
	void *fixture;
	setup(&fixture);
	Fixture *t = fixture;
	Graph *g = read_path(t, path);
	const PassOptions plain = { 0 };
	Outcome outcome = WRONG;
	if (g && (!optimized || passes_run(g, pass_pipeline, pass_pipeline_length, &plain)))
		outcome = through_nnef(g, t);
	printf("%s%s: %s\n%s", path, optimized ? " after all passes" : "", words[outcome], said(t));
	teardown(&fixture);
	return outcome;
}

static int convert_models(int n, char **paths)
{
	int failed = 0;
	for (int i = 0; i < 2 * n; i++) {
		Outcome outcome = convert_model(paths[i / 2], i % 2);
		failed += outcome == WRONG || outcome == REFUSED;
	}
	printf("%d converted, %d failed\n", 2 * n - failed, failed);
	return failed != 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "models") == 0)
		return convert_models(argc - 2, argv + 2);
	return cases_run(argc == 3 ? argv[2] : "", convert_case);
}
