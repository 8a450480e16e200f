/*
 * The device programs a call of ttnn comes to, what they take and hold, given where its
 * inputs lie.
 *
 * A call does what the choice says and what ttnn adds to it by itself: bringing inputs
 * to the cores, the halo, the move behind it. Tensors that have nothing to do with the
 * call are `base` bytes on every core.
 */
#ifndef PASSES_TTNN_RUN_H
#define PASSES_TTNN_RUN_H

#include "passes/ttnn_shapes.h"

typedef struct TtnnInput {
	const Op *op;
	TtnnPlace place; /* shard is TTNN_DRAM where only DRAM has it */
	bool dies;       /* nobody reads it in L1 afterwards */
} TtnnInput;

typedef struct TtnnRun {
	const Target *t;
	Arena *arena;     /* where the list goes; NULL: no list is wanted */
	int64_t base;     /* bytes of tensors that are none of its inputs */
	TtnnProgram *list;
	int n;
	int64_t programs; /* runs of them */
	int64_t ps, l1;   /* all kernels; the most a core holds */
	TtnnPlace out;
	TtnnPlace *as;    /* what each input goes in as; NULL: not wanted */
	bool split;
	int64_t blocks, k_blocks, buffers, halo, result;
} TtnnRun;

/* False if ttnn would refuse the choice. */
bool ttnn_run(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice);

/* Bytes of a tensor on a core, and in DRAM. */
int64_t ttnn_place_bytes(const Op *op, const TtnnPlace *p);
int64_t ttnn_dram_bytes(const Op *op, TtnnType type, TtnnRows layout);

/* The grid a choice says. */
TtnnGrid ttnn_grid_of(const Target *t, const TtnnConv *c, const TtnnChoice *choice);

/* A slice of a window's work that goes from DRAM to DRAM. */
TtnnWindow ttnn_slice_of(const TtnnWindow *whole, const TtnnChoice *choice);

/* Where the image can be taken apart by channels on the device: cores; 0: it cannot. */
int64_t ttnn_image_cores(const Target *t, const Op *input);

/* A row of the plan for a program. */
void ttnn_add(TtnnRun *r, TtnnProgramKind kind, int64_t times, int64_t ps, int64_t l1);

/* ttnn_run_conv.c, ttnn_run_other.c */
bool ttnn_run_conv(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice);
bool ttnn_run_pool(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice);
bool ttnn_run_join(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice);
bool ttnn_run_pair(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice);
bool ttnn_run_unary(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice);
bool ttnn_run_upsample(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice);

/* Brings an input to cores, from DRAM or from others: as a place says of cut and cores.
 * What it is then; its bytes are in *held, beside those that *held has already. */
TtnnPlace ttnn_bring(TtnnRun *r, const TtnnInput *in, const TtnnPlace *cut, int64_t *held);

/* The same tensor as tiles or as rows of pixels, the other freed. */
TtnnPlace ttnn_relayout(TtnnRun *r, const Op *op, TtnnPlace p, TtnnRows layout, TtnnType type,
			int64_t *held);

#endif
