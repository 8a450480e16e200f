/*
 * Parts of inputs and outputs between the caller's arrays and bytes as they
 * lie in DRAM. Those of one part and slot are kept together, bank by bank,
 * slot_bytes each; that is what `stage` points to.
 */
#ifndef RUNTIME_HOST_VIEW_H
#define RUNTIME_HOST_VIEW_H

#include "runtime/host/ttb.h"

/* `size` is of an element, in bytes. */
void view_to_stage(const TtbPart *p, size_t size, const void *host, uint8_t *stage);
void view_from_stage(const TtbPart *p, size_t size, void *host, const uint8_t *stage);

#endif
