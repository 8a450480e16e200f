/*
 * The exact product with AVX-512, 16 columns at a time. How it works is told in
 * matrix_avx2.c, which also makes the parts of the operands; what is done otherwise:
 * powers of two come out of shifts, and the highest bit of a sum out of vplzcntd.
 */
#include "runtime/emu/matrix.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq")))
#define INLINE AVX512 __attribute__((always_inline)) static inline

INLINE __m512i load(const void *p)
{
	return _mm512_loadu_si512(p);
}
INLINE __m512i all(int v)
{
	return _mm512_set1_epi32(v);
}

/* Four distances, four mantissas of SrcB, for all columns. */
INLINE __m512i four_bytes(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof v);
	return _mm512_set1_epi32(v);
}
INLINE __m512i four_words(const int16_t *p)
{
	int64_t v;

	memcpy(&v, p, sizeof v);
	return _mm512_set1_epi64(v);
}

/* Sums of eight products of each column, and by how much their exponent is below the
 * largest of SrcA plus the largest of SrcB: in each byte of `below`. */
INLINE __m512i group_sums(const MatrixFace *f, const MatrixRows *r, int row, int group,
			  __m512i *below)
{
	const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi16(1 << 12);
	__m512i distance[2], least, sums[2];
	__m512 s0, s1;

	for (int quad = 0; quad < 2; quad++)
		distance[quad] = _mm512_adds_epu8(load(f->exponent[group][quad]),
						  four_bytes(&r->exponent[row][group][quad * 4]));
	least = _mm512_min_epu8(distance[0], distance[1]);
	least = _mm512_min_epu8(least, _mm512_rol_epi32(least, 16));
	least = _mm512_min_epu8(least, _mm512_rol_epi32(least, 8));
	*below = least;
	for (int quad = 0; quad < 2; quad++) {
		const __m512i of_b = four_words(&r->mantissa[row][group][quad * 4]);
		const __m512i by = _mm512_sub_epi8(distance[quad], least);
		const __m512i power[2] = {
			_mm512_srlv_epi16(one, _mm512_unpacklo_epi8(by, zero)),
			_mm512_srlv_epi16(one, _mm512_unpackhi_epi8(by, zero)),
		};

		for (int part = 0; part < 2; part++) {
			const int at = quad * 2 + part;
			__m512i p = _mm512_maddubs_epi16(load(f->mantissa[group][at]), of_b);
			__m512i s = _mm512_madd_epi16(_mm512_mulhrs_epi16(p, power[part]),
						      load(f->weight[group][at]));

			sums[part] = quad ? _mm512_add_epi32(sums[part], s) : s;
		}
	}
	s0 = _mm512_castsi512_ps(sums[0]);
	s1 = _mm512_castsi512_ps(sums[1]);
	return _mm512_add_epi32(_mm512_castps_si512(_mm512_shuffle_ps(s0, s1, 0x88)),
				_mm512_castps_si512(_mm512_shuffle_ps(s0, s1, 0xdd)));
}

/* v / 2 shifted right, half up; nothing stays of what is shifted far. */
INLINE __m512i shift_half_up(__m512i v, __m512i by)
{
	v = _mm512_add_epi32(_mm512_srav_epi32(v, by), all(1));
	return _mm512_srai_epi32(v, 1);
}

INLINE __m512i round_narrow(__m512i v)
{
	return _mm512_andnot_si512(all(0x1fff), _mm512_add_epi32(v, all(0x1000)));
}

/* Doubled sums of two groups of products, and their exponents. */
typedef struct Terms {
	__m512i v[2], e[2];
} Terms;

/* The same as in matrix_exact.c; columns that are odd are added to the mask. */
INLINE __m512i accumulate(Terms t, __m512i dst, bool wide, __mmask16 *odd)
{
	enum { AND_OR = 0xea, OR_AND = 0xf8 }; /* a & b | c, a | b & c */
	const __m512i zero = _mm512_setzero_si512();
	const __m512i doubled = _mm512_slli_epi32(dst, 1), ed = _mm512_srli_epi32(doubled, 24);
	__m512i e = _mm512_max_epi32(_mm512_max_epi32(t.e[0], t.e[1]), ed);
	__m512i man, sum, magnitude, zeros, packed;
	__mmask16 keep;

	*odd |= _mm512_cmpgt_epi32_mask(e, all(MATRIX_HIGH_EXPONENT));
	man = _mm512_maskz_ternarylogic_epi32(_mm512_test_epi32_mask(ed, ed), doubled,
					      all(0xffffff), all(0x1000000), AND_OR);
	man = shift_half_up(man, _mm512_sub_epi32(e, ed));
	for (int group = 0; group < 2; group++)
		t.v[group] = shift_half_up(t.v[group], _mm512_sub_epi32(e, t.e[group]));
	if (!wide) {
		man = round_narrow(man);
		t.v[0] = round_narrow(t.v[0]);
		t.v[1] = round_narrow(t.v[1]);
	}
	man = _mm512_mask_sub_epi32(man, _mm512_movepi32_mask(dst), zero, man);
	sum = _mm512_add_epi32(man, _mm512_add_epi32(t.v[0], t.v[1]));
	*odd |= _mm512_cmpeq_epi32_mask(sum, all(-1));
	magnitude = _mm512_abs_epi32(sum);

	/* The highest bit to bit 30, rounded there, and down to bit 23. */
	zeros = _mm512_lzcnt_epi32(magnitude);
	man = _mm512_sllv_epi32(magnitude, _mm512_sub_epi32(zeros, all(1)));
	man = _mm512_add_epi32(man, all(wide ? 0x40 : 0x400000));
	if (!wide)
		man = _mm512_andnot_si512(all(0x7fffff), man);
	e = _mm512_sub_epi32(_mm512_add_epi32(e, all(31 - 23 - 1)), zeros);
	packed = _mm512_add_epi32(_mm512_slli_epi32(e, 23), _mm512_srli_epi32(man, 7));
	keep = _mm512_mask_test_epi32_mask(_mm512_cmpgt_epi32_mask(packed, all(0x7fffff)), sum,
					   sum);
	return _mm512_maskz_ternarylogic_epi32(keep, packed, sum, all((int)0x80000000), OR_AND);
}

INLINE __m512i result_load(MatrixResult d, int row, bool wide)
{
	const __m256i *high = (const __m256i *)d.high[row];
	__m512i v = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(high)), 16);

	if (wide) {
		const __m256i *low = (const __m256i *)d.low[row];

		v = _mm512_or_si512(v, _mm512_cvtepu16_epi32(_mm256_loadu_si256(low)));
	}
	return v;
}

INLINE void result_store(MatrixResult d, int row, __m512i v, bool wide)
{
	_mm256_storeu_si256((__m256i *)d.high[row],
			    _mm512_cvtepi32_epi16(_mm512_srli_epi32(v, 16)));
	if (wide)
		_mm256_storeu_si256((__m256i *)d.low[row], _mm512_cvtepi32_epi16(v));
}

/* One row; false if it was odd and is as before. */
INLINE bool product_row(MatrixResult d, const MatrixFace *f, const MatrixRows *r, int row,
			int offset, bool wide)
{
	__mmask16 odd = 0;
	__m512i result;
	Terms t;

	for (int group = 0; group < 2; group++) {
		__m512i below, v = group_sums(f, r, row, group, &below), e;
		__mmask16 some;

		below = _mm512_srli_epi32(below, 24);
		some = _mm512_cmpneq_epi32_mask(below, all(255));
		odd |= _mm512_mask_cmpgt_epi32_mask(some, below, all(MATRIX_SURE));
		e = _mm512_add_epi32(load(f->largest[group]), all(r->largest[row][group] + offset));
		e = _mm512_sub_epi32(e, below);
		/* No product, or none large enough: nothing to add. */
		some = _mm512_mask_cmpgt_epi32_mask(some, e, _mm512_setzero_si512());
		t.e[group] = _mm512_maskz_mov_epi32(some, e);
		t.v[group] = _mm512_maskz_mov_epi32(some, v);
	}
	result = accumulate(t, result_load(d, row, wide), wide, &odd);
	if (odd)
		return false;
	result_store(d, row, result, wide);
	return true;
}

INLINE uint32_t product_rows(MatrixResult d, const MatrixFace *f, const MatrixRows *r, int rows,
			     int offset, bool wide)
{
	uint32_t left = 0;

	for (int row = 0; row < rows; row++)
		if (!product_row(d, f, r, row, offset, wide))
			left |= 1u << row;
	return left;
}

AVX512 uint32_t matrix_product_avx512(MatrixResult d, const MatrixFace *fa, const MatrixRows *rb,
				      int rows, uint32_t phase)
{
	const int offset = matrix_offset(phase);

	return d.low ? product_rows(d, fa, rb, rows, offset, true)
		     : product_rows(d, fa, rb, rows, offset, false);
}

bool matrix_has_avx512(void)
{
	return matrix_has_avx2() && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq");
}

#else

bool matrix_has_avx512(void)
{
	return false;
}

/* Nobody calls it. */
uint32_t matrix_product_avx512(MatrixResult d, const MatrixFace *fa, const MatrixRows *rb, int rows,
			       uint32_t phase)
{
	return matrix_product_avx2(d, fa, rb, rows, phase);
}

#endif
