/*
 * A conv, math side: TRISC1.
 *
 * A tile product is 16 MVMULs, recorded once and replayed by a MOP for each
 * fidelity phase; its last instruction gives back SrcA (n output tiles for the
 * same pixels) or SrcB (several rows for the same weights).
 *
 * Bias starts the sum: 8 ELWADDs without accumulation write all 64 rows of the
 * tile, so Dst is never cleared. Sources are told to be TF32, which bf16 is a part of,
 * or they would see no more than that of it (ELWADD.md). Sums of earlier chunks are in
 * Dst already, or TRISC0 brings them there (sums.h).
 */
#ifndef RUNTIME_DEVICE_CONV_MATH_H
#define RUNTIME_DEVICE_CONV_MATH_H

#include "runtime/device/math.h"
#include "runtime/device/sums.h"

#define TT_PRODUCT_ROWS(modifier)     TT_I(OP_MVMUL(0, modifier, 0, 0))
#define TT_BIAS_ROWS(modifier) TT_I(OP_ELWADD(0, modifier, 2, 0, 0))

/* Of bias, in replay slots 0 to 7: the row that is added is 0 for 16 rows of
 * Dst, then 32. Modifier 7 goes on to the other. */
TT_INLINE void tt_bias_modifiers(void)
{
	TT_MODIFIER(6, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0);
	TT_MODIFIER(7, 0, 0, 0, 32, 0, 0, 8, 0, 0, 0, 0);
}

TT_INLINE void tt_record_product(uint32_t phases, uint32_t hold)
{
	TT_MODIFIER(0, 0, 0, 0, 8, 0, 0, 8, 0, 0, 0, 0);
	TT_MODIFIER(1, 16, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0);
	TT_MODIFIER(2, 0, 1, 0, 16, 1, 0, 8, 0, 0, 0, 0);
	TT_MODIFIER(3, 0, 0, 0, 8, 0, 0, 8, 0, 0, 0, 1);
	TT_MODIFIER(4, 32, 1, 0, 16, 1, 0, 0, 1, 0, 0, 1);
	TT_MODIFIER(5, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1);
	tt_bias_modifiers();
	TT_I(OP_REPLAY(0, 8, 0, 1));
	TT_BIAS_ROWS(2);
	TT_BIAS_ROWS(3);
	TT_BIAS_ROWS(2);
	TT_BIAS_ROWS(3);
	TT_BIAS_ROWS(2);
	TT_BIAS_ROWS(3);
	TT_BIAS_ROWS(2);
	TT_BIAS_ROWS(3);
	TT_I(OP_REPLAY(16, 16, 0, 1));
	TT_PRODUCT_ROWS(0);
	TT_PRODUCT_ROWS(1);
	TT_PRODUCT_ROWS(0);
	TT_PRODUCT_ROWS(2);
	TT_PRODUCT_ROWS(0);
	TT_PRODUCT_ROWS(1);
	TT_PRODUCT_ROWS(3);
	TT_PRODUCT_ROWS(0);
	TT_PRODUCT_ROWS(0);
	TT_PRODUCT_ROWS(1);
	TT_PRODUCT_ROWS(0);
	TT_PRODUCT_ROWS(2);
	TT_PRODUCT_ROWS(0);
	TT_PRODUCT_ROWS(1);
	TT_PRODUCT_ROWS(3);
	TT_PRODUCT_ROWS(1);
	tt_mop_sync();
	TT_MOP_WORD(0) = 1;
	TT_MOP_WORD(1) = phases;
	TT_MOP_WORD(2) = OP_NOP();
	TT_MOP_WORD(3) = OP_SETRWC(0xf, 0, 0, 0, 0, hold == 1 ? 1 : 2);
	TT_MOP_WORD(4) = OP_NOP();
	TT_MOP_WORD(5) = OP_REPLAY(16, 16, 0, 0);
	TT_MOP_WORD(6) = OP_NOP();
	TT_MOP_WORD(7) = OP_REPLAY(16, 16, 0, 0);
	TT_MOP_WORD(8) = OP_REPLAY(16, 16, 0, 0);
}

/* Tiles of bias, from `row` of Dst on. */
TT_INLINE void tt_math_bias(uint32_t row, uint32_t tiles)
{
	TT_I(OP_SETC16(1, TT_AT_ADDR_MOD_SET_Base));
	for (; tiles; tiles--, row += TT_TILE_ROWS) {
		tt_math_tile(row);
		TT_I(OP_REPLAY(0, 8, 0, 0));
		TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 3));
	}
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_SET_Base));
}

/* Where math works in Dst, as an instruction: made before a loop, one store in it. */
TT_INLINE uint32_t tt_math_at(uint32_t row)
{
	return OP_SETC16(row, TT_AT_DEST_TARGET_REG_CFG_MATH_Offset);
}

#define TT_PRODUCT_AT(at)                                                                          \
	do {                                                                                       \
		TT_PUSH(at);                                                                       \
		TT_I(OP_MOP(1, 0, 0));                                                             \
	} while (0)

/* `tiles` products, from tile 0 of four on. */
#define TT_PRODUCTS(tiles)                                                                         \
	do {                                                                                       \
		TT_PRODUCT_AT(at0);                                                                \
		if ((tiles) > 1)                                                                   \
			TT_PRODUCT_AT(at1);                                                        \
		if ((tiles) > 2)                                                                   \
			TT_PRODUCT_AT(at2);                                                        \
		if ((tiles) > 3)                                                                   \
			TT_PRODUCT_AT(at3);                                                        \
	} while (0)

/* `steps` input tiles, each times n output tiles. */
TT_INLINE void tt_math_wide(uint32_t row, uint32_t steps, uint32_t n)
{
	const uint32_t at0 = tt_math_at(row), at1 = tt_math_at(row + TT_TILE_ROWS);
	const uint32_t at2 = tt_math_at(row + 2 * TT_TILE_ROWS);
	const uint32_t at3 = tt_math_at(row + 3 * TT_TILE_ROWS);
	if (n == 1)
		TT_PUSH(at0);
	for (; steps; steps--) {
		if (n == 1)
			TT_I(OP_MOP(1, 0, 0));
		else
			TT_PRODUCTS(n);
		TT_I(OP_SETRWC(7, 0, 0, 0, 0, 2));
	}
}

/* `steps` input tiles, each for `held` rows of positions. */
TT_INLINE void tt_math_tall(uint32_t row, uint32_t steps, uint32_t held)
{
	const uint32_t at0 = tt_math_at(row), at1 = tt_math_at(row + TT_TILE_ROWS);
	const uint32_t at2 = tt_math_at(row + 2 * TT_TILE_ROWS);
	const uint32_t at3 = tt_math_at(row + 3 * TT_TILE_ROWS);
	for (; steps; steps--) {
		TT_PRODUCTS(held);
		TT_I(OP_SETRWC(7, 0, 0, 0, 0, 1));
	}
}

/* Input tiles in the blocks of a chunk. */
TT_INLINE uint32_t tt_chunk_steps(const TtTiles *p, uint32_t chunk)
{
	const TtBlocks all = tt_chunk_blocks(p, chunk);
	uint32_t steps = 0, number = 0;
	for (uint32_t s = 0; s < p->segments; s++) {
		if (!p->chunk_blocks) {
			steps += p->kernel_h * p->kernel_w * tt_piece_tiles(p, s);
			continue;
		}
		const TtBlocks b = tt_blocks_among(all, number, tt_piece_blocks(p, s));
		if (b.first < b.end)
			steps += (b.end - b.first) * p->k_block[s];
		number += tt_piece_blocks(p, s);
	}
	return steps;
}

/* What all units of a group have in common: the channels from its first tile on, and
 * whether its tiles stand side by side. With more groups than pairs of planes it is
 * for store_pairs: two groups of two tiles have the same channels. */
typedef struct TtGroup {
	uint32_t channels, across;
} TtGroup;

TT_INLINE TtGroup tt_group(const TtTiles *p, uint32_t number, uint32_t n)
{
	const bool phases = p->groups > (p->out_planes + 1) / 2;
	TtGroup g = { tt_act_channels(p, phases ? number / 2 : number * n), n > 1 && !phases };
	return g;
}

/* What a chunk adds to `held` tiles from row `half` on; the first and the last
 * one of a unit begin and end them, as does every one whose sums go to L1. */
TT_INLINE void tt_math_unit(const TtTiles *p, TtGroup g, uint32_t chunk, uint32_t steps,
			    uint32_t half, uint32_t held, uint32_t pixels, uint32_t n,
			    uint32_t hold)
{
	const uint32_t last = chunk + 1 == tt_chunks(p);
	if (!chunk || p->sums_pages)
		TT_MATH_BEGIN();
	if (!chunk)
		tt_math_bias(half, held);
	else if (p->sums_pages)
		TT_SUMS_AWAIT();
	if (hold == 1)
		tt_math_wide(half, steps, n);
	else
		tt_math_tall(half, steps, held);
	if (last && tt_act(p, half, held, g.channels, g.across, pixels))
		tt_bias_modifiers();
	if (last || p->sums_pages)
		TT_MATH_END();
}

/* All chunks for the units of one pass from `first` on; returns the next unit. */
TT_INLINE TtPlace tt_math_pass(const TtTiles *p, TtGroup g, TtPlace first, uint32_t *half,
			       uint32_t n, uint32_t hold)
{
	const uint32_t chunks = tt_chunks(p);
	TtPlace at = first;
	for (uint32_t c = 0; c < chunks; c++) {
		const uint32_t steps = tt_chunk_steps(p, c);
		at = first;
		for (uint32_t i = tt_units(p); i && tt_place_there(p, &at); i--) {
			const uint32_t held = hold == 1 ? n : tt_least(hold, p->rows - at.y);
			tt_math_unit(p, g, c, steps, *half, held, p->cols - at.x, n, hold);
			if (c + 1 == chunks || p->sums_pages)
				*half ^= TT_HALF_ROWS;
			tt_place_next(p, &at, hold);
		}
	}
	return at;
}

TT_ROUTINE void tt_conv_math(const TtTiles *p, uint32_t n, uint32_t hold, uint32_t phases)
{
	uint32_t half = 0;
	tt_math_config();
	tt_math_wide_sources();
	tt_record_product(phases, hold);
	for (uint32_t g = 0; g < p->groups; g++) {
		const TtGroup group = tt_group(p, g, n);
		TtPlace at = tt_place_first();
		while (tt_place_there(p, &at))
			at = tt_math_pass(p, group, at, &half, n, hold);
	}
}

#endif
