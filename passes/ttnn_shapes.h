/*
 * A graph as ttnn's ops see it: which of them it comes to, and the windows they slide.
 */
#ifndef PASSES_TTNN_SHAPES_H
#define PASSES_TTNN_SHAPES_H

#include "passes/ttnn_l1.h"

/* True if ttnn has a counterpart for every op; else each that has none is reported. */
bool ttnn_supported(const Graph *g);

/* Of an op that is supported. */
TtnnConv ttnn_conv_of(const Op *op);
TtnnWindow ttnn_pool_of(const Op *op);

/* An activation by itself, or what another op has fused; OP_INPUT: none. */
Act ttnn_act_of(const Op *op);

/* Is it fused into ttnn's own op, or a call of its own? */
bool ttnn_fuses(const Op *op);

static inline int64_t ttnn_depth(const Op *op) { return op->shape.dim[1]; }

#endif
