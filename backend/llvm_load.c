#define LLVM_CALLS_H /* here the names are the library's own */
#include "backend/llvm_api.h"

#include <dlfcn.h>
#include <string.h>

#include "ir/diag.h"

LlvmApi llvm_api;

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);
	if (!function)
		die("llvm: %s has no %s", LLVM_LIBRARY, name);
	return function;
}

void llvm_load(void)
{
	void *library = dlopen(LLVM_LIBRARY, RTLD_NOW | RTLD_LOCAL), *function;
	if (!library)
		die("llvm: %s", dlerror());
#define LLVM_API(name) \
	function = find(library, #name); \
	memcpy(&llvm_api.name, &function, sizeof function);
#include "backend/llvm_api.def"
}
