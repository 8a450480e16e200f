/*
 * Reads the NNEF models it is given, with whatever weights they have, and says
 * what is wrong with those that cannot be read.
 */
#include <stdio.h>

#include "frontend/model.h"

int main(int argc, char **argv)
{
	const ModelOptions opt = { .no_weights = true };
	Diag d = { .to = stderr };
	int failed = 0;
	for (int i = 1; i < argc; i++) {
		Arena *a = arena_create();
		const Graph *g = nnef_read(a, &d, argv[i], &opt);
		failed += !g || !graph_verify(g);
		diag_finish(&d);
		arena_destroy(a);
	}
	printf("%d read, %d failed\n", argc - 1, failed);
	return failed != 0;
}
