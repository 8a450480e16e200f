#include "runtime/emu/matrix.h"

#include <stddef.h>

/* A signed number: value * 2^(exponent - bias), its unit 2^-23 like that of a
 * 24-bit mantissa. */
typedef struct Term {
	int32_t value;
	int exponent;
} Term;

/* Half up, whatever the sign. */
static int32_t shift_half_up(int32_t value, int by)
{
	if (by == 0)
		return value;
	return by < 31 ? (value + (1 << (by - 1))) >> by : 0;
}

/* 24 bits and a carry at most from a magnitude; `drop` bits more are rounded
 * away for a narrow Dst. The sum of -1 comes out of the leading zero counter as
 * if it had 28 bits. */
static uint32_t normalise(int32_t sum, int exponent, bool wide)
{
	uint32_t sign = sum < 0, magnitude = sign ? -(uint32_t)sum : (uint32_t)sum;
	int by = 8 - __builtin_clz(magnitude), drop = wide ? 0 : 16;
	uint32_t mantissa;

	if (sum == -1)
		by = 4;
	exponent += by;
	by += drop;
	if (by > 0)
		mantissa = (magnitude + (1u << (by - 1))) >> by << drop;
	else
		mantissa = magnitude << -by << drop;
	exponent += mantissa >> 24;
	if (exponent <= 0)
		return 0;
	if (exponent >= 255)
		return sign << 31 | 0x7f800000;
	return sign << 31 | (uint32_t)exponent << 23 | (mantissa & 0x7fffff);
}

/* Adds both terms to a value of Dst: all are aligned to the largest exponent,
 * and of a narrow Dst only 11 bits stay. */
static uint32_t accumulate(Term t0, Term t1, uint32_t dst, bool wide)
{
	int exponent = (int)(dst >> 23 & 255), largest = exponent;
	int32_t mantissa = exponent ? (int32_t)((dst & 0x7fffff) | 0x800000) : 0;
	int32_t sum;

	largest = t0.exponent > largest ? t0.exponent : largest;
	largest = t1.exponent > largest ? t1.exponent : largest;
	if (largest <= 0)
		return 0;
	t0.value = shift_half_up(t0.value, largest - t0.exponent);
	t1.value = shift_half_up(t1.value, largest - t1.exponent);
	mantissa = shift_half_up(mantissa, largest - exponent);
	if (!wide) {
		t0.value = (t0.value + 0x1000) & ~0x1fff;
		t1.value = (t1.value + 0x1000) & ~0x1fff;
		mantissa = (mantissa + 0x1000) & ~0x1fff;
	}
	sum = (dst >> 31 ? -mantissa : mantissa) + t0.value + t1.value;
	return sum ? normalise(sum, largest, wide) : 0;
}

static uint32_t result_get(MatrixResult d, int row, int column)
{
	return (uint32_t)d.high[row][column] << 16 | (d.low ? d.low[row][column] : 0);
}

static void result_put(MatrixResult d, int row, int column, uint32_t value)
{
	d.high[row][column] = (uint16_t)(value >> 16);
	if (d.low)
		d.low[row][column] = (uint16_t)value;
}

static int exponent_of(uint32_t word)
{
	return (int)(word >> 23 & 255);
}

/* 11 bits with the hidden one; of a phase, 5 of SrcA and 7 of SrcB. */
static int32_t mantissa_of(uint32_t word)
{
	return (int32_t)((word >> 13 & 0x3ff) | 0x400);
}

static int32_t product_of(uint32_t a, uint32_t b, uint32_t phase)
{
	int32_t ma = mantissa_of(a), mb = mantissa_of(b);

	ma = phase & 1 ? ma >> 1 & 31 : ma >> 6;
	mb = phase & 2 ? (mb & 15) << 3 : mb >> 4;
	return ma * mb;
}

/* Eight products of a column on a common exponent. Each is rounded half away
 * from zero. */
static Term group_sum(const uint32_t a[8], const uint32_t b[8], uint32_t phase)
{
	int exponent[8], largest = 0, offset = matrix_offset(phase);
	int32_t sum = 0;

	for (int k = 0; k < 8; k++) {
		exponent[k] = exponent_of(a[k]) && exponent_of(b[k])
			? exponent_of(a[k]) + exponent_of(b[k]) + offset
			: 0;
		largest = exponent[k] > largest ? exponent[k] : largest;
	}
	if (largest == 0)
		return (Term){ 0, 0 };
	for (int k = 0; k < 8; k++) {
		int32_t product;

		if (!exponent_of(a[k]) || !exponent_of(b[k]))
			continue;
		product = shift_half_up(product_of(a[k], b[k], phase), largest - exponent[k]);
		sum += (a[k] ^ b[k]) >> 31 ? -product : product;
	}
	return (Term){ sum * (1 << 13), largest };
}

void matrix_product_portable(MatrixResult d, MatrixSource a, MatrixSource b, int rows,
			     uint32_t phase)
{
	for (int column = 0; column < 16; column++) {
		uint32_t ac[16];

		for (int k = 0; k < 16; k++)
			ac[k] = a.rows[k][column] & a.mask;
		for (int row = 0; row < rows; row++) {
			uint32_t br[16];
			Term t0, t1;

			for (int k = 0; k < 16; k++)
				br[k] = b.rows[row][k] & b.mask;
			t0 = group_sum(ac, br, phase);
			t1 = group_sum(ac + 8, br + 8, phase);
			result_put(d, row, column,
				   accumulate(t0, t1, result_get(d, row, column), d.low != NULL));
		}
	}
}

void matrix_product_with(MatrixProduct *quick, MatrixResult d, const MatrixFace *fa,
			 const MatrixRows *rb, MatrixFactors f, int rows, uint32_t phase)
{
	for (uint32_t left = quick(d, fa, rb, rows, phase); left; left &= left - 1) {
		const int row = __builtin_ctz(left);
		const MatrixSource b = { f.b.rows + row, f.b.mask };
		const MatrixResult one = { d.high + row, d.low ? d.low + row : NULL };

		matrix_product_portable(one, f.a, b, 1, phase);
	}
}

/* The smaller operand is aligned to the larger one, half up on its magnitude.
 * Only a word that is all zeros lacks the hidden bit. */
static Term sum_of(uint32_t a, uint32_t b)
{
	uint32_t larger = (a & 0x7fffffff) < (b & 0x7fffffff) ? b : a, smaller = a ^ b ^ larger;
	int32_t ml = larger ? mantissa_of(larger) : 0, ms = smaller ? mantissa_of(smaller) : 0;
	int32_t sum;

	ms = shift_half_up(ms, exponent_of(larger) - exponent_of(smaller));
	sum = (a ^ b) >> 31 ? ml - ms : ml + ms;
	return (Term){ (larger >> 31 ? -sum : sum) * (1 << 13), exponent_of(larger) };
}

static Term scaled(uint32_t a, uint32_t b, uint32_t phase)
{
	int exponent = exponent_of(a) + exponent_of(b) + matrix_offset(phase);
	int32_t product = product_of(a, b, phase) * (1 << 13);

	if (exponent <= 0)
		return (Term){ 0, 0 };
	return (Term){ (a ^ b) >> 31 ? -product : product, exponent };
}

void matrix_element_portable(MatrixResult d, MatrixSource a, MatrixSource b, MatrixElement op,
			     MatrixBroadcast how, bool onto, uint32_t phase)
{
	for (int row = 0; row < 8; row++) {
		for (int column = 0; column < 16; column++) {
			uint32_t va = a.rows[row][column] & a.mask;
			uint32_t vb = b.rows[row * how.row_step][column * how.column_step];
			uint32_t dst = onto ? result_get(d, row, column) : 0;
			bool zero_a = !exponent_of(va), zero_b = !exponent_of(vb);
			Term t;

			vb = (op == MATRIX_SUB ? vb ^ 0x80000000 : vb) & b.mask;
			if (op != MATRIX_MUL)
				t = sum_of(zero_a ? 0 : va, zero_b ? 0 : vb);
			else
				t = zero_a || zero_b ? (Term){ 0, 0 } : scaled(va, vb, phase);
			result_put(d, row, column,
				   accumulate(t, (Term){ 0, 0 }, dst, d.low != NULL));
		}
	}
}
