/*
 * What is told to each core, as few rows for many cores: sets of cores, values that
 * rise from core to core, list elements that neighbours have alike.
 */
#include <string.h>

#include "backend/metal_model.h"

enum { FARTHEST = 16 }; /* cores from one to the next of a set, at most */

/* How many cores `first`, first + every, ... are wanted and not in a set yet. */
static int reach(const bool in[], int n, int first, int every)
{
	int count = 0;
	for (int c = first; c < n && in[c]; c += every)
		count++;
	return count;
}

/* Sets whose cores are up to `farthest` apart. */
static int cut_sets(const bool in[], int n, int farthest, bool left[], MetalCores sets[])
{
	int count = 0;
	memcpy(left, in, (size_t)n * sizeof *left);
	for (int c = 0; c < n; c++) {
		if (!left[c])
			continue;
		int best = 1;
		for (int every = 2; every <= farthest; every++)
			if (reach(left, n, c, every) > reach(left, n, c, best))
				best = every;
		const int cores = reach(left, n, c, best);
		sets[count++] = (MetalCores){ c, c + (cores - 1) * best, best };
		for (int k = 0; k < cores; k++)
			left[c + k * best] = false;
	}
	return count;
}

int metal_cores(Arena *a, const bool in[], int n, MetalCores **sets)
{
	bool *left = arena_array(a, bool, n + 1);
	*sets = arena_array(a, MetalCores, n + 1);
	const int runs = cut_sets(in, n, 1, left, *sets);
	const int apart = cut_sets(in, n, FARTHEST, left, *sets);
	return apart < runs ? apart : cut_sets(in, n, 1, left, *sets);
}

/* The cores of one word while rows are made of them. */
typedef struct Column {
	const uint32_t *value;
	const bool *left;
	int n;
	bool rises; /* else only the same value makes a row */
} Column;

/* Cores from `first` on, `every` apart, whose values rise by the same step. */
static int ramp(const Column *v, int first, int every, uint32_t *step)
{
	int count = 1;
	*step = 0;
	for (int c = first + every; c < v->n && v->left[c]; c += every, count++) {
		const uint32_t by = v->value[c] - v->value[c - every];
		if (count > 1 ? by != *step : by && !v->rises)
			break;
		*step = by;
	}
	return count;
}

static int add_ramps(const Column *v, bool left[], int word, MetalValue *to)
{
	int count = 0;
	for (int c = 0; c < v->n; c++) {
		if (!left[c])
			continue;
		uint32_t step, best_step;
		int best = 1, most = ramp(v, c, 1, &best_step);
		for (int every = 2; every <= FARTHEST; every++) {
			const int cores = ramp(v, c, every, &step);
			if (cores <= most)
				continue;
			best = every;
			most = cores;
			best_step = step;
		}
		to[count++] = (MetalValue){ { c, c + (most - 1) * best, best },
					    word,
					    v->value[c],
					    most > 1 ? best_step : 0 };
		for (int k = 0; k < most; k++)
			left[c + k * best] = false;
	}
	return count;
}

void metal_values(MetalModel *m, MetalOp *op)
{
	const int n = m->p->ncores, words = params_at(op->op->params)->words;
	uint32_t *value = arena_array(m->a, uint32_t, n + 1);
	bool *left = arena_array(m->a, bool, n + 1);
	MetalValue *rows = arena_array(m->a, MetalValue, n + 1);
	for (int word = 0; word < words; word++) {
		const uint32_t common = metal_word(op, 0, word);
		bool any = false;
		for (int c = 0; c < n; c++) {
			value[c] = metal_word(op, c, word);
			left[c] = value[c] != common;
			any |= left[c];
		}
		if (!any)
			continue;
		const Column v = { value, left, n, metal_word_kind(op, word) == METAL_NUMBER };
		const int count = add_ramps(&v, left, word, rows);
		for (int i = 0; i < count; i++) {
			op->values = arena_grow(m->a, op->values, op->nvalues, sizeof *rows);
			op->values[op->nvalues++] = rows[i];
		}
	}
}

/* What must be the same in rows that become one: all but cores and the number that
 * rises. */
static bool is_like(const MetalItem *x, const MetalItem *y)
{
	MetalItem b = *y;
	b.cores = x->cores;
	b.along = x->along;
	if (x->kind != y->kind || x->from != y->from)
		return false;
	if (x->kind == METAL_ZERO)
		return memcmp(&x->zero, &b.zero, sizeof x->zero) == 0;
	if (x->kind == METAL_MOVE) {
		b.move.at = x->move.at;
		return memcmp(&x->move, &b.move, sizeof x->move) == 0;
	}
	return x->push.block == b.push.block &&
	       memcmp(&x->push.rows, &b.push.rows, sizeof x->push.rows) == 0;
}

static int risen(const MetalItem *from, const MetalItem *to)
{
	return from->kind == METAL_PUSH   ? to->push.to - from->push.to
	       : from->kind == METAL_MOVE ? (int)(to->move.at - from->move.at)
					  : 0;
}

/* Does `row` say of the same cores what `last` does, for the core behind its last one? */
static bool goes_on(const MetalItem *last, const MetalItem *row)
{
	return row->kind == METAL_PUSH && is_like(last, row) && row->along == last->along &&
	       row->cores.first == last->cores.first && row->cores.last == last->cores.last &&
	       row->push.to == last->push.to + last->push.also + 1;
}

int metal_rows(Arena *a, const MetalItem *const lists[], const int n[], int ncores,
	       MetalItem **rows)
{
	int *at = arena_array(a, int, ncores + 1);
	int count = 0;
	*rows = NULL;
	for (int c = 0; c < ncores; c++)
		while (at[c] < n[c]) {
			MetalItem row = lists[c][at[c]++];
			const MetalItem *last = &lists[c][at[c] - 1];
			int end = c + 1;
			for (; end < ncores && at[end] < n[end]; end++) {
				const MetalItem *next = &lists[end][at[end]];
				if (!is_like(last, next) ||
				    (end > c + 1 && risen(last, next) != row.along))
					break;
				row.along = risen(last, next);
				last = next;
				at[end]++;
			}
			row.cores = (MetalCores){ c, end - 1, 1 };
			if (count && goes_on(&(*rows)[count - 1], &row)) {
				(*rows)[count - 1].push.also++;
				continue;
			}
			*rows = arena_grow(a, *rows, count, sizeof **rows);
			(*rows)[count++] = row;
		}
	return count;
}
