/*
 * What lies between a step and the tensors it reads, and tensors that wait: priced.
 */
#include "passes/choice_legal.h"
#include "passes/explain.h"
#include "passes/plan_dram.h"

const char *const edge_ways[EDGE_WAYS] = {
	[EDGE_WHERE_IT_LIES] = "read where it lies", [EDGE_RESHARDED] = "resharded",
	[EDGE_REFILLED] = "refilled from DRAM", [EDGE_SLICED] = "in slices from DRAM",
};

/* Bytes of a row of a plane. */
static int64_t row_bytes(const PlanTensor *t)
{
	const bool exponents = t->layout.type == DEV_BFP8_B;
	return (int64_t)t->layout.pitch * (dev_pixel_bytes(t->layout.type) + exponents);
}

/* Rows of an image that cores keep but do not own. */
static int64_t halo_bytes(const Plan *p, const PlanTensor *t)
{
	const Region image = { { 0, t->height }, { 0, t->layout.planes } };
	int64_t rows = 0;
	for (int c = 0; c < p->cores; c++) {
		const Region keep = region_both(t->shard[c].keep, image), own = t->shard[c].own;
		rows += (int64_t)range_count(keep.rows) * range_count(keep.planes)
			- (int64_t)range_count(own.rows) * range_count(own.planes);
	}
	return rows * t->images * t->layout.phases * row_bytes(t);
}

/* The step that brings an input here for this one alone; NULL: there is none. */
static int mover(const Plan *p, int at, const PlanTensor *t)
{
	const int k = t->born;
	return k < at && p->steps[k].out == t && step_moves(&p->steps[k]) ? k : -1;
}

static EdgeWay way_of(const Plan *p, const PlanTensor *t, int move)
{
	if (t->layout.place == PLACE_DRAM)
		return EDGE_SLICED;
	if (move < 0)
		return EDGE_WHERE_IT_LIES;
	return p->steps[move].kind == STEP_RESHARD ? EDGE_RESHARDED : EDGE_REFILLED;
}

void explain_edges(Trials *t, Explained *e)
{
	const Plan *p = e->p->plan;
	const Step *s = &p->steps[e->at], *bare = &e->p->bare->steps[e->step];
	const Choice *c = &e->p->choices[e->step];
	CostContext x = cost_context(p->target);
	for (int k = 0; k < s->nin; k++) {
		const PlanTensor *in = s->in[k].tensor;
		const int move = mover(p, e->at, in);
		ExplainEdge *edge = &e->edges[e->nedges++];
		*edge = (ExplainEdge){ .part = k, .name = bare->in[k].tensor->name,
				       .way = way_of(p, in, move) };
		if (move >= 0)
			edge->move_time = e->p->time.steps[move].total;
		if (in->layout.place == PLACE_L1 && s->out) {
			edge->halo_bytes = halo_bytes(p, in);
			edge->halo_time = cost_halo(&x, p, in, in);
		}
		const bool parked = c->park >> k & 1;
		if (s->out && !parked
		    && (c->reshard >> k & 1
			|| choice_reshard_ok(e->p->bare, e->p->choices, e->step, k)))
			edge->other = trial_field(t, e->step, CHOICE_reshard, c->reshard ^ 1 << k);
	}
}

/* Has the step to do with the tensor, or runs while it waits? */
static bool concerns(const Plan *bare, const PlanTensor *t, int step, int reader)
{
	return bare->steps[step].out == t || step == reader || (t->born < step && step < reader);
}

/* First part of the step that reads it. */
static int part_of(const Step *s, const PlanTensor *t)
{
	for (int k = 0; k < s->nin; k++)
		if (s->in[k].tensor == t)
			return k;
	return -1;
}

void explain_skips(Trials *t, Explained *e)
{
	const Plan *bare = e->p->bare;
	for (int i = 0; i < bare->ntensors; i++) {
		const PlanTensor *x = bare->tensors[i];
		for (int j = x->done + 1; j <= x->dies; j++) {
			const int part = part_of(&bare->steps[j], x);
			if (part < 0 || plan_gap(bare, j, part) < 2
			    || !concerns(bare, x, e->step, j))
				continue;
			const Choice *c = &e->p->choices[j];
			ExplainSkip s = {
				.name = x->name, .reader = choice_step_spelling(bare, j),
				.step = j, .part = part, .parked = c->park >> part & 1,
				.beside = c->beside >> part & 1,
				.dram = e->p->choices[x->born].place == PLACE_DRAM,
				.bytes = e->p->plan->tensors[x->id]->bytes,
			};
			if (s.parked || choice_park_ok(bare, e->p->choices, j, part))
				s.other = trial_field(t, j, CHOICE_park, c->park ^ 1 << part);
			e->skips = arena_grow(bare->graph->arena, e->skips, e->nskips, sizeof s);
			e->skips[e->nskips++] = s;
		}
	}
}
