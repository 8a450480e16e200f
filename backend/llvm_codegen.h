/*
 * Code of one RISC-V: the device library's bitcode, of which only what is used
 * is read, and a function of its own for each variant.
 *
 *     define void @conv_unpack_1_2_4_1(ptr %params) section ".text.routine.conv_unpack_1_2_4_1" {
 *             tail call void @tt_conv_unpack(ptr %params, i32 1, i32 2, i32 4, i32 1)
 *             ret void
 *     }
 *
 * The library's routine is inlined there, so the constants decide what of it is
 * left. The library calls tt_dispatch(address, params), made here too: routines
 * are called by the address that the parameter block gives.
 */
#ifndef BACKEND_LLVM_CODEGEN_H
#define BACKEND_LLVM_CODEGEN_H

#include "backend/variants.h"
#include "ir/file.h"

/* An object in the arena. The library is bitcode of this LLVM or an older one;
 * one that is not, or lacks a routine, is our mistake and ends the program. */
Bytes codegen_object(Arena *a, Bytes library, TtRisc risc, const ProgramVariant *const variants[],
		     int n);

#endif
