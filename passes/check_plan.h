/*
 * Checking a finished plan (ir/plan.h), whoever made or edited it.
 *
 * Nothing here is the planner's: what steps read, how long buffers live and how
 * large they are is worked out again from the steps, so that an error of the
 * planner is one of its own. A plan that passes can be lowered.
 *
 *     tensor 'c1': core 3 keeps rows 9 to 12, conv 'y' (step 5) reads 7 to 13
 */
#ifndef PASSES_CHECK_PLAN_H
#define PASSES_CHECK_PLAN_H

#include "ir/plan.h"

/* True if the plan obeys every rule; reports each breach. */
bool check_plan(const Plan *p, Diag *d);

/* ---- its parts: each reports what is wrong of one kind ---- */

typedef struct Checker {
	const Plan *p;
	Diag *d;
} Checker;

/* Tensors, steps and the grid are there and not absurd. The others take for
 * granted that this found nothing. */
void check_fields(const Checker *c);

/* Who owns and keeps what of every tensor, and the size of its buffer. */
void check_tensors(const Checker *c);

/* What a step reads is kept, and slices of it find room. */
void check_reads(const Checker *c);

/* Groups, blocks, pages and sums of weights. */
void check_weights(const Checker *c);

/* Formats, column phases and what routines want of their operands. */
void check_types(const Checker *c);

/* Steps in an order that works, and none left out. */
void check_order(const Checker *c);

/* Lives of buffers, their addresses, and whether L1 holds them. */
void check_memory(const Checker *c);

/* ---- what they share ---- */

void check_tensor_wrong(const Checker *c, const PlanTensor *t, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void check_step_wrong(const Checker *c, const Step *s, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define TENSOR_RULE(c, t, rule, ...) \
	((rule) ? (void)0 : check_tensor_wrong((c), (t), __VA_ARGS__))
#define STEP_RULE(c, s, rule, ...) ((rule) ? (void)0 : check_step_wrong((c), (s), __VA_ARGS__))

static inline int check_div_up(int a, int b) { return (a + b - 1) / b; }

static inline bool check_in_dram(const PlanTensor *t) { return t->layout.place == PLACE_DRAM; }

static inline bool check_within(Range a, Range b)
{
	return !range_count(a) || (b.first <= a.first && a.end <= b.end);
}

/* The tensor whose shards say what each core does in a step. */
const PlanTensor *check_worked_on(const Step *s);

/* Is it buffers for slices, and of no step but this? NULL: of none. */
const Step *check_slices_of(const Checker *c, const PlanTensor *t);

/* The step during which step i goes on: itself, or the next that is not beside. */
int check_runs_in(const Plan *p, int i);

/* The last step before i that is not beside others; -1: none. */
int check_before(const Plan *p, int i);

/* What of a part a step reads to make rows, or planes, of its result. */
Range check_rows_read(const Step *s, int part, Range rows);
Range check_planes_read(const Step *s, int part, Range planes);

#endif
