/*
 * Weights that come every way a hint can ask for: pages, chunks, blocks of
 * positions, several cores that read, early.
 */
#include <math.h>

#include "ir/hint.h"
#include "tests/ops.h"

static void pin(OpNet *n, Op *op, const char *key, int64_t value)
{
	op_add_hint(n->g, op, (Loc){ 0 }, key, arena_printf(n->g->arena, "%lld", (long long)value));
}

static void choose(OpNet *n, Op *op, const char *key, const char *value)
{
	op_add_hint(n->g, op, (Loc){ 0 }, key, value);
}

Op *ops_weights(OpNet *n)
{
	const int64_t tiles = ops_pick(n, 0, 2) ? 1 << ops_pick(n, 0, 2) : ops_pick(n, 1, 4);
	const bool huge = !ops_pick(n, 0, 7); /* more than L1 holds, with nothing asked for */
	const int64_t cin = huge ? ops_pick(n, 600, 800) : ops_pick(n, 1, 150);
	const int64_t cout = huge ? 128 : 32 * tiles - ops_pick(n, 0, 31);
	const int64_t k = huge ? 3 : 2 * ops_pick(n, 0, 1) + 1;
	Op *x = ops_input(n, cin, ops_pick(n, 2, huge ? 4 : 20), ops_pick(n, 2, huge ? 4 : 90));
	n->scale = 8 * sqrt((double)(cin * k * k));
	Op *op = ops_insert(n, OP_CONV, x, ops_constant(n, SHAPE(cout, cin, k, k), cin * k * k),
			    ops_constant(n, SHAPE(cout), 4));
	op->attr.conv.strides = INTS(n->g->arena, 1, 1);
	op->attr.conv.dilations = INTS(n->g->arena, 1, 1);
	op->attr.conv.pads = INTS(n->g->arena, k / 2, k / 2, k / 2, k / 2);
	ops_done(n, op);
	if (huge)
		return op;
	const bool chunks = ops_pick(n, 0, 2);
	if (chunks)
		pin(n, op, "k_block", ops_pick(n, 1, (cin + 31) / 32 * k * k + 1));
	else
		choose(n, op, "residency", ops_pick(n, 0, 1) ? "streamed" : "resident");
	if (ops_pick(n, 0, 1))
		pin(n, op, "act_block_h", 32 * ops_pick(n, 1, 9));
	if (ops_pick(n, 0, 1))
		choose(n, op, "double_buffer", ops_pick(n, 0, 1) ? "weights" : "none");
	if (ops_pick(n, 0, 1))
		pin(n, op, "fetchers", ops_pick(n, 1, 4));
	if (ops_pick(n, 0, 1))
		choose(n, op, "prefetch", "yes");
	if (ops_pick(n, 0, 1))
		pin(n, op, "cout_block", tiles % 4 && ops_pick(n, 0, 1) ? 1 : tiles % 2 ? 1 : 2);
	return op;
}
