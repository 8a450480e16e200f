/*
 * Runtime arguments and where a kernel is, under TT-Metal's names. Data movement and
 * compute kernels have them alike but for the type of an address.
 */
#ifndef TESTS_METAL_KERNEL_ARGS_H
#define TESTS_METAL_KERNEL_ARGS_H

#include "tests/metal/kernel/core.h"

static FORCE_INLINE MetalArgAddress get_arg_addr(int arg_idx)
{
	return metal::args() + 4 * arg_idx;
}

static FORCE_INLINE MetalArgAddress get_common_arg_addr(int arg_idx)
{
	return metal::args() + METAL_COMMON_ARGS + 4 * arg_idx;
}

template <typename T> FORCE_INLINE T get_arg_val(int arg_idx)
{
	static_assert(sizeof(T) == 4);
	return *reinterpret_cast<T *>(get_arg_addr(arg_idx));
}

template <typename T> FORCE_INLINE T get_common_arg_val(int arg_idx)
{
	static_assert(sizeof(T) == 4);
	return *reinterpret_cast<T *>(get_common_arg_addr(arg_idx));
}

inline uint8_t get_absolute_logical_x()
{
	return metal::launch()->logical & 0xffff;
}

inline uint8_t get_absolute_logical_y()
{
	return metal::launch()->logical >> 16;
}

#endif
