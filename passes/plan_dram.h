/*
 * Tensors in DRAM: parked between two uses, or for good and taken in slices.
 */
#ifndef PASSES_PLAN_DRAM_H
#define PASSES_PLAN_DRAM_H

#include "passes/plan.h"

bool plan_reads(const Step *s, const PlanTensor *t);

/* Tensor t, last used in step `after`, waits in DRAM for step `before`. If step
 * `free` is to be free of it (-1: none), what is moved goes on beside others
 * where it can. What `before` and later steps read instead. */
PlanTensor *plan_park(Plan *p, PlanTensor *t, int after, int before, int free);

/* Not what is in DRAM or stands there anyhow, nor what is not whole rows. */
bool plan_can_park(const Plan *p, const PlanTensor *t);

/* Every tensor, between any two uses. */
void plan_park_all(Plan *p);

/* Tensor t lies in DRAM for good; steps that use it take it in slices. */
void plan_to_dram(Plan *p, PlanTensor *t);

/* Leaves out tensors that no step uses any more. */
void plan_drop_unused(Plan *p);

/* Can all steps that make or read it? */
bool plan_can_slice(const Plan *p, const PlanTensor *t);

/* Does the step work on a tensor in DRAM? */
bool plan_is_sliced(const Step *s);

/* Bytes of the buffers for slices of a step. */
int64_t plan_slice_bytes(const Plan *p, const Step *s);

/* Adds the buffers for slices of a step, once its slices have a height. */
void plan_slice_buffers(Plan *p, int step);

/* Buffers in L1 for the slices of each step that uses a tensor in DRAM, added to
 * the tensors of the plan: slices of `rows` rows, or 0: of as many as fit; one at a
 * time if `single`. After plan_cut. */
void plan_slices(Plan *p, int rows, bool single);

#endif
