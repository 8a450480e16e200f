/* The type rules: what ops yield, and what is said about wrong ones. */
#include <math.h>

#include "tests/build.h"

static Op *conv(Fixture *t, OpKind kind, Shape x, Shape w)
{
	Op *op = build_op(t, kind, build_f32(t, x), build_f32(t, w));
	op->attr.conv.strides = ints_fill(t->arena, 1, x.rank - 2);
	op->attr.conv.dilations = ints_fill(t->arena, 1, x.rank - 2);
	op->attr.conv.pads = ints_fill(t->arena, 0, 2 * (x.rank - 2));
	return op;
}

static void conv_counts_its_windows(void **state)
{
	Fixture *t = *state;
	Op *c = conv(t, OP_CONV, SHAPE(2, 8, 15, 20), SHAPE(16, 4, 3, 5));
	c->attr.conv.groups = 2;
	c->attr.conv.strides = INTS(t->arena, 2, 3);
	c->attr.conv.dilations = INTS(t->arena, 2, 1);
	c->attr.conv.pads = INTS(t->arena, 1, 0, 2, 1);
	YIELDS(t, c, TYPE_F32, 2, 16, 7, 6);
	op_add_input(t->g, c, build_f32(t, SHAPE(16)));
	YIELDS(t, c, TYPE_F32, 2, 16, 7, 6);
	YIELDS(t, conv(t, OP_CONV, SHAPE(1, 1, 5), SHAPE(1, 1, 5)), TYPE_F32, 1, 1, 1);
	c = conv(t, OP_CONV, SHAPE(0, 1, 4, 4, 4), SHAPE(3, 1, 2, 2, 2));
	YIELDS(t, c, TYPE_F32, 0, 3, 3, 3, 3);
}

static void a_wrong_conv_is_told_both_numbers(void **state)
{
	Fixture *t = *state;
	Op *c = conv(t, OP_CONV, SHAPE(1, 8, 4, 4), SHAPE(16, 16, 3, 3));
	build_fails(t, c, "conv: weights want 16 input channels in 1 groups, input has 8");
	c = conv(t, OP_CONV, SHAPE(1, 8, 4, 4), SHAPE(15, 4, 3, 3));
	c->attr.conv.groups = 2;
	build_fails(t, c, "conv: 15 output channels do not divide into 2 groups");
	c->attr.conv.groups = 0;
	build_fails(t, c, "conv: groups wants at least 1, has 0");
	c = conv(t, OP_CONV, SHAPE(1, 8, 4, 4), SHAPE(16, 8, 5, 3));
	build_fails(t, c, "conv: window of 5 does not fit padded input of 4 in spatial dim 0");
	c->attr.conv.pads = INTS(t->arena, 1, 1);
	build_fails(t, c, "conv: pads wants 4 entries, has 2");
	c->attr.conv.pads = INTS(t->arena, 1, 1, 1, -1);
	build_fails(t, c, "conv: pads[3] wants at least 0, has -1");
	c->attr.conv.strides = INTS(t->arena, 1, 0);
	build_fails(t, c, "conv: strides[1] wants at least 1, has 0");
	c = conv(t, OP_CONV, SHAPE(1, 8, 4, 4), SHAPE(16, 8, 3, 3));
	op_add_input(t->g, c, build_f32(t, SHAPE(8)));
	build_fails(t, c, "conv: bias wants shape 16, has 8");
	op_set_input(c, 2, build_input(t, TYPE_F16, SHAPE(16)));
	build_fails(t, c, "conv: input 0 is f32, input 2 is f16");
	build_fails(t, conv(t, OP_CONV, SHAPE(1, 8, 4, 4), SHAPE(16, 8, 3)),
	      "conv: weights want 4 dims, have 3");
	build_fails(t, conv(t, OP_CONV, SHAPE(1, 8, 4, 4), SHAPE(16, 8, 0, 3)),
	      "conv: weights are empty: 16x8x0x3");
	build_fails(t, conv(t, OP_CONV, SHAPE(1, 8), SHAPE(16, 8)),
	      "conv: input wants 3 to 5 dims, has 2");
	Op *ints = build_input(t, TYPE_I32, SHAPE(1, 1, 1));
	c = build_op(t, OP_CONV, ints, ints);
	build_fails(t, c, "conv: input 0 wants a floating type, has i32");
	c = conv(t, OP_CONV, SHAPE(1, 8, 4, 4), SHAPE(16, 8, 3, 3));
	c->attr.conv.output_padding = INTS(t->arena, 1, 1);
	build_fails(t, c, "conv: output_padding wants 0 entries, has 2");
}

static void absurd_numbers_are_reported(void **state)
{
	Fixture *t = *state;
	Op *c = conv(t, OP_CONV, SHAPE(1, 1, 9), SHAPE(1, 1, 3));
	c->attr.conv.pads = INTS(t->arena, INT64_MAX, INT64_MAX);
	build_fails(t, c, "conv: kernel, dilation and pads of spatial dim 0 are too large");
	c->attr.conv.pads = INTS(t->arena, INT64_MAX / 2, 0);
	build_fails(t, c, "conv: result has too many elements: 1x1x4611686018427387910");
	c->attr.conv.strides = INTS(t->arena, INT64_MAX);
	YIELDS(t, c, TYPE_F32, 1, 1, 1);
	c->attr.conv.dilations = INTS(t->arena, INT64_MAX);
	build_fails(t, c, "conv: kernel, dilation and pads of spatial dim 0 are too large");

	c = conv(t, OP_CONV_TRANSPOSE, SHAPE(1, 1, 9), SHAPE(1, 1, 3));
	c->attr.conv.strides = INTS(t->arena, INT64_MAX);
	build_fails(t, c, "conv_transpose: kernel, dilation and pads of spatial dim 0 are too large");

	Op *p = build_op(t, OP_PAD, build_f32(t, SHAPE(3)));
	p->attr.pad.pads = INTS(t->arena, INT64_MAX, 0);
	build_fails(t, p, "pad: result has too many elements in dim 0");
	p->attr.pad.pads = INTS(t->arena, INT64_MIN, INT64_MAX);
	build_fails(t, p, "pad: pads -9223372036854775808 and 9223372036854775807 leave less than"
			  " nothing of dim 0 of 3");

	Op *s = build_op(t, OP_SLICE, build_f32(t, SHAPE(3)));
	s->attr.slice.starts = INTS(t->arena, INT64_MAX);
	s->attr.slice.counts = INTS(t->arena, INT64_MAX);
	s->attr.slice.steps = INTS(t->arena, INT64_MIN);
	build_fails(t, s, "slice: dim 0 has no elements as far as counts[0] asks");

	Op *d = build_op(t, OP_DEPTH_TO_SPACE, build_f32(t, SHAPE(1, 4, 1, 1)));
	d->attr.block.block = INT64_MAX;
	build_fails(t, d, "depth_to_space: block wants 1 to 2147483647, has 9223372036854775807");

	Op *r = build_op(t, OP_RESHAPE, build_f32(t, SHAPE(3)));
	r->attr.shape.shape = INTS(t->arena, INT64_MAX, INT64_MAX);
	build_fails(t, r, "reshape: shape has too many elements: "
		    "9223372036854775807x9223372036854775807");

	Op *big = build_f32(t, SHAPE((int64_t)1 << 30, 1));
	Op *wide = build_f32(t, SHAPE(1, (int64_t)1 << 30));
	build_fails(t, build_op(t, OP_ADD, big, wide), "add: result has too many elements: 1073741824x1073741824");
}

static void conv_transpose_spreads_its_windows(void **state)
{
	Fixture *t = *state;
	Op *c = conv(t, OP_CONV_TRANSPOSE, SHAPE(1, 4, 3, 3), SHAPE(4, 3, 3, 3));
	c->attr.conv.groups = 2;
	c->attr.conv.strides = INTS(t->arena, 3, 2);
	c->attr.conv.output_padding = INTS(t->arena, 1, 1);
	YIELDS(t, c, TYPE_F32, 1, 6, 10, 8);
	c->attr.conv.pads = INTS(t->arena, 1, 2, 1, 2);
	c->attr.conv.dilations = INTS(t->arena, 2, 1);
	c->attr.conv.output_padding = (Ints){ 0 };
	YIELDS(t, c, TYPE_F32, 1, 6, 9, 3);
	c->attr.conv.pads = INTS(t->arena, 0, 4, 0, 3);
	build_fails(t, c, "conv_transpose: result wants at least 1 element in spatial dim 1, has 0");
	c->attr.conv.groups = 3;
	build_fails(t, c, "conv_transpose: 4 input channels do not divide into 3 groups");
	build_fails(t, conv(t, OP_CONV_TRANSPOSE, SHAPE(1, 4, 3, 3), SHAPE(3, 4, 3, 3)),
	      "conv_transpose: weights want 3 input channels, input has 4");
	c = conv(t, OP_CONV_TRANSPOSE, SHAPE(1, 4, 3), SHAPE(4, 2, 3));
	c->attr.conv.output_padding = INTS(t->arena, 1, 1);
	build_fails(t, c, "conv_transpose: output_padding wants 1 entries, has 2");
}

static Op *pool(Fixture *t, int64_t in, int64_t kernel, int64_t stride, int64_t pad, bool ceil)
{
	Op *p = build_op(t, OP_MAX_POOL, build_f32(t, SHAPE(1, 1, in)));
	p->attr.pool.kernel = INTS(t->arena, kernel);
	p->attr.pool.strides = INTS(t->arena, stride);
	p->attr.pool.dilations = INTS(t->arena, 1);
	p->attr.pool.pads = INTS(t->arena, pad, pad);
	p->attr.pool.ceil = ceil;
	return p;
}

static void ceil_adds_a_last_window_unless_it_starts_in_the_padding(void **state)
{
	Fixture *t = *state;
	YIELDS(t, pool(t, 4, 3, 2, 0, false), TYPE_F32, 1, 1, 1);
	YIELDS(t, pool(t, 4, 3, 2, 0, true), TYPE_F32, 1, 1, 2);
	YIELDS(t, pool(t, 5, 3, 2, 0, true), TYPE_F32, 1, 1, 2);
	YIELDS(t, pool(t, 2, 1, 2, 0, true), TYPE_F32, 1, 1, 1); /* would start at 2 of 2 */
	YIELDS(t, pool(t, 2, 3, 3, 1, true), TYPE_F32, 1, 1, 1); /* would start at 3 of 1+2 */
	YIELDS(t, pool(t, 4, 3, 3, 1, true), TYPE_F32, 1, 1, 2);
	YIELDS(t, pool(t, 2, 3, 2, 0, true), TYPE_F32, 1, 1, 1); /* even the first is cut off */
	YIELDS(t, pool(t, 5, 7, 3, 0, true), TYPE_F32, 1, 1, 1);
	build_fails(t, pool(t, 2, 3, 2, 0, false),
	      "max_pool: window of 3 does not fit padded input of 2 in spatial dim 0");
	build_fails(t, pool(t, 2, 4, 2, 0, true),
	      "max_pool: window of 4 does not fit padded input of 2 in spatial dim 0");
	build_fails(t, pool(t, 0, 2, 2, 1, true),
	      "max_pool: window of 2 does not fit padded input of 2 in spatial dim 0");
}

static void pools_keep_types_but_an_index_is_i64(void **state)
{
	Fixture *t = *state;
	Op *p = pool(t, 4, 2, 2, 0, false);
	p->attr.pool.dilations = INTS(t->arena, 3);
	op_set_input(p, 0, build_input(t, TYPE_U8, SHAPE(1, 1, 4)));
	YIELDS(t, p, TYPE_U8, 1, 1, 1);
	p->kind = OP_MAX_POOL_INDEX;
	YIELDS(t, p, TYPE_I64, 1, 1, 1);
	p->kind = OP_AVG_POOL;
	build_fails(t, p, "avg_pool: input 0 wants a floating type, has u8");
	p = build_op(t, OP_GLOBAL_AVG_POOL, build_f32(t, SHAPE(2, 3, 4, 5)));
	YIELDS(t, p, TYPE_F32, 2, 3, 1, 1);
	build_fails(t, build_op(t, OP_GLOBAL_MAX_POOL, build_f32(t, SHAPE(2, 3, 0))),
	      "global_max_pool: input has no elements in spatial dim 0");
}

static void resize_takes_one_size_and_scale_per_dim(void **state)
{
	Fixture *t = *state;
	Op *r = build_op(t, OP_RESIZE, build_f32(t, SHAPE(1, 1, 3, 3)));
	r->attr.resize.sizes = INTS(t->arena, 1, 1, 6, 7);
	build_fails(t, r, "resize: scales wants 4 entries, has 0");
	r->attr.resize.scales = floats_copy(t->arena, (float[]){ 1, 1, 2, 2.4f }, 4);
	YIELDS(t, r, TYPE_F32, 1, 1, 6, 7);
	r->attr.resize.coord = COORD_TF_CROP;
	build_fails(t, r, "resize: roi wants 8 entries, has 0");
	r->attr.resize.coord = COORD_ASYMMETRIC;
	r->attr.resize.scales = floats_copy(t->arena, (float[]){ 1, 1, 2, NAN }, 4);
	build_fails(t, r, "resize: scales[3] wants a finite positive number, has nan");
	r->attr.resize.sizes = INTS(t->arena, 1, 1, 6);
	build_fails(t, r, "resize: sizes wants 4 entries, has 3");
	r = build_op(t, OP_RESIZE, build_f32(t, SHAPE(0, 2)));
	r->attr.resize.sizes = INTS(t->arena, 1, 2);
	r->attr.resize.scales = floats_copy(t->arena, (float[]){ 1, 1 }, 2);
	build_fails(t, r, "resize: sizes[0] wants 0 because the input is empty, has 1");
}

static void a_wrong_input_is_passed_on_without_a_word(void **state)
{
	Fixture *t = *state;
	Op *bad = build_op(t, OP_NOT, build_f32(t, SHAPE(2)));
	build_fails(t, bad, "not: input 0 wants bool, has f32");
	int before = t->diag.errors;
	Op *next = build_op(t, OP_ADD, build_f32(t, SHAPE(2)), bad);
	assert_false(op_infer(t->g, next));
	assert_int_equal(next->dtype, TYPE_NONE);
	assert_int_equal(t->diag.errors, before);
}

static void inputs_are_counted(void **state)
{
	Fixture *t = *state;
	Op *x = build_f32(t, SHAPE(1, 1, 1));
	build_fails(t, build_op(t, OP_CONV, x), "conv: wants 2 to 3 inputs, has 1");
	build_fails(t, build_op(t, OP_RELU, x, x), "relu: wants 1 inputs, has 2");
	build_fails(t, graph_insert(t->g, NULL, OP_CONCAT, "y", 0, NULL),
	      "concat: wants at least 1 inputs, has 0");
}

static void edges_have_the_types_they_are_given(void **state)
{
	Fixture *t = *state;
	Op *c = graph_constant(t->g, NULL, "c", tensor_splat(t->arena, TYPE_I8, SHAPE(3, 2), 0, 7));
	YIELDS(t, c, TYPE_I8, 3, 2);
	Op *x = build_f32(t, SHAPE(1, 2, 3));
	x->attr.input.perm = INTS(t->arena, 2, 0, 1);
	YIELDS(t, x, TYPE_F32, 1, 2, 3);
	x->attr.input.perm = INTS(t->arena, 2, 0, 2);
	build_fails(t, x, "input: perm is not a permutation of 3 dims");
	Op *y = build_op(t, OP_OUTPUT, build_f32(t, SHAPE(1, 4, 5)), build_f32(t, SHAPE(1, 6, 5)));
	y->attr.axis.axis = 1;
	YIELDS(t, y, TYPE_F32, 1, 10, 5);
	build_yields(t, build_op(t, OP_OUTPUT, build_f32(t, (Shape){ 0 })), TYPE_F32, (Shape){ 0 });
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(conv_counts_its_windows),
		T(a_wrong_conv_is_told_both_numbers),
		T(absurd_numbers_are_reported),
		T(conv_transpose_spreads_its_windows),
		T(ceil_adds_a_last_window_unless_it_starts_in_the_padding),
		T(pools_keep_types_but_an_index_is_i64),
		T(resize_takes_one_size_and_scale_per_dim),
		T(a_wrong_input_is_passed_on_without_a_word),
		T(inputs_are_counted),
		T(edges_have_the_types_they_are_given),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
