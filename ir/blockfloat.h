/*
 * bfp8_b: 16 values with one exponent.
 *
 * The exponent byte is the largest of the 16 f32 exponents. Each value is a
 * byte: a sign and 7 bits that count steps of 2^(exponent - 127 - 6); there is
 * no hidden bit. Values round to the nearest step, ties to even, once; a value
 * that would need 128 steps takes 127, because the exponent is not raised for
 * it. Values below the smallest normal f32 are zero, and zero has no sign.
 *
 *     1.0  0.5  -0.75  0.01  ->  exponent 127, bytes 64, 32, 0x80 | 48, 1
 *
 * (tt-metal's host packer drops bits while aligning and rounds after that, so
 * it may differ by a step where those bits would have broken a tie.)
 */
#ifndef IR_BLOCKFLOAT_H
#define IR_BLOCKFLOAT_H

#include <stdint.h>

enum { BLOCKFLOAT = 16 };

/* The values must be finite. Returns the exponent. */
uint8_t blockfloat_pack(const float values[BLOCKFLOAT], uint8_t bytes[BLOCKFLOAT]);

/* One value back; exact in f32. */
float blockfloat_value(uint8_t exponent, uint8_t byte);

#endif
