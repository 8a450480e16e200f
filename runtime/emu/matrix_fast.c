/* The product of `emu:fast`: fp32 throughout, in whatever order is quickest.
 * Source words are fp32 as they stand. */
#include "runtime/emu/matrix.h"

#include <stddef.h>
#include <string.h>

/* One row of the result, before and after. */
static void row_load(MatrixResult d, int row, float v[16])
{
	for (int column = 0; column < 16; column++) {
		uint32_t bits = (uint32_t)d.high[row][column] << 16;

		if (d.low)
			bits |= d.low[row][column];
		memcpy(&v[column], &bits, sizeof bits);
	}
}

static void row_store(MatrixResult d, int row, const float v[16])
{
	for (int column = 0; column < 16; column++) {
		uint32_t bits;

		memcpy(&bits, &v[column], sizeof bits);
		if (d.low)
			d.low[row][column] = (uint16_t)bits;
		else
			bits += 0x8000;
		d.high[row][column] = (uint16_t)(bits >> 16);
	}
}

/* Rows are rounded, if they are, after each product. */
static void product_portable(MatrixResult d, MatrixSource a, MatrixSource b, int rows)
{
	for (int row = 0; row < rows; row++) {
		float sum[16], av[16], bv;

		row_load(d, row, sum);
		for (int k = 0; k < 16; k++) {
			uint32_t word = b.rows[row][k] & b.mask;

			memcpy(&bv, &word, sizeof bv);
			memcpy(av, a.rows[k], sizeof av);
			for (int column = 0; column < 16; column++)
				sum[column] += av[column] * bv;
		}
		row_store(d, row, sum);
	}
}

static void products_portable(MatrixResult d, const MatrixFactors *f, int n, int rows)
{
	for (int i = 0; i < n; i++)
		product_portable(d, f[i].a, f[i].b, rows);
}

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))

AVX2 static inline __m256 half_load(MatrixResult d, int row, int half)
{
	const __m128i *high = (const __m128i *)&d.high[row][half * 8];
	__m256i v = _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(high)), 16);

	if (d.low) {
		const __m128i *low = (const __m128i *)&d.low[row][half * 8];

		v = _mm256_or_si256(v, _mm256_cvtepu16_epi32(_mm_loadu_si128(low)));
	}
	return _mm256_castsi256_ps(v);
}

AVX2 static inline void row_put(MatrixResult d, int row, __m256 sum0, __m256 sum1)
{
	__m256i v0 = _mm256_castps_si256(sum0), v1 = _mm256_castps_si256(sum1), packed;

	if (d.low) {
		packed = _mm256_packus_epi32(_mm256_and_si256(v0, _mm256_set1_epi32(0xffff)),
					     _mm256_and_si256(v1, _mm256_set1_epi32(0xffff)));
		_mm256_storeu_si256((__m256i *)d.low[row],
				    _mm256_permute4x64_epi64(packed, 0xd8));
	} else {
		v0 = _mm256_add_epi32(v0, _mm256_set1_epi32(0x8000));
		v1 = _mm256_add_epi32(v1, _mm256_set1_epi32(0x8000));
	}
	packed = _mm256_packus_epi32(_mm256_srli_epi32(v0, 16), _mm256_srli_epi32(v1, 16));
	_mm256_storeu_si256((__m256i *)d.high[row], _mm256_permute4x64_epi64(packed, 0xd8));
}

/* Four rows at a time keep the multipliers busy. */
AVX2 static inline void four_rows(MatrixResult d, int row, const MatrixFactors *f, int n)
{
	__m256 sum[4][2];

	for (int r = 0; r < 4; r++)
		for (int half = 0; half < 2; half++)
			sum[r][half] = half_load(d, row + r, half);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 16; k++) {
			const float *av = (const float *)(const void *)f[i].a.rows[k];
			__m256 a0 = _mm256_loadu_ps(av), a1 = _mm256_loadu_ps(av + 8);

			for (int r = 0; r < 4; r++) {
				const void *word = &f[i].b.rows[row + r][k];
				__m256 bv = _mm256_broadcast_ss(word);

				sum[r][0] = _mm256_fmadd_ps(a0, bv, sum[r][0]);
				sum[r][1] = _mm256_fmadd_ps(a1, bv, sum[r][1]);
			}
		}
	}
	for (int r = 0; r < 4; r++)
		row_put(d, row + r, sum[r][0], sum[r][1]);
}

AVX2 static void products_avx2(MatrixResult d, const MatrixFactors *f, int n, int rows)
{
	for (int row = 0; row < rows; row += 4)
		four_rows(d, row, f, n);
}

#define AVX512 __attribute__((target("avx512f,avx2,fma")))

AVX512 static inline __m512 row_get(MatrixResult d, int row)
{
	const __m256i *high = (const __m256i *)d.high[row], *low = (const __m256i *)d.low[row];
	__m512i v = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(high)), 16);

	return _mm512_castsi512_ps(
		_mm512_or_si512(v, _mm512_cvtepu16_epi32(_mm256_loadu_si256(low))));
}

/* Eight rows of 32-bit values at a time; sums come out as with four. */
AVX512 static void products_avx512(MatrixResult d, const MatrixFactors *f, int n)
{
	__m512 sum[8];

	for (int r = 0; r < 8; r++)
		sum[r] = row_get(d, r);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 16; k++) {
			__m512 av = _mm512_loadu_ps(f[i].a.rows[k]);

			for (int r = 0; r < 8; r++) {
				const float *bv = (const float *)(const void *)&f[i].b.rows[r][k];

				sum[r] = _mm512_fmadd_ps(av, _mm512_set1_ps(*bv), sum[r]);
			}
		}
	}
	for (int r = 0; r < 8; r++) {
		__m512i v = _mm512_castps_si512(sum[r]);

		_mm256_storeu_si256((__m256i *)d.low[r], _mm512_cvtepi32_epi16(v));
		_mm256_storeu_si256((__m256i *)d.high[r],
				    _mm512_cvtepi32_epi16(_mm512_srli_epi32(v, 16)));
	}
}

/* Denormals are zeros, as they are for the matrix unit: of operands and of results. They
 * would take a processor hundreds of cycles each. */
void matrix_products_fast(MatrixResult d, const MatrixFactors *f, int n, int rows)
{
	const bool fma = __builtin_cpu_supports("fma") && matrix_has_avx2();
	const unsigned mode = _mm_getcsr();

	_mm_setcsr(mode | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON);
	/* 16-bit values are rounded after each product. */
	for (int i = 0, now; i < n; i += now) {
		now = d.low ? n : 1;
		if (fma && d.low && rows == 8 && __builtin_cpu_supports("avx512f"))
			products_avx512(d, f + i, now);
		else if (fma)
			products_avx2(d, f + i, now, rows);
		else
			products_portable(d, f + i, now, rows);
	}
	_mm_setcsr(mode);
}

#else

void matrix_products_fast(MatrixResult d, const MatrixFactors *f, int n, int rows)
{
	products_portable(d, f, n, rows);
}

#endif
