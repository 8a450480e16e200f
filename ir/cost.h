/*
 * What work costs: the rows of costs.def over the rows of counters.def.
 *
 *     Counters c = { .unpacks = 3, .unpack_bytes = 2048 + 1088, .mvmuls = 32, ... };
 *     Cost cost = cost_predict(target, &c);
 *     cost.cycles[COST_unpack], cost.total, cost_info[cost.binding].name
 *
 * Everything is an integer: the same input gives the same prediction on every
 * machine. A prediction is a floor with known gaps, not a measurement; the
 * tests say how far it is from what was measured.
 */
#ifndef IR_COST_H
#define IR_COST_H

#include <stdint.h>

#include "ir/target.h"

typedef struct Counters {
#define COUNTER(name, unit, how, what) int64_t name;
#include "ir/counters.def"
} Counters;

typedef enum CounterId {
#define COUNTER(name, unit, how, what) COUNTER_##name,
#include "ir/counters.def"
	COUNTER_COUNT
} CounterId;

typedef enum CounterHow { COUNTER_EXACT, COUNTER_MODELLED } CounterHow;

typedef struct CounterInfo {
	const char *name, *unit;
	CounterHow how;
	const char *what;
} CounterInfo;

extern const CounterInfo counter_info[COUNTER_COUNT];

/* Counter `id` of `c`, for whoever walks them all. */
int64_t counter_get(const Counters *c, CounterId id);

/* Adds every counter of `more` to those of `c`. */
void counters_add(Counters *c, const Counters *more);

typedef enum CostId {
#define COST(name, cycles, what) COST_##name,
#include "ir/costs.def"
	COST_COUNT
} CostId;

typedef struct CostInfo {
	const char *name, *what;
} CostInfo;

extern const CostInfo cost_info[COST_COUNT];

typedef struct Cost {
	int64_t cycles[COST_COUNT];
	int64_t total;  /* of the busiest */
	CostId binding; /* which that is; the first row of several */
} Cost;

Cost cost_predict(const Target *t, const Counters *c);

/* Of an op that runs on `n` cores: each unit as on the core where it is busiest,
 * and the DRAM, which all of them share. */
Cost cost_op(const Target *t, const Counters *cores, int n);

/* Where the time of a step goes. */
typedef enum CauseId {
#define CAUSE(name, what) CAUSE_##name,
#include "ir/causes.def"
	CAUSE_COUNT
} CauseId;

typedef struct CauseInfo {
	const char *name, *what;
} CauseInfo;

extern const CauseInfo cause_info[CAUSE_COUNT];

/* The time a single transfer takes from its start to the end of its round
 * trip, with nothing else on the way. Hops go one way round the torus, so
 * there and back differ. */
int64_t cost_noc_transfer(const Target *t, int64_t bytes, int hops_there, int hops_back);
int64_t cost_dram_read(const Target *t, int64_t bytes, int hops_there, int hops_back);

#endif
