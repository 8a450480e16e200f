/*
 * What BRISC moves beside an op, by lists (map.h): zeros to its own L1, rows to other
 * cores and to itself, runs of bytes between DRAM and L1.
 *
 * All on NoC 1. Requests are only started here; whoever needs them done waits for
 * the NoC's counters (noc.h), as launch.h and tt_lists_* do at the seams of an op.
 * Writes that have been acknowledged are seen by every later read of the same bytes,
 * from any core that is told behind them (Ordering.md).
 */
#ifndef RUNTIME_DEVICE_LISTS_H
#define RUNTIME_DEVICE_LISTS_H

#include "runtime/device/noc.h"

static inline void tt_zero_strips(const TtZero *z, uint32_t zeros)
{
	for (; zeros; zeros--, z++) {
		for (uint32_t p = 0; p < z->planes; p++) {
			uint32_t at = z->at + p * z->plane_step;
			for (uint32_t c = z->count; c; c--, at += z->step)
				tt_noc_zeros(at, z->bytes);
		}
	}
}

/* Starts the moves of one time; how many there were. */
static inline uint32_t tt_moves(const TtMove *m, uint32_t moves, TtMoveWhen when)
{
	const uint32_t odd = (tt_run() - 1) & 1;
	uint32_t n = 0;
	for (; moves; moves--, m++) {
		if ((m->how & TT_MOVE_WHEN) != (uint32_t)when)
			continue;
		uint32_t bank = m->how >> TT_MOVE_BANK, at = m->at + (odd ? m->slot_bytes : 0);
		uint32_t l1 = m->l1;
		for (uint32_t c = m->count; c; c--, l1 += m->step) {
			if (m->how & TT_MOVE_OUT)
				tt_dram_write(l1, bank, at, m->bytes);
			else
				tt_dram_read(bank, at, l1, m->bytes);
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

static inline uint32_t tt_push_node(uint32_t target)
{
	return target << 4 & 0xfff0;
}

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

/* The rows of all pushes, whose words begin at `at`; this is core number `self`. */
static inline void tt_push_rows(const uint32_t *at, uint32_t pushes, uint32_t self)
{
	const TtPush *p = (const TtPush *)(const void *)at;
	for (; pushes; pushes--, at += tt_push_words(*at)) {
		if (!(*at & TT_PUSH_SAME))
			p = (const TtPush *)(const void *)at;
		if (*at >> TT_PUSH_COUNT && tt_push_core(*at) != self)
			tt_push_await(tt_push_core(*at));
		tt_push_runs(p, *at, p->from, p->to, 1);
		if (*at & TT_PUSH_BLOCK)
			tt_push_runs(p, *at, p->values_from, p->values_to, 16);
	}
}

#endif
