/*
 * Transposed convolutions, by output phase.
 *
 * Output row o gets input row i by tap k if o = i * stride + k * dilation - pad.
 * Of the rows o = r, r + stride, ... (row phase r) every one sees the same taps:
 * those with k * dilation = r + pad modulo the stride, every stride / g-th from
 * some k on, where g is the greatest common divisor of stride and dilation. From
 * such a tap to the next the input row is dilation / g less. So a phase is a
 * convolution of stride 1 and dilation / g with these taps, last to first; its
 * rows are stored with a step. Columns likewise: a column phase is stored as one
 * of a phased tensor, whose phases are then brought together.
 */
#include "passes/plan_conv.h"

/* The taps of a phase along one axis; none if count is 0. */
typedef struct Taps {
	int last, step, count; /* of the kernel: last, last - step, ... */
	Window window;         /* how the convolution of the phase reads */
} Taps;

static int common(int a, int b)
{
	return b ? common(b, a % b) : a;
}

static Taps taps_of(int phase, int kernel, int stride, int dilation, int pad)
{
	const int g = common(stride, dilation);
	Taps t = { .step = stride / g };
	for (int k = 0; k < kernel; k++)
		if ((k * dilation - phase - pad) % stride == 0) {
			t.last = k;
			t.count++;
		}
	t.window = (Window){ 1, 1, 1, 0 };
	if (t.count)
		t.window = (Window){ t.count, 1, dilation / g,
				     (t.last * dilation - phase - pad) / stride };
	return t;
}

/* Weights [in][out of a group][ky][kx] of an op as [out][in of a group][ky][kx],
 * of a phase's taps; a phase without any has one that is 0. */
static Tensor *phase_filter(Builder *b, const Op *op, const Taps *h, const Taps *w)
{
	const Tensor *from = op_value(op_in(op, 1));
	const int64_t *dim = from->shape.dim, groups = op->attr.conv.groups;
	const int64_t cin = dim[0] / groups, cout = dim[1], taps = dim[2] * dim[3];
	const int64_t high = h->window.size, wide = w->window.size;
	Tensor *t = tensor_create(b->a, TYPE_F32, SHAPE(groups * cout, cin, high, wide));
	float *v = tensor_f32_data(t);
	if (!h->count || !w->count)
		return t;
	for (int64_t o = 0; o < groups * cout; o++)
		for (int64_t i = 0; i < cin; i++)
			for (int64_t y = 0; y < high; y++)
				for (int64_t x = 0; x < wide; x++) {
					const int64_t in = o / cout * cin + i;
					const int64_t tap = (h->last - y * h->step) * dim[3] +
							    w->last - x * w->step;
					*v++ = (float)tensor_f64(
						from, (in * cout + o % cout) * taps + tap);
				}
	return t;
}

static void deconv_phase(Builder *b, Product *p, int row, int col, Parts out)
{
	const convAttr *c = &p->op->attr.conv;
	const int64_t *kernel = &op_in(p->op, 1)->shape.dim[2];
	const Taps h = taps_of(row, (int)kernel[0], (int)c->strides.v[0], (int)c->dilations.v[0],
			       (int)c->pads.v[0]);
	const Taps w = taps_of(col, (int)kernel[1], (int)c->strides.v[1], (int)c->dilations.v[1],
			       (int)c->pads.v[1]);
	p->filter = phase_filter(b, p->op, &h, &w);
	p->window[0] = h.window;
	p->window[1] = w.window;
	p->row = row;
	p->column_phase = col;
	plan_product(b, p, out);
}

static int least(int64_t a, int64_t b)
{
	return (int)(a < b ? a : b);
}

static bool is_two_by_two(const Op *op)
{
	const convAttr *c = &op->attr.conv;
	const Shape *w = &op_in(op, 1)->shape;
	return c->groups == 1 && w->dim[2] == 2 && w->dim[3] == 2 && ints_all(c->strides, 2) &&
	       ints_all(c->pads, 0) && ints_all(c->dilations, 1) && ints_all(c->output_padding, 0);
}

void plan_deconv(Builder *b, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	plan_check_window(b, op, &op_in(op, 1)->shape.dim[2], c->strides.v, c->dilations.v);
	plan_check_act(b, op);
	if (!plan_check_weights(b, op))
		return;
	if (is_two_by_two(op) && plan_pairs(b, op))
		return;
	const int rows = least(c->strides.v[0], op->shape.dim[2]);
	const int phases = least(c->strides.v[1], op->shape.dim[3]);
	Product p = { .op = op,
		      .in = plan_parts(b, op_in(op, 0)),
		      .groups = (int)c->groups,
		      .bias = op->nin > 2 ? op_value(op_in(op, 2)) : NULL,
		      .row_step = (int)c->strides.v[0] };
	const Parts out = plan_results(b, op, phases > 1 ? "phases" : NULL, phases);
	if (!out.n)
		return;
	p.in = plan_pieces(b, op, p.in);
	for (int row = 0; row < rows; row++)
		for (int col = 0; col < phases; col++)
			deconv_phase(b, &p, row, col, out);
	const Parts made = out.v[0].tensor->layout.phases > 1 ? plan_interleave(b, op, out) : out;
	plan_made(b, op, made.v, made.n);
}
