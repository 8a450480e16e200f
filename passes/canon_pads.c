/*
 * Pads with something other than zero:
 *
 *     %p = pad %x {value = 3}    ->    %p.zero = pad %x
 *                                      %p = add %p.zero, [0 inside, 3 around it]
 *
 * so that a device, which has zeros around images anyhow, needs no more. Only
 * for images that are padded in height and width, with a finite number.
 */
#include "passes/canon.h"

#include <math.h>

#include "passes/rewrite.h"

static bool is_spatial(const Op *op)
{
	const int64_t *pads = op->attr.pad.pads.v;
	return op->shape.rank == 4 && !pads[0] && !pads[1] && !pads[4] && !pads[5];
}

/* [1,1,H,W]: `value` where the result is not of the input. */
static Tensor *around(Graph *g, const Op *op)
{
	const int64_t *out = op->shape.dim, *in = op_in(op, 0)->shape.dim;
	const int64_t *pads = op->attr.pad.pads.v;
	Tensor *t = tensor_create(g->arena, TYPE_F32, SHAPE(1, 1, out[2], out[3]));
	float *v = tensor_f32_data(t);
	for (int64_t y = 0; y < out[2]; y++)
		for (int64_t x = 0; x < out[3]; x++) {
			const int64_t row = y - pads[2], col = x - pads[3];
			const bool inside = 0 <= row && row < in[2] && 0 <= col && col < in[3];
			v[y * out[3] + x] = inside ? 0 : op->attr.pad.value;
		}
	return t;
}

bool canon_pads(Graph *g, Op *op)
{
	if (op->kind != OP_PAD || op->attr.pad.mode != PAD_CONSTANT || op->attr.pad.value == 0
	    || op->dtype != TYPE_F32 || !isfinite(op->attr.pad.value) || !is_spatial(op))
		return false;
	Attrs zero = op->attr;
	zero.pad.value = 0;
	const char *name = op->name;
	Op *in[] = {
		rewrite_insert(g, op, OP_PAD, arena_printf(g->arena, "%s.zero", name), op_in(op, 0), zero),
		graph_constant(g, op, arena_printf(g->arena, "%s.around", name), around(g, op)),
	};
	Op *add = graph_insert(g, op, OP_ADD, name, 2, in);
	rewrite_infer(g, add);
	op_replace_uses(op, add);
	rewrite_succeed(g, add, op);
	return true;
}
