/*
 * LLVM, seen from outside the backend: no LLVM type leaves this folder.
 *
 * Everything that uses it stands in a module, tessera_llvm.so, which is loaded
 * when it is first asked for, so that commands which emit nothing do not load
 * LLVM. The module exports one object, llvm_module.
 *
 *     LLVM 19.1.7: riscv32 objects ok
 */
#ifndef BACKEND_LLVM_H
#define BACKEND_LLVM_H

#include <stdbool.h>
#include <stdio.h>

typedef struct LlvmModule {
	bool (*check)(FILE *to);
} LlvmModule;

/* What the module exports. */
extern const LlvmModule llvm_module;

/* Compiles a small function to a riscv32 object in memory, looks at what came
 * out, and prints the version and the verdict on one line. False if no
 * program could be made for the device: the line says why. */
bool llvm_check(FILE *to);

#endif
