/*
 * Steps of norms over an image, and of softmax over channels.
 *
 * An instance norm: the mean of each channel, kept in two parts so that nothing
 * of it is lost; the sum of squares of what differs from it, which is accurate
 * however large the mean; then pixels less the mean, times 1 / sqrt(variance +
 * epsilon). Scale and bias follow as those of a batch norm do.
 *
 * Softmax: the largest channel of each pixel, exp of what is less than it, the
 * sum of these over channels, the quotient.
 */
#include "passes/plan_steps.h"

static const Act no_act;

static const char *named(Builder *b, const char *name, int part)
{
	return part ? arena_printf(b->a, "%s%d", name, part) : name;
}

static bool all_are(const Tensor *t, double value)
{
	bool all = true;
	for (int64_t i = 0; i < tensor_count(t); i++)
		all &= tensor_f64(t, i) == value;
	return all;
}

/* Part i of the input, less its mean and divided by its deviation. */
static Step *normed(Builder *b, const Op *op, Part x, int i)
{
	const int64_t *dim = op->shape.dim;
	const float each = 1 / (float)(dim[2] * dim[3]);
	const Reduce mean = { .kind = REDUCE_SUM, .pair = true, .scale = each };
	const Reduce deviation = { .kind = REDUCE_DEVIATION, .pair = true, .scale = each };
	const Act root = { .kind = OP_INSTANCE_NORM, .param = { op->attr.norm.epsilon } };
	Part *v = arena_array(b->a, Part, 3);
	v[0] = x;
	v[1] = (Part){ plan_reduce(b, op, named(b, "mean", i), x, NULL, mean, no_act), 0,
		       x.channels };
	v[2] = (Part){ plan_reduce(b, op, named(b, "factor", i), x, v[1].tensor, deviation, root), 0,
		       x.channels };
	Step *s = plan_step(b, STEP_NORM, op, (Parts){ v, 3 });
	s->spread[1] = s->spread[2] = SPREAD_ROWS | SPREAD_COLS;
	return s;
}

void plan_instance_norm(Builder *b, const Op *op)
{
	const Parts in = plan_parts(b, op_in(op, 0));
	const Tensor *scale = op_value(op_in(op, 1)), *bias = op_value(op_in(op, 2));
	Part *v = arena_array(b->a, Part, in.n + 1);
	int channel = 0;
	if (!scale || !bias) {
		plan_refuse(b, op, "scale and bias must be constants with data");
		return;
	}
	const bool done = all_are(scale, 1) && all_are(bias, 0);
	for (int i = 0; i < in.n; channel += in.v[i++].channels) {
		const char *name = in.n > 1 ? arena_printf(b->a, "part%d", i) : NULL;
		Step *s = normed(b, op, in.v[i], i);
		s->act = done ? op->act : no_act;
		PlanTensor *t = plan_tensor(b, op, done ? name : named(b, "norm", i), channel,
					    in.v[i].channels, (int)op->shape.dim[2],
					    (int)op->shape.dim[3]);
		if (!done)
			t->layout.type = DEV_BF16;
		v[i] = (Part){ plan_finish(b, s, t), 0, in.v[i].channels };
	}
	if (done)
		plan_made(b, op, v, in.n);
	else
		plan_channel(b, op, (Parts){ v, in.n }, scale, bias, NULL);
}

/* A step on the way to softmax, in bf16. */
static Part between(Builder *b, Step *s, const char *name, int channels)
{
	const int64_t *dim = s->op->shape.dim;
	PlanTensor *t = plan_tensor(b, s->op, name, 0, channels, (int)dim[2], (int)dim[3]);
	t->layout.type = DEV_BF16;
	return (Part){ plan_finish(b, s, t), 0, channels };
}

/* The largest of all channels of all parts, or their sum, as one channel. */
static Part over_channels(Builder *b, const Op *op, const char *name, Parts in, ReduceKind kind)
{
	Part all = { 0 };
	for (int i = 0; i < in.n; i++) {
		Step *s = plan_step(b, STEP_LANES, op, (Parts){ &in.v[i], 1 });
		s->act = no_act;
		s->reduce.kind = kind;
		const Part one = between(b, s, named(b, name, i), 1);
		if (i) {
			s = plan_arith(b, op, kind == REDUCE_MAX ? OP_MAX : OP_ADD, all, 0, one, 0);
			s->act = no_act;
			all = between(b, s, arena_printf(b->a, "%s.to%d", name, i), 1);
		} else {
			all = one;
		}
	}
	return all;
}

/* Channels past the tensor's hold anything; the exponents of bfp8_b must not be
 * theirs. */
static void without_rest(Builder *b, const Op *op, Parts in)
{
	const int64_t channels = op->shape.dim[1];
	Tensor *one = tensor_create(b->a, TYPE_F32, SHAPE(channels));
	for (int64_t i = 0; i < channels; i++)
		tensor_f32_data(one)[i] = 1;
	plan_channel(b, op, in, one, tensor_create(b->a, TYPE_F32, SHAPE(channels)), NULL);
}

void plan_softmax(Builder *b, const Op *op)
{
	const Parts in = plan_parts(b, op_in(op, 0));
	const int64_t *dim = op->shape.dim;
	const bool blocks = op->stored == DEV_BFP8_B;
	Part *v = arena_array(b->a, Part, in.n + 1), *y = arena_array(b->a, Part, in.n + 1);
	if (op->attr.axis.axis != 1) {
		plan_refuse(b, op, "only softmax over channels has a device routine");
		return;
	}
	const Part most = over_channels(b, op, "most", in, REDUCE_MAX);
	for (int i = 0; i < in.n; i++) {
		Step *s = plan_arith(b, op, OP_SUB, in.v[i], 0, most, SPREAD_PLANES);
		s->act = (Act){ .kind = OP_EXP };
		v[i] = between(b, s, named(b, "exp", i), in.v[i].channels);
	}
	const Part sum = over_channels(b, op, "sum", (Parts){ v, in.n }, REDUCE_SUM);
	for (int i = 0, channel = 0; i < in.n; channel += in.v[i++].channels) {
		const char *name = in.n > 1 ? arena_printf(b->a, "part%d", i) : NULL;
		Step *s = plan_arith(b, op, OP_DIV, v[i], 0, sum, SPREAD_PLANES);
		s->channel = channel;
		if (blocks) {
			s->act = no_act;
			y[i] = between(b, s, named(b, "quotient", i), in.v[i].channels);
			continue;
		}
		PlanTensor *t = plan_tensor(b, op, name, channel, in.v[i].channels, (int)dim[2],
					    (int)dim[3]);
		y[i] = (Part){ plan_finish(b, s, t), 0, in.v[i].channels };
	}
	if (blocks)
		without_rest(b, op, (Parts){ y, in.n });
	else
		plan_made(b, op, y, in.n);
}
