#include "tests/small_net.h"

#include <string.h>

#include "frontend/model.h"
#include "ir/file.h"

enum { MOST_OPS = 16, MOST_INPUTS = 2, MOST_OUTPUTS = 3, MOST_JOINED = 3, MOST_CHANNELS = 256 };

typedef struct Made {
	int channels, rows, cols;
	bool read;
	bool joined; /* no tensor of its own */
} Made;

typedef struct Net {
	FILE *f;
	Rng rng;
	const SmallNet *o;
	Made v[MOST_OPS + MOST_INPUTS];
	int n, constants;
} Net;

static int channels(Net *n)
{
	const bool whole = any_of(&n->rng, 0, 7);
	return whole ? 32 * any_of(&n->rng, 1, n->o->tiles)
		     : 16 * any_of(&n->rng, 1, 2 * n->o->tiles);
}

static void constant(Net *n, int a, int b, int c, int d)
{
	fprintf(n->f, "%%k%d = constant splat 0.5 : f32[%d,%d,%d,%d]\n", ++n->constants, a, b, c, d);
}

/* The tensor that was made last, mostly. */
static int some(Net *n) { return any_of(&n->rng, 0, 2) ? n->n - 1 : any_of(&n->rng, 0, n->n - 1); }

static Made *add(Net *n, Made m)
{
	n->v[n->n] = m;
	return &n->v[n->n++];
}

static const char *stored(Net *n) { return n->o->types && any_of(&n->rng, 0, 3) ? "bf16|bfp8_b" : "bf16"; }

static const char *weights(Net *n) { return any_of(&n->rng, 0, 2) ? "bfp8_b" : "bf16"; }

static void end(Net *n, Made m)
{
	add(n, m);
	fprintf(n->f, " : f32[1,%d,%d,%d]\n", m.channels, m.rows, m.cols);
}

static void conv(Net *n, int x)
{
	const Made in = n->v[x];
	const int kernel = any_of(&n->rng, 0, 2) ? 3 : 1, pad = kernel / 2;
	const bool halves = in.rows > 2 && in.cols > 2 && !n->o->skip && !any_of(&n->rng, 0, 3);
	const int stride = halves ? 2 : 1, out = n->o->skip ? in.channels : channels(n);
	constant(n, out, in.channels, kernel, kernel);
	fprintf(n->f, "%%t%d = conv %%t%d, %%k%d {%sdilations = [1,1], pads = [%d,%d,%d,%d], ", n->n, x,
		n->constants, any_of(&n->rng, 0, 1) ? "act = relu, " : "", pad, pad, pad, pad);
	fprintf(n->f, "stored = %s, strides = [%d,%d], weights = %s}", stored(n), stride, stride,
		weights(n));
	end(n, (Made){ out, (in.rows - 1) / stride + 1, (in.cols - 1) / stride + 1, false, false });
}

static void deconv(Net *n, int x)
{
	const Made in = n->v[x];
	const int out = channels(n);
	constant(n, in.channels, out, 2, 2);
	fprintf(n->f, "%%t%d = conv_transpose %%t%d, %%k%d {dilations = [1,1], pads = [0,0,0,0], "
		"stored = %s, strides = [2,2], weights = %s}", n->n, x, n->constants, stored(n),
		weights(n));
	end(n, (Made){ out, 2 * in.rows, 2 * in.cols, false, false });
}

static void pool(Net *n, int x)
{
	const Made in = n->v[x];
	const bool halves = in.rows >= 2 && in.cols >= 2 && !n->o->skip && any_of(&n->rng, 0, 3);
	const int kernel = halves ? 2 : 3, pad = halves ? 0 : 1, stride = halves ? 2 : 1;
	fprintf(n->f, "%%t%d = max_pool %%t%d {dilations = [1,1], kernel = [%d,%d], "
		"pads = [%d,%d,%d,%d], stored = %s, strides = [%d,%d]}", n->n, x, kernel, kernel, pad,
		pad, pad, pad, stored(n), stride, stride);
	end(n, (Made){ in.channels, in.rows / stride, in.cols / stride, false, false });
}

static void upsample(Net *n, int x)
{
	const Made in = n->v[x];
	const int rows = 2 * in.rows, cols = 2 * in.cols;
	fprintf(n->f, "%%t%d = resize %%t%d {mode = linear, scales = [1,1,2,2], "
		"sizes = [1,%d,%d,%d], stored = bf16}", n->n, x, in.channels, rows, cols);
	end(n, (Made){ in.channels, rows, cols, false, false });
}

/* A global pool, and what was pooled times it. */
static void squeeze(Net *n, int x)
{
	const Made in = n->v[x];
	const int pooled = n->n;
	fprintf(n->f, "%%t%d = global_avg_pool %%t%d {stored = bf16}", pooled, x);
	end(n, (Made){ in.channels, 1, 1, true, false });
	if (n->n >= MOST_OPS || any_of(&n->rng, 0, 1)) {
		n->v[pooled].read = false;
		return;
	}
	fprintf(n->f, "%%t%d = mul %%t%d, %%t%d {stored = bf16}", n->n, x, pooled);
	end(n, (Made){ in.channels, in.rows, in.cols, false, false });
}

static bool alike(const Made *a, const Made *b, bool with_channels)
{
	return a->rows == b->rows && a->cols == b->cols
		&& (!with_channels || a->channels == b->channels);
}

/* One before x that it can be joined or summed with; -1: none. */
static int other(Net *n, int x, bool with_channels)
{
	int found = -1;
	for (int i = 0; i < n->n; i++)
		if (i != x && !n->v[i].joined && alike(&n->v[i], &n->v[x], with_channels)
		    && (found < 0 || any_of(&n->rng, 0, 1)))
			found = i;
	return found;
}

static void unary(Net *n, int x)
{
	Made m = n->v[x];
	fprintf(n->f, "%%t%d = relu %%t%d {stored = %s}", n->n, x, stored(n));
	m.read = m.joined = false;
	end(n, m);
}

static void sum(Net *n, int x)
{
	const int y = other(n, x, true);
	Made m = n->v[x];
	if (y < 0) {
		conv(n, x);
		return;
	}
	n->v[y].read = true;
	fprintf(n->f, "%%t%d = add %%t%d, %%t%d {stored = %s}", n->n, x, y, stored(n));
	m.read = m.joined = false;
	end(n, m);
}

static void join(Net *n, int x)
{
	const int y = other(n, x, false);
	Made m = n->v[x];
	if (y < 0 || m.joined || m.channels % 16 || m.channels + n->v[y].channels > MOST_CHANNELS) {
		conv(n, x);
		return;
	}
	n->v[y].read = true;
	m.channels += n->v[y].channels;
	m.read = false;
	m.joined = true;
	fprintf(n->f, "%%t%d = concat %%t%d, %%t%d {axis = 1, stored = bf16}", n->n, x, y);
	end(n, m);
	if (n->n < MOST_OPS) {
		n->v[n->n - 1].read = true;
		conv(n, n->n - 1);
	}
}

static void op(Net *n)
{
	static void (*const ops[])(Net *, int) = { conv, conv, conv, sum, sum, join, unary, pool,
						   deconv, upsample, squeeze, join };
	enum { OPS = sizeof ops / sizeof *ops };
	const int x = some(n);
	n->v[x].read = true;
	ops[any_of(&n->rng, 0, OPS - 1)](n, x);
}

/* Something waits while others run. */
static void chain(Net *n, int ops)
{
	static void (*const kinds[])(Net *, int) = { unary, unary, pool, conv };
	const int first = n->n - 1;
	while (n->n <= first + ops) {
		n->v[n->n - 1].read = true;
		kinds[any_of(&n->rng, 0, 3)](n, n->n - 1);
	}
	n->v[n->n - 1].read = true;
	fprintf(n->f, "%%t%d = add %%t%d, %%t%d {stored = bf16}", n->n, n->n - 1, first);
	end(n, (Made){ n->v[first].channels, n->v[first].rows, n->v[first].cols, false, false });
}

const char *small_net(Arena *a, uint64_t seed, const SmallNet *o)
{
	TextFile f;
	text_open(&f);
	Net n = { .f = f.f, .rng = { seed * 7919 }, .o = o };
	const int inputs = any_of(&n.rng, 0, 3) ? 1 : 2, ops = any_of(&n.rng, o->least, o->most);
	const int rows = any_of(&n.rng, 1, o->rows), cols = any_of(&n.rng, 1, o->cols);
	fprintf(n.f, "graph \"net\"\n");
	for (int i = 0; i < inputs; i++) {
		fprintf(n.f, "%%t%d = input {stored = bf16}", i);
		const bool image = any_of(&n.rng, 0, 1);
		end(&n, (Made){ image ? 3 : channels(&n), rows, cols, false, false });
	}
	if (o->skip)
		chain(&n, ops);
	while (n.n < inputs + ops)
		op(&n);
	int outputs = 0;
	for (int i = n.n - 1; i >= 0; i--) {
		const Made *m = &n.v[i];
		if (m->read && (m->joined || outputs >= MOST_OUTPUTS || any_of(&n.rng, 0, 7)))
			continue;
		fprintf(n.f, "%%o%d = output %%t%d : f32[1,%d,%d,%d]\n", i, i, m->channels, m->rows,
			m->cols);
		outputs++;
	}
	return text_take(&f, a);
}

Graph *small_graph(Arena *a, Diag *d, const char *net)
{
	return text_parse(a, d, "net.ir", net, strlen(net), &(ModelOptions){ 0 });
}
