/*
 * Runs each case of a .ir or .nnef file on the reference executor.
 *
 *     --- case NAME      a graph follows; each input's elements are 1, 2, 3, ...
 *     --- yields         its outputs must have these elements, one line each;
 *                        floats to six digits
 *     --- error          or: running it must report this, and nothing else
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ref/ref.h"
#include "tests/cases.h"
#include "tests/check.h"

static int count_kind(const Graph *g, OpKind kind)
{
	int n = 0;
	for_each_op(op, g)
		n += op->kind == kind;
	return n;
}

static Tensor **make_inputs(const Graph *g)
{
	Tensor **in = arena_array(g->arena, Tensor *, count_kind(g, OP_INPUT));
	int n = 0;
	for_each_op(op, g) {
		if (op->kind != OP_INPUT)
			continue;
		in[n] = tensor_create(g->arena, op->dtype, op->shape);
		for (int64_t i = 0; i < tensor_count(in[n]); i++)
			tensor_set_i64(in[n], i, i + 1);
		n++;
	}
	return in;
}

static bool same_float(double got, double want)
{
	if (isnan(want) || isinf(want))
		return isnan(want) ? isnan(got) : got == want;
	return fabs(got - want) <= 1e-6 * fmax(1, fabs(want));
}

/* Reads element i of `t` at `*s` and moves on. */
static void check_element(const Tensor *t, int64_t i, char **s)
{
	char *end;
	if (type_is_float(t->dtype)) {
		double want = strtod(*s, &end);
		if (!same_float(tensor_f64(t, i), want))
			fail_msg("element %lld is %.9g, not %.9g", (long long)i, tensor_f64(t, i), want);
	} else {
		int64_t want = **s == '-' ? strtoll(*s, &end, 0) : (int64_t)strtoull(*s, &end, 0);
		if (tensor_i64(t, i) != want)
			fail_msg("element %lld is %lld, not %lld", (long long)i,
				 (long long)tensor_i64(t, i), (long long)want);
	}
	if (end == *s)
		fail_msg("element %lld: no number at '%s'", (long long)i, *s);
	*s = end + strspn(end, ", ");
}

static void check_outputs(const Case *c, Tensor *const out[], int n)
{
	char *text = strdup(c->want), *s = text;
	for (int k = 0; k < n; k++) {
		for (int64_t i = 0; i < tensor_count(out[k]); i++)
			check_element(out[k], i, &s);
		if (*s++ != '\n')
			fail_msg("output %d has only %lld elements", k, (long long)tensor_count(out[k]));
	}
	assert_string_equal(s, "");
	free(text);
}

static void yields_case(void **state)
{
	const Case *c = *state;
	char *said;
	size_t n;
	Arena *a = arena_create();
	Diag d = { .to = open_memstream(&said, &n) };
	Graph *g = cases_parse(a, &d, c->file, c->in);

	fflush(d.to);
	assert_string_equal(said, "");
	Tensor **out = arena_array(a, Tensor *, count_kind(g, OP_OUTPUT));
	bool ok = ref_run(g, a, make_inputs(g), out, &(RefOptions){ .threads = 2 });
	fclose(d.to);
	if (strcmp(c->how, "error") == 0) {
		assert_string_equal(said, c->want);
		assert_false(ok);
	} else {
		assert_string_equal(c->how, "yields");
		assert_string_equal(said, "");
		assert_true(ok);
		check_outputs(c, out, count_kind(g, OP_OUTPUT));
	}
	diag_finish(&d);
	free(said);
	arena_destroy(a);
}

int main(int argc, char **argv)
{
	return cases_run(argc == 2 ? argv[1] : "", yields_case);
}
