/*
 * Equal constants and equal ops, merged.
 *
 *     %a = relu %x
 *     %b = relu %x     // read %a instead
 *
 * Constants are hashed by a few of their elements and then compared in full,
 * with at most MOST_TRIES others. Not done for ops that carry hints: each
 * may be wanted in another way.
 */
#include "passes/canon.h"

#include <stdlib.h>
#include <string.h>

#include "passes/rewrite.h"

enum { SAMPLES = 16, MOST_TRIES = 8 };

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

static uint64_t hash_value(const Tensor *t)
{
	const int64_t n = tensor_count(t), step = n / SAMPLES + 1;
	uint64_t h = mix((uint64_t)t->dtype, (uint64_t)n);
	if (!t->data)
		return mix(h, t->hash);
	const size_t bytes = type_info[t->dtype].bytes;
	for (int64_t i = 0; i < n; i += step) {
		uint64_t word = 0;
		memcpy(&word, (const char *)t->data + (t->splat ? 0 : (size_t)i * bytes), bytes);
		h = mix(h, word);
	}
	return h;
}

static uint64_t hash_op(const Op *op)
{
	uint64_t h = mix((uint64_t)op->kind, (uint64_t)op->nin);
	for (int i = 0; i < op->shape.rank; i++)
		h = mix(h, (uint64_t)op->shape.dim[i]);
	for (int i = 0; i < op->nin; i++)
		h = mix(h, (uint64_t)(uintptr_t)op_in(op, i));
	return op->value ? mix(h, hash_value(op->value)) : h;
}

static bool same_inputs(const Op *a, const Op *b)
{
	if (a->nin != b->nin)
		return false;
	for (int i = 0; i < a->nin; i++)
		if (op_in(a, i) != op_in(b, i))
			return false;
	return true;
}

static bool equal(const Op *a, const Op *b)
{
	if (a->kind != b->kind || a->dtype != b->dtype || !shape_equal(a->shape, b->shape))
		return false;
	if (a->value)
		return tensor_equal(a->value, b->value);
	return same_inputs(a, b) && attrs_equal(a->kind, &a->attr, &b->attr)
		&& a->act.kind == b->act.kind
		&& memcmp(a->act.param, b->act.param, sizeof a->act.param) == 0;
}

bool canon_merge(Graph *g)
{
	bool changed = false;
	size_t cap = 16;
	while (cap < 2 * (size_t)g->nops)
		cap *= 2;
	Op **slots = xmalloc(cap * sizeof *slots);
	memset(slots, 0, cap * sizeof *slots);

	for_each_op(op, g) {
		if (op->kind == OP_INPUT || op->kind == OP_OUTPUT || op->nhints)
			continue;
		size_t at = hash_op(op) & (cap - 1);
		int tries = 0;
		while (slots[at] && tries < MOST_TRIES && !equal(slots[at], op)) {
			at = (at + 1) & (cap - 1);
			tries++;
		}
		if (tries == MOST_TRIES)
			continue;
		if (!slots[at]) {
			slots[at] = op;
			continue;
		}
		rewrite_merge(g, slots[at], op);
		changed = true;
	}
	free(slots);
	return changed;
}
