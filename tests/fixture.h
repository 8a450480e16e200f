/*
 * What most unit tests stand on: an arena, diagnostics kept as text, a graph.
 *
 *     static void a_claim(void **state)
 *     {
 *     	Fixture *t = *state;
 *     	...
 *     	assert_string_equal(fixture_said(t), "a.ini: error: ...\n");
 *     }
 *
 *     cmocka_unit_test_setup_teardown(a_claim, fixture_setup, fixture_teardown)
 */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "ir/graph.h"

typedef struct Fixture {
	Arena *arena;
	Diag diag;
	Graph *g;
	char *said; /* by diag, once flushed */
	size_t nsaid;
} Fixture;

static inline int fixture_setup(void **state)
{
	Fixture *t = xmalloc(sizeof *t);
	*t = (Fixture){ .arena = arena_create() };
	t->diag.to = open_memstream(&t->said, &t->nsaid);
	t->g = graph_create(t->arena, &t->diag, "test");
	*state = t;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	Fixture *t = *state;
	diag_finish(&t->diag);
	fclose(t->diag.to);
	arena_destroy(t->arena);
	free(t->said);
	free(t);
	return 0;
}

/* All diagnostics so far. */
static inline const char *fixture_said(Fixture *t)
{
	fflush(t->diag.to);
	return t->said;
}

#endif
