// Uses all three threads of the coprocessor in another way than our routines do, and
// leaves behind what kernels of TT-Metal may: other formats, strides, counters,
// modifiers, masks, recorded instructions, vector registers, Dst full of something; the bit
// that makes modifiers 0 to 3 those from 4 on; and one page more pushed than was taken out.
#include "api/compute/cb_api.h"
#include "api/compute/common.h"

#ifdef TRISC_MATH

static void fill_vectors()
{
	for (uint32_t i = 0; i < 4; i++)
		TT_PUSH(OP_SFPLOADI(0x4048 + i, 0, i));
	TT_I(OP_SFPCONFIG(0, 12, 0));
	for (uint32_t at = 0; at < 512; at += 4)
		TT_PUSH(OP_SFPSTORE(at, 3, 0, 1));
	TT_I(OP_SFPSETCC(0, 0, 0, 0));
}

// Modifier 3 is 7 from then on, and so are all: what an odd number of them leaves.
static void turn_modifiers()
{
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_DST_SEC3_DestIncr));
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_BIAS_SEC7_BiasIncr));
	TT_I(OP_SETC16(1, TT_AT_ADDR_MOD_BIAS_SEC3_BiasIncr));
	TT_I(OP_SFPSTORE(0, 3, 0, 1));
}

#endif

void kernel_main()
{
	cb_reserve_back(0, 1);
	cb_push_back(0, 1);
	cb_wait_front(0, 1);
#ifdef TRISC_UNPACK
	for (uint32_t g = 0; g < 64; g++)
		if (g < 4 || g > 20)
			TT_GPR(g) = 0xdead0000 + g;
	for (uint32_t i = 0; i < 9; i++)
		TT_REG(0xffb80000u + 4 * i) = i;
	TT_I(OP_SETADCXY(0x7, 3, 5, 1, 2, 0xf));
	TT_I(OP_SETADCZW(0x7, 1, 2, 3, 1, 0xf));
	TT_CFG(TT_AT_THCON_SEC0_REG0_TileDescriptor) = 0x01000015;
	TT_CFG(TT_AT_THCON_SEC1_REG0_TileDescriptor) = 0x00800025;
	TT_CFG(TT_AT_UNP0_ADDR_CTRL_XY_REG_1_Xstride) = 0x00400002;
	TT_CFG(TT_AT_THCON_SEC0_REG7_Offset_address) = 3;
#endif
#ifdef TRISC_MATH
	for (uint32_t g = 1; g < 64; g++)
		TT_GPR(g) = 0xbeef0000 + g;
	TT_I(OP_SETC16(0x1ff, TT_AT_ADDR_MOD_AB_SEC0_SrcAIncr));
	TT_I(OP_SETC16(0x3ff, TT_AT_ADDR_MOD_DST_SEC0_DestIncr));
	TT_I(OP_SETC16(0x7, TT_AT_ADDR_MOD_BIAS_SEC0_BiasIncr));
	TT_I(OP_SETRWC(0, 3, 5, 7, 0, 0));
	fill_vectors();
	turn_modifiers();
#endif
#ifdef TRISC_PACK
	for (uint32_t g = 1; g < 64; g++)
		TT_GPR(g) = 0xcafe0000 + g;
	TT_I(OP_SETADCXY(0x4, 1, 2, 3, 1, 0xf));
	TT_CFG(TT_AT_PCK_EDGE_OFFSET_SEC1_mask) = 0x0ff0;
#endif
}
