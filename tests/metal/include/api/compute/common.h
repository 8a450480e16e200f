/* Our own mirror of the part of TT-Metal's compute kernel API that is used here. */
#ifndef TESTS_METAL_INCLUDE_API_COMPUTE_COMMON_H
#define TESTS_METAL_INCLUDE_API_COMPUTE_COMMON_H

#include "api/compute/cb_api.h"
#include "api/compute/common_globals.h"

typedef uint32_t MetalArgAddress;

#include "tests/metal/kernel/args.h"

#endif
