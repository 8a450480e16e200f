/*
 * What lies in L1 while a step runs: every buffer that place_buffers gave an address.
 */
#include <stdlib.h>

#include "passes/explain.h"

static int64_t aligned(int64_t n) { return (n + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM; }

static void add(Explained *e, const char *name, const char *why, int64_t bytes, uint64_t address)
{
	if (!bytes)
		return;
	e->residents = arena_grow(e->p->plan->graph->arena, e->residents, e->nresidents,
				  sizeof(Resident));
	e->residents[e->nresidents++] = (Resident){ name, why, aligned(bytes), address };
	e->used += aligned(bytes);
}

/* The next step that reads it; NULL if there is none. */
static const Step *next_reader(const Plan *p, const PlanTensor *t, int from)
{
	for (int k = from + 1; k <= t->dies && k < p->nsteps; k++)
		for (int i = 0; i < p->steps[k].nin; i++)
			if (p->steps[k].in[i].tensor == t)
				return &p->steps[k];
	return NULL;
}

/* What a tensor is there for. */
static const char *reason(const Plan *p, const Step *s, const PlanTensor *t, int at)
{
	Arena *a = p->graph->arena;
	if (s->out == t)
		return "result";
	for (int k = 0; k < s->nin; k++)
		if (s->in[k].tensor == t)
			return arena_printf(a, "input %d", k);
	for (int k = 0; s->slice && k <= s->nin; k++)
		if (s->slices[k] == t)
			return k < s->nin ? arena_printf(a, "slices of input %d", k)
					  : "slices of the result";
	const Step *reader = next_reader(p, t, at);
	if (!reader)
		return "moves beside";
	return arena_printf(a, "waits for %s", reader->out ? reader->out->name : reader->op->name);
}

static int by_bytes(const void *a, const void *b)
{
	const Resident *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

void explain_l1(Explained *e)
{
	const Plan *p = e->p->plan;
	const Step *at = &p->steps[e->at];
	e->limit = planner_room(p->target, e->p->request);
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		if (t->born <= e->at && e->at <= t->dies)
			add(e, t->name, reason(p, at, t, e->at), t->bytes, t->layout.address);
	}
	for (int k = e->at; k < p->nsteps; k++) {
		const Step *s = &p->steps[k];
		const char *name = s->out ? s->out->name : s->op->name;
		if (plan_fetched_in(p, k) <= e->at)
			add(e, name, k == e->at ? "weights" : "weights, early", s->weight_bytes,
			    s->weight_address);
	}
	const char *name = at->out ? at->out->name : at->op->name;
	add(e, name, "partial sums", at->stream.sums_bytes, at->stream.sums_address);
	add(e, name, "rows from or to the host", at->scratch_bytes, at->scratch_address);
	if (e->nresidents)
		qsort(e->residents, (size_t)e->nresidents, sizeof *e->residents, by_bytes);
}
