/*
 * Data formats: L1 to the source registers, Dst to L1, many values at a time.
 *
 * All of it is integer arithmetic on bit patterns (FloatBitPatterns.md), so the
 * bits do not depend on how it was compiled or on which processor it runs.
 */
#ifndef RUNTIME_EMU_CONVERT_H
#define RUNTIME_EMU_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers as the configuration has them; the others are not known here. */
enum { FORMAT_FP32 = 0, FORMAT_TF32 = 4, FORMAT_BF16 = 5, FORMAT_BFP8 = 6 };

/* Of a datum, in L1 and where registers are addressed in bytes. */
static inline uint32_t format_bits(uint32_t format)
{
	return format == FORMAT_BFP8 ? 8 : format == FORMAT_BF16 ? 16 : 32;
}

/* ---- into the source registers: fp32 patterns whose lower 13 bits are zero ---- */

void src_from_bf16(const uint8_t *from, uint32_t *to, uint32_t n);

/* Mantissa cut to 10 bits, or to 7 with denormals to zero. */
void src_from_fp32(const uint8_t *from, uint32_t *to, uint32_t n, bool bf16);

/* A byte of sign and magnitude with its shared exponent. */
uint32_t src_from_bfp8(uint8_t from, uint8_t exponent);

/* n of them, an exponent for each 16. */
void src_from_bfp8_rows(const uint8_t *from, const uint8_t *exponents, uint32_t *to, uint32_t n);

/* ---- out of Dst ---- */

/* What a packer makes of fp32 values on the way from Dst: bf16, or bf16 whose
 * lowest bit is zero, as what becomes bfp8 is read. Not-a-number becomes
 * infinity, denormals zero, halves are rounded away from zero. */
void bf16_from_fp32(uint32_t *v, uint32_t n);
void bfp8_from_fp32(uint32_t *v, uint32_t n);

/* The same from bf16 values. */
void bf16_from_bf16(uint32_t *v, uint32_t n, bool bfp8);

/* bf16 values to L1, and rows of 16 with an exponent each. */
void l1_from_bf16(const uint32_t *v, uint8_t *to, uint32_t n);
void l1_from_bfp8(const uint32_t *v, uint8_t *exponents, uint8_t *to, uint32_t n);

/* The sum a packer leaves in L1: what was there, and a value. */
uint32_t l1_add_fp32(uint32_t there, uint32_t value);
uint16_t l1_add_bf16(uint16_t there, uint16_t value);

#endif
