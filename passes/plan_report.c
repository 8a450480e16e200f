#include "passes/plan_report.h"

#include <assert.h>

#include "passes/cost_parts.h"

PlanRow *plan_rows(const Plan *bare, const Plan *p, const PlanTime *t)
{
	PlanRow *rows = arena_array(p->graph->arena, PlanRow, bare->nsteps + 1);
	int k = 0;
	for (int i = 0; i < p->nsteps; i++) {
		assert(k < bare->nsteps);
		PlanRow *r = &rows[k];
		if (step_moves(&p->steps[i])) {
			cost_add(&r->moves, &t->steps[i], 1);
			r->nmoves++;
			continue;
		}
		r->step = i;
		r->work = t->steps[i];
		k++;
	}
	assert(k == bare->nsteps);
	return rows;
}

static int type_of(DevTypes type)
{
	return type == DEV_F32 ? REPORT_F32 : type == DEV_BFP8_B ? REPORT_BFP8_B : REPORT_BF16;
}

static int64_t kept_bytes(const Plan *p, const PlanTensor *t)
{
	int64_t bytes = 0;
	for (int c = 0; c < p->cores; c++) {
		const Region r = t->shard[c].keep;
		if (!region_empty(r))
			bytes += (int64_t)range_count(r.rows) * range_count(r.planes)
				* t->images * t->layout.phases * cost_row_bytes(t);
	}
	return bytes;
}

static void add_move(const Plan *p, const Step *s, int64_t cycles, PlanFacts *f)
{
	f->spills += s->kind == STEP_SPILL;
	f->refills += s->kind == STEP_REFILL;
	if (s->kind != STEP_RESHARD)
		return;
	f->reshards++;
	f->reshard_bytes += kept_bytes(p, s->out);
	f->reshard_cycles += cycles;
}

static void add_traffic(const Plan *p, int step, PlanFacts *f)
{
	for (int core = 0; core < p->cores; core++) {
		Counters all, weights;
		cost_counters(p, step, core, &all);
		cost_counters_weights(p, step, core, &weights);
		f->weights_read += weights.dram_read_bytes;
		f->tensors_read += all.dram_read_bytes - weights.dram_read_bytes;
		f->tensors_written += all.dram_write_bytes;
	}
}

/* Is it the first step of its op? */
static bool is_first(const Plan *bare, int step)
{
	for (int i = 0; i < step; i++)
		if (bare->steps[i].op == bare->steps[step].op)
			return false;
	return true;
}

PlanFacts plan_facts(const Plan *bare, const Plan *p, const PlanTime *t)
{
	PlanFacts f = { 0 };
	for (int i = 0; i < bare->nsteps; i++)
		f.ops += is_first(bare, i);
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (step_moves(s))
			add_move(p, s, t->steps[i].total, &f);
		add_traffic(p, i, &f);
		if (!cost_is_product(s) || s->image > 0)
			continue;
		f.products[s->phases]++;
		f.weight_bytes[type_of(s->weights)] += (int64_t)s->groups * s->stream.chunks
			* s->page_bytes;
	}
	for (int i = 0; i < bare->ntensors; i++) {
		const PlanTensor *x = p->tensors[i];
		f.tensors[type_of(x->layout.type)]++;
		f.in_dram += x->layout.place == PLACE_DRAM;
	}
	return f;
}
