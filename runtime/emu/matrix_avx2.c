/*
 * The exact product with AVX2. What makes it fast:
 *
 * - A product's exponent is that of SrcA plus that of SrcB. Both are kept as
 *   8-bit distances to the largest of their group, so aligning eight products of
 *   eight columns is a few byte operations. Distances are cut off at 127; where
 *   the smallest sum is too large to tell (`odd`), the row is done again by the
 *   portable routine.
 * - Rounding a product p half away from zero at bit d is the multiplication
 *   with rounding (vpmulhrsw) of 8 p + 1 with 2^(12 - d): the 1, which
 *   vpmaddubsw adds on the way, decides ties and nothing else.
 *
 * `odd` also covers exponents near the end of the range, and the sum of -1.
 */
#include "runtime/emu/matrix.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stddef.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE AVX2 __attribute__((always_inline)) static inline

INLINE __m256i load(const void *p)
{
	return _mm256_loadu_si256(p);
}
INLINE void store(void *p, __m256i v)
{
	_mm256_storeu_si256(p, v);
}
INLINE __m256i all(int v)
{
	return _mm256_set1_epi32(v);
}

INLINE __m256i exponents(__m256i words)
{
	return _mm256_srli_epi32(_mm256_slli_epi32(words, 1), 24);
}

INLINE __m256i mantissas(__m256i words)
{
	return _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(words, 13), all(0x3ff)),
			       all(0x400));
}

/* Distances of exponents to the largest, 255 where there is no value. */
INLINE __m256i distances(__m256i largest, __m256i exponent)
{
	__m256i d = _mm256_min_epi32(_mm256_sub_epi32(largest, exponent), all(MATRIX_FAR));
	__m256i none = _mm256_cmpeq_epi32(exponent, _mm256_setzero_si256());

	return _mm256_or_si256(d, _mm256_srli_epi32(none, 24));
}

/* Eight rows and eight columns of SrcA. */
AVX2 static void face_part(MatrixFace *f, int group, int half, MatrixSource a, uint32_t bit)
{
	const __m256i unit = _mm256_set1_epi16(MATRIX_UNIT);
	__m256i word[8], largest = _mm256_setzero_si256();

	for (int k = 0; k < 8; k++) {
		word[k] = _mm256_and_si256(load(&a.rows[group * 8 + k][half * 8]),
					   all((int)a.mask));
		largest = _mm256_max_epi32(largest, exponents(word[k]));
	}
	store(f->largest[group][half], largest);
	for (int quad = 0; quad < 2; quad++) {
		const __m256i *w = word + quad * 4;
		__m256i distance = _mm256_setzero_si256(), man[2], weight[2];

		for (int k = 0; k < 4; k++)
			distance = _mm256_or_si256(
				distance,
				_mm256_sll_epi32(distances(largest, exponents(w[k])),
						 _mm_cvtsi32_si128(8 * k)));
		store(f->exponent[group][quad][half], distance);
		for (int pair = 0; pair < 2; pair++) {
			__m256i m0 = mantissas(w[pair * 2]), m1 = mantissas(w[pair * 2 + 1]);
			__m256i both = _mm256_or_si256(m0, _mm256_slli_epi32(m1, 16)), minus;

			/* Eight times the upper or the lower five bits. */
			both = bit ? _mm256_slli_epi32(both, 2) : _mm256_srli_epi32(both, 3);
			both = _mm256_and_si256(both, all(0x00f800f8));
			man[pair] = _mm256_or_si256(both, all(0x01000100));
			minus = _mm256_srai_epi16(
				_mm256_blend_epi16(_mm256_srli_epi32(w[pair * 2], 16),
						   w[pair * 2 + 1], 0xaa),
				15);
			weight[pair] = _mm256_sub_epi16(_mm256_xor_si256(minus, unit), minus);
		}
		store(f->mantissa[group][quad * 2][half], _mm256_unpacklo_epi32(man[0], man[1]));
		store(f->mantissa[group][quad * 2 + 1][half],
		      _mm256_unpackhi_epi32(man[0], man[1]));
		store(f->weight[group][quad * 2][half],
		      _mm256_unpacklo_epi32(weight[0], weight[1]));
		store(f->weight[group][quad * 2 + 1][half],
		      _mm256_unpackhi_epi32(weight[0], weight[1]));
	}
}

AVX2 void matrix_face_avx2(MatrixFace *f, MatrixSource a, uint32_t phase_bit)
{
	for (int group = 0; group < 2; group++)
		for (int half = 0; half < 2; half++)
			face_part(f, group, half, a, phase_bit);
}

/* The largest of eight values, in all of them. */
INLINE __m256i spread_largest(__m256i v)
{
	v = _mm256_max_epi32(v, _mm256_permute2x128_si256(v, v, 1));
	v = _mm256_max_epi32(v, _mm256_shuffle_epi32(v, 0x4e));
	return _mm256_max_epi32(v, _mm256_shuffle_epi32(v, 0xb1));
}

AVX2 void matrix_rows_avx2(MatrixRows *r, MatrixSource b, uint32_t phase_bit)
{
	for (int row = 0; row < 8; row++) {
		__m256i distance[2], man[2], bytes;

		for (int group = 0; group < 2; group++) {
			__m256i w = _mm256_and_si256(load(&b.rows[row][group * 8]),
						     all((int)b.mask));
			__m256i exponent = exponents(w), largest = spread_largest(exponent);
			__m256i sign = _mm256_or_si256(_mm256_srai_epi32(w, 31), all(1));
			__m256i m = mantissas(w);

			m = phase_bit ? _mm256_slli_epi32(_mm256_and_si256(m, all(15)), 3)
				      : _mm256_srli_epi32(m, 4);
			m = _mm256_and_si256(_mm256_sign_epi32(m, sign), all(0xff));
			m = _mm256_or_si256(
				m, _mm256_and_si256(_mm256_slli_epi32(sign, 8), all(0xff00)));
			man[group] = _mm256_andnot_si256(
				_mm256_cmpeq_epi32(exponent, _mm256_setzero_si256()), m);
			distance[group] = distances(largest, exponent);
			r->largest[row][group] = _mm256_cvtsi256_si32(largest);
		}
		store(r->mantissa[row],
		      _mm256_permute4x64_epi64(_mm256_packus_epi32(man[0], man[1]), 0xd8));
		bytes = _mm256_permute4x64_epi64(_mm256_packus_epi32(distance[0], distance[1]),
						 0xd8);
		bytes = _mm256_packus_epi16(bytes, bytes);
		_mm_storeu_si128((__m128i *)r->exponent[row],
				 _mm256_castsi256_si128(_mm256_permute4x64_epi64(bytes, 0xd8)));
	}
}

/* Eight sums of eight products, and by how much their exponent is below the
 * largest of SrcA plus the largest of SrcB: in each byte of `below`. */
INLINE __m256i group_sums(const MatrixFace *f, const MatrixRows *r, int row, int group, int half,
			  __m256i *below)
{
	const __m256i low_powers = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(0, 0, 0, 0, 0, -128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0));
	const __m256i high_powers = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
	const __m256i turn8 = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12));
	const __m256i turn16 = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
	__m256i distance[2], least, to_index, sums[2];

	for (int quad = 0; quad < 2; quad++) {
		const void *of_b = &r->exponent[row][group][quad * 4];

		distance[quad] = _mm256_adds_epu8(load(f->exponent[group][quad][half]),
						  _mm256_castps_si256(_mm256_broadcast_ss(of_b)));
	}
	least = _mm256_min_epu8(distance[0], distance[1]);
	least = _mm256_min_epu8(least, _mm256_shuffle_epi8(least, turn16));
	least = _mm256_min_epu8(least, _mm256_shuffle_epi8(least, turn8));
	*below = least;
	/* 112 more than what to shift by: the table is read by the lower four bits,
	 * and beyond 127 gives zero. */
	to_index = _mm256_sub_epi8(_mm256_set1_epi8(MATRIX_SURE), least);
	for (int quad = 0; quad < 2; quad++) {
		const void *of_b = &r->mantissa[row][group][quad * 4];
		__m256i by = _mm256_adds_epu8(distance[quad], to_index);
		__m256i low = _mm256_shuffle_epi8(low_powers, by);
		__m256i high = _mm256_shuffle_epi8(high_powers, by);
		__m256i power[2] = { _mm256_unpacklo_epi8(low, high),
				     _mm256_unpackhi_epi8(low, high) };

		for (int part = 0; part < 2; part++) {
			__m256i p = _mm256_maddubs_epi16(
				load(f->mantissa[group][quad * 2 + part][half]),
				_mm256_castpd_si256(_mm256_broadcast_sd(of_b)));
			__m256i s = _mm256_madd_epi16(
				_mm256_mulhrs_epi16(p, power[part]),
				load(f->weight[group][quad * 2 + part][half]));

			sums[part] = quad ? _mm256_add_epi32(sums[part], s) : s;
		}
	}
	return _mm256_hadd_epi32(sums[0], sums[1]);
}

/* v / 2 shifted right, half up; nothing stays of what is shifted far. */
INLINE __m256i shift_half_up(__m256i v, __m256i by)
{
	v = _mm256_add_epi32(_mm256_srav_epi32(v, by), all(1));
	return _mm256_srai_epi32(v, 1);
}

/* What makes a row odd, over all its lanes. */
typedef struct Extremes {
	__m256i exponent; /* the largest */
	__m256i sum;      /* the largest, unsigned: all ones is -1 */
	__m256i below;    /* the largest, plus 1: none at all is 0 */
} Extremes;

INLINE bool odd(const Extremes *x)
{
	__m256i is = _mm256_or_si256(_mm256_cmpgt_epi32(x->exponent, all(MATRIX_HIGH_EXPONENT)),
				     _mm256_cmpeq_epi32(x->sum, all(-1)));

	is = _mm256_or_si256(is, _mm256_subs_epu8(x->below, _mm256_set1_epi8(MATRIX_SURE + 1)));
	return !_mm256_testz_si256(is, is);
}

/* The same as in matrix_exact.c; v0 and v1 come doubled. */
INLINE __m256i accumulate(__m256i v0, __m256i e0, __m256i v1, __m256i e1, __m256i dst, bool wide,
			  Extremes *x)
{
	const __m256i zero = _mm256_setzero_si256(), sign_bit = all((int)0x80000000);
	__m256i doubled = _mm256_slli_epi32(dst, 1), minus = _mm256_srai_epi32(dst, 31);
	__m256i ed = _mm256_srli_epi32(doubled, 24);
	__m256i e = _mm256_max_epi32(_mm256_max_epi32(e0, e1), ed);
	__m256i man, sum, magnitude, top, packed, keep;

	x->exponent = _mm256_max_epi32(x->exponent, e);
	man = _mm256_or_si256(_mm256_and_si256(doubled, all(0xffffff)), all(0x1000000));
	man = _mm256_andnot_si256(_mm256_cmpeq_epi32(ed, zero), man);
	man = shift_half_up(man, _mm256_sub_epi32(e, ed));
	v0 = shift_half_up(v0, _mm256_sub_epi32(e, e0));
	v1 = shift_half_up(v1, _mm256_sub_epi32(e, e1));
	if (!wide) {
		man = _mm256_andnot_si256(all(0x1fff), _mm256_add_epi32(man, all(0x1000)));
		v0 = _mm256_andnot_si256(all(0x1fff), _mm256_add_epi32(v0, all(0x1000)));
		v1 = _mm256_andnot_si256(all(0x1fff), _mm256_add_epi32(v1, all(0x1000)));
	}
	man = _mm256_sub_epi32(_mm256_xor_si256(man, minus), minus);
	sum = _mm256_add_epi32(man, _mm256_add_epi32(v0, v1));
	x->sum = _mm256_max_epu32(x->sum, sum);
	magnitude = _mm256_abs_epi32(sum);

	/* The exponent of its float is where its highest bit is. Without the bit
	 * after that it does not round up to the next power. */
	top = _mm256_castps_si256(_mm256_cvtepi32_ps(
		_mm256_andnot_si256(_mm256_srli_epi32(magnitude, 1), magnitude)));
	top = _mm256_srli_epi32(top, 23);
	/* The highest bit to bit 30, rounded there, and down to bit 23. */
	man = _mm256_sllv_epi32(magnitude, _mm256_sub_epi32(all(127 + 30), top));
	man = _mm256_add_epi32(man, all(wide ? 0x40 : 0x400000));
	if (!wide)
		man = _mm256_andnot_si256(all(0x7fffff), man);
	e = _mm256_sub_epi32(_mm256_add_epi32(e, top), all(127 + 23 + 1));
	packed = _mm256_add_epi32(_mm256_slli_epi32(e, 23), _mm256_srli_epi32(man, 7));
	keep = _mm256_andnot_si256(_mm256_cmpeq_epi32(sum, zero),
				   _mm256_cmpgt_epi32(packed, all(0x7fffff)));
	packed = _mm256_or_si256(packed, _mm256_and_si256(sum, sign_bit));
	return _mm256_and_si256(packed, keep);
}

INLINE __m256i result_load(MatrixResult d, int row, int half, bool wide)
{
	__m256i v = _mm256_slli_epi32(
		_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)&d.high[row][half * 8])),
		16);

	if (wide)
		v = _mm256_or_si256(v,
				    _mm256_cvtepu16_epi32(_mm_loadu_si128(
					    (const __m128i *)&d.low[row][half * 8])));
	return v;
}

INLINE void result_store(MatrixResult d, int row, const __m256i v[2], bool wide)
{
	__m256i high = _mm256_packus_epi32(_mm256_srli_epi32(v[0], 16),
					   _mm256_srli_epi32(v[1], 16));

	store(d.high[row], _mm256_permute4x64_epi64(high, 0xd8));
	if (wide) {
		__m256i low = _mm256_packus_epi32(_mm256_and_si256(v[0], all(0xffff)),
						  _mm256_and_si256(v[1], all(0xffff)));

		store(d.low[row], _mm256_permute4x64_epi64(low, 0xd8));
	}
}

/* One row; false if it was odd and is as before. */
INLINE bool product_row(MatrixResult d, const MatrixFace *f, const MatrixRows *r, int row,
			int offset, bool wide)
{
	const __m256i zero = _mm256_setzero_si256();
	Extremes x = { zero, zero, zero };
	__m256i result[2];

	for (int half = 0; half < 2; half++) {
		__m256i v[2], e[2];

		for (int group = 0; group < 2; group++) {
			__m256i below, some;

			v[group] = group_sums(f, r, row, group, half, &below);
			x.below = _mm256_max_epu8(x.below,
						  _mm256_add_epi8(below, _mm256_set1_epi8(1)));
			e[group] = _mm256_add_epi32(load(f->largest[group][half]),
						    all(r->largest[row][group] + offset));
			e[group] = _mm256_sub_epi32(e[group], _mm256_srli_epi32(below, 24));
			/* No product, or none large enough: nothing to add. */
			some = _mm256_andnot_si256(_mm256_cmpeq_epi32(below, all(-1)),
						   _mm256_cmpgt_epi32(e[group], zero));
			e[group] = _mm256_and_si256(e[group], some);
			v[group] = _mm256_and_si256(v[group], some);
		}
		result[half] = accumulate(v[0], e[0], v[1], e[1], result_load(d, row, half, wide),
					  wide, &x);
	}
	if (odd(&x))
		return false;
	result_store(d, row, result, wide);
	return true;
}

AVX2 uint32_t matrix_product_avx2(MatrixResult d, const MatrixFace *fa, const MatrixRows *rb,
				    int rows, uint32_t phase)
{
	const int offset = matrix_offset(phase);
	uint32_t left = 0;

	for (int row = 0; row < rows; row++) {
		bool done = d.low ? product_row(d, fa, rb, row, offset, true)
				  : product_row(d, fa, rb, row, offset, false);

		left |= (uint32_t)!done << row;
	}
	return left;
}

/* Eight values of SrcA and SrcB, zero where they have no exponent. */
INLINE __m256i flushed(__m256i words)
{
	return _mm256_andnot_si256(_mm256_cmpeq_epi32(exponents(words), _mm256_setzero_si256()),
				   words);
}

INLINE __m256i sums_of(__m256i a, __m256i b, __m256i *e)
{
	const __m256i magnitude = all(0x7fffffff), zero = _mm256_setzero_si256();
	__m256i swap = _mm256_cmpgt_epi32(_mm256_and_si256(b, magnitude),
					  _mm256_and_si256(a, magnitude));
	__m256i larger = _mm256_blendv_epi8(a, b, swap), smaller = _mm256_blendv_epi8(b, a, swap);
	__m256i ml = _mm256_andnot_si256(_mm256_cmpeq_epi32(larger, zero), mantissas(larger));
	__m256i ms = _mm256_andnot_si256(_mm256_cmpeq_epi32(smaller, zero), mantissas(smaller));
	__m256i minus = _mm256_srai_epi32(_mm256_xor_si256(a, b), 31);

	*e = exponents(larger);
	ms = shift_half_up(_mm256_slli_epi32(ms, 1), _mm256_sub_epi32(*e, exponents(smaller)));
	ms = _mm256_sub_epi32(_mm256_xor_si256(ms, minus), minus);
	minus = _mm256_srai_epi32(larger, 31);
	ml = _mm256_add_epi32(ml, ms);
	return _mm256_slli_epi32(_mm256_sub_epi32(_mm256_xor_si256(ml, minus), minus), 14);
}

INLINE __m256i products_of(__m256i a, __m256i b, __m256i *e, uint32_t phase, int offset)
{
	const __m256i zero = _mm256_setzero_si256();
	__m256i ma = mantissas(a), mb = mantissas(b),
		minus = _mm256_srai_epi32(_mm256_xor_si256(a, b), 31);
	__m256i none = _mm256_or_si256(_mm256_cmpeq_epi32(a, zero), _mm256_cmpeq_epi32(b, zero));

	ma = phase & 1 ? _mm256_and_si256(_mm256_srli_epi32(ma, 1), all(31))
		       : _mm256_srli_epi32(ma, 6);
	mb = phase & 2 ? _mm256_slli_epi32(_mm256_and_si256(mb, all(15)), 3)
		       : _mm256_srli_epi32(mb, 4);
	*e = _mm256_add_epi32(_mm256_add_epi32(exponents(a), exponents(b)), all(offset));
	none = _mm256_or_si256(none, _mm256_cmpgt_epi32(all(1), *e));
	*e = _mm256_andnot_si256(none, *e);
	ma = _mm256_andnot_si256(none, _mm256_slli_epi32(_mm256_mullo_epi32(ma, mb), 14));
	return _mm256_sub_epi32(_mm256_xor_si256(ma, minus), minus);
}

AVX2 void matrix_element_avx2(MatrixResult d, MatrixSource a, MatrixSource b, MatrixElement op,
			      MatrixBroadcast how, bool onto, uint32_t phase)
{
	const __m256i zero = _mm256_setzero_si256();
	Extremes x = { zero, zero, zero };
	__m256i result[8][2];
	__m256i flip = all(op == MATRIX_SUB ? (int)0x80000000 : 0);

	for (int n = 0; n < 16; n++) {
		int row = n / 2, half = n & 1;
		const uint32_t *from = b.rows[row * how.row_step];
		__m256i va = _mm256_and_si256(load(&a.rows[row][half * 8]), all((int)a.mask));
		__m256i vb = how.column_step ? load(from + half * 8) : all((int)from[0]);
		__m256i e, v, dst = onto ? result_load(d, row, half, d.low != NULL) : zero;

		va = flushed(va);
		vb = flushed(_mm256_and_si256(_mm256_xor_si256(vb, flip), all((int)b.mask)));
		v = op == MATRIX_MUL ? products_of(va, vb, &e, phase, matrix_offset(phase))
				     : sums_of(va, vb, &e);
		result[row][half] = d.low ? accumulate(v, e, zero, zero, dst, true, &x)
					  : accumulate(v, e, zero, zero, dst, false, &x);
	}
	if (odd(&x)) {
		matrix_element_portable(d, a, b, op, how, onto, phase);
		return;
	}
	for (int row = 0; row < 8; row++)
		result_store(d, row, result[row], d.low != NULL);
}

bool matrix_has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

#else

bool matrix_has_avx2(void)
{
	return false;
}

/* Nobody calls these. */
void matrix_face_avx2(MatrixFace *f, MatrixSource a, uint32_t phase_bit)
{
	(void)f, (void)a, (void)phase_bit;
}

void matrix_rows_avx2(MatrixRows *r, MatrixSource b, uint32_t phase_bit)
{
	(void)r, (void)b, (void)phase_bit;
}

uint32_t matrix_product_avx2(MatrixResult d, const MatrixFace *fa, const MatrixRows *rb, int rows,
			     uint32_t phase)
{
	(void)d, (void)fa, (void)rb, (void)phase;
	return (1u << rows) - 1;
}

void matrix_element_avx2(MatrixResult d, MatrixSource a, MatrixSource b, MatrixElement op,
			 MatrixBroadcast how, bool onto, uint32_t phase)
{
	matrix_element_portable(d, a, b, op, how, onto, phase);
}

#endif
