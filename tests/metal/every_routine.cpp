/* The whole device library as kernels of TT-Metal include it, for the RISC-V asked for. */
#include "tests/metal/kernel/start.h"

#include "runtime/device/kernel_metal.h"

#include "runtime/device/edge.h"

#ifndef COMPILE_FOR_TRISC
#include "runtime/device/edge_move.h"
#endif
#ifdef COMPILE_FOR_NCRISC
#include "runtime/device/weights.h"
#endif
#ifdef TRISC_UNPACK
#include "runtime/device/binary_unpack.h"
#include "runtime/device/channel_unpack.h"
#include "runtime/device/conv_unpack.h"
#include "runtime/device/lanes_unpack.h"
#include "runtime/device/mix_unpack.h"
#include "runtime/device/norm_unpack.h"
#include "runtime/device/pair_unpack.h"
#include "runtime/device/reduce_unpack.h"
#include "runtime/device/window_unpack.h"
#endif
#ifdef TRISC_MATH
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
#endif
#ifdef TRISC_PACK
#include "runtime/device/store.h"
#include "runtime/device/store_pairs.h"
#include "runtime/device/store_pixels.h"
#endif

void kernel_main()
{
#ifdef COMPILE_FOR_TRISC
	tt_compute_begin();
	tt_compute_end();
#else
	const TtLists *lists = tt_args_after<TtEdge, TtLists>();
	tt_lists_before(lists);
	tt_lists_alongside(lists);
	tt_edge_close(tt_args<TtEdge>(), 4, TT_EDGE_IN);
	tt_lists_after(lists);
#endif
}
