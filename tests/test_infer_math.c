/* The type rules of arithmetic and of ops that move elements. */
#include "tests/build.h"

static void operands_broadcast_and_have_one_type(void **state)
{
	Fixture *t = *state;
	Op *x = build_f32(t, SHAPE(2, 1, 4)), *y = build_f32(t, SHAPE(3, 1));
	Op *ints = build_input(t, TYPE_I64, SHAPE(4)), *flags = build_input(t, TYPE_BOOL, SHAPE(4));
	YIELDS(t, build_op(t, OP_ADD, x, y), TYPE_F32, 2, 3, 4);
	YIELDS(t, build_op(t, OP_LESS, x, y), TYPE_BOOL, 2, 3, 4);
	YIELDS(t, build_op(t, OP_EQUAL, flags, flags), TYPE_BOOL, 4);
	YIELDS(t, build_op(t, OP_MUL, y, build_f32(t, SHAPE(0, 1, 1))), TYPE_F32, 0, 3, 1);
	build_fails(t, build_op(t, OP_MUL, build_f32(t, SHAPE(2)), build_f32(t, SHAPE(0))),
		    "mul: shapes 2 and 0 do not broadcast");
	build_fails(t, build_op(t, OP_SUB, x, build_f32(t, SHAPE(2, 3))),
		    "sub: shapes 2x1x4 and 2x3 do not broadcast");
	build_fails(t, build_op(t, OP_MAX, x, ints), "max: input 0 is f32, input 1 is i64");
	build_fails(t, build_op(t, OP_ADD, flags, flags), "add: input 0 wants numbers, has bool");
	build_fails(t, build_op(t, OP_GREATER, flags, flags),
		    "greater: input 0 wants numbers, has bool");
	build_fails(t, build_op(t, OP_AND, flags, x), "and: input 1 wants bool, has f32");
	YIELDS(t, build_op(t, OP_OR, flags, flags), TYPE_BOOL, 4);
	YIELDS(t, build_op(t, OP_WHERE, flags, x, y), TYPE_F32, 2, 3, 4);
	build_fails(t, build_op(t, OP_WHERE, x, y, y), "where: input 0 wants bool, has f32");
	build_fails(t, build_op(t, OP_WHERE, flags, y, ints), "where: input 1 is f32, input 2 is i64");
}

static void a_slope_never_widens_its_input(void **state)
{
	Fixture *t = *state;
	Op *x = build_f32(t, SHAPE(1, 3, 4));
	YIELDS(t, build_op(t, OP_PRELU, x, build_f32(t, SHAPE(3, 1))), TYPE_F32, 1, 3, 4);
	build_fails(t, build_op(t, OP_PRELU, x, build_f32(t, SHAPE(2, 3, 1))),
		    "prelu: slope 2x3x1 does not broadcast to input 1x3x4");
}

static void unary_ops_keep_the_type_they_can_take(void **state)
{
	Fixture *t = *state;
	Op *x = build_f32(t, SHAPE(3)), *u = build_input(t, TYPE_U8, SHAPE(3));
	Op *flags = build_input(t, TYPE_BOOL, SHAPE(3));
	YIELDS(t, build_op(t, OP_RELU, u), TYPE_U8, 3);
	YIELDS(t, build_op(t, OP_IDENTITY, flags), TYPE_BOOL, 3);
	YIELDS(t, build_op(t, OP_NOT, flags), TYPE_BOOL, 3);
	build_fails(t, build_op(t, OP_ABS, flags), "abs: input 0 wants numbers, has bool");
	build_fails(t, build_op(t, OP_NEG, u), "neg: input wants a signed type, has u8");
	build_fails(t, build_op(t, OP_EXP, u), "exp: input 0 wants a floating type, has u8");
	Op *cast = build_op(t, OP_CAST, x);
	build_fails(t, cast, "cast: wants a type to cast to");
	cast->attr.cast.to = TYPE_BF16;
	YIELDS(t, cast, TYPE_BF16, 3);
	Op *lrn = build_op(t, OP_LRN, build_f32(t, SHAPE(1, 4)));
	build_fails(t, lrn, "lrn: size wants at least 1, has 0");
	lrn->attr.lrn.size = 3;
	YIELDS(t, lrn, TYPE_F32, 1, 4);
}

static void matrix_products_follow_numpy(void **state)
{
	Fixture *t = *state;
	Op *v = build_f32(t, SHAPE(4)), *m = build_f32(t, SHAPE(4, 5));
	Op *b = build_f32(t, SHAPE(2, 1, 3, 4)), *c = build_f32(t, SHAPE(7, 4, 6));
	build_yields(t, build_op(t, OP_MATMUL, v, v), TYPE_F32, (Shape){ 0 });
	YIELDS(t, build_op(t, OP_MATMUL, v, m), TYPE_F32, 5);
	YIELDS(t, build_op(t, OP_MATMUL, b, v), TYPE_F32, 2, 1, 3);
	YIELDS(t, build_op(t, OP_MATMUL, v, c), TYPE_F32, 7, 6);
	YIELDS(t, build_op(t, OP_MATMUL, b, c), TYPE_F32, 2, 7, 3, 6);
	build_fails(t, build_op(t, OP_MATMUL, m, m), "matmul: left has 5 columns, right has 4 rows");
	build_fails(t, build_op(t, OP_MATMUL, c, build_f32(t, SHAPE(2, 6, 6))),
		    "matmul: shapes 7 and 2 do not broadcast");
	build_fails(t, build_op(t, OP_MATMUL, m, build_f32(t, (Shape){ 0 })),
		    "matmul: input 1 wants at least 1 dim, has 0");

	Op *x = build_f32(t, SHAPE(2, 4)), *w = build_f32(t, SHAPE(5, 4));
	YIELDS(t, build_op(t, OP_LINEAR, x, w, build_f32(t, SHAPE(5))), TYPE_F32, 2, 5);
	build_fails(t, build_op(t, OP_LINEAR, x, m),
		    "linear: weights want 5 input channels, input has 4");
	build_fails(t, build_op(t, OP_LINEAR, x, w, v), "linear: bias wants shape 5, has 4");
	build_fails(t, build_op(t, OP_LINEAR, v, w), "linear: input wants 2 dims, has 1");
}

static void norms_want_one_value_per_channel(void **state)
{
	Fixture *t = *state;
	Op *x = build_f32(t, SHAPE(2, 6, 5));
	Op *c = build_f32(t, SHAPE(6)), *d = build_f32(t, SHAPE(5));
	YIELDS(t, build_op(t, OP_BATCH_NORM, x, c, c, c, c), TYPE_F32, 2, 6, 5);
	build_fails(t, build_op(t, OP_BATCH_NORM, x, c, c, c, d),
		    "batch_norm: variance wants shape 6, has 5");
	build_fails(t, build_op(t, OP_INSTANCE_NORM, x, d, c), "instance_norm: scale wants shape 6, has 5");
	Op *group = build_op(t, OP_GROUP_NORM, x, c, c);
	group->attr.norm.groups = 3;
	YIELDS(t, group, TYPE_F32, 2, 6, 5);
	group->attr.norm.groups = 4;
	build_fails(t, group, "group_norm: 6 channels do not divide into 4 groups");
	Op *layer = build_op(t, OP_LAYER_NORM, x, d);
	layer->attr.norm.axis = 1;
	YIELDS(t, layer, TYPE_F32, 2, 6, 5);
	layer->attr.norm.axis = 3;
	build_fails(t, layer, "layer_norm: axis 3 is out of range for 3 dims");
	layer = build_op(t, OP_LAYER_NORM, x, d, c);
	layer->attr.norm.axis = 1;
	build_fails(t, layer, "layer_norm: bias 6 does not broadcast to 6x5");
	Op *soft = build_op(t, OP_SOFTMAX, x);
	soft->attr.axis.axis = -1;
	build_fails(t, soft, "softmax: axis -1 is out of range for 3 dims");
}

static void reductions_drop_or_keep_dims(void **state)
{
	Fixture *t = *state;
	Op *r = build_op(t, OP_REDUCE_MEAN, build_f32(t, SHAPE(2, 3, 4)));
	build_yields(t, r, TYPE_F32, (Shape){ 0 });
	r->attr.reduce.keepdims = true;
	YIELDS(t, r, TYPE_F32, 1, 1, 1);
	r->attr.reduce.axes = INTS(t->arena, 0, 2);
	YIELDS(t, r, TYPE_F32, 1, 3, 1);
	r->attr.reduce.keepdims = false;
	YIELDS(t, r, TYPE_F32, 3);
	r->attr.reduce.axes = INTS(t->arena, 2, 0);
	build_fails(t, r, "reduce_mean: axes want to be ascending, 0 follows 2");
	r->attr.reduce.axes = INTS(t->arena, 1, 1);
	build_fails(t, r, "reduce_mean: axes want to be ascending, 1 follows 1");
	r->attr.reduce.axes = INTS(t->arena, 70);
	build_fails(t, r, "reduce_mean: axis 70 is out of range for 3 dims");
	Op *a = build_op(t, OP_ARGMAX, build_f32(t, SHAPE(2, 3, 0)));
	a->attr.arg.axis = 1;
	YIELDS(t, a, TYPE_I64, 2, 0);
	a->attr.arg.axis = 2;
	build_fails(t, a, "argmax: axis 2 has no elements");
}

static void reshapes_keep_the_count(void **state)
{
	Fixture *t = *state;
	Op *r = build_op(t, OP_RESHAPE, build_f32(t, SHAPE(2, 3)));
	r->attr.shape.shape = INTS(t->arena, 3, 2, 1);
	YIELDS(t, r, TYPE_F32, 3, 2, 1);
	r->attr.shape.shape = INTS(t->arena, 2, 4);
	build_fails(t, r, "reshape: input 2x3 has 6 elements, shape 2x4 has 8");
	r->attr.shape.shape = INTS(t->arena, 6, -1);
	build_fails(t, r, "reshape: shape[1] wants at least 0, has -1");
	r->attr.shape.shape = INTS(t->arena, 1, 1, 1, 1, 1, 1, 1, 1, 6);
	build_fails(t, r, "reshape: shape wants at most 8 entries, has 9");
	r = build_op(t, OP_RESHAPE, build_f32(t, SHAPE(0, 3)));
	r->attr.shape.shape = INTS(t->arena, 7, 0);
	YIELDS(t, r, TYPE_F32, 7, 0);
	Op *e = build_op(t, OP_EXPAND, build_f32(t, SHAPE(3, 1)));
	e->attr.shape.shape = INTS(t->arena, 2, 3, 6);
	YIELDS(t, e, TYPE_F32, 2, 3, 6);
	e->attr.shape.shape = INTS(t->arena, 1, 6);
	build_fails(t, e, "expand: input 3x1 does not expand to 1x6");
}

static void pieces_are_cut_and_joined(void **state)
{
	Fixture *t = *state;
	Op *x = build_f32(t, SHAPE(4, 6));
	Op *s = build_op(t, OP_SLICE, x);
	s->attr.slice = (sliceAttr){ .starts = INTS(t->arena, 3, 9), .counts = INTS(t->arena, 2, 0),
				     .steps = INTS(t->arena, -3, 1) };
	YIELDS(t, s, TYPE_F32, 2, 0);
	s->attr.slice.counts = INTS(t->arena, 2, 1);
	build_fails(t, s, "slice: elements 9 to 9 are out of range for dim 1 of 6");
	s->attr.slice.steps = INTS(t->arena, -4, 1);
	build_fails(t, s, "slice: elements 3 to -1 are out of range for dim 0 of 4");
	s->attr.slice.steps = INTS(t->arena, 0, 1);
	build_fails(t, s, "slice: steps[0] is 0");
	Op *c = build_op(t, OP_CONCAT, x, build_f32(t, SHAPE(4, 0)), build_f32(t, SHAPE(4, 1)));
	c->attr.axis.axis = 1;
	YIELDS(t, c, TYPE_F32, 4, 7);
	c->attr.axis.axis = 0;
	build_fails(t, c, "concat: input 0 is 4x6, input 1 is 4x0: all dims but 0 must agree");
	c = build_op(t, OP_CONCAT, x, build_f32(t, SHAPE(4)));
	build_fails(t, c, "concat: input 0 is 4x6, input 1 is 4: all dims but 0 must agree");
	Op *p = build_op(t, OP_TRANSPOSE, x);
	p->attr.perm.perm = INTS(t->arena, 1, 0);
	YIELDS(t, p, TYPE_F32, 6, 4);
	p->attr.perm.perm = INTS(t->arena, 1);
	build_fails(t, p, "transpose: perm is not a permutation of 2 dims");
}

static void pads_stay_within_what_their_mode_can_fill(void **state)
{
	Fixture *t = *state;
	Op *p = build_op(t, OP_PAD, build_f32(t, SHAPE(3, 4)));
	p->attr.pad.pads = INTS(t->arena, 1, -2, 0, -2);
	YIELDS(t, p, TYPE_F32, 4, 0);
	p->attr.pad.pads = INTS(t->arena, 1, -2, 0, -3);
	build_fails(t, p, "pad: pads -2 and -3 leave less than nothing of dim 1 of 4");
	p->attr.pad.pads = INTS(t->arena, 2, 0, 3, 0);
	YIELDS(t, p, TYPE_F32, 8, 4);
	p->attr.pad.mode = PAD_WRAP;
	YIELDS(t, p, TYPE_F32, 8, 4);
	p->attr.pad.mode = PAD_REFLECT;
	build_fails(t, p, "pad: pads[2] wants at most 2 next to 3, has 3");
	p->attr.pad.pads = INTS(t->arena, -1, 0, 2, 0);
	build_fails(t, p, "pad: pads[2] wants at most 1 next to 2, has 2");
	p = build_op(t, OP_PAD, build_f32(t, SHAPE(0)));
	p->attr.pad.pads = INTS(t->arena, 0, 1);
	YIELDS(t, p, TYPE_F32, 1);
	p->attr.pad.mode = PAD_EDGE;
	build_fails(t, p, "pad: pads[1] wants at most 0 next to 0, has 1");
}

static void gather_replaces_its_axis_by_the_indices_shape(void **state)
{
	Fixture *t = *state;
	Op *x = build_f32(t, SHAPE(2, 3, 4));
	Op *gather = build_op(t, OP_GATHER, x, build_input(t, TYPE_I32, SHAPE(5, 6)));
	gather->attr.axis.axis = 1;
	YIELDS(t, gather, TYPE_F32, 2, 5, 6, 4);
	op_set_input(gather, 1, build_f32(t, SHAPE(1)));
	build_fails(t, gather, "gather: indices want an integer type, have f32");
	const int64_t indices[] = { -3, 2, 3 }, low = -4;
	op_set_input(gather, 1,
		     graph_constant(t->g, gather, "i", tensor_of_ints(t->arena, indices, 2)));
	YIELDS(t, gather, TYPE_F32, 2, 2, 4);
	op_set_input(gather, 1,
		     graph_constant(t->g, gather, "i", tensor_of_ints(t->arena, indices, 3)));
	build_fails(t, gather, "gather: index 3 is out of range for a dim of 3");
	op_set_input(gather, 1,
		     graph_constant(t->g, gather, "i", tensor_of_ints(t->arena, &low, 1)));
	build_fails(t, gather, "gather: index -4 is out of range for a dim of 3");
	Tensor *past = tensor_splat(t->arena, TYPE_U64, SHAPE(2), 0, -1);
	op_set_input(gather, 1, graph_constant(t->g, gather, "i", past));
	build_fails(t, gather, "gather: index 18446744073709551615 is out of range for a dim of 3");
	op_set_input(gather, 1, build_input(t, TYPE_I64, SHAPE(1, 1, 1, 1, 1, 1, 1)));
	build_fails(t, gather, "gather: result wants at most 8 dims, has 9");
	Op *s = build_op(t, OP_SELECT_CHANNELS, x);
	s->attr.channels.channels = INTS(t->arena, 2, 0, 0, 1);
	YIELDS(t, s, TYPE_F32, 2, 4, 4);
	s->attr.channels.channels = INTS(t->arena, 2, 3);
	build_fails(t, s, "select_channels: channels[1] is 3, input has 3 channels");
}

static void blocks_trade_channels_for_pixels(void **state)
{
	Fixture *t = *state;
	Op *d = build_op(t, OP_DEPTH_TO_SPACE, build_f32(t, SHAPE(1, 8, 2, 3)));
	d->attr.block.block = 2;
	YIELDS(t, d, TYPE_F32, 1, 2, 4, 6);
	d->attr.block.block = 3;
	build_fails(t, d, "depth_to_space: channel count of 8 does not divide by 9");
	Op *s = build_op(t, OP_SPACE_TO_DEPTH, build_f32(t, SHAPE(1, 2, 4, 6)));
	s->attr.block.block = 2;
	YIELDS(t, s, TYPE_F32, 1, 8, 2, 3);
	s->attr.block.block = 4;
	build_fails(t, s, "space_to_depth: width of 6 does not divide by 4");
}

static void a_view_reads_only_what_is_there(void **state)
{
	Fixture *t = *state;
	Op *v = build_op(t, OP_VIEW, build_f32(t, SHAPE(1, 3, 4)));
	v->attr.view = (viewAttr){ .dims = INTS(t->arena, 4, 3), .strides = INTS(t->arena, -1, 4),
				   .offset = 3, .shape = INTS(t->arena, 12) };
	YIELDS(t, v, TYPE_F32, 12);
	v->attr.view.offset = 2;
	build_fails(t, v, "view: addresses -1 to 10 are out of range for 12 elements");
	v->attr.view.offset = INT64_MAX;
	build_fails(t, v, "view: offset and strides are too large");
	v->attr.view.shape = INTS(t->arena, 5);
	build_fails(t, v, "view: dims 4x3 have 12 elements, shape 5 has 5");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(operands_broadcast_and_have_one_type),
		T(a_slope_never_widens_its_input),
		T(unary_ops_keep_the_type_they_can_take),
		T(matrix_products_follow_numpy),
		T(norms_want_one_value_per_channel),
		T(reductions_drop_or_keep_dims),
		T(reshapes_keep_the_count),
		T(pieces_are_cut_and_joined),
		T(pads_stay_within_what_their_mode_can_fill),
		T(gather_replaces_its_axis_by_the_indices_shape),
		T(blocks_trade_channels_for_pixels),
		T(a_view_reads_only_what_is_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
