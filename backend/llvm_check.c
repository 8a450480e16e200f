#include "backend/llvm.h"

#include <elf.h>
#include <string.h>

#include "backend/llvm_target.h"

/* *sum += x * y: wants a load, a store and the M extension. */
static LLVMModuleRef multiply_add(LlvmTarget *t)
{
	LLVMModuleRef m = llvm_target_module(t, "check");
	LLVMTypeRef i32 = LLVMInt32TypeInContext(t->context);
	LLVMTypeRef types[] = { LLVMPointerType(i32, 0), i32, i32 };
	LLVMValueRef f = llvm_target_function(t, m, "multiply_add",
		LLVMFunctionType(LLVMVoidTypeInContext(t->context), types, 3, 0));
	LLVMBuilderRef b = LLVMCreateBuilderInContext(t->context);

	LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(t->context, f, "entry"));
	LLVMValueRef v_sum = LLVMBuildLoad2(b, i32, LLVMGetParam(f, 0), "sum");
	LLVMValueRef v_product = LLVMBuildMul(b, LLVMGetParam(f, 1), LLVMGetParam(f, 2), "product");
	LLVMBuildStore(b, LLVMBuildAdd(b, v_sum, v_product, "sum"), LLVMGetParam(f, 0));
	LLVMBuildRetVoid(b);
	LLVMDisposeBuilder(b);
	return m;
}

static bool is_riscv32_object(Bytes object)
{
	Elf32_Ehdr h;
	if (object.size < sizeof h)
		return false;
	memcpy(&h, object.data, sizeof h);
	return memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS32
		&& h.e_ident[EI_DATA] == ELFDATA2LSB && h.e_type == ET_REL
		&& h.e_machine == EM_RISCV && h.e_flags == 0;
}

const char *llvm_version(Arena *a)
{
	llvm_load();
	return llvm_target_version(a);
}

bool llvm_check(FILE *to)
{
	Arena *a = arena_create();
	LlvmTarget t;
	llvm_target_init(&t);
	bool ok = is_riscv32_object(llvm_target_emit(&t, a, multiply_add(&t)));
	fprintf(to, "LLVM %s: riscv32 objects %s\n", llvm_target_version(a), ok ? "ok" : "wrong");
	llvm_target_finish(&t);
	arena_destroy(a);
	return ok;
}
