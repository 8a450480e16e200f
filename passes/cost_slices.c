/*
 * The time of a step in slices of rows: while one is computed the next is read and
 * the last is written; the first read and the last write nothing hides. With room for
 * one slice nothing hides any.
 */
#include "passes/cost_parts.h"

enum { MAX_KINDS = 6 };

/* Slices are alike but for the last ones, which not all cores have in full. */
typedef struct Slice {
	StepTime first, again;
	int64_t read, write;
} Slice;

static bool in_dram(const PlanTensor *t) { return t && t->layout.place == PLACE_DRAM; }

/* What a core makes in slice i; all of it, by some of the rows, if it is a reduction. */
static Region slice_rows(const Step *s, Region own, int i)
{
	const Range rows = step_slice_of(s, step_sliced_rows(s, own), i);
	if (s->kind != STEP_REDUCE || !range_count(rows))
		own.rows = rows;
	return own;
}

static int64_t reads_time(const CostContext *x, const Step *s, const Shapes *all)
{
	Traffic sum = { 0 };
	for (int k = 0; k < all->n; k++) {
		Traffic core = { 0 };
		for (int i = 0; i < s->nin; i++)
			if (in_dram(s->in[i].tensor))
				cost_traffic(&core, s->in[i].tensor,
					     s->out ? step_reads(s, i, all->v[k].own)
						    : all->v[k].own, false);
		cost_traffic_cores(&sum, &core, all->v[k].cores);
	}
	return cost_traffic_time(x, &sum);
}

static int64_t writes_time(const CostContext *x, const Step *s, const Shapes *all)
{
	Traffic sum = { 0 };
	for (int k = 0; k < all->n && in_dram(s->out); k++) {
		Traffic core = { 0 };
		cost_traffic(&core, s->out, all->v[k].own, true);
		cost_traffic_cores(&sum, &core, all->v[k].cores);
	}
	return cost_traffic_time(x, &sum);
}

static Slice slice_time(CostContext *x, const Plan *p, const Step *whole, const Shapes *all, int i)
{
	Shapes part = { 0 };
	Range map[MAX_BAND_ROWS];
	Step view = *whole;
	const Step *s = &view;
	if (whole->kind == STEP_REDUCE) {
		step_slice_map(whole, i, map);
		view.row_map = map;
		view.reduce.onto = i > 0;
	}
	for (int k = 0; k < all->n; k++) {
		const Region r = slice_rows(whole, all->v[k].own, i);
		if (region_empty(r))
			continue;
		part.v[part.n].own = r;
		part.v[part.n].shape = cost_shape_of(s, r);
		part.v[part.n++].cores = all->v[k].cores;
	}
	return (Slice){ cost_images(x, p, s, &part, false), cost_images(x, p, s, &part, true),
			reads_time(x, s, &part), writes_time(x, s, &part) };
}

StepTime cost_slices(CostContext *x, const Plan *p, const Step *s, const Shapes *all)
{
	Slice kind[MAX_KINDS];
	int n = 0, full = INT32_MAX;
	for (int k = 0; k < all->n; k++) {
		const int rows = range_count(step_sliced_rows(s, all->v[k].own));
		n = (int)cost_most(n, cost_up(rows, s->slice));
		full = (int)cost_least(full, rows / s->slice);
	}
	full = (int)cost_most(cost_least(full, n), n - (MAX_KINDS - 1));
	if (full)
		kind[0] = slice_time(x, p, s, all, full > 2);
	for (int i = full; i < n; i++)
		kind[1 + i - full] = slice_time(x, p, s, all, i);
	StepTime sum = { 0 };
	for (int i = 0; i < n; i++) {
		const Slice *now = &kind[i < full ? 0 : 1 + i - full];
		const int64_t read = i + 1 < n ? kind[i + 1 < full ? 0 : 2 + i - full].read : 0;
		const int64_t write = i > 0 ? kind[i - 1 < full ? 0 : i - full].write : 0;
		StepTime t = i ? now->again : now->first;
		const bool reads = i == 0 || s->single, writes = i + 1 == n || s->single;
		cost_lasts(&t, CAUSE_dram, s->single ? 0 : read + write);
		cost_charge(&t, CAUSE_dram, (reads ? now->read : 0) + (writes ? now->write : 0));
		cost_add(&sum, &t, 1);
	}
	return sum;
}
