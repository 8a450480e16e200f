/*
 * Constant evaluation and the reference executor, which share no code, agree
 * on every op both know: random types, shapes and attributes.
 */
#include <math.h>

#include "ir/eval.h"
#include "ir/rng.h"
#include "runtime/ref/ref.h"
#include "tests/build.h"

enum { TRIALS = 60 };

static Rng rng;

static int64_t pick(int64_t least, int64_t most)
{
	return least + rng_below(&rng, most - least + 1);
}

static Shape random_shape(int least, int most)
{
	Shape s = { .rank = (int)pick(least, most) };
	for (int d = 0; d < s.rank; d++)
		s.dim[d] = pick(1, 5);
	return s;
}

/* Something that broadcasts to `s`. */
static Shape narrower(Shape s)
{
	int drop = (int)pick(0, s.rank);
	Shape n = { .rank = s.rank - drop };
	for (int d = 0; d < n.rank; d++)
		n.dim[d] = pick(0, 2) ? s.dim[d + drop] : 1;
	return n;
}

static Tensor *random_tensor(Arena *a, DType type, Shape shape)
{
	if (!pick(0, 7))
		return tensor_splat(a, type, shape, (double)rng_float(&rng) * 4 - 2, pick(-3, 9));
	Tensor *t = tensor_create(a, type, shape);
	for (int64_t i = 0; i < tensor_count(t); i++) {
		if (type_is_float(type))
			tensor_set_f64(t, i, (double)rng_float(&rng) * 4 - 2);
		else
			tensor_set_i64(t, i, pick(-5, 100));
	}
	return t;
}

/* Attributes that fit an input of shape `s`, where the defaults do not. */
static void random_attrs(Arena *a, Op *op, Shape s)
{
	int64_t v[3][2 * MAX_RANK];
	switch ((int)op->kind) {
	case OP_LEAKY_RELU:
	case OP_ELU:
		op->attr.alpha.alpha = rng_float(&rng);
		break;
	case OP_HARD_SIGMOID:
	case OP_SELU:
		op->attr.alpha_beta = (alpha_betaAttr){ rng_float(&rng), rng_float(&rng) };
		break;
	case OP_CLIP:
		op->attr.clip = (clipAttr){ .max = rng_float(&rng), .min = -rng_float(&rng) };
		break;
	case OP_CAST:
		op->attr.cast.to = (DType)pick(TYPE_F32, TYPE_BOOL);
		break;
	case OP_CONCAT:
	case OP_GATHER:
		op->attr.axis.axis = pick(0, s.rank - 1);
		break;
	case OP_ARGMAX:
	case OP_ARGMIN:
		op->attr.arg = (argAttr){ pick(0, s.rank - 1), pick(0, 1), pick(0, 1) };
		break;
	case OP_SLICE:
		for (int d = 0; d < s.rank; d++) {
			v[0][d] = pick(0, s.dim[d] - 1);
			v[1][d] = pick(0, 1) ? pick(1, 3) : -pick(1, 3);
			v[2][d] = v[1][d] > 0 ? s.dim[d] - 1 - v[0][d] : v[0][d];
			v[2][d] = 1 + v[2][d] / llabs(v[1][d]);
		}
		op->attr.slice.starts = ints_copy(a, v[0], s.rank);
		op->attr.slice.steps = ints_copy(a, v[1], s.rank);
		op->attr.slice.counts = ints_copy(a, v[2], s.rank);
		break;
	case OP_PAD:
		op->attr.pad.mode = (PadMode)pick(0, PadMode_COUNT - 1);
		op->attr.pad.value = (float)pick(-1, 3);
		for (int d = 0; d < s.rank; d++) {
			v[0][d] = pick(-s.dim[d] / 2, s.dim[d] - 1);
			v[0][d + s.rank] = pick(-s.dim[d] / 2, s.dim[d] - 1);
		}
		op->attr.pad.pads = ints_copy(a, v[0], 2 * s.rank);
		break;
	}
}

/* The same for lists that are drawn as a whole. */
static void random_lists(Arena *a, Op *op, Shape s)
{
	int64_t v[MAX_RANK] = { 0 };
	int n = 0;
	for (int d = 0; d < s.rank; d++) {
		int other = (int)pick(0, d);
		v[d] = v[other];
		v[other] = d;
	}
	if (op->kind == OP_TRANSPOSE)
		op->attr.perm.perm = ints_copy(a, v, s.rank);
	if (op->kind == OP_RESHAPE)
		op->attr.shape.shape = INTS(a, 1, shape_count(s));
	if (op->kind == OP_SELECT_CHANNELS)
		op->attr.channels.channels = ints_fill(a, pick(0, s.dim[1] - 1), (int)pick(1, 4));
	if (op->kind == OP_VIEW)
		op->attr.view = (viewAttr){ .dims = INTS(a, shape_count(s), 2),
					    .strides = INTS(a, -1, 0), .offset = shape_count(s) - 1,
					    .shape = INTS(a, 2 * shape_count(s)) };
	if (op->kind < OP_REDUCE_MEAN || op->kind > OP_REDUCE_PROD)
		return;
	for (int d = 0; d < s.rank; d++)
		if (pick(0, 1))
			v[n++] = d;
	op->attr.reduce = (reduceAttr){ ints_copy(a, v, n), pick(0, 1) };
}

static DType random_type(OpKind kind, int i)
{
	static const DType ints[] = { TYPE_I8, TYPE_I32, TYPE_I64, TYPE_U8, TYPE_U32, TYPE_U64 };
	if (kind == OP_GATHER && i == 1)
		return TYPE_I64;
	if (kind == OP_AND || kind == OP_OR || kind == OP_NOT || (kind == OP_WHERE && i == 0))
		return TYPE_BOOL;
	DType floating = (DType)pick(TYPE_F32, TYPE_F64);
	return pick(0, 1) ? floating : ints[pick(0, 5)];
}

/* A random op of that kind on inputs, with values for them; NULL if chance
 * made one that is wrong. */
static Op *random_op(Fixture *t, OpKind kind, Tensor *value[3])
{
	const int nin = op_info[kind].max_in == MANY ? 3 : op_info[kind].max_in;
	const bool block = kind == OP_DEPTH_TO_SPACE || kind == OP_SPACE_TO_DEPTH;
	const Shape s = block ? SHAPE(2, 12, 4, 6) : random_shape(2, 4);
	const DType type = random_type(kind, kind == OP_WHERE ? 1 : 0);
	Op *in[3];
	for (int i = 0; i < nin; i++) {
		const bool own = (kind == OP_GATHER && i == 1) || (kind == OP_WHERE && i == 0);
		Shape shape = i && op_info[kind].traits & ELTWISE ? narrower(s)
			: kind == OP_EXPAND ? narrower(s)
			: kind == OP_GATHER && i == 1 ? SHAPE(2, 1) : s;
		value[i] = random_tensor(t->arena, own ? random_type(kind, i) : type, shape);
		if (kind == OP_GATHER && i == 1)
			value[i] = tensor_splat(t->arena, TYPE_I64, shape, 0, pick(-1, 0));
		in[i] = build_input(t, value[i]->dtype, value[i]->shape);
	}
	Op *op = graph_insert(t->g, NULL, kind, "y", nin, in);
	random_attrs(t->arena, op, s);
	random_lists(t->arena, op, s);
	if (block)
		op->attr.block = (blockAttr){ .block = 2, .order = (BlockOrder)pick(0, 1) };
	if (kind == OP_EXPAND)
		op->attr.shape.shape = ints_of_shape(t->arena, s);
	return op_infer(t->g, op) ? op : NULL;
}

static void agree(const Op *op, const Tensor *a, const Tensor *b)
{
	assert_int_equal(a->dtype, b->dtype);
	assert_true(shape_equal(a->shape, b->shape));
	const bool floating = type_is_float(a->dtype);
	for (int64_t i = 0; i < tensor_count(a); i++) {
		double x = tensor_f64(a, i), y = tensor_f64(b, i);
		double slack = floating ? 1e-6 * fabs(y) + 1e-12 : 0;
		if (x == y || fabs(x - y) <= slack || (isnan(x) && isnan(y)))
			continue;
		fail_msg("%s of %s: element %d is %.9g, by the reference %.9g",
			 op_info[op->kind].name, type_info[op_in(op, 0)->dtype].name, (int)i, x, y);
	}
}

static int compare(OpKind kind)
{
	Fixture *t;
	void *state;
	Tensor *value[3], *want = NULL;
	int compared = 0;
	fixture_setup(&state);
	t = state;
	Op *op = random_op(t, kind, value);
	Tensor *got = op ? op_eval(t->arena, op, value) : NULL;
	if (got) {
		Op *y = build_op(t, OP_OUTPUT, op);
		assert_true(op_infer(t->g, y));
		if (!ref_run(t->g, t->arena, value, &want, &(RefOptions){ .threads = 1 }))
			fail_msg("%s", fixture_said(t));
		agree(op, got, want);
		compared = 1;
	}
	fixture_teardown(&state);
	return compared;
}

static void evaluation_and_the_reference_agree(void **state)
{
	(void)state;
	rng = (Rng){ 20 };
	for (int kind = 0; kind < OP_COUNT; kind++) {
		int compared = 0;
		if (!op_can_eval((OpKind)kind))
			continue;
		for (int i = 0; i < TRIALS; i++)
			compared += compare((OpKind)kind);
		if (compared < TRIALS / 5)
			fail_msg("%s: only %d trials were sound", op_info[kind].name, compared);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evaluation_and_the_reference_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
