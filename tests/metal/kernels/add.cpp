// Adds a number to each word of pages that come through circular buffer 0, by the
// RISC-V of the unpacker's thread; they leave through circular buffer 1, which lies
// on the same memory. The threads meet in a semaphore of the coprocessor.
#include "api/compute/cb_api.h"
#include "api/compute/common.h"

enum { SEMAPHORE = 5 };

void kernel_main()
{
	[[maybe_unused]] const uint32_t number = get_arg_val<uint32_t>(0);
	[[maybe_unused]] const uint32_t words = get_arg_val<uint32_t>(1);
	const uint32_t count = get_arg_val<uint32_t>(2);

	UNPACK(TT_I(OP_SEMINIT(1 << SEMAPHORE, 0, 15));)
	for (uint32_t i = 0; i < count; i++) {
		cb_wait_front(0, 1);
#ifdef TRISC_UNPACK
		volatile uint32_t *at = tt_l1(get_local_cb_interface(0).fifo_rd_ptr << 4);
		for (uint32_t w = 0; w < words; w++)
			at[w] += number;
		tt_l1_set(reinterpret_cast<uint32_t>(&at[words - 1]), at[words - 1]);
		TT_I(OP_SEMPOST(1 << SEMAPHORE));
#endif
		cb_reserve_back(1, 1);
#ifdef TRISC_PACK
		TT_I(OP_SEMWAIT(TT_SEM_EMPTY, 1 << SEMAPHORE, 0xff | TT_HOLD_SYNC));
		TT_I(OP_SEMGET(1 << SEMAPHORE));
#endif
		cb_push_back(1, 1);
		cb_pop_front(0, 1);
	}
}
