/*
 * Passes over the graph, and the one function that runs them.
 */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/graph.h"

/* A pass returns true if it changed the graph. One that finds the model at
 * fault reports to g->diag; one that finds the compiler at fault asserts. */
#define PASS(name, summary) bool pass_##name(Graph *g);
#include "passes/passes.def"

typedef enum PassId {
#define PASS(name, summary) PASS_##name,
#include "passes/passes.def"
	PASS_COUNT
} PassId;

typedef struct Pass {
	const char *name, *summary;
	bool (*run)(Graph *g);
} Pass;

extern const Pass pass_info[PASS_COUNT];

/* PASS_COUNT if there is none of that name. */
PassId pass_by_name(const char *name);

/* The passes of a compilation in order; some run more than once. */
extern const PassId pass_pipeline[];
extern const int pass_pipeline_length;

typedef struct PassOptions {
	const char *dump_after; /* a pass name, "all", or NULL */
	FILE *dump_to;          /* where dumps go if there is no dump_dir */
	const char *dump_dir;   /* NN_name.ir files here, only after a change */
	int first;              /* passes before those to run, for the numbers NN */
	FILE *timing;           /* a line per pass here, if not NULL */

	/* Called before each file in dump_dir is written, to keep the constants
	 * that it refers to by hash; may be NULL. */
	void (*keep)(void *context, const Graph *g);
	void *context;
} PassOptions;

/* Runs the passes in order, verifying after each that changed the graph.
 * False if one of them reported the model. */
bool passes_run(Graph *g, const PassId ids[], int n, const PassOptions *opt);

#endif
