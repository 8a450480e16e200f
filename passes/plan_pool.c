/*
 * Steps that look for the largest of windows, and those that reduce an image to
 * one pixel.
 *
 * A reduction is two steps: every core reduces the rows it has to a row of its
 * own, one band's below the other's, and the core that owns the result reduces
 * these. Of a tensor in DRAM a core has some rows at a time, and each goes onto what
 * the others made of its row.
 */
#include "passes/plan_steps.h"

#include "passes/rewrite.h"

enum { PAIR = 2 }; /* pixels a sum leaves a core as: high and low part */

void plan_max_pool(Builder *b, const Op *op)
{
	const poolAttr *p = &op->attr.pool;
	Parts in = plan_parts(b, op_in(op, 0));
	Window window[2];
	plan_check_window(b, op, p->kernel.v, p->strides.v, p->dilations.v);
	plan_check_act(b, op);
	if (op->stored == DEV_BFP8_B && !pool_windows_reach(op, op_in(op, 0)->shape, p->pads))
		plan_refuse(b, op, "a window wholly outside of the image is minus infinity, which bfp8_b lacks");
	for (int axis = 0; axis < 2; axis++)
		window[axis] = plan_window(p->kernel.v[axis], &p->strides, &p->dilations, &p->pads,
					   axis);
	if (window[1].stride > 1) /* pixels that lie apart are read as bf16 */
		in = plan_in_bf16(b, op, in);
	plan_each_part(b, STEP_MAX_POOL, op, in, op->act, window);
}

/* Rows of each core, to a pixel of each or, of sums, two. */
static PlanTensor *reduce_rows(Builder *b, const Op *op, const char *name, Part in,
			       PlanTensor *mean, ReduceKind kind)
{
	Part *v = arena_array(b->a, Part, 2);
	v[0] = in;
	v[1] = (Part){ mean, 0, in.channels };
	Step *s = plan_step(b, STEP_REDUCE, op, (Parts){ v, mean ? 2 : 1 });
	s->act = (Act){ 0 };
	s->spread[1] = SPREAD_ROWS | SPREAD_COLS;
	s->reduce = (Reduce){ .kind = kind, .pair = kind != REDUCE_MAX, .scale = 1 };
	PlanTensor *t = plan_tensor(b, op, arena_printf(b->a, "%s.rows", name), 0, in.channels, 1,
				    s->reduce.pair ? PAIR : 1);
	t->layout.type = DEV_BF16;
	t->partial = true;
	t->reduced = in.tensor;
	return plan_finish(b, s, t);
}

PlanTensor *plan_reduce(Builder *b, const Op *op, const char *name, Part in, PlanTensor *mean,
			Reduce r, Act act)
{
	const char *each = name ? name : "each";
	PlanTensor *rows = reduce_rows(b, op, each, in, mean, r.kind);
	Step *s = plan_step(b, STEP_REDUCE, op, plan_part(b, rows));
	s->act = act;
	s->reduce = r;
	s->reduce.kind = r.kind == REDUCE_MAX ? REDUCE_MAX : REDUCE_SUM;
	PlanTensor *t = plan_tensor(b, op, name, 0, in.channels, 1, r.pair ? PAIR : 1);
	if (r.pair)
		t->layout.type = DEV_BF16;
	return plan_finish(b, s, t);
}

void plan_global_pool(Builder *b, const Op *op)
{
	const Op *x = op_in(op, 0);
	const Parts in = plan_parts(b, x);
	const bool average = op->kind == OP_GLOBAL_AVG_POOL;
	const Reduce r = { .kind = average ? REDUCE_SUM : REDUCE_MAX,
			   .scale = average ? 1 / (float)(x->shape.dim[2] * x->shape.dim[3]) : 1 };
	Part *v = arena_array(b->a, Part, in.n + 1);
	int channel = 0;
	plan_check_act(b, op);
	for (int i = 0; i < in.n; channel += in.v[i++].channels) {
		const char *name = in.n > 1 ? arena_printf(b->a, "part%d", i) : NULL;
		PlanTensor *t = plan_reduce(b, op, name, in.v[i], NULL, r, op->act);
		t->channel = channel;
		v[i] = (Part){ t, 0, in.v[i].channels };
	}
	plan_made(b, op, v, in.n);
}
