/*
 * The cost model asked for what others have measured: steps that are repeated,
 * kernels put together from what their inner loops issue.
 *
 *     model_step(t, (Counters){ .mvmuls = 64 })    cycles of one of many
 *
 * Shared by test_cost and bench_model.
 */
#ifndef TESTS_MODEL_H
#define TESTS_MODEL_H

#include "ir/cost.h"

enum { BF16_TILE = 2048, BFP8_TILE = 1088, BFP4_TILE = 576 };

/* A row of model_kernels.def. */
typedef struct KernelRow {
	const char *name;
	int a_tile, b_tile;     /* bytes */
	int n, hold, phases;
	double shared, shipped; /* cycles a tile product; 0: not measured */
} KernelRow;

/* Cycles of one step of a kernel that repeats it. */
double model_step(const Target *t, Counters c);

/* Bytes a cycle of a step that moves so many. */
double model_rate(const Target *t, int64_t bytes, Counters c);

/* Cycles a tile product of a kernel whose unpackers move `together` bytes a cycle when
 * both are active: of all units, or of unpackers and matrix unit alone. */
double model_kernel(const Target *t, const KernelRow *r, int64_t together);
double model_kernel_product(const Target *t, const KernelRow *r, int64_t together);

/* Cycles a tile product of a plain matrix product: a tile of B is kept for n tiles of A. */
double model_gemm(const Target *t, int a_tile, int b_tile, int n, int phases);

/* 10^12 operations a second of so many cores at so many cycles a tile product. */
double model_tflops(const Target *t, int cores, double cycles);

/* Cycles from transfer to transfer of a core that reads, or writes, in a row. */
double model_stream(const Target *t, int64_t bytes);

/* The same, of one bank of DRAM. */
double model_bank_stream(const Target *t, int64_t bytes);

/* Cycles until a single write to DRAM is known to be there, over so many hops both ways. */
double model_dram_write(const Target *t, int64_t bytes, int hops);

/* Bytes a cycle of all banks to so many cores that read at once, or from so many that
 * write. */
double model_dram_readers(const Target *t, int cores);
double model_dram_writers(const Target *t, int cores);

#endif
