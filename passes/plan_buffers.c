#include "passes/plan_buffers.h"

#include "ir/plan_work.h"
#include "passes/cost_parts.h"

const char *const buffer_kinds[BUFFER_KINDS] = { "tensor", "weights", "sums", "host" };

const char *plan_step_name(const Step *s) { return s->out ? s->out->name : s->op->name; }

static int add(PlanBuffer *v, int n, PlanBuffer b)
{
	if (!b.bytes)
		return n;
	b.bytes = cost_up(b.bytes, ALIGN_DRAM) * ALIGN_DRAM;
	v[n] = b;
	return n + 1;
}

int plan_buffers(const Plan *p, PlanBuffer **list)
{
	PlanBuffer *v = arena_array(p->graph->arena, PlanBuffer, p->ntensors + 3 * p->nsteps + 1);
	int n = 0;
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		n = add(v, n, (PlanBuffer){ BUFFER_TENSOR, t, t->born, t->name, t->bytes,
					    t->layout.address, t->born, t->dies });
	}
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		const char *name = plan_step_name(s);
		n = add(v, n, (PlanBuffer){ BUFFER_WEIGHTS, NULL, i, name, s->weight_bytes,
					    s->weight_address, plan_fetched_in(p, i), i });
		n = add(v, n, (PlanBuffer){ BUFFER_SUMS, NULL, i, name, s->stream.sums_bytes,
					    s->stream.sums_address, i, i });
		n = add(v, n, (PlanBuffer){ BUFFER_HOST, NULL, i, name, s->scratch_bytes,
					    s->scratch_address, i, i });
	}
	*list = v;
	return n;
}

static int64_t region_bytes(const PlanTensor *t, Region r)
{
	if (region_empty(r))
		return 0;
	return (int64_t)range_count(r.rows) * range_count(r.planes) * t->images
		* t->layout.phases * cost_row_bytes(t);
}

Held plan_held_bytes(const Plan *p, const PlanBuffer *b, int core)
{
	const Step *s = &p->steps[b->step];
	Held h = { 0 };
	if (b->tensor) {
		h.own = region_bytes(b->tensor, b->tensor->shard[core].own);
		h.halo = region_bytes(b->tensor, tensor_kept(b->tensor, core)) - h.own;
	} else if (!region_empty(s->out ? s->out->shard[core].own
					: s->in[0].tensor->shard[core].own)) {
		h.own = b->bytes;
	}
	return h;
}
