/*
 * What a program will make its cores count (ir/counters.def), from the
 * parameters of its ops alone: by ir/work.h, as a plan does from its own.
 *
 *     Counters *c = predict_program(arena, program);
 *     c[op * program->ncores + core].unpack_bytes
 *
 * Code must be resident: overlays are not looked at.
 */
#ifndef BACKEND_PREDICT_H
#define BACKEND_PREDICT_H

#include "backend/program.h"
#include "ir/work.h"

/* Of one run that follows another. */
Counters *predict_program(Arena *a, const Program *p);

/* One RISC-V's part of an op, its routine and constants included; what is
 * around the routines (WORK_lead) is on BRISC's. False if it has no routine. */
bool predict_work(const Program *p, int op, int core, TtRisc risc, Work *w, WorkId *routine);

#endif
