/* Ops of random nets that slide windows or multiply with weights. */
#include "tests/random_net.h"

typedef struct Slide {
	int64_t kernel[2], stride[2], dilation[2], pad[4];
} Slide;

/* Channels of what a view looks at: more are several tensors, joined by so many weights
 * squared. */
enum { MOST_FLAT = 3000 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Windows of which at least one fits; both ways alike, or not. */
static Slide slide(RandomNet *n, Shape s, int64_t most_kernel)
{
	Slide w;
	const bool same = net_chance(n, 2);
	for (int i = 0; i < 2; i++) {
		const int64_t size = s.dim[2 + i];
		w.kernel[i] = net_pick(n, 1, net_chance(n, 3) ? most_kernel : 3);
		w.stride[i] = net_chance(n, 2) ? 1 : net_pick(n, 1, 4);
		w.dilation[i] = net_chance(n, 3) ? net_pick(n, 1, 4) : 1;
		if (i && same) {
			w.kernel[1] = w.kernel[0];
			w.stride[1] = w.stride[0];
			w.dilation[1] = w.dilation[0];
		}
		const int64_t reach = (w.kernel[i] - 1) * w.dilation[i];
		w.pad[i] = net_chance(n, 2) ? reach / 2 : net_pick(n, 0, reach);
		w.pad[i + 2] = net_chance(n, 2) ? reach - reach / 2 : net_pick(n, 0, reach);
		if (size + w.pad[i] + w.pad[i + 2] <= reach)
			w.pad[i] = w.pad[i + 2] = reach;
	}
	return w;
}

static convAttr conv_attr(RandomNet *n, const Slide *w, int64_t groups)
{
	Arena *a = n->g->arena;
	return (convAttr){ .dilations = ints_copy(a, w->dilation, 2), .groups = groups,
			   .pads = ints_copy(a, w->pad, 4), .strides = ints_copy(a, w->stride, 2) };
}

static int64_t outputs(RandomNet *n)
{
	switch (net_pick(n, 0, 9)) {
	case 0:
		return 1;
	case 1:
		return 32 * net_pick(n, 1, 4);
	case 2:
		return net_pick(n, 100, 300);
	case 3:
		return net_pick(n, net_chance(n, 2) ? 4000 : 1000, 4096);
	default:
		return net_pick(n, 1, 72);
	}
}

/* Some number that divides the channels, but not all of them. */
static int64_t groups(RandomNet *n, int64_t channels)
{
	int64_t g = 1;
	if (!net_chance(n, 3))
		return 1;
	for (int64_t i = 2; i < channels && i <= 64; i++)
		if (channels % i == 0 && (g == 1 || net_chance(n, 2)))
			g = i;
	return g;
}

static int with_bias(RandomNet *n, Candidate *c, int64_t channels)
{
	if (net_chance(n, 2))
		c->in[c->nin++].constant = net_constant(n, SHAPE(channels));
	return net_add(n, c);
}

int net_conv(RandomNet *n, int x)
{
	const Shape s = n->v[x].value->shape;
	const Slide w = slide(n, s, 7);
	const int64_t g = groups(n, s.dim[1]), ins = s.dim[1] / g;
	const int64_t outs = g > 1 ? g * net_pick(n, 1, net_chance(n, 2) ? 32 : 8) : outputs(n);
	const int64_t fan = ins * w.kernel[0] * w.kernel[1];
	if (outs * fan > 300000 || outs * fan * g > 3000000) /* groups may be joined */
		return -1;
	Candidate c = { OP_CONV, { .conv = conv_attr(n, &w, g) }, 2, {
		{ x, NULL },
		{ 0, net_weights(n, SHAPE(outs, ins, w.kernel[0], w.kernel[1]), fan) } } };
	return with_bias(n, &c, outs);
}

int net_depthwise(RandomNet *n, int x)
{
	const Shape s = n->v[x].value->shape;
	const Slide w = slide(n, s, 5);
	const int64_t taps = w.kernel[0] * w.kernel[1];
	const int64_t times = net_chance(n, 4) ? 2 : 1; /* several of each channel */
	const Shape filter = SHAPE(times * s.dim[1], 1, w.kernel[0], w.kernel[1]);
	Candidate c = { OP_CONV, { .conv = conv_attr(n, &w, s.dim[1]) }, 2,
			{ { x, NULL }, { 0, net_weights(n, filter, taps) } } };
	return with_bias(n, &c, times * s.dim[1]);
}

int net_deconv(RandomNet *n, int x)
{
	const Shape s = n->v[x].value->shape;
	Slide w = slide(n, s, 5);
	int64_t more[2];
	for (int i = 0; i < 2; i++) {
		const int64_t reach = (w.kernel[i] - 1) * w.dilation[i];
		more[i] = net_chance(n, 2) ? 0 : net_pick(n, 0, w.stride[i] - 1);
		w.pad[i] = net_pick(n, 0, reach / 2);
		w.pad[i + 2] = net_pick(n, 0, reach / 2);
	}
	if (net_chance(n, 3))
		w = (Slide){ { 2, 2 }, { 2, 2 }, { 1, 1 }, { 0, 0, 0, 0 } };
	const int64_t g = groups(n, s.dim[1]), outs = g * net_pick(n, 1, g > 1 ? 16 : 72);
	const int64_t fan = s.dim[1] / g * w.kernel[0] * w.kernel[1];
	if (outs * fan > 300000 || outs * fan * g > 3000000)
		return -1;
	Candidate c = { OP_CONV_TRANSPOSE, { .conv = conv_attr(n, &w, g) }, 2, {
		{ x, NULL },
		{ 0, net_weights(n, SHAPE(s.dim[1], outs / g, w.kernel[0], w.kernel[1]), fan) } } };
	if (w.stride[0] > more[0] && w.stride[1] > more[1])
		c.attr.conv.output_padding = INTS(n->g->arena, more[0], more[1]);
	return with_bias(n, &c, outs);
}

int net_max_pool(RandomNet *n, int x)
{
	Arena *a = n->g->arena;
	Slide w = slide(n, n->v[x].value->shape, 5);
	for (int i = 0; i < 4; i++) /* no window lies in the padding alone */
		if (w.pad[i] >= w.kernel[i % 2])
			w.pad[i] = w.kernel[i % 2] - 1;
	const Candidate c = { OP_MAX_POOL, { .pool = {
		.ceil = net_chance(n, 2), .dilations = ints_copy(a, w.dilation, 2),
		.kernel = ints_copy(a, w.kernel, 2), .pads = ints_copy(a, w.pad, 4),
		.strides = ints_copy(a, w.stride, 2) } }, 1, { { x, NULL } } };
	return net_add(n, &c);
}

static int reshaped(RandomNet *n, int x, Shape shape)
{
	const Candidate c = { OP_RESHAPE, { .shape.shape = ints_of_shape(n->g->arena, shape) }, 1,
			      { { x, NULL } } };
	return net_add(n, &c);
}

/* All pixels of an image as a row, or their mean. */
int net_linear(RandomNet *n, int x)
{
	Shape s = n->v[x].value->shape;
	if (s.dim[1] > MOST_FLAT)
		return -1;
	if (s.dim[2] * s.dim[3] > 1) {
		const OpKind kind = n->exact || net_chance(n, 2) ? OP_GLOBAL_MAX_POOL
								 : OP_GLOBAL_AVG_POOL;
		x = net_add(n, &(Candidate){ kind, attrs_default(kind), 1, { { x, NULL } } });
		if (x < 0)
			return -1;
	}
	const int64_t ins = s.dim[1], outs = least(outputs(n), MOST_FLAT);
	const int flat = reshaped(n, x, SHAPE(s.dim[0], ins));
	if (flat < 0 || ins * outs > 300000)
		return -1;
	const bool matmul = net_chance(n, 3);
	const OpKind kind = matmul ? OP_MATMUL : OP_LINEAR;
	Candidate c = { kind, attrs_default(kind), 2, {
		{ flat, NULL },
		{ 0, net_weights(n, matmul ? SHAPE(ins, outs) : SHAPE(outs, ins), ins) } } };
	const int y = matmul ? net_add(n, &c) : with_bias(n, &c, outs);
	return y < 0 || net_chance(n, 2) ? y : reshaped(n, y, SHAPE(s.dim[0], outs, 1, 1));
}

int net_head(RandomNet *n, int x)
{
	const Shape s = n->v[x].value->shape;
	const Candidate turn = { OP_TRANSPOSE, { .perm.perm = INTS(n->g->arena, 0, 2, 3, 1) }, 1,
				 { { x, NULL } } };
	if (s.dim[1] > MOST_FLAT)
		return -1;
	if (net_chance(n, 2))
		return reshaped(n, x, SHAPE(s.dim[0], s.dim[1], s.dim[2] * s.dim[3]));
	const int turned = net_add(n, &turn);
	if (turned < 0)
		return -1;
	n->v[turned].edge = true;
	return net_chance(n, 2) ? turned
		: reshaped(n, turned, SHAPE(s.dim[0], s.dim[2] * s.dim[3], s.dim[1]));
}
