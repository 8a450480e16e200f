/*
 * What the routines move data with and agree through: TT-Metal's names, and the few
 * below, which stand for what the two worlds do in different ways. `noc_bare.h` has
 * them on the registers of a core, `noc_metal.h` inside TT-Metal's kernels
 * (TT_METAL, which kernel_metal.h sets). Its compute kernels (COMPILE_FOR_TRISC) have
 * circular buffers alone.
 *
 *     noc_async_read_barrier, ..write_barrier, ..atomic_barrier, get_semaphore
 *     cb_reserve_back, cb_push_back, cb_wait_front, cb_pop_front,
 *     get_write_ptr, get_read_ptr
 *
 *     tt_dram_read(bank, at, to, bytes)      byte `at` of a bank, as map.h has banks
 *     tt_dram_write(from, bank, at, bytes)
 *     tt_noc_write(from, node, to, bytes)    to a worker (TT_NODE)
 *     tt_noc_copy(from, to, bytes)           to this core
 *     tt_noc_zeros(at, bytes)                to this core
 *     tt_noc_multicast(from, first, last, to, bytes, cores)
 *                                            to a rectangle of workers but not to this
 *                                            one; `first` has the least x and y; NCRISC
 *     tt_noc_add(node, at, value)            to a word on 16 bytes of another core
 *
 *     tt_noc_at(node, at), tt_dram_at(bank, at)
 *                                            NoC addresses, as TT-Metal's functions take them
 *
 *     tt_cb_open(cb, address, page_bytes, pages)
 *                                            each side, before the first page of an op
 *     tt_cb_room(cb, most)                   pages that may be pushed, at most `most`:
 *                                            more than it said, later, never fewer
 *
 *     tt_op_number(), tt_run()               of the op, which only grows; of the run, from 1
 *     tt_credits(semaphore)                  what of it this core has used, a place for it
 *     tt_push_await(core)                    the core may be written to in this op
 */
#ifndef RUNTIME_DEVICE_NOC_H
#define RUNTIME_DEVICE_NOC_H

#ifdef TT_METAL
#include "runtime/device/noc_metal.h"
#else
#include "runtime/device/noc_bare.h"
#endif

#ifndef COMPILE_FOR_TRISC

static inline void tt_dram_read(uint32_t bank, uint32_t at, uint32_t to, uint32_t bytes)
{
	noc_async_read(tt_dram_at(bank, at), to, bytes);
}

static inline void tt_dram_write(uint32_t from, uint32_t bank, uint32_t at, uint32_t bytes)
{
	noc_async_write(from, tt_dram_at(bank, at), bytes);
}

static inline void tt_noc_write(uint32_t from, uint32_t node, uint32_t to, uint32_t bytes)
{
	noc_async_write(from, tt_noc_at(node, to), bytes);
}

static inline void tt_noc_add(uint32_t node, uint32_t at, uint32_t value)
{
	noc_semaphore_inc(tt_noc_at(node, at), value);
}

#endif

#endif
