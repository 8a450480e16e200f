/*
 * A plan's tensors as a device has them, between the ops of a run: what each core owns is
 * read from its L1, or all pages from DRAM, by the addresses of the plan. Cores pause for
 * that when a tensor is there; plan, code and results are what they are without.
 *
 *     DeviceWatch w = { .plan = plan, .program = program, .device = device, .seen = print };
 *     w.tensors = device_tensors(arena, plan, &w.n);
 *     if (device_watch(&w, arena, loaded, &e) && tessera_run(loaded, ...))
 *             ... print(context, i, value) was called for each w.tensors[i]
 */
#ifndef BACKEND_DEVICE_TENSOR_H
#define BACKEND_DEVICE_TENSOR_H

#include "backend/program.h"
#include "ir/plan.h"
#include "runtime/host/tessera_rt.h"

/* Every tensor of a plan in the order in which they are done, but for buffers of slices,
 * which never hold one. */
PlanTensor **device_tensors(Arena *a, const Plan *p, int *n);

typedef struct DeviceWatch {
	const Plan *plan;
	const Program *program; /* lowered from it */
	PlanTensor **tensors;
	int n;
	TesseraDevice *device;
	/* The value is f32[images, channels, height, columns], exactly what is there, and
	 * gone after the call. */
	void (*seen)(void *context, int i, const Tensor *value);
	void *context;
} DeviceWatch;

/* Has the first run of a program that was just loaded show all tensors; `w` and the
 * arena have to stay for it. */
bool device_watch(DeviceWatch *w, Arena *a, TesseraProgram *loaded, TesseraError *e);

#endif
