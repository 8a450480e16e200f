/*
 * What ttnn's programs take on a device, in picoseconds: its published transfer
 * curves and rates (ir/ttnn_costs.def) over what each of its kernels moves and computes.
 *
 * A convolution goes block by block: one core or two read the rows of the window, the
 * compute cores tilize them and multiply, another core fetches the weights, and what is
 * not double buffered waits for what it is put behind.
 */
#ifndef PASSES_TTNN_TIME_H
#define PASSES_TTNN_TIME_H

#include "passes/ttnn_l1.h"

typedef enum TtnnCurve {
#define TTNN_CURVE(id, ...) TTNN_CURVE_##id,
#include "ir/ttnn_costs.def"
	TTNN_CURVES
} TtnnCurve;

typedef enum TtnnCost {
#define TTNN_COST(id, ...) TTNN_COST_##id,
#include "ir/ttnn_costs.def"
	TTNN_COSTS
} TtnnCost;

/* Are there figures for the target's architecture? */
bool ttnn_known(const Target *t);

/* As published, times what the target says of it. */
int64_t ttnn_cost(const Target *t, TtnnCost c);

/* Bytes in pieces of `piece` along a curve; thousandths of cycles; bytes at a rate of
 * thousandths of GB/s. */
int64_t ttnn_curve_ps(const Target *t, TtnnCurve c, int64_t bytes, int64_t piece);
int64_t ttnn_cycles_ps(const Target *t, int64_t thousandths);
int64_t ttnn_rate_ps(int64_t bytes, int64_t milli_gbps);

/* Two things side by side. */
int64_t ttnn_both(const Target *t, int64_t a, int64_t b);

int64_t ttnn_tilize_cost(const Target *t, TtnnType type, bool fp32);

/* Does ttnn let two cores read pixels? */
bool ttnn_splits(const Target *t, const TtnnConv *c, const TtnnGrid *g, const TtnnBlocks *b,
		 const TtnnChoice *choice);

typedef struct TtnnConvTime {
	int64_t reader, tilize, math, mcast, weights; /* all blocks, each on its own */
	int64_t products; /* of tiles, on a core */
	int64_t total;
} TtnnConvTime;

TtnnConvTime ttnn_conv_time(const Target *t, const TtnnConv *c, const TtnnGrid *g,
			    const TtnnBlocks *b, const TtnnChoice *choice);

/* A halo of so many bytes with pixels of `stick`, out of so many tiles; a copy in L1. */
int64_t ttnn_halo_ps(const Target *t, const TtnnWindow *w, int64_t bytes, int64_t stick,
		     int64_t tiles);
int64_t ttnn_copy_ps(const Target *t, int64_t bytes);

/* Reading the pixels of all windows of a pool, `rows` results on a core. */
int64_t ttnn_pool_ps(const Target *t, const TtnnWindow *w, int64_t rows, int64_t channels);

#endif
