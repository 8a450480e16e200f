/*
 * What instructions of the matrix unit have in common: where they read and
 * write, and which data formats they take.
 */
#ifndef RUNTIME_EMU_FPU_H
#define RUNTIME_EMU_FPU_H

#include "runtime/emu/matrix.h"
#include "runtime/emu/tensix.h"

/* Data formats as configuration fields number them (FormatConversion.md). */
enum {
	FPU_FP32 = 0,
	FPU_TF32 = 4,
	FPU_BF16 = 5,
	FPU_BFP8 = 6,
	FPU_BFP4 = 7,
	FPU_INT32 = 8,
	FPU_INT16 = 9,
	FPU_BFP2 = 15,
};

/* Sets of formats, a bit each. Those with a 5-bit exponent and int8 are not
 * emulated. */
enum {
	FPU_FLOATS = 1 << FPU_FP32 | 1 << FPU_TF32 | 1 << FPU_BF16 | 1 << FPU_BFP8 |
		1 << FPU_BFP4,
	FPU_INT16_TOO = FPU_FLOATS | 1 << FPU_INT16,
	FPU_INTS_TOO = FPU_INT16_TOO | 1 << FPU_INT32,
};

/* The bits of a source word that a format has. */
static inline uint32_t fpu_mask(uint32_t format)
{
	return format == FPU_TF32 ? 0xffffe000 : 0xffff0000;
}

/* Orders sign and magnitude as integers. */
static inline int32_t fpu_ordered(uint32_t x)
{
	return (int32_t)(x >> 31 ? x ^ 0x7fffffff : x);
}

/* Words of SrcA and SrcB the matrix unit reads now. */
static inline uint32_t (*fpu_bank(SrcFile *src))[ROW_VALUES]
{
	return src->rows[src->matrix_bank];
}

static inline bool fpu_ready(const SrcFile *src)
{
	return src->valid[src->matrix_bank];
}

static inline void fpu_changed(SrcFile *src)
{
	src->changes[src->matrix_bank]++;
}

/* The row of Dst an operand means, before it wraps around. */
static inline uint32_t fpu_dst_row(const Tensix *t, int thread, uint32_t operand)
{
	const TensixThread *th = &t->thread[thread];

	return th->rwc.dst + operand + thread_field(th->cfg, TCFG_DEST_TARGET_REG_CFG_MATH_Offset);
}

static inline uint32_t fpu_phase(const Tensix *t, int thread)
{
	const TensixThread *th = &t->thread[thread];

	return (th->rwc.fidelity + thread_field(th->cfg, TCFG_FIDELITY_BASE_Phase)) & 3;
}

/* What an instruction does with two sources. */
typedef struct FpuSetup {
	uint32_t a_mask, b_mask;
	bool wide; /* 32-bit Dst */
} FpuSetup;

/* Reads the configuration; EXEC_FAULT if it asks for a format outside the sets
 * (matrix.c). */
Exec fpu_setup(Tensix *t, int thread, uint32_t i, uint32_t a_formats, uint32_t b_formats,
	       FpuSetup *s);

#endif
