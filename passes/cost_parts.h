/*
 * What the files of the cost model share: how much one core has to do in one op of
 * a step, as a Work.
 */
#ifndef PASSES_COST_PARTS_H
#define PASSES_COST_PARTS_H

#include "ir/plan_work.h"
#include "ir/work.h"
#include "passes/cost_step.h"

enum { COST_DRAM_PAGE = 8192 }; /* bytes of weights in a bank, then the next follows */

/* Cores with the same do the same. */
typedef struct CoreShape {
	int own_rows;            /* of the result */
	int rows, planes;        /* of positions; of the result */
	int groups;              /* of weights */
	int image_rows, pad_top; /* that windows and reductions find */
	int lanes;               /* channels of the last plane, where there is an act */
} CoreShape;

/* `planes`: those it owns, whose weights come to it whether it has rows or not. */
CoreShape cost_shape(const Step *s, Region work, Range planes);

/* Of the op for one image, or for all if one op makes them, and column phase
 * `phase` of a mix. */
Work cost_tiles(const Step *s, const CoreShape *c, int phase);

/* Adds what the TRISCs count. */
void cost_count_tiles(const Step *s, const Work *w, Counters *c);

static inline bool cost_is_product(const Step *s)
{
	return s->kind == STEP_CONV || s->kind == STEP_DECONV2;
}

static inline const PlanTensor *cost_worked_on(const Step *s)
{
	return s->out ? s->out : s->in[0].tensor;
}

/* Bytes of a row of one plane, in runs of one or (exponents) two. */
int64_t cost_row_bytes(const PlanTensor *t);

/* Weights that come by in one op. */
typedef struct Fetch {
	int64_t pages;   /* of the core with most of them */
	int64_t room;    /* pages it has room for */
	int64_t readers; /* cores that read at the same time */
	int64_t fetchers; /* of those that share pages: who read in turn; 0: each for itself */
	int64_t page_bytes;
	int64_t each;    /* cycles for a page, if none is on its way beside it */
} Fetch;

/* Of a mix, those of column phase `phase`. How long so many pages take. */
Fetch cost_fetch_of(const CostContext *x, const Plan *p, const Step *s, int phase);
int64_t cost_fetch_pages(const CostContext *x, const Fetch *f, int64_t pages);

/* A host edge on one core that has `rows` rows of `planes` planes, one image; what a
 * RISC-V is busy with and what it asks of the NoC. */
int64_t cost_edge_core(const CostContext *x, const Step *s, int rows, int planes);

/* Bytes between DRAM and L1 that go at the same time. */
typedef struct Traffic {
	int64_t read, write, transfers; /* of one core, or of the one with most of each */
	int64_t all_read, all_write;    /* of all of them */
} Traffic;

/* Adds a region of a tensor to what a core moves; a core, and others like it, to what
 * all move. */
void cost_traffic(Traffic *core, const PlanTensor *t, Region r, bool out);
void cost_traffic_cores(Traffic *all, const Traffic *core, int cores);
int64_t cost_traffic_time(const CostContext *x, const Traffic *all);

/* What the cores of a step have to do. */
enum { MAX_SHAPES = 16 };
typedef struct Shapes {
	int n;
	struct {
		CoreShape shape;
		Region own; /* of one of them */
		int cores;
	} v[MAX_SHAPES];
} Shapes;

/* All distinct ones; should there be too many, the others count as the last. They depend
 * on the cut of the result and its groups of weights, not on how those come. */
void cost_find_shapes(const Plan *p, const Step *s, Shapes *all);

/* cost_work of a step that moves nothing. */
StepTime cost_work_of(CostContext *x, const Plan *p, const Step *s, const Shapes *all);

/* As cost_shape, of host edges too. */
CoreShape cost_shape_of(const Step *s, Region own);

/* All images of a step or of one slice, which is not the first if `again`; launches
 * are left out. A step in slices. */
StepTime cost_images(CostContext *x, const Plan *p, const Step *s, const Shapes *all, bool again);
StepTime cost_slices(CostContext *x, const Plan *p, const Step *s, const Shapes *all);

/* Adds to a time: cycles of a cause, another time so often, what a cause takes longer
 * than all there is. */
void cost_charge(StepTime *t, CauseId id, int64_t cycles);
void cost_add(StepTime *t, const StepTime *more, int64_t times);
void cost_lasts(StepTime *t, CauseId id, int64_t cycles);

static inline int64_t cost_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t cost_most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t cost_least(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
