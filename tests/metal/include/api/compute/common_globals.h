/* Our own mirror: code for one of the three threads of a compute kernel. */
#ifndef TESTS_METAL_INCLUDE_API_COMPUTE_COMMON_GLOBALS_H
#define TESTS_METAL_INCLUDE_API_COMPUTE_COMMON_GLOBALS_H

#include "tests/metal/kernel/core.h"

#define ALWI inline __attribute__((always_inline))

#ifdef TRISC_MATH
#define MATH(...) __VA_ARGS__
#else
#define MATH(...)
#endif
#ifdef TRISC_PACK
#define PACK(...) __VA_ARGS__
#else
#define PACK(...)
#endif
#ifdef TRISC_UNPACK
#define UNPACK(...) __VA_ARGS__
#else
#define UNPACK(...)
#endif

#endif
