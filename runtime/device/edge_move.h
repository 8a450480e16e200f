/*
 * Moves beside the parts of a host edge (edge.h), and copies within L1: on BRISC and
 * NCRISC, who have a NoC each.
 */
#ifndef RUNTIME_DEVICE_EDGE_MOVE_H
#define RUNTIME_DEVICE_EDGE_MOVE_H

#include "runtime/device/edge.h"

/* The row of channel c that is `row` rows down, as a page in DRAM. */
static inline uint32_t tt_edge_page(const TtEdge *p, uint32_t c, uint32_t row)
{
	return (p->batch * p->channels + c) * p->height + p->row + row;
}

/* Where it begins in its bank. */
static inline uint32_t tt_edge_at(const TtEdge *p, uint32_t page)
{
	const uint32_t slot = (tt_run() - 1) & 1;
	return p->base + slot * p->slot_bytes + page / TT_DRAM_BANKS * p->page_bytes;
}

/* Of a row on its way: whole words. */
static inline uint32_t tt_edge_bytes(const TtEdge *p, uint32_t fp32)
{
	return fp32 ? 4 * p->width : (2 * p->width + 3) & ~3u;
}

/* Until every part is through with so many turns. */
TT_INLINE void tt_edge_parts(const TtEdge *p, uint32_t parts, uint32_t turns)
{
	for (uint32_t part = 0; part < parts; part++)
		tt_edge_await(p, TT_EDGE_PART + part, turns);
}

TT_ROUTINE void tt_edge_read(const TtEdge *p, uint32_t parts)
{
	uint32_t turn = 0;
	for (uint32_t row = 0; row < p->rows; row++) {
		for (uint32_t plane = 0; plane < p->planes; plane++) {
			const uint32_t channels = tt_edge_channels(p, plane);
			const uint32_t to = tt_edge_slot(p, turn);
			if (turn >= TT_EDGE_SLOTS)
				tt_edge_parts(p, parts, turn + 1 - TT_EDGE_SLOTS);
			for (uint32_t c = 0; c < channels; c++) {
				const uint32_t page =
					tt_edge_page(p, p->channel + 16 * plane + c, row);
				tt_dram_read(page % TT_DRAM_BANKS, tt_edge_at(p, page),
					     to + c * p->page_bytes, tt_edge_bytes(p, 0));
			}
			if (channels < 15) /* the last words of each pixel */
				tt_noc_zeros(p->at + TT_PIXEL_BYTES * tt_edge_pixel(p, plane, row),
					     TT_PIXEL_BYTES * p->width);
			noc_async_write_barrier();
			noc_async_read_barrier();
			tt_edge_tell(p, TT_EDGE_MOVES, ++turn);
		}
	}
}

TT_ROUTINE void tt_edge_write(const TtEdge *p, uint32_t parts, uint32_t fp32)
{
	uint32_t turn = 0;
	for (uint32_t row = 0; row < p->rows; row++) {
		for (uint32_t plane = 0; plane < p->planes; plane++) {
			const uint32_t channels = tt_edge_channels(p, plane);
			const uint32_t from = tt_edge_slot(p, turn);
			if (!channels)
				break;
			tt_edge_parts(p, parts, turn + 1);
			noc_async_write_barrier();
			tt_edge_tell(p, TT_EDGE_MOVES, turn++);
			for (uint32_t c = 0; c < channels; c++) {
				const uint32_t page =
					tt_edge_page(p, p->channel + 16 * plane + c, row);
				tt_dram_write(from + c * p->page_bytes, page % TT_DRAM_BANKS,
					      tt_edge_at(p, page), tt_edge_bytes(p, fp32));
			}
		}
	}
	noc_async_write_barrier();
}

typedef enum TtEdgeWay { TT_EDGE_IN, TT_EDGE_OUT } TtEdgeWay;

/* Until all are through with their last turn, then as if none had begun: for kernels
 * that count ops from 0 each time. One RISC-V calls it behind its routine. */
static inline void tt_edge_close(const TtEdge *p, uint32_t parts, TtEdgeWay way)
{
	uint32_t planes = p->planes;
	while (way == TT_EDGE_OUT && planes && !tt_edge_channels(p, planes - 1))
		planes--;
	tt_edge_parts(p, parts, p->rows * planes); /* who moves is at its last turn by then */
	for (uint32_t who = 0; who < TT_EDGE_PART + parts; who++)
		tt_l1_set(p->turns + 4 * who, 0);
}

TT_ROUTINE void tt_copy(const TtCopy *p)
{
	uint32_t from = p->from, to = p->to;
	for (uint32_t i = p->count; i; i--, from += p->from_step, to += p->to_step)
		tt_noc_copy(from, to, p->bytes);
	noc_async_write_barrier();
}

#endif
