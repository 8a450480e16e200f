/*
 * Rounding weights to what the device multiplies by, such that their sum stays.
 *
 * Activations are seldom zero on average: what a result is off by is mostly the sum
 * of the errors of its weights times that average. So each weight goes to one of the
 * two values next to it, the nearer unless the other makes
 *
 *     sum of squared errors + square of the sum of errors
 *
 * less. A few weights that are almost halfway do for that: the sum of the errors ends
 * below a step, and their squares grow by little. It costs nothing at run time.
 */
#ifndef IR_WEIGHT_ROUND_H
#define IR_WEIGHT_ROUND_H

#include <stdint.h>

/* f32 is rounded to the bits of SrcA that products see: ten, the hidden one included
 * (facts of matrix units: five a phase, in two of them).
 *
 * Weight i of result o is v[o * n + i]. bfp8_b: 16 results from a multiple of 16 on
 * have an exponent for each i, as weight_block.h lays them out, and `results` is such a
 * multiple. What comes of it is packed without being rounded again. */
void weight_round(uint32_t type, float *v, int64_t results, int64_t n);

#endif
