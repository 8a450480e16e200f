/*
 * Rows of Dst as the matrix and vector units read and write them: 16 values of
 * 16 bits, or of 32 bits that take two rows (Dst.md).
 *
 * Values stand in natural bit order. Silicon stores the upper 16 bits of a
 * value as sign, mantissa, exponent; the few modes that move those bits without
 * a format go through dst_raw and dst_natural, which are bijections.
 */
#ifndef RUNTIME_EMU_DST_H
#define RUNTIME_EMU_DST_H

#include <string.h>

#include "runtime/emu/matrix.h"
#include "runtime/emu/tensix.h"

static inline uint16_t dst_raw(uint16_t natural)
{
	return (uint16_t)((natural & 0x8000) | (natural & 0x7f) << 8 | (natural >> 7 & 0xff));
}

static inline uint16_t dst_natural(uint16_t raw)
{
	return (uint16_t)((raw & 0x8000) | (raw & 0xff) << 7 | (raw >> 8 & 0x7f));
}

static inline uint32_t dst_get32(const Tensix *t, uint32_t row, uint32_t column)
{
	uint32_t r = dst32_row(row);

	if (!t->dst_valid[r])
		return 0;
	return (uint32_t)t->dst[r][column] << 16 | t->dst[r + DST32_LOW][column];
}

static inline uint16_t dst_get16(const Tensix *t, uint32_t row, uint32_t column)
{
	return t->dst_valid[row] ? t->dst[row][column] : 0;
}

/* `rows` rows from `row` on, as an accumulator in place: what was never written
 * becomes zero. */
static inline MatrixResult dst_accumulator(Tensix *t, uint32_t row, uint32_t rows, bool wide)
{
	uint32_t r = wide ? dst32_row(row) : row;
	MatrixResult d = { &t->dst[r], wide ? &t->dst[r + DST32_LOW] : NULL };

	for (uint32_t i = 0; i < rows; i++) {
		if (t->dst_valid[r + i])
			continue;
		memset(d.high[i], 0, sizeof d.high[i]);
		if (wide)
			memset(d.low[i], 0, sizeof d.low[i]);
		t->dst_valid[r + i] = true;
	}
	return d;
}

#endif
