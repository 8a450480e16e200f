/* Our own mirror: a circular buffer as one RISC-V sees it. */
#ifndef TESTS_METAL_INCLUDE_INTERNAL_CIRCULAR_BUFFER_INTERFACE_H
#define TESTS_METAL_INCLUDE_INTERNAL_CIRCULAR_BUFFER_INTERFACE_H

#include <stdint.h>

struct LocalCBInterface {
	uint32_t fifo_size;
	uint32_t fifo_limit;
	uint32_t fifo_page_size;
	uint32_t fifo_num_pages;
	uint32_t fifo_rd_ptr;
	uint32_t fifo_wr_ptr;
	union {
		uint32_t tiles_acked_received_init;
		struct {
			uint16_t tiles_acked;
			uint16_t tiles_received;
		};
	};
	uint32_t fifo_wr_tile_ptr;
};

#endif
