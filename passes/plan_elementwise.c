/*
 * Steps that work on every value by itself, or on every channel by itself.
 *
 * Two tensors: the operands' parts are cut where either of them is, so each step
 * reads one part of each. Sums, differences and products take STEP_BINARY, whose
 * first operand is as large as the result; all else, and an operand that is to be
 * spread where SrcB is not to be had, takes STEP_PAIR.
 *
 * A constant for each channel is STEP_CHANNEL with one tap, and so is batch norm:
 * scale and bias in fp32, of which 11 bits count. Constants of any other shape are
 * brought in as tensors.
 */
#include "passes/plan_conv.h"

#include <limits.h>
#include <math.h>

#include "passes/rewrite.h"

enum { CHANNEL_PAIR = 128 }; /* bytes: bias, or weights of a tap, of 32 channels */

static const double infinite_bf16 = 0x1.ffp+127; /* rounds up */

void plan_unary(Builder *b, const Op *op)
{
	plan_check_act(b, op);
	plan_by_parts(b, STEP_UNARY, op, act_of(op), NULL);
}

/* Dimension d of N,C,H,W; leading ones may be left out. */
static int64_t dim(const Op *op, int d)
{
	const int at = d - 4 + op->shape.rank;
	return at < 0 ? 1 : op->shape.dim[at];
}

static int spread_of(const Op *in, const Op *out)
{
	static const int flags[4] = { 0, SPREAD_PLANES, SPREAD_ROWS, SPREAD_COLS };
	int spread = 0;
	for (int d = 1; d < 4; d++)
		if (dim(in, d) != dim(out, d))
			spread |= flags[d];
	return spread;
}

/* ---- a weight for each channel ---- */

/* One value for each of `channels`, all the same until they are set. */
static Tensor *per_channel(Builder *b, int64_t channels, float value)
{
	Tensor *t = tensor_create(b->a, TYPE_F32, SHAPE(channels));
	for (int64_t i = 0; i < channels; i++)
		tensor_f32_data(t)[i] = value;
	return t;
}

static bool is_finite(const Tensor *t)
{
	bool ok = true;
	for (int64_t i = 0; t && i < tensor_count(t); i++)
		ok &= fabs(tensor_f64(t, i)) < infinite_bf16;
	return ok;
}

static void set_channel(Step *s, const Tensor *filter, const Tensor *bias)
{
	s->filter = filter;
	s->bias = bias;
	s->weights = DEV_BF16;
	s->taps = s->window[0].size * s->window[1].size;
	s->held = 1;
	s->groups = (part_planes(&s->in[0]) + 1) / 2;
	s->phases = plan_fidelity(s);
	s->page_bytes = (int64_t)(s->taps + 1) * CHANNEL_PAIR;
}

void plan_channel(Builder *b, const Op *op, Parts in, const Tensor *filter, const Tensor *bias,
		  const Window window[2])
{
	Part *v = arena_array(b->a, Part, in.n + 1);
	int channel = 0;
	if (!is_finite(filter) || !is_finite(bias))
		plan_refuse(b, op, "a weight or bias is infinite in bf16");
	plan_check_act(b, op);
	for (int i = 0; i < in.n; channel += in.v[i++].channels) {
		Step *s = plan_step(b, STEP_CHANNEL, op, (Parts){ &in.v[i], 1 });
		s->channel = channel;
		for (int axis = 0; window && axis < 2; axis++)
			s->window[axis] = window[axis];
		set_channel(s, filter, bias);
		const char *suffix = in.n > 1 ? arena_printf(b->a, "part%d", i) : NULL;
		PlanTensor *t = plan_tensor(b, op, suffix, channel, in.v[i].channels,
					    (int)op->shape.dim[2], (int)op->shape.dim[3]);
		v[i] = (Part){ plan_finish(b, s, t), 0, in.v[i].channels };
	}
	plan_made(b, op, v, in.n);
}

bool plan_depthwise(Builder *b, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	const Op *w = op_in(op, 1);
	const Tensor *bias = op->nin > 2 ? op_value(op_in(op, 2)) : NULL;
	Parts in = plan_parts(b, op_in(op, 0));
	Window window[2];
	if (op_in(op, 0)->shape.dim[1] != c->groups || op->shape.dim[1] != c->groups)
		return false;
	if (!op_value(w) || (op->nin > 2 && !bias)) {
		plan_refuse(b, op, "weights and bias must be constants with data");
		return true;
	}
	for (int axis = 0; axis < 2; axis++)
		window[axis] = plan_window(w->shape.dim[2 + axis], &c->strides, &c->dilations,
					   &c->pads, axis);
	if (window[1].stride != 1) /* pixels that lie apart are read as bf16 */
		in = plan_in_bf16(b, op, in);
	plan_channel(b, op, in, op_value(w), bias, window);
	return true;
}

void plan_batch_norm(Builder *b, const Op *op)
{
	const Tensor *v[4];
	const int64_t channels = op->shape.dim[1];
	for (int i = 0; i < 4; i++) {
		v[i] = op_value(op_in(op, i + 1));
		if (!v[i]) {
			plan_refuse(b, op, "scale, bias, mean and variance must be constants with data");
			return;
		}
	}
	Tensor *scale = per_channel(b, channels, 0), *bias = per_channel(b, channels, 0);
	for (int64_t i = 0; i < channels; i++) {
		const double s = tensor_f64(v[0], i)
			/ sqrt(tensor_f64(v[3], i) + op->attr.norm.epsilon);
		tensor_f32_data(scale)[i] = (float)s;
		tensor_f32_data(bias)[i] = (float)(tensor_f64(v[1], i) - tensor_f64(v[2], i) * s);
	}
	plan_channel(b, op, plan_parts(b, op_in(op, 0)), scale, bias, NULL);
}

/* x op c or, if `first`, c op x, for a constant with one value or one a channel. */
static void with_constant(Builder *b, const Op *op, const Tensor *c, bool first)
{
	const int64_t channels = op->shape.dim[1];
	const bool scales = op->kind == OP_MUL || op->kind == OP_DIV;
	Tensor *scale = per_channel(b, channels, op->kind == OP_SUB && first ? -1 : 1);
	Tensor *bias = per_channel(b, channels, 0);
	for (int64_t i = 0; i < channels; i++) {
		const double v = tensor_f64(c, tensor_count(c) == 1 ? 0 : i);
		float *to = tensor_f32_data(scales ? scale : bias) + i;
		*to = (float)(op->kind == OP_DIV ? 1 / v : op->kind == OP_SUB && !first ? -v : v);
	}
	plan_channel(b, op, plan_parts(b, op_in(op, first)), scale, bias, NULL);
}

/* ---- two tensors ---- */

/* A constant as a tensor in L1; made once. */
static Parts constant(Builder *b, const Op *c)
{
	if (!plan_parts(b, c).n) {
		Step *s = plan_step(b, STEP_CONSTANT, c, (Parts){ 0 });
		PlanTensor *t = plan_tensor(b, c, NULL, 0, (int)dim(c, 1), (int)dim(c, 2),
					    (int)dim(c, 3));
		t->images = 1;
		plan_made(b, c, plan_part(b, plan_finish(b, s, t)).v, 1);
	}
	return plan_parts(b, c);
}

/* Walks the parts of an operand. */
typedef struct Operand {
	Parts in;
	int spread;
	int at, used; /* the part at hand, and how many of its channels are done */
} Operand;

static int channels_left(const Operand *o)
{
	return o->spread & SPREAD_PLANES ? INT_MAX : o->in.v[o->at].channels - o->used;
}

static Part take(Operand *o, int channels)
{
	Part p = o->in.v[o->at];
	if (o->spread & SPREAD_PLANES)
		return p;
	p.plane += o->used / PLANE;
	p.channels = channels;
	o->used += channels;
	if (o->used == o->in.v[o->at].channels) {
		o->used = 0;
		o->at++;
	}
	return p;
}

Step *plan_arith(Builder *b, const Op *op, OpKind arith, Part x, int x_spread, Part y, int y_spread)
{
	const bool commutes = arith == OP_ADD || arith == OP_MUL;
	const bool swap = commutes && x_spread && !y_spread;
	const bool direct = (commutes || arith == OP_SUB) && (swap ? !y_spread : !x_spread);
	Part *in = arena_array(b->a, Part, 2);
	in[0] = swap ? y : x;
	in[1] = swap ? x : y;
	Step *s = plan_step(b, direct ? STEP_BINARY : STEP_PAIR, op, (Parts){ in, 2 });
	s->arith = arith;
	s->spread[0] = swap ? y_spread : x_spread;
	s->spread[1] = swap ? x_spread : y_spread;
	return s;
}

/* Channels that come next of both, up to the end of a part. */
static int together(const Operand o[2], int left)
{
	for (int i = 0; i < 2; i++)
		left = channels_left(&o[i]) < left ? channels_left(&o[i]) : left;
	return left;
}

/* Do parts that end inside of a plane end at the same channel of both? */
static bool line_up(const Operand operands[2], int channels)
{
	Operand o[2] = { operands[0], operands[1] };
	for (int done = 0, count; done < channels; done += count) {
		count = together(o, channels - done);
		if (o[0].used % PLANE || o[1].used % PLANE)
			return false;
		take(&o[0], count);
		take(&o[1], count);
	}
	return true;
}

static void two_tensors(Builder *b, const Op *op, Operand o[2])
{
	const int channels = (int)op->shape.dim[1];
	Part *v = arena_array(b->a, Part, o[0].in.n + o[1].in.n + 1);
	int n = 0;
	for (int done = 0; done < channels; n++) {
		const int count = together(o, channels - done);
		const Part x = take(&o[0], count), y = take(&o[1], count);
		Step *s = plan_arith(b, op, op->kind, x, o[0].spread, y, o[1].spread);
		s->channel = done;
		const char *suffix = count < channels ? arena_printf(b->a, "part%d", n) : NULL;
		PlanTensor *t = plan_tensor(b, op, suffix, done, count, (int)op->shape.dim[2],
					    (int)op->shape.dim[3]);
		v[n] = (Part){ plan_finish(b, s, t), 0, count };
		done += count;
	}
	plan_made(b, op, v, n);
}

/* One value, or one a channel, and the other operand as large as the result. */
static bool is_per_channel(const Op *op, int which)
{
	const Op *c = op_in(op, which);
	return dim(c, 2) == 1 && dim(c, 3) == 1 && spread_of(op_in(op, !which), op) == 0;
}

/* Can the constant `which` be scale or bias of the other operand? */
static bool is_channel_step(const Op *op, int which)
{
	const bool linear = op->kind == OP_ADD || op->kind == OP_SUB || op->kind == OP_MUL
		|| (op->kind == OP_DIV && which == 1);
	return linear && is_per_channel(op, which);
}

void plan_binary(Builder *b, const Op *op)
{
	Operand o[2] = { 0 };
	for (int i = 0; i < 2; i++) {
		const Op *in = op_in(op, i);
		const Tensor *c = op_value(in);
		o[i].spread = spread_of(in, op);
		if (in->kind != OP_CONSTANT)
			continue;
		if (!c || dim(in, 0) != 1 || !is_finite(c)) {
			plan_refuse(b, op, "a constant has no data, several images or values infinite in bf16");
			return;
		}
		if (is_channel_step(op, i)) {
			with_constant(b, op, c, i == 0);
			return;
		}
	}
	plan_check_act(b, op);
	for (int i = 0; i < 2; i++)
		o[i].in = op_in(op, i)->kind == OP_CONSTANT ? constant(b, op_in(op, i))
							   : plan_parts(b, op_in(op, i));
	for (int i = 0; i < 2; i++)
		if (!line_up(o, (int)op->shape.dim[1]) && o[i].in.n > 1)
			o[i].in = plan_close_up(b, op, o[i].in);
	two_tensors(b, op, o);
}
