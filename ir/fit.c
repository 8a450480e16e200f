/*
 * Levenberg and Marquardt's method over the logarithms of the constants, with those that
 * the rows tell chosen by Gram and Schmidt's, the one that says most first.
 */
#include "ir/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4, STEPS = 40, POLISH = 4, FARTHEST = 10, ROWS_EACH = 2 };

static const double small_share = 0.05;  /* of the mean: rows below count less */
static const double unseen = 0.005;      /* what doubling it moves rows by, at most */
static const double alike = 0.02;        /* of what it moves, left beside the others */
static const double unsure = 1.0 / 3;
static const double exact = 2e-3;        /* no measurement is more so, relative */
static const double needless = 4;        /* F: rows do not ask for one constant more */
static const double huber = 3 * 1.4826;  /* standard deviations, from a median */

typedef struct State {
	Fit *f;
	double *weight;       /* of each row */
	double *at;           /* logarithms of all constants, 1 more */
	int64_t *values;      /* them, whole */
	int *chosen, nchosen; /* those that are being fitted */
	FitState *settled;    /* why one is not, for good; or FIT_FITTED */
	double *row;          /* predictions */
	double *slope;        /* of each error, a column for each constant */
	double *error;        /* of each row */
} State;

static double to_log(int64_t v) { return log((double)v + 1); }

static int64_t limited(const FitConstant *c, double at)
{
	const double v = round(exp(at) - 1);
	const double least = fmax((double)c->least, floor((double)c->first / FARTHEST));
	const double most = fmin((double)c->most, (double)c->first * FARTHEST + FARTHEST);
	return (int64_t)fmin(fmax(v, least), most);
}

static double scale_of(const Fit *f, int row)
{
	double sum = 0;
	for (int i = 0; i < f->rows; i++)
		sum += f->measured[i];
	return fmax(f->measured[row], small_share * sum / f->rows);
}

/* Errors for `values`, weighted; the sum of their squares. */
static double errors(State *s, const int64_t *values, double *to)
{
	double sum = 0;
	s->f->predict(s->f->context, values, s->row);
	for (int i = 0; i < s->f->rows; i++) {
		to[i] = s->weight[i] * (s->row[i] - s->f->measured[i]);
		sum += to[i] * to[i];
	}
	return sum;
}

static void set_values(State *s)
{
	for (int k = 0; k < s->f->n; k++)
		s->values[k] = limited(&s->f->constants[k], s->at[k]);
}

/* How errors move with the logarithm of one constant. */
static void find_slope(State *s, int k, double *to)
{
	const int n = s->f->rows;
	const FitConstant *c = &s->f->constants[k];
	const int64_t here = s->values[k], step = here / 50 ? here / 50 : 1;
	const int64_t low = here - step < c->least ? here : here - step;
	const int64_t high = here + step > c->most ? here : here + step;
	double *other = arena_array(s->f->arena, double, n);
	s->values[k] = high;
	errors(s, s->values, to);
	s->values[k] = low;
	errors(s, s->values, other);
	s->values[k] = here;
	for (int i = 0; i < n; i++)
		to[i] = high > low ? (to[i] - other[i]) / (to_log(high) - to_log(low)) : 0;
}

static double dot(const double *a, const double *b, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Which chosen one moves rows most as column k does. */
static int most_like(const State *s, int k)
{
	const int n = s->f->rows;
	int like = s->chosen[0];
	double most = -1;
	for (int c = 0; c < s->nchosen; c++) {
		const double *a = s->slope + (size_t)s->chosen[c] * n;
		const double *b = s->slope + (size_t)k * n;
		const double cosine = fabs(dot(a, b, n)) / sqrt(dot(a, a, n) * dot(b, b, n));
		if (cosine > most) {
			most = cosine;
			like = s->chosen[c];
		}
	}
	return like;
}

/* Takes the direction of column k out of all others. */
static void take_out(double *left, int columns, int n, int k)
{
	const double *unit = left + (size_t)k * n, square = dot(unit, unit, n);
	for (int j = 0; j < columns; j++) {
		double *column = left + (size_t)j * n;
		const double part = j == k ? 0 : dot(column, unit, n) / square;
		for (int i = 0; i < n; i++)
			column[i] -= part * unit[i];
	}
}

/* Chooses anew at the values that are reached; the others are told why not. */
static void choose(State *s)
{
	Fit *f = s->f;
	const int n = f->rows;
	const size_t size = (size_t)f->n * n * sizeof(double);
	double *left = arena_alloc(f->arena, size + 1), *all = arena_array(f->arena, double, f->n);
	for (int k = 0; k < f->n; k++) {
		find_slope(s, k, s->slope + (size_t)k * n);
		all[k] = sqrt(dot(s->slope + (size_t)k * n, s->slope + (size_t)k * n, n) / n);
		f->constants[k].state = s->settled[k] ? s->settled[k]
			: all[k] < unseen ? FIT_UNSEEN : FIT_FEW;
	}
	memcpy(left, s->slope, size);
	s->nchosen = 0;
	while (s->nchosen < n / ROWS_EACH) {
		int best = -1;
		double most = 0;
		for (int k = 0; k < f->n; k++) {
			const double *column = left + (size_t)k * n;
			const double still = sqrt(dot(column, column, n) / n);
			if (f->constants[k].state != FIT_FEW || still <= most)
				continue;
			if (still < alike * all[k]) {
				f->constants[k].state = FIT_ALIKE;
				f->constants[k].like = most_like(s, k);
				continue;
			}
			most = still;
			best = k;
		}
		if (best < 0)
			return;
		f->constants[best].state = FIT_FITTED;
		s->chosen[s->nchosen++] = best;
		take_out(left, f->n, n, best);
	}
}

/* The inverse of a symmetric matrix of n rows, in place; false if it has none. */
static bool invert(double *m, int n)
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
static bool normal(const State *s, double damping, double *to)
{
	const int k = s->nchosen, n = s->f->rows;
	for (int i = 0; i < k; i++)
		for (int j = 0; j < k; j++) {
			const double v = dot(s->slope + (size_t)s->chosen[i] * n,
					     s->slope + (size_t)s->chosen[j] * n, n);
			to[i * k + j] = i == j ? v * (1 + damping) + 1e-30 : v;
		}
	return invert(to, k);
}

/* One step downhill; false if there is none. */
static bool step(State *s, double *damping, double *sum)
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
					* dot(s->slope + (size_t)s->chosen[j] * n, s->error, n);
			s->at[s->chosen[i]] = was[s->chosen[i]] + fmin(fmax(by, -0.7), 0.7);
		}
		set_values(s);
		const double now = errors(s, s->values, there);
		if (now < *sum * (1 - 1e-9)) {
			*sum = now;
			memcpy(s->error, there, (size_t)n * sizeof *there);
			*damping = *damping > 1e-6 ? *damping / 16 : *damping;
			return true;
		}
		memcpy(s->at, was, (size_t)s->f->n * sizeof *was);
		set_values(s);
	}
	return false;
}

/* Whole numbers beside what was found, one constant at a time. */
static void polish(State *s, double *sum)
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
			const double now = errors(s, s->values, s->error);
			better |= now < *sum;
			s->values[k] = now < *sum ? next : was;
			*sum = now < *sum ? now : *sum;
		}
	}
	for (int i = 0; i < s->nchosen; i++)
		s->at[s->chosen[i]] = to_log(s->values[s->chosen[i]]);
}

/* Returns the sum of squares. */
static double descend(State *s)
{
	const int n = s->f->rows;
	double damping = 1e-3, sum;
	bool chosen;
	for (int k = 0; k < s->f->n; k++) {
		chosen = s->f->constants[k].state == FIT_FITTED;
		s->at[k] = chosen ? s->at[k] : to_log(s->f->constants[k].first);
	}
	set_values(s);
	sum = errors(s, s->values, s->error);
	for (int i = 0; i < STEPS && s->nchosen; i++) {
		for (int k = 0; k < s->nchosen; k++)
			find_slope(s, s->chosen[k], s->slope + (size_t)s->chosen[k] * n);
		errors(s, s->values, s->error);
		if (!step(s, &damping, &sum))
			break;
	}
	polish(s, &sum);
	return errors(s, s->values, s->error);
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double fit_median(Arena *a, const double *v, int n)
{
	double *sorted = arena_array(a, double, n + 1);
	memcpy(sorted, v, (size_t)n * sizeof *v);
	qsort(sorted, (size_t)n, sizeof *sorted, by_size);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static double relative(const Fit *f, const double *predicted, int row)
{
	return fabs(predicted[row] - f->measured[row]) / f->measured[row];
}

double fit_median_error(const Fit *f, const double *predicted)
{
	double *v = arena_array(f->arena, double, f->rows + 1);
	for (int i = 0; i < f->rows; i++)
		v[i] = relative(f, predicted, i);
	return fit_median(f->arena, v, f->rows);
}

double fit_worst_error(const Fit *f, const double *predicted, int *row)
{
	*row = 0;
	for (int i = 1; i < f->rows; i++)
		if (relative(f, predicted, i) > relative(f, predicted, *row))
			*row = i;
	return relative(f, predicted, *row);
}

/* Rows far off count less from now on. */
static void weigh(State *s)
{
	const Fit *f = s->f;
	double *off = arena_array(f->arena, double, f->rows);
	s->f->predict(f->context, s->values, s->row);
	for (int i = 0; i < f->rows; i++)
		off[i] = fabs(s->row[i] - f->measured[i]) / scale_of(f, i);
	const double most = fmax(huber * fit_median(f->arena, off, f->rows), 1e-3);
	for (int i = 0; i < f->rows; i++)
		s->weight[i] = (off[i] > most ? sqrt(most / off[i]) : 1) / scale_of(f, i);
	errors(s, s->values, s->error);
}

/* Standard errors of those chosen; the worst that is too large, or -1. */
static int find_errors(State *s)
{
	Fit *f = s->f;
	const int k = s->nchosen, free = f->rows - k;
	double *inverse = arena_array(f->arena, double, k * k + 1), most = unsure;
	const double square = fmax(dot(s->error, s->error, f->rows) / (free > 0 ? free : 1),
				   exact * exact);
	int worst = -1;
	for (int i = 0; i < k; i++)
		find_slope(s, s->chosen[i], s->slope + (size_t)s->chosen[i] * f->rows);
	const bool known = normal(s, 0, inverse);
	for (int i = 0; i < k; i++) {
		FitConstant *c = &f->constants[s->chosen[i]];
		const int64_t v = s->values[s->chosen[i]];
		const bool ends = v != c->first && (limited(c, to_log(v) + 1) == v
						    || limited(c, to_log(v) - 1) == v);
		c->value = v;
		c->error = sqrt(square * fabs(inverse[i * k + i]));
		c->error *= (double)(v + 1) / fmax((double)v, 1);
		if (!known || ends)
			c->error = INFINITY;
		if (c->error > most) {
			most = c->error;
			worst = s->chosen[i];
		}
	}
	return worst;
}

static bool same_choice(const State *s, const bool *was)
{
	for (int k = 0; k < s->f->n; k++)
		if (was[k] != (s->f->constants[k].state == FIT_FITTED))
			return false;
	return true;
}

/* Until the same constants are chosen where those chosen lead to. */
static void settle(State *s, bool *was)
{
	for (int round = 0; round < ROUNDS; round++) {
		choose(s);
		if (round && same_choice(s, was))
			return;
		for (int k = 0; k < s->f->n; k++)
			was[k] = s->f->constants[k].state == FIT_FITTED;
		descend(s);
		weigh(s);
	}
	choose(s);
	descend(s);
}

static double change_of(const State *s, int k)
{
	return fabs(to_log(s->values[k]) - to_log(s->f->constants[k].first));
}

/* From where they were at first those chosen may come to a better end. */
static void start_over(State *s)
{
	const int n = s->f->n;
	double *at = arena_array(s->f->arena, double, n);
	const double sum = descend(s);
	memcpy(at, s->at, (size_t)n * sizeof *at);
	for (int k = 0; k < n; k++)
		s->at[k] = to_log(s->f->constants[k].first);
	if (descend(s) <= sum)
		return;
	memcpy(s->at, at, (size_t)n * sizeof *at);
	descend(s);
}

/* Drops chosen constants, those first that changed least, that rows can do without. */
static void drop_needless(State *s)
{
	Fit *f = s->f;
	const int n = f->n;
	double *at = arena_array(f->arena, double, n), sum = descend(s);
	int *chosen = arena_array(f->arena, int, n);
	bool *tried = arena_array(f->arena, bool, n);
	for (int turn = s->nchosen; turn > 0; turn--) {
		int least = -1, left = 0;
		for (int i = 0; i < s->nchosen; i++)
			if (!tried[s->chosen[i]]
			    && (least < 0 || change_of(s, s->chosen[i]) < change_of(s, least)))
				least = s->chosen[i];
		const int was = s->nchosen, free = f->rows - was > 0 ? f->rows - was : 1;
		tried[least] = true;
		memcpy(at, s->at, (size_t)n * sizeof *at);
		memcpy(chosen, s->chosen, (size_t)n * sizeof *chosen);
		for (int i = 0; i < was; i++)
			if (chosen[i] != least)
				s->chosen[left++] = chosen[i];
		s->nchosen = left;
		f->constants[least].state = s->settled[least] = FIT_SAME;
		const double now = descend(s);
		if (now <= sum + needless * fmax(sum / free, exact * exact)) {
			sum = now < sum ? now : sum;
			continue;
		}
		f->constants[least].state = s->settled[least] = FIT_FITTED;
		memcpy(s->at, at, (size_t)n * sizeof *at);
		memcpy(s->chosen, chosen, (size_t)n * sizeof *chosen);
		s->nchosen = was;
		set_values(s);
	}
	start_over(s);
}

int fit_run(Fit *f)
{
	Arena *a = f->arena;
	State s = { .f = f, .weight = arena_array(a, double, f->rows),
		    .at = arena_array(a, double, f->n), .values = arena_array(a, int64_t, f->n),
		    .chosen = arena_array(a, int, f->n), .row = arena_array(a, double, f->rows),
		    .slope = arena_calloc(a, (size_t)f->n * f->rows, sizeof(double)),
		    .error = arena_array(a, double, f->rows),
		    .settled = arena_array(a, FitState, f->n) };
	bool *was = arena_array(a, bool, f->n);
	for (int i = 0; i < f->rows; i++)
		s.weight[i] = 1 / scale_of(f, i);
	for (int k = 0; k < f->n; k++) {
		s.at[k] = to_log(f->constants[k].first);
		s.values[k] = f->constants[k].value = f->constants[k].first;
	}
	f->before = arena_array(a, double, f->rows);
	f->after = arena_array(a, double, f->rows);
	f->predict(f->context, s.values, f->before);
	for (int left = f->n; left >= 0; left--) {
		settle(&s, was);
		drop_needless(&s);
		const int worst = find_errors(&s);
		if (worst < 0)
			break;
		s.settled[worst] = FIT_UNSURE;
	}
	for (int k = 0; k < f->n; k++)
		if (f->constants[k].state != FIT_FITTED)
			s.values[k] = f->constants[k].first;
	f->predict(f->context, s.values, f->after);
	return s.nchosen;
}
