/*
 * NNEF text from anywhere: it is refused with a word, or it gives a graph that
 * obeys the verifier.
 *
 * Built by clang as fuzz_nnef it looks for texts itself (libFuzzer):
 *     CC=clang meson setup B -Db_sanitize=address,undefined -Db_lundef=false \
 *         -Dc_args=-fsanitize=fuzzer-no-link
 *     ninja -C B tests/fuzz_nnef && B/tests/fuzz_nnef models
 * Built as replay_nnef it runs over the files it is given.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontend/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_create();
	char *said;
	size_t n;
	Diag d = { .to = open_memstream(&said, &n) };
	const ModelOptions opt = { .no_weights = true };

	const Graph *g = nnef_parse_text(a, &d, "fuzz.nnef", (const char *)data, size,
					 "no such folder", &opt);
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
