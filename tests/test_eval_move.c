/* What ops that move elements yield on constants. */
#include "ir/rng.h"
#include "tests/constants.h"

/* 0, 1, 2, ... */
static Op *counting(Fixture *t, DType type, Shape shape)
{
	Tensor *x = tensor_create(t->arena, type, shape);
	for (int64_t i = 0; i < tensor_count(x); i++)
		tensor_set_i64(x, i, i);
	return graph_constant(t->g, NULL, "c", x);
}

static void reshapes_share_their_elements(void **state)
{
	Fixture *t = *state;
	Op *x = counting(t, TYPE_F32, SHAPE(2, 3));
	Op *r = build_op(t, OP_RESHAPE, x);
	r->attr.shape.shape = INTS(t->arena, 3, 2);
	assert_ptr_equal(const_eval(t, r)->data, x->value->data);
	assert_ptr_equal(const_eval(t, build_op(t, OP_IDENTITY, x))->data, x->value->data);
	assert_false(x->value->owned);
}

/* Index along each dim of element i. */
static void unravel(Shape s, int64_t i, int64_t index[MAX_RANK])
{
	for (int d = s.rank - 1; d >= 0; d--) {
		index[d] = i % s.dim[d];
		i /= s.dim[d];
	}
}

static void transposes_of_every_size_and_order_are_right(void **state)
{
	Fixture *t = *state;
	static const DType types[] = { TYPE_U8, TYPE_U16, TYPE_I32, TYPE_I64 };
	Rng rng = { 7 };
	for (int round = 0; round < 200; round++) {
		Shape s = { .rank = 1 + (int)rng_below(&rng, 5) };
		int64_t perm[MAX_RANK], at[MAX_RANK], strides[MAX_RANK];
		for (int d = 0; d < s.rank; d++) {
			int other = (int)rng_below(&rng, d + 1);
			s.dim[d] = 1 + rng_below(&rng, d < 2 ? 40 : 4);
			perm[d] = perm[other];
			perm[other] = d;
		}
		Op *op = build_op(t, OP_TRANSPOSE, counting(t, types[round % 4], s));
		op->attr.perm.perm = ints_copy(t->arena, perm, s.rank);
		Tensor *r = const_eval(t, op), *x = op_value(op_in(op, 0));
		shape_strides(s, strides);
		for (int64_t i = 0; i < tensor_count(r); i++) {
			int64_t from = 0;
			unravel(r->shape, i, at);
			for (int d = 0; d < s.rank; d++)
				from += at[d] * strides[perm[d]];
			assert_int_equal(tensor_i64(r, i), tensor_i64(x, from));
		}
	}
}

static void slices_step_either_way(void **state)
{
	Fixture *t = *state;
	Op *s = build_op(t, OP_SLICE, counting(t, TYPE_F32, SHAPE(3, 4)));
	s->attr.slice = (sliceAttr){ .starts = INTS(t->arena, 2, 1), .counts = INTS(t->arena, 2, 2),
				     .steps = INTS(t->arena, -2, 2) };
	GIVES(t, s, 9, 11, 1, 3);
	s->attr.slice.counts = INTS(t->arena, 1, 1);
	s->attr.slice.steps = INTS(t->arena, INT64_MIN, INT64_MAX);
	GIVES(t, s, 9);
	s->attr.slice.counts = INTS(t->arena, 1, 0);
	s->attr.slice.starts = INTS(t->arena, 0, INT64_MAX);
	assert_int_equal(tensor_count(const_eval(t, s)), 0);
}

static void expanding_repeats(void **state)
{
	Fixture *t = *state;
	Op *e = build_op(t, OP_EXPAND, counting(t, TYPE_I16, SHAPE(3, 1)));
	e->attr.shape.shape = INTS(t->arena, 2, 3, 2);
	GIVES(t, e, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2);
	e->attr.shape.shape = INTS(t->arena, 1 << 20, 3, 1 << 18);
	assert_null(const_eval(t, e));
}

static void concat_joins_splats_and_others(void **state)
{
	Fixture *t = *state;
	Op *x = counting(t, TYPE_F32, SHAPE(2, 2)), *none = counting(t, TYPE_F32, SHAPE(2, 0));
	Op *c = build_op(t, OP_CONCAT, x, none, const_splat(t, TYPE_F32, SHAPE(2, 1), 9), x);
	c->attr.axis.axis = 1;
	GIVES(t, c, 0, 1, 9, 0, 1, 2, 3, 9, 2, 3);
	c = build_op(t, OP_CONCAT, x, x);
	GIVES(t, c, 0, 1, 2, 3, 0, 1, 2, 3);
}

static void pads_are_made_up_by_mode(void **state)
{
	Fixture *t = *state;
	Op *p = build_op(t, OP_PAD, counting(t, TYPE_F32, SHAPE(2, 3)));
	p->attr.pad.pads = INTS(t->arena, 0, 2, 1, 1);
	p->attr.pad.value = 7;
	GIVES(t, p, 7, 7, 0, 1, 2, 7, 7, 7, 3, 4, 5, 7, 7, 7, 7, 7, 7, 7);
	p->attr.pad.mode = PAD_EDGE;
	GIVES(t, p, 0, 0, 0, 1, 2, 2, 3, 3, 3, 4, 5, 5, 3, 3, 3, 4, 5, 5);
	p->attr.pad.mode = PAD_REFLECT;
	GIVES(t, p, 2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4, 2, 1, 0, 1, 2, 1);
	p->attr.pad.mode = PAD_WRAP;
	GIVES(t, p, 1, 2, 0, 1, 2, 0, 4, 5, 3, 4, 5, 3, 1, 2, 0, 1, 2, 0);
	p = build_op(t, OP_PAD, counting(t, TYPE_F32, SHAPE(3)));
	p->attr.pad.mode = PAD_WRAP;
	p->attr.pad.pads = INTS(t->arena, 4, 5);
	GIVES(t, p, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1);
}

static void negative_pads_crop(void **state)
{
	Fixture *t = *state;
	Op *p = build_op(t, OP_PAD, counting(t, TYPE_I32, SHAPE(2, 4)));
	p->attr.pad.value = -1;
	p->attr.pad.pads = INTS(t->arena, -1, 1, 0, -2);
	GIVES(t, p, -1, 4, 5);
	p->attr.pad.pads = INTS(t->arena, 0, 4, 0, -4);
	GIVES(t, p, -1, -1, -1, -1, -1, -1, -1, -1);
	p->attr.pad.mode = PAD_EDGE;
	p->attr.pad.pads = INTS(t->arena, -1, -3, 0, 1);
	GIVES(t, p, 7, 7);
	p->attr.pad.mode = PAD_REFLECT;
	p->attr.pad.pads = INTS(t->arena, -1, 2, 0, -1); /* of 4 5 6 */
	GIVES(t, p, 6, 5, 4, 5, 6);
	p->attr.pad.mode = PAD_WRAP;
	GIVES(t, p, 5, 6, 4, 5, 6);
	p = build_op(t, OP_PAD, counting(t, TYPE_I32, SHAPE(0)));
	p->attr.pad.pads = INTS(t->arena, 1, 1);
	p->attr.pad.value = 5;
	GIVES(t, p, 5, 5);
}

static void gather_counts_from_either_end(void **state)
{
	Fixture *t = *state;
	Op *x = counting(t, TYPE_F32, SHAPE(2, 3, 2));
	Op *g = build_op(t, OP_GATHER, x, TENSOR(t, TYPE_I32, SHAPE(2), -1, 0));
	g->attr.axis.axis = 1;
	GIVES(t, g, 4, 5, 0, 1, 10, 11, 6, 7);
	g = build_op(t, OP_GATHER, x, TENSOR(t, TYPE_U8, (Shape){ 0 }, 1));
	GIVES(t, g, 6, 7, 8, 9, 10, 11);
	g->attr.axis.axis = 2;
	GIVES(t, g, 1, 3, 5, 7, 9, 11);

	Tensor *far = tensor_of_ints(t->arena, (int64_t[]){ 0, 2 }, 2);
	Tensor *in[] = { x->value, far };
	g = build_op(t, OP_GATHER, x, build_input(t, TYPE_I64, SHAPE(2)));
	assert_true(op_infer(t->g, g));
	assert_null(op_eval(t->arena, g, in));

	Op *s = build_op(t, OP_SELECT_CHANNELS, x);
	s->attr.channels.channels = INTS(t->arena, 2, 2, 1);
	GIVES(t, s, 4, 5, 4, 5, 2, 3, 10, 11, 10, 11, 8, 9);
}

static void blocks_go_to_depth_and_back(void **state)
{
	Fixture *t = *state;
	for (BlockOrder order = ORDER_DCR; order <= ORDER_CRD; order++) {
		Op *x = counting(t, TYPE_F32, SHAPE(2, 8, 2, 3));
		Op *d = build_op(t, OP_DEPTH_TO_SPACE, x);
		d->attr.block = (blockAttr){ .block = 2, .order = order };
		Tensor *wide = const_eval(t, d);
		Op *s = build_op(t, OP_SPACE_TO_DEPTH, graph_constant(t->g, NULL, "c", wide));
		s->attr.block = d->attr.block;
		assert_true(tensor_equal(const_eval(t, s), x->value));
	}
	Op *d = build_op(t, OP_DEPTH_TO_SPACE, counting(t, TYPE_F32, SHAPE(1, 8, 1, 1)));
	d->attr.block.block = 2;
	GIVES(t, d, 0, 2, 4, 6, 1, 3, 5, 7);
	d->attr.block.order = ORDER_CRD;
	GIVES(t, d, 0, 1, 2, 3, 4, 5, 6, 7);
}

static void a_view_reads_by_its_strides(void **state)
{
	Fixture *t = *state;
	Op *v = build_op(t, OP_VIEW, counting(t, TYPE_F32, SHAPE(1, 2, 3)));
	v->attr.view = (viewAttr){ .dims = INTS(t->arena, 3, 2), .strides = INTS(t->arena, -1, 3),
				   .offset = 2, .shape = INTS(t->arena, 1, 6) };
	GIVES(t, v, 2, 5, 1, 4, 0, 3);
}

static void moved_splats_stay_splats(void **state)
{
	Fixture *t = *state;
	Op *x = const_splat(t, TYPE_F32, SHAPE(1 << 10, 1 << 10, 1 << 10), 3);
	Op *ops[] = {
		build_op(t, OP_TRANSPOSE, x), build_op(t, OP_RESHAPE, x),
		build_op(t, OP_EXPAND, x), build_op(t, OP_PAD, x),
		build_op(t, OP_SLICE, x), build_op(t, OP_CONCAT, x, x),
		build_op(t, OP_GATHER, x, const_splat(t, TYPE_I64, SHAPE(1 << 20), 2)),
	};
	ops[0]->attr.perm.perm = INTS(t->arena, 2, 0, 1);
	ops[1]->attr.shape.shape = INTS(t->arena, 1 << 20, 1 << 10);
	ops[2]->attr.shape.shape = INTS(t->arena, 1 << 10, 1 << 10, 1 << 10, 1 << 10);
	ops[3]->attr.pad.pads = INTS(t->arena, 1, 0, 0, 1, 0, 0);
	ops[3]->attr.pad.value = 3;
	ops[4]->attr.slice = (sliceAttr){ INTS(t->arena, 9, 9, 1), INTS(t->arena, 0, 1, 2),
					  INTS(t->arena, 3, 2, 1) };
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		Tensor *r = const_eval(t, ops[i]);
		assert_non_null(r);
		assert_true(r->splat);
		assert_true(tensor_f64(r, 0) == 3);
	}
	ops[3]->attr.pad.value = 0;
	assert_null(const_eval(t, ops[3]));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(reshapes_share_their_elements),
		T(transposes_of_every_size_and_order_are_right),
		T(slices_step_either_way),
		T(expanding_repeats),
		T(concat_joins_splats_and_others),
		T(pads_are_made_up_by_mode),
		T(negative_pads_crop),
		T(gather_counts_from_either_end),
		T(blocks_go_to_depth_and_back),
		T(a_view_reads_by_its_strides),
		T(moved_splats_stay_splats),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
