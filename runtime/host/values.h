/*
 * Elements of the caller's arrays as bf16 and back: what devices take is rounded
 * here, while it is copied, so half as much travels and no core converts.
 *
 * To bf16 they round to nearest, ties to even; a NaN stays one. Back they are
 * exact, but for f16, where too large is infinite and too small rounds likewise.
 */
#ifndef RUNTIME_HOST_VALUES_H
#define RUNTIME_HOST_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* `n` elements of `type`, which is TtHost but not bf16, anywhere in memory. */
void values_to_bf16(uint32_t type, const void *from, size_t n, uint8_t *to);

/* There is no way back to u8. */
void values_of_bf16(uint32_t type, const uint8_t *from, size_t n, void *to);

#endif
