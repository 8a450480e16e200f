/*
 * What the routines move data with, for the bare build: the port of noc.h on the
 * registers of a core.
 */
#ifndef RUNTIME_DEVICE_NOC_BARE_H
#define RUNTIME_DEVICE_NOC_BARE_H

#include "runtime/device/noc_regs.h"

/* Where a RISC-V is in the program; zero when it starts. */
typedef struct TtRunning {
	uint32_t run;                         /* number of the run, from 1 */
	uint32_t op;                          /* number of the op, from 1 (map.h) */
	uint32_t act;                         /* of TRISC1: the op's activation (TtOp), or 0 */
	uint32_t credits[TT_SEMAPHORE_COUNT]; /* by semaphore: what others gave this core */
} TtRunning;

#ifdef __cplusplus
extern "C"
#else
extern
#endif
	TtRunning tt_running_state;

static inline TtRunning *tt_running(void)
{
	return &tt_running_state;
}

static inline uint32_t tt_run(void)
{
	return tt_running()->run;
}

static inline uint32_t tt_op_number(void)
{
	return tt_running()->op;
}

static inline uint32_t *tt_credits(uint32_t semaphore)
{
	return &tt_running()->credits[semaphore];
}

static inline uint64_t tt_noc_at(uint32_t node, uint32_t at)
{
	return (uint64_t)node << 32 | at;
}

/* Byte `at` of a bank of DRAM. */
static inline uint64_t tt_dram_at(uint32_t bank, uint32_t at)
{
	/* TT_DRAM_XY by channel, x in bits 0 to 3, y in bits 4 to 7. */
	const uint32_t low = 0x25055000u, high = 0x5535u;
	const uint32_t channel = bank >> 1;
	const uint32_t xy = channel < 4 ? low >> 8 * channel : high >> 8 * (channel - 4);
	return get_noc_addr(xy & 15, xy >> 4 & 15, at + (bank & 1) * TT_DRAM_BANK_BYTES);
}

static inline void tt_noc_copy(uint32_t from, uint32_t to, uint32_t bytes)
{
	tt_noc_send(TT_CTRL_WRITE, from, tt_local()->self, to, bytes, 1);
}

static inline void tt_noc_zeros(uint32_t at, uint32_t bytes)
{
	while (bytes) {
		const uint32_t n = bytes < TT_ZERO_BYTES ? bytes : TT_ZERO_BYTES;
		tt_noc_request(TT_NOC_WRITE_BUFFER, TT_CTRL_WRITE, TT_ZEROS, tt_local()->self, at,
			       tt_local()->self, n);
		tt_local()->writes++;
		at += n;
		bytes -= n;
	}
}

static inline void tt_noc_multicast(uint32_t from, uint32_t first, uint32_t last, uint32_t to,
				    uint32_t bytes, uint32_t cores)
{
	noc_async_write_multicast(from, tt_noc_at(last | first << 12, to), bytes, cores);
}

static inline void tt_cb_open(uint32_t cb, uint32_t address, uint32_t page_bytes, uint32_t pages)
{
	tt_cb_start(cb, address, page_bytes, pages);
}

static inline uint32_t tt_cb_room(uint32_t cb, uint32_t most)
{
	const uint32_t room = tt_cb_free(cb);
	return room < most ? room : most;
}

/* The core that a push goes to has come to this op. */
static inline void tt_push_await(uint32_t core)
{
	tt_l1_reach(TT_ENTERED + 4 * core, tt_op_number());
}

#endif
