/*
 * LLVM, seen from outside the backend: no LLVM type leaves this folder.
 *
 *     LLVM 19.1.7: riscv32 objects ok
 */
#ifndef BACKEND_LLVM_H
#define BACKEND_LLVM_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/arena.h"

/* Compiles a small function to a riscv32 object in memory, looks at what came
 * out, and prints the version and the verdict on one line. False if no
 * program could be made for the device with this LLVM. */
bool llvm_check(FILE *to);

/* "19.1.7": of the library that is loaded. */
const char *llvm_version(Arena *a);

#endif
