/*
 * Steps that multiply with weights.
 *
 * A column stride reads column phases: the input is split into them first.
 *
 * Groups. A page of weights reads whole planes and makes whole tiles of 32
 * channels, so groups are joined until they fill both, with zeros where a channel
 * does not read another; all of them if nothing less does.
 *
 * A buffer holds so many planes; a result of more is several tensors, each made
 * by a step of its own.
 */
#include "passes/plan_conv.h"

#include <math.h>
#include <string.h>

#include "ir/hint.h"

enum {
	MAX_PAGES = 255,
	AT_ONCE = 512, /* weights looked at at a time */
};

/* Two phases see all of a bfp8_b weight, but not of a bf16 one. */
int plan_phases(DevTypes weights) { return weights == DEV_BFP8_B ? 2 : 4; }

int plan_fidelity(const Step *s)
{
	const char *hint = op_hint(s->op, "fidelity");
	int phases = plan_phases(s->weights);
	if (hint)
		choice_read(CHOICE_phases, hint, &phases);
	return phases;
}

/* Sizes of pages and groups, once kind, input and weights are set. */
static void size_weights(Builder *b, Step *s, int channels)
{
	const int tiles = (int)weight_tiles_of((uint32_t)channels);
	const bool deconv = s->kind == STEP_DECONV2;
	s->weights = s->op->weights ? s->op->weights : DEV_BF16;
	s->taps = deconv ? 1 : s->window[0].size * s->window[1].size;
	s->held = deconv ? 2 : plan_held(b, s->op, tiles / s->channel_groups);
	s->groups = deconv ? 2 * tiles : tiles / s->held;
	s->phases = plan_fidelity(s);
	plan_weight_hints(b, s);
	if (s->groups > MAX_PAGES)
		plan_refuse(b, s->op, "more output channels than a routine takes");
}

/* The most groups left when they are joined to fill planes in and tiles out. */
static int joined(const Parts *in, int groups, int cin, int cout)
{
	for (int n = groups; n > 1 && in->n == 1; n--)
		if (groups % n == 0 && cin / n % PLANE == 0 && cout / n % TILE == 0)
			return n;
	return 1;
}

/* Rows `first` and on of a filter whose groups are joined until `to` are left. */
static const Tensor *regroup(Builder *b, const Product *p, int cin, int to, int first, int rows)
{
	const Shape from = p->filter->shape;
	if (p->groups == to && rows == from.dim[0])
		return p->filter;
	Tensor *t = tensor_create(b->a, TYPE_F32, SHAPE(rows, cin / to, from.dim[2], from.dim[3]));
	const int64_t taps = from.dim[2] * from.dim[3], each = from.dim[1];
	const int64_t width = cin / to * taps, join = p->groups / to;
	const int64_t outputs = from.dim[0] / p->groups;
	float *v = tensor_f32_data(t);
	for (int64_t o = 0; o < rows; o++) {
		const int64_t group = (first + o) / outputs;
		for (int64_t i = 0; i < each * taps; i++)
			v[o * width + group % join * each * taps + i] =
				(float)tensor_f64(p->filter, (first + o) * each * taps + i);
	}
	return t;
}

static const Tensor *bias_of(Builder *b, const Product *p, int first, int channels)
{
	if (!p->bias || tensor_count(p->bias) == channels)
		return p->bias;
	Tensor *t = tensor_create(b->a, TYPE_F32, SHAPE(channels));
	for (int i = 0; i < channels; i++)
		tensor_f32_data(t)[i] = (float)tensor_f64(p->bias, first + i);
	return t;
}

/* What `n` of `groups` equal shares of the one part read, from share `first` on. */
static Parts share_of(Builder *b, Parts in, int groups, int first, int n)
{
	if (groups == n)
		return in;
	Part *v = arena_new(b->a, Part);
	const int each = in.v[0].channels / groups;
	*v = (Part){ in.v[0].tensor, in.v[0].plane + first * each / PLANE, n * each };
	return (Parts){ v, 1 };
}

/* One step: channels `first` and on of the result, which are those of `out`. */
static void add_step(Builder *b, const Product *p, Parts in, int cin, int groups, int first,
		     PlanTensor *out)
{
	const int cout = (int)p->filter->shape.dim[0], each = cout / groups;
	const int n = groups == 1 ? 1 : out->channels / each;
	Step *s = plan_step(b, STEP_CONV, p->op, share_of(b, in, groups, first / each, n));
	s->channel = first;
	s->channel_groups = n > 1 ? n : 1;
	s->filter = regroup(b, p, cin, groups, first, out->channels);
	s->bias = bias_of(b, p, first, out->channels);
	s->window[0] = p->window[0];
	s->window[1] = p->window[1];
	s->row = p->row;
	s->row_step = p->row_step;
	s->column_phase = p->column_phase;
	size_weights(b, s, out->channels);
	out->plane_unit = 2 * (n > 1 ? out->channels / n / TILE : s->held);
	plan_finish(b, s, out);
}

static int channels_of(Parts in)
{
	int sum = 0;
	for (int i = 0; i < in.n; i++)
		sum += in.v[i].channels;
	return sum;
}

/* All parts of one type: bfp8_b ones are copied if there are others. */
static Parts same_types(Builder *b, const Op *op, Parts in)
{
	Part *v = arena_array(b->a, Part, in.n + 1);
	bool bf16 = false;
	for (int i = 0; i < in.n; i++)
		bf16 |= in.v[i].tensor->layout.type == DEV_BF16;
	for (int i = 0; i < in.n; i++) {
		const PlanTensor *t = in.v[i].tensor;
		v[i] = in.v[i];
		if (!bf16 || t->layout.type == DEV_BF16)
			continue;
		PlanTensor *copy = plan_tensor(b, op, arena_printf(b->a, "bf16_%d", i), 0,
					       v[i].channels, t->height, t->layout.cols);
		copy->layout.type = DEV_BF16;
		Step *s = plan_step(b, STEP_UNARY, op, (Parts){ &in.v[i], 1 });
		s->act = (Act){ 0 };
		v[i] = (Part){ plan_finish(b, s, copy), 0, v[i].channels };
	}
	return (Parts){ v, in.n };
}

/* As many parts as a routine reads, copied into one tensor by a product with ones. */
Part plan_join(Builder *b, const Op *op, Parts in)
{
	const PlanTensor *t = in.v[0].tensor;
	const int channels = channels_of(in);
	Tensor *filter = tensor_create(b->a, TYPE_F32, SHAPE(channels, channels, 1, 1));
	for (int64_t i = 0; i < channels; i++)
		tensor_f32_data(filter)[i * (channels + 1)] = 1;
	const Product p = { .op = op,
			    .in = in,
			    .filter = filter,
			    .groups = 1,
			    .row_step = 1,
			    .window = { { 1, 1, 1, 0 }, { 1, 1, 1, 0 } } };
	PlanTensor *out = plan_tensor(b, op, arena_printf(b->a, "joined%d", b->plan->ntensors), 0,
				      channels, t->height, t->layout.cols);
	out->layout.type = t->layout.type;
	add_step(b, &p, in, channels, 1, 0, out);
	b->plan->steps[b->plan->nsteps - 1].act = (Act){ 0 };
	b->plan->steps[b->plan->nsteps - 1].ones = true;
	return (Part){ out, 0, channels };
}

Parts plan_pieces(Builder *b, const Op *op, Parts in)
{
	for (in = same_types(b, op, in); in.n > MAX_STEP_PARTS;) {
		Part *v = arena_array(b->a, Part, in.n);
		v[0] = plan_join(b, op, (Parts){ in.v, MAX_STEP_PARTS });
		for (int i = MAX_STEP_PARTS; i < in.n; i++)
			v[i - MAX_STEP_PARTS + 1] = in.v[i];
		in = (Parts){ v, in.n - MAX_STEP_PARTS + 1 };
	}
	return in;
}

void plan_product(Builder *b, const Product *p, Parts out)
{
	const Parts in = plan_pieces(b, p->op, p->in);
	const int cin = channels_of(in), cout = (int)p->filter->shape.dim[0];
	int groups = joined(&in, p->groups, cin, cout), first = 0;
	for (int i = 0; i < out.n; i++)
		if (out.n > 1 && out.v[i].channels % (cout / groups))
			groups = 1;
	for (int i = 0; i < out.n; first += out.v[i++].channels)
		add_step(b, p, in, cin, groups, first, out.v[i].tensor);
}

/* Are all of them finite in bf16? */
static bool is_finite(const Tensor *t)
{
	const double infinite = 0x1.ffp+127; /* rounds up */
	double v[AT_ONCE];
	const int64_t count = t->splat ? 1 : tensor_count(t);
	for (int64_t at = 0; at < count; at += AT_ONCE) {
		const int64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
		tensor_read_f64(t, at, 1, n, v);
		for (int64_t k = 0; k < n; k++)
			if (!(fabs(v[k]) < infinite))
				return false;
	}
	return true;
}

bool plan_check_weights(Builder *b, const Op *op)
{
	for (int i = 1; i < op->nin && i < 3; i++) {
		const Tensor *t = op_value(op_in(op, i));
		if (!t) {
			plan_refuse(b, op, "weights and bias must be constants with data");
			return false;
		}
		if (!is_finite(t)) {
			plan_refuse(b, op, "a weight or bias is infinite in bf16");
			return true;
		}
	}
	return true;
}

bool plan_pairs(Builder *b, const Op *op)
{
	if (op->shape.dim[1] > plan_most_channels(b, 1))
		return false;
	const Parts out = plan_results(b, op, NULL, 1);
	Step *s = plan_step(b, STEP_DECONV2, op, plan_pieces(b, op, plan_parts(b, op_in(op, 0))));
	s->filter = op_value(op_in(op, 1));
	s->bias = op->nin > 2 ? op_value(op_in(op, 2)) : NULL;
	size_weights(b, s, out.v[0].channels);
	plan_finish(b, s, out.v[0].tensor);
	out.v[0].tensor->row_unit = 2;
	plan_made(b, op, out.v, 1);
	return true;
}

void plan_conv(Builder *b, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	const Op *w = op_in(op, 1);
	Product p = {
		.op = op, .in = plan_parts(b, op_in(op, 0)), .groups = (int)c->groups, .row_step = 1
	};
	plan_check_window(b, op, &w->shape.dim[2], c->strides.v, c->dilations.v);
	if (plan_depthwise(b, op))
		return;
	plan_check_act(b, op);
	if (!plan_check_weights(b, op))
		return;
	for (int axis = 0; axis < 2; axis++)
		p.window[axis] = plan_window(w->shape.dim[2 + axis], &c->strides, &c->dilations,
					     &c->pads, axis);
	p.filter = op_value(w);
	p.bias = op->nin > 2 ? op_value(op_in(op, 2)) : NULL;
	p.in = plan_pieces(b, op, p.in);
	if (p.window[1].stride > 1)
		p.in = plan_phased(b, op, p.in, p.window[1].stride);
	const Parts out = plan_results(b, op, NULL, 1);
	if (!out.n)
		return;
	plan_product(b, &p, out);
	plan_made(b, op, out.v, out.n);
}
