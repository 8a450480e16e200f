/*
 * Parts of inputs and outputs between the caller's arrays and bytes as they
 * lie in DRAM. Those of one part and slot are kept together, bank by bank,
 * slot_bytes each; that is what `stage` points to. Elements become there what the
 * part stores them as (values.h).
 */
#ifndef RUNTIME_HOST_VIEW_H
#define RUNTIME_HOST_VIEW_H

#include "runtime/host/ttb.h"

/* `type` is TtHost: the caller's. */
void view_to_stage(const TtbPart *p, uint32_t type, const void *host, uint8_t *stage);
void view_from_stage(const TtbPart *p, uint32_t type, void *host, const uint8_t *stage);

#endif
