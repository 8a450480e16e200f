/* Ops of random nets: arithmetic, activations, norms, and what moves pixels or channels. */
#include <math.h>
#include <string.h>

#include "tests/random_net.h"
#include "tests/spatial_ops.h"

static int on(RandomNet *n, OpKind kind, Attrs attr, int x)
{
	return net_add(n, &(Candidate){ kind, attr, 1, { { x, NULL } } });
}

static int unary(RandomNet *n, OpKind kind, int x) { return on(n, kind, attrs_default(kind), x); }

static bool alike(Shape a, Shape b, bool with_channels)
{
	return a.dim[2] == b.dim[2] && a.dim[3] == b.dim[3]
		&& (!with_channels || a.dim[1] == b.dim[1]);
}

/* A value that goes with x: of its shape, of its size, or one that spreads over it;
 * x itself if there is no other. */
static int other(RandomNet *n, int x, bool with_channels, bool spread)
{
	const Shape s = n->v[x].value->shape;
	int found = x;
	for (int i = 0; i < n->nv; i++) {
		const Shape o = n->v[i].value->shape;
		Shape both;
		const bool ok = spread ? shape_broadcast(s, o, &both) && shape_equal(both, s)
				       : alike(s, o, with_channels);
		if (i != x && !n->v[i].edge && ok && (found == x || net_chance(n, 2)))
			found = i;
	}
	return found;
}

/* A shape that spreads over that of x. */
static Shape constant_shape(RandomNet *n, int x)
{
	const Shape s = n->v[x].value->shape;
	const int64_t one = net_pick(n, 0, 7);
	switch (net_pick(n, 0, 4)) {
	case 0:
		return (Shape){ 0 };
	case 1:
		return SHAPE(s.dim[1], 1, 1);
	case 2:
		return SHAPE(1, s.dim[1], 1, 1);
	default:
		return SHAPE(1, one & 1 ? 1 : s.dim[1], one & 2 ? 1 : s.dim[2],
			     one & 4 ? 1 : s.dim[3]);
	}
}

/* Never near 0. */
static Tensor *divisor(RandomNet *n, Shape shape)
{
	Tensor *t = tensor_create(n->g->arena, TYPE_F32, shape);
	for (int64_t i = 0; i < tensor_count(t); i++) {
		const float v = n->exact ? 1 : (float)net_pick(n, 32, 127) / 64;
		tensor_f32_data(t)[i] = net_chance(n, 2) ? v : -v;
	}
	return t;
}

static int clipped(RandomNet *n, int x, float least, float most)
{
	return on(n, OP_CLIP, (Attrs){ .clip = { .max = most, .min = least } }, x);
}

static int binary(RandomNet *n, OpKind kind, int x)
{
	Candidate c = { kind, attrs_default(kind), 2, { { x, NULL } } };
	if (net_chance(n, 3)) {
		const Shape s = constant_shape(n, x);
		c.in[1].constant = kind == OP_DIV ? divisor(n, s) : net_constant(n, s);
	} else {
		int y = other(n, x, true, net_chance(n, 2));
		if (kind == OP_DIV)
			y = clipped(n, y, 1, 4);
		if (y < 0)
			return -1;
		c.in[1].value = y;
	}
	if (kind != OP_DIV && kind != OP_PRELU && net_chance(n, 4)) {
		const Operand first = c.in[0];
		c.in[0] = c.in[1];
		c.in[1] = first;
	}
	return net_add(n, &c);
}

static int add(RandomNet *n, int x) { return binary(n, OP_ADD, x); }
static int sub(RandomNet *n, int x) { return binary(n, OP_SUB, x); }
static int mul(RandomNet *n, int x) { return binary(n, OP_MUL, x); }
static int divide(RandomNet *n, int x) { return binary(n, OP_DIV, x); }
static int min(RandomNet *n, int x) { return binary(n, OP_MIN, x); }
static int max(RandomNet *n, int x) { return binary(n, OP_MAX, x); }
static int prelu(RandomNet *n, int x) { return binary(n, OP_PRELU, x); }

static int relu(RandomNet *n, int x) { return unary(n, OP_RELU, x); }
static int sigmoid(RandomNet *n, int x) { return unary(n, OP_SIGMOID, x); }
static int silu(RandomNet *n, int x) { return unary(n, OP_SILU, x); }
static int hyperbolic(RandomNet *n, int x) { return unary(n, OP_TANH, x); }
static int hard_swish(RandomNet *n, int x) { return unary(n, OP_HARD_SWISH, x); }
static int gelu(RandomNet *n, int x) { return unary(n, OP_GELU, x); }
static int gelu_tanh(RandomNet *n, int x) { return unary(n, OP_GELU_TANH, x); }
static int identity(RandomNet *n, int x) { return unary(n, OP_IDENTITY, x); }
static int dropout(RandomNet *n, int x) { return unary(n, OP_DROPOUT, x); }
static int global_avg(RandomNet *n, int x) { return unary(n, OP_GLOBAL_AVG_POOL, x); }
static int global_max(RandomNet *n, int x) { return unary(n, OP_GLOBAL_MAX_POOL, x); }

static int sloped(RandomNet *n, OpKind kind, int x)
{
	const float slope = n->exact ? 0.5f : (float)net_pick(n, -64, 64) / 64;
	return on(n, kind, (Attrs){ .alpha.alpha = slope }, x);
}

static int leaky_relu(RandomNet *n, int x) { return sloped(n, OP_LEAKY_RELU, x); }
static int elu(RandomNet *n, int x) { return sloped(n, OP_ELU, x); }

static int clip(RandomNet *n, int x)
{
	const float low = net_chance(n, 4) ? -INFINITY : (float)net_pick(n, -3, 0);
	return clipped(n, x, low, net_chance(n, 4) ? INFINITY : (float)net_pick(n, 1, 6));
}

static int hard_sigmoid(RandomNet *n, int x)
{
	const float alpha = n->exact ? 0.125f : (float)net_pick(n, 1, 64) / 64;
	return on(n, OP_HARD_SIGMOID, (Attrs){ .alpha_beta = { alpha, 0.5f } }, x);
}

static int batch_norm(RandomNet *n, int x)
{
	const Shape c = SHAPE(n->v[x].value->shape.dim[1]);
	Tensor *variance = tensor_create(n->g->arena, TYPE_F32, c);
	for (int64_t i = 0; i < c.dim[0]; i++)
		tensor_f32_data(variance)[i] = n->exact ? 1 : (float)net_pick(n, 16, 255) / 64;
	Candidate op = { OP_BATCH_NORM, attrs_default(OP_BATCH_NORM), 5, { { x, NULL } } };
	op.attr.norm.epsilon = n->exact ? 0 : 1e-5f;
	for (int i = 1; i < 4; i++)
		op.in[i].constant = net_constant(n, c);
	op.in[4].constant = variance;
	return net_add(n, &op);
}

static int instance_norm(RandomNet *n, int x)
{
	const Shape c = SHAPE(n->v[x].value->shape.dim[1]);
	Candidate op = { OP_INSTANCE_NORM, attrs_default(OP_INSTANCE_NORM), 3, { { x, NULL } } };
	op.attr.norm.epsilon = 1e-3f;
	op.in[1].constant = net_constant(n, c);
	op.in[2].constant = net_constant(n, c);
	return net_add(n, &op);
}

static int softmax(RandomNet *n, int x)
{
	return on(n, OP_SOFTMAX, (Attrs){ .axis.axis = 1 }, x);
}

static int concat(RandomNet *n, int x)
{
	Candidate c = { OP_CONCAT, { .axis.axis = 1 }, (int)net_pick(n, 2, 4), { { x, NULL } } };
	for (int i = 1; i < c.nin; i++)
		c.in[i].value = other(n, x, false, false);
	return net_add(n, &c);
}

/* What spatial_ops.h makes of an op, without one. */
static int spatial(RandomNet *n, OpKind kind, int x)
{
	const Shape s = n->v[x].value->shape;
	Arena *a = n->g->arena;
	Op op = { .kind = kind, .attr = attrs_default(kind) };
	if (kind == OP_RESIZE)
		spatial_resize(a, &n->rng, &op, s, 80);
	else if (kind == OP_AVG_POOL)
		spatial_pool(a, &n->rng, &op);
	else if (kind == OP_PAD)
		spatial_pad(a, &n->rng, &op, s);
	else
		spatial_slice(a, &n->rng, &op, s);
	if (kind == OP_RESIZE && n->exact) {
		op.attr.resize.mode = RESIZE_NEAREST;
		op.attr.resize.antialias = false;
	}
	return on(n, kind, op.attr, x);
}

static int resize(RandomNet *n, int x) { return spatial(n, OP_RESIZE, x); }
static int avg_pool(RandomNet *n, int x) { return spatial(n, OP_AVG_POOL, x); }
static int pad(RandomNet *n, int x) { return spatial(n, OP_PAD, x); }

/* Of rows and columns, or of channels, whole planes or not. */
static int slice(RandomNet *n, int x)
{
	const Shape s = n->v[x].value->shape;
	Arena *a = n->g->arena;
	if (net_chance(n, 2))
		return spatial(n, OP_SLICE, x);
	const int64_t unit = net_chance(n, 2) && s.dim[1] > 16 ? 16 : 1;
	const int64_t from = unit * net_pick(n, 0, (s.dim[1] - 1) / unit);
	return on(n, OP_SLICE, (Attrs){ .slice = {
		.counts = INTS(a, s.dim[0], net_pick(n, 1, s.dim[1] - from), s.dim[2], s.dim[3]),
		.starts = INTS(a, 0, from, 0, 0), .steps = INTS(a, 1, 1, 1, 1) } }, x);
}

/* Moves of channels are products with ones: of so many weights at most. */
enum { MOST_ONES = 5000000 };

static int some_channels(RandomNet *n, int x, int64_t count)
{
	const int64_t from = n->v[x].value->shape.dim[1];
	int64_t *pick = arena_array(n->g->arena, int64_t, count);
	if (from * count > MOST_ONES)
		return -1;
	for (int64_t i = 0; i < count; i++)
		pick[i] = net_pick(n, 0, from - 1);
	return on(n, OP_SELECT_CHANNELS, (Attrs){ .channels.channels = { (int)count, pick } }, x);
}

static int select_channels(RandomNet *n, int x)
{
	const int64_t from = n->v[x].value->shape.dim[1];
	return some_channels(n, x, net_pick(n, 1, from < 60 ? 60 : from));
}

static int to_space(RandomNet *n, int x)
{
	const int64_t block = net_pick(n, 2, 4);
	const BlockOrder order = net_chance(n, 2) ? ORDER_DCR : ORDER_CRD;
	if (n->v[x].value->shape.dim[1] % (block * block)) /* as many channels as it takes */
		x = some_channels(n, x, block * block * net_pick(n, 1, 12));
	if (x < 0 || n->v[x].value->shape.dim[1] * n->v[x].value->shape.dim[1] > MOST_ONES)
		return -1;
	return on(n, OP_DEPTH_TO_SPACE, (Attrs){ .block = { block, order } }, x);
}

static int to_depth(RandomNet *n, int x)
{
	const Shape s = n->v[x].value->shape;
	const int64_t block = net_pick(n, 2, 4);
	const int64_t down = (block - s.dim[2] % block) % block;
	const int64_t right = (block - s.dim[3] % block) % block;
	if (s.dim[1] * s.dim[1] * block * block * block * block > MOST_ONES)
		return -1;
	if (down + right)
		x = on(n, OP_PAD,
		       (Attrs){ .pad.pads = INTS(n->g->arena, 0, 0, 0, 0, 0, 0, down, right) }, x);
	return x < 0 ? -1 : on(n, OP_SPACE_TO_DEPTH, (Attrs){ .block.block = block }, x);
}

NetMaker *const net_makers[] = {
	net_conv, add, net_deconv, relu, net_max_pool, concat, net_conv, resize, softmax, prelu,
	slice, net_depthwise, leaky_relu, avg_pool, mul, net_conv, to_space, silu, instance_norm,
	pad, net_linear, sub, net_deconv, sigmoid, global_avg, divide, net_max_pool, net_conv, elu,
	select_channels, min, clip, global_max, net_depthwise, batch_norm, hard_swish, identity,
	max, net_conv, gelu, to_depth, hyperbolic, concat, gelu_tanh, dropout, hard_sigmoid, add,
};
const int net_maker_count = sizeof net_makers / sizeof *net_makers;
