/*
 * The edges of a net: rows of host tensors in DRAM to planes and back.
 *
 * One RISC-V moves rows (edge_move.h), the others have a part of the columns each
 * and turn them into pixels (here), or pixels into rows. A turn is a row of up to 16
 * channels, those of a plane. Rows wait for their turn in TT_EDGE_SLOTS slots of the
 * scratch, one behind the other, round and round; who is how far stands in the words
 * at `turns`.
 *
 *     in:   who moves reads turn t to its slot when all parts are through with
 *           t - TT_EDGE_SLOTS; a part waits until it is there
 *     out:  a part fills the slot of turn t when t - TT_EDGE_SLOTS has been written;
 *           who moves waits until all parts have
 */
#ifndef RUNTIME_DEVICE_EDGE_H
#define RUNTIME_DEVICE_EDGE_H

#include "runtime/device/edge_pixels.h"

/* Words at `turns`: who moves, then part by part. */
enum { TT_EDGE_MOVES, TT_EDGE_PART };

/* Channels of the tensor in plane i. */
static inline uint32_t tt_edge_channels(const TtEdge *p, uint32_t i)
{
	const uint32_t first = p->channel + 16 * i;
	return p->channels <= first ? 0 : tt_least(16, p->channels - first);
}

/* Number of the first pixel of a row in the buffer of planes. */
static inline uint32_t tt_edge_pixel(const TtEdge *p, uint32_t plane, uint32_t row)
{
	return ((p->first + plane) * p->buffer_height + p->y + row) * p->pitch + p->x;
}

static inline uint32_t tt_edge_slot(const TtEdge *p, uint32_t turn)
{
	return p->scratch + turn % TT_EDGE_SLOTS * tt_least(16, p->channels) * p->page_bytes;
}

/* Turns that `who` is through with in this op, which its number stands before: the
 * words only grow. */
static inline void tt_edge_tell(const TtEdge *p, uint32_t who, uint32_t turns)
{
	tt_l1_set(p->turns + 4 * who, tt_op_number() << 16 | turns);
}

static inline void tt_edge_await(const TtEdge *p, uint32_t who, uint32_t turns)
{
	tt_l1_reach(p->turns + 4 * who, tt_op_number() << 16 | turns);
}

/* Columns of a part, and how many there are. */
typedef struct TtColumns {
	uint32_t first, count;
} TtColumns;

TT_INLINE TtColumns tt_edge_columns(const TtEdge *p, uint32_t part, uint32_t parts)
{
	const uint32_t all = parts * TT_EDGE_TURN;
	const uint32_t share = (p->width + all - 1) / all * TT_EDGE_TURN;
	TtColumns c = { part * share, 0 };
	if (c.first < p->width)
		c.count = tt_least(share, p->width - c.first);
	return c;
}

/* Rows of up to 16 channels to pixels. Words without a channel are 0 already. */
TT_INLINE void tt_edge_pixels(const TtEdge *p, TtColumns at, uint32_t from, uint32_t channels,
			      uint32_t to)
{
	const uint32_t page = p->page_bytes;
	from += 2 * at.first;
	to += TT_PIXEL_BYTES * at.first;
	for (uint32_t c = 0; c < channels; c += 2, from += 2 * page, to += 4) {
		if (c + 1 < channels)
			tt_edge_words_in(from, from + page, 1, to, at.count);
		else
			tt_edge_words_in(from, from, 0, to, at.count);
	}
}

TT_ROUTINE void tt_edge_in(const TtEdge *p, uint32_t part, uint32_t parts)
{
	const TtColumns at = tt_edge_columns(p, part, parts);
	uint32_t turn = 0;
	for (uint32_t row = 0; row < p->rows; row++) {
		for (uint32_t plane = 0; plane < p->planes; plane++) {
			const uint32_t slot = tt_edge_slot(p, turn);
			tt_edge_await(p, TT_EDGE_MOVES, ++turn);
			tt_edge_pixels(p, at, slot, tt_edge_channels(p, plane),
				       p->at + TT_PIXEL_BYTES * tt_edge_pixel(p, plane, row));
			tt_edge_tell(p, TT_EDGE_PART + part, turn);
		}
	}
}

/* Pixels of a row of a plane to rows of its channels. */
TT_INLINE void tt_edge_rows(const TtEdge *p, TtColumns at, uint32_t type, uint32_t pixel,
			    uint32_t channels, uint32_t to)
{
	const uint32_t page = p->page_bytes;
	const uint32_t all = p->total * p->buffer_height * p->pitch;
	pixel += at.first;
	to += (type == 4 ? 4 : 2) * at.first;
	uint32_t from = p->at + (type == 4 ? 2 * TT_PIXEL_BYTES * pixel
				 : type == 1 ? TT_PIXEL_BYTES * pixel : all + 16 * pixel);
	if (type == 4) {
		for (uint32_t c = 0; c < channels; c++, from += 4, to += page)
			tt_edge_fp32_out(from, to, at.count);
		return;
	}
	if (type == 2) {
		for (uint32_t c = 0; c < channels; c++, from++, to += page)
			tt_edge_bytes_out(p->at + pixel, from, to, at.count);
		return;
	}
	for (uint32_t c = 0; c < channels; c += 2, from += 4, to += 2 * page) {
		if (c + 1 < channels)
			tt_edge_words_out(from, to, to + page, 1, at.count);
		else
			tt_edge_words_out(from, to, to, 0, at.count);
	}
}

TT_ROUTINE void tt_edge_out(const TtEdge *p, uint32_t type, uint32_t part, uint32_t parts)
{
	const TtColumns at = tt_edge_columns(p, part, parts);
	uint32_t turn = 0;
	for (uint32_t row = 0; row < p->rows; row++) {
		for (uint32_t plane = 0; plane < p->planes; plane++) {
			const uint32_t channels = tt_edge_channels(p, plane);
			if (!channels)
				break;
			if (turn >= TT_EDGE_SLOTS)
				tt_edge_await(p, TT_EDGE_MOVES, turn + 1 - TT_EDGE_SLOTS);
			tt_edge_rows(p, at, type, tt_edge_pixel(p, plane, row), channels,
				     tt_edge_slot(p, turn));
			tt_edge_tell(p, TT_EDGE_PART + part, ++turn);
		}
	}
}

#endif
