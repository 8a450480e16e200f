/*
 * Steps that multiply with weights.
 */
#include "passes/plan_steps.h"

#include <math.h>
#include <string.h>

#include "ir/hint.h"

static int held_tiles(int tiles) { return tiles % 4 == 0 ? 4 : tiles % 2 == 0 ? 2 : 1; }

static void check_blocks(Builder *b, const Step *s)
{
	for (int i = 1; i < s->nin; i++)
		if (s->in[i].tensor->layout.type != s->in[0].tensor->layout.type)
			plan_refuse(b, s->op, "its input is joined from bf16 and bfp8_b tensors");
	if (s->nin > 4)
		plan_refuse(b, s->op, "its input is joined from more than 4 tensors");
	if (s->groups > 255)
		plan_refuse(b, s->op, "more output channels than a routine takes");
}

/* Two phases see all of a bfp8_b weight, but not of a bf16 one. */
int plan_fidelity(Builder *b, const Step *s)
{
	const char *hint = op_hint(s->op, "fidelity");
	if (!hint)
		return s->weights == DEV_BFP8_B ? 2 : 4;
	if (strcmp(hint, "hifi3") == 0)
		plan_refuse(b, s->op, "fidelity hifi3 has no device routine");
	return strcmp(hint, "lofi") == 0 ? 1 : strcmp(hint, "hifi2") == 0 ? 2 : 4;
}

/* Sizes of pages and groups, once kind, input and weights are set. */
static void size_weights(Builder *b, Step *s, int channels)
{
	const int tiles = (int)weight_tiles_of((uint32_t)channels);
	const bool deconv = s->kind == STEP_DECONV2;
	s->weights = s->op->weights & DEV_BFP8_B ? DEV_BFP8_B : DEV_BF16;
	s->taps = deconv ? 1 : s->window[0].size * s->window[1].size;
	s->held = deconv ? 2 : held_tiles(tiles);
	s->groups = deconv ? 2 * tiles : tiles / s->held;
	s->phases = plan_fidelity(b, s);
	s->page_bytes = (int64_t)s->held * 2 * TILE;
	for (int i = 0; i < s->nin; i++) {
		const WeightBlocks blocks = step_blocks(s, i);
		s->page_bytes += (int64_t)weight_bytes(&blocks) / s->groups;
	}
	check_blocks(b, s);
}

static void weighted(Builder *b, StepKind kind, const Op *op, const Window window[2])
{
	Step *s = plan_step(b, kind, op, plan_parts(b, op_in(op, 0)));
	s->filter = op_value(op_in(op, 1));
	s->bias = op->nin > 2 ? op_value(op_in(op, 2)) : NULL;
	for (int axis = 0; window && axis < 2; axis++)
		s->window[axis] = window[axis];
	size_weights(b, s, (int)op->shape.dim[1]);
	const int held = s->held;
	plan_whole(b, s);
	PlanTensor *out = plan_parts(b, op).v[0].tensor;
	out->plane_unit = kind == STEP_DECONV2 ? 2 : 2 * held;
	out->row_unit = kind == STEP_DECONV2 ? 2 : 1;
}

/* Weights and bias are there, and finite in bf16. */
static bool check_constants(Builder *b, const Op *op)
{
	const double infinite = 0x1.ffp+127; /* rounds up */
	for (int i = 1; i < op->nin && i < 3; i++) {
		const Tensor *t = op_value(op_in(op, i));
		if (!t) {
			plan_refuse(b, op, "weights and bias must be constants with data");
			return false;
		}
		for (int64_t k = 0; k < tensor_count(t); k++)
			if (!(fabs(tensor_f64(t, k)) < infinite)) {
				plan_refuse(b, op, "a weight or bias is infinite in bf16");
				return true;
			}
	}
	return true;
}

void plan_conv(Builder *b, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	const Op *w = op_in(op, 1);
	Window window[2];
	plan_check_window(b, op, &w->shape.dim[2], c->strides.v, c->dilations.v);
	if (plan_depthwise(b, op))
		return;
	if (c->groups != 1)
		plan_refuse(b, op, "grouped convolution has no device routine yet");
	if (!ints_all(c->strides, 1))
		plan_refuse(b, op, "a stride other than 1 has no device routine yet");
	const bool constant = check_constants(b, op);
	plan_check_act(b, op);
	for (int axis = 0; axis < 2; axis++)
		window[axis] = plan_window(w->shape.dim[2 + axis], &c->strides, &c->dilations,
					   &c->pads, axis);
	if (constant)
		weighted(b, STEP_CONV, op, window);
}

void plan_deconv(Builder *b, const Op *op)
{
	const convAttr *c = &op->attr.conv;
	const Op *w = op_in(op, 1);
	if (c->groups != 1 || w->shape.dim[2] != 2 || w->shape.dim[3] != 2 ||
	    !ints_all(c->strides, 2) || !ints_all(c->pads, 0) || !ints_all(c->dilations, 1) ||
	    !ints_all(c->output_padding, 0))
		plan_refuse(b, op, "only a 2x2 window with stride 2 and no padding has a device routine yet");
	plan_check_act(b, op);
	if (check_constants(b, op))
		weighted(b, STEP_DECONV2, op, NULL);
}
