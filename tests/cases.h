/*
 * Files of cases in IR text or NNEF, each a test of its own:
 *
 *     --- case NAME      a graph follows
 *     --- HOW            what must become of it; the text that follows is
 *                        the wanted result
 */
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include "frontend/model.h"
#include "ir/graph.h"

typedef struct Case {
	const char *file; /* its last part: what diagnostics name */
	const char *name, *how, *in, *want;
} Case;

/* Runs `run` on each case of the file as a cmocka test, with a Case as its
 * state. Returns what main returns. */
int cases_run(const char *path, void (*run)(void **state));

/* Reads IR text, or NNEF if the file is named so. */
Graph *cases_read(Arena *a, Diag *d, const char *file, const char *text, const ModelOptions *opt);

/* The same, and holds the graph to what every graph must do: obey the
 * verifier and come back from its own text to the same text. NULL if it is
 * wrong, which is reported to `d`. */
Graph *cases_parse(Arena *a, Diag *d, const char *file, const char *text);

/* The graph as text, in the arena. */
const char *cases_text(const Graph *g);

/* The same after the same checks. */
const char *cases_print(const Graph *g);

#endif
