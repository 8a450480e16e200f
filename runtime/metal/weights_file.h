/*
 * NAME.weights: all weights of a net as the buffer on the device has them.
 *
 *     WeightsHead
 *     WeightsEntry[entries]     where each image starts
 *     names, a zero byte behind each
 *     zeros up to WEIGHTS_ALIGN
 *     pages, one behind the other: page p lies in bank p % banks
 *
 * An image starts in bank 0. Little-endian; the file is mapped and sent as it is.
 */
#ifndef RUNTIME_METAL_WEIGHTS_FILE_H
#define RUNTIME_METAL_WEIGHTS_FILE_H

#include <stdint.h>

enum { WEIGHTS_VERSION = 1, WEIGHTS_ALIGN = 64 };

#define WEIGHTS_MAGIC                                                                              \
	{                                                                                          \
		't', 'e', 's', 's', 'e', 'r', 'a', 'w'                                             \
	}

typedef struct WeightsHead {
	char magic[8];
	uint32_t version, entries, page_bytes, banks;
	uint64_t at, bytes; /* the pages, in the file */
} WeightsHead;

typedef struct WeightsEntry {
	uint64_t name; /* in the file */
	uint64_t at;   /* of the pages, a multiple of page_bytes * banks */
} WeightsEntry;

#endif
