/* conv and conv_transpose, as products along three spatial dims, and the
 * count of multiply-accumulates. */
#include "runtime/ref/product.h"

#include <stdlib.h>

#include "runtime/ref/ref.h"

/* What both have in common: channels, and extents with leading 1s. */
static Product product_of(const Call *c)
{
	Shape x = c->in[0]->shape, w = c->in[1]->shape, y = c->out->shape;
	Product p = { .x = c->in[0], .weights = c->in[1],
		      .bias = c->op->nin > 2 ? c->in[2] : NULL,
		      .y = c->out, .batch = x.dim[0], .groups = c->op->attr.conv.groups,
		      .threads = c->threads };
	p.cin = x.dim[1] / p.groups;
	p.cout = y.dim[1] / p.groups;
	for (int d = 0; d < SPATIAL; d++) {
		int from = d - SPATIAL + x.rank;
		bool used = from >= 2;
		p.axis[d].in = used ? x.dim[from] : 1;
		p.axis[d].out = used ? y.dim[from] : 1;
		p.axis[d].kernel = used ? w.dim[from] : 1;
		p.axis[d].tap = xmalloc((size_t)p.axis[d].kernel * sizeof(int64_t));
		p.axis[d].at = xmalloc((size_t)p.axis[d].kernel * sizeof(int64_t));
	}
	return p;
}

static void finish(Product *p)
{
	for (int d = 0; d < SPATIAL; d++) {
		free(p->axis[d].tap);
		free(p->axis[d].at);
	}
}

void ref_conv(const Call *c)
{
	const convAttr *attr = &c->op->attr.conv;
	Product p = product_of(c);
	for (int d = 0; d < SPATIAL; d++) {
		Axis *a = &p.axis[d];
		int i = d - SPATIAL + c->out->shape.rank - 2; /* below 0: a leading 1 */
		a->count = a->out;
		a->out_step = 1;
		a->in_step = ref_item(attr->strides, i, 1);
		a->taps = a->kernel;
		for (int64_t t = 0; t < a->kernel; t++) {
			a->tap[t] = t;
			a->at[t] = t * ref_item(attr->dilations, i, 1) - ref_item(attr->pads, i, 0);
		}
	}
	ref_product(&p);
	finish(&p);
}

/* Output positions phase, phase + stride, ... of an axis of conv_transpose
 * all meet the same taps, at neighbouring inputs: input i and tap t go to
 * i*stride + t*dilation - pad. */
static void set_phase(Axis *a, int64_t phase, int64_t stride, int64_t dilation, int64_t pad)
{
	a->count = ref_ceil_div(a->out - phase, stride);
	a->out_from = phase;
	a->out_step = stride;
	a->in_step = 1;
	a->taps = 0;
	for (int64_t t = 0; t < a->kernel; t++) {
		int64_t reach = phase + pad - t * dilation;
		if (reach % stride == 0) {
			a->tap[a->taps] = t;
			a->at[a->taps++] = reach / stride;
		}
	}
}

void ref_conv_transpose(const Call *c)
{
	const convAttr *attr = &c->op->attr.conv;
	Product p = product_of(c);
	int64_t stride[SPATIAL], phases[SPATIAL], phase[SPATIAL];

	p.input_major = true;
	for (int d = 0; d < SPATIAL; d++) {
		int i = d - SPATIAL + c->out->shape.rank - 2;
		stride[d] = ref_item(attr->strides, i, 1);
		phases[d] = stride[d] < p.axis[d].out ? stride[d] : p.axis[d].out;
	}
	for (int64_t k = 0; k < phases[0] * phases[1] * phases[2]; k++) {
		phase[2] = k % phases[2];
		phase[1] = k / phases[2] % phases[1];
		phase[0] = k / phases[2] / phases[1];
		for (int d = 0; d < SPATIAL; d++) {
			int i = d - SPATIAL + c->out->shape.rank - 2;
			set_phase(&p.axis[d], phase[d], stride[d],
				  ref_item(attr->dilations, i, 1), ref_item(attr->pads, i, 0));
		}
		ref_product(&p);
	}
	finish(&p);
}

static int64_t times(int64_t a, int64_t b)
{
	return b && a > INT64_MAX / b ? INT64_MAX : a * b;
}

int64_t ref_macs_of(const Op *op)
{
	Shape w;
	switch (op->kind) {
	case OP_CONV:
	case OP_LINEAR:
		w = op_in(op, 1)->shape;
		w.dim[0] = 1; /* each output channel has its own weights */
		return times(shape_count(op->shape), shape_count(w));
	case OP_CONV_TRANSPOSE:
		w = op_in(op, 1)->shape;
		w.dim[0] = 1;
		return times(shape_count(op_in(op, 0)->shape), shape_count(w));
	case OP_MATMUL:
		w = op_in(op, 0)->shape;
		return times(shape_count(op->shape), w.dim[w.rank - 1]);
	default:
		return 0;
	}
}

int64_t ref_macs(const Graph *g)
{
	int64_t total = 0;
	for_each_op(op, g) {
		int64_t macs = ref_macs_of(op);
		total = macs > INT64_MAX - total ? INT64_MAX : total + macs;
	}
	return total;
}
