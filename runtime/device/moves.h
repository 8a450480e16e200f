/*
 * What BRISC moves beside an op, by the lists of its block (map.h): zeros to its
 * own L1, rows to other cores and to itself, runs of bytes between DRAM and L1.
 *
 * All on NoC 1. Requests are only started here; whoever needs them done waits for
 * the NoC's counters (noc.h), as launch.h does at the seams of an op. Writes that
 * have been acknowledged are seen by every later read of the same bytes, from any
 * core that is told behind them (Ordering.md).
 */
#ifndef RUNTIME_DEVICE_MOVES_H
#define RUNTIME_DEVICE_MOVES_H

#include "runtime/device/noc.h"

static inline const TtLaunch *tt_launch(void)
{
	return (const TtLaunch *)(uintptr_t)TT_LAUNCH;
}

static inline const uint32_t *tt_op_words(const TtOp *op, uint32_t at)
{
	return (const uint32_t *)(const void *)op + at;
}

/* To L1 of this core. */
static inline void tt_noc_zeros(uint32_t at, uint32_t bytes)
{
	while (bytes) {
		const uint32_t n = bytes < TT_ZERO_BYTES ? bytes : TT_ZERO_BYTES;
		tt_noc_request(TT_NOC_WRITE_BUFFER, TT_CTRL_WRITE, TT_ZEROS, tt_local()->self, at,
			       tt_local()->self, n);
		tt_local()->writes++;
		at += n;
		bytes -= n;
	}
}

static inline void tt_zero_strips(const TtOp *op)
{
	const TtZero *z = (const TtZero *)(const void *)tt_op_words(op, op->zeros_at);
	for (uint32_t i = op->zeros; i; i--, z++) {
		for (uint32_t p = 0; p < z->planes; p++) {
			uint32_t at = z->at + p * z->plane_step;
			for (uint32_t c = z->count; c; c--, at += z->step)
				tt_noc_zeros(at, z->bytes);
		}
	}
}

/* Starts the moves of one time; how many there were. */
static inline uint32_t tt_moves(const TtOp *op, TtMoveWhen when)
{
	const TtMove *m = (const TtMove *)(const void *)tt_op_words(op, op->moves_at);
	const uint32_t odd = (tt_local()->run - 1) & 1;
	uint32_t n = 0;
	for (uint32_t i = op->moves; i; i--, m++) {
		if ((m->how & TT_MOVE_WHEN) != (uint32_t)when)
			continue;
		uint32_t bank = m->how >> TT_MOVE_BANK, at = m->at + (odd ? m->slot_bytes : 0);
		uint32_t l1 = m->l1;
		for (uint32_t c = m->count; c; c--, l1 += m->step) {
			const uint32_t node = tt_dram_node(bank), there = tt_dram_at(bank, at);
			if (m->how & TT_MOVE_OUT)
				tt_noc_write(l1, node, there, m->bytes);
			else
				tt_noc_read(node, there, l1, m->bytes);
			if (++bank == TT_DRAM_BANKS) {
				bank = 0;
				at += m->page_bytes;
			}
		}
		n++;
	}
	return n;
}

static inline uint32_t tt_push_core(uint32_t target)
{
	return target >> TT_PUSH_CORE & TT_PUSH_CORES;
}

static inline uint32_t tt_push_node(uint32_t target) { return target << 4 & 0xfff0; }

static inline uint32_t tt_push_words(uint32_t target)
{
	if (target & TT_PUSH_SAME)
		return TT_PUSH_SAME_WORDS;
	return target & TT_PUSH_BLOCK ? TT_PUSH_BLOCK_WORDS : TT_PUSH_WORDS;
}

static inline void tt_push_runs(const TtPush *p, uint32_t target, uint32_t from, uint32_t to,
				uint32_t times)
{
	for (uint32_t count = target >> TT_PUSH_COUNT; count; count--) {
		tt_noc_write(from, tt_push_node(target), to, times * p->bytes);
		from += times * p->from_step;
		to += times * p->to_step;
	}
}

/* All rows first, then one wait, then the words: each receiver would cost a way
 * there and back else. */
static inline void tt_push_rows(const TtOp *op, uint32_t s)
{
	const uint32_t *const first = tt_op_words(op, op->pushes_at), *at = first;
	const TtPush *p = (const TtPush *)(const void *)first;
	const uint32_t self = tt_launch()->core;
	if (!op->pushes)
		return;
	for (uint32_t i = op->pushes; i; i--, at += tt_push_words(*at)) {
		if (!(*at & TT_PUSH_SAME))
			p = (const TtPush *)(const void *)at;
		if (*at >> TT_PUSH_COUNT && tt_push_core(*at) != self)
			tt_l1_reach(TT_ENTERED + 4 * tt_push_core(*at), s);
		tt_push_runs(p, *at, p->from, p->to, 1);
		if (*at & TT_PUSH_BLOCK)
			tt_push_runs(p, *at, p->values_from, p->values_to, 16);
	}
	noc_async_write_barrier();
	at = first;
	for (uint32_t i = op->pushes; i; i--, at += tt_push_words(*at))
		if ((*at & TT_PUSH_LAST) && tt_push_core(*at) != self)
			tt_noc_word(tt_push_node(*at), TT_PUSHED + 4 * self, s);
}

#endif
