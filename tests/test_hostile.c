/* Attributes no model would have: type rules and evaluation survive them. */
#include <math.h>
#include <string.h>

#include "ir/eval.h"
#include "ir/rng.h"
#include "tests/build.h"

enum { TRIALS = 2000 };

static Rng rng;

static int64_t hostile_int(void)
{
	static const int64_t odd[] = { INT64_MAX, INT64_MIN, INT64_MAX - 1, MAX_ELEMENTS,
				       INT32_MAX, -1, 0, (int64_t)1 << 62 };
	return rng_below(&rng, 8) ? rng_below(&rng, 6) : odd[rng_below(&rng, 8)];
}

static float hostile_float(void)
{
	static const float odd[] = { INFINITY, -INFINITY, NAN, 0, -1 };
	return rng_below(&rng, 8) ? rng_float(&rng) : odd[rng_below(&rng, 5)];
}

/* A list that often has the length asked for. */
static int hostile_length(int likely)
{
	return rng_below(&rng, 6) ? likely : (int)rng_below(&rng, 12);
}

static void hostile_attr(Arena *a, const AttrField *f, Attrs *attrs, int likely)
{
	int64_t ints[2 * MAX_RANK];
	float floats[2 * MAX_RANK];
	for (int i = 0; i < 2 * MAX_RANK; i++) {
		ints[i] = hostile_int();
		floats[i] = hostile_float();
	}
	switch (f->kind) {
	case ATTR_INT:
		if (rng_below(&rng, 2)) /* else the default */
			*ATTR_AT(attrs, f, int64_t) = ints[0];
		break;
	case ATTR_FLOAT:
		*ATTR_AT(attrs, f, float) = floats[0];
		break;
	case ATTR_BOOL:
		*ATTR_AT(attrs, f, bool) = rng_below(&rng, 2);
		break;
	case ATTR_INTS:
		*ATTR_AT(attrs, f, Ints) = ints_copy(a, ints, hostile_length(likely));
		break;
	case ATTR_FLOATS:
		*ATTR_AT(attrs, f, Floats) = floats_copy(a, floats, hostile_length(likely));
		break;
	case ATTR_TYPE:
		*ATTR_AT(attrs, f, DType) = (DType)rng_below(&rng, TYPE_COUNT);
		break;
	case ATTR_ENUM:
		*ATTR_AT(attrs, f, int) = (int)rng_below(&rng, f->nnames);
		break;
	}
}

static Op *hostile_input(Fixture *t)
{
	static const DType types[] = { TYPE_F32, TYPE_F32, TYPE_F32,
				       TYPE_I64, TYPE_BOOL, TYPE_U64 };
	Shape s = { .rank = (int)rng_below(&rng, 6) };
	for (int d = 0; d < s.rank; d++)
		s.dim[d] = rng_below(&rng, 6);
	if (s.rank && !rng_below(&rng, 10))
		s.dim[0] = (int64_t)1 << rng_below(&rng, 28);
	DType type = types[rng_below(&rng, 6)];
	Tensor *value = shape_count(s) < 1000 && rng_below(&rng, 2)
		? tensor_create(t->arena, type, s)
		: tensor_splat(t->arena, type, s, 1, rng_below(&rng, 5) - 2);
	return graph_constant(t->g, NULL, "c", value);
}

/* The length a rule asks of the list of that name. */
static int wanted_length(const Op *op, const char *name)
{
	const bool both_ends = strcmp(name, "pads") == 0 || strcmp(name, "roi") == 0;
	const bool spatial = op->kind >= OP_CONV && op->kind <= OP_AVG_POOL;
	int n = op_in(op, 0)->shape.rank - (spatial ? 2 : 0);
	if (op->kind == OP_CONV && strcmp(name, "output_padding") == 0)
		return 0;
	return n < 0 ? 0 : both_ends ? 2 * n : n;
}

/* True if the rule took the op. */
static bool survives(OpKind kind)
{
	const OpInfo *info = &op_info[kind];
	void *state;
	fixture_setup(&state);
	Fixture *t = state;
	Op *in[8];
	Tensor *value[8];
	int most = info->max_in == MANY ? 3 : info->max_in;
	int nin = info->min_in + (int)rng_below(&rng, most - info->min_in + 1);
	for (int i = 0; i < nin; i++) {
		in[i] = i && rng_below(&rng, 2) ? in[0] : hostile_input(t);
		value[i] = in[i]->value;
	}
	Op *op = graph_insert(t->g, NULL, kind, "y", nin, in);
	for (int i = 0; i < info->nfields; i++)
		hostile_attr(t->arena, &info->fields[i], &op->attr,
			     wanted_length(op, info->fields[i].name));
	bool taken = op_infer(t->g, op);
	assert_int_equal(taken, t->diag.errors == 0);
	if (taken) {
		assert_true(op->shape.rank >= 0 && op->shape.rank <= MAX_RANK);
		assert_true(shape_count(op->shape) >= 0);
	}
	if (taken && op_can_eval(kind) && shape_count(op->shape) < 10000) {
		Tensor *r = op_eval(t->arena, op, value);
		assert_true(!r || shape_equal(r->shape, op->shape));
	}
	fixture_teardown(&state);
	return taken;
}

static void no_attribute_breaks_a_rule(void **state)
{
	(void)state;
	rng = (Rng){ 5 };
	for (int kind = OP_OUTPUT; kind < OP_COUNT; kind++) {
		int taken = 0;
		for (int i = 0; i < TRIALS; i++)
			taken += survives((OpKind)kind);
		if (!taken && op_info[kind].min_in < 3)
			fail_msg("%s: none was taken, so little was tried", op_info[kind].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_attribute_breaks_a_rule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
