#include "backend/llvm.h"

#include <dlfcn.h>

/* Looked for in the run path of the program: the build folder, or where the
 * module was installed. It stays loaded. */
static const LlvmModule *load(void)
{
	void *module = dlopen(LLVM_MODULE, RTLD_NOW | RTLD_LOCAL);
	return module ? dlsym(module, "llvm_module") : NULL;
}

bool llvm_check(FILE *to)
{
	const LlvmModule *m = load();
	if (m)
		return m->check(to);
	fprintf(to, "LLVM: cannot be loaded: %s\n", dlerror());
	return false;
}
