/*
 * NNEF 1.0.5 text, the language models are written in by hand. nnef_read and
 * nnef_write are in model.h.
 *
 * Flat and compositional syntax, both of Khronos' extensions
 * (KHR_enable_fragment_definitions, KHR_enable_operator_expressions), and two
 * of ours, each to be declared after the version:
 *
 *     version 1.0;
 *     extension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;
 *     extension TS_scoped_variables, TS_hints;
 *
 *     fragment block(x: tensor<scalar>, channels: integer) -> (y: tensor<scalar>)
 *     {
 *         w = variable(shape = [channels, ?, 3, 3], label = 'w');
 *         b = variable(shape = [1, ?], label = 'b');
 *         y = relu(conv(x, w, b));
 *     }
 *
 *     graph net(x) -> (y)
 *     {
 *         x = external(shape = [1, 3, 64, 64]);
 *         enc = block(x, 16);
 *         y = block(enc, 32) @ (shard = 'height', act_block_h = 64);
 *     }
 *
 * TS_scoped_variables: a fragment may hold variables. Each invocation has its
 * own: the label is put below the invocation's scope, which is the scope of
 * the caller and the identifier assigned ('enc/w', 'y/w'), or a string given
 * as an extra argument `scope`. Where a fragment declares a parameter named
 * `scope` itself, it spells its labels out and they are taken as they are.
 * A dim of a variable may be `?`: it follows from the variable's first use (the
 * input channels of a filter, the length of a bias or of batch-norm vectors,
 * the other operand's dim in arithmetic).
 *
 * TS_hints: `@ (key = value, ...)` behind an assignment pins plan choices of
 * the operation that makes its result; keys are those of ir/hints.def.
 *
 * Fragments may invoke themselves as long as that ends; how deep, and how much
 * a text may make of itself, is bounded (nnef_eval.h).
 *
 * Broadcasting lines dims up at the first one, as the standard says. An op is
 * named by its identifier, inside fragments after the invocation's ("enc.w").
 */
#ifndef FRONTEND_NNEF_H
#define FRONTEND_NNEF_H

#include <stdbool.h>

/* For `tessera ops`: name and prototype of standard operation i, and why it is
 * not supported, or NULL if it is; false past the last. */
bool nnef_op_row(int i, const char **name, const char **prototype, const char **why_not);

#endif
