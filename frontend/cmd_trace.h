/*
 * Timelines as a trace that Perfetto and Chrome's chrome://tracing open: a process for
 * each timeline, a thread for each track, the same ones in all of them.
 *
 *     { "name": "enc1.c1.conv", "ph": "X", "pid": 1, "tid": 4, "ts": 33.041, "dur": 92.4, ... }
 *
 * Track 0 has the steps, the others are the rows of passes/units.def; ts and dur are in
 * microseconds at the target's clock.
 */
#ifndef FRONTEND_CMD_TRACE_H
#define FRONTEND_CMD_TRACE_H

#include "frontend/cmd_counted.h"

/* The plan as predicted; and, if there is one, a run on the emulator. */
void trace_write(FILE *f, const Planned *p, const Counted *ran);

#endif
