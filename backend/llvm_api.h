/*
 * LLVM-C, loaded when the first program is to be made.
 *
 * libLLVM and what it needs take 45 MB and 30 ms to load, which reading,
 * checking and running a model are spared. So we do not link with it: each
 * function of llvm_api.def is called through llvm_api, and llvm_calls.h (made
 * from the same list) lets its own name stand for that:
 *
 *     llvm_load();
 *     LLVMContextRef c = LLVMContextCreate();
 */
#ifndef BACKEND_LLVM_API_H
#define BACKEND_LLVM_API_H

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

typedef struct LlvmApi {
#define LLVM_API(name) __typeof__(name) *name;
#include "backend/llvm_api.def"
} LlvmApi;

extern LlvmApi llvm_api;

/* Fills llvm_api; dies if the library that was there when we were built is
 * not there any more. */
void llvm_load(void);

#include "llvm_calls.h"

#endif
