/*
 * Nets with random weights that do what trained ones do: a photograph goes in, and what
 * batch norms divide by is what one run on it has shown, so that every layer has values
 * of one size, of both signs, that differ from place to place.
 *
 * Noise through random statistics is a poor measure: its results hardly differ.
 */
#ifndef TESTS_PHOTO_PHOTO_H
#define TESTS_PHOTO_PHOTO_H

#include "ir/graph.h"

/* A photograph as .npy of 1x3xHxW, scaled to `shape` and to -1 .. 1, by as many channels
 * as are wanted; NULL, reported. */
Tensor *photo_read(Arena *a, Diag *d, const char *path, Shape shape);

/* Mean and variance of each batch norm become those of its input in a run of the graph,
 * which no pass has changed, each after those before it; scale 1 and offset 0, as before
 * training. False, reported, if it cannot run. */
bool photo_settle(Graph *g, Tensor *image);

/* All products have weights in this format and all phases of them, unless the model says
 * otherwise. */
void photo_exact_weights(Graph *g, const char *format);

/* Outputs look at what goes into a sigmoid at the end, which would hide errors. */
void photo_before_sigmoid(Graph *g);

#endif
