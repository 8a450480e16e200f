/*
 * What the matrix unit and the vector unit share between ops: formats, address
 * modifiers, and the vector unit's functions. TRISC1.
 *
 * Address modifiers 0 to 5 are those of a tile product over pixels that stand as
 * two runs of 32 rows in SrcB, 6 and 7 those of bias (see conv_math.h).
 */
#ifndef RUNTIME_DEVICE_MATH_H
#define RUNTIME_DEVICE_MATH_H

#include <stdbool.h>

#include "runtime/device/tiles.h"

/* Modifier `n`: steps of SrcA, SrcB and Dst, each with a flag that the step is
 * from where the counter last returned to, and one that clears it; a step of the
 * fidelity phase; and whether modifiers 4 to 7 stand for 0 to 3 from then on. */
#define TT_MODIFIER(n, a, a_cr, a_clear, b, b_cr, b_clear, d, d_cr, d_clear, phase, other)         \
	TT_I(OP_SETC16((a) | (a_cr) << 6 | (a_clear) << 7 | (b) << 8 | (b_cr) << 14 |              \
			       (b_clear) << 15,                                                    \
		       TT_AT_ADDR_MOD_AB_SEC##n##_SrcAIncr));                                      \
	TT_I(OP_SETC16((d) | (d_cr) << 10 | (d_clear) << 11 | (phase) << 13,                       \
		       TT_AT_ADDR_MOD_DST_SEC##n##_DestIncr));                                     \
	TT_I(OP_SETC16(other, TT_AT_ADDR_MOD_BIAS_SEC##n##_BiasIncr))

/* Where math works in Dst: half h, tile t of it. */
TT_INLINE void tt_math_tile(uint32_t row)
{
	TT_PUSH(OP_SETC16(row, TT_AT_DEST_TARGET_REG_CFG_MATH_Offset));
}

/* Both sources with 8 bits of exponent, Dst of 32 bits. The packers' thread
 * writes other bits of the same word, hence in parts. */
TT_INLINE void tt_math_config(void)
{
	TT_STALL(TT_HOLD_CFG, TT_FOR_MATH | TT_FOR_SFPU);
	tt_cfg_part(TT_AT_ALU_FORMAT_SPEC_REG0_SrcA,
		    TT_FIELD(ALU_FORMAT_SPEC_REG0_SrcA, 15) |
			    TT_FIELD(ALU_FORMAT_SPEC_REG1_SrcB, 15) |
			    TT_FIELD(ALU_ACC_CTRL_INT8_math_enabled, 1) |
			    TT_FIELD(ALU_ACC_CTRL_Fp32_enabled, 1) |
			    TT_FIELD(ALU_ACC_CTRL_SFPU_Fp32_enabled, 1),
		    TT_FIELD(ALU_FORMAT_SPEC_REG0_SrcA, TT_BF16) |
			    TT_FIELD(ALU_FORMAT_SPEC_REG1_SrcB, TT_BF16) |
			    TT_FIELD(ALU_ACC_CTRL_Fp32_enabled, 1) |
			    TT_FIELD(ALU_ACC_CTRL_SFPU_Fp32_enabled, 1));
	tt_cfg_part(TT_AT_ALU_ACC_CTRL_Zero_Flag_disabled_src,
		    TT_FIELD(ALU_ACC_CTRL_Zero_Flag_disabled_src, 1), 0);
	TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 0));
	TT_STALL(TT_HOLD_MATH | TT_HOLD_SFPU, TT_FOR_STORES);
}

/* Both sources TF32: for moves to 32 bits, and for values that have more bits than bf16. */
TT_INLINE void tt_math_wide_sources(void)
{
	tt_cfg_part(TT_AT_ALU_FORMAT_SPEC_REG0_SrcA,
		    TT_FIELD(ALU_FORMAT_SPEC_REG0_SrcA, 15) |
			    TT_FIELD(ALU_FORMAT_SPEC_REG1_SrcB, 15),
		    TT_FIELD(ALU_FORMAT_SPEC_REG0_SrcA, TT_TF32) |
			    TT_FIELD(ALU_FORMAT_SPEC_REG1_SrcB, TT_TF32));
	TT_STALL(TT_HOLD_MATH | TT_HOLD_SFPU, TT_FOR_STORES);
}

/* A half of Dst that the packers have emptied; and when it is full. */
#define TT_MATH_BEGIN()                                                                            \
	TT_I(OP_SEMWAIT(TT_SEM_FULL, TT_SEM_DST, TT_HOLD_MATH | TT_HOLD_SFPU | TT_HOLD_SYNC))
#define TT_MATH_END()                                                                              \
	do {                                                                                       \
		TT_STALL(TT_HOLD_SYNC, TT_FOR_MATH | TT_FOR_SFPU);                                 \
		TT_I(OP_SEMPOST(TT_SEM_DST));                                                      \
	} while (0)

/* Gives back SrcB, which has stayed for all tiles: where there were none, nothing has
 * waited for it to be handed over, and a release does not. */
#define TT_MATH_RELEASE_B()                                                                        \
	do {                                                                                       \
		TT_STALL(TT_HOLD_MATH, TT_FOR_SRCB);                                               \
		TT_I(OP_SETRWC(0xf, 0, 0, 0, 0, 2));                                               \
	} while (0)

/* A 32-bit constant to a register of the vector unit. */
#define TT_SFPU_CONSTANT(reg, bits)                                                                \
	TT_I(OP_SFPLOADI((bits) & 0xffff, 10, reg));                                               \
	TT_I(OP_SFPLOADI((bits) >> 16, 8, reg))

/* A parameter, fp32 or not, to a register. */
TT_INLINE void tt_sfpu_word(uint32_t reg, uint32_t bits)
{
	TT_PUSH(OP_SFPLOADI(bits & 0xffff, 10, reg));
	TT_PUSH(OP_SFPLOADI(bits >> 16, 8, reg));
}

/* to = a * b + c; the result is there one slot later (VectorUnit.md). */
#define TT_SFPU_MAD(to, a, b, c)                                                                   \
	TT_I(OP_SFPMAD(0, to, c, b, a));                                                           \
	TT_I(OP_SFPNOP())

/* Smaller to `low`, larger to `high` (mode 1), or the other way (mode 9). */
#define TT_SFPU_ORDER(mode, low, high)                                                             \
	TT_I(OP_SFPSWAP(mode, low, high));                                                         \
	TT_I(OP_SFPNOP())

/* Modifiers 4 to 7 for all instructions, and 7 with no step at all: how the
 * vector unit walks Dst, by INCRWC. */
TT_INLINE void tt_sfpu_begin(void)
{
	TT_MODIFIER(7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	TT_I(OP_SETC16(1, TT_AT_ADDR_MOD_SET_Base));
	TT_STALL(TT_HOLD_SFPU, TT_FOR_MATH);
}

TT_INLINE void tt_sfpu_end(void)
{
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_SET_Base));
	TT_I(OP_SETRWC(7, 0, 0, 0, 0, 0));
	TT_STALL(TT_HOLD_MATH, TT_FOR_SFPU);
}

/*
 * Tiles for an act: from `row` of Dst on, and where in them there are values to work
 * on, for all but the last tile and for the last.
 *
 * A vector is 4 pixels times 8 channels, the even or the odd ones, of a face: 16
 * pixels (rows of Dst) times 16 channels. The byte of each face, from the lowest on, says
 * how many vectors of it from its first row on are worked on; with TT_ACT_EVEN they
 * are those of even channels alone. Of a whole tile they all count to face 0.
 */
enum { TT_ACT_COUNT = 0x3f, TT_ACT_EVEN = 0x40, TT_ACT_WHOLE = 32 };

typedef struct TtActTiles {
	uint32_t row, tiles, faces, last;
} TtActTiles;

typedef void TtAct(const TtTiles *p, const TtActTiles *t);

/* The op's, or 0. A kernel of TT-Metal has it by name: TT_ACT. */
#ifndef TT_METAL
TT_INLINE TtAct *tt_op_act(void)
{
	return (TtAct *)(uintptr_t)tt_running()->act;
}
#elif defined(TT_ACT)
static TtAct TT_ACT;
TT_INLINE TtAct *tt_op_act(void)
{
	return TT_ACT;
}
#else
TT_INLINE TtAct *tt_op_act(void)
{
	return 0;
}
#endif

/* Of a tile with so many channels and pixels, one at least. */
TT_INLINE uint32_t tt_act_faces(uint32_t channels, uint32_t pixels)
{
	const uint32_t fours = (tt_least(pixels, TT_TILE) + 3) / 4;
	const uint32_t first = tt_least(fours, 4), plane = first | (fours - first) << 16;
	const uint32_t even = plane | TT_ACT_EVEN * 0x10001u;
	if (channels > 17 && fours == 8)
		return TT_ACT_WHOLE;
	if (channels > 16)
		return 2 * plane | (channels > 17 ? 2 * plane : even) << 8;
	return channels > 1 ? 2 * plane : even;
}

/* Channels that an op with an act makes, of the pair of planes `pair` and on. */
TT_INLINE uint32_t tt_act_channels(const TtTiles *p, uint32_t pair)
{
	const uint32_t planes = p->out_planes - 2 * pair;
	return p->lanes ? 16 * (planes - 1) + p->lanes : 16 * planes;
}

/*
 * The op's activation, of `tiles` tiles from `row` of Dst on, which have the first 32
 * of `channels` channels or stand side by side (`across` 1), and `pixels` pixels, 32
 * or fewer; false if it has none. Math routines call it for the tiles of a half
 * before TT_MATH_END. What no channel or pixel stands for is left as math has made it.
 *
 * An act begins with tt_act_begin and ends with tt_sfpu_end, so it leaves behind:
 * counters at 0, modifiers 0 to 3 in use. Modifiers 6 and 7, the registers of the
 * vector unit, and where math works in Dst (tt_math_tile) are its own: who needs them
 * sets them again. It keeps modifiers 0 to 5, the replay buffer and the MOP.
 */
TT_INLINE bool tt_act(const TtTiles *p, uint32_t row, uint32_t tiles, uint32_t channels,
		      uint32_t across, uint32_t pixels)
{
	TtAct *const act = tt_op_act();
	TtActTiles t = { row, tiles, 0, 0 };
	if (!act)
		return false;
	if (across)
		t.tiles = tt_least(tiles, (channels + TT_TILE - 1) / TT_TILE);
	t.faces = tt_act_faces(channels, pixels);
	t.last = across ? tt_act_faces(channels - TT_TILE * (t.tiles - 1), pixels) : t.faces;
	act(p, &t);
	return true;
}

#endif
