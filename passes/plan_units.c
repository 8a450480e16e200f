#include "passes/plan_units.h"

#include "passes/cost_parts.h"

const UnitInfo unit_info[UNIT_COUNT] = {
#define UNIT(name, label, what) { #name, label, what },
#include "passes/units.def"
};

/* What a mover is busy with: the transfers it starts, or its instructions. */
static int64_t mover(const Target *t, const Counters *started, const Cost *all, CostId issue)
{
	if (!started)
		return all->cycles[issue];
	return cost_predict(t, started).cycles[COST_noc];
}

/* Transfers that are not those of `less`. */
static Counters without(const Counters *all, const Counters *less)
{
	return (Counters){
		.noc_transfers = all->noc_transfers - less->noc_transfers,
		.noc_read_bytes = all->noc_read_bytes - less->noc_read_bytes,
		.noc_write_bytes = all->noc_write_bytes - less->noc_write_bytes,
		.noc_waits = all->noc_waits - less->noc_waits,
		.mcasts = all->mcasts - less->mcasts,
		.mcast_bytes = all->mcast_bytes - less->mcast_bytes,
	};
}

static int64_t either(const Cost *c, CostId a, CostId b)
{
	return cost_most(c->cycles[a], c->cycles[b]);
}

void units_busy(const Target *t, const Counters *cores, const Counters *movers, int n,
		int64_t busy[UNIT_COUNT])
{
	for (int i = 0; i < UNIT_COUNT; i++)
		busy[i] = 0;
	for (int k = 0; k < n; k++) {
		const Cost c = cost_predict(t, &cores[k]);
		const Counters rest = movers ? without(&cores[k], &movers[k]) : (Counters){ 0 };
		const int64_t one[UNIT_COUNT] = {
			[UNIT_brisc] = mover(t, movers ? &rest : NULL, &c, COST_brisc),
			[UNIT_ncrisc] = mover(t, movers ? &movers[k] : NULL, &c, COST_ncrisc),
			[UNIT_trisc0] = cost_most(either(&c, COST_unpack, COST_unpack_issue),
						  c.cycles[COST_trisc0]),
			[UNIT_trisc1] = either(&c, COST_math, COST_trisc1),
			[UNIT_trisc2] = either(&c, COST_pack, COST_trisc2),
			[UNIT_noc] = c.cycles[COST_noc],
		};
		for (int i = 0; i < UNIT_COUNT; i++)
			busy[i] = cost_most(busy[i], one[i]);
	}
	busy[UNIT_dram] = cost_op(t, cores, n).cycles[COST_dram];
}

/* The next step that is not beside another: where one that is gets counted. */
static int carrier(const Plan *p, int step)
{
	while (p->steps[step].beside)
		step++;
	return step;
}

StepSpan *plan_spans(const Plan *p, const PlanTime *t)
{
	StepSpan *v = arena_array(p->graph->arena, StepSpan, p->nsteps + 1);
	Counters *all = arena_array(p->graph->arena, Counters, p->cores + 1);
	Counters *weights = arena_array(p->graph->arena, Counters, p->cores + 1);
	int64_t at = 0;
	for (int i = 0; i < p->nsteps; i++) {
		v[i].start = at;
		v[i].cycles = t->steps[i].total;
		at += v[i].cycles;
		if (carrier(p, i) != i)
			continue;
		for (int core = 0; core < p->cores; core++) {
			cost_counters(p, i, core, &all[core]);
			cost_counters_weights(p, i, core, &weights[core]);
		}
		units_busy(p->target, all, weights, p->cores, v[i].busy);
		for (int k = 0; k < UNIT_COUNT; k++)
			v[i].busy[k] = cost_least(v[i].busy[k], v[i].cycles);
	}
	return v;
}
