/*
 * --random-weights: numbers that depend on the seed and the weight's name
 * alone, with the same bits on every machine.
 *
 * The generator is SplitMix64 (ir/rng.h), started at the first number of the
 * stream `seed` xor the FNV-1a hash of the name, one number per element:
 *
 *   normal    the sum of the number's four 16-bit quarters, less its mean,
 *             over its deviation (Irwin-Hall of order 4: bell-shaped, cut
 *             at 3.46 deviations), times sqrt(2 / fan_in)
 *   uniform   its upper 24 bits as a fraction
 *
 * Each element takes at most one rounding (a product, or a sum of exact
 * terms), so it does not matter whether a compiler fuses them.
 */
#include "frontend/weights.h"

#include <math.h>

#include "ir/rng.h"

static uint64_t hash_name(const char *s)
{
	uint64_t h = 14695981039346656037u;
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

static void fill_normal(Rng r, float *out, int64_t n, float deviation)
{
	const int mean = 4 * 65535 / 2;
	/* Each quarter has variance (2^32 - 1) / 12. */
	const float scale = (float)(deviation / sqrt(4294967295.0 / 3));
	for (int64_t i = 0; i < n; i++) {
		const uint64_t z = rng_next(&r);
		const uint64_t pairs = (z & 0x0000ffff0000ffff) + (z >> 16 & 0x0000ffff0000ffff);
		const int sum = (int)(pairs & 0xffffffff) + (int)(pairs >> 32);
		out[i] = (float)(sum - mean) * scale;
	}
}

/* centre +- reach; the centre is 0 or the reach a power of two. */
static void fill_uniform(Rng r, float *out, int64_t n, float centre, float reach)
{
	const float step = reach * 0x1p-23f;
	for (int64_t i = 0; i < n; i++)
		out[i] = centre + (float)((int)(rng_next(&r) >> 40) - (1 << 23)) * step;
}

Tensor *weights_random(Arena *a, uint64_t seed, const char *name, WeightRole role,
		       int64_t fan_in, Shape shape)
{
	Tensor *t = tensor_create(a, TYPE_F32, shape);
	float *out = tensor_f32_data(t);
	const int64_t n = tensor_count(t);
	Rng r = { seed };
	r.state = rng_next(&r) ^ hash_name(name);
	switch (role) {
	case WEIGHT_KERNEL:
		fill_normal(r, out, n, (float)sqrt(2.0 / (double)(fan_in > 0 ? fan_in : 1)));
		break;
	case WEIGHT_BIAS:
	case WEIGHT_MEAN:
		fill_uniform(r, out, n, 0, 0.1f);
		break;
	case WEIGHT_SCALE:
	case WEIGHT_VARIANCE:
		fill_uniform(r, out, n, 1, 0.5f);
		break;
	}
	return t;
}
