#include "tests/random_net.h"

#include <math.h>
#include <string.h>

#include "runtime/ref/ref.h"

enum {
	MOST_OPS = 6,
	TRIES = 60,
	MOST_ELEMENTS = 60000, /* of a value */
	MOST_SIZE = 400,       /* rows or columns */
	MOST_CHANNELS = 4096,
};
static const int64_t most_macs = 6000000;
static const double most_range = 64;

int64_t net_pick(RandomNet *n, int64_t least, int64_t most)
{
	const int64_t values = most - least + 1;
	return least + rng_below(&n->rng, values);
}

bool net_chance(RandomNet *n, int64_t of) { return net_pick(n, 1, of) == 1; }

double net_greatest(const Tensor *t)
{
	double most = 0;
	for (int64_t i = 0; i < tensor_count(t); i++)
		most = fmax(most, fabs(tensor_f64(t, i)));
	return most;
}

double net_least(const Tensor *t)
{
	double least = INFINITY;
	for (int64_t i = 0; i < tensor_count(t); i++)
		least = fmin(least, fabs(tensor_f64(t, i)));
	return least;
}

Tensor *net_weights(RandomNet *n, Shape shape, int64_t fan)
{
	Tensor *t = tensor_create(n->g->arena, TYPE_F32, shape);
	const int down = (int)lrint(log2(1.15 * sqrt((double)fan)));
	for (int64_t i = 0; i < tensor_count(t); i++)
		tensor_f32_data(t)[i] = n->exact
			? net_pick(n, 0, fan / 2) ? 0 : (float)net_pick(n, -1, 1)
			: ldexpf((float)net_pick(n, -127, 127), -6 - down);
	return t;
}

Tensor *net_constant(RandomNet *n, Shape shape)
{
	Tensor *t = tensor_create(n->g->arena, TYPE_F32, shape);
	for (int64_t i = 0; i < tensor_count(t); i++)
		tensor_f32_data(t)[i] = n->exact ? (float)net_pick(n, -2, 2)
						 : (float)net_pick(n, -127, 127) / 64;
	return t;
}

/* Is every element k / 2^s for the same s, of seven bits? */
static bool is_exact(const Tensor *t)
{
	const double most = net_greatest(t);
	int s = 0;
	while (s < 6 && ldexp(most, s + 1) < 128)
		s++;
	for (int64_t i = 0; i < tensor_count(t); i++) {
		const double v = ldexp(tensor_f64(t, i), s);
		if (v != floor(v))
			return false;
	}
	return most < 128;
}

static bool fits(const Op *op)
{
	const Shape s = op->shape;
	for (int i = 0; i < s.rank; i++)
		if (s.dim[i] < 1 || s.dim[i] > (i == 1 ? MOST_CHANNELS : i ? MOST_SIZE : 4))
			return op->shape.rank != 4 && shape_count(s) <= MOST_ELEMENTS;
	return shape_count(s) <= MOST_ELEMENTS && ref_macs_of(op) <= most_macs;
}

/* What the op makes of the values; NULL if it is not right or too much. */
static Tensor *evaluate(RandomNet *n, const Candidate *c)
{
	Arena *a = arena_create();
	Diag d = { .to = n->nowhere };
	Graph *g = graph_create(a, &d, "try");
	Op *in[NET_OPERANDS];
	Tensor *x[NET_OPERANDS], *y = NULL;
	int nx = 0;
	for (int i = 0; i < c->nin; i++) {
		if (c->in[i].constant) {
			in[i] = graph_constant(g, NULL, "w", c->in[i].constant);
			continue;
		}
		x[nx] = n->v[c->in[i].value].value;
		in[i] = graph_insert(g, NULL, OP_INPUT, "x", 0, NULL);
		in[i]->dtype = x[nx]->dtype;
		in[i]->shape = x[nx++]->shape;
	}
	Op *op = graph_insert(g, NULL, c->kind, "y", c->nin, in);
	op->attr = c->attr;
	bool ok = op_infer(g, op) && fits(op)
		&& op_infer(g, graph_insert(g, NULL, OP_OUTPUT, "out", 1, &op));
	ok = ok && ref_run(g, n->g->arena, x, &y, &(RefOptions){ .threads = 1 });
	diag_finish(&d);
	arena_destroy(a);
	return ok ? y : NULL;
}

static const char *type_name(RandomNet *n, DevTypes allowed)
{
	if (allowed == (DEV_BF16 | DEV_BFP8_B))
		return net_chance(n, 2) ? "bf16" : "bfp8_b";
	return dev_type_name(allowed);
}

static void hint(RandomNet *n, Op *op)
{
	if (op->shape.rank != 4)
		return;
	op->hints = arena_array(n->g->arena, Hint, 2);
	if (n->stored)
		op->hints[op->nhints++] = (Hint){ "stored", type_name(n, n->stored) };
	if (n->weights && op_is(op, WEIGHTS))
		op->hints[op->nhints++] = (Hint){ "weights", type_name(n, n->weights) };
}

static Op *insert(RandomNet *n, const Candidate *c, NetValue *v)
{
	Graph *g = n->g;
	Op *in[NET_OPERANDS];
	for (int i = 0; i < c->nin; i++) {
		v->in[i] = c->in[i].constant ? -1 : c->in[i].value;
		if (v->in[i] >= 0)
			n->v[v->in[i]].read = true;
		in[i] = v->in[i] < 0 ? graph_constant(g, NULL, "w", c->in[i].constant)
				     : graph_find(g, n->v[v->in[i]].name);
	}
	Op *op = graph_insert(g, NULL, c->kind, op_info[c->kind].name, c->nin, in);
	op->attr = c->attr;
	if (!op_infer(g, op))
		die("'%s' was right when it was tried", op->name);
	hint(n, op);
	return op;
}

int net_add(RandomNet *n, const Candidate *c)
{
	if (n->nv == NET_VALUES)
		return -1;
	NetValue v = { .kind = c->kind, .nin = c->nin, .value = evaluate(n, c) };
	if (!v.value)
		return -1;
	v.range = net_greatest(v.value);
	v.edge = v.value->shape.rank != 4;
	if (!(v.range > 0 && v.range <= (n->exact ? 127 : most_range)) ||
	    (n->exact && !is_exact(v.value)) || !net_error(n, c, v.value, &v.error))
		return -1;
	v.name = insert(n, c, &v)->name;
	n->v[n->nv] = v;
	return n->nv++;
}

/* Now and then as the host has it, in bytes. */
static void input(RandomNet *n, int64_t channels, int64_t height, int64_t width)
{
	const bool bytes = net_chance(n, 8);
	Op *op = graph_insert(n->g, NULL, OP_INPUT, "x", 0, NULL);
	op->dtype = bytes ? TYPE_U8 : TYPE_F32;
	op->shape = SHAPE(n->batch, channels, height, width);
	Tensor *t = tensor_create(n->g->arena, op->dtype, op->shape);
	for (int64_t i = 0; i < tensor_count(t); i++)
		tensor_set_f64(t, i, bytes ? (double)net_pick(n, 0, 3)
			       : n->exact ? (double)net_pick(n, -7, 7)
					  : (double)net_pick(n, -127, 127) / 64);
	if (net_greatest(t) == 0)
		tensor_set_f64(t, 0, 1);
	if (!op_infer(n->g, op))
		die("the generator made a wrong input");
	n->x[n->nx++] = t;
	n->v[n->nv++] = (NetValue){ .name = op->name, .kind = OP_INPUT, .value = t,
				    .range = net_greatest(t), .edge = bytes };
	Candidate cast = { OP_CAST, { .cast.to = TYPE_F32 }, 1, { { n->nv - 1, NULL } } };
	if (bytes && net_add(n, &cast) < 0)
		die("an input of bytes has no floats");
}

static int64_t channels(RandomNet *n, int64_t most)
{
	const int64_t up_to[] = { 1, 8, 40, 40, 130, 300, 1100, 4096 };
	const int64_t k = up_to[net_pick(n, 0, 7)];
	if (net_chance(n, 4) && most >= 16)
		return 16 * net_pick(n, 1, (k < most ? k : most) / 16 + 1);
	return net_pick(n, k > 4000 && most > 4000 ? 4000 : 1, k < most ? k : most);
}

/* Of every kind of image: one pixel, one row, one column, wide, tall. */
static void inputs(RandomNet *n, uint64_t seed)
{
	static const struct { int64_t height[2], width[2]; } sizes[] = {
		{ { 1, 1 }, { 1, 1 } },   { { 1, 1 }, { 2, 90 } },  { { 2, 40 }, { 1, 1 } },
		{ { 2, 14 }, { 2, 70 } }, { { 4, 30 }, { 4, 30 } }, { { 1, 5 }, { 60, 300 } },
		{ { 60, 200 }, { 1, 9 } }, { { 16, 48 }, { 16, 64 } },
	};
	const int kind = (int)(seed / 3 % 8);
	const int64_t h = net_pick(n, sizes[kind].height[0], sizes[kind].height[1]);
	const int64_t w = net_pick(n, sizes[kind].width[0], sizes[kind].width[1]);
	const int64_t most = MOST_ELEMENTS / 2 / (h * w * n->batch);
	const int64_t c = channels(n, most < 1 ? 1 : most > 4096 ? 4096 : most);
	input(n, c, h, w);
	if (net_chance(n, 4))
		input(n, net_chance(n, 2) ? c : channels(n, most < 1 ? 1 : most), h, w);
}

/* Some value, mostly the last. */
static int some(RandomNet *n)
{
	int x = n->nv - 1;
	while (n->v[x].edge || (x && net_chance(n, 4)))
		x = x ? x - 1 : n->nv - 1;
	return x;
}

/* Every value that nothing reads is one, and now and then one that something does. */
static void outputs(RandomNet *n)
{
	const int made = n->nv;
	for (int i = 0; i < made; i++) {
		const NetValue *v = &n->v[i];
		if (v->kind == OP_INPUT || (v->read && (v->edge || !net_chance(n, 12))))
			continue;
		const int from = !v->edge && net_chance(n, 6) ? net_head(n, i) : i;
		n->out[n->nout++] = from >= 0 ? from : i;
	}
	if (!n->nout) /* an input alone is read by what does nothing */
		n->out[n->nout++] = n->nv - 1;
	for (int i = 0; i < n->nout; i++) {
		Op *from = graph_find(n->g, n->v[n->out[i]].name);
		if (!op_infer(n->g, graph_insert(n->g, NULL, OP_OUTPUT, "out", 1, &from)))
			die("the generator made a wrong output");
	}
}

RandomNet *random_net(Arena *a, Diag *d, uint64_t seed)
{
	static const DevTypes types[] = { DEV_UNSET, DEV_UNSET, DEV_BF16, DEV_BFP8_B,
					  DEV_BF16 | DEV_BFP8_B };
	RandomNet *n = arena_new(a, RandomNet);
	n->g = graph_create(a, d, "net");
	n->rng.state = rng_next(&(Rng){ seed });
	n->exact = seed % 5 < 2;
	n->batch = net_chance(n, 2) ? 1 : net_pick(n, 1, 4);
	n->stored = net_chance(n, 5) ? DEV_F32 : types[net_pick(n, 0, 4)];
	n->weights = net_chance(n, 4) ? DEV_F32 : types[net_pick(n, 0, 4)];
	n->nowhere = fopen("/dev/null", "w");
	inputs(n, seed);
	int first = -1;
	for (int t = 0; t < TRIES && first < 0; t++) {
		NetMaker *make = net_makers[(seed + (uint64_t)t / 8) % (uint64_t)net_maker_count];
		first = make(n, some(n));
	}
	const int ops = (int)net_pick(n, 0, MOST_OPS - 1), from = n->nv;
	for (int t = 0; t < TRIES && n->nv < from + ops; t++)
		net_makers[net_pick(n, 0, net_maker_count - 1)](n, some(n));
	outputs(n);
	fclose(n->nowhere);
	return n;
}
