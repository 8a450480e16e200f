/*
 * The plan without tuning: as many cores as shorten the longest shard of every
 * step, everything in L1 but what has no room there.
 */
#include "passes/plan.h"

#include "ir/hint.h"

/* Work of a core that has most of it, in rows times width times channels. */
static int64_t longest(const Plan *p)
{
	int64_t sum = 0;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		int64_t most = 0;
		for (int c = 0; s->out && c < p->cores; c++) {
			const Region own = s->out->shard[c].own;
			int64_t depth = range_count(own.planes);
			for (int k = 0; k < s->nin && s->weights; k++)
				depth += (int64_t)part_planes(&s->in[k]) * s->taps
					* range_count(step_groups(s, own.planes));
			const int64_t work = depth * range_count(own.rows);
			most = work > most ? work : most;
		}
		if (s->out)
			sum += most * ((s->out->layout.cols + TILE - 1) / TILE);
	}
	return sum;
}

/* The cores form a rectangle, so that one multicast reaches them all. */
static int next_count(const Target *t, int cores)
{
	return cores < t->grid_cols ? cores + 1 : cores + (int)t->grid_cols;
}

/* More cores than the highest tensor has rows would have nothing to do. */
static int64_t most_cores(const Plan *p)
{
	const int64_t all = p->target->grid_cols * p->target->grid_rows;
	int64_t most = 1;
	for (int i = 0; i < p->ntensors; i++)
		most = p->tensors[i]->height > most ? p->tensors[i]->height : most;
	for (int i = 0; i < p->nsteps; i++) /* unless hints cut it */
		if (op_hint(p->steps[i].op, "split") || op_hint(p->steps[i].op, "shard")
		    || op_hint(p->steps[i].op, "bands"))
			most = all;
	return most < all ? most : all;
}

/* There is a core for each shard of a step. */
static bool is_cut(const Plan *p, const PlanTensor *t)
{
	return t->cut.bands > 0 && t->cut.bands * t->cut.splits <= p->cores;
}

static bool all_cut(const Plan *p)
{
	bool all = true;
	for (int i = 0; i < p->nsteps; i++)
		all &= !p->steps[i].out || is_cut(p, p->steps[i].out);
	return all;
}

static int best_cores(Plan *p, Cut cut)
{
	int best = 1;
	int64_t least = INT64_MAX;
	for (int n = 1; n <= most_cores(p); n = next_count(p->target, n)) {
		plan_cut(p, n, cut);
		const int64_t work = longest(p);
		if (work < least && all_cut(p)) {
			least = work;
			best = n;
		}
	}
	return best;
}

/* Every op that is cut has to find the cores for it. */
static bool check_cuts(const Plan *p)
{
	bool ok = true;
	for (int i = 0; i < p->nsteps; i++) {
		const PlanTensor *t = p->steps[i].out;
		if (!t || is_cut(p, t))
			continue;
		diag_error(p->graph->diag, t->op->loc,
			   "%s '%s': %d bands times %d splits are more than the %d cores of the plan",
			   op_info[t->op->kind].name, t->op->name, t->cut.bands, t->cut.splits,
			   p->cores);
		ok = false;
	}
	return ok;
}

Plan *plan_bands(const Graph *g, const Target *t, const PlanOptions *options)
{
	static const PlanOptions open = { 0 };
	const PlanOptions *o = options ? options : &open;
	Plan *p = plan_steps(g, t, o->stacked);
	if (!p)
		return NULL;
	const int cores = o->cores ? o->cores : best_cores(p, o->cut);
	plan_cut(p, cores, o->cut);
	if (!check_cuts(p))
		return NULL;
	plan_reshard(p);
	return plan_dram(p, cores, o) ? p : NULL;
}
