/*
 * Sum, difference or product of two tensors, unpack side: TRISC0.
 *
 * Layout. Piece 0 is operand A, as large as the result, and goes to SrcA; piece 1
 * is operand B, may have one channel, one column or one row for all, and goes to
 * SrcB (operand.h). Each unpacker has its own format, so the operands may have
 * different types. Where A is the one to be spread: pair_unpack.h.
 *
 * No circular buffer, nothing stays in SrcA or SrcB from tile to tile.
 * Stalls: TT_FOR_STORES after configuration.
 *
 * Cycles a tile, bf16: 2048 bytes each; both unpackers at once get 32 bytes a
 * cycle each (UNPACR_Regular.md), so 64, or 32 where B is one pixel. Math takes 8
 * (32 for a product), the packers 64.
 */
#ifndef RUNTIME_DEVICE_BINARY_UNPACK_H
#define RUNTIME_DEVICE_BINARY_UNPACK_H

#include "runtime/device/operand.h"

TT_ROUTINE void tt_binary_unpack(const TtTiles *p, uint32_t a_type, uint32_t b_type)
{
	tt_unpack_config(tt_format(a_type), tt_format(b_type));
	tt_unpack_a_from(p, 0, tt_format(a_type));
	tt_unpack_b_from(p, 1, tt_format(b_type));
	TT_STALL(TT_HOLD_UNPACK, TT_FOR_STORES);
	for (uint32_t plane = 0; plane < p->out_planes; plane += 2) {
		for (uint32_t i = 0; i <= p->more_images; i++) {
			for (uint32_t x = 0; x < p->cols; x += TT_TILE) {
				for (uint32_t y = 0; y < p->rows; y++) {
					tt_runs_to_a(tt_operand(p, 0, i, plane, x, y));
					tt_runs_to_b(tt_operand(p, 1, i, plane, x, y), 0);
				}
			}
		}
	}
}

#endif
