/*
 * The device library as the compiler carries it: bitcode, a module for each
 * RISC-V in the order of TtRisc, made of library.c when the project is built.
 */
#ifndef RUNTIME_DEVICE_LIBRARY_H
#define RUNTIME_DEVICE_LIBRARY_H

#include "ir/embed.h"

extern const EmbeddedFile device_library[];
extern const int device_library_count; /* TT_RISCS */

#endif
