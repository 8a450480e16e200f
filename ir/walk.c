#include "ir/walk.h"

#include <assert.h>
#include <string.h>

void walk_init(Walk *w, Shape shape)
{
	memset(w, 0, sizeof *w);
	w->rank = shape.rank;
	memcpy(w->dim, shape.dim, sizeof w->dim);
}

void walk_add(Walk *w, int64_t at, const int64_t step[])
{
	assert(w->n < WALK_TENSORS);
	w->at[w->n] = at;
	for (int d = 0; d < w->rank; d++)
		w->step[w->n][d] = step[d];
	w->n++;
}

void walk_add_broadcast(Walk *w, Shape shape)
{
	int64_t strides[MAX_RANK], step[MAX_RANK] = { 0 };
	int lead = w->rank - shape.rank;
	shape_strides(shape, strides);
	for (int d = 0; d < shape.rank; d++)
		if (shape.dim[d] != 1)
			step[lead + d] = strides[d];
	walk_add(w, 0, step);
}

static void move_dim(Walk *w, int from, int to)
{
	w->dim[to] = w->dim[from];
	for (int k = 0; k < w->n; k++)
		w->step[k][to] = w->step[k][from];
}

/* True if, in every tensor, dim `b` continues where dim `a` steps. */
static bool continues(const Walk *w, int a, int b)
{
	for (int k = 0; k < w->n; k++)
		if (w->step[k][a] != w->step[k][b] * w->dim[b])
			return false;
	return true;
}

void walk_start(Walk *w, int inner)
{
	int rank = 0;
	for (int d = 0; d < w->rank; d++) {
		if (w->dim[d] == 1)
			continue;
		if (rank && continues(w, rank - 1, d)) {
			int64_t merged = w->dim[rank - 1] * w->dim[d];
			move_dim(w, d, rank - 1);
			w->dim[rank - 1] = merged;
		} else {
			move_dim(w, d, rank++);
		}
	}
	for (; rank < inner; rank++) {
		for (int d = rank; d > 0; d--)
			move_dim(w, d - 1, d);
		w->dim[0] = 1;
		for (int k = 0; k < w->n; k++)
			w->step[k][0] = 0;
	}
	w->rank = rank;
	w->inner = inner;
}

bool walk_next(Walk *w)
{
	for (int d = w->rank - w->inner - 1; d >= 0; d--) {
		bool wraps = ++w->index[d] == w->dim[d];
		for (int k = 0; k < w->n; k++)
			w->at[k] += wraps ? -w->step[k][d] * (w->dim[d] - 1) : w->step[k][d];
		if (!wraps)
			return true;
		w->index[d] = 0;
	}
	return false;
}
