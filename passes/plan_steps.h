/*
 * Making the steps of a plan: what the families of ops (plan_conv.c, ...) build
 * with. Which family an op belongs to stands in plan_ops.def.
 *
 * The result of an op is a list of parts: concat strings the parts of its
 * inputs together, and what works on every channel by itself (a pool, an
 * activation) takes them one by one.
 *
 *     Step *s = plan_step(b, STEP_UNARY, op, plan_parts(b, op_in(op, 0)));
 *     plan_whole(b, s);
 *
 * adds a step whose result is all of the op's.
 */
#ifndef PASSES_PLAN_STEPS_H
#define PASSES_PLAN_STEPS_H

#include "passes/plan.h"

typedef struct Parts {
	Part *v;
	int n;
} Parts;

typedef struct Builder {
	Plan *plan;
	Graph *g;
	Arena *a;
	Diag *d;
	int images;    /* stacked in every tensor */
	int image;     /* the one at hand of those looped over */
	Parts *parts;  /* by op->mark */
	bool *refused; /* by op->mark: its shape; who reads it is not looked at */
	const Op *kept; /* the last that was told to be kept in bf16 */
} Builder;

typedef void PlanFunction(Builder *b, const Op *op);

#define PLAN_OP(op, function) PlanFunction function;
#include "passes/plan_ops.def"

/* Reports why an op cannot run on the device; go on with the others. */
void plan_refuse(Builder *b, const Op *op, const char *why);

/* What an op made, and saying so. */
Parts plan_parts(const Builder *b, const Op *op);
void plan_made(Builder *b, const Op *op, const Part *v, int n);

/* A list of one part: a whole tensor. */
Parts plan_part(Builder *b, PlanTensor *t);

/* A tensor for (part of) the result of `op`, or a step on the way to it: so many
 * channels from `channel` on, one phase; stored as the op's. A suffix other than
 * NULL makes its name. */
PlanTensor *plan_tensor(Builder *b, const Op *op, const char *suffix, int channel, int channels,
			int height, int cols);

/* Are channels that an op does not have other than 0 behind it? */
bool plan_fills_rest(const Op *op);

/* The next step, without result yet, and done with: its result is `out`. */
Step *plan_step(Builder *b, StepKind kind, const Op *op, Parts in);
PlanTensor *plan_finish(Builder *b, Step *s, PlanTensor *out);

/* Channels that a buffer holds, of every image in so many column phases. */
int plan_most_channels(const Builder *b, int phases);

/* Tensors for all channels of an op's result, in as many parts as buffers take;
 * none, reported, if a buffer takes none. */
Parts plan_results(Builder *b, const Op *op, const char *suffix, int phases);

/* The step makes all of the op's result, in one tensor. */
void plan_whole(Builder *b, Step *s);

/* One step for each part of the first input, channel by channel the same. */
void plan_by_parts(Builder *b, StepKind kind, const Op *op, Act act, const Window window[2]);

/* The same of parts at hand. */
void plan_each_part(Builder *b, StepKind kind, const Op *op, Parts in, Act act,
		    const Window window[2]);

/* The parts in bf16, by a copy of those that are not. */
Parts plan_in_bf16(Builder *b, const Op *op, Parts in);

/* All pixels of a part to one of each channel, or a pair: steps and tensors are
 * called after `name`, the result after the op if that is NULL. `mean` is for
 * deviations, else NULL. */
PlanTensor *plan_reduce(Builder *b, const Op *op, const char *name, Part in, PlanTensor *mean,
			Reduce r, Act act);

/* The parts with their columns in so many column phases (ir/layout.h), by a step
 * each, and phases back to columns; bit for bit. `op`: whose work that is. */
Parts plan_phased(Builder *b, const Op *op, Parts in, int phases);
Parts plan_interleave(Builder *b, const Op *op, Parts in);

/* plan_f32.c: which tensors may be f32, and are by themselves. Does the host read one? */
void plan_choose_f32(Builder *b);
bool plan_is_sent(const Plan *p, const PlanTensor *t);

/* Limits of the routines' parameters that several families share. */
void plan_check_act(Builder *b, const Op *op);
void plan_check_window(Builder *b, const Op *op, const int64_t *kernel, const int64_t *stride,
		       const int64_t *dilation);

/* Phases of fidelity: enough for weights of a type, or by the op's hint. */
int plan_phases(DevTypes weights);
int plan_fidelity(const Step *s);

/* A weight for each channel of op input 0, part by part: filter[channel][ky][kx]
 * and bias[channel] of the op's result. NULL: a window of one value. */
void plan_channel(Builder *b, const Op *op, Parts in, const Tensor *filter, const Tensor *bias,
		  const Window window[2]);

/* Does it all if the convolution has one input channel for each output channel. */
bool plan_depthwise(Builder *b, const Op *op);

/* x `arith` y, where either may be spread: which step does it; without result yet. */
Step *plan_arith(Builder *b, const Op *op, OpKind arith, Part x, int x_spread, Part y,
		 int y_spread);

/* The window of a pool or conv along axis 0 (rows) or 1 (columns). */
Window plan_window(int64_t size, const Ints *strides, const Ints *dilations, const Ints *pads,
		   int axis);

/* plan_weights.c: output tiles of a group, of so many; what hints say of how
 * weights come. */
int plan_held(Builder *b, const Op *op, int tiles);
void plan_weight_hints(Builder *b, Step *s);

#endif
