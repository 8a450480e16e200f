/*
 * Whether the LLVM that is linked serves: the inside of llvm_check.
 */
#ifndef BACKEND_LLVM_CHECK_H
#define BACKEND_LLVM_CHECK_H

#include <stdbool.h>
#include <stdio.h>

bool llvm_check_here(FILE *to);

#endif
