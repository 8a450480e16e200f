/*
 * How the three TRISCs of an op walk it, which they must agree on:
 *
 *     for each group of n output tiles
 *         for each pass, `block` units of positions
 *             for each page of the group's weights, a chunk of them
 *                 for each unit of the pass: 32 columns, `hold` rows of an image
 *                     n (or `hold`) tiles in one half of Dst
 *
 * Units follow each other down the rows, across the columns, then through the
 * images. Weights that come in one page stay for all units: one pass. If they
 * come in several, then either a pass is one unit, whose sums stay in Dst from
 * page to page, or the sums of the pass go to L1 after every page but the last
 * and come back before the next.
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
	TT_FACE_ROWS = 16,
	TT_HALF_ROWS = TT_HALF_TILES * TT_TILE_ROWS,
	TT_PAIRS = 4, /* pairs of rows of weights that channel_* has in SrcB at a time */
};

/* A unit of positions: its image, its first column and row. */
typedef struct TtPlace {
	uint32_t image, x, y;
} TtPlace;

TT_INLINE TtPlace tt_place_first(void)
{
	TtPlace at = { 0, 0, 0 };
	return at;
}

/* A core may have no rows at all. */
TT_INLINE uint32_t tt_place_there(const TtTiles *p, const TtPlace *at)
{
	return p->rows && at->image <= p->more_images;
}

TT_INLINE void tt_place_next(const TtTiles *p, TtPlace *at, uint32_t hold)
{
	at->y += hold;
	if (at->y < p->rows)
		return;
	at->y = 0;
	at->x += TT_TILE;
	if (at->x < p->cols)
		return;
	at->x = 0;
	at->image++;
}

/* Pages of a group, how often they come by, and units at a time; ops without
 * weights say 0. */
TT_INLINE uint32_t tt_chunks(const TtTiles *p)
{
	return p->chunks ? p->chunks : 1;
}

TT_INLINE uint32_t tt_passes(const TtTiles *p)
{
	return p->passes ? p->passes : 1;
}

TT_INLINE uint32_t tt_units(const TtTiles *p)
{
	return p->block ? p->block : ~0u;
}

/* Blocks of weights from `first` to before `end`, counted over all pieces. */
typedef struct TtBlocks {
	uint32_t first, end;
} TtBlocks;

TT_INLINE TtBlocks tt_chunk_blocks(const TtTiles *p, uint32_t chunk)
{
	TtBlocks b = { chunk * p->chunk_blocks, (chunk + 1) * p->chunk_blocks };
	if (!p->chunk_blocks)
		b.end = ~0u;
	return b;
}

/* Which of `count` blocks, the first of which has number `number`, are among
 * `all`: counted from 0. */
TT_INLINE TtBlocks tt_blocks_among(TtBlocks all, uint32_t number, uint32_t count)
{
	TtBlocks b = { 0, 0 };
	if (all.first > number)
		b.first = all.first - number;
	if (all.end > number)
		b.end = all.end - number < count ? all.end - number : count;
	return b;
}

/* Input tiles of a piece. */
TT_INLINE uint32_t tt_piece_tiles(const TtTiles *p, uint32_t s)
{
	return (p->in_planes[s] + 1) / 2;
}

/* Blocks of its weights in a group. */
TT_INLINE uint32_t tt_piece_blocks(const TtTiles *p, uint32_t s)
{
	return p->kernel_h * p->kernel_w * (tt_piece_tiles(p, s) / p->k_block[s]);
}

TT_INLINE uint32_t tt_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

#endif
