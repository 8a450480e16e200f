/*
 * The device library as one module for RISC-V TT_RISC: where it starts, and the
 * routines of routines.def it may run, for the compiler to link with the
 * variants it makes.
 */
#include "runtime/device/launch.h"

#define TT_ROUTINE __attribute__((always_inline))

#include "runtime/device/edge.h"

#if TT_RISC == 0 || TT_RISC == 1
#include "runtime/device/edge_move.h"
#endif
#if TT_RISC == 1
#include "runtime/device/weights.h"
#elif TT_RISC == 2
#include "runtime/device/binary_unpack.h"
#include "runtime/device/channel_unpack.h"
#include "runtime/device/conv_unpack.h"
#include "runtime/device/lanes_unpack.h"
#include "runtime/device/mix_unpack.h"
#include "runtime/device/norm_unpack.h"
#include "runtime/device/pair_unpack.h"
#include "runtime/device/reduce_unpack.h"
#include "runtime/device/window_unpack.h"
#elif TT_RISC == 3
#include "runtime/device/act_exp.h"
#include "runtime/device/act_gelu.h"
#include "runtime/device/act_lines.h"
#include "runtime/device/act_root.h"
#include "runtime/device/act_sigmoid.h"
#include "runtime/device/act_tanh.h"
#include "runtime/device/binary_math.h"
#include "runtime/device/channel_math.h"
#include "runtime/device/conv_math.h"
#include "runtime/device/lanes_math.h"
#include "runtime/device/mix_math.h"
#include "runtime/device/norm_math.h"
#include "runtime/device/pair_math.h"
#include "runtime/device/reduce_math.h"
#include "runtime/device/window_math.h"
#elif TT_RISC == 4
#include "runtime/device/store.h"
#include "runtime/device/store_pairs.h"
#include "runtime/device/store_pixels.h"
#endif

TtLocal tt_state;
TtRunning tt_running_state;

int main(void);
void _start(void);

__attribute__((naked, noreturn, section(".text._start"))) void _start(void)
{
	__asm__ volatile("la sp, __stack_top\n\t"
			 "la t0, __bss_start\n\t"
			 "la t1, __bss_end\n"
			 "1:\tbgeu t0, t1, 2f\n\t"
			 "sw x0, 0(t0)\n\t"
			 "addi t0, t0, 4\n\t"
			 "j 1b\n"
			 "2:\tcall main\n"
			 "3:\tj 3b");
}

#if TT_RISC == 0
int main(void)
{
	const TtLaunch *l = tt_launch();
	tt_noc_start(0xffb30000u);
	TT_REG(0xffb20000u + TT_NOC_COLUMNS_OUT) |= 1u << 0 | 1u << 5;
	TT_REG(0xffb20000u + TT_NOC_ROWS_OUT) |= 1u << 0 | 1u << 6;
	for (uint32_t i = 0; i < TT_ZERO_BYTES; i += 4)
		*tt_l1(TT_ZEROS + i) = 0;
	if (l->iram_bytes)
		tt_load_iram(l);
	tt_release_others(l);
	tt_lead();
}
#elif TT_RISC == 1
int main(void)
{
	tt_noc_start(0xffb20000u);
	tt_follow(TT_NCRISC);
}
#elif TT_RISC == 3
int main(void)
{
	tt_reset_math();
	tt_follow(TT_TRISC1);
}
#else
int main(void)
{
	tt_reset_counters();
	tt_follow(TT_RISC);
}
#endif
