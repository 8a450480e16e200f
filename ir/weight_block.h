/*
 * Weights as the kernels stream them: blocks of 32x32 tiles.
 *
 * A tile holds 32 input channels (rows) times 32 output channels (columns) of
 * one tap, as four 16x16 faces: top left, top right, bottom left, bottom
 * right, each row by row. A block is what an unpacker walks before its base
 * address is set again: k tiles along the input channels times n along the
 * output channels, tile (i, j) at i * n + j. The blocks of an op follow each
 * other as
 *
 *     for each n output tiles, for each tap (ky, kx), for each k input tiles
 *
 * bf16 takes 2048 bytes a tile, f32 4096. In bfp8_b all exponents of a block come first,
 * 64 bytes a tile (one for each row of each face, that is for one input and 16
 * output channels), then 1024 bytes a tile: the unpacker looks for mantissas
 * behind every exponent its descriptor spans. Channels that do not fill the
 * last tile are zero. All tile sizes are multiples of 32 bytes, so every
 * block starts where a DRAM read may.
 *
 *     3x3, 64 -> 128 channels, bfp8_b, k = 2, n = 4: one block of 8 tiles a tap
 *       9 blocks of [512 exponents][8192 mantissas]
 *
 * The planner sizes with this header, the packer fills by it and kernels walk
 * by it: plain C on stdint alone.
 */
#ifndef IR_WEIGHT_BLOCK_H
#define IR_WEIGHT_BLOCK_H

#include <stdint.h>

#include "ir/devtypes.h"

enum {
	TILE = 32,
	FACE = 16,
	TILE_VALUES = TILE * TILE,
	TILE_EXPONENTS = TILE_VALUES / 16,
	MAX_BLOCK_TILES = 255, /* an unpacker counts them in 8 bits */
};

typedef struct WeightBlocks {
	uint32_t type;      /* one of DevTypes */
	uint32_t taps;      /* kernel height times width */
	uint32_t cin, cout; /* channels */
	uint32_t k, n;      /* tiles of a block: divide the tiles of cin and cout */
} WeightBlocks;

static inline uint32_t weight_tiles_of(uint32_t channels) { return (channels + TILE - 1) / TILE; }

static inline uint32_t weight_block_tiles(const WeightBlocks *w) { return w->k * w->n; }

/* Bytes of a block before its first value. */
static inline uint32_t weight_block_exponents(const WeightBlocks *w)
{
	return w->type == DEV_BFP8_B ? weight_block_tiles(w) * TILE_EXPONENTS : 0;
}

static inline uint32_t weight_value_bytes(const WeightBlocks *w)
{
	return w->type == DEV_F32 ? 4 : w->type == DEV_BFP8_B ? 1 : 2;
}

static inline uint32_t weight_block_bytes(const WeightBlocks *w)
{
	return weight_block_exponents(w)
		+ weight_block_tiles(w) * TILE_VALUES * weight_value_bytes(w);
}

static inline uint32_t weight_block_count(const WeightBlocks *w)
{
	return weight_tiles_of(w->cout) / w->n * w->taps * (weight_tiles_of(w->cin) / w->k);
}

/* Of the whole op. */
static inline uint64_t weight_bytes(const WeightBlocks *w)
{
	return (uint64_t)weight_block_count(w) * weight_block_bytes(w);
}

/* Which block holds a tap of these tiles. */
static inline uint32_t weight_block_of(const WeightBlocks *w, uint32_t tap, uint32_t cin_tile,
				       uint32_t cout_tile)
{
	const uint32_t deep = weight_tiles_of(w->cin) / w->k;
	return (cout_tile / w->n * w->taps + tap) * deep + cin_tile / w->k;
}

/* Which tile of its block that is. */
static inline uint32_t weight_tile_of(const WeightBlocks *w, uint32_t cin_tile, uint32_t cout_tile)
{
	return cin_tile % w->k * w->n + cout_tile % w->n;
}

/* Where row and column of a tile stand among its values. */
static inline uint32_t weight_value_of(uint32_t row, uint32_t col)
{
	return (row / FACE * 2 + col / FACE) * (FACE * FACE) + row % FACE * FACE + col % FACE;
}

/* How the weights lie in memory before packing, in elements: a conv's
 * [cout][cin][ky][kx] has { 1, taps, cin * taps }. */
typedef struct WeightStrides {
	int64_t tap, cin, cout;
} WeightStrides;

/* The reference packer: fills weight_bytes(w) bytes. bf16 rounds to nearest
 * even, bfp8_b as blockfloat.h says, f32 not at all. The values must be finite. */
void weight_blocks_pack(const WeightBlocks *w, const float *from, WeightStrides at, uint8_t *to);

/* The values the device will multiply by; channels beyond cin and cout are
 * not written. */
void weight_blocks_unpack(const WeightBlocks *w, const uint8_t *from, WeightStrides at, float *to);

#endif
