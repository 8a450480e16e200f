// Pages of a buffer in DRAM, every `step` from `first` on, to circular buffer 0.
#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	const uint32_t address = get_arg_val<uint32_t>(0), bytes = get_arg_val<uint32_t>(1);
	const uint32_t first = get_arg_val<uint32_t>(2), step = get_arg_val<uint32_t>(3);
	const uint32_t count = get_arg_val<uint32_t>(4);

	for (uint32_t i = 0, page = first; i < count; i++, page += step) {
		cb_reserve_back(0, 1);
		noc_async_read(
			get_noc_addr_from_bank_id<true>(page % NUM_DRAM_BANKS,
							address + page / NUM_DRAM_BANKS * bytes),
			get_write_ptr(0), bytes);
		noc_async_read_barrier();
		cb_push_back(0, 1);
	}
}
