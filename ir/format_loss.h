/*
 * How much values lose in the formats of the device, on real values.
 *
 *     LossSums s = { 0 };
 *     for each 16 channels of a pixel: loss_add(&s, values);
 *     loss_noise(&s, LOSS_BFP8_B)   what differs, as a share of the energy
 *
 * Values are looked at in blocks of 16, which share an exponent in bfp8_b. A phase of
 * fidelity sees the upper 7 bits of an activation, the upper 5 of a weight, hidden one
 * included (the rest is cut off). What is only a common factor is no loss: it does not
 * change a correlation.
 */
#ifndef IR_FORMAT_LOSS_H
#define IR_FORMAT_LOSS_H

#include "ir/blockfloat.h"

typedef enum FormatLoss {
	LOSS_BF16,
	LOSS_BF16_TOP7, /* and then the upper bits alone */
	LOSS_BF16_TOP5,
	LOSS_BFP8_B,    /* has 7 bits to begin with */
	LOSS_BFP8_B_TOP5,
	LOSS_F32,       /* weights, rounded to the 10 bits that products see (weight_round.h) */
	LOSS_F32_TOP5,
	FORMAT_LOSSES
} FormatLoss;

typedef struct LossSums {
	double exact;              /* sum of squares */
	double rounded[FORMAT_LOSSES]; /* likewise of what becomes of the values */
	double both[FORMAT_LOSSES];    /* sum of products of the two */
} LossSums;

/* What is not finite counts as 0. */
void loss_add(LossSums *s, const float values[BLOCKFLOAT]);

/* Energy of the difference over that of the values; 0 if there are none. */
double loss_noise(const LossSums *s, FormatLoss how);

#endif
