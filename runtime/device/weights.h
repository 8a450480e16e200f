/*
 * Weights from DRAM to the circular buffer that conv_unpack reads: NCRISC.
 *
 * A page holds one group of output tiles. Either each core reads for itself, or
 * one core reads and sends to a rectangle of others. Each receiver says that it
 * has room for the next page by adding 1 to a semaphore of that core, and never
 * before the page before it has arrived: so when the sum says that all have room,
 * none of them has said it twice. The page is sent, and when it has arrived
 * everywhere the number of pages sent since the start is written to a semaphore
 * of each of them: all cores count along, so that another core may fetch for the
 * next op.
 */
#ifndef RUNTIME_DEVICE_WEIGHTS_H
#define RUNTIME_DEVICE_WEIGHTS_H

#include "runtime/device/tiles.h"

/* Where the next byte of the weights lies in DRAM. */
typedef struct TtStream {
	uint32_t bank, at, left; /* left in this bank before the next follows */
} TtStream;

static inline TtStream tt_stream(const TtTiles *p)
{
	TtStream s;
	s.bank = p->dram_bank;
	s.at = p->dram_at;
	s.left = p->dram_page;
	return s;
}

/* Asks for the next `bytes` bytes. */
static inline void tt_stream_read(TtStream *s, const TtTiles *p, uint32_t to, uint32_t bytes)
{
	while (bytes) {
		const uint32_t n = tt_least(bytes, s->left);
		tt_noc_read(tt_dram_node(s->bank), tt_dram_at(s->bank, s->at), to, n);
		to += n;
		bytes -= n;
		s->at += n;
		s->left -= n;
		if (!s->left) {
			s->left = p->dram_page;
			s->bank = s->bank + 1 == TT_DRAM_BANKS ? 0 : s->bank + 1;
			if (s->bank != p->dram_bank)
				s->at -= p->dram_page;
		}
	}
}

TT_ROUTINE void tt_weights_read(const TtTiles *p)
{
	TtStream s = tt_stream(p);
	tt_cb_open(p->weights_cb, p->weights, p->page_bytes, p->pages);
	for (uint32_t g = p->groups; g; g--) {
		cb_reserve_back(p->weights_cb, 1);
		tt_stream_read(&s, p, get_write_ptr(p->weights_cb), p->page_bytes);
		noc_async_read_barrier();
		cb_push_back(p->weights_cb, 1);
	}
}

TT_ROUTINE void tt_weights_fetch(const TtTiles *p)
{
	const uint32_t credits = get_semaphore(p->credit_semaphore);
	const uint32_t arrived = get_semaphore(p->arrived_semaphore);
	TtStream s = tt_stream(p);
	tt_cb_open(p->weights_cb, p->weights, p->page_bytes, p->pages);
	for (uint32_t g = p->groups; g; g--) {
		cb_reserve_back(p->weights_cb, 1);
		const uint32_t page = get_write_ptr(p->weights_cb);
		tt_stream_read(&s, p, page, p->page_bytes);
		noc_async_read_barrier();
		tt_local()->credits_used += p->receivers;
		tt_l1_reach(credits, tt_local()->credits_used);
		tt_noc_multicast(page, p->mcast_first, p->mcast_last, page, p->page_bytes,
				 p->receivers);
		noc_async_write_barrier();
		tt_l1_set(arrived, ++tt_local()->pages_sent);
		tt_noc_multicast(arrived, p->mcast_first, p->mcast_last, arrived, 4, p->receivers);
		noc_async_write_barrier();
		cb_push_back(p->weights_cb, 1);
	}
}

TT_ROUTINE void tt_weights_receive(const TtTiles *p)
{
	const uint32_t credits = get_semaphore(p->credit_semaphore);
	const uint32_t arrived = get_semaphore(p->arrived_semaphore);
	tt_cb_open(p->weights_cb, p->weights, p->page_bytes, p->pages);
	for (uint32_t g = p->groups; g; g--) {
		cb_reserve_back(p->weights_cb, 1);
		tt_noc_add(p->fetch_node, credits, 1);
		tt_l1_reach(arrived, ++tt_local()->pages_sent);
		cb_push_back(p->weights_cb, 1);
	}
	noc_async_atomic_barrier();
}

#endif
