/*
 * Where a net begins and ends, and what only strings tensors together.
 */
#include "passes/plan_conv.h"

void plan_input(Builder *b, const Op *op)
{
	const bool packed = op->stored == DEV_BFP8_B;
	const Parts host = plan_results(b, op, packed ? "host" : NULL, 1);
	for (int i = 0; i < host.n; i++) {
		Step *s = plan_step(b, STEP_EDGE_IN, op, (Parts){ 0 });
		s->channel = host.v[i].tensor->channel;
		host.v[i].tensor->layout.type = DEV_BF16;
		plan_finish(b, s, host.v[i].tensor);
	}
	plan_made(b, op, host.v, host.n);
	if (!packed)
		return;
	/* RISC-Vs write bf16; packers make bfp8_b of it. */
	const Parts out = plan_results(b, op, NULL, 1);
	for (int i = 0; i < out.n; i++) {
		Step *s = plan_step(b, STEP_UNARY, op, (Parts){ &host.v[i], 1 });
		plan_finish(b, s, out.v[i].tensor);
	}
	plan_made(b, op, out.v, out.n);
}

/* On the device all numbers are of the format they are stored in. Elements that
 * are not floating come from the host, as they are. */
void plan_cast(Builder *b, const Op *op)
{
	const Op *from = op_in(op, 0);
	if (!type_is_float(op->dtype) || !(type_is_float(from->dtype) || from->kind == OP_INPUT))
		plan_refuse(b, op, "only an input is anything but floating point on the device");
	const Parts in = plan_parts(b, from);
	plan_made(b, op, in.v, in.n);
}

/* Returns how many pieces of the output there are then. */
static int send(Builder *b, const Op *op, int which, int piece)
{
	const Op *from = op_in(op, which);
	if (from->kind == OP_VIEW)
		from = op_in(from, 0);
	Parts in = plan_parts(b, from);
	int channel = 0;
	/* A view looks at one tensor. */
	if (in.n > 1 && (op->nin > 1 || op_in(op, which)->kind == OP_VIEW)) {
		const Parts pieces = plan_pieces(b, op, in);
		const Part whole = plan_join(b, op, pieces);
		in = plan_part(b, whole.tensor);
	}
	for (int i = 0; i < in.n; channel += in.v[i++].channels) {
		Step *s = plan_step(b, STEP_EDGE_OUT, op, (Parts){ &in.v[i], 1 });
		s->channel = channel;
		s->from = which;
		s->piece = piece + i;
		plan_finish(b, s, NULL);
	}
	return piece + in.n;
}

void plan_output(Builder *b, const Op *op)
{
	int pieces = 0;
	for (int i = 0; i < op->nin; i++)
		pieces = send(b, op, i, pieces);
}

void plan_concat(Builder *b, const Op *op)
{
	int n = 0;
	if (op->attr.axis.axis != 1)
		plan_refuse(b, op, "only channels are joined on the device");
	for (int i = 0; i < op->nin; i++)
		n += plan_parts(b, op_in(op, i)).n;
	Part *v = arena_array(b->a, Part, n + 1);
	n = 0;
	for (int i = 0; i < op->nin; i++) {
		const Parts in = plan_parts(b, op_in(op, i));
		for (int k = 0; k < in.n; k++)
			v[n++] = in.v[k];
	}
	plan_made(b, op, v, n);
}
