#include "passes/ttnn_shapes.h"

#include <limits.h>

#include "passes/rewrite.h"

Act ttnn_act_of(const Op *op) { return op_is(op, ACT) ? act_of(op) : op->act; }

bool ttnn_fuses(const Op *op) { return op->kind == OP_CONV; }

static int64_t at(Ints v, int i, int64_t otherwise) { return i < v.n ? v.v[i] : otherwise; }

TtnnConv ttnn_conv_of(const Op *op)
{
	const convAttr *a = &op->attr.conv;
	const int64_t *in = op_in(op, 0)->shape.dim, *k = op_in(op, 1)->shape.dim;
	const bool sfpu = ttnn_fuses(op) && op_has_act(op) && op->act.kind != OP_RELU;
	TtnnConv c = { .cin = in[1], .cout = op->shape.dim[1], .bias = op->nin > 2, .sfpu = sfpu };
	TtnnWindow *w = &c.w;
	*w = (TtnnWindow){ in[0], op->shape.dim[2], op->shape.dim[3], k[2], k[3],
			   at(a->strides, 0, 1), at(a->strides, 1, 1),
			   at(a->dilations, 0, 1), at(a->dilations, 1, 1) };
	if (op->kind == OP_CONV_TRANSPOSE) {
		w->sh = w->sw = 1;
		w->hp = w->oh + w->kh - 1;
		w->wp = w->ow + w->kw - 1;
		w->apart = at(a->strides, 0, 1) * at(a->strides, 1, 1);
		return c;
	}
	w->hp = in[2] + at(a->pads, 0, 0) + at(a->pads, 2, 0);
	w->wp = in[3] + at(a->pads, 1, 0) + at(a->pads, 3, 0);
	c.product = k[2] == 1 && k[3] == 1 && w->sh == 1 && w->sw == 1 && w->hp == in[2]
		&& w->wp == in[3];
	return c;
}

TtnnWindow ttnn_pool_of(const Op *op)
{
	const poolAttr *a = &op->attr.pool;
	const int64_t *in = op_in(op, 0)->shape.dim;
	if (op->kind == OP_GLOBAL_AVG_POOL)
		return (TtnnWindow){ in[0], 1, 1, in[2], in[3], 1, 1, 1, 1, in[2], in[3] };
	TtnnWindow w = { in[0], op->shape.dim[2], op->shape.dim[3], a->kernel.v[0], a->kernel.v[1],
			 at(a->strides, 0, 1), at(a->strides, 1, 1),
			 at(a->dilations, 0, 1), at(a->dilations, 1, 1),
			 in[2] + at(a->pads, 0, 0) + at(a->pads, 2, 0),
			 in[3] + at(a->pads, 1, 0) + at(a->pads, 3, 0) };
	/* With ceil_mode the last windows reach further. */
	const int64_t high = (w.oh - 1) * w.sh + (w.kh - 1) * w.dh + 1;
	const int64_t wide = (w.ow - 1) * w.sw + (w.kw - 1) * w.dw + 1;
	w.hp = high > w.hp ? high : w.hp;
	w.wp = wide > w.wp ? wide : w.wp;
	return w;
}

/* Do begins equal ends? */
static bool pads_even(Ints pads)
{
	return pads.n == 0 || (pads.v[0] == pads.v[2] && pads.v[1] == pads.v[3]);
}

static bool is_constant(const Op *op, int i) { return i >= op->nin || op_value(op_in(op, i)); }

static const char *check_conv(const Op *op)
{
	const convAttr *a = &op->attr.conv;
	if (!is_constant(op, 1) || !is_constant(op, 2))
		return "its weights are no constants with data";
	if (op->kind == OP_CONV)
		return NULL;
	return ints_all(a->dilations, 1) ? NULL : "it is dilated";
}

static const char *check_pool(const Op *op)
{
	const poolAttr *a = &op->attr.pool;
	if (op->kind == OP_GLOBAL_AVG_POOL)
		return NULL;
	if (!pads_even(a->pads))
		return "its pads are not the same on both sides";
	if (op->kind == OP_AVG_POOL && !ints_all(a->dilations, 1))
		return "it is dilated";
	return NULL;
}

/* By whole factors, and as PyTorch counts pixels. */
static const char *check_resize(const Op *op)
{
	const resizeAttr *a = &op->attr.resize;
	const int64_t *in = op_in(op, 0)->shape.dim, *out = op->shape.dim;
	if (out[0] != in[0] || out[1] != in[1] || out[2] % in[2] || out[3] % in[3])
		return "its factors are not whole";
	if (a->mode == RESIZE_CUBIC || a->antialias || a->roi.n)
		return "it is neither nearest nor bilinear";
	const bool half = a->coord == COORD_HALF_PIXEL || a->coord == COORD_PYTORCH_HALF_PIXEL
		|| a->coord == COORD_HALF_PIXEL_SYMMETRIC;
	if (a->mode == RESIZE_LINEAR)
		return half ? NULL : "it counts pixels otherwise than from their centres";
	const bool floor = a->coord == COORD_ASYMMETRIC && a->nearest == ROUND_FLOOR;
	return floor || half ? NULL : "it rounds otherwise than down";
}

static const char *check_shapes(const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (op_in(op, i)->kind == OP_CONSTANT
		    || !shape_equal(op_in(op, i)->shape, op->shape))
			return "its operands are not tensors of one shape";
	return NULL;
}

static const char *check_concat(const Op *op)
{
	if (op->attr.axis.axis != 1)
		return "it is not over channels";
	for (int i = 0; i < op->nin; i++)
		if (op_in(op, i)->kind == OP_CONSTANT)
			return "it joins constants";
	return NULL;
}

static const char *check_class(const Op *op, TtnnClass class)
{
	switch (class) {
	case TTNN_CONVS: return check_conv(op);
	case TTNN_POOLS: return check_pool(op);
	case TTNN_JOINS: return check_concat(op);
	case TTNN_PAIRS: return check_shapes(op);
	case TTNN_UPSAMPLES: return check_resize(op);
	case TTNN_EDGES: return op->nin > 1 ? "it joins several tensors" : NULL;
	case TTNN_UNARYS: break;
	}
	return NULL;
}

/* On the cores an image's channels come in eights, which convolutions alone expect. */
static const char *check_input(const Op *op)
{
	if (op->dtype != TYPE_F32 || op->attr.input.perm.n)
		return "it is no float tensor of N,C,H,W";
	for_each_use(u, op)
		if (u->user->kind != OP_CONV && ttnn_op_info(u->user->kind)
		    && op->shape.dim[1] % 8)
			return "its channels are no multiple of 8, and not convolutions alone read it";
	return NULL;
}

/* Why ttnn cannot do it; NULL: it can. */
static const char *why_not(const Op *op)
{
	const TtnnOpInfo *info = ttnn_op_info(op->kind);
	if (!info)
		return "ttnn has no counterpart of the op";
	if (op->shape.rank != 4)
		return "its result has not 4 dims";
	if (op->kind == OP_INPUT)
		return check_input(op);
	if (op->weights == DEV_F32)
		return "its weights are f32, and its calls are priced for bf16 and bfp8_b";
	if (op->stored == DEV_F32)
		return "its result is f32, and its calls are priced for bf16 and bfp8_b";
	const Act act = ttnn_act_of(op);
	if (act.kind != OP_INPUT && !ttnn_act(act))
		return "ttnn has no such activation";
	return check_class(op, info->class);
}

bool ttnn_supported(const Graph *g)
{
	const int errors = g->diag->errors, limit = g->diag->limit;
	if (g->all_stored == DEV_F32)
		diag_error(g->diag, (Loc){ .file = "--act-dtype=f32" },
			   "no plan for ttnn: its calls are priced for bf16 and bfp8_b");
	g->diag->limit = INT_MAX; /* each is named */
	for_each_op(op, g) {
		const char *why = op->kind == OP_CONSTANT ? NULL : why_not(op);
		if (why)
			diag_error(g->diag, op->loc, "%s %s: no plan for ttnn: %s",
				   op_info[op->kind].name, op->name, why);
	}
	g->diag->limit = limit;
	return g->diag->errors == errors;
}
