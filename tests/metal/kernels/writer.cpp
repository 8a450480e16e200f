// Pages from circular buffer 1 to a buffer in DRAM, every `step` from `first` on.
#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	const uint32_t address = get_arg_val<uint32_t>(0), bytes = get_arg_val<uint32_t>(1);
	const uint32_t first = get_arg_val<uint32_t>(2), step = get_arg_val<uint32_t>(3);
	const uint32_t count = get_arg_val<uint32_t>(4);

	for (uint32_t i = 0, page = first; i < count; i++, page += step) {
		cb_wait_front(1, 1);
		noc_async_write(
			get_read_ptr(1),
			get_noc_addr_from_bank_id<true>(page % NUM_DRAM_BANKS,
							address + page / NUM_DRAM_BANKS * bytes),
			bytes);
		noc_async_write_barrier();
		cb_pop_front(1, 1);
	}
}
