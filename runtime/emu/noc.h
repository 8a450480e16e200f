/* Between the NoC's registers and what it does. */
#ifndef RUNTIME_EMU_NOC_H
#define RUNTIME_EMU_NOC_H

#include "runtime/emu/core.h"

enum {
	NO_WORKER_COLS = 1 << 0 | 1 << 5, /* router_cfg[1] at reset */
	NO_WORKER_ROWS = 1 << 0 | 1 << 6, /* router_cfg[3] */
};

/* Takes what stands in a command buffer as a request. */
Access noc_issue(EmuCore *c, Risc r, int noc, uint32_t command);

#endif
