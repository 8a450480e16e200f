/*
 * What the device library does for one op on one core, as the counters of
 * ir/counters.def: the rows of costs.def over a Work.
 *
 *     Work w = { .rows = 8, .cols = 40, .taps = 9, .pieces = 1, ... };
 *     Counters c = { 0 };
 *     work_count(WORK_conv_unpack, &w, &c);
 *
 * A plan fills a Work from what it thinks of doing, backend/predict.h from the
 * parameters of an op. Everything is an integer; exact counters are what the
 * emulator counts, to the last one.
 */
#ifndef IR_WORK_H
#define IR_WORK_H

#include <stdbool.h>

#include "ir/cost.h"
#include "ir/devtypes.h"

enum { WORK_PIECES = 8 };

/* The routines of costs.def; 0 is none. */
typedef enum WorkId {
#define ROUTINE_COST(routine) WORK_##routine,
#include "ir/costs.def"
	WORK_COUNT
} WorkId;

extern const char *const work_names[WORK_COUNT];

/* WORK_none if there is none of that name. */
WorkId work_find(const char *name);

/* Rows, columns, planes and tiles as in runtime/device/params.def. */
typedef struct Work {
	/* An op on tiles. */
	int64_t images, rows, cols; /* of positions */
	int64_t taps;             /* kernel_h * kernel_w */
	int64_t kernel_h, kernel_w, dilation_h, dilation_w, stride_h, stride_w;
	int64_t image_rows, image_cols, pad_top, pad_left; /* of a window, or a reduction */
	int64_t pieces;           /* of the input */
	int64_t planes[WORK_PIECES], k_block[WORK_PIECES]; /* of each piece */
	int64_t groups, out_planes;
	int64_t lanes;            /* of the last plane that is written; 0: all */
	int64_t spread[2];        /* of two operands */

	/* Constants of its variants. */
	DevTypes in_type, weight_type, out_type, a_type, b_type;
	int64_t n, hold, phases, op, kind, pair, onto, pixels, sum;
	WorkId act;               /* that the math routine calls for each half of Dst, or none */
	int64_t act_calls; /* how often: filled by the caller, as is the next line */
	int64_t act_values, act_faces; /* times 32 values it works on; where it is told to begin */

	/* A mix: terms are taps. Of the columns of its table: pixels that all terms of all
	 * tiles read, and how many of them are fewer than 32. */
	int64_t mix_pixels, mix_cut;
	bool mix_across;

	/* Weights: a group has `chunks` pages, which come by `passes` times, once for each
	 * `block` units of positions (0: for all). In DRAM a bank has dram_page bytes, then
	 * the next; dram_first come before those of this core. */
	int64_t chunks, chunk_blocks, passes, block;
	bool sums;                /* of pages but the last go to L1 */
	int64_t page_bytes, dram_page, dram_first;
	int64_t fetchers, fetcher; /* cores that read in turn, and which of them this one is */

	/* Rows of a host tensor. */
	int64_t edge_rows, edge_cols, edge_planes, channels;
	int64_t row_bytes; /* of a channel, in whole words */

	/* Runs of bytes. */
	int64_t runs, run_bytes;

	/* Around the routines, on BRISC. */
	int64_t next_bytes;       /* of the next op's parameter block */
	int64_t pushers;          /* cores that push rows to this one */
	int64_t zeros, zero_bytes;              /* writes, and of all of them */
	int64_t pushes, push_bytes, push_peers; /* writes, of all of them, cores told */
	int64_t reads, read_bytes, writes, write_bytes; /* of DRAM: packets, of all of them */
	bool before, after; /* there are moves before and after the op */
	bool asked, asked_dram; /* writes are under way when the routine starts; to DRAM */
	bool last;              /* op of the program */
} Work;

/* Adds what the routine does to `c`, the act that it calls included. */
void work_count(WorkId routine, const Work *w, Counters *c);

/* Counters.stalls of a product (conv_unpack with conv_math): cycles. They are those
 * of one input tile in thousandths, which depend on types, n, hold and phases
 * alone, times how many there are. */
int64_t work_stalls(const Target *t, const Work *w);
int64_t work_turn_stall(const Target *t, const Work *w);
int64_t work_turns(const Work *w);

/* Packets of the NoC that so many bytes in one run take. */
int64_t work_packets(int64_t bytes);

#endif
