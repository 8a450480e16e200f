/*
 * IR text from anywhere: it is refused with a word, or it gives a graph whose
 * text comes back to the same text.
 *
 * Built by clang as fuzz_text it looks for texts itself (libFuzzer):
 *     CC=clang meson setup B -Db_sanitize=address,undefined -Db_lundef=false \
 *         -Dc_args=-fsanitize=fuzzer-no-link
 *     ninja -C B tests/fuzz_text && B/tests/fuzz_text tests/parse
 * Built as replay_text (with replay.c) it runs over the files it is given.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Graph *parse(Arena *a, Diag *d, const char *text, size_t size)
{
	return text_parse(a, d, "fuzz.ir", text, size, &(ModelOptions){ 0 });
}

static char *print(const Graph *g, size_t *size)
{
	char *text;
	FILE *f = open_memstream(&text, size);
	graph_print(g, f);
	fclose(f);
	return text;
}

static void round_trip(const Graph *g)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	size_t n, n_again;
	char *text = print(g, &n);
	const Graph *again = parse(a, &d, text, n);

	if (!again)
		die("what was printed cannot be read");
	char *text_again = print(again, &n_again);
	if (n != n_again || memcmp(text, text_again, n) != 0)
		die("what was printed reads as something else");
	diag_finish(&d);
	arena_destroy(a);
	free(text_again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_create();
	char *said;
	size_t n;
	Diag d = { .to = open_memstream(&said, &n) };
	const Graph *g = parse(a, &d, (const char *)data, size);

	fclose(d.to);
	if (!g && !n)
		die("refused without a word");
	if (g)
		round_trip(g);
	diag_finish(&d);
	arena_destroy(a);
	free(said);
	return 0;
}
