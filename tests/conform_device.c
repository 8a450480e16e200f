#include "tests/conform_device.h"

#include <math.h>

#include "tests/network.h"

static bool is_edge(const Op *op)
{
	return op->kind == OP_CONSTANT || op->kind == OP_OUTPUT || op->kind == OP_VIEW;
}

static bool is_parameter(const Op *x)
{
	for_each_use(u, x) {
		const Op *user = u->user;
		const bool takes = op_is(user, WEIGHTS) || user->kind == OP_BATCH_NORM
			|| user->kind == OP_INSTANCE_NORM || user->kind == OP_MATMUL;
		if (!takes || op_in(user, 0) == x)
			return false;
	}
	return x->uses;
}

int device_bake(Graph *g, Tensor *in[])
{
	int given = 0, left = 0;
	for (Op *op = g->first, *next; op; op = next) {
		next = op->next;
		if (op->kind != OP_INPUT)
			continue;
		Tensor *data = in[given++];
		if (!is_parameter(op)) {
			in[left++] = data;
			continue;
		}
		Op *constant = graph_constant(g, op, op->name, data);
		op_replace_uses(op, constant);
		op_remove(g, op);
	}
	return left;
}

/* What ops.def excepts of a device op. */
static const char *exception(const Op *op)
{
	if (op->kind == OP_SOFTMAX && op->attr.axis.axis != 1)
		return "a softmax that is not over channels";
	if (op->kind == OP_RESIZE && op->attr.resize.coord == COORD_TF_CROP)
		return "a resize that crops";
	return NULL;
}

const char *device_beyond(const Graph *g)
{
	bool any = false;
	for_each_op(op, g) {
		if (!op_is(op, DEVICE))
			return arena_printf(g->arena, "%s is no device op", op_info[op->kind].name);
		if (is_edge(op))
			continue;
		if (exception(op))
			return exception(op);
		any = true;
		if (op->shape.rank != 4)
			return arena_printf(g->arena, "%s '%s' is no N,C,H,W image",
					    op_info[op->kind].name, op->name);
		if (!type_is_float(op->dtype) && op->kind != OP_INPUT)
			return arena_printf(g->arena, "%s '%s' is %s", op_info[op->kind].name,
					    op->name, type_info[op->dtype].name);
	}
	return any ? NULL : "there is nothing to compute";
}

static const char *compare(Arena *a, int k, const float *got, const Tensor *want)
{
	double range = 0, worst = 0;
	for (int64_t i = 0; i < tensor_count(want); i++)
		range = fmax(range, fabs(tensor_f64(want, i)));
	for (int64_t i = 0; i < tensor_count(want); i++) {
		const double error = fabs((double)got[i] - tensor_f64(want, i));
		if (!(error <= worst) && !isnan(worst)) /* which stays */
			worst = error;
	}
	if (worst <= DEVICE_TOLERANCE * range)
		return NULL;
	return arena_printf(a, "output %d is off by %.3g, %.3g of the greatest value", k, worst,
			    worst / range);
}

static bool is_f32(const Network *n)
{
	bool all = true;
	for (size_t i = 0; i < tessera_input_count(n->opened); i++)
		all &= tessera_input(n->opened, i).type == TESSERA_F32;
	for (size_t i = 0; i < tessera_output_count(n->opened); i++)
		all &= tessera_output(n->opened, i).type == TESSERA_F32;
	return all;
}

const char *device_run(Graph *g, const char *device, Tensor *const in[], Tensor *const want[])
{
	Network *n = network_planned(g, NULL);
	const char *why = n ? NULL : "is not compiled";
	if (n && !is_f32(n))
		why = "is not of f32";
	float *x = NULL, *y = NULL;
	if (!why) {
		x = arena_array(g->arena, float, network_input_count(n) + 1);
		y = arena_array(g->arena, float, network_output_count(n) + 1);
		int64_t at = 0;
		for (size_t i = 0; i < tessera_input_count(n->opened); i++)
			for (int64_t k = 0; k < tensor_count(in[i]); k++)
				x[at++] = (float)tensor_f64(in[i], k);
		TesseraError e;
		if (!network_run(n, device, x, y, &e))
			why = arena_printf(g->arena, "%s\n%s", e.text, e.detail);
	}
	for (size_t i = 0; !why && i < tessera_output_count(n->opened); i++) {
		why = compare(g->arena, (int)i, y, want[i]);
		y += tensor_count(want[i]);
	}
	network_free(n);
	return why;
}
