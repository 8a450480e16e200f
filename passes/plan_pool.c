/*
 * Steps that look for the largest of windows.
 */
#include "passes/plan_steps.h"

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

void plan_max_pool(Builder *b, const Op *op)
{
	const poolAttr *p = &op->attr.pool;
	const Parts in = plan_parts(b, op_in(op, 0));
	Window window[2];
	plan_check_window(b, op, p->kernel.v, p->strides.v, p->dilations.v);
	if (!windows_inside(op))
		plan_refuse(b, op, "windows that reach past the image have no device routine yet");
	for (int i = 0; i < in.n; i++)
		if (p->strides.v[1] != 1 && in.v[i].tensor->layout.type != DEV_BF16)
			plan_refuse(b, op, "a strided window reads bf16 only, its input is bfp8_b");
	plan_check_act(b, op);
	for (int axis = 0; axis < 2; axis++)
		window[axis] = plan_window(p->kernel.v[axis], &p->strides, &p->dilations, &p->pads,
					   axis);
	plan_by_parts(b, STEP_MAX_POOL, op, op->act, window);
}
