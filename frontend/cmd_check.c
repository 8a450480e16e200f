/*
 * tessera check: every op that is left after the passes and that a device
 * cannot run, with the reason.
 *
 *     'ln1' (layer_norm): reference-only
 *     2 of 31 ops cannot run on wormhole_n150
 */
#include "frontend/cmd_session.h"

static bool is_constant(const Op *op, int i)
{
	return op_in(op, i)->kind == OP_CONSTANT;
}

static int spatial_rank(const Op *op)
{
	return op_in(op, 0)->shape.rank - 2;
}

static const char *not_2d(const Graph *g, const Op *op)
{
	const int rank = spatial_rank(op);
	return rank == 2 ? NULL : arena_printf(g->arena, "%d-D; a device has 2-D only", rank);
}

/* True if `small` repeats over the positions of `large`: one value, or one
 * per channel. */
static bool is_per_channel(Shape small, Shape large)
{
	for (int i = 0; i < small.rank; i++) {
		const int at = large.rank - small.rank + i;
		if (small.dim[i] != 1 && (at > 1 || small.dim[i] != large.dim[at]))
			return false;
	}
	return true;
}

static const char *broadcast(const Graph *g, const Op *op)
{
	const Shape a = op_in(op, 0)->shape, b = op_in(op, 1)->shape;
	if (shape_equal(a, b) || is_per_channel(a, op->shape) || is_per_channel(b, op->shape))
		return NULL;
	return arena_printf(g->arena, "%s with %s; a device broadcasts per channel only",
			    shape_text(g->arena, a), shape_text(g->arena, b));
}

static const char *axis_not_channels(const Graph *g, const Op *op)
{
	const int64_t axis = op->attr.axis.axis;
	if (axis == 1)
		return NULL;
	return arena_printf(g->arena, "over dim %lld; a device has channels (dim 1) only",
			    (long long)axis);
}

static const char *pad_reason(const Graph *g, const Op *op)
{
	const padAttr *p = &op->attr.pad;
	const int rank = op->shape.rank;
	if (p->mode == PAD_WRAP)
		return "wraps round; a device pads with a constant, by reflection or by the edge";
	if (rank != 4)
		return not_2d(g, op);
	for (int i = 0; i < 2; i++)
		if (p->pads.v[i] || p->pads.v[rank + i])
			return "pads batch or channels; a device pads positions only";
	return NULL;
}

static const char *resize_reason(const Graph *g, const Op *op)
{
	const resizeAttr *r = &op->attr.resize;
	if (r->mode == RESIZE_CUBIC)
		return "cubic; a device has nearest and linear";
	if (r->antialias)
		return "antialias";
	if (r->coord == COORD_TF_CROP)
		return "crops";
	if (spatial_rank(op) == 2 && (r->sizes.v[0] != op_in(op, 0)->shape.dim[0] ||
				      r->sizes.v[1] != op_in(op, 0)->shape.dim[1]))
		return "resizes batch or channels";
	return not_2d(g, op);
}

static const char *slice_reason(const Op *op)
{
	for (int i = 0; i < op->attr.slice.steps.n; i++)
		if (op->attr.slice.steps.v[i] < 0)
			return "negative step";
	return NULL;
}

/* Why a device cannot run an op of a kind it knows, or NULL. */
static const char *detail(const Graph *g, const Op *op)
{
	if (op_is(op, WEIGHTS) && !is_constant(op, 1))
		return "weights are not constant";
	switch (op->kind) {
	case OP_CONV:
	case OP_CONV_TRANSPOSE:
		if (op->nin > 2 && !is_constant(op, 2))
			return "bias is not constant";
		return not_2d(g, op);
	case OP_LINEAR:
		return op->nin > 2 && !is_constant(op, 2) ? "bias is not constant" : NULL;
	case OP_MAX_POOL:
	case OP_AVG_POOL:
	case OP_GLOBAL_AVG_POOL:
	case OP_GLOBAL_MAX_POOL:
	case OP_DEPTH_TO_SPACE:
	case OP_SPACE_TO_DEPTH:
	case OP_INSTANCE_NORM:
		return not_2d(g, op);
	case OP_RESIZE:
		return resize_reason(g, op);
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_PRELU:
		return broadcast(g, op);
	case OP_CONCAT:
	case OP_SOFTMAX:
		return axis_not_channels(g, op);
	case OP_PAD:
		return pad_reason(g, op);
	case OP_SLICE:
		return slice_reason(op);
	default:
		return NULL;
	}
}

static const char *reason(const Graph *g, const Op *op)
{
	const OpInfo *info = &op_info[op->kind];
	if (!op_is(op, DEVICE))
		return *info->constraints && op_is(op, MOVES)
			? arena_printf(g->arena, "reference-only (%s)", info->constraints)
			: "reference-only";
	if (!type_is_float(op->dtype))
		return arena_printf(g->arena, "yields %s; a device computes floats",
				    type_info[op->dtype].name);
	if (op->shape.rank != 4 && op->shape.rank != 2 && op->kind != OP_VIEW)
		return arena_printf(g->arena, "yields %d dims; a device has 4, or 2 at a classifier",
				    op->shape.rank);
	return detail(g, op);
}

enum ExitCode cmd_check(Session *s)
{
	const Target *target = session_target(s);
	if (!target)
		return EXIT_USAGE;
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	int ops = 0, bad = 0;
	for_each_op(op, g) {
		if (op->kind == OP_INPUT || op->kind == OP_CONSTANT || op->kind == OP_OUTPUT)
			continue;
		const char *why = reason(g, op);
		ops++;
		bad += why != NULL;
		if (why)
			printf("'%s' (%s): %s\n", op->name, op_info[op->kind].name, why);
	}
	if (bad)
		printf("%d of %d ops cannot run on %s\n", bad, ops, target->name);
	else
		printf("all %d ops can run on %s\n", ops, target->name);
	return bad ? EXIT_INFEASIBLE : EXIT_OK;
}
