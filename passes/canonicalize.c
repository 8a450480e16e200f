/*
 * canonicalize: remove what does nothing, cancel transposes, spell common
 * patterns as one op.
 *
 *     %t = transpose %x {perm = [0,2,3,1]}
 *     %s = sigmoid %t
 *     %m = mul %t, %s
 *     %u = transpose %m {perm = [0,3,1,2]}
 * becomes
 *     %m = silu %x
 *
 * Dead ops go, graph inputs stay. The rewrites are in canon_*.c, each file
 * with its patterns at the top; they are tried on every op in order until
 * none of them finds anything.
 *
 * Not done where a value that something else reads would have to change, or
 * where the data of an elided constant is needed (which is said once).
 */
#include "passes/pass.h"

#include "passes/canon.h"
#include "passes/rewrite.h"

static bool rewrite(Graph *g, Op *op)
{
	static bool (*const families[])(Graph *, Op *) = {
		canon_trivial, canon_arith, canon_acts, canon_pads, canon_pools, canon_norms,
		canon_products, canon_moves, canon_concat, canon_input, canon_transpose, canon_sink,
		canon_lift,
	};
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (families[i](g, op))
			return true;
	return false;
}

/* From the end, so that what reads nothing else is gone before its inputs
 * are looked at. */
static bool remove_dead(Graph *g)
{
	bool changed = false;
	for (Op *op = g->last, *prev; op; op = prev) {
		prev = op->prev;
		if (op->uses || op->kind == OP_OUTPUT || op->kind == OP_INPUT)
			continue;
		op_remove(g, op);
		changed = true;
	}
	return changed;
}

static bool sweep(Graph *g)
{
	bool changed = remove_dead(g);
	for_each_op(op, g)
		changed |= rewrite(g, op);
	changed |= canon_merge(g);
	return changed;
}

bool pass_canonicalize(Graph *g)
{
	return rewrite_repeat(g, sweep);
}
