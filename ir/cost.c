#include "ir/cost.h"

#include <string.h>

const CounterInfo counter_info[COUNTER_COUNT] = {
#define COUNTER(name, unit, how, what) [COUNTER_##name] = { #name, unit, COUNTER_##how, what },
#include "ir/counters.def"
};

const CostInfo cost_info[COST_COUNT] = {
#define COST(name, cycles, what) [COST_##name] = { #name, what },
#include "ir/costs.def"
};

const CauseInfo cause_info[CAUSE_COUNT] = {
#define CAUSE(name, what) [CAUSE_##name] = { #name, what },
#include "ir/causes.def"
};

static const size_t counter_offset[COUNTER_COUNT] = {
#define COUNTER(name, unit, how, what) [COUNTER_##name] = offsetof(Counters, name),
#include "ir/counters.def"
};

int64_t counter_get(const Counters *c, CounterId id)
{
	int64_t v;
	memcpy(&v, (const char *)c + counter_offset[id], sizeof v);
	return v;
}

void counters_add(Counters *c, const Counters *more)
{
#define COUNTER(name, unit, how, what) c->name += more->name;
#include "ir/counters.def"
}

/* The words of costs.def; what is begun counts as a whole cycle. */

static int64_t per(int64_t n, int64_t rate) { return (n + rate - 1) / rate; }

static int64_t thousandths(int64_t n) { return per(n, 1000); }

static int64_t per_thousand(int64_t n, int64_t rate) { return per(n * 1000, rate); }

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

#define RISC(who) risc(t, c->who##_instructions, c->who##_l1_loads, c->who##_l1_uses, \
		       c->who##_l1_stores, c->who##_muls, c->who##_divs, c->who##_taken)

/* One cycle an instruction and what some take beyond that. */
static int64_t risc(const Target *t, int64_t instructions, int64_t loads, int64_t uses,
		    int64_t stores, int64_t muls, int64_t divs, int64_t taken)
{
	return instructions + muls * (t->risc_mul - 1) + divs * (t->risc_div - 1)
		+ taken * t->risc_taken
		+ thousandths(loads * (t->risc_l1_load - 1000) + uses * (t->risc_l1_use - 1000)
			      + stores * (t->risc_l1_store - 1000));
}

#define COST(name, cycles, what) \
	static int64_t cost_##name(const Target *t, const Counters *c) { return cycles; }
#include "ir/costs.def"

/* The busiest unit; the first of several. */
static void bind(Cost *cost)
{
	cost->total = 0;
	for (int i = 0; i < COST_COUNT; i++) {
		if (cost->cycles[i] <= cost->total)
			continue;
		cost->total = cost->cycles[i];
		cost->binding = (CostId)i;
	}
}

Cost cost_predict(const Target *t, const Counters *c)
{
	Cost cost = {
		.cycles = {
#define COST(name, cycles, what) [COST_##name] = cost_##name(t, c),
#include "ir/costs.def"
		},
	};
	bind(&cost);
	return cost;
}

Cost cost_op(const Target *t, const Counters *cores, int n)
{
	Counters sum = { 0 };
	Cost cost = { 0 };
	for (int k = 0; k < n; k++) {
		const Cost one = cost_predict(t, &cores[k]);
		for (int i = 0; i < COST_COUNT; i++)
			cost.cycles[i] = larger(cost.cycles[i], one.cycles[i]);
		counters_add(&sum, &cores[k]);
	}
	sum.dram_waits = 0; /* they wait side by side */
	cost.cycles[COST_dram] = larger(cost.cycles[COST_dram], cost_dram(t, &sum));
	bind(&cost);
	return cost;
}

int64_t cost_noc_transfer(const Target *t, int64_t bytes, int hops_there, int hops_back)
{
	return t->noc_issue + 4 * t->noc_edge + (hops_there + hops_back) * t->noc_hop
		+ per_thousand(bytes, t->noc_rate);
}

int64_t cost_dram_read(const Target *t, int64_t bytes, int hops_there, int hops_back)
{
	const int64_t rate = t->dram_read_rate < t->noc_rate ? t->dram_read_rate : t->noc_rate;
	return cost_noc_transfer(t, 0, hops_there, hops_back) + t->dram_latency
		+ per_thousand(bytes, rate);
}
