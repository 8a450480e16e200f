/*
 * What stands around the routines in a kernel of TT-Metal. A kernel includes this first,
 * then the routines it runs:
 *
 *     void kernel_main()
 *     {
 *         const TtTiles *p = tt_args<TtTiles>();
 *         tt_compute_begin();
 *         UNPACK((tt_conv_unpack(p, in_type, weight_type, n, hold)));
 *         MATH((tt_conv_math(p, n, hold, phases)));
 *         PACK((tt_store(p, out_type, n, hold, relu)));
 *         tt_compute_end();
 *     }
 *
 * A kernel whose op has an activation defines TT_ACT before, as the function it is,
 * and includes where that stands behind this.
 *
 * tt_compute_begin sets what the routines count on and kernels of TT-Metal may have
 * left otherwise; tt_compute_end leaves what those count on and do not set themselves:
 *
 *     the vector unit's conditions on, all lanes, -1 in its register 11
 *     registers of the unpack thread that TT-Metal has as 0 all the time
 *     modifiers 0 to 3 in use, configuration 0, semaphores 0, banks of sources given back
 *
 * Everything else a kernel of TT-Metal sets before it works, as our routines do.
 */
#ifndef RUNTIME_DEVICE_KERNEL_METAL_H
#define RUNTIME_DEVICE_KERNEL_METAL_H

#define TT_METAL
#define TT_ROUTINE static inline

#include "runtime/device/noc.h"
#include "runtime/device/params.h"
#include "runtime/device/reset.h"

/* The kernel's arguments, which are one structure. */
template <typename T>
static inline const T *tt_args()
{
	return reinterpret_cast<const T *>(static_cast<uintptr_t>(get_arg_addr(0)));
}

/* What stands behind the first. */
template <typename First, typename T>
static inline const T *tt_args_after()
{
	return reinterpret_cast<const T *>(tt_args<First>() + 1);
}

#ifdef COMPILE_FOR_TRISC

/* Registers of the unpack thread that routines use and TT-Metal counts on to be 0. */
enum { TT_METAL_ZEROS = 17, TT_METAL_ZEROS_END = 20 };

static inline void tt_compute_begin()
{
#ifdef TRISC_UNPACK
	TT_CFG(TT_AT_THCON_SEC0_REG7_Offset_address) = 0;
	TT_CFG(TT_AT_THCON_SEC0_REG7_Offset_cntx1_address) = 0;
#endif
#ifdef TRISC_MATH
	tt_reset_math();
	tt_cfg_part(TT_AT_ALU_FORMAT_SPEC_REG_SrcA_val, 0x7fff, 0);
	tt_cfg_part(TT_AT_ALU_ROUNDING_MODE_Fpu_srnd_en,
		    TT_FIELD(ALU_ROUNDING_MODE_Fpu_srnd_en, 1) |
			    TT_FIELD(ALU_ROUNDING_MODE_Gasket_srnd_en, 1) |
			    TT_FIELD(ALU_ROUNDING_MODE_Packer_srnd_en, 1) |
			    TT_FIELD(ALU_FORMAT_SPEC_REG0_SrcAUnsigned, 1) |
			    TT_FIELD(ALU_FORMAT_SPEC_REG0_SrcBUnsigned, 1),
		    0);
	tt_sync();
#else
	tt_reset_counters();
#endif
}

static inline void tt_compute_end()
{
	tt_sync();
#ifdef TRISC_UNPACK
	for (uint32_t g = TT_METAL_ZEROS; g < TT_METAL_ZEROS_END; g++)
		TT_GPR(g) = 0;
#endif
#ifdef TRISC_MATH
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_SET_Base));
	TT_I(OP_SFPENCC(10, 0, 3));
#endif
	tt_sync();
}

#else

#include "runtime/device/lists.h"

/* The lists, which stand behind each other. */
static inline const TtZero *tt_lists_zeros(const TtLists *l)
{
	return reinterpret_cast<const TtZero *>(l + 1);
}

static inline const TtMove *tt_lists_moves(const TtLists *l)
{
	return reinterpret_cast<const TtMove *>(tt_lists_zeros(l) + l->zeros);
}

static inline const uint32_t *tt_lists_pushes(const TtLists *l)
{
	return reinterpret_cast<const uint32_t *>(tt_lists_moves(l) + l->moves);
}

/* Moves before the op; they are done when this returns. */
static inline void tt_lists_before(const TtLists *l)
{
	tt_moves(tt_lists_moves(l), l->moves, TT_MOVE_BEFORE);
	noc_async_read_barrier();
}

/* Zeros, and moves beside the routines. */
static inline void tt_lists_alongside(const TtLists *l)
{
	tt_moves(tt_lists_moves(l), l->moves, TT_MOVE_ALONGSIDE);
	tt_zero_strips(tt_lists_zeros(l), l->zeros);
}

/* When the routines are through: moves after them, and pushes. */
static inline void tt_lists_after(const TtLists *l)
{
	noc_async_read_barrier();
	noc_async_write_barrier(); /* zeros, which moves and pushes take along */
	tt_moves(tt_lists_moves(l), l->moves, TT_MOVE_AFTER);
	noc_async_write_barrier();
	tt_push_rows(tt_lists_pushes(l), l->pushes, TT_PUSH_CORES);
	noc_async_write_barrier();
}

#endif

#endif
