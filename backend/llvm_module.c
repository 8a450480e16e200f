#include "backend/llvm.h"

#include "backend/llvm_check.h"

const LlvmModule llvm_module = {
	.check = llvm_check_here,
};
