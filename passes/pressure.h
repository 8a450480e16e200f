/*
 * How hard the circular buffers of a plan are pressed: who waits for whom, and how much
 * of L1 an op fills. All of it predicted.
 *
 * Pages of weights go round a ring. The mover asks for the next page when the last is in
 * place and there is room, the consumer takes as long for each: with the prices of
 * cost_step.h that says of every page whether it was there when it was wanted (else it
 * is a miss), and who waits how long. Tensors are read where they lie: such a buffer is
 * backed by the tensor and nobody waits for its pages. What goes through partial sums
 * and rows of the host is not modelled page by page.
 *
 * Of an op, in percent:
 *
 *     miss rate     misses / pages that come by
 *     utilisation   time the consumer works / that and what it waits for pages
 *     fill          L1 in use in its step / L1 there is
 *     score         0.4 miss rate + 0.4 (100 - utilisation) + 0.2 fill, 0 to 100
 *
 * Its risk of thrashing is the worse of two, by miss rate and by score; pressure by
 * utilisation stands apart (pressure_levels.def). Of a net: all pages and waits together,
 * the fill of the fullest step.
 */
#ifndef PASSES_PRESSURE_H
#define PASSES_PRESSURE_H

#include "passes/plan_buffers.h"
#include "passes/plan_units.h"

/* A ring of `room` pages through which so many come: `each` cycles to bring one, `use` to
 * work on it; the mover begins `ahead` cycles before the consumer. */
typedef struct Ring {
	int64_t pages, room, each, use, ahead;
} Ring;

typedef struct RingRun {
	int64_t misses;   /* pages that were waited for */
	int64_t high;     /* pages in the ring at most */
	int64_t waits;    /* cycles the consumer waits for pages */
	int64_t blocked;  /* cycles the mover waits for room */
} RingRun;

RingRun ring_run(const Ring *r);

typedef enum Level { LEVEL_LOW, LEVEL_MEDIUM, LEVEL_HIGH, LEVELS } Level;
extern const char *const level_names[LEVELS];

typedef enum WorkloadId {
#define WORKLOAD(id, most, name, advice) WORKLOAD_##id,
#include "passes/workloads.def"
	WORKLOADS
} WorkloadId;

typedef struct WorkloadInfo {
	int64_t most;
	const char *name, *advice;
} WorkloadInfo;

extern const WorkloadInfo workload_info[WORKLOADS];

WorkloadId workload_of(int64_t tiles);

/* A circular buffer of a step; or what a step reads and writes in place. */
typedef struct CbUse {
	int step;
	const char *name, *role;     /* "weights", "sums", "host", "input 0", "result" */
	bool in_tensor;              /* backed by a tensor, else stacked with the others */
	uint64_t address;
	int64_t page_bytes, pages;   /* its capacity */
	int64_t page_tiles, tiles;   /* of a page; needed for a block of the result */
	bool modelled;               /* the rest is known */
	Ring ring;                   /* of all runs of it together: */
	int64_t come;                /* pages that come by */
	RingRun run;
} CbUse;

/* Of a step, on the core with most of it; in the arena of the graph. */
int step_cbs(const Plan *p, const PlanTime *t, int step, CbUse **list);

typedef struct Pressure {
	int64_t come, misses, waits, work; /* pages; cycles */
	int64_t used;                      /* bytes of L1 in the step */
	int miss, utilisation, fill;       /* in tenths of a percent */
	int score;                         /* 0 to 100 */
	Level risk, by_utilisation;
	WorkloadId workload;
	int64_t fixed_waits, fixed_bytes;  /* had its ring two pages, as is usual; */
	int64_t ring_bytes;                /* and as it is */
} Pressure;

/* Rates, score and levels from the figures before them. */
void pressure_judge(Pressure *x, int64_t room);

/* Of each step of the plan; `net` is all of them. `room` bytes of L1 are there. */
Pressure *plan_pressure(const Plan *p, const PlanTime *t, int64_t room, Pressure *net);

#endif
