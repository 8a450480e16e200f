/*
 * Where things lie in a core's L1 below the first user byte, as the firmware of the
 * small TT-Metal (firmware.c) and its host side agree.
 *
 * The words that kernels see, semaphores and counters of circular buffers, are where
 * map.h has them. What the host tells a core about a launch stands in MetalLaunch;
 * `go` is written last, on all cores when everything else is there.
 */
#ifndef TESTS_METAL_MACHINE_H
#define TESTS_METAL_MACHINE_H

#include <stdint.h>

#include "runtime/device/map.h"

enum {
	METAL_FIRMWARE = 0, /* of the five RISC-Vs, in the order of TtRisc */
	METAL_FIRMWARE_STEP = 0x400,
	METAL_LAUNCH = 0x2000, /* MetalLaunch */
	METAL_CBS = 0x2200,    /* MetalCb for each circular buffer */
	METAL_ARGS = 0x2800,   /* runtime arguments of the five kernels */
	METAL_ARGS_STEP = 0x600,
	METAL_COMMON_ARGS = 0x560, /* behind a kernel's own: 16 bytes short of the step */
	METAL_TEXT_BRISC = 0x5000,
	METAL_TEXT_NCRISC = 0x9000, /* waits here to be copied to its instruction memory */
	METAL_TEXT_TRISC = 0xd000,
	METAL_TEXT_TRISC_STEP = 0x3400,

	METAL_ARG_WORDS = 341, /* max_runtime_args: own and common ones of a kernel */
	METAL_CONFIG_RING = 69 * 1024,
	METAL_GRID_COLS = 8, /* workers that programs may use */
	METAL_GRID_ROWS = 8,
};

/* What a core does next. */
typedef struct MetalLaunch {
	uint32_t go;                 /* number of the launch, which only grows */
	uint32_t run;                /* BRISC's word to the others: likewise */
	uint32_t done;               /* likewise, when all five are through */
	uint32_t entry[TT_RISCS];    /* of the kernels; 0: none */
	uint32_t ncrisc_bytes;       /* of text to copy */
	uint32_t noc[TT_RISCS];      /* registers of the NoC a kernel works on */
	uint32_t cb_mask;            /* circular buffers there are */
	uint32_t logical;            /* col, row << 16 */
	uint32_t finished[TT_RISCS]; /* each RISC-V's own word: launch it is through with */
} MetalLaunch;

typedef struct MetalCb {
	uint32_t address, bytes, pages, page_bytes;
} MetalCb;

#ifndef __cplusplus
_Static_assert(sizeof(MetalLaunch) <= METAL_CBS - METAL_LAUNCH, "no room for a launch");
_Static_assert(METAL_TEXT_TRISC + 3 * METAL_TEXT_TRISC_STEP <= TT_CONTROL,
	       "kernels reach into the control words");
#endif

#endif
