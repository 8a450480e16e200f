/* Is what two emulators have in memory after the same run the same? */
#ifndef RUNTIME_HOST_RACE_H
#define RUNTIME_HOST_RACE_H

#include "runtime/emu/emu.h"
#include "runtime/host/ttb.h"

/* L1 of the plan on every core, outputs of the run. Names the first byte that
 * differs. */
bool race_compare(Emu *a, Emu *b, const Ttb *t, uint32_t run, TesseraError *e);

#endif
