/*
 * LLVM as a compiler for the RISC-Vs of a Tensix core, through LLVM-C only.
 *
 * The cores are rv32im with 32-bit instructions alone: no compressed ones, no
 * atomics, no floating point. A module made here carries the triple and data
 * layout; what is built in it comes out as an ELF object in memory.
 *
 *     LlvmTarget t;
 *     llvm_target_init(&t);
 *     LLVMModuleRef m = llvm_target_module(&t, "kernel");
 *     ... build functions with llvm_target_function ...
 *     Bytes object = llvm_target_emit(&t, arena, m);
 *     llvm_target_finish(&t);
 *
 * LLVM 14 still has typed pointers: give LLVMPointerType the type that is
 * loaded through it. From 15 on all of these are one type.
 *
 * Nothing here depends on the model, so whatever LLVM refuses is our mistake
 * and ends the program.
 */
#ifndef BACKEND_LLVM_TARGET_H
#define BACKEND_LLVM_TARGET_H

#include "backend/llvm_api.h"
#include "ir/arena.h"
#include "ir/file.h"

#define LLVM_TARGET_TRIPLE "riscv32-unknown-unknown-elf"
#define LLVM_TARGET_CPU "generic-rv32"

/* No linker relaxation: our own linker places code and does not shrink it. */
#define LLVM_TARGET_FEATURES "+m,-a,-c,-d,-f,-relax"

/* Threads may have one each. */
typedef struct LlvmTarget {
	LLVMContextRef context;
	LLVMTargetMachineRef machine;
	LLVMTargetDataRef layout;
} LlvmTarget;

void llvm_target_init(LlvmTarget *t);

/* Destroys the context and with it every module not yet emitted. */
void llvm_target_finish(LlvmTarget *t);

/* An empty module for the target. */
LLVMModuleRef llvm_target_module(LlvmTarget *t, const char *name);

/* A new function with the target's CPU and features as attributes: without
 * them LLVM inlines nothing across functions that came from other modules. */
LLVMValueRef llvm_target_function(LlvmTarget *t, LLVMModuleRef m, const char *name,
				  LLVMTypeRef type);

/* Sets a string attribute of a function, or changes it. */
void llvm_target_attribute(LlvmTarget *t, LLVMValueRef f, const char *name, const char *value);

/* Verifies the module, optimises it, compiles it to an ELF object owned by the
 * arena, and disposes of the module. */
Bytes llvm_target_emit(LlvmTarget *t, Arena *a, LLVMModuleRef m);

/* "19.1.7": of the library that is loaded, which may be newer than the
 * headers. */
const char *llvm_target_version(Arena *a);

#endif
