#include "ir/compare.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct Sums {
	int64_t n;
	double e, a; /* sums, then means */
	double least, most;
} Sums;

static bool both_finite(double e, double a)
{
	return isfinite(e) && isfinite(a);
}

static bool same_special(double e, double a)
{
	return e == a || (isnan(e) && isnan(a));
}

/* The differences, and means over what is finite on both sides. */
static Sums first_look(const Tensor *expected, const Tensor *actual, Closeness *c)
{
	Sums s = { .least = INFINITY, .most = -INFINITY };
	for (int64_t i = 0, n = tensor_count(expected); i < n; i++) {
		const double e = tensor_f64(expected, i), a = tensor_f64(actual, i);
		double off = fabs(e - a);
		if (both_finite(e, a)) {
			s.n++;
			s.e += e;
			s.a += a;
		} else {
			off = same_special(e, a) ? 0 : INFINITY;
		}
		if (isfinite(e)) {
			s.least = fmin(s.least, e);
			s.most = fmax(s.most, e);
		}
		if (off > c->max_abs) {
			c->max_abs = off;
			c->worst = i;
		}
	}
	if (s.n) {
		s.e /= (double)s.n;
		s.a /= (double)s.n;
	}
	return s;
}

static double correlation(const Tensor *expected, const Tensor *actual, const Sums *s)
{
	double ee = 0, aa = 0, ea = 0;
	for (int64_t i = 0, n = tensor_count(expected); i < n; i++) {
		const double e = tensor_f64(expected, i), a = tensor_f64(actual, i);
		if (!both_finite(e, a))
			continue;
		ee += (e - s->e) * (e - s->e);
		aa += (a - s->a) * (a - s->a);
		ea += (e - s->e) * (a - s->a);
	}
	return ee > 0 && aa > 0 ? ea / sqrt(ee) / sqrt(aa) : 0;
}

Closeness tensor_compare(const Tensor *expected, const Tensor *actual)
{
	assert(shape_equal(expected->shape, actual->shape));
	Closeness c = { 0 };
	const Sums s = first_look(expected, actual, &c);
	c.constant = !(s.most > s.least);
	c.range = c.constant ? fabs(s.most) : s.most - s.least;
	if (!(c.range > 0) || !isfinite(c.range))
		c.range = 1;
	c.max_rel = c.max_abs / c.range;
	c.pcc = c.max_abs == 0 ? 1 : isinf(c.max_abs) ? 0 : correlation(expected, actual, &s);
	return c;
}

double tensor_usual_error(const Tensor *expected, const Tensor *actual, const Closeness *c,
			  int one_in)
{
	enum { KEPT = 16, BUCKETS = 1 << (31 - KEPT) }; /* by the upper bits of an f32 */
	Arena *own = arena_create();
	int64_t *count = arena_array(own, int64_t, BUCKETS);
	const int64_t n = tensor_count(expected);
	for (int64_t i = 0; i < n; i++) {
		const double e = tensor_f64(expected, i), a = tensor_f64(actual, i);
		const float off = both_finite(e, a) ? (float)fabs(e - a)
				: same_special(e, a) ? 0 : INFINITY;
		uint32_t bits;
		memcpy(&bits, &off, sizeof bits);
		count[bits >> KEPT]++;
	}
	uint32_t at = BUCKETS - 1;
	for (int64_t above = count[at]; above <= n / one_in && at > 0; above += count[at])
		at--;
	const uint32_t bits = ((at + 1) << KEPT) - 1;
	float most;
	memcpy(&most, &bits, sizeof most);
	arena_destroy(own);
	return fmin((double)most, c->max_abs) / c->range;
}

/* In whole blocks, because this runs over every weight of a model. */
static int64_t find_nan_f32(const char *data, int64_t n)
{
	enum { BLOCK = 4096 };
	float block[BLOCK];
	for (int64_t i = 0; i < n; i += BLOCK) {
		const int m = n - i < BLOCK ? (int)(n - i) : BLOCK;
		int bad = 0;
		memcpy(block, data + (size_t)i * sizeof *block, (size_t)m * sizeof *block);
		for (int k = 0; k < m; k++)
			bad |= block[k] != block[k];
		for (int k = 0; bad && k < m; k++)
			if (isnan(block[k]))
				return i + k;
	}
	return -1;
}

int64_t tensor_find_nan(const Tensor *t)
{
	const int64_t n = !type_is_float(t->dtype) ? 0 : t->splat ? 1 : tensor_count(t);
	assert(t->data);
	if (t->dtype == TYPE_F32)
		return find_nan_f32(t->data, n);
	for (int64_t i = 0; i < n; i++)
		if (isnan(tensor_f64(t, i)))
			return i;
	return -1;
}
