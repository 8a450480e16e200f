#include "ir/weight_block.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "ir/blockfloat.h"
#include "ir/tensor.h"

/* The channels of one tile, and where its bytes are. */
typedef struct TileAt {
	uint32_t tap, cin, cout; /* first channels */
	uint64_t exponents, values;
} TileAt;

static TileAt tile_at(const WeightBlocks *w, uint32_t tap, uint32_t cin_tile, uint32_t cout_tile)
{
	const uint64_t block = (uint64_t)weight_block_of(w, tap, cin_tile, cout_tile)
		* weight_block_bytes(w);
	const uint32_t tile = weight_tile_of(w, cin_tile, cout_tile);
	return (TileAt){
		tap, cin_tile * TILE, cout_tile * TILE, block + tile * TILE_EXPONENTS,
		block + weight_block_exponents(w) + tile * TILE_VALUES * weight_value_bytes(w),
	};
}

static int64_t offset_of(WeightStrides at, const TileAt *t, uint32_t row, uint32_t col)
{
	return t->tap * at.tap + (t->cin + row) * at.cin + (t->cout + col) * at.cout;
}

static bool is_channel(const WeightBlocks *w, const TileAt *t, uint32_t row, uint32_t col)
{
	return t->cin + row < w->cin && t->cout + col < w->cout;
}

/* Channels of a tile that there are, from the first on. */
static uint32_t channels_from(uint32_t first, uint32_t all)
{
	return all - first < TILE ? all - first : TILE;
}

static void pack_tile(const WeightBlocks *w, const float *from, WeightStrides at, const TileAt *t,
		      uint8_t *to)
{
	float values[TILE_VALUES] = { 0 };
	const uint32_t rows = channels_from(t->cin, w->cin), cols = channels_from(t->cout, w->cout);
	for (uint32_t col = 0; col < cols; col++) {
		const float *in = from + offset_of(at, t, 0, col);
		for (uint32_t row = 0; row < rows; row++)
			values[weight_value_of(row, col)] = in[row * at.cin];
	}
	if (w->type == DEV_BFP8_B) {
		for (uint32_t i = 0; i < TILE_EXPONENTS; i++)
			to[t->exponents + i] = blockfloat_pack(values + i * BLOCKFLOAT,
							       to + t->values + i * BLOCKFLOAT);
		return;
	}
	if (w->type == DEV_F32) {
		memcpy(to + t->values, values, sizeof values);
		return;
	}
	for (uint32_t i = 0; i < TILE_VALUES; i++) {
		const uint16_t half = float_to_bf16(values[i]);
		memcpy(to + t->values + 2 * i, &half, sizeof half);
	}
}

static float value_at(const WeightBlocks *w, const uint8_t *from, const TileAt *t, uint32_t i)
{
	if (w->type == DEV_BFP8_B)
		return blockfloat_value(from[t->exponents + i / BLOCKFLOAT], from[t->values + i]);
	if (w->type == DEV_F32) {
		float v;
		memcpy(&v, from + t->values + 4 * i, sizeof v);
		return v;
	}
	uint16_t half;
	memcpy(&half, from + t->values + 2 * i, sizeof half);
	return bf16_to_float(half);
}

static void unpack_tile(const WeightBlocks *w, const uint8_t *from, WeightStrides at,
			const TileAt *t, float *to)
{
	for (uint32_t row = 0; row < TILE; row++)
		for (uint32_t col = 0; col < TILE; col++)
			if (is_channel(w, t, row, col))
				to[offset_of(at, t, row, col)] =
					value_at(w, from, t, weight_value_of(row, col));
}

/* One tile after the other, all taps of the same channels in a row since they lie side by
 * side; the next one's index in *i, false past the last. */
static bool next_tile(const WeightBlocks *w, uint32_t *i, TileAt *t)
{
	const uint32_t deep = weight_tiles_of(w->cin), wide = weight_tiles_of(w->cout);
	assert(w->k && w->n && deep % w->k == 0 && wide % w->n == 0);
	if (*i == deep * wide * w->taps)
		return false;
	*t = tile_at(w, *i % w->taps, *i / w->taps % deep, *i / w->taps / deep);
	++*i;
	return true;
}

void weight_blocks_pack(const WeightBlocks *w, const float *from, WeightStrides at, uint8_t *to)
{
	TileAt t;
	for (uint32_t i = 0; next_tile(w, &i, &t);)
		pack_tile(w, from, at, &t, to);
}

void weight_blocks_unpack(const WeightBlocks *w, const uint8_t *from, WeightStrides at, float *to)
{
	TileAt t;
	for (uint32_t i = 0; next_tile(w, &i, &t);)
		unpack_tile(w, from, at, &t, to);
}
