#include "tests/random_graph.h"

#include <math.h>

Builder builder_create(Arena *a, Diag *d, uint64_t seed)
{
	return (Builder){ .g = graph_create(a, d, "random"), .rng = { seed } };
}

static int64_t pick(Builder *b, int64_t n)
{
	return rng_below(&b->rng, n);
}

static bool toss(Builder *b)
{
	return pick(b, 2);
}

Op *build(Builder *b, OpKind kind, Attrs attr, int nin, Op *const in[])
{
	Op *op = graph_insert(b->g, NULL, kind,
		arena_printf(b->g->arena, "%s%d", op_info[kind].name, b->g->nops), nin, in);
	op->attr = attr;
	if (!op_infer(b->g, op))
		die("the generator made a wrong %s", op_info[kind].name);
	return op;
}

Op *build_random_input(Builder *b, Shape shape)
{
	Op *x = graph_insert(b->g, NULL, OP_INPUT, arena_printf(b->g->arena, "x%d", b->ninputs++),
			     0, NULL);
	x->dtype = TYPE_F32;
	x->shape = shape;
	return x;
}

void build_output(Builder *b, Op *x)
{
	Op *y = graph_insert(b->g, NULL, OP_OUTPUT, arena_printf(b->g->arena, "y%d", b->noutputs++),
			     1, &x);
	op_infer(b->g, y);
}

Op *build_constant(Builder *b, Shape shape, double lo, double hi)
{
	Tensor *t = tensor_create(b->g->arena, TYPE_F32, shape);
	for (int64_t i = 0; i < tensor_count(t); i++)
		tensor_set_f64(t, i, lo + (hi - lo) * (double)rng_float(&b->rng));
	return graph_constant(b->g, NULL, arena_printf(b->g->arena, "w%d", b->g->nops), t);
}

Op *build_unary(Builder *b, OpKind kind, Op *x)
{
	return build(b, kind, attrs_default(kind), 1, &x);
}

Op *build_binary(Builder *b, OpKind kind, Op *x, Op *y)
{
	return build(b, kind, attrs_default(kind), 2, (Op *[]){ x, y });
}

static Op *scalar(Builder *b, double v)
{
	return build_constant(b, toss(b) ? (Shape){ 0 } : SHAPE(1), v, v);
}

Op *build_reshape(Builder *b, Op *x, Shape shape)
{
	return build(b, OP_RESHAPE, (Attrs){ .shape.shape = ints_of_shape(b->g->arena, shape) },
		     1, &x);
}

Op *build_conv(Builder *b, Op *x, int64_t outputs, int64_t kernel, int64_t stride,
	       int64_t groups, bool bias)
{
	Arena *a = b->g->arena;
	const int64_t ins = x->shape.dim[1] / groups, pad = kernel / 2;
	const double size = sqrt(6.0 / (double)(ins * kernel * kernel));
	Op *in[3] = { x, build_constant(b, SHAPE(outputs, ins, kernel, kernel), -size, size) };
	if (bias)
		in[2] = build_constant(b, SHAPE(outputs), -1, 1);
	return build(b, OP_CONV, (Attrs){ .conv = {
		.dilations = ints_fill(a, 1, 2), .groups = groups,
		.pads = toss(b) ? ints_fill(a, pad, 4) : INTS(a, 0, 0, 2 * pad, 2 * pad),
		.strides = ints_fill(a, stride, 2) } }, 2 + bias, in);
}

Op *build_conv_transpose(Builder *b, Op *x, int64_t outputs, int64_t groups)
{
	Arena *a = b->g->arena;
	const double size = sqrt(6.0 / (double)(x->shape.dim[1] / groups));
	const Shape weights = SHAPE(x->shape.dim[1], outputs / groups, 2, 2);
	Op *in[3] = { x, build_constant(b, weights, -size, size) };
	const bool bias = toss(b);
	if (bias)
		in[2] = build_constant(b, SHAPE(outputs), -1, 1);
	return build(b, OP_CONV_TRANSPOSE, (Attrs){ .conv = {
		.dilations = ints_fill(a, 1, 2), .groups = groups, .pads = ints_fill(a, 0, 4),
		.strides = ints_fill(a, 2, 2) } }, 2 + bias, in);
}

Op *build_batch_norm(Builder *b, Op *x)
{
	const Shape c = SHAPE(x->shape.dim[1]);
	Op *in[] = { x, build_constant(b, c, 0.5, 1.5), build_constant(b, c, -0.5, 0.5),
		     build_constant(b, c, -0.5, 0.5), build_constant(b, c, 0.5, 1.5) };
	return build(b, OP_BATCH_NORM, (Attrs){ .norm = { .epsilon = 1e-5f, .groups = 1 } }, 5, in);
}

Op *build_pool(Builder *b, OpKind kind, Op *x, int64_t kernel, int64_t stride, int64_t pad)
{
	Arena *a = b->g->arena;
	return build(b, kind, (Attrs){ .pool = {
		.dilations = ints_fill(a, 1, 2), .kernel = ints_fill(a, kernel, 2),
		.pads = ints_fill(a, pad, 4), .strides = ints_fill(a, stride, 2) } }, 1, &x);
}

static Op *random_conv(Builder *b, Op *x)
{
	const int64_t c = x->shape.dim[1], sizes[] = { 1, 3 };
	const int64_t outs[] = { 4, 6, 8, 16 };
	switch (pick(b, 5)) {
	case 0: /* depthwise */
		return build_conv(b, x, c, 3, 1 + pick(b, 2), c, toss(b));
	case 1:
		return build_conv(b, x, 2 * c <= 32 ? 2 * c : c, sizes[pick(b, 2)], 1,
				  c % 2 ? 1 : 2, toss(b));
	case 2:
		return build_conv_transpose(b, x, outs[pick(b, 4)], 1);
	default:
		return build_conv(b, x, outs[pick(b, 4)], sizes[pick(b, 2)], 1, 1, toss(b));
	}
}

/* A constant per channel, in one of the shapes people write. */
static Op *per_channel(Builder *b, const Op *x, double lo, double hi)
{
	const int64_t c = x->shape.dim[1];
	switch (pick(b, 3)) {
	case 0:
		return build_constant(b, SHAPE(c, 1, 1), lo, hi);
	case 1:
		return build_constant(b, SHAPE(1, c, 1, 1), lo, hi);
	default:
		return scalar(b, lo + (hi - lo) * (double)rng_float(&b->rng));
	}
}

static Op *random_arith(Builder *b, Op *x)
{
	switch (pick(b, 6)) {
	case 0:
		return build_binary(b, OP_ADD, x, per_channel(b, x, -1, 1));
	case 1:
		return build_binary(b, OP_ADD, per_channel(b, x, -1, 1), x);
	case 2:
		return build_binary(b, OP_SUB, x, per_channel(b, x, -1, 1));
	case 3:
		return build_binary(b, OP_MUL, per_channel(b, x, 0.5, 1.5), x);
	case 4:
		return build_binary(b, OP_DIV, x, per_channel(b, x, 0.5, 1.5));
	default:
		return build_binary(b, OP_SUB, per_channel(b, x, -1, 1), x);
	}
}

static Op *random_act(Builder *b, Op *x)
{
	const OpKind plain[] = { OP_RELU, OP_SIGMOID, OP_TANH, OP_SILU, OP_HARD_SWISH, OP_GELU,
				 OP_IDENTITY, OP_DROPOUT, OP_NEG };
	Op *t;
	switch (pick(b, 8)) {
	case 0:
		return build_binary(b, OP_MUL, x, build_unary(b, OP_SIGMOID, x));
	case 1:
		t = build_binary(b, OP_ADD, scalar(b, 3), x);
		t = build(b, OP_CLIP, (Attrs){ .clip = { .max = 6, .min = 0 } }, 1, &t);
		return build_binary(b, OP_DIV, build_binary(b, OP_MUL, t, x), scalar(b, 6));
	case 2:
		t = build_unary(b, OP_ERF, build_binary(b, OP_DIV, x, scalar(b, sqrt(2))));
		t = build_binary(b, OP_ADD, t, scalar(b, 1));
		return build_binary(b, OP_MUL, build_binary(b, OP_MUL, x, t), scalar(b, 0.5));
	case 3:
		return build_binary(b, OP_MAX, x, scalar(b, 0));
	case 4:
		return build_binary(b, OP_PRELU, x, per_channel(b, x, 0, 0.5));
	case 5:
		return build(b, OP_LEAKY_RELU, (Attrs){ .alpha.alpha = 0.1f }, 1, &x);
	default:
		return build_unary(b, plain[pick(b, sizeof plain / sizeof *plain)], x);
	}
}

static Op *random_pad(Builder *b, Op *x)
{
	const float values[] = { 0, 0, 1, -INFINITY };
	const float value = values[pick(b, 4)];
	Op *p = build(b, OP_PAD, (Attrs){ .pad = {
		.pads = INTS(b->g->arena, 0, 0, pick(b, 2), 1, 0, 0, pick(b, 2), pick(b, 2)),
		.value = value } }, 1, &x);
	if (value == -INFINITY || toss(b))
		return build_pool(b, OP_MAX_POOL, p, 3, 1 + pick(b, 2), pick(b, 2));
	return toss(b) ? build_pool(b, OP_AVG_POOL, p, 3, 2, pick(b, 2)) : p;
}

static Op *channel_slice(Builder *b, Op *x, int64_t start, int64_t count, int64_t step)
{
	Arena *a = b->g->arena;
	const Shape s = x->shape;
	return build(b, OP_SLICE, (Attrs){ .slice = {
		.counts = INTS(a, s.dim[0], count, s.dim[2], s.dim[3]),
		.starts = INTS(a, 0, start, 0, 0), .steps = INTS(a, 1, step, 1, 1) } }, 1, &x);
}

static Op *concat(Builder *b, Op *x, Op *y, int64_t axis)
{
	return build(b, OP_CONCAT, (Attrs){ .axis.axis = axis }, 2, (Op *[]){ x, y });
}

static Op *random_shuffle(Builder *b, Op *x)
{
	const Shape s = x->shape;
	const int64_t c = s.dim[1];
	Tensor *t;
	Op *r;
	if (c % 2)
		return x;
	switch (pick(b, 4)) {
	case 0:
		r = build_reshape(b, x, SHAPE(s.dim[0], 2, c / 2, s.dim[2], s.dim[3]));
		return build_reshape(b, build_transpose(b, r, 0, 2, 1, 3, 4), s);
	case 1:
		t = tensor_create(b->g->arena, TYPE_I64, SHAPE(c));
		for (int64_t i = 0; i < c; i++)
			tensor_set_i64(t, i, (i * 3 + 1) % c);
		return build(b, OP_GATHER, (Attrs){ .axis.axis = 1 }, 2,
			(Op *[]){ x, graph_constant(b->g, NULL, "index", t) });
	case 2:
		r = channel_slice(b, x, c / 2, c / 2, 1);
		return concat(b, r, channel_slice(b, x, 0, c / 2, 1), 1);
	default:
		return channel_slice(b, x, pick(b, 2), c / 2, 2);
	}
}

/* An NHWC part: a bias, an activation, perhaps a pad or a join, and back. */
static Op *random_island(Builder *b, Op *x)
{
	const int64_t c = x->shape.dim[1];
	Op *t = build_transpose(b, x, 0, 2, 3, 1);
	Op *y = build_binary(b, OP_ADD, t, build_constant(b, SHAPE(c), -1, 1));
	if (toss(b))
		y = build_unary(b, OP_RELU, y);
	switch (pick(b, 5)) {
	case 0:
		y = build(b, OP_PAD,
			  (Attrs){ .pad.pads = INTS(b->g->arena, 0, 1, 0, 0, 0, 1, 1, 0) }, 1, &y);
		break;
	case 1:
		y = concat(b, t, y, 3);
		break;
	case 2:
		y = build(b, OP_SOFTMAX, (Attrs){ .axis.axis = 3 }, 1, &y);
		break;
	case 3:
		y = build_binary(b, OP_MATMUL, y, build_constant(b, SHAPE(c, 6), -0.5, 0.5));
		break;
	default:
		y = build_binary(b, OP_ADD, y, t);
	}
	return build_transpose(b, y, 0, 3, 1, 2);
}

/* Every second row and column, four ways, joined. */
static Op *focus(Builder *b, Op *x)
{
	Arena *a = b->g->arena;
	const Shape s = x->shape;
	Op *parts[4];
	const bool swapped = toss(b);
	for (int64_t i = 0; i < 4; i++) {
		const int64_t row = swapped ? i % 2 : i / 2, column = swapped ? i / 2 : i % 2;
		parts[i] = build(b, OP_SLICE, (Attrs){ .slice = {
			.counts = INTS(a, s.dim[0], s.dim[1], s.dim[2] / 2, s.dim[3] / 2),
			.starts = INTS(a, 0, 0, row, column),
			.steps = INTS(a, 1, 1, 2, 2) } }, 1, &x);
	}
	return build(b, OP_CONCAT, (Attrs){ .axis.axis = 1 }, 4, parts);
}

static Op *random_space(Builder *b, Op *x)
{
	const Shape s = x->shape;
	Op *r;
	if (s.dim[1] < 8 && s.dim[2] % 2 == 0 && s.dim[3] % 2 == 0 && s.dim[2] * s.dim[3] > 63)
		return focus(b, x);
	if (s.dim[1] % 4 || s.dim[2] * s.dim[3] > 256)
		return build_pool(b, OP_MAX_POOL, x, 2, 1, 0);
	switch (pick(b, 3)) {
	case 0:
		r = build_reshape(b, x, SHAPE(s.dim[0], s.dim[1] / 4, 2, 2, s.dim[2], s.dim[3]));
		return build_reshape(b, build_transpose(b, r, 0, 1, 4, 2, 5, 3),
			SHAPE(s.dim[0], s.dim[1] / 4, 2 * s.dim[2], 2 * s.dim[3]));
	case 1:
		return build(b, OP_DEPTH_TO_SPACE, (Attrs){ .block.block = 2 }, 1, &x);
	default:
		return build(b, OP_RESIZE, (Attrs){ .resize = {
			.mode = toss(b) ? RESIZE_LINEAR : RESIZE_NEAREST, .coord = COORD_ASYMMETRIC,
			.nearest = ROUND_FLOOR,
			.scales = floats_copy(b->g->arena, (float[]){ 1, 1, 2, 2 }, 4),
			.sizes = INTS(b->g->arena, s.dim[0], s.dim[1], 2 * s.dim[2],
				      2 * s.dim[3]) } }, 1, &x);
	}
}

/* x scaled by what a small net makes of its mean, in one of two layouts. */
static Op *squeeze_excite(Builder *b, Op *x)
{
	const int64_t n = x->shape.dim[0], c = x->shape.dim[1];
	Op *m = build(b, OP_REDUCE_MEAN, (Attrs){ .reduce = {
		.axes = INTS(b->g->arena, 2, 3), .keepdims = false } }, 1, &x);
	m = build_binary(b, OP_MATMUL, m, build_constant(b, SHAPE(c, 4), -0.5, 0.5));
	m = build_unary(b, OP_RELU, build_binary(b, OP_ADD, m, build_constant(b, SHAPE(4), -1, 1)));
	m = build_binary(b, OP_LINEAR, m, build_constant(b, SHAPE(c, 4), -0.5, 0.5));
	m = build_unary(b, OP_SIGMOID, m);
	m = build_reshape(b, m, SHAPE(n, c, 1, 1));
	if (toss(b))
		m = build(b, OP_EXPAND,
			  (Attrs){ .shape.shape = ints_of_shape(b->g->arena, x->shape) }, 1, &m);
	return build_binary(b, OP_MUL, x, m);
}

static Op *random_step(Builder *b, Op *x, Op *skip)
{
	switch (pick(b, 12)) {
	case 0:
	case 1:
		return random_conv(b, x);
	case 2:
		return build_batch_norm(b, toss(b) ? x : random_conv(b, x));
	case 3:
		return random_arith(b, x);
	case 4:
	case 5:
		return random_act(b, x);
	case 6:
		return random_pad(b, x);
	case 7:
		return random_shuffle(b, x);
	case 8:
		return random_island(b, x);
	case 9:
		return random_space(b, x);
	case 10:
		return squeeze_excite(b, x);
	default:
		if (shape_equal(x->shape, skip->shape))
			return toss(b) ? build_binary(b, OP_ADD, x, skip) : concat(b, x, skip, 1);
		return random_act(b, x);
	}
}

/* The way a detector's or a classifier's output leaves the graph. */
static Op *random_head(Builder *b, Op *x)
{
	const Shape s = x->shape;
	const int64_t c = s.dim[1], area = s.dim[2] * s.dim[3];
	Op *t;
	switch (pick(b, 6)) {
	case 0:
		t = build_reshape(b, build_transpose(b, x, 0, 2, 3, 1), SHAPE(s.dim[0], area, c));
		return build_unary(b, OP_SIGMOID, t);
	case 1:
		t = build_transpose(b, x, 0, 2, 3, 1);
		t = build_reshape(b, t, c % 2 ? SHAPE(s.dim[0], area, c)
					      : SHAPE(s.dim[0], area * c / 2, 2));
		t = concat(b, t, build_unary(b, OP_RELU, t), 1);
		return build(b, OP_SOFTMAX, (Attrs){ .axis.axis = 2 }, 1, &t);
	case 2:
		t = toss(b) ? x : build_transpose(b, x, 0, 2, 3, 1);
		t = build_reshape(b, t, SHAPE(s.dim[0], c * area));
		t = build_binary(b, OP_MATMUL, t, build_constant(b, SHAPE(c * area, 5), -0.1, 0.1));
		return build_binary(b, OP_ADD, t, build_constant(b, SHAPE(1, 5), -1, 1));
	case 3:
		t = build_reshape(b, x, SHAPE(s.dim[0], c, area));
		return build_transpose(b, concat(b, t, t, 2), 0, 2, 1);
	case 4:
		t = build_pool(b, OP_AVG_POOL, x, s.dim[2] < s.dim[3] ? s.dim[2] : s.dim[3], 1, 0);
		return t;
	default:
		return x;
	}
}

Graph *random_graph(Arena *a, Diag *d, uint64_t seed)
{
	Builder b = builder_create(a, d, seed);
	const int64_t channels = 2 * (1 + pick(&b, 4)), size = 6 + pick(&b, 4);
	const int64_t batch = 1 + pick(&b, 4) / 3;
	Op *x, *skip;
	if (toss(&b)) {
		x = build_random_input(&b, SHAPE(batch, size, size, channels));
		if (toss(&b))
			x = build_binary(&b, OP_MUL, x,
					 build_constant(&b, SHAPE(channels), 0.5, 1));
		if (toss(&b))
			x = build(&b, OP_PAD, (Attrs){
				.pad.pads = INTS(a, 0, 1, 0, 0, 0, 0, 1, 0) }, 1, &x);
		x = build_transpose(&b, x, 0, 3, 1, 2);
	} else {
		x = build_random_input(&b, SHAPE(batch, channels, size, size));
	}
	skip = x;
	for (int64_t i = 0, n = 3 + pick(&b, 8); i < n; i++) {
		Op *y = random_step(&b, x, skip);
		if (pick(&b, 3) == 0)
			skip = x;
		x = y;
		/* windows may not eat it up, nor blocks blow it up */
		if (x->shape.dim[2] < 4 || x->shape.dim[3] < 4 || shape_count(x->shape) > 8192)
			break;
	}
	build_output(&b, random_head(&b, x));
	if (toss(&b))
		build_output(&b, random_head(&b, skip));
	return b.g;
}
