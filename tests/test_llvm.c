/* What LLVM makes for the RISC-Vs of a core. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/llvm.h"
#include "backend/llvm_target.h"
#include "tests/check.h"

/* Both low bits are set in every 32-bit instruction and in no 16-bit one. */
enum { LOW_BITS = 3, OPCODE = 0x7f, OP = 0x33, MULDIV = 1 };

static LlvmTarget target;
static Arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_create();
	llvm_target_init(&target);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	llvm_target_finish(&target);
	arena_destroy(arena);
	return 0;
}

/* int dot(const int *x, const int *y, int n), a loop. */
static LLVMModuleRef dot_product(void)
{
	LLVMContextRef c = target.context;
	LLVMTypeRef i32 = LLVMInt32TypeInContext(c), ptr = LLVMPointerType(i32, 0);
	LLVMTypeRef types[] = { ptr, ptr, i32 };
	LLVMModuleRef m = llvm_target_module(&target, "dot");
	LLVMValueRef f = llvm_target_function(&target, m, "dot", LLVMFunctionType(i32, types, 3, 0));
	LLVMBasicBlockRef b_entry = LLVMAppendBasicBlockInContext(c, f, "entry");
	LLVMBasicBlockRef b_loop = LLVMAppendBasicBlockInContext(c, f, "loop");
	LLVMBasicBlockRef b_exit = LLVMAppendBasicBlockInContext(c, f, "exit");
	LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
	LLVMValueRef zero = LLVMConstInt(i32, 0, 0), one = LLVMConstInt(i32, 1, 0);

	LLVMPositionBuilderAtEnd(b, b_entry);
	LLVMBuildBr(b, b_loop);
	LLVMPositionBuilderAtEnd(b, b_loop);
	LLVMValueRef v_i = LLVMBuildPhi(b, i32, "i"), v_sum = LLVMBuildPhi(b, i32, "sum"), v[2];
	for (unsigned k = 0; k < 2; k++) {
		LLVMValueRef p = LLVMBuildGEP2(b, i32, LLVMGetParam(f, k), &v_i, 1, "p");
		v[k] = LLVMBuildLoad2(b, i32, p, "v");
		LLVMSetVolatile(v[k], 1);
	}
	LLVMValueRef v_next = LLVMBuildAdd(b, v_i, one, "next");
	LLVMValueRef v_total = LLVMBuildAdd(b, v_sum, LLVMBuildMul(b, v[0], v[1], "xy"), "total");
	LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, v_next, LLVMGetParam(f, 2), "more"),
			b_loop, b_exit);
	LLVMAddIncoming(v_i, (LLVMValueRef[]){ zero, v_next },
			(LLVMBasicBlockRef[]){ b_entry, b_loop }, 2);
	LLVMAddIncoming(v_sum, (LLVMValueRef[]){ zero, v_total },
			(LLVMBasicBlockRef[]){ b_entry, b_loop }, 2);
	LLVMPositionBuilderAtEnd(b, b_exit);
	LLVMBuildRet(b, v_total);
	LLVMDisposeBuilder(b);
	return m;
}

/* The words of .text; their number in *n. */
static const uint32_t *text_of(Bytes object, size_t *n)
{
	const Elf32_Ehdr *h = (const void *)object.data;
	const Elf32_Shdr *sections = (const void *)(object.data + h->e_shoff);
	const char *names = object.data + sections[h->e_shstrndx].sh_offset;
	for (int i = 0; i < h->e_shnum; i++) {
		if (strcmp(names + sections[i].sh_name, ".text") != 0)
			continue;
		*n = sections[i].sh_size / sizeof(uint32_t);
		return (const void *)(object.data + sections[i].sh_offset);
	}
	fail_msg("no .text");
	return NULL;
}

static void an_object_is_a_32_bit_riscv_elf_without_extensions(void **state)
{
	(void)state;
	Bytes object = llvm_target_emit(&target, arena, dot_product());
	const Elf32_Ehdr *h = (const void *)object.data;
	assert_memory_equal(h->e_ident, ELFMAG, SELFMAG);
	assert_int_equal(h->e_ident[EI_CLASS], ELFCLASS32);
	assert_int_equal(h->e_ident[EI_DATA], ELFDATA2LSB);
	assert_int_equal(h->e_machine, 243);
	assert_int_equal(h->e_flags, 0); /* not compressed, integer registers, no float */
}

static void code_multiplies_in_hardware_and_has_no_compressed_instruction(void **state)
{
	(void)state;
	size_t n = 0, multiplies = 0;
	const uint32_t *text = text_of(llvm_target_emit(&target, arena, dot_product()), &n);
	assert_true(n > 4);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(text[i] & LOW_BITS, LOW_BITS);
		multiplies += (text[i] & OPCODE) == OP && text[i] >> 25 == MULDIV;
	}
	assert_int_equal(multiplies, 1);
}

static void one_target_emits_several_modules(void **state)
{
	(void)state;
	Bytes first = llvm_target_emit(&target, arena, dot_product());
	Bytes second = llvm_target_emit(&target, arena, dot_product());
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.data, second.data, first.size);
}

static void the_check_prints_the_version_and_passes(void **state)
{
	(void)state;
	char *said = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&said, &size);
	bool ok = llvm_check(f);
	fclose(f);
	assert_true(ok);
	assert_string_equal(said, arena_printf(arena, "LLVM %s: riscv32 objects ok\n", LLVM_WANTED));
	free(said);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(an_object_is_a_32_bit_riscv_elf_without_extensions),
		T(code_multiplies_in_hardware_and_has_no_compressed_instruction),
		T(one_target_emits_several_modules),
		T(the_check_prints_the_version_and_passes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
