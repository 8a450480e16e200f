/*
 * Depfiles: what a result was made of, for make and ninja.
 *
 *     unet.o unet.h: \
 *       unet.onnx \
 *       my\ weights.bin
 *
 *     unet.onnx:
 *
 *     my\ weights.bin:
 *
 * Paths stand as they were opened, escaped as gcc escapes them. Each file has a rule of
 * its own without anything, so that one that is gone does not stop the build that would
 * find out about it.
 */
#ifndef FRONTEND_DEPFILE_H
#define FRONTEND_DEPFILE_H

#include "ir/arena.h"
#include "ir/diag.h"

/* Says in a file at `path` that the targets were made of all that was read into the arena
 * so far. False if it cannot be written or a name cannot be said, which is reported. */
bool depfile_write(Arena *a, Diag *d, const char *path, int ntargets,
		   const char *const targets[]);

#endif
