/*
 * ONNX's backend tests on a device: those whose ops are device ops and whose
 * tensors are N,C,H,W images.
 */
#ifndef TESTS_CONFORM_DEVICE_H
#define TESTS_CONFORM_DEVICE_H

#include "ir/graph.h"

/* Weights and parameters that these tests pass as inputs become constants: what a
 * device multiplies with is known when a model is compiled. Data of inputs that
 * are left in `in`, their number returned. Before any pass. */
int device_bake(Graph *g, Tensor *in[]);

/* Why the graph, which all passes have seen, is none of a device's business; or
 * NULL. */
const char *device_beyond(const Graph *g);

/* Runs it and compares: what a result may be off by is DEVICE_TOLERANCE of the
 * greatest magnitude of its tensor. Returns what is wrong, or NULL. */
#define DEVICE_TOLERANCE 0x1p-6
const char *device_run(Graph *g, const char *device, Tensor *const in[], Tensor *const want[]);

#endif
