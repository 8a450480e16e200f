/*
 * What fold_shuffle does with a selection of channels once it knows one.
 */
#ifndef PASSES_SHUFFLE_H
#define PASSES_SHUFFLE_H

#include "ir/graph.h"

/* Folds select_channels op `sel` into the weights above or below it. True if
 * that worked; `sel` is then gone. */
bool shuffle_fold(Graph *g, Op *sel);

/* True if every channel of `n` is in the list once. */
bool shuffle_is_permutation(Ints list, int64_t n);

#endif
