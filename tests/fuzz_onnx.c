/*
 * ONNX files from anywhere: refused with a word, or a graph that verifies.
 *
 * Built by clang as fuzz_onnx it looks for files itself (see fuzz_text.c);
 * built as replay_onnx it runs over the files it is given.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontend/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_create();
	char *said;
	size_t n;
	Diag d = { .to = open_memstream(&said, &n) };
	const Bytes file = { (const char *)data, size };
	const Graph *g = onnx_parse(a, &d, "fuzz.onnx", file, &(ModelOptions){ 0 });
	const bool sound = !g || graph_verify(g);

	fclose(d.to);
	if (!g && !n)
		die("refused without a word");
	if (!sound)
		die("a graph that breaks rules: %s", said);
	diag_finish(&d);
	arena_destroy(a);
	free(said);
	return 0;
}
