/*
 * Weights from DRAM to the circular buffer that conv_unpack reads: NCRISC.
 *
 * Pages are numbered as they are used: for each group of output tiles, for each
 * pass over the positions, for each chunk of the group's weights. The image in
 * DRAM has every chunk once; a pass starts again at the group's first.
 *
 * Either each core reads for itself, or up to four of a rectangle read, page i
 * by the core number i % fetchers, and send to all others of the rectangle. A
 * receiver says that it has room for a page by adding 1 to a semaphore of the
 * core that will send it, and not before that core's last page has arrived: so
 * when the sum says that all have room, none of them has said it twice. The page
 * is sent, and when it has arrived everywhere its number is written to a
 * semaphore of each receiver, one for each core that reads: pages of different
 * senders may arrive in any order. The number is that of the op, times 65536,
 * plus the page's from 1 on, so nobody counts along and another rectangle may
 * come next; 65535 pages is the most of an op.
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
	const uint32_t page = p->dram_first / p->dram_page, into = p->dram_first % p->dram_page;
	TtStream s;
	s.bank = (p->dram_bank + page) % TT_DRAM_BANKS;
	s.at = p->dram_at + page / TT_DRAM_BANKS * p->dram_page + into;
	s.left = p->dram_page - into;
	return s;
}

/* Asks for the next `bytes` bytes, or (to 0) leaves them out. */
static inline void tt_stream_read(TtStream *s, const TtTiles *p, uint32_t to, uint32_t bytes)
{
	while (bytes) {
		const uint32_t n = tt_least(bytes, s->left);
		if (to) {
			tt_dram_read(s->bank, s->at, to, n);
			to += n;
		}
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

/* The pages of an op in their order. */
typedef struct TtPages {
	TtStream next, group; /* of the next page, of the first one of its group */
	uint32_t chunk, pass;
} TtPages;

static inline uint32_t tt_page_count(const TtTiles *p)
{
	return p->groups * tt_chunks(p) * tt_passes(p);
}

static inline void tt_pages_open(TtPages *s, const TtTiles *p)
{
	s->next = s->group = tt_stream(p);
	s->chunk = s->pass = 0;
}

/* Asks for the next page, or (to 0) leaves it out. */
static inline void tt_pages_read(TtPages *s, const TtTiles *p, uint32_t to)
{
	tt_stream_read(&s->next, p, to, p->page_bytes);
	if (++s->chunk < tt_chunks(p))
		return;
	s->chunk = 0;
	if (++s->pass < tt_passes(p)) {
		s->next = s->group;
		return;
	}
	s->pass = 0;
	s->group = s->next;
}

TT_ROUTINE void tt_weights_read(const TtTiles *p)
{
	TtPages s;
	tt_pages_open(&s, p);
	tt_cb_open(p->weights_cb, p->weights, p->page_bytes, p->pages);
	for (uint32_t i = tt_page_count(p); i; i--) {
		cb_reserve_back(p->weights_cb, 1);
		tt_pages_read(&s, p, get_write_ptr(p->weights_cb));
		noc_async_read_barrier();
		cb_push_back(p->weights_cb, 1);
	}
}

/* An op whose weights are still where an earlier op had them, all of them. */
TT_ROUTINE void tt_weights_stay(const TtTiles *p)
{
	tt_cb_open(p->weights_cb, p->weights, p->page_bytes, p->pages);
	for (uint32_t i = tt_page_count(p); i; i--) {
		cb_reserve_back(p->weights_cb, 1);
		cb_push_back(p->weights_cb, 1);
	}
}

static inline uint32_t tt_fetch_node(const TtTiles *p, uint32_t which)
{
	return which ? p->fetch_nodes[which - 1] : p->fetch_node;
}

/* The next page is asked for, whose place is `to`: read if it is for core `me` to
 * read, else by saying that there is room. */
static inline void tt_page_ask(const TtTiles *p, TtPages *s, uint32_t which, uint32_t me,
			       uint32_t to)
{
	if (which != me)
		tt_noc_add(tt_fetch_node(p, which), get_semaphore(p->credit_semaphore), 1);
	if (me < TT_FETCHERS)
		tt_pages_read(s, p, which == me ? to : 0);
}

/* The page this core has read, to all others, when they have room. */
static inline void tt_page_send(const TtTiles *p, uint32_t me, uint32_t number)
{
	const uint32_t arrived = get_semaphore(p->arrived_semaphore + me);
	const uint32_t page = get_write_ptr(p->weights_cb);
	uint32_t *used = tt_credits(p->credit_semaphore);
	noc_async_read_barrier();
	*used += p->receivers;
	tt_l1_reach(get_semaphore(p->credit_semaphore), *used);
	tt_noc_multicast(page, p->mcast_first, p->mcast_last, page, p->page_bytes, p->receivers);
	noc_async_write_barrier();
	tt_l1_set(arrived, number);
	tt_noc_multicast(arrived, p->mcast_first, p->mcast_last, arrived, 4, p->receivers);
	noc_async_write_barrier();
}

/* Core number `me` of those that read, or one that does not. Pages are asked for
 * as far ahead as there is room, but only one of each core that reads. */
static inline void tt_weights_share(const TtTiles *p, uint32_t me)
{
	const uint32_t fetchers = p->fetchers ? p->fetchers : 1, count = tt_page_count(p);
	const uint32_t number = tt_op_number() << 16;
	const uint32_t end = p->weights + p->pages * p->page_bytes;
	uint32_t asked = 0, ask = 0, which = 0, to = p->weights;
	TtPages s;
	tt_pages_open(&s, p);
	tt_cb_open(p->weights_cb, p->weights, p->page_bytes, p->pages);
	for (uint32_t i = 0; i < count; i++) {
		cb_reserve_back(p->weights_cb, 1);
		const uint32_t room = tt_cb_room(p->weights_cb, fetchers);
		while (asked < count && asked - i < room) {
			tt_page_ask(p, &s, ask, me, to);
			to = to + p->page_bytes == end ? p->weights : to + p->page_bytes;
			asked++;
			ask = ask + 1 == fetchers ? 0 : ask + 1;
		}
		if (which == me)
			tt_page_send(p, me, number + i + 1);
		else
			tt_l1_reach(get_semaphore(p->arrived_semaphore + which), number + i + 1);
		cb_push_back(p->weights_cb, 1);
		which = which + 1 == fetchers ? 0 : which + 1;
	}
	noc_async_atomic_barrier();
}

TT_ROUTINE void tt_weights_fetch(const TtTiles *p)
{
	tt_weights_share(p, p->fetcher);
}

TT_ROUTINE void tt_weights_receive(const TtTiles *p)
{
	tt_weights_share(p, TT_FETCHERS);
}

#endif
