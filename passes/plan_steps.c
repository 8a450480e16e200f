#include "passes/plan_steps.h"

#include <math.h>
#include <string.h>

#include "ir/hint.h"
#include "passes/plan_dram.h"
#include "passes/product.h"
#include "passes/rewrite.h"

enum {
	/* What the parameters of a routine hold. */
	MAX_KERNEL = 255,
	MAX_HEIGHT = 65535,
	MAX_CHANNELS = 65535,
	MAX_ROW_STEP = 255,
	MAX_COLUMN_STRIDE = 127,

	MOST_REST = 64, /* ops looked at for what is behind the channels of one */

	PLANES_AT_ONCE = 8, /* that products make of the same pixels, at most */
};

void plan_refuse(Builder *b, const Op *op, const char *why)
{
	if (b->image == 0) /* the others of a batch are no different */
		diag_error(b->d, op->loc, "%s '%s': %s", op_info[op->kind].name, op->name, why);
}

/* By what it computes. */
static bool makes_rest(const Op *op)
{
	const OpKind act = op_has_act(op) ? op->act.kind : op->kind;
	const float *param = op->act.param;
	const float most = op_has_act(op) ? param[0] : op->attr.clip.max;
	const float least = op_has_act(op) ? param[1] : op->attr.clip.min;
	const bool two = op_is(op, ELTWISE) && op->nin == 2 && op->shape.rank == 4;
	const bool some = op->kind == OP_SLICE || op->kind == OP_SELECT_CHANNELS;
	for (int i = 0; two && i < 2; i++) /* one channel for all */
		if (shape_count(op_in(op, i)->shape) < shape_count(op->shape)
		    && op->shape.dim[1] > 1)
			return true;
	if (some && op->shape.dim[1] < op_in(op, 0)->shape.dim[1]) /* the others stand there */
		return true;
	return act == OP_SIGMOID || act == OP_HARD_SIGMOID
		|| (act == OP_CLIP && (least > 0 || most < 0));
}

/* ... or by what comes from an input, channel by channel. A product has weights of 0 for
 * them, and a softmax in bfp8_b was masked. After so many ops it is taken for granted. */
static bool has_rest(const Op *op, int *left)
{
	if (makes_rest(op) || --*left < 0)
		return true;
	if (op->kind == OP_SOFTMAX)
		return op->stored != DEV_BFP8_B;
	bool any = false;
	for (int i = 0; i < op->nin && !op_is_product(op) && op->kind != OP_BATCH_NORM; i++) {
		const Op *in = op_in(op, i);
		const bool same = in->shape.rank == 4
			&& (in->shape.dim[1] == op->shape.dim[1] || op->kind == OP_CONCAT);
		if (same && in->kind != OP_INPUT && in->kind != OP_CONSTANT)
			any |= has_rest(in, left);
	}
	return any;
}

bool plan_fills_rest(const Op *op)
{
	int left = MOST_REST;
	if (op->kind == OP_SOFTMAX)
		return false;
	return has_rest(op, &left);
}

/* 16 channels share an exponent, which those that are not there must not set. */
static void keep_bf16(Builder *b, const Op *op, PlanTensor *t)
{
	if (t->layout.type != DEV_BFP8_B)
		return;
	t->layout.type = DEV_BF16;
	if (b->image == 0 && b->kept != op)
		diag_warning(b->d, op->loc, "%s '%s': kept in bf16, its unused channels would spoil bfp8_b",
			     op_info[op->kind].name, op->name);
	b->kept = op;
}

PlanTensor *plan_add_tensor(Plan *p, const PlanTensor *like)
{
	Arena *a = p->graph->arena;
	PlanTensor *t = arena_new(a, PlanTensor);
	if (like)
		*t = *like;
	t->id = p->ntensors;
	p->tensors = arena_grow(a, p->tensors, p->ntensors, sizeof *p->tensors);
	p->tensors[p->ntensors++] = t;
	return t;
}

PlanTensor *plan_tensor(Builder *b, const Op *op, const char *suffix, int channel, int channels,
			int height, int cols)
{
	PlanTensor *t = plan_add_tensor(b->plan, NULL);
	const int id = t->id;
	const char *name = suffix ? arena_printf(b->a, "%s.%s", op->name, suffix) : op->name;
	const DevTypes type = op->stored == DEV_BFP8_B ? DEV_BFP8_B : DEV_BF16;
	*t = (PlanTensor){
		.id = id, .op = op, .channel = channel, .channels = channels, .height = height,
		.name = b->image ? arena_printf(b->a, "%s.image%d", name, b->image) : name,
		.image = b->image, .images = b->images, .row_unit = 1, .plane_unit = 2,
		.layout = { .type = type, .planes = (channels + PLANE - 1) / PLANE,
			    .cols = cols, .phases = 1 },
	};
	if (channels % PLANE && plan_fills_rest(op))
		keep_bf16(b, op, t);
	return t;
}

Step *plan_step(Builder *b, StepKind kind, const Op *op, Parts in)
{
	static const Window none = { 1, 1, 1, 0 };
	Plan *p = b->plan;
	p->steps = arena_grow(b->a, p->steps, p->nsteps, sizeof(Step));
	Step *s = &p->steps[p->nsteps];
	*s = (Step){ .kind = kind, .op = op, .act = op->act, .in = in.v, .nin = in.n,
		     .image = b->image, .window = { none, none }, .row_step = 1,
		     .channel_groups = 1 };
	if (in.n > MAX_STEP_PARTS) {
		plan_refuse(b, op, "its input is joined from more than 8 tensors");
		s->nin = MAX_STEP_PARTS;
	}
	return s;
}

PlanTensor *plan_finish(Builder *b, Step *s, PlanTensor *out)
{
	s->out = out;
	b->plan->nsteps++;
	return out;
}

Parts plan_parts(const Builder *b, const Op *op) { return b->parts[op->mark]; }

void plan_made(Builder *b, const Op *op, const Part *v, int n)
{
	Parts *p = &b->parts[op->mark];
	*p = (Parts){ arena_array(b->a, Part, n + 1), n };
	for (int i = 0; i < n; i++) {
		p->v[i] = v[i];
		v[i].tensor->result |= v[i].tensor->op == op;
	}
}

Parts plan_part(Builder *b, PlanTensor *t)
{
	Part *v = arena_new(b->a, Part);
	*v = (Part){ t, 0, t->channels };
	return (Parts){ v, 1 };
}

int plan_most_channels(const Builder *b, int phases)
{
	const int planes = MAX_BAND_PLANES / (phases * b->images);
	const int rest = planes < PLANES_AT_ONCE ? 0 : planes % PLANES_AT_ONCE;
	return PLANE * (planes - rest);
}

Parts plan_results(Builder *b, const Op *op, const char *suffix, int phases)
{
	const int64_t *dim = op->shape.dim;
	const int most = plan_most_channels(b, phases), channels = (int)dim[1];
	int n = 0;
	Part *v = arena_array(b->a, Part, most > 0 ? channels / most + 2 : 1);
	if (most == 0) {
		plan_refuse(b, op, "its images and column phases are more planes than a buffer holds");
		return (Parts){ v, 0 };
	}
	for (int at = 0; at < channels; at += most, n++) {
		const int count = channels - at < most ? channels - at : most;
		const char *part = channels > most ? arena_printf(b->a, "%s%d", suffix ? suffix : "part", n)
						   : suffix;
		PlanTensor *t = plan_tensor(b, op, part, at, count, (int)dim[2], (int)dim[3]);
		t->layout.phases = phases;
		v[n] = (Part){ t, 0, count };
	}
	return (Parts){ v, n };
}

void plan_whole(Builder *b, Step *s)
{
	const Op *op = s->op;
	const int64_t *dim = op->shape.dim;
	if (dim[1] > plan_most_channels(b, 1))
		plan_refuse(b, op, "more channels than a buffer holds");
	PlanTensor *t = plan_tensor(b, op, NULL, 0, (int)dim[1], (int)dim[2], (int)dim[3]);
	plan_made(b, op, plan_part(b, plan_finish(b, s, t)).v, 1);
}

void plan_by_parts(Builder *b, StepKind kind, const Op *op, Act act, const Window window[2])
{
	plan_each_part(b, kind, op, plan_parts(b, op_in(op, 0)), act, window);
}

void plan_each_part(Builder *b, StepKind kind, const Op *op, Parts in, Act act,
		    const Window window[2])
{
	const int64_t *dim = op->shape.dim;
	Part *v = arena_array(b->a, Part, in.n + 1);
	int channel = 0;
	for (int i = 0; i < in.n; channel += in.v[i++].channels) {
		const char *suffix = in.n > 1 ? arena_printf(b->a, "part%d", i) : NULL;
		Step *s = plan_step(b, kind, op, (Parts){ &in.v[i], 1 });
		s->act = act;
		s->channel = channel;
		for (int axis = 0; window && axis < 2; axis++)
			s->window[axis] = window[axis];
		PlanTensor *t = plan_tensor(b, op, suffix, channel, in.v[i].channels, (int)dim[2],
					    (int)dim[3]);
		const int left = in.v[i].tensor->channels - in.v[i].plane * PLANE;
		if (in.v[i].channels % PLANE && in.v[i].channels < left) /* other channels there */
			keep_bf16(b, op, t);
		v[i] = (Part){ plan_finish(b, s, t), 0, in.v[i].channels };
	}
	plan_made(b, op, v, in.n);
}

Parts plan_in_bf16(Builder *b, const Op *op, Parts in)
{
	Part *v = arena_array(b->a, Part, in.n + 1);
	for (int i = 0; i < in.n; i++) {
		const PlanTensor *from = in.v[i].tensor;
		v[i] = in.v[i];
		if (from->layout.type == DEV_BF16)
			continue;
		Step *s = plan_step(b, STEP_UNARY, op, (Parts){ &in.v[i], 1 });
		s->act = (Act){ 0 };
		PlanTensor *t = plan_tensor(b, op, arena_printf(b->a, "bf16_%d", i), 0,
					    in.v[i].channels, from->height, from->layout.cols);
		t->layout.type = DEV_BF16;
		v[i] = (Part){ plan_finish(b, s, t), 0, in.v[i].channels };
	}
	return (Parts){ v, in.n };
}

void plan_check_act(Builder *b, const Op *op)
{
	const Act act = op_is(op, ACT) ? act_of(op) : op->act;
	const bool clips = act.kind == OP_CLIP;
	for (int i = 0; i < 2; i++)
		if (clips ? isnan(act.param[i]) : !isfinite(act.param[i]))
			plan_refuse(b, op, "an attribute of the activation is no number");
	if (clips && act.param[1] > act.param[0])
		plan_refuse(b, op, "the activation has its least value above its greatest");
}

void plan_check_window(Builder *b, const Op *op, const int64_t *kernel, const int64_t *stride,
		       const int64_t *dilation)
{
	if (kernel[0] > MAX_KERNEL || kernel[1] > MAX_KERNEL)
		plan_refuse(b, op, "a window of more than 255 taps down or across has no device routine");
	if (stride[0] > MAX_ROW_STEP || stride[1] > MAX_COLUMN_STRIDE)
		plan_refuse(b, op, "a stride of more than 255 rows or 127 columns has no device routine");
	if (dilation[0] > MAX_ROW_STEP || dilation[1] > MAX_PITCH - 2 * PITCH_STEP)
		plan_refuse(b, op, "a dilation this large has no device routine");
}

Window plan_window(int64_t size, const Ints *strides, const Ints *dilations, const Ints *pads,
		   int axis)
{
	return (Window){ (int)size, (int)strides->v[axis], (int)dilations->v[axis],
			 (int)pads->v[axis] };
}

static PlanFunction *const functions[OP_COUNT] = {
#define PLAN_OP(op, function) [OP_##op] = function,
#include "passes/plan_ops.def"
};

/* Weights and what plan_elementwise.c takes apart, what an op reads lies in L1. */
static bool check_inputs(Builder *b, const Op *op)
{
	PlanFunction *const f = functions[op->kind];
	const int n = op_is(op, WEIGHTS) ? 1 : op->nin;
	if (f == plan_binary || f == plan_batch_norm || f == plan_instance_norm)
		return true;
	for (int i = 0; i < n && op->kind != OP_VIEW; i++) {
		const Op *in = op_in(op, i);
		if (in->kind == OP_VIEW)
			in = op_in(in, 0);
		if (in->kind != OP_CONSTANT)
			continue;
		plan_refuse(b, op, "it reads a constant, which has no place on the device yet");
		return false;
	}
	return true;
}

static void add_op(Builder *b, const Op *op)
{
	if (op->kind == OP_CONSTANT || op->kind == OP_VIEW || !check_inputs(b, op))
		return;
	if (functions[op->kind])
		functions[op->kind](b, op);
	else
		plan_refuse(b, op, "this op has no device routine yet");
}

/* Hints that a plan follows: on ops with weights, or on all that make a tensor. */
static const struct {
	const char *key;
	bool weights;
} followed[] = {
	{ "act_block_h", false }, { "bands", false }, { "cout_block", true },
	{ "fetchers", true }, { "fidelity", true }, { "k_block", true }, { "place", false },
	{ "prefetch", true }, { "residency", true }, { "shard", false }, { "split", false },
	{ "stored", false }, { "weights", true },
};

static bool follows(const Op *op, const Hint *h)
{
	if (strcmp(h->key, "double_buffer") == 0)
		return op_asks(op, "place", "dram") || op_asks(op, "shard", "dram")
			|| (op_is(op, WEIGHTS) && (strcmp(h->value, "weights") == 0
						   || strcmp(h->value, "none") == 0));
	if (strcmp(h->value, "interleaved") == 0 || op->kind == OP_CONCAT)
		return false; /* who reads a concat reads its parts */
	for (size_t k = 0; k < sizeof followed / sizeof *followed; k++)
		if (strcmp(h->key, followed[k].key) == 0)
			return op_is(op, WEIGHTS) || !followed[k].weights;
	return false;
}

static void tell_hints(Builder *b, const Op *op)
{
	for (int i = 0; i < op->nhints; i++)
		if (!follows(op, &op->hints[i]))
			diag_warning(b->d, op->loc, "%s '%s': this plan does not follow hint %s",
				     op_info[op->kind].name, op->name, op->hints[i].key);
}

/* "640 columns, the device takes at most 500", or NULL. */
static const char *too_many(const Builder *b, int64_t n, const char *what, int most)
{
	return n <= most ? NULL : arena_printf(b->a, "%lld %s, the device takes at most %d",
					       (long long)n, what, most);
}

/* What is wrong with the tensor an op makes, or NULL. */
static const char *wrong_shape(const Builder *b, const Op *op)
{
	const int64_t *dim = op->shape.dim;
	if (op->kind == OP_CONSTANT || op->kind == OP_OUTPUT || op->kind == OP_VIEW)
		return NULL;
	if (op->shape.rank != 4)
		return "only N,C,H,W images run on the device";
	if (!type_is_float(op->dtype) && !(op->kind == OP_INPUT && op->dtype == TYPE_U8))
		return "only floating point, and inputs of u8, run on the device";
	if (op->dtype == TYPE_F64)
		return "f64 has no device routine";
	if (shape_count(op->shape) == 0)
		return "an image without pixels has no place on the device";
	const char *wrong = too_many(b, dim[3], "columns", MAX_PITCH - 2 * PITCH_STEP);
	wrong = wrong ? wrong : too_many(b, dim[2], "rows", MAX_HEIGHT);
	return wrong ? wrong : too_many(b, dim[1], "channels", MAX_CHANNELS);
}

static void check_shape(Builder *b, const Op *op)
{
	const char *wrong = wrong_shape(b, op);
	if (wrong)
		plan_refuse(b, op, wrong);
	b->refused[op->mark] = wrong;
}

static bool reads_refused(const Builder *b, const Op *op)
{
	bool any = b->refused[op->mark];
	for (int i = 0; i < op->nin; i++)
		any |= b->refused[op_in(op, i)->mark];
	return any;
}

/* How many images every input has; it is reported if they differ. */
static int batch(Builder *b)
{
	int64_t n = 0;
	for_each_op(op, b->g) {
		if (op->kind != OP_INPUT || op->shape.rank != 4)
			continue;
		if (n && n != op->shape.dim[0])
			plan_refuse(b, op, "its batch differs from another input's");
		else
			n = op->shape.dim[0];
	}
	return n > 0 && n <= MAX_HEIGHT ? (int)n : 1;
}

static void add_ops(Builder *b)
{
	for_each_op(op, b->g) {
		check_shape(b, op);
		if (!reads_refused(b, op))
			add_op(b, op);
		/* Who reads what was not made is not looked at. */
		if (functions[op->kind] && op->kind != OP_OUTPUT && !b->parts[op->mark].n)
			b->refused[op->mark] = true;
		if (b->image == 0)
			tell_hints(b, op);
	}
}

/* First and last step each tensor is used in. */
void plan_lives(Plan *p)
{
	for (int i = p->nsteps - 1; i >= 0; i--)
		if (p->steps[i].out)
			p->steps[i].out->born = i;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		int last = i;
		while (last + 1 < p->nsteps && p->steps[last].beside)
			last++;
		for (int k = 0; k < s->nin; k++) {
			PlanTensor *t = s->in[k].tensor;
			t->dies = t->dies > last ? t->dies : last;
		}
		if (s->out) {
			s->out->done = i;
			s->out->dies = last;
		}
	}
}

Plan *plan_steps(const Graph *graph, const Target *t, bool stacked)
{
	Graph *g = (Graph *)(uintptr_t)graph;
	Builder b = { .g = g, .a = g->arena, .d = g->diag, .images = 1 };
	const int errors = b.d->errors;
	int n = 0;
	for_each_op(op, g)
		op->mark = n++;
	b.plan = arena_new(b.a, Plan);
	b.plan->graph = graph;
	b.plan->target = t;
	const int images = batch(&b);
	b.images = stacked ? images : 1;
	for (; b.image < images / b.images; b.image++) {
		b.parts = arena_array(b.a, Parts, n + 1);
		b.refused = arena_array(b.a, bool, n + 1);
		add_ops(&b);
	}
	plan_lives(b.plan);
	plan_choose_f32(&b);
	return b.d->errors == errors ? b.plan : NULL;
}
