#include "ir/weight_round.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ir/arena.h"
#include "ir/blockfloat.h"
#include "ir/devtypes.h"
#include "ir/tensor.h"

#define BF16_STEP 0x1p-7f /* of a value's power of two */
#define F32_STEP  0x1p-9f /* likewise, of the ten bits that products see */
#define BFP8_STEP 0x1p-6f /* of that of the largest of 16 */
#define LEAST     0x1p-100f /* powers of two near those of the least floats are left alone */
#define WHOLE     0x1p23f /* a float plus this is rounded to a whole number */

#define BFP8_MOST 127.0f /* steps of a value */

enum { BUCKETS = 32 }; /* of how near to halfway a weight is; then come those that stay */

/* The weights of a result, each between two values that the type holds: the nearer one,
 * and from it to the other, or 0 if there is none. Loops over all of them are such that
 * compilers make vectors of them; differences of neighbours are exact in float. */
typedef struct Rounding {
	float *near, *step;
	float *shared;   /* step that 16 results share; 0: they stay */
	float *need;     /* about how large the sum of errors is for it to be moved */
	uint8_t *bucket;
	int32_t *list;   /* room for numbers of weights, twice */
	int64_t n;
} Rounding;

/* The power of two that a value is 1 to 2 of; 0 if it is one of the least. */
static float power_of(float v)
{
	const float power = float_of_bits(float_bits(v) & 0x7f800000u);
	return power < LEAST ? 0 : power;
}

/* Of a power of two, or of 0 anything. */
static float inverse(float power) { return float_of_bits(0x7f000000u - float_bits(power)); }

static void to_bf16(const Rounding *r, const float *restrict v)
{
	float *restrict near = r->near, *restrict step = r->step;
	for (int64_t i = 0; i < r->n; i++) {
		const float one = power_of(v[i]) * BF16_STEP;
		near[i] = bf16_to_float(float_to_bf16(v[i]));
		step[i] = near[i] > v[i] ? -one : near[i] < v[i] ? one : 0;
	}
}

static void to_f32(const Rounding *r, const float *restrict v)
{
	float *restrict near = r->near, *restrict step = r->step;
	for (int64_t i = 0; i < r->n; i++) {
		const float one = power_of(v[i]) * F32_STEP;
		const float steps = fabsf(v[i]) * inverse(one) + WHOLE - WHOLE;
		const float some = copysignf(steps, v[i]) * one;
		near[i] = one == 0 ? v[i] : some;
		step[i] = near[i] > v[i] ? -one : near[i] < v[i] ? one : 0;
	}
}

static void to_bfp8(const Rounding *r, const float *restrict v)
{
	float *restrict near = r->near, *restrict step = r->step;
	for (int64_t i = 0; i < r->n; i++) {
		const float one = r->shared[i];
		const float steps = fabsf(v[i]) * inverse(one) + WHOLE - WHOLE;
		const float some = copysignf(steps > BFP8_MOST ? BFP8_MOST : steps, v[i]) * one;
		const float other = some > v[i] ? -one : some < v[i] ? one : 0;
		near[i] = one == 0 ? v[i] : some;
		step[i] = fabsf(some + other) > BFP8_MOST * one ? 0 : other;
	}
}

/* Weights whose errors are as the sum of them, by how near to halfway they are. */
static void sort(const Rounding *r, const float *restrict v, bool positive)
{
	const float sign = positive ? 1 : -1;
	float *restrict need = r->need;
	uint8_t *restrict bucket = r->bucket;
	for (int64_t i = 0; i < r->n; i++) {
		const float error = r->near[i] - v[i], step = r->step[i];
		const float part = step == 0 ? 0 : fabsf(error / step);
		const int k = BUCKETS - 1 - (int)(2 * BUCKETS * part);
		const bool stays = step == 0 || error * sign <= 0;
		bucket[i] = (uint8_t)(stays ? BUCKETS : k < 0 ? 0 : k);
		need[i] = fabsf(step) - fabsf(error);
	}
}

/* Goes to the other value where that makes the squares less, in turn. */
static double move(const Rounding *r, const float *v, const int32_t *list, int64_t n, double sum)
{
	const bool positive = sum > 0;
	for (int64_t k = 0; k < n && sum != 0 && (sum > 0) == positive; k++) {
		const int32_t i = list[k];
		if (fabs(r->step[i]) < fabs((double)r->near[i] - v[i]) + fabs(sum)) {
			sum += r->step[i];
			r->near[i] += r->step[i];
		}
	}
	return sum;
}

/* Of the buckets behind the first: those that may still be moved, as the sum only gets
 * less. */
static int64_t list_others(const Rounding *r, double sum)
{
	const float most = (float)(fabs(sum) * 1.001);
	int32_t *some = r->list + r->n, first[BUCKETS + 1] = { 0 };
	int64_t n = 0;
	for (int64_t i = 0; i < r->n; i++) {
		some[n] = (int32_t)i;
		n += (r->bucket[i] > 0) & (r->bucket[i] < BUCKETS) & (r->need[i] <= most);
	}
	for (int64_t k = 0; k < n; k++)
		first[r->bucket[some[k]] + 1]++;
	for (int k = 0; k < BUCKETS; k++)
		first[k + 1] += first[k];
	for (int64_t k = 0; k < n; k++)
		r->list[first[r->bucket[some[k]]]++] = some[k];
	return n;
}

static void balance(const Rounding *r, const float *v)
{
	double sum = 0;
	for (int64_t i = 0; i < r->n; i++)
		sum += (double)r->near[i] - v[i];
	if (sum == 0)
		return;
	const bool positive = sum > 0;
	int64_t n = 0;
	sort(r, v, positive);
	for (int64_t i = 0; i < r->n; i++) {
		r->list[n] = (int32_t)i;
		n += r->bucket[i] == 0;
	}
	sum = move(r, v, r->list, n, sum);
	if (sum != 0 && (sum > 0) == positive)
		move(r, v, r->list, list_others(r, sum), sum);
}

/* What 16 results from v on share. */
static void share(const Rounding *r, const float *restrict v)
{
	float *restrict most = r->shared;
	memset(most, 0, (size_t)r->n * sizeof *most);
	for (int o = 0; o < BLOCKFLOAT; o++)
		for (int64_t i = 0; i < r->n; i++)
			most[i] = fabsf(v[o * r->n + i]) > most[i] ? fabsf(v[o * r->n + i])
								  : most[i];
	for (int64_t i = 0; i < r->n; i++)
		most[i] = power_of(most[i]) * BFP8_STEP;
}

void weight_round(uint32_t type, float *v, int64_t results, int64_t n)
{
	const size_t room = (size_t)n + 1;
	float *floats = xmalloc(4 * room * sizeof *floats);
	const Rounding r = { floats, floats + room, floats + 2 * room, floats + 3 * room,
			     xmalloc(room), xmalloc(2 * room * sizeof *r.list), n };
	assert(type != DEV_BFP8_B || results % BLOCKFLOAT == 0);
	for (int64_t o = 0; o < results; o++) {
		float *w = v + o * n;
		if (type == DEV_BFP8_B && o % BLOCKFLOAT == 0)
			share(&r, w);
		(type == DEV_BF16 ? to_bf16 : type == DEV_F32 ? to_f32 : to_bfp8)(&r, w);
		balance(&r, w);
		memcpy(w, r.near, (size_t)n * sizeof *w);
	}
	free(floats);
	free(r.bucket);
	free(r.list);
}
