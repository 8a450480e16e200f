/* A program and its code as a .ttb package. */
#ifndef BACKEND_PACKAGE_H
#define BACKEND_PACKAGE_H

#include "backend/blocks.h"
#include "backend/code.h"
#include "runtime/host/ttb.h"

/* `data` is NULL if an image has no data or the package is not sound, which is
 * reported. */
Bytes package_make(Arena *a, Diag *d, const Program *p, const Target *t, const Code *c,
		   const Blocks *b, const char *compiler);

/* Part `part` of an input or output as the host has it. */
TtbPart package_part(const ProgramEdge *e, int part);

#endif
