/*
 * One chip of the small TT-Metal: our emulator, or Tenstorrent's simulator, as memory
 * and time. Plain C for the host side, which is C++.
 *
 *     spec: "emu", "emu:OPTIONS" as elsewhere, "ttsim:LIBRARY"
 */
#ifndef TESTS_METAL_CHIP_H
#define TESTS_METAL_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MetalChip MetalChip;

/* NULL, or false below: `why` says why. */
enum { METAL_WHY = 4096 };

MetalChip *metal_chip_open(const char *spec, char why[METAL_WHY]);
void metal_chip_close(MetalChip *c);

/* Of a worker, by logical coordinates, or of a bank of DRAM. */
bool metal_worker_write(MetalChip *c, uint32_t col, uint32_t row, uint64_t address,
			const void *from, size_t n, char why[METAL_WHY]);
bool metal_worker_read(MetalChip *c, uint32_t col, uint32_t row, uint64_t address, void *to,
		       size_t n, char why[METAL_WHY]);
bool metal_bank_write(MetalChip *c, uint32_t bank, uint64_t address, const void *from, size_t n,
		      char why[METAL_WHY]);
bool metal_bank_read(MetalChip *c, uint32_t bank, uint64_t address, void *to, size_t n,
		     char why[METAL_WHY]);

/* Programs may write here, on this worker. */
void metal_chip_allow(MetalChip *c, uint32_t col, uint32_t row, uint32_t first, uint32_t end);

/* Lets it run for a while; false if something is wrong or nobody can go on. */
bool metal_chip_advance(MetalChip *c, uint64_t steps, char why[METAL_WHY]);

#ifdef __cplusplus
}
#endif

#endif
