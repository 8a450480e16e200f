/*
 * Tensors whose readers are cut otherwise than they are.
 *
 * A core keeps what it reads of a tensor in the same buffer as what it owns:
 * one region that covers both. Where the two lie far apart that is mostly
 * waste, and a step of its own brings the tensor into a buffer that is cut as
 * the reader wants it.
 */
#include "passes/plan.h"

static int64_t area(Region r)
{
	return (int64_t)range_count(r.rows) * range_count(r.planes);
}

bool plan_is_wasteful(const Plan *p, const Step *s, int part)
{
	const PlanTensor *t = s->in[part].tensor;
	int64_t most = 0, used = 0;
	for (int c = 0; c < p->cores; c++) {
		const Region own = t->shard[c].own;
		const Region read = step_reads(s, part, s->out->shard[c].own);
		const int64_t kept = area(region_cover(own, read));
		most = kept > most ? kept : most;
		used = area(own) + area(read) > used ? area(own) + area(read) : used;
	}
	return most > used + used / 4;
}

/* A reader of the new tensor has the cut of the step it was made for. */
static PlanTensor *resharded(Plan *p, const PlanTensor *from, const Step *reader)
{
	PlanTensor *t = plan_add_tensor(p, from);
	t->cut = reader->out->cut;
	t->name = arena_printf(p->graph->arena, "%s.cut%dx%d", from->name, t->cut.bands,
			       t->cut.splits);
	return t;
}

void plan_append(Plan *p, Step **list, int *n, const Step *s)
{
	*list = arena_grow(p->graph->arena, *list, *n, sizeof(Step));
	(*list)[(*n)++] = *s;
}

/* The step that makes `from` anew for a reader, or made it for an earlier one. */
static PlanTensor *reshard(Plan *p, Step **list, int *n, Part from, const Step *reader)
{
	for (int i = 0; i < *n; i++) {
		const Step *s = &(*list)[i];
		if (s->kind == STEP_RESHARD && s->in[0].tensor == from.tensor
		    && s->out->cut.bands == reader->out->cut.bands
		    && s->out->cut.splits == reader->out->cut.splits)
			return s->out;
	}
	const Step s = plan_move(p, STEP_RESHARD, from.tensor, resharded(p, from.tensor, reader),
				 false);
	plan_append(p, list, n, &s);
	return s.out;
}

bool plan_reshard(Plan *p)
{
	Step *list = NULL;
	int n = 0;
	bool any = false;
	for (int i = 0; i < p->nsteps; i++) {
		Step s = p->steps[i];
		bool copied = false;
		for (int k = 0; k < s.nin && s.out && s.kind != STEP_RESHARD; k++) {
			if (!plan_is_wasteful(p, &s, k))
				continue;
			if (!copied) { /* lists of parts are shared between steps */
				Part *own = arena_array(p->graph->arena, Part, s.nin);
				for (int j = 0; j < s.nin; j++)
					own[j] = s.in[j];
				s.in = own;
				copied = true;
			}
			s.in[k].tensor = reshard(p, &list, &n, s.in[k], &s);
			any = true;
		}
		plan_append(p, &list, &n, &s);
	}
	p->steps = list;
	p->nsteps = n;
	plan_lives(p);
	return any;
}
