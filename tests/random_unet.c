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

static Op *conv(Net *n, Op *x, int64_t cout, int kernel, int dilation, OpKind act)
{
	Arena *a = n->g->arena;
	const int64_t cin = x->shape.dim[1], fan = cin * kernel * kernel;
	const int64_t pad = (int64_t)(kernel - 1) * dilation / 2;
	Op *in[] = { x, constant(n, "w", SHAPE(cout, cin, kernel, kernel), fan),
		     constant(n, "b", SHAPE(cout), fan) };
	Op *op = graph_insert(n->g, NULL, OP_CONV, "conv", 3, in);
	op->attr.conv.pads = INTS(a, pad, pad, pad, pad);
	op->attr.conv.strides = INTS(a, 1, 1);
	op->attr.conv.dilations = INTS(a, dilation, dilation);
	op = finish(n, op);
	if (act == OP_INPUT)
		return op;
	return finish(n, graph_insert(n->g, NULL, act, "act", 1, &op));
}

static Op *pool(Net *n, Op *x)
{
	Arena *a = n->g->arena;
	Op *op = graph_insert(n->g, NULL, OP_MAX_POOL, "pool", 1, &x);
	op->attr.pool.kernel = INTS(a, 2, 2);
	op->attr.pool.strides = INTS(a, 2, 2);
	op->attr.pool.pads = INTS(a, 0, 0, 0, 0);
	op->attr.pool.dilations = INTS(a, 1, 1);
	return finish(n, op);
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

static Op *join(Net *n, Op *x, Op *y)
{
	Op *op = graph_insert(n->g, NULL, OP_CONCAT, "join", 2, (Op *[]){ x, y });
	op->attr.axis.axis = 1;
	return finish(n, op);
}

static Op *some_conv(Net *n, Op *x)
{
	static const int kernels[] = { 1, 3, 3, 3, 5 };
	static const OpKind acts[] = { OP_RELU, OP_RELU, OP_INPUT, OP_SIGMOID };
	const int64_t act = pick(n, 0, n->opt->integers ? 2 : 3);
	const int kernel = kernels[pick(n, 0, 4)];
	return conv(n, x, pick(n, 1, 72), kernel, kernel == 3 && !pick(n, 0, 5) ? 2 : 1, acts[act]);
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
