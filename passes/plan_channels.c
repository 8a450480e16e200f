/*
 * Moves of channels as products with ones: 1x1 convolutions, strided ones and
 * the phases of transposed ones. A value times one and nothing else is exact.
 */
#include "passes/plan_conv.h"

static const Product plain = { .groups = 1,
			       .row_step = 1,
			       .window = { { 1, 1, 1, 0 }, { 1, 1, 1, 0 } } };

static int64_t count_of(Parts v)
{
	int64_t n = 0;
	for (int i = 0; i < v.n; i++)
		n += v.v[i].channels;
	return n;
}

/* The planes of a part that hold any of the n channels, counted from its first;
 * no channels if none does. */
static Part used(Part part, const int64_t *channels, int64_t n, int64_t base)
{
	int64_t low = part.channels, high = -1;
	for (int64_t k = 0; k < n; k++) {
		const int64_t c = channels[k] - base;
		if (c < 0 || c >= part.channels)
			continue;
		low = c < low ? c : low;
		high = c > high ? c : high;
	}
	const int first = (int)(low / PLANE), end = (int)(high / PLANE + 1) * PLANE;
	if (high < 0)
		return (Part){ part.tensor, part.plane, 0 };
	return (Part){ part.tensor, part.plane + first,
		       (end < part.channels ? end : part.channels) - first * PLANE };
}

void plan_select(Builder *b, const Product *where, Parts in, const int64_t *channels, Parts out)
{
	const int64_t n = count_of(out);
	int64_t *column = arena_array(b->a, int64_t, n + 1), base = 0, width = 0;
	Parts read = { arena_array(b->a, Part, in.n + 1), 0 };
	for (int i = 0; i < in.n; base += in.v[i++].channels) {
		const Part u = used(in.v[i], channels, n, base);
		const int64_t first = base + (u.plane - in.v[i].plane) * PLANE;
		for (int64_t k = 0; k < n; k++)
			if (channels[k] >= first && channels[k] < first + u.channels)
				column[k] = width + channels[k] - first;
		if (u.channels)
			read.v[read.n++] = u;
		width += u.channels;
	}
	Tensor *filter = tensor_create(b->a, TYPE_F32, SHAPE(n, width, 1, 1));
	for (int64_t k = 0; k < n; k++)
		tensor_f32_data(filter)[k * width + column[k]] = 1;
	Product p = *where;
	p.in = read;
	p.filter = filter;
	plan_product(b, &p, out);
}

/* Channels first, first + step, ... where they begin a plane and follow each
 * other; false if some do not. */
static bool aligned(Parts in, int64_t first, int64_t n, int64_t step, Parts *out)
{
	int64_t base = 0;
	for (int i = 0; i < in.n && (step == 1 || n == 1) && n > 0; base += in.v[i++].channels) {
		const int64_t from = first - base, here = in.v[i].channels - from;
		if (here <= 0)
			continue;
		const int64_t count = here < n ? here : n;
		if (from % PLANE)
			return false;
		out->v[out->n++] =
			(Part){ in.v[i].tensor, in.v[i].plane + (int)from / PLANE, (int)count };
		first += count;
		n -= count;
	}
	return n == 0;
}

/* Channels first, first + step, ... in tensors of their own, all planes but the last
 * full, as many as buffers take; bit for bit. */
static Parts copied(Builder *b, const Op *op, Parts in, int64_t first, int64_t n, int64_t step)
{
	const int64_t most = plan_most_channels(b, 1);
	const PlanTensor *like = in.v[0].tensor;
	const int before = b->plan->nsteps;
	int64_t *channels = arena_array(b->a, int64_t, n);
	Parts out = { arena_array(b->a, Part, n / most + 1), 0 };
	Product p = plain;
	p.op = op;
	for (int64_t i = 0; i < n; i++)
		channels[i] = first + i * step;
	for (int64_t at = 0; at < n; at += most) {
		const int count = (int)(n - at < most ? n - at : most);
		PlanTensor *t = plan_tensor(b, op, arena_printf(b->a, "channels%d", b->plan->ntensors),
					    (int)at, count, like->height, like->layout.cols);
		for (int i = 0; i < in.n; i++)
			if (in.v[i].tensor->layout.type == DEV_BF16)
				t->layout.type = DEV_BF16;
		out.v[out.n++] = (Part){ t, 0, count };
	}
	plan_select(b, &p, in, channels, out);
	for (int i = before; i < b->plan->nsteps; i++) {
		Step *s = &b->plan->steps[i];
		s->act = (Act){ 0 };
		s->ones = s->kind == STEP_CONV;
		s->phases = s->kind == STEP_CONV ? 4 : s->phases; /* all bits of a pixel */
	}
	return out;
}

Parts plan_slice_channels(Builder *b, const Op *op, Parts in, int64_t first, int64_t n,
			  int64_t step)
{
	Parts whole = { arena_array(b->a, Part, in.n + 1), 0 };
	return aligned(in, first, n, step, &whole) ? whole : copied(b, op, in, first, n, step);
}

Parts plan_close_up(Builder *b, const Op *op, Parts in)
{
	return copied(b, op, in, 0, count_of(in), 1);
}

void plan_select_channels(Builder *b, const Op *op)
{
	Product p = plain;
	p.op = op;
	const Parts out = plan_results(b, op, NULL, 1);
	if (!out.n)
		return;
	plan_select(b, &p, plan_parts(b, op_in(op, 0)), op->attr.channels.channels.v, out);
	plan_made(b, op, out.v, out.n);
}

/* Channel of the deep tensor that holds channel c of place (y, x) of a block. */
static int64_t deep_channel(const blockAttr *a, int64_t channels, int64_t c, int64_t y, int64_t x)
{
	const int64_t at = y * a->block + x;
	return a->order == ORDER_DCR ? at * channels + c : c * a->block * a->block + at;
}

void plan_depth_to_space(Builder *b, const Op *op)
{
	const blockAttr *a = &op->attr.block;
	const int64_t channels = op->shape.dim[1];
	int64_t *from = arena_array(b->a, int64_t, channels);
	const Parts out = plan_results(b, op, a->block > 1 ? "phases" : NULL, (int)a->block);
	Product p = plain;
	p.op = op;
	p.row_step = (int)a->block;
	if (!out.n)
		return;
	for (p.row = 0; p.row < a->block; p.row++)
		for (p.column_phase = 0; p.column_phase < a->block; p.column_phase++) {
			for (int64_t c = 0; c < channels; c++)
				from[c] = deep_channel(a, channels, c, p.row, p.column_phase);
			plan_select(b, &p, plan_parts(b, op_in(op, 0)), from, out);
		}
	const Parts made = out.v[0].tensor->layout.phases > 1 ? plan_interleave(b, op, out) : out;
	plan_made(b, op, made.v, made.n);
}

void plan_space_to_depth(Builder *b, const Op *op)
{
	const blockAttr *a = &op->attr.block;
	const int64_t n = a->block, channels = op_in(op, 0)->shape.dim[1];
	const int64_t strides[] = { n, n }, ones[] = { 1, 1 };
	plan_check_window(b, op, strides, strides, ones);
	Tensor *filter = tensor_create(b->a, TYPE_F32, SHAPE(channels * n * n, channels, n, n));
	float *v = tensor_f32_data(filter);
	for (int64_t c = 0; c < channels; c++)
		for (int64_t y = 0; y < n; y++)
			for (int64_t x = 0; x < n; x++)
				v[((deep_channel(a, channels, c, y, x) * channels + c) * n + y) *
					  n +
				  x] = 1;
	Product p = { .op = op,
		      .groups = 1,
		      .row_step = 1,
		      .filter = filter,
		      .window = { { (int)n, (int)n, 1, 0 }, { (int)n, (int)n, 1, 0 } } };
	const Parts out = plan_results(b, op, NULL, 1);
	if (!out.n)
		return;
	p.in = plan_pieces(b, op, plan_parts(b, op_in(op, 0)));
	if (n > 1)
		p.in = plan_phased(b, op, p.in, (int)n);
	plan_product(b, &p, out);
	plan_made(b, op, out.v, out.n);
}
