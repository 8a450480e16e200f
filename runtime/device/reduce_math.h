/*
 * All pixels of a core to one, math side: TRISC1.
 *
 * Sums have 32 bits all the way. ELWADD adds runs of 32 pixels to 32 rows of Dst
 * for each plane; the vector unit adds these rows, eight groups of four, then the
 * four by SFPTRANSP: n pixels in n / 32 + 11 additions of fp32. The result is
 * sum * scale (fp32), then the op's activation.
 *
 * With `pair` it leaves as two bf16 pixels, high and low, whose sum has 16 bits of
 * mantissa: who adds up the pairs of several cores is off by 2^-17 of each. Without,
 * as one pixel.
 *
 * Deviations: the mean of each channel comes first, high and low in SrcB, and
 * stays in tile 1 of the half of Dst; sums of squares grow in tile 2. Of a run
 * that ends early only whole groups of four pixels and a masked one are added.
 *
 * The largest: GMPOOL, 16 pixels at a time, which wants ones in SrcB: written by
 * the vector unit, moved by MOVD2B.
 *
 * Onto a result that is there: its pixels come in SrcB as the mean does. Of a sum, a
 * quarter in each of four rows of tile 2, which are added up in the end; of the
 * largest, the value to begin with.
 *
 * A core without result (`rows` 0) has nothing to do.
 *
 * Tile 0 of the half ends as store wants it: pixels are rows 0 and 1 of the first
 * plane, 16 and 17 of the second. What the other rows hold is masked by store.
 */
#ifndef RUNTIME_DEVICE_REDUCE_MATH_H
#define RUNTIME_DEVICE_REDUCE_MATH_H

#include "runtime/device/math.h"
#include "runtime/device/reduce.h"
#include "runtime/device/sums.h"

/* Rows of a half: the mean of the first plane, of the second; sums likewise. */
enum {
	TT_MEAN_ROW = TT_TILE_ROWS,
	TT_SUM_ROW = 2 * TT_TILE_ROWS,
	TT_SECOND = 32, /* rows from the first plane to the second, before the result */
};

#define TT_ADD_ROWS(onto) TT_I(OP_ELWADD(0, 0, 0, onto, 0))
#define TT_ADD_TILE(onto)                                                                          \
	do {                                                                                       \
		TT_ADD_ROWS(onto);                                                                 \
		TT_ADD_ROWS(onto);                                                                 \
		TT_ADD_ROWS(onto);                                                                 \
		TT_ADD_ROWS(onto);                                                                 \
		TT_ADD_ROWS(onto);                                                                 \
		TT_ADD_ROWS(onto);                                                                 \
		TT_ADD_ROWS(onto);                                                                 \
		TT_ADD_ROWS(onto);                                                                 \
	} while (0)

/* Replay slots 0 to 7 put SrcA into a tile, 8 to 15 add it; modifier 1 goes on to
 * row 32 of SrcB, 2 to the next 16 rows of SrcA. */
TT_INLINE void tt_record_adds(void)
{
	TT_MODIFIER(0, 8, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0);
	TT_MODIFIER(1, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0);
	TT_MODIFIER(2, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	TT_I(OP_REPLAY(0, 16, 0, 1));
	TT_ADD_TILE(0);
	TT_ADD_TILE(1);
}

TT_INLINE void tt_reduce_add(uint32_t first)
{
	if (first)
		TT_I(OP_REPLAY(0, 8, 0, 0));
	else
		TT_I(OP_REPLAY(8, 8, 0, 0));
	TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 1));
}

/* A number for each channel from SrcB to all of 8 rows of each plane, from `at` and
 * `at` + TT_SECOND on; added to what is there. And one that is high and low. */
#define TT_MATH_PIXEL(at, added)                                                                   \
	do {                                                                                       \
		TT_I(OP_ELWADD(at, 1, 2, added, 0));                                               \
		TT_I(OP_ELWADD((at) + TT_SECOND, 1, 2, added, 0));                                 \
		TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 3));                                               \
	} while (0)
#define TT_MATH_STAT(at)                                                                           \
	do {                                                                                       \
		TT_MATH_PIXEL(at, 0);                                                              \
		TT_MATH_PIXEL(at, 1);                                                              \
	} while (0)

#define TT_LOAD(at, reg)  TT_I(OP_SFPLOAD(at, 3, 0, reg))
#define TT_STORE(at, reg) TT_I(OP_SFPSTORE(at, 3, 0, reg))

/* Register 3: all ones in the first `rows` of the four rows of lanes, else 0.
 * Lane i of register 15 holds 2 * i. */
TT_INLINE void tt_row_mask(uint32_t rows)
{
	tt_sfpu_word(3, 16 * rows);
	TT_I(OP_SFPIADD(6, 3, 15, 0)); /* below 0 if the row counts */
	TT_I(OP_SFPSHFT(1, 3, 0, -31));
	TT_I(OP_SFPIADD(6, 3, 9, 0));
}

/* Four pixels of one plane: registers 4 and 5 the mean, 6 and 7 the sums, of even
 * and odd channels. */
#define TT_DEVIATE(at)                                                                             \
	TT_LOAD(at, 0);                                                                            \
	TT_LOAD((at) + 2, 1);                                                                      \
	TT_I(OP_SFPMAD(0, 0, 0, 11, 4));                                                           \
	TT_I(OP_SFPMAD(0, 1, 1, 11, 5))
#define TT_SQUARE()                                                                                \
	TT_I(OP_SFPMAD(0, 6, 6, 0, 0));                                                            \
	TT_I(OP_SFPMAD(0, 7, 7, 1, 1));                                                            \
	TT_I(OP_INCRWC(0, 0, 4, 0))
#define TT_DEVIATE_PLANE(at, pixels)                                                               \
	do {                                                                                       \
		TT_LOAD(TT_MEAN_ROW + (at), 4);                                                    \
		TT_LOAD(TT_MEAN_ROW + (at) + 2, 5);                                                \
		TT_LOAD(TT_SUM_ROW + (at), 6);                                                     \
		TT_LOAD(TT_SUM_ROW + (at) + 2, 7);                                                 \
		for (uint32_t g = (pixels) / 4; g; g--) {                                          \
			TT_DEVIATE(at);                                                            \
			TT_SQUARE();                                                               \
		}                                                                                  \
		if ((pixels) % 4) {                                                                \
			TT_DEVIATE(at);                                                            \
			TT_I(OP_SFPAND(0, 0, 3, 0));                                               \
			TT_I(OP_SFPAND(0, 1, 3, 0));                                               \
			TT_SQUARE();                                                               \
		}                                                                                  \
		TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));                                                 \
		TT_I(OP_SFPNOP());                                                                 \
		TT_STORE(TT_SUM_ROW + (at), 6);                                                    \
		TT_STORE(TT_SUM_ROW + (at) + 2, 7);                                                \
	} while (0)

TT_INLINE void tt_reduce_deviation(uint32_t pixels)
{
	tt_sfpu_begin();
	if (pixels % 4)
		tt_row_mask(pixels % 4);
	TT_DEVIATE_PLANE(0, pixels);
	TT_DEVIATE_PLANE(TT_SECOND, pixels);
	tt_sfpu_end();
}

/* Register `to`: eight groups of four rows, from `at` on. */
#define TT_SUM_GROUP(to, at)                                                                       \
	TT_LOAD(at, 4);                                                                            \
	TT_SFPU_MAD(to, 4, 10, to)
#define TT_SUM_GROUPS(to, at)                                                                      \
	TT_LOAD(at, to);                                                                           \
	TT_SUM_GROUP(to, (at) + 4);                                                                \
	TT_SUM_GROUP(to, (at) + 8);                                                                \
	TT_SUM_GROUP(to, (at) + 12);                                                               \
	TT_SUM_GROUP(to, (at) + 16);                                                               \
	TT_SUM_GROUP(to, (at) + 20);                                                               \
	TT_SUM_GROUP(to, (at) + 24);                                                               \
	TT_SUM_GROUP(to, (at) + 28)

/* Register `to` and what there was before, from `at` of tile 2 on. */
#define TT_SUM_BEFORE(to, at)                                                                      \
	TT_LOAD(TT_SUM_ROW + (at), 4);                                                             \
	TT_SFPU_MAD(to, 4, 10, to)

/* Registers 0 to 3, of even and odd channels of two planes: rows of lanes that
 * belong together. After a transposition register i holds row i of each. */
TT_INLINE void tt_reduce_load(uint32_t kind, uint32_t onto)
{
	if (kind == TT_REDUCE_SUM) {
		TT_SUM_GROUPS(0, 0);
		TT_SUM_GROUPS(1, 2);
		TT_SUM_GROUPS(2, TT_SECOND);
		TT_SUM_GROUPS(3, TT_SECOND + 2);
		if (onto) {
			TT_SUM_BEFORE(0, 0);
			TT_SUM_BEFORE(1, 2);
			TT_SUM_BEFORE(2, TT_SECOND);
			TT_SUM_BEFORE(3, TT_SECOND + 2);
		}
	} else {
		TT_LOAD(TT_SUM_ROW, 0);
		TT_LOAD(TT_SUM_ROW + 2, 1);
		TT_LOAD(TT_SUM_ROW + TT_SECOND, 2);
		TT_LOAD(TT_SUM_ROW + TT_SECOND + 2, 3);
	}
	TT_I(OP_SFPTRANSP(0));
	TT_SFPU_MAD(0, 0, 10, 1);
	TT_SFPU_MAD(2, 2, 10, 3);
	TT_SFPU_MAD(0, 0, 10, 2);
}

/* Registers 0 and 1 as pixels 0 and 1 of the tile. */
TT_INLINE void tt_reduce_put(void)
{
	TT_I(OP_SFPMOV(0, 2, 9));
	TT_I(OP_SFPMOV(0, 3, 9));
	TT_I(OP_SFPTRANSP(0));
	TT_STORE(0, 0);
	TT_STORE(2, 1);
	TT_STORE(16, 2);
	TT_STORE(18, 3);
}

TT_INLINE void tt_reduce_get(void)
{
	TT_LOAD(0, 0);
	TT_LOAD(2, 1);
	TT_LOAD(16, 2);
	TT_LOAD(18, 3);
	TT_I(OP_SFPTRANSP(0));
}

/* Register 0 to bf16, halves away from zero; register 1: what that loses. */
TT_INLINE void tt_reduce_split(void)
{
	TT_I(OP_SFPMOV(0, 1, 0));
	TT_SFPU_CONSTANT(4, 0x8000u);
	TT_I(OP_SFPIADD(4, 0, 4, 0));
	TT_SFPU_CONSTANT(4, 0xffff0000u);
	TT_I(OP_SFPAND(0, 0, 4, 0));
	TT_SFPU_MAD(1, 0, 11, 1);
}

/* From rows of the half to pixels. */
TT_INLINE void tt_reduce_finish(const TtTiles *p, uint32_t half, uint32_t channels, uint32_t kind,
				uint32_t pair, uint32_t onto)
{
	tt_sfpu_begin();
	tt_reduce_load(kind, onto);
	tt_sfpu_word(4, p->scale);
	TT_SFPU_MAD(0, 0, 4, 9);
	tt_reduce_put();
	tt_sfpu_end();
	tt_act(p, half, 1, channels, 0, p->cols);
	if (!pair)
		return;
	tt_math_tile(half);
	tt_sfpu_begin();
	tt_reduce_get();
	tt_reduce_split();
	tt_reduce_put();
	tt_sfpu_end();
}

/* Ones to the first rows of SrcB by way of the tile, once it is there: MOVD2B does not
 * wait for it. */
TT_INLINE void tt_reduce_ones(uint32_t half)
{
	tt_sfpu_begin();
	tt_math_tile(half);
	TT_STORE(0, 10);
	TT_STORE(2, 10);
	tt_sfpu_end();
	TT_STALL(TT_HOLD_MATH, TT_FOR_SRCB);
	TT_I(OP_MOVD2B(0, 2, 0, 0, 0));
	TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));
}

TT_INLINE void tt_reduce_least(void)
{
	tt_sfpu_begin();
	TT_SFPU_CONSTANT(0, 0xff800000u);
	TT_STORE(0, 0);
	TT_STORE(2, 0);
	TT_STORE(16, 0);
	TT_STORE(18, 0);
	tt_sfpu_end();
}

TT_INLINE void tt_reduce_larger(void)
{
	TT_I(OP_GMPOOL(0, 0, 2, 1, 0));
	TT_I(OP_GMPOOL(0, 0, 2, 1, 0));
	TT_I(OP_GMPOOL(16, 0, 2, 1, 0));
	TT_I(OP_GMPOOL(16, 0, 2, 1, 0));
	TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 1));
}

/* The largest so far, which came with SrcB. */
TT_INLINE void tt_reduce_before(uint32_t half)
{
	TT_MATH_PIXEL(TT_SUM_ROW, 0);
	TT_SUMS_AWAIT();
	tt_reduce_ones(half);
	tt_sfpu_begin();
	TT_LOAD(TT_SUM_ROW, 0);
	TT_LOAD(TT_SUM_ROW + 2, 1);
	TT_LOAD(TT_SUM_ROW + TT_SECOND, 2);
	TT_LOAD(TT_SUM_ROW + TT_SECOND + 2, 3);
	TT_STORE(0, 0);
	TT_STORE(2, 1);
	TT_STORE(16, 2);
	TT_STORE(18, 3);
	tt_sfpu_end();
}

#define TT_QUARTER(at)                                                                             \
	TT_LOAD(TT_SUM_ROW + (at), 0);                                                             \
	TT_SFPU_MAD(0, 0, 4, 9);                                                                   \
	TT_STORE(TT_SUM_ROW + (at), 0)

/* A quarter of the sum so far, which came with SrcB, in each of four rows. */
TT_INLINE void tt_reduce_quarters(void)
{
	TT_MATH_STAT(TT_SUM_ROW);
	TT_SUMS_AWAIT();
	tt_sfpu_begin();
	tt_sfpu_word(4, 0x3e800000u);
	TT_QUARTER(0);
	TT_QUARTER(2);
	TT_QUARTER(TT_SECOND);
	TT_QUARTER(TT_SECOND + 2);
	tt_sfpu_end();
}

/* Before the first run of two planes. */
TT_INLINE void tt_reduce_begin(uint32_t kind, uint32_t onto, uint32_t half)
{
	if (kind == TT_REDUCE_MAX && onto)
		tt_reduce_before(half);
	else if (kind == TT_REDUCE_MAX)
		tt_reduce_least();
	if (kind == TT_REDUCE_DEVIATION)
		TT_MATH_STAT(TT_MEAN_ROW);
	if (kind != TT_REDUCE_MAX && onto) {
		tt_reduce_quarters();
	} else if (kind == TT_REDUCE_DEVIATION) {
		tt_sfpu_begin();
		TT_STORE(TT_SUM_ROW, 9);
		TT_STORE(TT_SUM_ROW + 2, 9);
		TT_STORE(TT_SUM_ROW + TT_SECOND, 9);
		TT_STORE(TT_SUM_ROW + TT_SECOND + 2, 9);
		tt_sfpu_end();
	}
}

TT_ROUTINE void tt_reduce_math(const TtTiles *p, uint32_t kind, uint32_t pair, uint32_t onto)
{
	const uint32_t stats = kind == TT_REDUCE_DEVIATION || onto;
	uint32_t half = 0;
	tt_math_config();
	tt_record_adds();
	if (kind == TT_REDUCE_MAX && !onto)
		tt_reduce_ones(0);
	for (uint32_t i = 0; i < p->rows * tt_piece_tiles(p, 0); i++, half ^= TT_HALF_ROWS) {
		const uint32_t channels = tt_act_channels(p, i);
		TT_MATH_BEGIN();
		tt_math_tile(half);
		tt_reduce_begin(kind, onto, half);
		for (uint32_t y = 0; y < p->image_rows; y++) {
			for (uint32_t x = 0; x < p->image_cols; x += TT_TILE) {
				if (kind == TT_REDUCE_MAX)
					tt_reduce_larger();
				else
					tt_reduce_add(kind == TT_REDUCE_DEVIATION || !(x | y));
				if (kind == TT_REDUCE_DEVIATION)
					tt_reduce_deviation(tt_least(p->image_cols - x, TT_TILE));
			}
		}
		if (kind != TT_REDUCE_MAX)
			tt_reduce_finish(p, half, channels, kind, pair, onto);
		else
			tt_act(p, half, 1, channels, 0, p->cols);
		TT_MATH_END();
		if (stats)
			TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 2));
	}
	if (!stats)
		TT_MATH_RELEASE_B();
}

#endif
