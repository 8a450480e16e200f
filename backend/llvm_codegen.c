#include "backend/llvm_codegen.h"

#include <string.h>

#include "backend/link.h"
#include "backend/llvm_target.h"
#include "backend/routines.h"

enum { ARGS_MOST = 16, ACT_ARGS = 1 /* where its tiles are, behind the parameters */ };

typedef struct Codegen {
	LlvmTarget target;
	LLVMModuleRef module;
	LLVMTypeRef i32, pointer;
	LLVMBuilderRef builder;
} Codegen;

static void set_flag(Codegen *g, LLVMValueRef f, const char *name)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(g->target.context, kind, 0));
}

/* Where a RISC-V starts, and what its first instructions call. */
static bool is_root(const char *name)
{
	return strcmp(name, LINK_START) == 0 || strcmp(name, "main") == 0;
}

/* A module whose bodies are read when they are linked, and which leaves what
 * nobody asks for behind. */
static LLVMModuleRef open_library(Codegen *g, Bytes library)
{
	LLVMMemoryBufferRef buffer =
		LLVMCreateMemoryBufferWithMemoryRange(library.data, library.size, "library", 0);
	LLVMModuleRef m;
	if (LLVMGetBitcodeModuleInContext2(g->target.context, buffer, &m))
		die("llvm: the device library is not bitcode for LLVM %s", LLVM_VERSION_STRING);
	for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
		size_t n;
		const char *name = LLVMGetValueName2(f, &n);
		if (!LLVMIsDeclaration(f) && !is_root(name))
			LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
	}
	return m;
}

/* A function without a body yet, in a section of its own. */
static LLVMValueRef add_function(Codegen *g, const char *name, LLVMTypeRef type)
{
	LLVMValueRef f = llvm_target_function(&g->target, g->module, name, type);
	set_flag(g, f, "noinline");
	set_flag(g, f, "nounwind");
	set_flag(g, f, "optsize");
	llvm_target_attribute(&g->target, f, "no-builtins", "");
	llvm_target_attribute(&g->target, f, "no-jump-tables", "true");
	LLVMPositionBuilderAtEnd(g->builder,
				 LLVMAppendBasicBlockInContext(g->target.context, f, "entry"));
	return f;
}

/* Calls the library's routine with the constants of the variant, an act with
 * what it was called with itself. */
static void add_variant(Codegen *g, Arena *a, const ProgramVariant *v, LLVMModuleRef library)
{
	const char *name = variant_symbol(a, v);
	const Routine *r = routine_at(v->routine);
	const int nargs = r->act ? ACT_ARGS : routine_nargs(r);
	LLVMValueRef from = LLVMGetNamedFunction(library, arena_printf(a, "tt_%s", r->name));
	LLVMTypeRef takes[1 + ACT_ARGS] = { g->pointer, g->pointer };
	LLVMTypeRef wrapper = LLVMFunctionType(LLVMVoidTypeInContext(g->target.context), takes,
					       r->act ? 1 + ACT_ARGS : 1, 0);
	LLVMValueRef values[ARGS_MOST];

	if (!from || LLVMCountParams(from) != (unsigned)nargs + 1 || nargs >= ARGS_MOST)
		die("llvm: the device library has no tt_%s with %d arguments", r->name, nargs);
	LLVMTypeRef type = LLVMGlobalGetValueType(from);
	LLVMValueRef callee = LLVMGetNamedFunction(g->module, arena_printf(a, "tt_%s", r->name));
	if (!callee)
		callee = LLVMAddFunction(g->module, arena_printf(a, "tt_%s", r->name), type);
	LLVMValueRef f = add_function(g, name, wrapper);
	LLVMSetSection(f, arena_printf(a, LINK_ROUTINE "%s", name));
	values[0] = LLVMBuildBitCast(g->builder, LLVMGetParam(f, 0),
				     LLVMTypeOf(LLVMGetParam(from, 0)), "params");
	for (int i = 0; !r->act && i < nargs; i++)
		values[i + 1] = LLVMConstInt(g->i32, v->args[i], 0);
	if (r->act)
		values[1] = LLVMBuildBitCast(g->builder, LLVMGetParam(f, 1),
					     LLVMTypeOf(LLVMGetParam(from, 1)), "tiles");
	LLVMBuildCall2(g->builder, type, callee, values, (unsigned)nargs + 1, "");
	LLVMBuildRetVoid(g->builder);
}

/* void tt_dispatch(uint32_t address, const void *params) */
static void add_dispatch(Codegen *g, LLVMModuleRef library)
{
	LLVMValueRef declared = LLVMGetNamedFunction(library, "tt_dispatch");
	if (!declared)
		die("llvm: the device library does not call tt_dispatch");
	LLVMTypeRef routine = LLVMFunctionType(LLVMVoidTypeInContext(g->target.context),
					       &g->pointer, 1, 0);
	LLVMValueRef f = add_function(g, "tt_dispatch", LLVMGlobalGetValueType(declared));
	LLVMValueRef callee = LLVMBuildIntToPtr(g->builder, LLVMGetParam(f, 0),
						LLVMPointerType(routine, 0), "routine");
	LLVMValueRef params = LLVMBuildBitCast(g->builder, LLVMGetParam(f, 1), g->pointer, "params");
	LLVMBuildCall2(g->builder, routine, callee, &params, 1, "");
	LLVMBuildRetVoid(g->builder);
}

static bool is_routine(const char *name)
{
	return strncmp(name, "tt_", 3) == 0 && routine_find(name + 3) >= 0;
}

/* Everything becomes internal but what the linker looks for, in a section of its
 * own; every function gets the same target, or nothing would be inlined. */
static void finish_functions(Codegen *g, Arena *a)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f)) {
		size_t n;
		const char *name = LLVMGetValueName2(f, &n), *section = LLVMGetSection(f);
		if (LLVMIsDeclaration(f))
			continue;
		llvm_target_attribute(&g->target, f, "target-cpu", LLVM_TARGET_CPU);
		llvm_target_attribute(&g->target, f, "target-features", LLVM_TARGET_FEATURES);
		if (is_routine(name))
			set_flag(g, f, "alwaysinline");
		if (section && strncmp(section, LINK_ROUTINE, strlen(LINK_ROUTINE)) == 0)
			continue;
		if (!section || !*section)
			LLVMSetSection(f, arena_printf(a, ".text.%s", name));
		if (!is_root(name))
			LLVMSetLinkage(f, LLVMInternalLinkage);
	}
}

Bytes codegen_object(Arena *a, Bytes bitcode, TtRisc risc, const ProgramVariant *const variants[],
		     int n)
{
	Codegen g;
	llvm_target_init(&g.target);
	g.module = llvm_target_module(&g.target, risc_spellings[risc]);
	g.i32 = LLVMInt32TypeInContext(g.target.context);
	g.pointer = LLVMPointerType(g.i32, 0);
	g.builder = LLVMCreateBuilderInContext(g.target.context);

	LLVMModuleRef library = open_library(&g, bitcode);
	for (int i = 0; i < n; i++)
		add_variant(&g, a, variants[i], library);
	add_dispatch(&g, library);
	LLVMDisposeBuilder(g.builder);
	if (LLVMLinkModules2(g.module, library))
		die("llvm: the device library does not link");
	finish_functions(&g, a);
	Bytes object = llvm_target_emit(&g.target, a, g.module);
	llvm_target_finish(&g.target);
	return object;
}
