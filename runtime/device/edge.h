/*
 * The edges of a net: rows of host tensors in DRAM to planes and back, on BRISC
 * and NCRISC; and copies within L1.
 *
 * A row of 16 channels is read to one half of the scratch while the other half is
 * converted, or converted to one half while the other is written.
 */
#ifndef RUNTIME_DEVICE_EDGE_H
#define RUNTIME_DEVICE_EDGE_H

#include "runtime/device/edge_types.h"

/* The row of channel c that is `row` rows down, as a page in DRAM. */
static inline uint32_t tt_edge_page(const TtEdge *p, uint32_t c, uint32_t row)
{
	return (p->batch * p->channels + c) * p->height + p->row + row;
}

static inline uint32_t tt_edge_at(const TtEdge *p, uint32_t page)
{
	const uint32_t slot = (tt_local()->run - 1) & 1;
	return tt_dram_at(page % TT_DRAM_BANKS,
			  p->base + slot * p->slot_bytes + page / TT_DRAM_BANKS * p->page_bytes);
}

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

static inline uint32_t tt_edge_scratch(const TtEdge *p, uint32_t part, uint32_t turn)
{
	return p->scratch + (2 * part + (turn & 1)) * 16 * p->page_bytes;
}

/* Of a row on its way: whole words. */
static inline uint32_t tt_edge_bytes(const TtEdge *p, uint32_t host)
{
	return (tt_host_bytes(host) * p->width + 3) & ~3u;
}

static inline void tt_edge_read(const TtEdge *p, uint32_t host, uint32_t plane, uint32_t row,
				uint32_t to)
{
	for (uint32_t c = 0; c < tt_edge_channels(p, plane); c++) {
		const uint32_t page = tt_edge_page(p, p->channel + 16 * plane + c, row);
		tt_noc_read(tt_dram_node(page % TT_DRAM_BANKS), tt_edge_at(p, page),
			    to + c * p->page_bytes, tt_edge_bytes(p, host));
	}
}

TT_INLINE void tt_edge_word(uint32_t host, uint32_t even, uint32_t odd, uint32_t to)
{
	const uint32_t low = tt_host_value(host, even);
	*tt_l1(to) = low | tt_host_value(host, odd) << 16;
}

/* A row of two channels to one word of each pixel, two pixels a turn. */
TT_INLINE void tt_edge_pair(uint32_t host, uint32_t even, uint32_t odd, uint32_t to, uint32_t width)
{
	const uint32_t size = tt_host_bytes(host), end = even + size * (width & ~1u);
	for (; even != end; even += 2 * size, odd += 2 * size, to += 64) {
		tt_edge_word(host, even, odd, to);
		tt_edge_word(host, even + size, odd + size, to + 32);
	}
	if (width & 1)
		tt_edge_word(host, even, odd, to);
}

TT_INLINE void tt_edge_single(uint32_t host, uint32_t even, uint32_t to, uint32_t width)
{
	const uint32_t size = tt_host_bytes(host);
	for (const uint32_t end = even + size * width; even != end; even += size, to += 32)
		*tt_l1(to) = tt_host_value(host, even);
}

static inline void tt_edge_nothing(uint32_t to, uint32_t width)
{
	for (const uint32_t end = to + 32 * width; to != end; to += 32)
		*tt_l1(to) = 0;
}

/* A row of up to 16 channels to pixels; the channels that are not there to 0. */
TT_INLINE void tt_edge_convert(const TtEdge *p, uint32_t host, uint32_t from, uint32_t channels,
			       uint32_t to)
{
	const uint32_t width = p->width, page = p->page_bytes;
	for (uint32_t c = 0; c < 16; c += 2, from += 2 * page, to += 4) {
		if (c + 1 < channels)
			tt_edge_pair(host, from, from + page, to, width);
		else if (c < channels)
			tt_edge_single(host, from, to, width);
		else
			tt_edge_nothing(to, width);
	}
}

TT_ROUTINE void tt_edge_in(const TtEdge *p, uint32_t host, uint32_t part, uint32_t parts)
{
	uint32_t turn = 0;
	if (part >= p->rows || !p->planes)
		return;
	tt_edge_read(p, host, 0, part, tt_edge_scratch(p, part, 0));
	for (uint32_t row = part; row < p->rows; row += parts) {
		for (uint32_t plane = 0; plane < p->planes; plane++, turn++) {
			const uint32_t last = plane + 1 == p->planes;
			const uint32_t next_row = last ? row + parts : row;
			noc_async_read_barrier();
			if (next_row < p->rows)
				tt_edge_read(p, host, last ? 0 : plane + 1, next_row,
					     tt_edge_scratch(p, part, turn + 1));
			tt_edge_convert(p, host, tt_edge_scratch(p, part, turn),
					tt_edge_channels(p, plane),
					p->at + 32 * tt_edge_pixel(p, plane, row));
		}
	}
	noc_async_read_barrier();
}

/* One value of bfp8_b: sign, 7 bits without a hidden one, the exponent of 16. */
static inline uint32_t tt_widen_bfp8(uint32_t byte, uint32_t exponent)
{
	uint32_t value = byte & 127;
	if (!value)
		return 0;
	while (!(value & 64) && exponent) {
		value <<= 1;
		exponent--;
	}
	return (byte & 128) << 24 | exponent << 23 | (value & 63) << 17;
}

TT_INLINE void tt_edge_widen_bf16(const TtEdge *p, uint32_t host, uint32_t pixel,
				  uint32_t channels, uint32_t to)
{
	const uint32_t size = tt_host_bytes(host), width = p->width, page = p->page_bytes;
	uint32_t from = p->at + 32 * pixel;
	for (uint32_t c = 0; c < channels; c += 2, from += 4, to += 2 * page) {
		const uint32_t end = to + size * width, odd = c + 1 < channels ? page : 0;
		uint32_t at = from;
		/* An odd channel that is not there is written first, over itself. */
		for (uint32_t x = to; x != end; x += size, at += 32) {
			const uint32_t two = *tt_l1(at);
			tt_host_set(host, x + odd, two & 0xffff0000u);
			tt_host_set(host, x, two << 16);
		}
	}
}

TT_INLINE void tt_edge_widen_bfp8(const TtEdge *p, uint32_t host, uint32_t pixel,
				  uint32_t channels, uint32_t to)
{
	const uint32_t all = p->total * p->buffer_height * p->pitch;
	for (uint32_t x = 0; x < p->width; x++, pixel++, to += tt_host_bytes(host)) {
		const uint32_t at = p->at + pixel, from = p->at + all + 16 * pixel;
		const uint32_t exponent = *tt_l1(at & ~3u) >> 8 * (at & 3) & 255;
		for (uint32_t c = 0; c < channels; c++)
			tt_host_set(host, to + c * p->page_bytes,
				    tt_widen_bfp8(*tt_l1(from + (c & ~3u)) >> 8 * (c & 3),
						  exponent));
	}
}

/* Rows of an odd number of half words end with a zero. */
TT_INLINE void tt_edge_end(const TtEdge *p, uint32_t host, uint32_t channels, uint32_t to)
{
	const uint32_t bytes = tt_host_bytes(host) * p->width;
	for (uint32_t c = 0; (bytes & 3) && c < channels; c++)
		tt_host_set(host, to + c * p->page_bytes + bytes, 0);
}

TT_ROUTINE void tt_edge_out(const TtEdge *p, uint32_t type, uint32_t host, uint32_t part,
			    uint32_t parts)
{
	uint32_t turn = 0;
	for (uint32_t row = part; row < p->rows; row += parts) {
		for (uint32_t plane = 0; plane < p->planes; plane++, turn++) {
			const uint32_t channels = tt_edge_channels(p, plane);
			const uint32_t scratch = tt_edge_scratch(p, part, turn);
			if (!channels)
				continue;
			if (type == 1)
				tt_edge_widen_bf16(p, host, tt_edge_pixel(p, plane, row), channels,
						   scratch);
			else
				tt_edge_widen_bfp8(p, host, tt_edge_pixel(p, plane, row), channels,
						   scratch);
			tt_edge_end(p, host, channels, scratch);
			/* The last word again, so that all are in L1. */
			const uint32_t end = scratch + (channels - 1) * p->page_bytes +
					     tt_edge_bytes(p, host) - 4;
			tt_l1_set(end, *tt_l1(end));
			noc_async_write_barrier(); /* the other half may be filled again */
			for (uint32_t c = 0; c < channels; c++) {
				const uint32_t page =
					tt_edge_page(p, p->channel + 16 * plane + c, row);
				tt_noc_write(scratch + c * p->page_bytes,
					     tt_dram_node(page % TT_DRAM_BANKS),
					     tt_edge_at(p, page), tt_edge_bytes(p, host));
			}
		}
	}
	noc_async_write_barrier();
}

TT_ROUTINE void tt_copy(const TtCopy *p)
{
	uint32_t from = p->from, to = p->to;
	for (uint32_t i = p->count; i; i--, from += p->from_step, to += p->to_step) {
		uint32_t done = 0;
		while (done < p->bytes) {
			const uint32_t n = tt_least(p->bytes - done, TT_MAX_PACKET);
			tt_noc_request(TT_NOC_WRITE_BUFFER, TT_CTRL_WRITE, from + done,
				       tt_local()->self, to + done, tt_local()->self, n);
			tt_local()->writes++;
			done += n;
		}
	}
	noc_async_write_barrier();
}

#endif
