#include "tests/random_unet.h"

#include <assert.h>
#include <math.h>

typedef struct Net {
	Graph *g;
	Rng rng;
	const NetOptions *opt;
} Net;

static int64_t pick(Net *n, int64_t least, int64_t most)
{
	return least + rng_below(&n->rng, most - least + 1);
}

/* Around zero, of the size that keeps activations near 1; or one of -1, 0, 1,
 * mostly 0: about two of a sum are not. */
static float value(Net *n, int64_t fan_in)
{
	if (n->opt->integers)
		return pick(n, 0, fan_in / 2) ? 0 : (float)pick(n, -1, 1);
	return (2 * rng_float(&n->rng) - 1) * sqrtf(6.0f / (float)fan_in);
}

static Op *constant(Net *n, const char *name, Shape shape, int64_t fan_in)
{
	Tensor *t = tensor_create(n->g->arena, TYPE_F32, shape);
	float *v = tensor_f32_data(t);
	for (int64_t i = 0; i < tensor_count(t); i++)
		v[i] = value(n, fan_in);
	return graph_constant(n->g, NULL, name, t);
}

static void hint(Net *n, Op *op, const char *key, DevTypes type)
{
	if (!type)
		return;
	if (type == (DEV_BF16 | DEV_BFP8_B))
		type = pick(n, 0, 1) ? DEV_BF16 : DEV_BFP8_B;
	if (!op->hints)
		op->hints = arena_array(n->g->arena, Hint, 2);
	op->hints[op->nhints++] = (Hint){ key, type == DEV_BFP8_B ? "bfp8_b" : "bf16" };
}

static Op *finish(Net *n, Op *op)
{
	const bool ok = op_infer(n->g, op);
	assert(ok);
	(void)ok;
	if (op->kind == OP_INPUT || op->kind == OP_OUTPUT)
		return op;
	hint(n, op, "stored", n->opt->stored);
	if (op_is(op, WEIGHTS))
		hint(n, op, "weights", n->opt->weights);
	return op;
}

/* Windows by axis, rows first; pads as ONNX has them. */
typedef struct ConvWindow {
	int64_t kernel[2], dilation[2], pads[4];
} ConvWindow;

static Op *activate(Net *n, Op *x, OpKind act)
{
	return act == OP_INPUT ? x : finish(n, graph_insert(n->g, NULL, act, "act", 1, &x));
}

static Op *window_conv(Net *n, Op *x, int64_t cout, const ConvWindow *w, OpKind act)
{
	Arena *a = n->g->arena;
	const int64_t *k = w->kernel, *p = w->pads, cin = x->shape.dim[1];
	const int64_t fan = cin * k[0] * k[1];
	Op *in[] = { x, constant(n, "w", SHAPE(cout, cin, k[0], k[1]), fan),
		     constant(n, "b", SHAPE(cout), fan) };
	Op *op = graph_insert(n->g, NULL, OP_CONV, "conv", 3, in);
	op->attr.conv.pads = INTS(a, p[0], p[1], p[2], p[3]);
	op->attr.conv.strides = INTS(a, 1, 1);
	op->attr.conv.dilations = INTS(a, w->dilation[0], w->dilation[1]);
	return activate(n, finish(n, op), act);
}

static Op *conv(Net *n, Op *x, int64_t cout, int kernel, int dilation, OpKind act)
{
	const int64_t pad = (int64_t)(kernel - 1) * dilation / 2;
	const ConvWindow w = { { kernel, kernel }, { dilation, dilation }, { pad, pad, pad, pad } };
	return window_conv(n, x, cout, &w, act);
}

static Op *window_pool(Net *n, Op *x, const int64_t kernel[2], const int64_t stride[2])
{
	Arena *a = n->g->arena;
	Op *op = graph_insert(n->g, NULL, OP_MAX_POOL, "pool", 1, &x);
	op->attr.pool.kernel = INTS(a, kernel[0], kernel[1]);
	op->attr.pool.strides = INTS(a, stride[0], stride[1]);
	op->attr.pool.pads = INTS(a, 0, 0, 0, 0);
	op->attr.pool.dilations = INTS(a, 1, 1);
	return finish(n, op);
}

static Op *pool(Net *n, Op *x)
{
	const int64_t two[] = { 2, 2 };
	return window_pool(n, x, two, two);
}

static Op *deconv(Net *n, Op *x, int64_t cout)
{
	Arena *a = n->g->arena;
	const int64_t cin = x->shape.dim[1];
	Op *in[] = { x, constant(n, "u", SHAPE(cin, cout, 2, 2), cin),
		     constant(n, "c", SHAPE(cout), cin) };
	Op *op = graph_insert(n->g, NULL, OP_CONV_TRANSPOSE, "up", 3, in);
	op->attr.conv.pads = INTS(a, 0, 0, 0, 0);
	op->attr.conv.strides = INTS(a, 2, 2);
	op->attr.conv.dilations = INTS(a, 1, 1);
	return finish(n, op);
}

static Op *join_all(Net *n, int count, Op **x)
{
	Op *op = graph_insert(n->g, NULL, OP_CONCAT, "join", count, x);
	op->attr.axis.axis = 1;
	return finish(n, op);
}

static Op *join(Net *n, Op *x, Op *y) { return join_all(n, 2, (Op *[]){ x, y }); }

static OpKind some_act(Net *n)
{
	static const OpKind acts[] = { OP_RELU, OP_RELU, OP_INPUT, OP_SIGMOID };
	return acts[pick(n, 0, n->opt->integers ? 2 : 3)];
}

static Op *some_conv(Net *n, Op *x)
{
	static const int kernels[] = { 1, 3, 3, 3, 5 };
	const OpKind act = some_act(n);
	const int kernel = kernels[pick(n, 0, 4)];
	return conv(n, x, pick(n, 1, 72), kernel, kernel == 3 && !pick(n, 0, 5) ? 2 : 1, act);
}

static Net begin(Arena *a, Diag *d, uint64_t seed, const NetOptions *opt)
{
	return (Net){ graph_create(a, d, "net"), { seed }, opt };
}

static Op *input(Net *n, Shape shape)
{
	Op *x = graph_insert(n->g, NULL, OP_INPUT, "x", 0, NULL);
	x->dtype = TYPE_F32;
	x->shape = shape;
	return finish(n, x);
}

/* What the host reads is bf16, whatever the hints say. */
static Graph *end(Net *n, Op *y)
{
	for (int i = 0; i < y->nhints; i++)
		if (y->hints[i].key[0] == 's')
			y->hints[i].value = "bf16";
	finish(n, graph_insert(n->g, NULL, OP_OUTPUT, "y", 1, &y));
	return n->g;
}

Graph *random_unet(Arena *a, Diag *d, uint64_t seed, const NetOptions *opt)
{
	Net n = begin(a, d, seed, opt);
	Op *skip[4];
	const int levels = (int)pick(&n, 0, opt->levels);
	const int most = opt->most_width ? opt->most_width : 70;
	const int64_t unit = 1 << levels;
	const int64_t h = pick(&n, 1, 40 / unit) * unit, w = pick(&n, 1, most / unit) * unit;
	Op *x = some_conv(&n, input(&n, SHAPE(1, pick(&n, 1, 5), h, w)));
	for (int i = 0; i < levels; i++) {
		skip[i] = x;
		x = some_conv(&n, pool(&n, x));
	}
	for (int i = levels; i-- > 0;) {
		x = deconv(&n, x, pick(&n, 1, 48));
		x = some_conv(&n, pick(&n, 0, 3) ? join(&n, x, skip[i]) : x);
	}
	return end(&n, conv(&n, x, pick(&n, 1, 20), 1, 1, OP_INPUT));
}

/* ---- nets of any shape ---- */

enum {
	MOST_OPS = 7,
	MOST_ELEMENTS = 400000,  /* of a tensor */
	MOST_WEIGHTS = 150000,   /* of a layer */
	MOST_PRODUCTS = 20000000,
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Any kernel and padding that leave an image; the kernel may be wider than it. */
static ConvWindow some_window(Net *n, const Op *x)
{
	static const int kernels[] = { 1, 1, 2, 3, 3, 3, 4, 5, 7 };
	ConvWindow w;
	for (int i = 0; i < 2; i++) {
		const int64_t size = x->shape.dim[2 + i];
		w.kernel[i] = kernels[pick(n, 0, 8)];
		w.dilation[i] = pick(n, 0, 3) ? 1 : pick(n, 2, 4);
		const int64_t reach = (w.kernel[i] - 1) * w.dilation[i];
		const int64_t most = least(reach + 1, 16);
		w.pads[i] = pick(n, 0, 1) ? reach / 2 : pick(n, 0, most);
		w.pads[2 + i] = pick(n, 0, 1) ? least(reach - reach / 2, 16) : pick(n, 0, most);
		if (w.pads[i] > 16 || size + w.pads[i] + w.pads[2 + i] <= reach)
			w.kernel[i] = 1, w.pads[i] = w.pads[2 + i] = 0;
	}
	return w;
}

static Op *wild_conv(Net *n, Op *x)
{
	const ConvWindow w = some_window(n, x);
	const int64_t cin = x->shape.dim[1], taps = w.kernel[0] * w.kernel[1];
	const int64_t pixels = (x->shape.dim[2] + 16) * (x->shape.dim[3] + 16);
	int64_t most = pick(n, 0, 5) ? 72 : 300;
	most = least(most, least(MOST_WEIGHTS / (cin * taps), MOST_ELEMENTS / pixels));
	most = least(most, MOST_PRODUCTS / (cin * taps * pixels));
	return window_conv(n, x, pick(n, 1, most < 1 ? 1 : most), &w, some_act(n));
}

static Op *wild_pool(Net *n, Op *x)
{
	int64_t kernel[2], stride[2];
	for (int i = 0; i < 2; i++) {
		kernel[i] = least(pick(n, 1, 3), x->shape.dim[2 + i]);
		stride[i] = pick(n, 1, 3);
	}
	return window_pool(n, x, kernel, stride);
}

/* Tensors of one size, one of them perhaps several times. */
static Op *wild_join(Net *n, Op *x, Op **live, int nlive)
{
	Op *in[4] = { x };
	const int64_t want = pick(n, 2, 4);
	int count = 1;
	for (int tries = 0; count < want && tries < 20; tries++) {
		Op *y = live[pick(n, 0, nlive - 1)];
		if (y->shape.dim[2] == x->shape.dim[2] && y->shape.dim[3] == x->shape.dim[3])
			in[count++] = y;
	}
	return join_all(n, count, in);
}

static Op *wild_op(Net *n, Op **live, int nlive)
{
	Op *x = live[pick(n, 0, 5) ? nlive - 1 : pick(n, 0, nlive - 1)];
	switch (pick(n, 0, 9)) {
	case 0:
	case 1:
		return wild_pool(n, x);
	case 2:
		if (shape_count(x->shape) < MOST_ELEMENTS / 8)
			return deconv(n, x, pick(n, 1, 48));
		return wild_conv(n, x);
	case 3:
		return activate(n, x, n->opt->integers ? OP_RELU : some_act(n));
	case 4:
	case 5:
		return wild_join(n, x, live, nlive);
	default:
		return wild_conv(n, x);
	}
}

NetOptions wild_options(uint64_t seed)
{
	static const DevTypes types[] = { DEV_UNSET, DEV_UNSET, DEV_BFP8_B, DEV_BF16 | DEV_BFP8_B };
	return (NetOptions){ .integers = seed & 1, .stored = types[seed >> 1 & 3],
			     .weights = types[seed >> 3 & 3] };
}

Graph *random_wild(Arena *a, Diag *d, uint64_t seed, const NetOptions *opt)
{
	Net n = begin(a, d, seed, opt);
	Op *live[1 + MOST_OPS];
	const int64_t channels = pick(&n, 1, 20), h = pick(&n, 1, 80), w = pick(&n, 1, 200);
	const int count = (int)pick(&n, 1, MOST_OPS);
	live[0] = input(&n, SHAPE(1, channels, h, w));
	for (int i = 1; i <= count; i++)
		live[i] = wild_op(&n, live, i);
	return end(&n, live[count]);
}

Graph *random_conv(Arena *a, Diag *d, uint64_t seed, const ConvShape *c, const NetOptions *opt)
{
	Net n = begin(a, d, seed, opt);
	Op *x = input(&n, SHAPE(1, c->cin, c->height, c->width));
	return end(&n, conv(&n, x, c->cout, c->kernel, c->dilation, c->act));
}

Graph *random_chain(Arena *a, Diag *d, uint64_t seed, int count, int channels, int size)
{
	const NetOptions opt = { .weights = DEV_BFP8_B };
	Net n = begin(a, d, seed, &opt);
	Op *x = input(&n, SHAPE(1, channels, size, size));
	for (int i = 0; i < count; i++)
		x = conv(&n, x, channels, 3, 1, OP_RELU);
	return end(&n, x);
}

void random_image(float *to, int64_t count, uint64_t seed, const NetOptions *opt)
{
	Rng r = { seed };
	for (int64_t i = 0; i < count; i++)
		to[i] = opt->integers ? (float)rng_below(&r, 3) - 1 : 2 * rng_float(&r) - 1;
}
