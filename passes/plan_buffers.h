/*
 * What lies in L1 and when: every buffer that place_buffers gave an address.
 *
 *     PlanBuffer *v;
 *     const int n = plan_buffers(plan, &v);
 *     plan_held_bytes(plan, &v[0], core)     of its bytes, what this core has in it
 *
 * A buffer is as large on every core as the core with most of it needs.
 */
#ifndef PASSES_PLAN_BUFFERS_H
#define PASSES_PLAN_BUFFERS_H

#include "passes/plan.h"

typedef enum BufferKind {
	BUFFER_TENSOR,  /* of the plan, or slices of one in DRAM */
	BUFFER_WEIGHTS, /* circular: pages of weights */
	BUFFER_SUMS,    /* partial sums of a block */
	BUFFER_HOST,    /* circular: rows from or to the host */
	BUFFER_KINDS
} BufferKind;

extern const char *const buffer_kinds[BUFFER_KINDS];

typedef struct PlanBuffer {
	BufferKind kind;
	const PlanTensor *tensor; /* or NULL */
	int step;                 /* whose it is; of a tensor, who makes it first */
	const char *name;         /* of the tensor, or of the step's result */
	int64_t bytes;            /* as placed: aligned */
	uint64_t address;
	int born, dies;           /* steps, both included */
} PlanBuffer;

/* In the arena of the graph. */
int plan_buffers(const Plan *p, PlanBuffer **list);

/* What a step of a plan is called: after what it makes, or its op. */
const char *plan_step_name(const Step *s);

/* Bytes of a buffer on one core: what it owns of a tensor, what it keeps of others' (its
 * halo); of a circular buffer, all of it or (it has no work) nothing. */
typedef struct Held {
	int64_t own, halo;
} Held;

Held plan_held_bytes(const Plan *p, const PlanBuffer *b, int core);

#endif
