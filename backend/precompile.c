/*
 * precompile RISC FILE: all variants a RISC-V may run, as an object. Run when
 * the project is built.
 */
#include <stdio.h>
#include <stdlib.h>

#include "backend/llvm_codegen.h"
#include "runtime/device/library.h"

int main(int argc, char **argv)
{
	if (argc != 3)
		return EXIT_USAGE;
	const int risc = atoi(argv[1]);
	Arena *a = arena_create();
	const ProgramVariant **list;
	const int n = variants_all(a, (TtRisc)risc, &list);
	const Bytes library = { device_library[risc].text, device_library[risc].size };
	const Bytes object = codegen_object(a, library, (TtRisc)risc, list, n);
	FILE *f = fopen(argv[2], "wb");
	const bool ok = f && fwrite(object.data, 1, object.size, f) == object.size;
	arena_destroy(a);
	return f && fclose(f) == 0 && ok ? EXIT_OK : EXIT_INTERNAL;
}
