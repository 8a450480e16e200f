#include "ir/weight_round.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/arena.h"
#include "ir/blockfloat.h"
#include "ir/devtypes.h"
#include "ir/tensor.h"

#define BF16_STEP 0x1p-7f /* of a value's power of two */
#define BFP8_STEP 0x1p-6f /* of that of the largest of 16 */
#define LEAST     0x1p-100f /* powers of two near those of the least floats are left alone */

enum {
	BFP8_MOST = 127, /* steps of a value */
	BUCKETS = 32,    /* of how near to halfway a weight is */
};

/* A weight between two values that the type holds: the nearer one, and from it to the
 * other, or 0 if there is none. */
typedef struct Between {
	float near, step;
} Between;

typedef struct Rounding {
	Between *at;   /* of each weight of a result */
	int32_t *list; /* weights whose errors have one sign, nearest to halfway first */
	float *step;   /* that 16 results share, of each weight; 0: they stay */
	int64_t n;
} Rounding;

/* The power of two that a value is 1 to 2 of; 0 if it is one of the least. */
static float power_of(float v)
{
	uint32_t bits;
	memcpy(&bits, &v, sizeof bits);
	bits &= 0x7f800000u;
	memcpy(&v, &bits, sizeof v);
	return v < LEAST ? 0 : v;
}

static Between to_bf16(float v)
{
	const float near = bf16_to_float(float_to_bf16(v)), step = power_of(v) * BF16_STEP;
	return (Between){ near, near > v ? -step : near < v ? step : 0 };
}

static Between to_bfp8(float v, float step)
{
	if (step == 0)
		return (Between){ v, 0 };
	float steps = nearbyintf(v / step);
	steps = steps > BFP8_MOST ? BFP8_MOST : steps < -BFP8_MOST ? -BFP8_MOST : steps;
	Between b = { steps * step, 0 };
	if (b.near != v)
		b.step = b.near > v ? -step : step;
	if (fabsf(b.near + b.step) > BFP8_MOST * step)
		b.step = 0;
	return b;
}

/* Weights whose errors are as the sum of them, by how near to halfway they are. */
static int64_t sort(const Rounding *r, const float *v, double sum)
{
	int64_t first[BUCKETS + 1] = { 0 };
	for (int turn = 0; turn < 2; turn++) {
		for (int64_t i = 0; i < r->n; i++) {
			const Between *b = &r->at[i];
			const double error = (double)b->near - v[i];
			if (b->step == 0 || error * sum <= 0)
				continue;
			const int k = (int)(2 * BUCKETS * fabs(error / b->step));
			const int bucket = k < BUCKETS ? BUCKETS - 1 - k : 0;
			if (turn)
				r->list[first[bucket]++] = (int32_t)i;
			else
				first[bucket + 1]++;
		}
		for (int k = 0; k < BUCKETS && !turn; k++)
			first[k + 1] += first[k];
	}
	return first[BUCKETS - 1];
}

static void balance(const Rounding *r, const float *v)
{
	double sum = 0;
	for (int64_t i = 0; i < r->n; i++)
		sum += (double)r->at[i].near - v[i];
	const double sign = sum;
	const int64_t n = sum != 0 ? sort(r, v, sum) : 0;
	for (int64_t k = 0; k < n && sum * sign > 0; k++) {
		const int32_t i = r->list[k];
		Between *b = &r->at[i];
		if (fabs(b->step) < fabs((double)b->near - v[i]) + fabs(sum)) {
			sum += b->step;
			b->near += b->step;
		}
	}
}

/* What 16 results from v on share. */
static void share(const Rounding *r, const float *v)
{
	for (int64_t i = 0; i < r->n; i++) {
		float most = 0;
		for (int o = 0; o < BLOCKFLOAT; o++)
			most = fmaxf(most, fabsf(v[o * r->n + i]));
		r->step[i] = power_of(most) * BFP8_STEP;
	}
}

void weight_round(uint32_t type, float *v, int64_t results, int64_t n)
{
	const Rounding r = { xmalloc((size_t)(n + 1) * sizeof *r.at),
			     xmalloc((size_t)(n + 1) * sizeof *r.list),
			     xmalloc((size_t)(n + 1) * sizeof *r.step), n };
	assert(type == DEV_BF16 || results % BLOCKFLOAT == 0);
	for (int64_t o = 0; o < results; o++) {
		float *w = v + o * n;
		if (type == DEV_BFP8_B && o % BLOCKFLOAT == 0)
			share(&r, w);
		for (int64_t i = 0; i < n; i++)
			r.at[i] = type == DEV_BF16 ? to_bf16(w[i]) : to_bfp8(w[i], r.step[i]);
		balance(&r, w);
		for (int64_t i = 0; i < n; i++)
			w[i] = r.at[i].near;
	}
	free(r.at);
	free(r.list);
	free(r.step);
}
