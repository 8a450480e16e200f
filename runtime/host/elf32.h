/* What a loader has to know of an ELF for a RISC-V: where its bytes go. */
#ifndef RUNTIME_HOST_ELF32_H
#define RUNTIME_HOST_ELF32_H

#include "runtime/host/tessera_rt.h"

enum { ELF_MOST_SEGMENTS = 64 }; /* linkers make a handful */

/* A segment with bytes in the file. They are written to `to`, which is in L1,
 * and run at `at`, which is there too or in IRAM. */
typedef struct ElfSegment {
	uint32_t to, at, bytes;
	uint32_t offset; /* in the file */
	bool code;
} ElfSegment;

/* Is it a 32-bit little-endian RISC-V executable, with all of its segments in
 * the file and within L1, none on the control words, and its entry in code?
 * `name` is for the message. */
bool elf_check(const uint8_t *elf, size_t n, const char *name, TesseraError *e);

/* The i-th segment of a checked ELF; false past the last. */
bool elf_segment(const uint8_t *elf, size_t i, ElfSegment *segment);

uint32_t elf_entry(const uint8_t *elf);

#endif
