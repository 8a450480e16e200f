/*
 * The plan without tuning: height bands over as many cores as shorten the
 * longest band of every step, everything in L1.
 */
#include "passes/plan.h"

/* Work of a core that has most of it, in rows times width times channels. */
static int64_t longest(const Plan *p)
{
	int64_t sum = 0;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		int rows = 0;
		if (!s->out)
			continue;
		for (int c = 0; c < p->cores; c++)
			rows = s->out->band[c].rows > rows ? s->out->band[c].rows : rows;
		int64_t depth = s->out->layout.planes;
		for (int k = 0; k < s->nin && s->weights; k++)
			depth += (int64_t)s->in[k]->layout.planes * s->taps * s->groups;
		sum += rows * depth * ((s->out->layout.cols + TILE - 1) / TILE);
	}
	return sum;
}

/* The cores form a rectangle, so that one multicast reaches them all. */
static int next_count(const Target *t, int cores)
{
	return cores < t->grid_cols ? cores + 1 : cores + (int)t->grid_cols;
}

/* Every core has a row of every tensor. */
static int64_t most_cores(const Plan *p)
{
	int64_t most = p->target->grid_cols * p->target->grid_rows;
	for (int i = 0; i < p->ntensors; i++)
		if (p->tensors[i]->op->shape.dim[2] < most)
			most = p->tensors[i]->op->shape.dim[2];
	return most;
}

Plan *plan_bands(const Graph *g, const Target *t)
{
	Plan *p = plan_steps(g, t);
	if (!p)
		return NULL;
	const int64_t most = most_cores(p);
	int best = 1;
	int64_t least = INT64_MAX;
	for (int n = 1; n <= most; n = next_count(t, n)) {
		plan_cut(p, n);
		const int64_t work = longest(p);
		if (work < least) {
			least = work;
			best = n;
		}
	}
	plan_cut(p, best);
	return plan_place(p) ? p : NULL;
}
