/*
 * What a debug log of TT-Metal says of memory: the circular buffers that each program has on
 * each core, buffers that were allocated, and clashes. Written with TT_LOGGER_LEVEL=debug; a
 * line may have a time, colours and a place in the source around these:
 *
 *     Core(0,0) CB[1]: addr=0x19cc0 page_size=2048 num_pages=4
 *     ... record_allocation (device_id=0, type=1, size=65536 B, pid=7)
 *     CaptureBufferCreate: size: 65536 page_size: 2048 buffer_type: L1 ...
 *     Statically allocated circular buffers in program 3 clash with L1 buffers on core range
 *     ... . L1 buffer allocated at 104960 and static circular buffer region ends at 106496
 *     Statically allocated circular buffers on core range ... grow to N B which is beyond ...
 *
 * A program ends where a circular buffer of a core comes again.
 */
#ifndef FRONTEND_METAL_LOG_H
#define FRONTEND_METAL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/arena.h"

typedef struct LogCb {
	int program;           /* from 0 on, in the order they were set up */
	int col, row, id;
	uint64_t address, page_bytes, pages;
} LogCb;

/* As TT-Metal numbers its kinds of buffer. */
typedef enum LogMemory {
	LOG_DRAM, LOG_L1, LOG_SYSTEM, LOG_L1_SMALL, LOG_TRACE, LOG_MEMORIES
} LogMemory;

typedef struct MetalLog {
	LogCb *cbs;
	int ncbs, programs;
	int buffers[LOG_MEMORIES];     /* that were allocated, */
	int64_t bytes[LOG_MEMORIES];   /* all of them together */
	const char **clashes;          /* as they stand there */
	int nclashes;
} MetalLog;

void metal_log_read(MetalLog *l, Arena *a, const char *text, size_t size);

/* Is there anything of the above? */
bool metal_log_empty(const MetalLog *l);

#endif
