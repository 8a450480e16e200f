/*
 * Our own mirror: circular buffers of compute kernels. Unpack takes pages out, pack
 * puts them in, each when its Tensix thread is through with them, which TT-Metal has
 * the thread itself say.
 */
#ifndef TESTS_METAL_INCLUDE_API_COMPUTE_CB_API_H
#define TESTS_METAL_INCLUDE_API_COMPUTE_CB_API_H

#include "api/compute/common_globals.h"

namespace ckernel
{

ALWI void cb_wait_front([[maybe_unused]] uint32_t cbid, [[maybe_unused]] uint32_t ntiles)
{
#ifdef TRISC_UNPACK
	while (!metal::has_pages(cbid, ntiles))
		;
	__asm__ volatile("" ::: "memory");
#endif
}

ALWI void cb_pop_front([[maybe_unused]] uint32_t cbid, [[maybe_unused]] uint32_t ntiles)
{
#ifdef TRISC_UNPACK
	tt_sync();
	metal::pop(cbid, ntiles);
#endif
}

ALWI void cb_reserve_back([[maybe_unused]] uint32_t cbid, [[maybe_unused]] uint32_t ntiles)
{
#ifdef TRISC_PACK
	while (!metal::has_room(cbid, ntiles))
		;
	__asm__ volatile("" ::: "memory");
#endif
}

ALWI void cb_push_back([[maybe_unused]] uint32_t cbid, [[maybe_unused]] uint32_t ntiles)
{
#ifdef TRISC_PACK
	tt_sync();
	metal::push(cbid, ntiles);
#endif
}

} // namespace ckernel

#endif
