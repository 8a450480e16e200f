/*
 * The steps of a plan: which ops work on the device, on which tensors.
 *
 * The result of an op is a list of parts, each a tensor of its own: concat
 * strings the parts of its inputs together, and what works on every channel
 * by itself (a pool, an activation) takes them one by one.
 */
#include "passes/plan.h"

#include <math.h>
#include <string.h>

#include "ir/hint.h"

enum {
	MAX_PARTS = 4, /* pieces a routine reads as one input */

	/* What the parameters of a routine hold. */
	MAX_KERNEL = 64,
	MAX_HEIGHT = 65535,
	MAX_CHANNELS = MAX_BAND_PLANES * PLANE,
	MAX_ROW_STEP = 255,
	MAX_COLUMN_STRIDE = 127,
};

typedef struct Parts {
	PlanTensor **v;
	int n;
} Parts;

typedef struct Builder {
	Plan *plan;
	Graph *g;
	Arena *a;
	Diag *d;
	Parts *parts;  /* by op->mark */
	bool *refused; /* by op->mark: its shape; who reads it is not looked at */
} Builder;

static void refuse(Builder *b, const Op *op, const char *why)
{
	diag_error(b->d, op->loc, "%s '%s': %s", op_info[op->kind].name, op->name, why);
}

static PlanTensor *add_tensor(Builder *b, const Op *op, int channel, int channels)
{
	PlanTensor *t = arena_new(b->a, PlanTensor);
	const DevTypes type = op->stored & DEV_BF16 || !op->stored ? DEV_BF16 : DEV_BFP8_B;
	t->op = op;
	t->channel = channel;
	t->channels = channels;
	t->layout = (Layout){
		.type = type, .planes = (channels + PLANE - 1) / PLANE,
		.cols = (int)op->shape.dim[3], .phases = 1,
	};
	Plan *p = b->plan;
	t->born = p->nsteps;
	t->dies = t->born;
	p->tensors = arena_grow(b->a, p->tensors, p->ntensors, sizeof *p->tensors);
	p->tensors[p->ntensors++] = t;
	return t;
}

static Step *add_step(Builder *b, StepKind kind, const Op *op, Parts in)
{
	Plan *p = b->plan;
	p->steps = arena_grow(b->a, p->steps, p->nsteps, sizeof(Step));
	Step *s = &p->steps[p->nsteps];
	*s = (Step){ .kind = kind, .op = op, .act = op->act, .in = in.v, .nin = in.n };
	for (int i = 0; i < in.n; i++)
		in.v[i]->dies = p->nsteps;
	return s;
}

/* The step writes its result: one tensor, all channels from `channel` on. */
static PlanTensor *finish_step(Builder *b, Step *s, int channel, int channels)
{
	s->out = add_tensor(b, s->op, channel, channels);
	b->plan->nsteps++;
	return s->out;
}

static void set_parts(Builder *b, const Op *op, PlanTensor **v, int n)
{
	b->parts[op->mark] = (Parts){ v, n };
}

static void whole(Builder *b, Step *s)
{
	PlanTensor **v = arena_array(b->a, PlanTensor *, 1);
	v[0] = finish_step(b, s, 0, (int)s->op->shape.dim[1]);
	set_parts(b, s->op, v, 1);
}

static Parts parts_of(Builder *b, const Op *op) { return b->parts[op->mark]; }

/* One step for each part of the input. */
static void by_parts(Builder *b, StepKind kind, const Op *op, Act act)
{
	const Parts in = parts_of(b, op_in(op, 0));
	PlanTensor **v = arena_array(b->a, PlanTensor *, in.n);
	int channel = 0;
	for (int i = 0; i < in.n; channel += in.v[i++]->channels) {
		Step *s = add_step(b, kind, op, (Parts){ &in.v[i], 1 });
		s->act = act;
		s->channel = channel;
		v[i] = finish_step(b, s, channel, in.v[i]->channels);
	}
	set_parts(b, op, v, in.n);
}

static void concat(Builder *b, const Op *op)
{
	int n = 0;
	for (int i = 0; i < op->nin; i++)
		n += parts_of(b, op_in(op, i)).n;
	PlanTensor **v = arena_array(b->a, PlanTensor *, n);
	n = 0;
	for (int i = 0; i < op->nin; i++) {
		const Parts in = parts_of(b, op_in(op, i));
		for (int k = 0; k < in.n; k++)
			v[n++] = in.v[k];
	}
	set_parts(b, op, v, n);
}

static int held_tiles(int tiles) { return tiles % 4 == 0 ? 4 : tiles % 2 == 0 ? 2 : 1; }

static void check_blocks(Builder *b, const Step *s)
{
	for (int i = 1; i < s->nin; i++)
		if (s->in[i]->layout.type != s->in[0]->layout.type)
			refuse(b, s->op, "its input is joined from bf16 and bfp8_b tensors");
	if (s->nin > MAX_PARTS)
		refuse(b, s->op, "its input is joined from more than 4 tensors");
	if (s->groups > 255)
		refuse(b, s->op, "more output channels than a routine takes");
}

/* Two phases see all of a bfp8_b weight, but not of a bf16 one. */
static int fidelity(Builder *b, const Step *s)
{
	const char *hint = op_hint(s->op, "fidelity");
	if (!hint)
		return s->weights == DEV_BFP8_B ? 2 : 4;
	if (strcmp(hint, "hifi3") == 0)
		refuse(b, s->op, "fidelity hifi3 has no device routine");
	return strcmp(hint, "lofi") == 0 ? 1 : strcmp(hint, "hifi2") == 0 ? 2 : 4;
}

static void weighted(Builder *b, StepKind kind, const Op *op)
{
	const int tiles = (int)weight_tiles_of((uint32_t)op->shape.dim[1]);
	const Op *w = op_in(op, 1);
	const bool deconv = kind == STEP_DECONV2;
	Step *s = add_step(b, kind, op, parts_of(b, op_in(op, 0)));
	s->weights = op->weights & DEV_BFP8_B ? DEV_BFP8_B : DEV_BF16;
	s->taps = deconv ? 1 : (int)(w->shape.dim[2] * w->shape.dim[3]);
	s->held = deconv ? 2 : held_tiles(tiles);
	s->groups = deconv ? 2 * tiles : tiles / s->held;
	s->phases = fidelity(b, s);
	s->page_bytes = (int64_t)s->held * 2 * TILE;
	for (int i = 0; i < s->nin; i++) {
		const WeightBlocks blocks = step_blocks(s, i);
		s->page_bytes += (int64_t)weight_bytes(&blocks) / s->groups;
	}
	s->weight_bytes = s->page_bytes * s->groups;
	check_blocks(b, s);
	whole(b, s);
}

/* Weights and bias are there, and finite in bf16. */
static void check_constants(Builder *b, const Op *op)
{
	const double infinite = 0x1.ffp+127; /* rounds up */
	for (int i = 1; i < op->nin && i < 3; i++) {
		const Tensor *t = op_value(op_in(op, i));
		if (!t) {
			refuse(b, op, "weights and bias must be constants with data");
			return;
		}
		for (int64_t k = 0; k < tensor_count(t); k++)
			if (!(fabs(tensor_f64(t, k)) < infinite)) {
				refuse(b, op, "a weight or bias is infinite in bf16");
				return;
			}
	}
}

static bool all_ones(const Ints *v) { return ints_all(*v, 1); }

static void check_act(Builder *b, const Op *op)
{
	if (op_has_act(op) && op->act.kind != OP_RELU && op->act.kind != OP_SIGMOID)
		refuse(b, op, "its activation has no device routine yet");
}

static void check_window(Builder *b, const Op *op, const int64_t *kernel, const int64_t *stride,
			 const int64_t *dilation)
{
	if (kernel[0] > MAX_KERNEL || kernel[1] > MAX_KERNEL)
		refuse(b, op, "a window of more than 64 taps down or across has no device routine");
	if (stride[0] > MAX_ROW_STEP || stride[1] > MAX_COLUMN_STRIDE)
		refuse(b, op, "a stride of more than 255 rows or 127 columns has no device routine");
	if (dilation[0] > MAX_ROW_STEP || dilation[1] > MAX_PITCH - 2 * PITCH_STEP)
		refuse(b, op, "a dilation this large has no device routine");
}

static void conv(Builder *b, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	const Op *w = op_in(op, 1);
	check_window(b, op, &w->shape.dim[2], c->strides.v, c->dilations.v);
	if (c->groups != 1)
		refuse(b, op, "grouped convolution has no device routine yet");
	if (!all_ones(&c->strides))
		refuse(b, op, "a stride other than 1 has no device routine yet");
	check_constants(b, op);
	for (int i = 0; i < c->pads.n; i++)
		if (c->pads.v[i] > PITCH_STEP)
			refuse(b, op, "padding of more than 16 has no device routine");
	check_act(b, op);
	weighted(b, STEP_CONV, op);
}

static void deconv(Builder *b, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	const Op *w = op_in(op, 1);
	if (c->groups != 1 || w->shape.dim[2] != 2 || w->shape.dim[3] != 2 ||
	    !ints_all(c->strides, 2) || !ints_all(c->pads, 0) || !ints_all(c->dilations, 1) ||
	    !ints_all(c->output_padding, 0))
		refuse(b, op, "only a 2x2 window with stride 2 and no padding has a device routine yet");
	check_constants(b, op);
	check_act(b, op);
	weighted(b, STEP_DECONV2, op);
}

/* No window reaches past the image. */
static bool windows_inside(const Op *op)
{
	const poolAttr *p = &op->attr.pool;
	for (int i = 0; i < 2; i++) {
		const int64_t last = (op->shape.dim[2 + i] - 1) * p->strides.v[i]
			+ (p->kernel.v[i] - 1) * p->dilations.v[i];
		if (last >= op_in(op, 0)->shape.dim[2 + i])
			return false;
	}
	return ints_all(p->pads, 0);
}

static void max_pool(Builder *b, const Op *op)
{
	const poolAttr *p = &op->attr.pool;
	const Parts in = parts_of(b, op_in(op, 0));
	check_window(b, op, p->kernel.v, p->strides.v, p->dilations.v);
	if (!windows_inside(op))
		refuse(b, op, "windows that reach past the image have no device routine yet");
	for (int i = 0; i < in.n; i++)
		if (p->strides.v[1] != 1 && in.v[i]->layout.type != DEV_BF16)
			refuse(b, op, "a strided window reads bf16 only, its input is bfp8_b");
	check_act(b, op);
	by_parts(b, STEP_MAX_POOL, op, op->act);
}

static void output(Builder *b, const Op *op, int which)
{
	const Op *from = op_in(op, which);
	if (from->kind == OP_VIEW)
		from = op_in(from, 0);
	const Parts in = parts_of(b, from);
	int channel = 0;
	if (in.n > 1 && (op->nin > 1 || op_in(op, which)->kind == OP_VIEW))
		refuse(b, op, "a view of joined channels has no device routine yet");
	for (int i = 0; i < in.n; channel += in.v[i++]->channels) {
		Step *s = add_step(b, STEP_EDGE_OUT, op, (Parts){ &in.v[i], 1 });
		s->channel = channel;
		s->from = which;
		b->plan->nsteps++;
	}
}

/* Weights apart, what an op reads lies in L1. */
static bool check_inputs(Builder *b, const Op *op)
{
	const int n = op_is(op, WEIGHTS) ? 1 : op->nin;
	for (int i = 0; i < n && op->kind != OP_VIEW; i++) {
		const Op *in = op_in(op, i);
		if (in->kind == OP_VIEW)
			in = op_in(in, 0);
		if (in->kind != OP_CONSTANT)
			continue;
		refuse(b, op, "it reads a constant, which has no place on the device yet");
		return false;
	}
	return true;
}

static void add_op(Builder *b, const Op *op)
{
	if (!check_inputs(b, op))
		return;
	switch (op->kind) {
	case OP_CONSTANT:
	case OP_VIEW:
		break;
	case OP_INPUT:
		if (op->stored == DEV_BFP8_B)
			refuse(b, op, "what the host writes is bf16 on the device, not bfp8_b");
		whole(b, add_step(b, STEP_EDGE_IN, op, (Parts){ 0 }));
		break;
	case OP_OUTPUT:
		for (int i = 0; i < op->nin; i++)
			output(b, op, i);
		break;
	case OP_CONV:
		conv(b, op);
		break;
	case OP_CONV_TRANSPOSE:
		deconv(b, op);
		break;
	case OP_MAX_POOL:
		max_pool(b, op);
		break;
	case OP_CONCAT:
		if (op->attr.axis.axis != 1)
			refuse(b, op, "only channels are joined on the device");
		concat(b, op);
		break;
	case OP_RELU:
	case OP_SIGMOID:
		by_parts(b, STEP_UNARY, op, (Act){ .kind = op->kind });
		break;
	default:
		refuse(b, op, "this op has no device routine yet");
	}
}

/* Hints that a plan in height bands does not follow. */
static void tell_hints(Builder *b, const Op *op)
{
	for (int i = 0; i < op->nhints; i++) {
		const char *key = op->hints[i].key;
		if (strcmp(key, "stored") != 0 && strcmp(key, "weights") != 0 &&
		    strcmp(key, "fidelity") != 0)
			diag_warning(b->d, op->loc, "%s '%s': this plan does not follow hint %s",
				     op_info[op->kind].name, op->name, key);
	}
}

/* What is wrong with the tensor an op makes, or NULL. */
static const char *wrong_shape(const Op *op)
{
	const int64_t *dim = op->shape.dim;
	if (op->kind == OP_CONSTANT || op->kind == OP_OUTPUT || op->kind == OP_VIEW)
		return NULL;
	if (op->shape.rank != 4 || !type_is_float(op->dtype))
		return "only N,C,H,W images of floating point run on the device";
	if (dim[0] != 1)
		return "a batch of more than one is not planned yet";
	if (shape_count(op->shape) == 0)
		return "an image without pixels has no place on the device";
	if (dim[3] + 2 * PITCH_STEP > MAX_PITCH)
		return "the image is too wide";
	if (dim[2] > MAX_HEIGHT)
		return "the image is too high";
	/* Of a concat only the parts have to lie anywhere. */
	if (dim[1] > MAX_CHANNELS && op->kind != OP_CONCAT)
		return "more channels than a buffer holds";
	return NULL;
}

static void check_shape(Builder *b, const Op *op)
{
	const char *wrong = wrong_shape(op);
	if (wrong)
		refuse(b, op, wrong);
	b->refused[op->mark] = wrong;
}

static bool reads_refused(const Builder *b, const Op *op)
{
	bool any = b->refused[op->mark];
	for (int i = 0; i < op->nin; i++)
		any |= b->refused[op_in(op, i)->mark];
	return any;
}

Plan *plan_steps(const Graph *graph, const Target *t)
{
	Graph *g = (Graph *)(uintptr_t)graph;
	Builder b = { .g = g, .a = g->arena, .d = g->diag };
	int n = 0;
	for_each_op(op, g)
		op->mark = n++;
	b.parts = arena_array(b.a, Parts, n + 1);
	b.plan = arena_new(b.a, Plan);
	b.plan->graph = graph;
	b.plan->target = t;
	const int errors = b.d->errors;
	b.refused = arena_array(b.a, bool, n + 1);
	for_each_op(op, g) {
		check_shape(&b, op);
		if (!reads_refused(&b, op))
			add_op(&b, op);
		tell_hints(&b, op);
	}
	return b.d->errors == errors ? b.plan : NULL;
}
