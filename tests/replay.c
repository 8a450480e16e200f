/*
 * What makes a fuzz target run over given files instead of looking for inputs
 * itself.
 */
#include <stdint.h>
#include <stdio.h>

#include "ir/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };

	for (int i = 1; i < argc; i++) {
		Bytes file = file_map(a, &d, (Loc){ 0 }, argv[i]);
		if (file.data)
			LLVMFuzzerTestOneInput((const uint8_t *)file.data, file.size);
	}
	printf("%d files\n", argc - 1);
	arena_destroy(a);
	return d.errors != 0;
}
