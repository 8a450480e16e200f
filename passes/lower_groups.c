/*
 * lower_groups: split grouped convolutions whose groups fill whole planes.
 *
 *     %c = conv %x, %w, %b {groups = 2, ...} : f32[1,64,8,8]
 * becomes
 *     %c.x0 = slice %x {counts = [1,32,8,8], starts = [0,0,0,0], ...}
 *     %c.g0 = conv %c.x0, %c.w0, %c.b0 {...}
 *     ... the same for group 1 ...
 *     %c = concat %c.g0, %c.g1 {axis = 1}
 *
 * A plane holds 16 channels, so these slices and this concat move nothing on
 * the device. A fused activation goes to every part.
 *
 * Not done for depthwise convolutions, which stay one op, when channels in or
 * out per group are no multiple of 16, or when weights or bias are elided or
 * no constants.
 */
#include "passes/pass.h"

#include <string.h>

#include "passes/product.h"
#include "passes/rewrite.h"

enum { PLANE = 16 };

static bool is_split(Graph *g, const Op *op)
{
	if (op->kind != OP_CONV && op->kind != OP_CONV_TRANSPOSE)
		return false;
	const int64_t groups = op->attr.conv.groups;
	return groups > 1 && product_inputs(op) / groups % PLANE == 0
		&& product_outputs(op) / groups % PLANE == 0 && product_is_known(g, op);
}

/* Rows from .. from + n - 1 of a tensor, sharing its elements. */
static Tensor *rows(Graph *g, Tensor *t, int64_t from, int64_t n)
{
	Shape shape = t->shape;
	const int64_t row = tensor_bytes(t) / shape.dim[0];
	shape.dim[0] = n;
	Tensor *part = arena_new(g->arena, Tensor);
	t->owned = false;
	*part = *t;
	part->shape = shape;
	if (!t->splat)
		part->data = (const char *)t->data + from * row;
	return part;
}

static Op *constant_part(Graph *g, Op *at, int input, const char *letter, int64_t k, int64_t groups)
{
	Tensor *t = op_value(op_in(at, input));
	const int64_t n = t->shape.dim[0] / groups;
	return graph_constant(g, at, arena_printf(g->arena, "%s.%s%lld", at->name, letter, (long long)k),
			      rows(g, t, k * n, n));
}

static Op *slice_part(Graph *g, Op *at, int64_t k, int64_t groups)
{
	Op *x = op_in(at, 0);
	int64_t starts[MAX_RANK] = { 0 }, counts[MAX_RANK];
	const int rank = x->shape.rank;
	memcpy(counts, x->shape.dim, sizeof counts);
	counts[1] /= groups;
	starts[1] = k * counts[1];
	return rewrite_insert(g, at, OP_SLICE,
		arena_printf(g->arena, "%s.x%lld", at->name, (long long)k), x,
		(Attrs){ .slice = { .counts = ints_copy(g->arena, counts, rank),
				    .starts = ints_copy(g->arena, starts, rank),
				    .steps = ints_fill(g->arena, 1, rank) } });
}

static Op *product_part(Graph *g, Op *at, int64_t k, int64_t groups)
{
	Op *in[3] = { slice_part(g, at, k, groups), constant_part(g, at, 1, "w", k, groups) };
	if (at->nin > 2)
		in[2] = constant_part(g, at, 2, "b", k, groups);
	Op *part = graph_insert(g, at, at->kind,
		arena_printf(g->arena, "%s.g%lld", at->name, (long long)k), at->nin, in);
	part->attr = at->attr;
	part->attr.conv.groups = 1;
	part->act = at->act;
	part->node = at->node;
	part->nhints = at->nhints;
	part->hints = at->hints;
	rewrite_infer(g, part);
	return part;
}

static void split(Graph *g, Op *op)
{
	const int64_t groups = op->attr.conv.groups;
	Op **parts = arena_array(g->arena, Op *, groups);
	for (int64_t k = 0; k < groups; k++)
		parts[k] = product_part(g, op, k, groups);
	Op *concat = graph_insert(g, op, OP_CONCAT, op->name, (int)groups, parts);
	concat->attr.axis.axis = 1;
	rewrite_infer(g, concat);
	op_replace_uses(op, concat);
	op->nhints = 0; /* the parts have them */
	rewrite_succeed(g, concat, op);
}

bool pass_lower_groups(Graph *g)
{
	bool changed = false;

	for_each_op(op, g) {
		if (!is_split(g, op))
			continue;
		split(g, op);
		changed = true;
	}
	return changed;
}
