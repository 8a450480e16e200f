/*
 * One or two pixels of a tile to planes in L1, and nothing else: TRISC2.
 *
 * What cores leave side by side in one row of a buffer that others push to: store
 * would write zeros where their pixels are. Packers 0 and 1 take 16 or 32 values
 * from row 0 and row 16 of the tile, the first plane and the second; the second of
 * an odd last pair is left out. bf16 only. Stalls as in store.h.
 */
#ifndef RUNTIME_DEVICE_STORE_PIXELS_H
#define RUNTIME_DEVICE_STORE_PIXELS_H

#include "runtime/device/store.h"

TT_ROUTINE void tt_store_pixels(const TtTiles *p, uint32_t pixels)
{
	const uint32_t plane = p->out_height * p->out_pitch * 2;
	uint32_t half = 0;
	tt_pack_config(TT_BF16, 0, 256, 1024);
	tt_pack_places(plane, 2 * plane, 3 * plane, 16, 32);
	TT_I(OP_SETC16(TT_FIELD(ADDR_MOD_PACK_SEC1_YsrcClear, 1) |
			       TT_FIELD(ADDR_MOD_PACK_SEC1_YdstClear, 1),
		       TT_AT_ADDR_MOD_PACK_SEC1_YsrcIncr));
	TT_I(OP_SETC16(TT_FIELD(ADDR_MOD_PACK_SEC2_YsrcClear, 1),
		       TT_AT_ADDR_MOD_PACK_SEC2_YsrcIncr));
	if (pixels == 1)
		TT_I(OP_SETADCXX(0, 15, 4));
	else
		TT_I(OP_SETADCXX(0, 31, 4));
	tt_pack_sections();
	for (uint32_t i = 0; i < p->rows * p->out_planes; i += 2, half ^= TT_HALF_TILES) {
		TT_PACK_BEGIN();
		tt_pack_to(p, TT_BF16, tt_out_pixel(p, i, 0, 0), 0, 0);
		TT_PUSH(OP_SETADC(half, 3, 0, 4));
		if (i + 1 < p->out_planes) {
			TT_PACK_TILE(3);
		} else {
			TT_PACK_TILE(1);
		}
		TT_PACK_END();
	}
}

#endif
