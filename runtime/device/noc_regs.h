/*
 * The NoC, circular buffers and semaphores under TT-Metal's names, on the registers
 * of a core: what the bare build stands on (noc_bare.h), and whoever wants TT-Metal's
 * kernel functions without TT-Metal.
 *
 * A NoC address is node << 32 | address. A node is written in NoC 0 coordinates
 * (map.h); virtual ones are the same on both NoCs, those of DRAM are turned round for
 * NoC 1. The counters of a NoC's interface are shared by whoever uses it, so each
 * RISC-V has a NoC to itself.
 */
#ifndef RUNTIME_DEVICE_NOC_REGS_H
#define RUNTIME_DEVICE_NOC_REGS_H

#include <stdint.h>

#include "runtime/device/map.h"
#include "runtime/device/tensix.h"

/* A circular buffer as one RISC-V sees it in the op at hand. */
typedef struct TtCb {
	uint32_t address, page_bytes, pages;
	uint32_t at; /* page it is at, below pages */
} TtCb;

/* What a RISC-V keeps of them in its local RAM; zero when it starts. */
typedef struct TtLocal {
	uint32_t noc;                    /* registers of its NoC */
	uint32_t self;                   /* its core there */
	uint32_t reads, writes, atomics; /* what the NoC's counters will show when all is done */
	TtCb cb[TT_CBS];
} TtLocal;

enum { TT_MAX_PACKET = 8192 };

#ifdef __cplusplus
extern "C"
#else
extern
#endif
	TtLocal tt_state;

static inline TtLocal *tt_local(void)
{
	return &tt_state;
}

/* Registers of a command buffer, and what its control word says (NoC/MemoryMap.md). */
enum {
	TT_NOC_TARGET = 0x0,
	TT_NOC_TARGET_NODE = 0x4,
	TT_NOC_RETURN = 0xc,
	TT_NOC_RETURN_NODE = 0x10,
	TT_NOC_TAG = 0x18,
	TT_NOC_CTRL = 0x1c,
	TT_NOC_LENGTH = 0x20,
	TT_NOC_DATA = 0x24,
	TT_NOC_GO = 0x28,
	TT_NOC_ID = 0x2c,
	TT_NOC_ATOMICS = 0x200,
	TT_NOC_WRITES = 0x204,
	TT_NOC_READS = 0x208,

	TT_NOC_WRITE_BUFFER = 0x000, /* one command buffer for each kind of request */
	TT_NOC_READ_BUFFER = 0x400,
	TT_NOC_WORD_BUFFER = 0x800,
	TT_NOC_ATOMIC_BUFFER = 0xc00,

	TT_CTRL_ATOMIC = 1 << 0 | 1 << 4 | 1 << 7,
	TT_CTRL_READ = 1 << 4 | 1 << 7 | 1 << 13,
	TT_CTRL_WRITE = 1 << 1 | 1 << 4 | 1 << 7 | 1 << 13,
	TT_CTRL_WORD = 1 << 1 | 1 << 3 | 1 << 4 | 1 << 7,
	TT_CTRL_MULTICAST = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 4 << 13,
	TT_AT_INCREMENT = 0x107c, /* 32 bits, wrapping at 2^32 */
};

/* The NoC a RISC-V works on from now on. */
static inline void tt_noc_start(uint32_t noc)
{
	const uint32_t id = TT_REG(noc + TT_NOC_ID);
	tt_local()->noc = noc;
	tt_local()->self = TT_NODE(id & 63, id >> 6 & 63);
	tt_local()->reads = TT_REG(noc + TT_NOC_READS);
	tt_local()->writes = TT_REG(noc + TT_NOC_WRITES);
	tt_local()->atomics = TT_REG(noc + TT_NOC_ATOMICS);
}

/* The node of a NoC address as this RISC-V's NoC has it. */
static inline uint32_t tt_noc_node(uint64_t where)
{
	const uint32_t node = (uint32_t)(where >> 32), x = node >> 4 & 63;
	if (tt_local()->noc == 0xffb20000u || x >= 16)
		return node;
	return TT_NODE(9, 11) - node;
}

/* One request; `target` is what is read, or, of atomics and single words, what
 * is written. */
static inline void tt_noc_request(uint32_t buffer, uint32_t ctrl, uint32_t target,
				  uint32_t target_node, uint32_t to, uint32_t to_node,
				  uint32_t length)
{
	const uint32_t at = tt_local()->noc + buffer;
	while (TT_REG(at + TT_NOC_GO) & 1)
		;
	TT_REG(at + TT_NOC_TARGET) = target;
	TT_REG(at + TT_NOC_TARGET_NODE) = target_node;
	TT_REG(at + TT_NOC_RETURN) = to;
	TT_REG(at + TT_NOC_RETURN_NODE) = to_node;
	TT_REG(at + TT_NOC_TAG) = 0;
	TT_REG(at + TT_NOC_CTRL) = ctrl;
	TT_REG(at + TT_NOC_LENGTH) = length;
	TT_REG(at + TT_NOC_GO) = 1;
}

/* Bytes that leave this core in packets; `copies` of each are acknowledged. */
static inline void tt_noc_send(uint32_t ctrl, uint32_t from, uint32_t node, uint32_t to,
			       uint32_t bytes, uint32_t copies)
{
	while (bytes) {
		const uint32_t n = bytes < TT_MAX_PACKET ? bytes : TT_MAX_PACKET;
		tt_noc_request(TT_NOC_WRITE_BUFFER, ctrl, from, tt_local()->self, to, node, n);
		tt_local()->writes += copies;
		from += n;
		to += n;
		bytes -= n;
	}
}

/* ---- TT-Metal's names ---- */

static inline uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t at)
{
	return (uint64_t)TT_NODE(x, y) << 32 | at;
}

/* From (x0, y0), the least corner, to (x1, y1): NoC 0's way. */
static inline uint64_t get_noc_multicast_addr(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1,
					      uint32_t at)
{
	return (uint64_t)(TT_NODE(x1, y1) | TT_NODE(x0, y0) << 12) << 32 | at;
}

static inline void noc_async_read(uint64_t from, uint32_t to, uint32_t bytes)
{
	const uint32_t node = tt_noc_node(from);
	uint32_t at = (uint32_t)from;
	while (bytes) {
		const uint32_t n = bytes < TT_MAX_PACKET ? bytes : TT_MAX_PACKET;
		tt_noc_request(TT_NOC_READ_BUFFER, TT_CTRL_READ, at, node, to, tt_local()->self, n);
		tt_local()->reads++;
		at += n;
		to += n;
		bytes -= n;
	}
}

static inline void noc_async_write(uint32_t from, uint64_t to, uint32_t bytes)
{
	tt_noc_send(TT_CTRL_WRITE, from, tt_noc_node(to), (uint32_t)to, bytes, 1);
}

/* To a rectangle of workers but not to this one. On NoC 0 only, whose way the corners
 * are given for. */
static inline void noc_async_write_multicast(uint32_t from, uint64_t to, uint32_t bytes,
					     uint32_t cores)
{
	tt_noc_send(TT_CTRL_MULTICAST, from, (uint32_t)(to >> 32), (uint32_t)to, bytes, cores);
}

/* One word, without a source in L1. */
static inline void noc_inline_dw_write(uint64_t to, uint32_t value)
{
	const uint32_t at = tt_local()->noc + TT_NOC_WORD_BUFFER;
	while (TT_REG(at + TT_NOC_GO) & 1)
		;
	TT_REG(at + TT_NOC_DATA) = value;
	tt_noc_request(TT_NOC_WORD_BUFFER, TT_CTRL_WORD, (uint32_t)to, tt_noc_node(to), 0,
		       tt_local()->self, 0xfu << (to & 12));
	tt_local()->writes++;
}

static inline void noc_async_read_barrier(void)
{
	while ((int32_t)(TT_REG(tt_local()->noc + TT_NOC_READS) - tt_local()->reads) < 0)
		;
	__asm__ volatile("" ::: "memory");
}

static inline void noc_async_write_barrier(void)
{
	while ((int32_t)(TT_REG(tt_local()->noc + TT_NOC_WRITES) - tt_local()->writes) < 0)
		;
	__asm__ volatile("" ::: "memory");
}

static inline void noc_async_atomic_barrier(void)
{
	while ((int32_t)(TT_REG(tt_local()->noc + TT_NOC_ATOMICS) - tt_local()->atomics) < 0)
		;
	__asm__ volatile("" ::: "memory");
}

static inline uint32_t get_semaphore(uint32_t id)
{
	return TT_SEMAPHORES + 16 * id;
}

/* Adds to a word on 16 bytes of another core's L1. */
static inline void noc_semaphore_inc(uint64_t to, uint32_t by)
{
	const uint32_t at = tt_local()->noc + TT_NOC_ATOMIC_BUFFER;
	while (TT_REG(at + TT_NOC_GO) & 1)
		;
	TT_REG(at + TT_NOC_DATA) = by;
	tt_noc_request(TT_NOC_ATOMIC_BUFFER, TT_CTRL_ATOMIC, (uint32_t)to, tt_noc_node(to),
		       TT_ATOMIC_RETURN, tt_local()->self, TT_AT_INCREMENT);
	tt_local()->atomics++;
}

static inline void noc_semaphore_set(volatile uint32_t *at, uint32_t value)
{
	tt_l1_set((uint32_t)(uintptr_t)at, value);
}

static inline void noc_semaphore_wait(volatile uint32_t *at, uint32_t value)
{
	while (*at != value)
		;
	__asm__ volatile("" ::: "memory");
}

static inline void noc_semaphore_wait_min(volatile uint32_t *at, uint32_t value)
{
	tt_l1_reach((uint32_t)(uintptr_t)at, value);
}

/* The word at `from` to the same word of another core. */
static inline void noc_semaphore_set_remote(uint32_t from, uint64_t to)
{
	noc_async_write(from, to, 4);
}

static inline void noc_semaphore_set_multicast(uint32_t from, uint64_t to, uint32_t cores)
{
	noc_async_write_multicast(from, to, 4, cores);
}

/* ---- circular buffers: whole ops leave them empty ---- */

static inline volatile TtCbWords *tt_cb_words(uint32_t cb)
{
	return (volatile TtCbWords *)(uintptr_t)(TT_CB_WORDS + sizeof(TtCbWords) * cb);
}

/* Each side, before the first page of an op. */
static inline void tt_cb_start(uint32_t cb, uint32_t address, uint32_t page_bytes, uint32_t pages)
{
	TtCb *c = &tt_local()->cb[cb];
	c->address = address;
	c->page_bytes = page_bytes;
	c->pages = pages;
	c->at = 0;
}

static inline void tt_cb_step(uint32_t cb, uint32_t pages)
{
	TtCb *c = &tt_local()->cb[cb];
	c->at += pages;
	if (c->at >= c->pages)
		c->at -= c->pages;
}

static inline uint32_t tt_cb_pointer(uint32_t cb)
{
	const TtCb *c = &tt_local()->cb[cb];
	return c->address + c->at * c->page_bytes;
}

static inline uint32_t get_write_ptr(uint32_t cb)
{
	return tt_cb_pointer(cb);
}
static inline uint32_t get_read_ptr(uint32_t cb)
{
	return tt_cb_pointer(cb);
}

/* Pages that may be pushed: more than it was told, later, never fewer. */
static inline uint32_t tt_cb_free(uint32_t cb)
{
	volatile TtCbWords *w = tt_cb_words(cb);
	return tt_local()->cb[cb].pages - (w->received - w->acked);
}

static inline uint32_t cb_pages_reservable_at_back(uint32_t cb, uint32_t pages)
{
	return tt_cb_free(cb) >= pages;
}

static inline void cb_reserve_back(uint32_t cb, uint32_t pages)
{
	const uint32_t all = tt_local()->cb[cb].pages;
	volatile TtCbWords *w = tt_cb_words(cb);
	if (w->pages != all)
		tt_l1_set((uint32_t)(uintptr_t)&w->pages, all);
	while (tt_cb_free(cb) < pages)
		;
	__asm__ volatile("" ::: "memory");
}

static inline void cb_push_back(uint32_t cb, uint32_t pages)
{
	volatile TtCbWords *w = tt_cb_words(cb);
	tt_cb_step(cb, pages);
	tt_l1_set((uint32_t)(uintptr_t)&w->received, w->received + pages);
}

static inline void cb_wait_front(uint32_t cb, uint32_t pages)
{
	volatile TtCbWords *w = tt_cb_words(cb);
	while (w->received - w->acked < pages)
		;
	__asm__ volatile("" ::: "memory");
}

static inline void cb_pop_front(uint32_t cb, uint32_t pages)
{
	volatile TtCbWords *w = tt_cb_words(cb);
	tt_cb_step(cb, pages);
	tt_l1_set((uint32_t)(uintptr_t)&w->acked, w->acked + pages);
}

#endif
