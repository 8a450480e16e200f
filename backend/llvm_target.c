#include "backend/llvm_target.h"

#include <pthread.h>
#include <string.h>

#include "ir/diag.h"

static void die_of_llvm(const char *reason)
{
	die("llvm: %s", reason);
}

/* What the process has one of. */
static void start_llvm(void)
{
	llvm_load();
	LLVMInstallFatalErrorHandler(die_of_llvm);
	LLVMInitializeRISCVTargetInfo();
	LLVMInitializeRISCVTarget();
	LLVMInitializeRISCVTargetMC();
	LLVMInitializeRISCVAsmPrinter();
	LLVMInitializeRISCVAsmParser(); /* for inline assembly */
}

void llvm_target_init(LlvmTarget *t)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	LLVMTargetRef target;
	char *why = NULL;

	pthread_once(&once, start_llvm);
	if (LLVMGetTargetFromTriple(LLVM_TARGET_TRIPLE, &target, &why))
		die_of_llvm(why);
	t->context = LLVMContextCreate();
	t->machine = LLVMCreateTargetMachine(target, LLVM_TARGET_TRIPLE, LLVM_TARGET_CPU,
					     LLVM_TARGET_FEATURES, LLVMCodeGenLevelDefault,
					     LLVMRelocStatic, LLVMCodeModelSmall);
	t->layout = LLVMCreateTargetDataLayout(t->machine);
}

void llvm_target_finish(LlvmTarget *t)
{
	LLVMDisposeTargetData(t->layout);
	LLVMDisposeTargetMachine(t->machine);
	LLVMContextDispose(t->context);
}

LLVMModuleRef llvm_target_module(LlvmTarget *t, const char *name)
{
	LLVMModuleRef m = LLVMModuleCreateWithNameInContext(name, t->context);
	LLVMSetTarget(m, LLVM_TARGET_TRIPLE);
	LLVMSetModuleDataLayout(m, t->layout);
	return m;
}

void llvm_target_attribute(LlvmTarget *t, LLVMValueRef f, const char *name,
			   const char *value)
{
	LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				LLVMCreateStringAttribute(t->context, name, (unsigned)strlen(name),
							  value, (unsigned)strlen(value)));
}

LLVMValueRef llvm_target_function(LlvmTarget *t, LLVMModuleRef m, const char *name,
				  LLVMTypeRef type)
{
	LLVMValueRef f = LLVMAddFunction(m, name, type);
	llvm_target_attribute(t, f, "target-cpu", LLVM_TARGET_CPU);
	llvm_target_attribute(t, f, "target-features", LLVM_TARGET_FEATURES);
	return f;
}

/* The library comes optimised; left to do is what constants make possible. The
 * whole of default<O2> takes ten times as long and finds nothing more. */
static const char pipeline[] =
	"always-inline,globaldce,"
	"function(sroa,sccp,simplifycfg,instcombine,early-cse,simplifycfg),globaldce";

static void optimise(LlvmTarget *t, LLVMModuleRef m)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error = LLVMRunPasses(m, pipeline, t->machine, options);
	if (error)
		die_of_llvm(LLVMGetErrorMessage(error));
	LLVMDisposePassBuilderOptions(options);
}

Bytes llvm_target_emit(LlvmTarget *t, Arena *a, LLVMModuleRef m)
{
	LLVMMemoryBufferRef buffer;
	char *why = NULL;

	if (LLVMVerifyModule(m, LLVMReturnStatusAction, &why))
		die_of_llvm(why);
	LLVMDisposeMessage(why);
	optimise(t, m);
	if (LLVMTargetMachineEmitToMemoryBuffer(t->machine, m, LLVMObjectFile, &why, &buffer))
		die_of_llvm(why);
	LLVMDisposeModule(m);

	size_t size = LLVMGetBufferSize(buffer);
	char *copy = arena_alloc(a, size);
	memcpy(copy, LLVMGetBufferStart(buffer), size);
	LLVMDisposeMemoryBuffer(buffer);
	return (Bytes){ copy, size };
}

const char *llvm_target_version(Arena *a)
{
#if LLVM_VERSION_MAJOR >= 16
	unsigned major, minor, patch;
	LLVMGetVersion(&major, &minor, &patch);
	return arena_printf(a, "%u.%u.%u", major, minor, patch);
#else
	return arena_strdup(a, LLVM_VERSION_STRING);
#endif
}
