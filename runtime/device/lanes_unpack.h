/*
 * The largest channel of each pixel, or the sum of all, unpack side: TRISC0.
 *
 * SrcA gets 32 positions of two planes, rows 0 to 31 and 32 to 63, of all planes
 * of the piece one after the other; an odd last plane is read twice, so that both
 * halves hold pixels. SrcB is cleared once and stays. Positions are those of
 * window_unpack with one tap; stalls as there.
 */
#ifndef RUNTIME_DEVICE_LANES_UNPACK_H
#define RUNTIME_DEVICE_LANES_UNPACK_H

#include "runtime/device/window_unpack.h"

TT_ROUTINE void tt_lanes_unpack(const TtTiles *p, uint32_t in_type)
{
	const uint32_t end = p->in_first[0] + p->in_planes[0];
	tt_window_unpack_config(p, tt_format(in_type), 0);
	for (uint32_t x = 0; x < p->cols; x += TT_TILE) {
		for (uint32_t y = 0; y < p->rows; y++) {
			TtRun t = { p->in_x[0] + x, p->in_y[0] + y, p->in_first[0], 0 };
			for (; t.plane < end; t.plane += 2) {
				t.two = t.plane + 1 < end;
				tt_window_whole(t, tt_least(p->cols - x, TT_TILE));
			}
		}
	}
}

#endif
