/*
 * Levenberg and Marquardt's method over the logarithms of the constants.
 */
#include "ir/fit_walk.h"

#include <math.h>
#include <string.h>

enum { STEPS = 40, POLISH = 4, FARTHEST = 10 };

static const double small_share = 0.05; /* of the mean: rows below count less */

double fit_log(int64_t v) { return log((double)v + 1); }

int64_t fit_limited(const FitConstant *c, double at)
{
	const double v = round(exp(at) - 1);
	const double least = fmax((double)c->least, floor((double)c->first / FARTHEST));
	const double most = fmin((double)c->most, (double)c->first * FARTHEST + FARTHEST);
	return (int64_t)fmin(fmax(v, least), most);
}

double fit_scale(const Fit *f, int row)
{
	double sum = 0;
	for (int i = 0; i < f->rows; i++)
		sum += f->measured[i];
	return fmax(f->measured[row], small_share * sum / f->rows);
}

double fit_errors(FitWalk *s, const int64_t *values, double *to)
{
	double sum = 0;
	s->f->predict(s->f->context, values, s->row);
	for (int i = 0; i < s->f->rows; i++) {
		to[i] = s->weight[i] * (s->row[i] - s->f->measured[i]);
		sum += to[i] * to[i];
	}
	return sum;
}

void fit_set_values(FitWalk *s)
{
	for (int k = 0; k < s->f->n; k++)
		s->values[k] = fit_limited(&s->f->constants[k], s->at[k]);
}

void fit_slope(FitWalk *s, int k, double *to)
{
	const int n = s->f->rows;
	const FitConstant *c = &s->f->constants[k];
	const int64_t here = s->values[k], step = here / 50 ? here / 50 : 1;
	const int64_t low = here - step < c->least ? here : here - step;
	const int64_t high = here + step > c->most ? here : here + step;
	double *other = arena_array(s->f->arena, double, n);
	s->values[k] = high;
	fit_errors(s, s->values, to);
	s->values[k] = low;
	fit_errors(s, s->values, other);
	s->values[k] = here;
	for (int i = 0; i < n; i++)
		to[i] = high > low ? (to[i] - other[i]) / (fit_log(high) - fit_log(low)) : 0;
}

double fit_dot(const double *a, const double *b, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

bool fit_invert(double *m, int n)
{
	for (int k = 0; k < n; k++) {
		const double pivot = m[k * n + k];
		if (!(fabs(pivot) > 1e-300))
			return false;
		m[k * n + k] = 1;
		for (int j = 0; j < n; j++)
			m[k * n + j] /= pivot;
		for (int i = 0; i < n; i++) {
			const double part = m[i * n + k];
			if (i == k)
				continue;
			m[i * n + k] = 0;
			for (int j = 0; j < n; j++)
				m[i * n + j] -= part * m[k * n + j];
		}
	}
	return true;
}

/* Slopes of the chosen ones times themselves, inverted. */
static bool normal(const FitWalk *s, double damping, double *to)
{
	const int k = s->nchosen, n = s->f->rows;
	for (int i = 0; i < k; i++)
		for (int j = 0; j < k; j++) {
			const double v = fit_dot(s->slope + (size_t)s->chosen[i] * n,
					     s->slope + (size_t)s->chosen[j] * n, n);
			to[i * k + j] = i == j ? v * (1 + damping) + 1e-30 : v;
		}
	return fit_invert(to, k);
}

/* One step downhill; false if there is none. */
static bool step(FitWalk *s, double *damping, double *sum)
{
	const int k = s->nchosen, n = s->f->rows;
	Arena *a = s->f->arena;
	double *inverse = arena_array(a, double, k * k), *was = arena_array(a, double, s->f->n);
	double *there = arena_array(a, double, n);
	memcpy(was, s->at, (size_t)s->f->n * sizeof *was);
	for (; *damping < 1e9; *damping *= 8) {
		if (!normal(s, *damping, inverse))
			continue;
		for (int i = 0; i < k; i++) {
			double by = 0;
			for (int j = 0; j < k; j++)
				by -= inverse[i * k + j]
					* fit_dot(s->slope + (size_t)s->chosen[j] * n, s->error, n);
			s->at[s->chosen[i]] = was[s->chosen[i]] + fmin(fmax(by, -0.7), 0.7);
		}
		fit_set_values(s);
		const double now = fit_errors(s, s->values, there);
		if (now < *sum * (1 - 1e-9)) {
			*sum = now;
			memcpy(s->error, there, (size_t)n * sizeof *there);
			*damping = *damping > 1e-6 ? *damping / 16 : *damping;
			return true;
		}
		memcpy(s->at, was, (size_t)s->f->n * sizeof *was);
		fit_set_values(s);
	}
	return false;
}

/* Whole numbers beside what was found, one constant at a time. */
static void polish(FitWalk *s, double *sum)
{
	bool better = true;
	for (int turn = 0; turn < POLISH && better; turn++) {
		better = false;
		for (int i = 0; i < 2 * s->nchosen; i++) {
			const int k = s->chosen[i / 2];
			const FitConstant *c = &s->f->constants[k];
			const int64_t was = s->values[k], next = was + (i % 2 ? 1 : -1);
			if (next < c->least || next > c->most)
				continue;
			s->values[k] = next;
			const double now = fit_errors(s, s->values, s->error);
			better |= now < *sum;
			s->values[k] = now < *sum ? next : was;
			*sum = now < *sum ? now : *sum;
		}
	}
	for (int i = 0; i < s->nchosen; i++)
		s->at[s->chosen[i]] = fit_log(s->values[s->chosen[i]]);
}

double fit_descend(FitWalk *s)
{
	const int n = s->f->rows;
	double damping = 1e-3, sum;
	bool chosen;
	for (int k = 0; k < s->f->n; k++) {
		chosen = s->f->constants[k].state == FIT_FITTED;
		s->at[k] = chosen ? s->at[k] : fit_log(s->f->constants[k].first);
	}
	fit_set_values(s);
	sum = fit_errors(s, s->values, s->error);
	for (int i = 0; i < STEPS && s->nchosen; i++) {
		for (int k = 0; k < s->nchosen; k++)
			fit_slope(s, s->chosen[k], s->slope + (size_t)s->chosen[k] * n);
		fit_errors(s, s->values, s->error);
		if (!step(s, &damping, &sum))
			break;
	}
	polish(s, &sum);
	return fit_errors(s, s->values, s->error);
}
