/* Decoded RISC-V instructions. */
#ifndef RUNTIME_EMU_RISCV_H
#define RUNTIME_EMU_RISCV_H

#include <stdbool.h>
#include <stdint.h>

typedef enum RvOp {
	RV_UNDECODED, /* what zeroed memory says */
#define RV(name, action) RV_##name,
#include "runtime/emu/riscv.def"
	RV_END, /* past the last word of a memory */
} RvOp;

typedef struct RvCode {
	uint8_t op, rd, a, b; /* rd 32 for none; b of a load: 1 if the next instruction uses it */
	uint32_t imm;         /* of RV_TENSIX and RV_UNKNOWN: the word itself */
} RvCode;

/* `next` is the word behind it. */
RvCode riscv_decode(uint32_t word, uint32_t pc, uint32_t next);

static inline bool riscv_is_load(uint8_t op) { return op >= RV_LB && op <= RV_LHU; }

#endif
