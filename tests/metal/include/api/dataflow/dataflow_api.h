/* Our own mirror of the part of TT-Metal's data movement kernel API that is used here. */
#ifndef TESTS_METAL_INCLUDE_API_DATAFLOW_DATAFLOW_API_H
#define TESTS_METAL_INCLUDE_API_DATAFLOW_DATAFLOW_API_H

#if !defined(KERNEL_BUILD)
#error "for data movement kernels only"
#endif

#include "tests/metal/kernel/core.h"

constexpr uint8_t noc_index = NOC_INDEX;

#define NOC_PAYLOAD_WIDTH      256
#define NOC_WORD_BYTES         (NOC_PAYLOAD_WIDTH / 8)
#define NOC_MAX_BURST_WORDS    256
#define NOC_MAX_BURST_SIZE     (NOC_MAX_BURST_WORDS * NOC_WORD_BYTES)
#define NOC_UNICAST_WRITE_VC   1
#define NOC_MULTICAST_WRITE_VC 4

#define MEM_ZEROS_BASE TT_ZEROS
#define MEM_ZEROS_SIZE 512
#define NUM_NOCS       2

typedef uintptr_t MetalArgAddress;

#include "tests/metal/kernel/args.h"

/* ---- circular buffers ---- */

FORCE_INLINE void cb_push_back(const int32_t operand, const int32_t num_pages)
{
	metal::push(operand, num_pages);
}

FORCE_INLINE void cb_pop_front(int32_t operand, int32_t num_pages)
{
	metal::pop(operand, num_pages);
}

FORCE_INLINE bool cb_pages_reservable_at_back(int32_t operand, int32_t num_pages)
{
	return metal::has_room(operand, num_pages);
}

FORCE_INLINE bool cb_pages_available_at_front(int32_t operand, int32_t num_pages)
{
	return metal::has_pages(operand, num_pages);
}

FORCE_INLINE void cb_reserve_back(int32_t operand, int32_t num_pages)
{
	while (!metal::has_room(operand, num_pages))
		;
	__asm__ volatile("" ::: "memory");
}

FORCE_INLINE void cb_wait_front(int32_t operand, int32_t num_pages)
{
	while (!metal::has_pages(operand, num_pages))
		;
	__asm__ volatile("" ::: "memory");
}

FORCE_INLINE uint32_t get_write_ptr(uint32_t operand)
{
	return get_local_cb_interface(operand).fifo_wr_ptr;
}

FORCE_INLINE uint32_t get_read_ptr(uint32_t operand)
{
	return get_local_cb_interface(operand).fifo_rd_ptr;
}

/* ---- addresses ---- */

FORCE_INLINE uint64_t get_noc_addr(uint32_t noc_x, uint32_t noc_y, uint32_t addr,
				   uint8_t = noc_index)
{
	return metal_regs::get_noc_addr(noc_x, noc_y, addr);
}

/* Of this core, which virtual coordinates name on both NoCs. */
FORCE_INLINE uint64_t get_noc_addr(uint32_t addr, uint8_t = noc_index)
{
	const uint32_t at = metal::launch()->logical;
	return metal_regs::get_noc_addr(TT_VIRTUAL + (at & 0xffff), TT_VIRTUAL + (at >> 16), addr);
}

FORCE_INLINE uint64_t get_noc_multicast_addr(uint32_t noc_x_start, uint32_t noc_y_start,
					     uint32_t noc_x_end, uint32_t noc_y_end, uint32_t addr,
					     uint8_t = noc_index)
{
	return metal_regs::get_noc_multicast_addr(noc_x_start, noc_y_start, noc_x_end, noc_y_end,
						  addr);
}

/* Where a bank of DRAM is, without a table: NCRISC has no constants to load. */
constexpr uint32_t metal_bank_x(uint32_t bank_id)
{
	return bank_id < 4 ? 0 : 5;
}

constexpr uint32_t metal_bank_y(uint32_t bank_id)
{
	return 0x532050u >> bank_id / 2 * 4 & 15;
}

constexpr bool metal_banks_are_right()
{
	constexpr uint8_t xy[TT_DRAM_CHANNELS][2] = TT_DRAM_XY;
	for (uint32_t bank = 0; bank < TT_DRAM_BANKS; bank++)
		if (metal_bank_x(bank) != xy[bank / 2][0] || metal_bank_y(bank) != xy[bank / 2][1])
			return false;
	return true;
}

static_assert(metal_banks_are_right(), "banks are where map.h has them");

template <bool DRAM>
FORCE_INLINE uint64_t get_noc_addr_from_bank_id(uint32_t bank_id, uint32_t bank_address_offset,
						uint8_t = noc_index)
{
	static_assert(DRAM, "banks of L1 are not mirrored");
	const uint32_t at = bank_address_offset + (bank_id & 1) * TT_DRAM_BANK_BYTES;
	return metal_regs::get_noc_addr(metal_bank_x(bank_id), metal_bank_y(bank_id), at);
}

/* ---- requests ---- */

template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool enable_noc_tracing = true>
inline void noc_async_read(uint64_t src_noc_addr, uint32_t dst_local_l1_addr, uint32_t size,
			   uint8_t = noc_index, uint32_t = NOC_UNICAST_WRITE_VC)
{
	metal_regs::noc_async_read(src_noc_addr, dst_local_l1_addr, size);
}

template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool enable_noc_tracing = true,
	  bool posted = false>
inline void noc_async_write(uint32_t src_local_l1_addr, uint64_t dst_noc_addr, uint32_t size,
			    uint8_t = noc_index, uint32_t = NOC_UNICAST_WRITE_VC)
{
	metal_regs::noc_async_write(src_local_l1_addr, dst_noc_addr, size);
}

template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1>
inline void noc_async_write_multicast(uint32_t src_local_l1_addr, uint64_t dst_noc_addr_multicast,
				      uint32_t size, uint32_t num_dests, bool = false,
				      uint8_t = noc_index, uint8_t = NOC_MULTICAST_WRITE_VC)
{
	metal_regs::noc_async_write_multicast(src_local_l1_addr, dst_noc_addr_multicast, size,
					      num_dests);
}

FORCE_INLINE void noc_async_read_barrier(uint8_t = noc_index)
{
	metal_regs::noc_async_read_barrier();
}

FORCE_INLINE void noc_async_write_barrier(uint8_t = noc_index)
{
	metal_regs::noc_async_write_barrier();
}

FORCE_INLINE void noc_async_atomic_barrier(uint8_t = noc_index)
{
	metal_regs::noc_async_atomic_barrier();
}

/* ---- semaphores ---- */

enum ProgrammableCoreType {
	TENSIX = 0,
	ACTIVE_ETH = 1,
	IDLE_ETH = 2,
};

template <ProgrammableCoreType type = ProgrammableCoreType::TENSIX>
FORCE_INLINE uintptr_t get_semaphore(uint32_t semaphore_id)
{
	static_assert(type == ProgrammableCoreType::TENSIX, "worker cores only");
	return metal_regs::get_semaphore(semaphore_id);
}

FORCE_INLINE void noc_semaphore_set(volatile tt_l1_ptr uint32_t *sem_addr, uint32_t val)
{
	metal_regs::noc_semaphore_set(sem_addr, val);
}

FORCE_INLINE void noc_semaphore_wait(volatile tt_l1_ptr uint32_t *sem_addr, uint32_t val)
{
	metal_regs::noc_semaphore_wait(sem_addr, val);
}

FORCE_INLINE void noc_semaphore_wait_min(volatile tt_l1_ptr uint32_t *sem_addr, uint32_t val)
{
	metal_regs::noc_semaphore_wait_min(sem_addr, val);
}

template <bool posted = false>
FORCE_INLINE void noc_semaphore_inc(uint64_t addr, uint32_t incr, uint8_t = noc_index,
				    uint8_t = NOC_UNICAST_WRITE_VC)
{
	metal_regs::noc_semaphore_inc(addr, incr);
}

#endif
