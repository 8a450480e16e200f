/*
 * The page of a mix: which input pixels each output pixel is made of, and with
 * which weights.
 *
 *     out[pixel, channel] = sum of W[pixel, input pixel] * in[input pixel, channel]
 *
 * where W is a map of columns times a map of rows. From the start of the page:
 *
 *     MixCol [32-column tile of the output][column terms]
 *     MixRow [row of the whole output][row terms]
 *     W tile [column matrix][row coefficient], 2048 bytes each, on 32 bytes
 *
 * Where columns stay where they are, a row of 16 equal values, 32 bytes, stands
 * for a tile: such a mix multiplies value by value.
 *
 * All tiles have as many terms: one that has fewer repeats a run with a matrix
 * of zeros, a row that has fewer repeats an input row with a coefficient of 0. A
 * W tile is bf16, [input pixel / 16][output pixel][input pixel % 16].
 *
 * The planner sizes by this, mix_pack fills it and kernels walk by it: plain C on
 * stdint alone.
 */
#ifndef IR_MIX_TABLE_H
#define IR_MIX_TABLE_H

#include <stdint.h>

enum {
	MIX_RUN = 32, /* pixels, of the input and of the output */
	MIX_TILE_BYTES = 2 * MIX_RUN * MIX_RUN,
	MIX_ROW_BYTES = 32,
};

/* A run of input columns. */
typedef struct MixCol {
	uint16_t start;  /* column of the input, or of one of its phases */
	uint16_t pixels; /* to read, 1 to 32: all of them in the row */
	uint16_t phase;
	uint16_t tile; /* its matrix times the first row coefficient */
} MixCol;

typedef struct MixRow {
	uint16_t row;  /* of the input */
	uint16_t coef; /* tiles from MixCol.tile on */
} MixRow;

#endif
