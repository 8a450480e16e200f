/*
 * How the three TRISCs of an op walk it, which they must agree on:
 *
 *     for each group of n output tiles, a page of weights
 *         for each image
 *             for each 32 columns of positions
 *                 for each `hold` rows of positions
 *                     n (or `hold`) tiles in one half of Dst
 *
 * Dst has 32 bits a value: two halves of 4 tiles of 64 rows. Math fills one half
 * while the packers empty the other; TT_SEM_DST counts the full ones.
 */
#ifndef RUNTIME_DEVICE_TILES_H
#define RUNTIME_DEVICE_TILES_H

#include "runtime/device/noc.h"
#include "runtime/device/params.h"

#ifndef TT_ROUTINE
#define TT_ROUTINE TT_INLINE
#endif

enum {
	TT_TILE = 32,
	TT_HALF_TILES = 4,
	TT_TILE_ROWS = 64, /* of Dst */
	TT_HALF_ROWS = TT_HALF_TILES * TT_TILE_ROWS,
	TT_PAIRS = 4, /* pairs of rows of weights that channel_* has in SrcB at a time */
};

/* Input tiles of a piece. */
TT_INLINE uint32_t tt_piece_tiles(const TtTiles *p, uint32_t s)
{
	return (p->in_planes[s] + 1) / 2;
}

TT_INLINE uint32_t tt_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

#endif
