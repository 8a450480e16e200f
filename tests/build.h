/*
 * Ops by hand, for tests of type rules and of constant evaluation.
 *
 *     Op *add = build_op(t, OP_ADD, build_f32(t, SHAPE(2, 1)), build_f32(t, SHAPE(3)));
 *     YIELDS(t, add, TYPE_F32, 2, 3);
 */
#ifndef TESTS_BUILD_H
#define TESTS_BUILD_H

#include "tests/check.h"
#include "tests/fixture.h"

static inline Op *build_input(Fixture *t, DType dtype, Shape shape)
{
	Op *x = graph_insert(t->g, NULL, OP_INPUT, "x", 0, NULL);
	x->dtype = dtype;
	x->shape = shape;
	assert_true(op_infer(t->g, x));
	return x;
}

static inline Op *build_f32(Fixture *t, Shape shape)
{
	return build_input(t, TYPE_F32, shape);
}

/* An op on these inputs, not yet typed. */
#define build_op(t, kind, ...) \
	graph_insert((t)->g, NULL, (kind), "y", sizeof((Op *[]){ __VA_ARGS__ }) / sizeof(Op *), \
		     (Op *[]){ __VA_ARGS__ })

/* The op is right and has this type. */
#define YIELDS(t, op, type, ...) build_yields(t, op, type, SHAPE(__VA_ARGS__))
static inline void build_yields(Fixture *t, Op *op, DType dtype, Shape shape)
{
	if (!op_infer(t->g, op))
		fail_msg("%s", fixture_said(t));
	assert_int_equal(op->dtype, dtype);
	assert_string_equal(shape_text(t->arena, op->shape), shape_text(t->arena, shape));
}

/* The op is wrong, and this is all that is said. */
static inline void build_fails(Fixture *t, Op *op, const char *said)
{
	t->diag.limit = 1000;
	fixture_said(t);
	size_t before = t->nsaid;
	assert_false(op_infer(t->g, op));
	assert_string_equal(fixture_said(t) + before, arena_printf(t->arena, "error: %s\n", said));
	assert_int_equal(op->dtype, TYPE_NONE);
}

#endif
