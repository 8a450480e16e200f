/*
 * Which constants the rows tell: chosen by Gram and Schmidt's method, the one that says most
 * first, fitted, and left out again where they are not needed or not sure.
 */
#include "ir/fit_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4, ROWS_EACH = 2 };

static const double unseen = 0.005;     /* what doubling it moves rows by, at most */
static const double alike = 0.02;       /* of what it moves, left beside the others */
static const double prior = 0.5;        /* how uncertain a constant is before, relative, */
static const double unsure = 0.2;       /* and how uncertain one that is fitted may stay */
static const double nearly = 0.02;      /* no difference */
static const double rows_each = 1.8;    /* that one constant moves at least, so to say, */
static const double alone = 0.1;        /* unless others move its row less than this of it */
static const double parallel = 0.98;    /* cosine of what moves the same rows */
static const double comparable = 0.5;   /* half as much or more */
static const double exact = 2e-3;       /* no measurement is more so, relative */
static const double needless = 4;       /* F: rows do not ask for one constant more */
static const double huber = 3 * 1.4826; /* standard deviations, from a median */

/* Which chosen one moves rows most as column k does. */
static int most_like(const FitWalk *s, int k)
{
	const int n = s->f->rows;
	int like = s->chosen[0];
	double most = -1;
	for (int c = 0; c < s->nchosen; c++) {
		const double *a = s->slope + (size_t)s->chosen[c] * n;
		const double *b = s->slope + (size_t)k * n;
		const double sizes = fit_dot(a, a, n) * fit_dot(b, b, n);
		const double cosine = fabs(fit_dot(a, b, n)) / sqrt(sizes);
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
	const double *unit = left + (size_t)k * n, square = fit_dot(unit, unit, n);
	for (int j = 0; j < columns; j++) {
		double *column = left + (size_t)j * n;
		const double part = j == k ? 0 : fit_dot(column, unit, n) / square;
		for (int i = 0; i < n; i++)
			column[i] -= part * unit[i];
	}
}

/* Chooses anew at the values that are reached; the others are told why not. */
static void choose(FitWalk *s)
{
	Fit *f = s->f;
	const int n = f->rows;
	const size_t size = (size_t)f->n * n * sizeof(double);
	double *left = arena_alloc(f->arena, size + 1), *all = arena_array(f->arena, double, f->n);
	for (int k = 0; k < f->n; k++) {
		fit_slope(s, k, s->slope + (size_t)k * n);
		all[k] = sqrt(fit_dot(s->slope + (size_t)k * n, s->slope + (size_t)k * n, n) / n);
		s->moves[k] = fmax(s->moves[k], all[k]);
		f->constants[k].state = s->settled[k] ? s->settled[k]
			: s->moves[k] < unseen ? FIT_UNSEEN : FIT_FEW;
	}
	memcpy(left, s->slope, size);
	s->nchosen = 0;
	while (s->nchosen < n / ROWS_EACH) {
		int best = -1;
		double most = 0;
		for (int k = 0; k < f->n; k++) {
			const double *column = left + (size_t)k * n;
			const double still = sqrt(fit_dot(column, column, n) / n);
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
static void weigh(FitWalk *s)
{
	const Fit *f = s->f;
	double *off = arena_array(f->arena, double, f->rows);
	s->f->predict(f->context, s->values, s->row);
	for (int i = 0; i < f->rows; i++)
		off[i] = fabs(s->row[i] - f->measured[i]) / fit_scale(f, i);
	const double most = fmax(huber * fit_median(f->arena, off, f->rows), 1e-3);
	for (int i = 0; i < f->rows; i++)
		s->weight[i] = (off[i] > most ? sqrt(most / off[i]) : 1) / fit_scale(f, i);
	fit_errors(s, s->values, s->error);
}

/* The inverse of what rows and a prior say of all constants that rows depend on: their
 * covariances. How many there are, and which. */
static int covariances(FitWalk *s, double square, int *seen, double *to)
{
	Fit *f = s->f;
	const int n = f->rows;
	int m = 0;
	for (int k = 0; k < f->n; k++)
		if (f->constants[k].state != FIT_UNSEEN) {
			fit_slope(s, k, s->slope + (size_t)k * n);
			seen[m++] = k;
		}
	for (int i = 0; i < m; i++)
		for (int j = 0; j < m; j++)
			to[i * m + j] = fit_dot(s->slope + (size_t)seen[i] * n,
					    s->slope + (size_t)seen[j] * n, n) / square
				+ (i == j ? 1 / (prior * prior) : 0);
	fit_invert(to, m);
	return m;
}

/* Is it one row alone that a constant moves, which others move as well? Then another may be
 * what makes that row longer. */
static bool moves_one_row(const FitWalk *s, int k)
{
	const int n = s->f->rows;
	const double *slope = s->slope + (size_t)k * n, square = fit_dot(slope, slope, n);
	double fourth = 0, others = 0;
	int most = 0;
	for (int i = 0; i < n; i++) {
		fourth += slope[i] * slope[i] * slope[i] * slope[i];
		most = fabs(slope[i]) > fabs(slope[most]) ? i : most;
	}
	for (int j = 0; j < s->f->n; j++)
		others += j == k ? 0 : fmax(fabs(s->slope[(size_t)j * n + most]),
					    fabs(s->first[(size_t)j * n + most]));
	return square * square < rows_each * fourth && others > alone * fabs(slope[most]);
}

/* Does another constant move the same rows about as much? Then it may be that one. */
static bool has_twin(const FitWalk *s, int k)
{
	const int n = s->f->rows;
	const double *a = s->first + (size_t)k * n, own = fit_dot(a, a, n);
	for (int j = 0; j < s->f->n; j++) {
		const double *b = s->first + (size_t)j * n, other = fit_dot(b, b, n);
		if (j != k && other > comparable * comparable * own
		    && fabs(fit_dot(a, b, n)) > parallel * sqrt(own * other))
			return true;
	}
	return false;
}

/* Standard errors of those chosen, with all others as uncertain as a prior says: another
 * constant may be the reason for what one was fitted to. Tells those that come out unsure. */
static bool find_unsure(FitWalk *s, bool *wrong)
{
	Fit *f = s->f;
	const int free = f->rows - s->nchosen;
	int *seen = arena_array(f->arena, int, f->n);
	double *matrix = arena_array(f->arena, double, f->n * f->n);
	const double square = fmax(fit_dot(s->error, s->error, f->rows) / (free > 0 ? free : 1),
				   exact * exact);
	const int m = covariances(s, square, seen, matrix);
	bool some = false;
	for (int i = 0; i < m; i++) {
		FitConstant *c = &f->constants[seen[i]];
		const int64_t v = s->values[seen[i]];
		const bool ends = v != c->first && (fit_limited(c, fit_log(v) + 1) == v
						    || fit_limited(c, fit_log(v) - 1) == v);
		if (c->state != FIT_FITTED)
			continue;
		c->error = sqrt(fabs(matrix[i * m + i])) * (double)(v + 1) / fmax((double)v, 1);
		wrong[seen[i]] = ends || c->error > unsure || moves_one_row(s, seen[i])
			|| has_twin(s, seen[i]);
		some |= wrong[seen[i]];
	}
	return some;
}

static bool same_choice(const FitWalk *s, const bool *was)
{
	for (int k = 0; k < s->f->n; k++)
		if (was[k] != (s->f->constants[k].state == FIT_FITTED))
			return false;
	return true;
}

/* Until the same constants are chosen where those chosen lead to. */
static void settle(FitWalk *s, bool *was)
{
	for (int round = 0; round < ROUNDS; round++) {
		choose(s);
		if (!round)
			memcpy(s->first, s->slope,
			       (size_t)s->f->n * (size_t)s->f->rows * sizeof *s->slope);
		if (round && same_choice(s, was))
			return;
		for (int k = 0; k < s->f->n; k++)
			was[k] = s->f->constants[k].state == FIT_FITTED;
		fit_descend(s);
		weigh(s);
	}
	choose(s);
	fit_descend(s);
}

/* No longer fits a constant, for a reason. */
static void leave_out(FitWalk *s, int k, FitState why)
{
	int left = 0;
	for (int i = 0; i < s->nchosen; i++)
		if (s->chosen[i] != k)
			s->chosen[left++] = s->chosen[i];
	s->nchosen = left;
	s->f->constants[k].state = s->settled[k] = why;
}

static double change_of(const FitWalk *s, int k)
{
	return fabs(fit_log(s->values[k]) - fit_log(s->f->constants[k].first));
}

/* From where they were at first those chosen may come to a better end. */
static void start_over(FitWalk *s)
{
	const int n = s->f->n;
	double *at = arena_array(s->f->arena, double, n);
	const double sum = fit_descend(s);
	memcpy(at, s->at, (size_t)n * sizeof *at);
	for (int k = 0; k < n; k++)
		s->at[k] = fit_log(s->f->constants[k].first);
	if (fit_descend(s) <= sum)
		return;
	memcpy(s->at, at, (size_t)n * sizeof *at);
	fit_descend(s);
}

/* Drops chosen constants, those first that changed least, that rows can do without. */
static void drop_needless(FitWalk *s)
{
	Fit *f = s->f;
	const int n = f->n;
	double *at = arena_array(f->arena, double, n), sum = fit_descend(s);
	int *chosen = arena_array(f->arena, int, n);
	bool *tried = arena_array(f->arena, bool, n);
	for (int turn = s->nchosen; turn > 0; turn--) {
		int least = -1;
		for (int i = 0; i < s->nchosen; i++)
			if (!tried[s->chosen[i]] && !moves_one_row(s, s->chosen[i])
			    && (least < 0 || change_of(s, s->chosen[i]) < change_of(s, least)))
				least = s->chosen[i];
		if (least < 0)
			break;
		const int was = s->nchosen, free = f->rows - was > 0 ? f->rows - was : 1;
		tried[least] = true;
		memcpy(at, s->at, (size_t)n * sizeof *at);
		memcpy(chosen, s->chosen, (size_t)n * sizeof *chosen);
		leave_out(s, least, FIT_SAME);
		const double now = fit_descend(s);
		if (now <= sum + needless * fmax(sum / free, exact * exact)) {
			sum = now < sum ? now : sum;
			continue;
		}
		f->constants[least].state = s->settled[least] = FIT_FITTED;
		memcpy(s->at, at, (size_t)n * sizeof *at);
		memcpy(s->chosen, chosen, (size_t)n * sizeof *chosen);
		s->nchosen = was;
		fit_set_values(s);
	}
	start_over(s);
}

/* Those that are unsure keep their values, and the others are fitted without them: should one
 * then come out elsewhere, it stood in for them and is unsure too. */
static void drop_unsure(FitWalk *s)
{
	Fit *f = s->f;
	double *at = arena_array(f->arena, double, f->n);
	bool *wrong = arena_array(f->arena, bool, f->n);
	bool some = find_unsure(s, wrong);
	memcpy(at, s->at, (size_t)f->n * sizeof *at);
	while (some) {
		for (int k = 0; k < f->n; k++)
			if (wrong[k] && f->constants[k].state == FIT_FITTED)
				leave_out(s, k, FIT_UNSURE);
		start_over(s);
		some = false;
		for (int i = 0; i < s->nchosen; i++) {
			const int k = s->chosen[i];
			const double by = fabs(s->at[k] - at[k]);
			wrong[k] = by > 2 * f->constants[k].error + nearly;
			some |= wrong[k];
			f->constants[k].error = fmax(f->constants[k].error, by);
		}
	}
}

int fit_run(Fit *f)
{
	Arena *a = f->arena;
	FitWalk s = { .f = f, .weight = arena_array(a, double, f->rows),
		    .at = arena_array(a, double, f->n), .values = arena_array(a, int64_t, f->n),
		    .chosen = arena_array(a, int, f->n), .row = arena_array(a, double, f->rows),
		    .slope = arena_calloc(a, (size_t)f->n * f->rows, sizeof(double)),
		    .first = arena_calloc(a, (size_t)f->n * f->rows, sizeof(double)),
		    .error = arena_array(a, double, f->rows),
		    .settled = arena_array(a, FitState, f->n),
		    .moves = arena_array(a, double, f->n) };
	bool *was = arena_array(a, bool, f->n);
	for (int i = 0; i < f->rows; i++)
		s.weight[i] = 1 / fit_scale(f, i);
	for (int k = 0; k < f->n; k++) {
		s.at[k] = fit_log(f->constants[k].first);
		s.values[k] = f->constants[k].value = f->constants[k].first;
	}
	f->before = arena_array(a, double, f->rows);
	f->after = arena_array(a, double, f->rows);
	f->predict(f->context, s.values, f->before);
	settle(&s, was);
	drop_needless(&s);
	drop_unsure(&s);
	for (int k = 0; k < f->n; k++) {
		const bool fitted = f->constants[k].state == FIT_FITTED;
		f->constants[k].value = s.values[k] = fitted ? s.values[k] : f->constants[k].first;
	}
	f->predict(f->context, s.values, f->after);
	return s.nchosen;
}
