/*
 * The first lines of every kernel's module: its variables, and how the firmware enters
 * it. The module goes on with the kernel's own file.
 */
#ifndef TESTS_METAL_KERNEL_START_H
#define TESTS_METAL_KERNEL_START_H

#include "tests/metal/kernel/core.h"

#if !defined(TRISC_MATH)
LocalCBInterface cb_interface[TT_CBS];
#endif
#if !defined(COMPILE_FOR_TRISC)
namespace metal_regs
{
extern "C" {
TtLocal tt_state;
}
} // namespace metal_regs
#endif

void kernel_main();

#if defined(COMPILE_FOR_TRISC)
namespace ckernel
{
}
using namespace ckernel; /* before a compute kernel's text, as TT-Metal has it */
#endif

extern "C" {
extern uint32_t __bss_start[], __bss_end[];

__attribute__((section(".text._start"))) void _start()
{
	for (uint32_t *at = __bss_start; at < __bss_end; at++)
		*at = 0;
#if !defined(TRISC_MATH)
	metal::open_cbs();
#endif
#if !defined(COMPILE_FOR_TRISC)
	metal_regs::tt_noc_start(metal::launch()->noc[METAL_RISC]);
#endif
	kernel_main();
}
}

#endif
