/*
 * A net on ONNX Runtime, to compare with: the graph as ONNX, run by node.
 *
 * TESSERA_ORT names a folder in which `npm install --ignore-scripts onnxruntime-node`
 * was done; without it there is nothing to run.
 */
#ifndef TESTS_BENCH_ORT_H
#define TESTS_BENCH_ORT_H

#include "ir/graph.h"

/* Seconds of a run with so many threads, the fastest of `repeats`; negative, said, if that
 * cannot be had. The graph has one input and ops that UNets are made of. */
double ort_run(const Graph *g, int threads, int repeats);

#endif
