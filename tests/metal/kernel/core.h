/*
 * What the kernel side of the small TT-Metal stands on: arguments, circular buffers,
 * semaphores and the NoC of the RISC-V a kernel is compiled for.
 *
 * The NoC is that of runtime/device/noc_regs.h, in a namespace: the names that kernels
 * call are in include/api, with the parameters they have in TT-Metal. A circular buffer
 * is known by the words the firmware was told (machine.h); counters stand in L1.
 */
#ifndef TESTS_METAL_KERNEL_CORE_H
#define TESTS_METAL_KERNEL_CORE_H

#include <stdint.h>

#include "internal/circular_buffer_interface.h"
#include "runtime/device/map.h"
#include "runtime/device/tensix.h"
#include "tests/metal/machine.h"

#define FORCE_INLINE inline __attribute__((always_inline))
#define tt_l1_ptr
#define tt_reg_ptr

namespace metal_regs
{
#include "runtime/device/noc_regs.h"
}

#if defined(COMPILE_FOR_BRISC)
#define METAL_RISC TT_BRISC
#elif defined(COMPILE_FOR_NCRISC)
#define METAL_RISC TT_NCRISC
#else
#define METAL_RISC (TT_TRISC0 + COMPILE_FOR_TRISC)
#endif

#if defined(COMPILE_FOR_TRISC)
enum { METAL_CB_SHIFT = 4 }; /* compute kernels count 16 bytes */
#else
enum { METAL_CB_SHIFT = 0 };
#endif

extern LocalCBInterface cb_interface[TT_CBS]; /* math has none, as on TT-Metal */

FORCE_INLINE LocalCBInterface &get_local_cb_interface(uint32_t cb_id)
{
	return cb_interface[cb_id];
}

namespace metal
{

inline volatile MetalLaunch *launch()
{
	return reinterpret_cast<volatile MetalLaunch *>(METAL_LAUNCH);
}

inline uint32_t args()
{
	return METAL_ARGS + METAL_RISC * METAL_ARGS_STEP;
}

inline volatile TtCbWords *cb_words(uint32_t cb)
{
	return reinterpret_cast<volatile TtCbWords *>(TT_CB_WORDS + sizeof(TtCbWords) * cb);
}

inline void open_cbs()
{
	const MetalCb *told = reinterpret_cast<const MetalCb *>(METAL_CBS);
	for (uint32_t i = 0; i < TT_CBS; i++, told++) {
		if (!(launch()->cb_mask >> i & 1))
			continue;
		LocalCBInterface &c = cb_interface[i];
		c.fifo_size = told->bytes >> METAL_CB_SHIFT;
		c.fifo_page_size = told->page_bytes >> METAL_CB_SHIFT;
		c.fifo_num_pages = told->pages;
		c.fifo_rd_ptr = c.fifo_wr_ptr = told->address >> METAL_CB_SHIFT;
		c.fifo_limit = c.fifo_wr_ptr + c.fifo_size;
		c.tiles_acked_received_init = 0;
		c.fifo_wr_tile_ptr = 0;
	}
}

/* Producers and consumers keep pages whole: no other wrap is legal. */
inline void step(uint32_t &pointer, const LocalCBInterface &c, uint32_t pages)
{
	pointer += pages * c.fifo_page_size;
	if (pointer == c.fifo_limit)
		pointer -= c.fifo_size;
}

inline bool has_room(uint32_t cb, uint32_t pages)
{
	volatile TtCbWords *w = cb_words(cb);
	return cb_interface[cb].fifo_num_pages - (w->received - w->acked) >= pages;
}

inline bool has_pages(uint32_t cb, uint32_t pages)
{
	volatile TtCbWords *w = cb_words(cb);
	return w->received - w->acked >= pages;
}

inline void push(uint32_t cb, uint32_t pages)
{
	volatile TtCbWords *w = cb_words(cb);
	step(cb_interface[cb].fifo_wr_ptr, cb_interface[cb], pages);
	metal_regs::noc_semaphore_set(&w->received, w->received + pages);
}

inline void pop(uint32_t cb, uint32_t pages)
{
	volatile TtCbWords *w = cb_words(cb);
	step(cb_interface[cb].fifo_rd_ptr, cb_interface[cb], pages);
	metal_regs::noc_semaphore_set(&w->acked, w->acked + pages);
}

} // namespace metal

#endif
