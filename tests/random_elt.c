/*
 * Element-wise ops at random: depthwise convolutions, batch norm, arithmetic with
 * constants and with tensors in every broadcast, prelu, parts of a concat.
 */
#include <math.h>

#include "tests/ops.h"

static const double largest = 127.0 / 64; /* of inputs and constants that are no integers */

static bool chance(OpNet *n, int64_t of) { return ops_pick(n, 1, of) == 1; }

/* A constant without zeros, between 1/2 and 2 in size; of integers 1 or -1. */
static Op *divisor(OpNet *n, Shape shape)
{
	Tensor *t = tensor_create(n->g->arena, TYPE_F32, shape);
	for (int64_t i = 0; i < tensor_count(t); i++) {
		const double v = n->choice.integers ? 1 : (double)ops_pick(n, 32, 127) / 64;
		tensor_f32_data(t)[i] = (float)(chance(n, 2) ? v : -v);
	}
	return graph_constant(n->g, NULL, "w", t);
}

static int64_t channels(OpNet *n)
{
	return chance(n, 3) ? ops_pick(n, 1, 200) : ops_pick(n, 1, 40);
}

/* An input, or what is made of one: stored as the net's choice is. */
static Op *source(OpNet *n, int64_t c, int64_t height, int64_t width)
{
	Op *x = ops_input(n, c, height, width);
	return chance(n, 3) ? ops_done(n, ops_insert(n, OP_RELU, x)) : x;
}

/* A window that fits into `size` with the padding it gets. */
typedef struct Slide {
	int64_t kernel, stride, dilation, before, after;
} Slide;

static Slide slide(OpNet *n, int64_t size)
{
	Slide s;
	do {
		s.kernel = ops_pick(n, 1, 7);
		s.stride = ops_pick(n, 1, 3);
		s.dilation = chance(n, 3) ? ops_pick(n, 1, 3) : 1;
		s.before = ops_pick(n, 0, (s.kernel - 1) * s.dilation);
		s.after = ops_pick(n, 0, (s.kernel - 1) * s.dilation);
	} while (size + s.before + s.after < (s.kernel - 1) * s.dilation + 1);
	return s;
}

static Op *depthwise(OpNet *n)
{
	Arena *a = n->g->arena;
	const int64_t c = channels(n), height = ops_pick(n, 1, 12), width = ops_pick(n, 1, 70);
	const Slide h = slide(n, height), w = slide(n, width);
	const int64_t taps = h.kernel * w.kernel;
	Op *x = source(n, c, height, width);
	Op *op = ops_insert(n, OP_CONV, x, ops_constant(n, SHAPE(c, 1, h.kernel, w.kernel), taps),
			    ops_constant(n, SHAPE(c), 4));
	op->attr.conv.groups = c;
	op->attr.conv.strides = INTS(a, h.stride, w.stride);
	op->attr.conv.dilations = INTS(a, h.dilation, w.dilation);
	op->attr.conv.pads = INTS(a, h.before, w.before, h.after, w.after);
	n->scale = largest * largest * sqrt((double)taps);
	return ops_done(n, op);
}

/* Scale and bias are rounded, then the result. */
static Op *batch_norm(OpNet *n)
{
	const int64_t c = channels(n);
	Op *x = ops_input(n, c, ops_pick(n, 1, 12), ops_pick(n, 1, 70));
	Tensor *variance = tensor_create(n->g->arena, TYPE_F32, SHAPE(c));
	for (int64_t i = 0; i < c; i++)
		tensor_f32_data(variance)[i] =
			n->choice.integers ? 1 : (float)ops_pick(n, 16, 255) / 64;
	Op *op = ops_insert(n, OP_BATCH_NORM, x, ops_constant(n, SHAPE(c), 1),
			    ops_constant(n, SHAPE(c), 1), ops_constant(n, SHAPE(c), 1),
			    graph_constant(n->g, NULL, "variance", variance));
	op->attr.norm.epsilon = n->choice.integers ? 0 : 1e-5;
	n->roundings = 3;
	n->scale = 4 * largest * largest + largest; /* 1 / sqrt(1/4) is 2 */
	return ops_done(n, op);
}

static Shape per_channel(OpNet *n, int64_t c)
{
	switch (ops_pick(n, 0, 3)) {
	case 0:
		return (Shape){ 0 };
	case 1:
		return SHAPE(1, 1, 1);
	case 2:
		return SHAPE(1, c, 1, 1);
	default:
		return SHAPE(c, 1, 1);
	}
}

/* With one value, or one a channel: constants are rounded, and the result. */
static Op *with_constant(OpNet *n)
{
	static const OpKind kinds[] = { OP_ADD, OP_SUB, OP_MUL, OP_DIV };
	const OpKind kind = kinds[ops_pick(n, 0, 3)];
	const int64_t c = channels(n);
	Op *x = source(n, c, ops_pick(n, 1, 12), ops_pick(n, 1, 70));
	const Shape shape = per_channel(n, c);
	n->roundings = 2;
	n->scale = 2 * largest;
	Op *w = kind == OP_DIV ? divisor(n, shape) : ops_constant(n, shape, 1);
	tensor_f32_data(w->value)[0] = kind == OP_DIV ? -1 : 2; /* or the op may be none */
	if (kind == OP_DIV)
		return ops_done(n, ops_insert(n, kind, x, w));
	return chance(n, 2) ? ops_done(n, ops_insert(n, kind, x, w))
			    : ops_done(n, ops_insert(n, kind, w, x));
}

/* An input or a constant of the shape, some dimensions of which may be 1. */
static Op *operand(OpNet *n, int64_t c, int64_t height, int64_t width, int ones, bool constant)
{
	const int64_t size[3] = { ones & 1 ? 1 : c, ones & 2 ? 1 : height, ones & 4 ? 1 : width };
	return constant ? ops_constant(n, SHAPE(1, size[0], size[1], size[2]), 1)
			: source(n, size[0], size[1], size[2]);
}

/* b * b + 1, which is 1 at the least. */
static Op *positive(OpNet *n, Op *b)
{
	Op *one = ops_constant(n, SHAPE(1, 1, 1), 1);
	tensor_f32_data(one->value)[0] = 1;
	return ops_done(n, ops_insert(n, OP_ADD, ops_done(n, ops_insert(n, OP_MUL, b, b)), one));
}

static Op *two_tensors(OpNet *n)
{
	static const OpKind kinds[] = { OP_ADD, OP_SUB, OP_MUL, OP_PRELU,
					OP_MIN, OP_MAX, OP_DIV };
	const OpKind kind = kinds[ops_pick(n, 0, n->choice.integers ? 5 : 6)];
	const int64_t c = channels(n), height = ops_pick(n, 1, 9), width = ops_pick(n, 1, 50);
	const int first = kind != OP_PRELU && chance(n, 3) ? (int)ops_pick(n, 0, 7) : 0;
	const int second = chance(n, 3) ? 0 : (int)ops_pick(n, 0, 7);
	const bool constant = chance(n, 4);
	Op *a = operand(n, c, height, width, first, false);
	Op *b = operand(n, c, height, width, second, constant && kind != OP_DIV);
	n->scale = largest * largest;
	if (kind == OP_DIV) {
		n->roundings = 4;
		n->scale = 2 * (largest * largest + 1);
		b = positive(n, b);
	}
	if (kind != OP_PRELU && chance(n, 4))
		return ops_done(n, ops_insert(n, kind, a, a == b ? b : kind == OP_DIV ? b : a));
	if (constant && kind != OP_PRELU && kind != OP_DIV && chance(n, 2))
		return ops_done(n, ops_insert(n, kind, b, a));
	return ops_done(n, ops_insert(n, kind, a, b));
}

/* Parts that begin at multiples of 16 channels, or where the other's do. */
static Op *parts(OpNet *n)
{
	const int64_t height = ops_pick(n, 1, 8), width = ops_pick(n, 1, 40);
	const bool both = chance(n, 2);
	const int64_t c = both ? ops_pick(n, 1, 60) : 16 * ops_pick(n, 1, 3);
	const int64_t d = ops_pick(n, 1, 60);
	Op *first = ops_input(n, c, height, width), *second = ops_input(n, d, height, width);
	Op *x = ops_insert(n, OP_CONCAT, first, second);
	x->attr.axis.axis = 1;
	x = ops_done(n, x);
	Op *y = ops_input(n, both ? c : c + d, height, width);
	if (both) {
		y = ops_insert(n, OP_CONCAT, y, ops_input(n, d, height, width));
		y->attr.axis.axis = 1;
		y = ops_done(n, y);
	}
	n->scale = 2 * largest;
	return chance(n, 2) ? ops_done(n, ops_insert(n, OP_ADD, x, y))
			    : ops_done(n, ops_insert(n, OP_SUB, y, x));
}

static Op *any(OpNet *n)
{
	switch (ops_pick(n, 0, 6)) {
	case 0:
		return batch_norm(n);
	case 1:
		return with_constant(n);
	case 2:
		return parts(n);
	case 3:
	case 4:
		return depthwise(n);
	default:
		return two_tensors(n);
	}
}

Op *ops_elt(OpNet *n)
{
	Op *y = any(n);
	if (!n->choice.integers && chance(n, 6))
		return ops_done(n, ops_insert(n, OP_SIGMOID, y)); /* no steeper than 1 */
	return chance(n, 4) ? ops_done(n, ops_insert(n, OP_RELU, y)) : y;
}
