/*
 * The port of noc.h inside TT-Metal's kernels: its own functions for what they can do,
 * and for the rest what stands below.
 *
 * TT-Metal runs one op after the other on all cores and starts semaphores at 0: so
 * every op is number 0 of run 1, no credits have been used, and who is pushed to is
 * ready. Circular buffers are set up by the host.
 *
 * Compute kernels have circular buffers alone. Their pointers count 16 bytes.
 */
#ifndef RUNTIME_DEVICE_NOC_METAL_H
#define RUNTIME_DEVICE_NOC_METAL_H

#include <stdint.h>

#ifdef COMPILE_FOR_TRISC
#include <api/compute/cb_api.h>
#include <api/compute/common.h>
#else
#include <api/dataflow/dataflow_api.h>
#endif

#include "runtime/device/map.h"
#include "runtime/device/tensix.h"

static inline uint32_t tt_run(void)
{
	return 1;
}

static inline uint32_t tt_op_number(void)
{
	return 0;
}

static inline void tt_cb_open(uint32_t, uint32_t, uint32_t, uint32_t)
{
}

#ifdef COMPILE_FOR_TRISC

/* Math has no circular buffers, but headers it shares with the others. */
#ifdef TRISC_MATH
static inline uint32_t get_read_ptr(uint32_t)
{
	return 0;
}
#else
static inline uint32_t get_read_ptr(uint32_t cb)
{
	return get_local_cb_interface(cb).fifo_rd_ptr << 4;
}

static inline uint32_t get_write_ptr(uint32_t cb)
{
	return get_local_cb_interface(cb).fifo_wr_ptr << 4;
}
#endif

#else

static inline uint32_t *tt_credits(uint32_t)
{
	static uint32_t used; /* a kernel takes credits of one semaphore */
	return &used;
}

static inline void tt_push_await(uint32_t)
{
}

static inline uint64_t tt_noc_at(uint32_t node, uint32_t at)
{
	return get_noc_addr(node >> 4 & 63, node >> 10 & 63, at);
}

static inline uint64_t tt_dram_at(uint32_t bank, uint32_t at)
{
	return get_noc_addr_from_bank_id<true>(bank, at);
}

static inline void tt_noc_copy(uint32_t from, uint32_t to, uint32_t bytes)
{
	noc_async_write(from, get_noc_addr(to), bytes);
}

static inline void tt_noc_zeros(uint32_t at, uint32_t bytes)
{
	while (bytes) {
		const uint32_t n = bytes < MEM_ZEROS_SIZE ? bytes : MEM_ZEROS_SIZE;
		tt_noc_copy(MEM_ZEROS_BASE, at, n);
		at += n;
		bytes -= n;
	}
}

static inline void tt_noc_multicast(uint32_t from, uint32_t first, uint32_t last, uint32_t to,
				    uint32_t bytes, uint32_t cores)
{
	noc_async_write_multicast(from,
				  get_noc_multicast_addr(first >> 4 & 63, first >> 10 & 63,
							 last >> 4 & 63, last >> 10 & 63, to),
				  bytes, cores);
}

static inline uint32_t tt_cb_room(uint32_t cb, uint32_t most)
{
	uint32_t room = 0;
	while (room < most && cb_pages_reservable_at_back(cb, room + 1))
		room++;
	return room;
}

#endif

#endif
