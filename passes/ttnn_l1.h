/*
 * How ttnn cuts a convolution or pool over cores and into blocks, and how many bytes
 * of a core's L1 that takes: its own formulas, exactly, so that what does not fit is
 * known before anything runs.
 *
 * Lengths are pixels and channels, or 32x32 tiles where the name says so.
 */
#ifndef PASSES_TTNN_L1_H
#define PASSES_TTNN_L1_H

#include "ir/ttnn.h"

/* A window that slides over a padded image. For a transposed convolution the image has
 * its zeros between pixels already, and the stride is 1. */
typedef struct TtnnWindow {
	int64_t batch, oh, ow;
	int64_t kh, kw, sh, sw, dh, dw;
	int64_t hp, wp; /* of the padded image */
	int64_t apart;  /* of so many of its pixels one is not a zero put between; 0: all */
} TtnnWindow;

typedef struct TtnnConv {
	TtnnWindow w;
	int64_t cin, cout;
	bool bias;
	bool product; /* 1x1: a matmul, no halo */
	bool sfpu;    /* its activation takes the vector unit */
} TtnnConv;

/* How an op lies on the cores. out_planes: those its result's channels are cut over. */
typedef struct TtnnGrid {
	TtnnShard shard;
	int64_t rows, planes, out_planes;
} TtnnGrid;

typedef struct TtnnBlocks {
	int64_t channels; /* of the input, on a core, padded */
	int64_t rows;     /* of tiles of the result, on a core */
	int64_t a, w, n;  /* tiles: rows and columns of a block, columns of the result */
	int64_t act, k;   /* blocks: along the rows, along the channels of one core */
	bool split;       /* both data movement cores read pixels */
} TtnnBlocks;

typedef enum TtnnBuffer {
#define TTNN_BUFFER(id, name) TTNN_CB_##id,
#include "passes/ttnn_buffers.def"
	TTNN_BUFFERS
} TtnnBuffer;

extern const char *const ttnn_buffer_names[TTNN_BUFFERS];

typedef struct TtnnL1 {
	int64_t buffer[TTNN_BUFFERS]; /* bytes, without those that lie on tensors */
	int64_t buffers;              /* all of them */
	int64_t result;               /* the result's shard */
} TtnnL1;

int64_t ttnn_tile_bytes(TtnnType type);

/* The most cores, at most `most`, that n things in groups of `each` spread over so that
 * none is left without. */
int64_t ttnn_spread(int64_t n, int64_t most, int64_t each);

/* The grid ttnn's own rule gives a convolution; `abh` as the override. */
TtnnGrid ttnn_grid(const Target *t, const TtnnConv *c, TtnnShard shard, int64_t abh);

/* The result's columns on such a grid. */
int64_t ttnn_out_planes(const Target *t, const TtnnConv *c, TtnnShard shard, int64_t planes);

/* Bytes of the input with its halo, on the core with the most: at `stick` bytes a pixel. */
int64_t ttnn_halo(const TtnnWindow *w, TtnnShard shard, int64_t row_cores, int64_t rows,
		  int64_t stick);

/* The blocks of a convolution whose input lies in `layout`. */
TtnnBlocks ttnn_blocks(const Target *t, const TtnnConv *c, const TtnnGrid *g, TtnnRows layout,
		       const TtnnChoice *choice);

TtnnL1 ttnn_conv_l1(const TtnnConv *c, const TtnnGrid *g, const TtnnBlocks *b,
		    const TtnnChoice *choice);

/* Circular buffers of a pool. */
int64_t ttnn_pool_buffers(const TtnnWindow *w, int64_t channels);

#endif
