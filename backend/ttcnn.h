/*
 * A plan for ttnn as a Python module for TT-CNN, to read, edit and run: the builder's
 * configuration of every layer, a class that calls them in order, and a pipeline.
 *
 *     class VanillaUnet:
 *         def __init__(self, device, tensors):
 *             weight, bias = parameters(tensors, "enc1.c1.conv")
 *             self.enc1_c1_conv = TtConv2d(
 *                 Conv2dConfiguration(
 *                     input_height=480,
 *                     ...
 *
 * It spells what the plan says and decides nothing. What is longer than a call is in
 * ttcnn_support.py, which stands in every module. Weights go to a file of their own.
 */
#ifndef BACKEND_TTCNN_H
#define BACKEND_TTCNN_H

#include "ir/ttnn.h"

typedef struct TtcnnModule {
	const char *text;
	int n; /* tensors of the weights file: "LAYER.weight" and "LAYER.bias" */
	const char **names;
	const Tensor **tensors;
} TtcnnModule;

/* The module; its weights are in a file of that name beside it. */
TtcnnModule ttcnn_module(const TtnnPlan *p, const char *weights_file);

#endif
