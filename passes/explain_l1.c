/*
 * What lies in L1 while a step runs: every buffer that place_buffers gave an address.
 */
#include <stdlib.h>

#include "passes/explain.h"
#include "passes/plan_buffers.h"

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

/* What a buffer of step `at` or around it is there for. */
static const char *reason_of(const Plan *p, const PlanBuffer *b, int at)
{
	switch (b->kind) {
	case BUFFER_TENSOR:
		return reason(p, &p->steps[at], b->tensor, at);
	case BUFFER_WEIGHTS:
		return b->step == at ? "weights" : "weights, early";
	case BUFFER_SUMS:
		return "partial sums";
	case BUFFER_HOST:
	case BUFFER_KINDS:
		break;
	}
	return "rows from or to the host";
}

void explain_l1(Explained *e)
{
	const Plan *p = e->p->plan;
	PlanBuffer *v;
	const int n = plan_buffers(p, &v);
	e->limit = planner_room(p->target, e->p->request);
	for (int i = 0; i < n; i++) {
		if (v[i].born > e->at || e->at > v[i].dies)
			continue;
		e->residents = arena_grow(p->graph->arena, e->residents, e->nresidents,
					  sizeof(Resident));
		e->residents[e->nresidents++] = (Resident){ v[i].name, reason_of(p, &v[i], e->at),
							    v[i].bytes, v[i].address };
		e->used += v[i].bytes;
	}
	if (e->nresidents)
		qsort(e->residents, (size_t)e->nresidents, sizeof *e->residents, by_bytes);
}
