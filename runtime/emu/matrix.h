/*
 * Arithmetic of the matrix unit, as the vendor's simulator has it; the ISA
 * documentation (MVMUL.md, ELWADD.md, ELWMUL.md) gives an outline.
 *
 * Operands are words of SrcA and SrcB: sign, 8 bits of exponent, 10 of mantissa
 * in the upper 19 bits. A fidelity phase multiplies 5 bits of the mantissa of
 * SrcA (bit 0 of the phase: the upper or the lower ones) with 7 of SrcB (bit 1).
 *
 * An exact routine comes twice, portable and with AVX2, the product a third time with
 * AVX-512, and all give the same bits; callers take the best there is.
 */
#ifndef RUNTIME_EMU_MATRIX_H
#define RUNTIME_EMU_MATRIX_H

#include <stdbool.h>
#include <stdint.h>


/* One operand, 16 values a row, and the bits of a word its format keeps. */
typedef struct MatrixSource {
	const uint32_t (*rows)[16];
	uint32_t mask;
} MatrixSource;

/* Two factors of a product. */
typedef struct MatrixFactors {
	MatrixSource a, b;
} MatrixFactors;

/* What sums of products are scaled by, so that they need no shift later. */
enum { MATRIX_UNIT = 1 << 14 };

/* Where these routines leave a row to the portable one. */
enum {
	MATRIX_FAR = 127,             /* distances of exponents are cut off here, */
	MATRIX_SURE = MATRIX_FAR - 15, /* and sums of them certain up to here */
	MATRIX_HIGH_EXPONENT = 240,
};

/* 16 rows of SrcA as the AVX2 and AVX-512 products want them, by group of 8 products,
 * part of these, and half of 8 columns. Exponents are distances to `largest`, at most
 * 127, and 255 for a zero. */
typedef struct MatrixFace {
	uint8_t exponent[2][2][2][32]; /* four products of a column side by side */
	uint8_t mantissa[2][4][2][32]; /* pairs (8 * mantissa, 1) */
	int16_t weight[2][4][2][16];   /* MATRIX_UNIT, with the sign */
	int32_t largest[2][2][8];
} MatrixFace;

/* The same of 8 rows of SrcB, by row and group. */
typedef struct MatrixRows {
	uint8_t exponent[8][2][8];
	int16_t mantissa[8][2][8]; /* sign * mantissa, and sign in the upper byte */
	int32_t largest[8][2];
} MatrixRows;

/* What was worked out of the banks last, for each half of the mantissas; a bit
 * of `ready` for each part. */
typedef struct MatrixCache {
	MatrixFace a[2][4];
	MatrixRows b[2][8];
	struct {
		uint32_t bank, changes, mask;
		uint8_t ready[2];
	} of_a, of_b;
} MatrixCache;

/* Rows of Dst: lower halves are NULL for 16-bit values. */
typedef struct MatrixResult {
	uint16_t (*high)[16], (*low)[16];
} MatrixResult;

/* What a phase adds to the exponents of two factors. */
static inline int matrix_offset(uint32_t phase)
{
	return -127 - (phase & 1 ? 5 : 0) - (phase & 2 ? 7 : 0);
}

/* d += b x a over 16 products: `rows` rows of SrcB, one face of SrcA. */
void matrix_product_portable(MatrixResult d, MatrixSource a, MatrixSource b, int rows,
			     uint32_t phase);

/* Elementwise on 8 rows; `b` is read by row_step (1 or 0: its first row for
 * all) and column_step (likewise). */
typedef enum MatrixElement { MATRIX_ADD, MATRIX_SUB, MATRIX_MUL } MatrixElement;

typedef struct MatrixBroadcast {
	int row_step, column_step;
} MatrixBroadcast;

/* d = a op b, or d += a op b. */
void matrix_element_portable(MatrixResult d, MatrixSource a, MatrixSource b, MatrixElement op,
			     MatrixBroadcast how, bool accumulate, uint32_t phase);

/* Whether the routines below may be called. */
bool matrix_has_avx2(void);
void matrix_face_avx2(MatrixFace *f, MatrixSource a, uint32_t phase_bit);
void matrix_rows_avx2(MatrixRows *r, MatrixSource b, uint32_t phase_bit);

/* The product of what these have made; rows it leaves as they were, a bit each. */
typedef uint32_t MatrixProduct(MatrixResult d, const MatrixFace *fa, const MatrixRows *rb,
			       int rows, uint32_t phase);
MatrixProduct matrix_product_avx2;

void matrix_element_avx2(MatrixResult d, MatrixSource a, MatrixSource b, MatrixElement op,
			 MatrixBroadcast how, bool accumulate, uint32_t phase);

bool matrix_has_avx512(void);
MatrixProduct matrix_product_avx512;

/* The whole product: what `quick` leaves is done by the portable routine. */
void matrix_product_with(MatrixProduct *quick, MatrixResult d, const MatrixFace *fa,
			 const MatrixRows *rb, MatrixFactors f, int rows, uint32_t phase);

/* d += b x a for n pairs of factors one after the other, in plain fp32 with whole
 * mantissas: not what the unit does. `rows` is 4 or 8. */
void matrix_products_fast(MatrixResult d, const MatrixFactors *f, int n, int rows);

#endif
